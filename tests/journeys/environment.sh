#!/usr/bin/env bash
# The environment of a program: each misspelt variable, unwritable file or uncountable event is reported once, in one
# line; TACH_OPTIONS has the same effect as the single variables; the manual page lists every variable.
set -u
. "$(dirname "$0")/lib.sh"
cat >"$work/p.c" <<'C'
#include <tach.h>
int main(void)
{
	for (int i = 0; i < 100; i++) {
		tach_tag(i % 2);
		TACH_START(loop);
		TACH_STOP(loop);
	}
	return 0;
}
C
build "$work/p" "$work/p.c" || exit 1
cd "$work" || exit

says_once() { # PATTERN VARIABLE...: on standard error, one line of that pattern and no other; the exit status stays 0
	local pattern=$1
	shift
	env "$@" ./p && [ "$(grep -c . "$work/out")" = 1 ] && says "^tach: $pattern"
}
says_nothing() { env "$@" ./p && [ ! -s "$work/out" ]; }
check misspelt says_once 'TACH_OUPUT is not looked at; did you mean TACH_OUTPUT\?' TACH_OUPUT=-
check misspelt_setting says_once 'TACH_OPTIONS: wurst is not a setting; did you mean worst\? \(column 10\)' TACH_OPTIONS=sparse=2,wurst=8
check another_programs says_nothing TACH_SOMETHING_ELSE=1
check switched_off says_nothing TACH_OUPUT=- TACH_ENABLE=0
check disk_full says_once 'TACH_OUTPUT was not written: /dev/full: No space left on device' TACH_OUTPUT=/dev/full
check disk_full_of_a_trace says_once 'TACH_TRACE was not written: /dev/full: No space' TACH_TRACE=/dev/full
check no_folder says_once 'TACH_OUTPUT cannot be written: the folder /nowhere' TACH_OUTPUT=/nowhere/report.json
event=tach_no_such_pmu/x=1/
for suffix in json html csv prom; do
	check "uncounted_$suffix" says_once "TACH_EVENTS or TACH_METRICS cannot be used: .*tach_no_such_pmu" TACH_EVENTS=$event TACH_OUTPUT=r.$suffix
done
check time_alone_was_asked_for says_nothing TACH_EVENTS= TACH_OUTPUT=r.json
is_no_file() { TACH_OUTPUT=1 ./p && says '^loop +100 ' && [ ! -e 1 ]; }
check one_is_no_file is_no_file

# Both ways give the same report: rows, calls, omitted entries, and whether worst entries are kept. Measured entries
# are chosen at random, so a row may lack them.
rows() {
	"$python" -c 'import json, re, sys
for r in sorted(json.load(open(sys.argv[1]))["regions"], key=lambda r: "tag" in r["name"]):
    print(re.sub(r"\d+\]", "]", r["name"]), r["calls"] + r["skipped"], r["skipped"] > 0, r["excluded"])
print(any(r.get("worst") for r in json.load(open(sys.argv[1]))["regions"]))' "$1"
}
same() {
	env TACH_OUTPUT=old.json TACH_EVENTS= TACH_SPARSE=2 TACH_WARMUP=3 TACH_WORST=2 TACH_BY=tag,thread ./p
	env TACH_OUTPUT=new.json TACH_EVENTS= TACH_OPTIONS='sparse=2,warmup=3,worst=2,by=tag+thread' ./p
	rows old.json >old && rows new.json >new && [ "$(grep -c thread old)" = 2 ] && [ "$(grep -c tag old)" = 1 ] && diff old new
}
check options same

documented() {
	local name rc=0
	man tach-environment | col -b >page || return
	for name in $(grep -oh '"TACH_[A-Z_]*"' "$top"/core/startup/complain.c | tr -d '"' | grep -v -e '^TACH_RUN' -e '^TACH_$' | sort -u) \
		$(sed -n '/tach__environment_settings\[\] = {/,/NULL};/s/"\([a-z]*\)"/\n\1\n/gp' "$top/core/os/environment.c" | grep -x '[a-z]*'); do
		grep -qw -e "$name" page || { echo "tach-environment(7) lacks $name"; rc=1; }
	done
	return $rc
}
check documented documented
exit $rc

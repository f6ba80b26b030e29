#!/usr/bin/env bash
# A program whose environment is mistyped says so in its report, which is the only voice it has; and
# tach doctor says the same before.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
tach=$B/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/program.c" <<'C'
#include <tach.h>
int main(void)
{
	TACH_START(parse);
	TACH_STOP(parse);
	TACH_START(write);
	TACH_STOP(write);
	return 0;
}
C
case $(ldd "$B/libtach.so") in *libasan*) san=-fsanitize=address,undefined;; *libtsan*) san=-fsanitize=thread;; *) san=;; esac
gcc $san -O1 -Iinclude -o "$work/program" "$work/program.c" -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || exit 1

failed=0
# NAME PATTERN VARIABLE=VALUE...: the report, as text and as JSON, matches, and the program ends well.
report() {
	local name=$1 pattern=$2 rc=0 format; shift 2
	for format in txt json; do
		env "$@" TACH_OUTPUT="$work/report.$format" "$work/program" >"$work/out" 2>&1 || rc=1
		[ -s "$work/out" ] && { echo "# it printed something"; rc=1; }
		grep -qE -- "$pattern" "$work/report.$format" || { sed 's/^/# /' "$work/report.$format" | head -20; rc=1; }
	done
	if [ $rc = 0 ]; then echo "ok mistyped $name"; else echo "not ok mistyped $name"; failed=1; fi
}
doctor() { # NAME PATTERN VARIABLE=VALUE...
	local name=$1 pattern=$2; shift 2
	env "$@" "$tach" doctor --json >"$work/doctor"
	if grep -qE -- "$pattern" "$work/doctor"; then echo "ok mistyped doctor $name"
	else sed 's/^/# /' "$work/doctor"; echo "not ok mistyped doctor $name"; failed=1; fi
}
events="TACH_EVENTS or TACH_METRICS cannot be used: no event 'instrutions'; did you mean .*column 8"
report events "$events" TACH_EVENTS=cycles,instrutions
report metrics 'cannot be used: .*cycels' TACH_METRICS='ipc = instructions / cycels'
report regions_long "TACH_REGIONS takes more than 1023 bytes" TACH_REGIONS="$(printf 'w*,%.0s' {1..400})" TACH_EVENTS=page-faults
report regions "TACH_REGIONS, 'prase\*', fits none of the 2 regions" TACH_REGIONS='prase*' TACH_EVENTS=page-faults
report interrupts "TACH_INTERRUPTS is 0, 1 or correct, not 'corect'" TACH_INTERRUPTS=corect
report numbers "TACH_SPARSE is a number, not 'ten'" TACH_SPARSE=ten TACH_EVENTS=page-faults
doctor interrupts '"cause":"events","text":"TACH_INTERRUPTS is' TACH_INTERRUPTS=yes
report derived 'cannot be used: ' TACH_METRICS='ipc : 1'
doctor events "\"cause\":\"events\",\"text\":\"TACH_EVENTS or .*column 8: no event" TACH_EVENTS=cycles,instrutions
doctor metrics '"cause":"events".*cycels' TACH_METRICS='ipc = instructions / cycels'
doctor output '"cause":"output","text":"TACH_OUTPUT cannot be written: the folder /nonexistent' \
	TACH_OUTPUT=/nonexistent/report.json
mkdir "$work/folder.json"
doctor folder '"cause":"output".*Is a directory' TACH_OUTPUT="$work/folder.json"

# Nothing can be said then; but nothing is broken either.
TACH_OUTPUT=/nonexistent/report.json "$work/program" >"$work/out" 2>&1; status=$?
if [ $status = 0 ] && [ ! -s "$work/out" ]; then echo "ok mistyped output"; else echo "not ok mistyped output"; failed=1; fi
# The usual settings are not complained of.
TACH_EVENTS=page-faults TACH_REGIONS='parse,w*' TACH_OUTPUT=$work/good.txt "$work/program"
if grep -q '^parse ' "$work/good.txt" && ! grep -q TACH_ "$work/good.txt"; then echo "ok mistyped not at all"
else echo "not ok mistyped not at all"; failed=1; fi
exit $failed

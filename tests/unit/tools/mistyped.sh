#!/usr/bin/env bash
# A program reports mistyped variables of its environment in its report, because it prints nothing else; tach doctor
# reports them before.
set -u
cd "$(dirname "$0")/../../.."
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
# NAME PATTERN VARIABLE=VALUE...: the pattern matches the report, as text and as JSON, and the program succeeds.
report() {
	local name=$1 pattern=$2 rc=0 format; shift 2
	for format in txt json; do
		env "$@" TACH_OUTPUT="$work/report.$format" "$work/program" >"$work/out" 2>&1 || rc=1
		# Programs read a report in JSON, so messages for the user are on standard error.
		[ $format = json ] && sed -i '/^tach: /d' "$work/out"
		[ -s "$work/out" ] && { echo "# it printed something"; rc=1; }
		tr '\n' ' ' <"$work/report.$format" | grep -qE -- "$pattern" || { sed 's/^/# /' "$work/report.$format" | head -20; rc=1; }
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

# A variable without any effect is reported once, in one line on standard error; the program is not affected.
says() { # NAME PATTERN VARIABLE=VALUE...
	local name=$1 pattern=$2 rc=0; shift 2
	env TACH_OUTPUT="$work/said.txt" "$@" "$work/program" >"$work/out" 2>"$work/err" || rc=1
	[ "$(wc -l <"$work/err")" = 1 ] && grep -qE -- "^tach: $pattern\$" "$work/err" && [ ! -s "$work/out" ] || rc=1
	if [ $rc = 0 ]; then echo "ok mistyped says $name"
	else sed 's/^/# /' "$work/err" | head -5; echo "not ok mistyped says $name"; failed=1; fi
}
says variable 'TACH_EVNTS is not looked at; did you mean TACH_EVENTS\?' TACH_EVNTS=cycles
says two '.*TACH_EVENT is .*; tach_output is .*TACH_OUTPUT\?' TACH_EVENT=cycles tach_output=x
says pmu "TACH_PMU: no PMU 'nosuch'; names by tach list --all" TACH_PMU=nosuch
says derived 'TACH_DERIVED: /nonexistent/x.derived: No such file or directory' TACH_DERIVED=/nonexistent/x.derived
says output 'TACH_OUTPUT cannot be written: the folder /nonexistent: No such file or directory' TACH_OUTPUT=/nonexistent/report.json
says folder 'TACH_OUTPUT cannot be written: .*folder.json: Is a directory' TACH_OUTPUT="$work/folder.json"
says enable 'TACH_PMU: no PMU .*' TACH_OUTPUT= TACH_ENABLE=1 TACH_PMU=nosuch
says long 'TACH_OUTPUT cannot be written: .*: File name too long' TACH_OUTPUT="$work/$(printf 'x%.0s' {1..300})"
# These variables are for other programs, not for the command.
rc=0
for bad in /nonexistent/report.json "$work/command.json"; do
	TACH_EVNTS=x TACH_OUTPUT=$bad "$tach" encode skl::INST_RETIRED:ANY_P >"$work/out" 2>"$work/err" || rc=1
	[ ! -s "$work/err" ] && [ ! -e "$bad" ] || rc=1
done
TACH_OUTPUT=/nonexistent/report.json "$tach" doctor 2>&1 | grep -c 'nonexistent' | grep -qx 1 || rc=1
if [ $rc = 0 ]; then echo "ok mistyped command"; else sed 's/^/# /' "$work/err" | head -5; echo "not ok mistyped command"; failed=1; fi
# A program without a request, with its own variable of that kind, or without a way to receive the signal, is not
# affected either.
rc=0
# A misspelt variable is named once, and the program continues.
TACH_EVNTS=x TACH_PMU=nosuch "$work/program" >"$work/err" 2>&1 && [ "$(cat "$work/err")" = "tach: TACH_EVNTS is not looked at; did you mean TACH_EVENTS?" ] || rc=1
TACH_OUTPUT=$work/said.txt TACH_COLOUR=red "$work/program" >"$work/err" 2>&1 && [ ! -s "$work/err" ] || rc=1
TACH_OUTPUT=/nonexistent/x "$work/program" 2>&- || { echo "# closed: $?"; rc=1; }
TACH_OUTPUT=/nonexistent/x "$work/program" 2>/dev/full || { echo "# full: $?"; rc=1; }
mkfifo "$work/fifo"
exec 7<>"$work/fifo" 8>"$work/fifo"
exec 7<&-
env TACH_OUTPUT=/nonexistent/x "$work/program" 2>&8 || { echo "# no reader: $?"; rc=1; }
exec 8>&-
if [ $rc = 0 ]; then echo "ok mistyped does no harm"; else echo "not ok mistyped does no harm"; failed=1; fi
doctor variable '"cause":"events","text":"TACH_EVNTS is not looked at; did you mean TACH_EVENTS' TACH_EVNTS=x
doctor pmu "\"cause\":\"events\",\"text\":\"TACH_PMU: no PMU 'nosuch'" TACH_PMU=nosuch
doctor derived '"cause":"events","text":"TACH_DERIVED: /nonexistent/x: No such file' TACH_DERIVED=/nonexistent/x
# An empty value means no event: only the clock counts, on any machine.
TACH_EVENTS='' TACH_OUTPUT=$work/empty.json "$work/program"
if python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); sys.exit(len(r["quantities"]) != 1 or r["note"] != "")' "$work/empty.json"
then echo "ok mistyped empty events"; else echo "not ok mistyped empty events"; failed=1; fi
# Usual settings cause no message.
TACH_EVENTS=page-faults TACH_REGIONS='parse,w*' TACH_OUTPUT=$work/good.txt "$work/program"
if grep -q '^parse ' "$work/good.txt" && ! grep -v 'TACH_NOTES=1' "$work/good.txt" | grep -q TACH_; then echo "ok mistyped not at all"
else echo "not ok mistyped not at all"; failed=1; fi
exit $failed

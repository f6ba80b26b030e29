#!/usr/bin/env bash
# tach dispatch for users: registers with names, errors with place and cure, JSON.
cd "$(dirname "$0")/../../.." || exit 1
B=${B:-build} bad=0
# case NAME STATUS PATTERN ARGUMENT...: the exit status, and a pattern that must match a line of the output.
case_() {
	local name=$1 status=$2 pattern=$3 out rc
	shift 3
	out=$("$B/tach" dispatch "$@" 2>&1); rc=$?
	if [ $rc = "$status" ] && grep -qE -- "$pattern" <<<"$out"; then
		echo "ok dispatch_$name"
	else
		echo "# tach dispatch $*: status $rc, expected $status and /$pattern/ in:"; sed 's/^/#   /' <<<"$out"
		echo "not ok dispatch_$name"; bad=1
	fi
}
case_ names 0 '^PMD16 .* IA32_FIXED_CTR0 = INST_RETIRED:ANY$' --pmu skl INST_RETIRED:ANY
case_ arm64_names 0 '^PMC31 +0xdf7f +0x0000000080000000  PMCCFILTR_EL0$' --pmu arm_n1 CPU_CYCLES
case_ netburst_names 0 '^PMD6 .* MSR_IQ_COUNTER0 = ' --pmu pfm3:pentium4 instr_retired:NBOGUSNTAG
case_ place 1 '^ {17}\^$' --pmu skl INST_RETIRED:XX
case_ near_event 1 'did you mean UOPS_TYPE\?' --pmu pfm3:pentium4 uop_type:TAGLOADS
case_ near_mask 1 'did you mean NBOGUSTAG\?' --pmu pfm3:pentium4 instr_retired:NBOGUSTA
case_ mask_missing 1 'needs a unit mask: NBOGUSNTAG' --pmu pfm3:pentium4 instr_retired
case_ lists 1 'it has core, ' --pmu pfm3:none X
case_ perf_name 1 "tach list --pmu skl" --pmu skl cycles
case_ comma 1 'blanks separate events' --pmu skl INST_RETIRED:ANY,LSD
case_ foreign_feature 1 "are Intel's" --pmu amd64_fam19h_zen4 --pebs RETIRED_INSTRUCTIONS
case_ bad_value 2 "numbers below 512.*not '0,z'" --pmu skl --unavailable 0,z INST_RETIRED:ANY
case_ privilege 0 '^PMC0 .*0x00000000005300c0 ' --pmu skl --privilege uk INST_RETIRED:ANY_P
case_ bad_privilege 2 "letters out of u k h, or 0 .. 31, not 'z'" --pmu skl --privilege z INST_RETIRED:ANY_P
case_ range_excess 0 'also 0x0 bytes before, 0x10 after' --pmu itanium2 --code 0x10000-0x1fff0 ISB_BUNPAIRS_IN
case_ range_inexact 0 'do not cover these ranges exactly' --pmu itanium2 --data 0x356c0-0x357c0 --data 0x1085bb4-0xb59f0cc6a \
	L2_IFET_CANCELS_BYPASS

command -v python3 >/dev/null || { echo "skip dispatch_json: python3 is not installed"; exit $bad; }
"$B/tach" dispatch --json --pmu itanium2 --code 0x4000-0x4100 IA64_INST_RETIRED | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "tach-dispatch-1" and d["pmu"] == "itanium2"
assert d["pmds"][0]["event"] == "IA64_INST_RETIRED" and "event" not in d["pmcs"][0]
assert d["code_exact"] is True and len(d["code_registers"]) == 4
assert int(d["code_ranges"][0]["end"], 16) == 0x4100 and d["data_ranges"] == []
' && echo "ok dispatch_json" || { echo "not ok dispatch_json"; bad=1; }
exit $bad

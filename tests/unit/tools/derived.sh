#!/usr/bin/env bash
# tach derived: its output, where it prints the output, and its exit statuses.
set -u
cd "$(dirname "$0")/../../.."
tach="${B:-build}/tach derived"
. tests/cases derived
unset TACH_PMU TACH_DERIVED
XDG_CONFIG_HOME=/nonexistent
export XDG_CONFIG_HOME
tmp=$(mktemp) || exit 1
trap 'rm -f "$tmp"' EXIT

want derived_help 0 '^usage: tach derived check' $tach --help
want derived_nothing 2 'check, list, show or eval expected' $tach
want derived_check_error 1 '^tests/unit/derived/derived/base-blank.derived:2:23: error: a blank' $tach check tests/unit/derived/derived/base-blank.derived
want derived_check_sound 0 ': 7 definitions, 0 errors$' $tach check tests/unit/derived/derived/sound.derived
want derived_check_presets 0 'intel_core.derived: [0-9]+ definitions, 0 errors$' $tach check arch/*/presets/*.derived
printf '%s\n' CPU,skl CPU,skx EVENT,RING,NOT_DERIVED,BACK EVENT,BACK,DERIVED_ADD,RING,INST_RETIRED \
	EVENT,GONE,NOT_DERIVED,NOSUCH EVENT,EARLY,NOT_DERIVED,LATE EVENT,LATE,NOT_DERIVED,INST_RETIRED \
	CPU,skx EVENT,SKX,NOT_DERIVED,PAPI_TOT_INS CPU,nhm EVENT,LATE,NOT_DERIVED,INST_RETIRED:NOSUCH >"$tmp"
want derived_check_ring 1 ":3: error: .*RING -> BACK -> RING" $tach check "$tmp"
want derived_check_count 1 ": 7 definitions, 2 errors" $tach check "$tmp"
want derived_check_gone 1 ":5: warning: left out on every PMU that it is for, .* GONE cannot count 'NOSUCH'" $tach check "$tmp"
want derived_check_umask 1 ":11: warning: left out on nhm: .*no umask or modifier 'NOSUCH'" $tach check "$tmp"
# 3.6 MB of formulas are tried, each on one PMU.
seq 500 | awk '{ f = "cycles"; for (i = 0; i < 10; i++) f = f "+" f; print "EVENT,E" $1 ",DERIVED_INFIX," f }' >"$tmp.large"
sed -i '300s/+cycles$/+nosuch/' "$tmp.large"
want derived_check_large 0 'large:300: warning: left out on .*nosuch' $tach check "$tmp.large"
want derived_check_large_note 0 'large: note: [0-9]+ definitions were not tried on every PMU: .* --pmu' $tach check "$tmp.large"
rm -f "$tmp.large"
want derived_check_pmu 1 ":5: warning: left out on skl: GONE" $tach check --pmu skl "$tmp"
left=$($tach check "$tmp" 2>&1 | grep -cE ':(6|7|9): ')
want derived_check_sound_ones 0 '^0$' echo "$left"
want derived_check_bad_pmu 1 "no PMU 'nosuch'" $tach check --pmu nosuch "$tmp"
want derived_check_no_file 1 'cannot read /nonexistent' $tach check /nonexistent
want derived_list 0 '^ipc +Instructions per cycle' $tach list --pmu knl
want derived_list_bad_pmu 1 "no PMU 'nosuch'" $tach list --pmu nosuch
want derived_show 0 '^  formula   N0 / N1  \(quotient\)' $tach show ipc --pmu skl
want derived_show_words 0 '^  N1 +UNHALTED_CORE_CYCLES = 0x51003c' $tach show ipc --pmu skl
want derived_show_unknown 1 "no derived event 'nosuch'" $tach show nosuch --pmu skl
printf 'EVENT,MINE,DERIVED_PS,PAPI_TOT_CYC,PAPI_TOT_INS\nEVENT,GONE,NOT_DERIVED,NOSUCH\n' >"$tmp"
want derived_show_file 0 '^  postfix   N0\|#\|\*\|N1\|/\|' $tach show MINE --pmu skl --file "$tmp" --max-hz 1e9
want derived_show_gone 1 "GONE cannot count 'NOSUCH': no event" $tach show GONE --pmu skl --file "$tmp"
want derived_show_environment 0 '^MINE' env TACH_DERIVED="$tmp" $tach show MINE --pmu icl --max-hz 1
want derived_show_modifiers 0 '^  N1 +skl::UNHALTED_CORE_CYCLES:k = ' $tach show skl::ipc:k --pmu skl
want derived_show_bad_modifier 1 "no umask or modifier 'nosuch'" $tach show ipc:nosuch --pmu skl
want derived_show_passes 0 '^  groups    2, one at a time: N0 .*; N' $tach show topdown_memory_bound --pmu bdw
want derived_encode 1 "ipc is derived from several events" "${B:-build}/tach" encode --pmu skl ipc
want derived_eval 0 '^2.5$' $tach eval 'N0 / N1' N0=5 N1=2
want derived_eval_postfix 0 '^-4$' $tach eval --postfix 'N0|N1|-|' N0=5 N1=9
want derived_eval_negative 0 '^-7$' $tach eval -- N0 N0=-7
want derived_eval_clock 0 '^6000000000$' $tach eval 'N0*#' N0=2 --max-hz 3e9
want derived_eval_elapsed 0 '^5$' $tach eval 'elapsed_ns/2' --elapsed-ns 10
want derived_eval_zero 0 $'^nan\tdivzero$' $tach eval 'N0/N1' N0=1 N1=0
want derived_eval_where 1 '^ {7}\^$' $tach eval 'N0 + * 2' N0=1
want derived_eval_missing 1 'N1 has no value' $tach eval 'N0+N1' N0=1
want derived_eval_twice 2 "each once, not 'N0=2'" $tach eval N0 N0=1 N0=2
want derived_show_in_order 0 '^ipc' bash -c "$tach show ipc nosuch --pmu skl 2>&1 | head -n 1"
want derived_eval_bad_operand 2 'N<number>=<count> expected' $tach eval N0 M0=1

printf '%s\t%s\t%s\n' DERIVED_PS '' 10,20 DERIVED_POSTFIX 'N0|N1|/|' 1,3 DERIVED_ADD '' 1,2,3 \
	DERIVED_SUB '' 5,9 NOT_DERIVED '' 9007199254740993 DERIVED_CMPD '' 4,5 \
	DERIVED_ADD_PS '' 4,5,6 DERIVED_INFIX 'N0/N1' 1,0 DERIVED_INFIX 'N0+N9' 1 NOSUCH '' 1 \
	derived_ps '' 10,20,30 SUB '' ' 9 , 5 ,1' INFIX '1e308*10*(N0-N0)' 1 POSTFIX '3|4|*' '' >"$tmp"
printf 'DERIVED_INFIX\tN0+1\t1\r\nDERIVED_POSTFIX\t3|4|+|\n' >>"$tmp"
batch=$($tach eval --batch --max-hz 2e9 <"$tmp"; echo "status $?")
expected=$'4000000000\t-
0.33333333333333331\t-
6\t-
-4\t-
9007199254740992\t-
4\t-
5500000000\t-
nan\tdivzero
error in column 4: there is no N9: only N0 exists
error: no type \'NOSUCH\'
4000000000	-
3	-
nan	-
12	-
2	-
7	-
status 1'
if [ "$batch" = "$expected" ]; then
	echo "ok derived_batch"
else
	diff <(echo "$expected") <(echo "$batch") | sed 's/^/# /'
	echo "not ok derived_batch"
	failed=1
fi
exit $failed

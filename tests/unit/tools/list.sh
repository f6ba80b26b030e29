#!/usr/bin/env bash
# tach list: selection, output, exit status.
set -u
cd "$(dirname "$0")/../../.."
tach=${B:-build}/tach
. tests/cases list
unset TACH_PMU

want list_help 0 '^usage: tach list' "$tach" list --help
want list_bad_option 2 "^tach list: unrecognized option" "$tach" list --nosuch
want list_all_and_pmu 2 'not both' "$tach" list --all --pmu skl
want list_unknown_pmu 1 "no PMU 'nosuch'" "$tach" list --pmu nosuch
want list_nothing_fits 1 "nothing fits 'nosuch'" "$tach" list --pmu skl nosuch
want list_long_pattern 2 "longer than 1000 characters" "$tach" list --all "$(printf '%100000s' | tr ' ' '*')x"
want list_marks_the_hosts 0 '^\* skl +x86' env TACH_PMU=skl "$tach" list --all
want list_finds_presets 0 '^  ipc +Instructions per cycle; .*intel_core.derived:[0-9]' env TACH_PMU=skl "$tach" list ipc
want list_finds_presets_json 0 '"name": "ipc", "description": "Instructions per cycle", "file"' env TACH_PMU=skl "$tach" list --json ipc
printf 'EVENT,mine,NOT_DERIVED,INST_RETIRED:ANY_P,SDESC,My own\n' >"${B:-build}/list.derived"
want list_finds_the_users 0 "^  mine +My own; ${B:-build}/list.derived:1" env TACH_PMU=skl TACH_DERIVED="${B:-build}/list.derived" "$tach" list mine
want list_host_only 0 '^  INST_RETIRED +0-' env TACH_PMU=skl "$tach" list 'inst_retired'
want list_bad_TACH_PMU 0 "no PMU 'nosuch'" sh -c "TACH_PMU=nosuch $tach list --all; TACH_PMU=nosuch $tach list; true"
want list_default_umask 0 '^    ANY \*' "$tach" list --pmu skl baclears
want list_umask_of_vendor_spelling 0 '^    ANY_P ' "$tach" list --pmu skl INST_RETIRED.ANY_P
want list_glob_of_whole_names 0 '^  LSD ' "$tach" list --pmu skl 'l?d'
want list_glob_is_anchored 1 'nothing fits' "$tach" list --pmu skl 'ls?'x
want list_pmu_in_pattern 0 '^skl,' "$tach" list --all 'SKL::lsd'
want list_in_descriptions 0 'CONDITIONAL|COND_NTAKEN' "$tach" list --pmu skl 'not taken'
want list_alias 0 'same as ' "$tach" list --pmu snb lsd
want list_arm 0 '^  CPU_CYCLES ' "$tach" list --pmu arm_n1
want list_all_boxes 0 '^  skx_unc_imc5 +x86' "$tach" list --uncore --all
want list_finds_in_boxes 0 '^    RD ' "$tach" list --uncore --all 'skx_unc_imc5::UNC_M_CAS_COUNT'
want list_of_one_box 0 '^  RAPL_ENERGY_PKG ' "$tach" list --pmu rapl
want list_uncore_and_pmu 2 'not both' "$tach" list --uncore --pmu skl

all=$("$tach" list --all '*')
for what in 'vc:code 0x[0-9a-fx,]* as in libpfm-4; the vendor' 'pfm:code 0x[0-9a-fx,]* as in the vendor'; do
	n=$(cut -f1,10 arch/*/events/*.tsv | grep -cE "^[EU]	(.*;)?${what%%:*}=")
	got=$(grep -c "${what#*:}" <<<"$all")
	if [ "$n" = "$got" ] && [ "$n" -gt 0 ]; then
		echo "ok list_shows_both_codes_${what%%:*}"
	else
		echo "# $got lines '${what#*:}', the tables have $n rows"; failed=1
		echo "not ok list_shows_both_codes_${what%%:*}"
	fi
done
if grep -qE ' +$' <<<"$all"; then
	echo "# blanks at a line's end"; echo "not ok list_no_blank_tails"; failed=1
else
	echo "ok list_no_blank_tails"
fi
exit $failed

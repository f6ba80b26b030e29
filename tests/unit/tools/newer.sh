#!/usr/bin/env bash
# tools/newer: the differences between small trees of three vendors and the tables of cores and boxes.
set -u
cd "$(dirname "$0")/../../.."
command -v python3 >/dev/null || { echo "skip newer: python3 is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
check() { # NAME STATUS EXPECTED ARGUMENT...: EXPECTED are lines that it prints, and "! LINE" one that it does not
	local name=$1 status=$2 expected=$3 rc=0 line
	shift 3
	tools/newer "$@" >"$work/said" 2>&1
	[ $? = "$status" ] || rc=1
	while IFS= read -r line; do
		case $line in
		'! '*) ! grep -qxF -- "${line#! }" "$work/said" || rc=1;;
		'') [ ! -s "$work/said" ] || rc=1;;
		*) grep -qxF -- "$line" "$work/said" || { echo "# no line: $line"; rc=1; };;
		esac
	done <<<"$expected"
	if [ $rc = 0 ]; then echo "ok $name"; else sed 's/^/# /' "$work/said" | head -20; echo "not ok $name"; failed=1; fi
}

mkdir -p "$work/intel/SKL/events" "$work/linux/tools/perf/pmu-events/arch/x86/skylake" \
	"$work/linux/tools/perf/pmu-events/arch/arm64/arm/n1" "$work/arm" "$work/nothing"
cat >"$work/intel/mapfile.csv" <<'END'
Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name
GenuineIntel-6-4E,V59,/SKL/events/skylake_core.json,core,,,
GenuineIntel-6-FE,V1,/SKL/events/skylake_core.json,core,,,
END
cat >"$work/intel/SKL/events/skylake_core.json" <<'END'
{"Events": [
 {"EventName": "INST_RETIRED.ANY_P", "EventCode": "0xC0", "UMask": "0x00", "MSRIndex": "0x00"},
 {"EventName": "UOPS_ISSUED.STALL_CYCLES", "EventCode": "0x0E", "UMask": "0x01", "CounterMask": "1", "Invert": "1"},
 {"EventName": "UOPS_ISSUED.ANY", "EventCode": "0x0F", "UMask": "0x01"},
 {"EventName": "SOMETHING.OF_TOMORROW", "EventCode": "0x77", "UMask": "0x20", "CounterMask": "2"},
 {"EventName": "OLD.NAME", "EventCode": "0x01", "UMask": "0x01", "Deprecated": "1"}]}
END
check intel 1 'skl
  new      SOMETHING.OF_TOMORROW 0x2002077
  changed  UOPS_ISSUED.ANY 0x10f 0x10e
  gone     LONGEST_LAT_CACHE.MISS
no table  GenuineIntel-6-FE
!   gone     UOPS_ISSUED.ANY
!   new      OLD.NAME 0x101' "$work/intel"

mkdir -p "$work/boxes/SPR/events"
cp "$work/intel/mapfile.csv" "$work/boxes/"
sed -i '2,$d' "$work/boxes/mapfile.csv"
cat >>"$work/boxes/mapfile.csv" <<'END'
GenuineIntel-6-8F-[0123],V1,/SPR/events/core.json,core,,,
GenuineIntel-6-8F-[0123],V1,/SPR/events/uncore.json,uncore,,,
END
echo '{"Events": []}' >"$work/boxes/SPR/events/core.json"
cat >"$work/boxes/SPR/events/uncore.json" <<'END'
{"Events": [
 {"Unit": "MDF", "EventName": "UNC_MDF_CRS_TxR_INSERTS.AD_BNC", "EventCode": "0x47", "UMask": "0x1", "UMaskExt": "0x0"},
 {"Unit": "MDF", "EventName": "UNC_MDF_CRS_TxR_INSERTS.AD_CRD", "EventCode": "0x48", "UMask": "0x2"},
 {"Unit": "MDF", "EventName": "UNC_MDF_OF.TOMORROW", "EventCode": "0x50", "UMask": "0x1", "UMaskExt": "0x2"},
 {"Unit": "IIO", "EventName": "UNC_IIO_OF_TOMORROW", "EventCode": "0x83", "UMask": "0x4", "PortMask": "0x01"}]}
END
check boxes 1 'boxes of GenuineIntel-6-8F-0
  new      UNC_MDF_OF.TOMORROW 0x200000150 MDF
  new      UNC_IIO_OF_TOMORROW - IIO
spr_unc_mdf
  changed  UNC_MDF_CRS_TxR_INSERTS.AD_CRD 0x248 0x247
  gone     UNC_MDF_CRS_TXR_INSERTS.BL_BNC
!   changed  UNC_MDF_CRS_TxR_INSERTS.AD_BNC 0x147 0x147
! spr_unc_cha' "$work/boxes"
mkdir -p "$work/steppings/SKX"
printf 'Family-model,Version,Filename,EventType\nGenuineIntel-6-55-[56789ABCDEF],V1,/SKX/core.json,core\n' >"$work/steppings/mapfile.csv"
cat >"$work/steppings/SKX/core.json" <<'END'
{"Events": [
 {"EventName": "FP_ARITH_INST_RETIRED.8_FLOPS", "EventCode": "0xC7", "UMask": "0x18"},
 {"EventName": "CPU_CLK_UNHALTED.REF_TSC", "EventCode": "0x0A", "UMask": "0x3", "Counter": "Fixed counter 2"},
 {"EventName": "SOMETHING.OF.TOMORROW", "EventCode": "0x77", "UMask": "0x20"}]}
END
check steppings 1 'clx
  new      SOMETHING.OF.TOMORROW 0x2077
! skx
!   changed  FP_ARITH_INST_RETIRED.8_FLOPS 0x18c7 0x60c7
!   changed  CPU_CLK_UNHALTED.REF_TSC 0x30a 0x300' "$work/steppings"
check one_table 0 '' -t nhm "$work/intel"

echo '[{"EventName": "cpu_cycles_of_tomorrow", "EventCode": "0x10", "UMask": "0x2"}, {"EventName": "inst_retired.any_p", "EventCode": "0xc0"}]' \
	>"$work/linux/tools/perf/pmu-events/arch/x86/skylake/core.json"
printf 'Family-model,Version,Filename,EventType\nGenuineIntel-6-(4E|5E),v59,skylake,core\n' \
	>"$work/linux/tools/perf/pmu-events/arch/x86/mapfile.csv"
printf '# MIDR\n0x00000000410fd0c0,v1,arm/n1,core\n' >"$work/linux/tools/perf/pmu-events/arch/arm64/mapfile.csv"
echo '[{"EventName": "CPU_CYCLES", "EventCode": "0x11"}]' >"$work/linux/tools/perf/pmu-events/arch/arm64/common.json"
echo '[{"ArmStdEvent": "CPU_CYCLES"}, {"EventName": "NEW_AT_ARM", "EventCode": "0x4321"}]' \
	>"$work/linux/tools/perf/pmu-events/arch/arm64/arm/n1/all.json"
check linux 1 'arm_n1
  new      NEW_AT_ARM 0x4321
skl
  new      cpu_cycles_of_tomorrow 0x210
!   new      CPU_CYCLES 0x11
!   new      inst_retired.any_p 0xc0' "$work/linux"

echo '{"product_configuration": {"implementer": "0x41", "part_num": "0xd0c"}, "events": {"CPU_CYCLES": {"code": "0x12"},
 "BR_NEW": {"code": "0x8777", "accesses": ["PMU"]}, "TRACED": {"code": "0x400c", "accesses": ["ETM"]}}}' >"$work/arm/n1.json"
check arm 1 'arm_n1
  new      BR_NEW 0x8777
  changed  CPU_CYCLES 0x12 0x11
!   new      TRACED 0x400c' "$work/arm"

check nothing 2 "tools/newer: $work/nothing: no mapfile.csv, no tools/perf/pmu-events and no JSON: which vendor's checkout is it?" "$work/nothing"
check no_folder 2 "tools/newer: $work/nowhere: no such folder" "$work/nowhere"
check no_table 2 "tools/newer: no table is called nosuch; arch/*/events and arch/x86/uncore have them" -t nosuch "$work/intel"
rm "$work/intel/SKL/events/skylake_core.json"
check half 2 "tools/newer: $work/intel/SKL/events/skylake_core.json: named in mapfile.csv, and not there: is the checkout whole?" "$work/intel"
exit $failed

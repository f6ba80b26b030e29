#!/usr/bin/env bash
# libpfm-4's own programs, from Debian's source package, compiled with our headers: with our library they print the
# same as with Debian's. Accepted differences are listed here, by rule.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ours=$B/libpfm4;; *) ours=$PWD/$B/libpfm4;; esac
[ "$(uname -m)" = x86_64 ] || { echo "skip clients: Debian's library has no tables of x86 on this architecture"; exit 77; }
tools/need libpfm4 papi-tools libncurses-dev swig python3-dev python3-setuptools >/dev/null ||
	{ echo "skip clients: packages cannot be installed"; exit 77; }
src=$(tools/source libpfm4) || { echo "skip clients: the source of libpfm4 cannot be fetched"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
result() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; failed=1; fi; }
with_ours() { LD_LIBRARY_PATH=$ours "$@"; }

# ---- they compile, and print the contents of our headers with their own formats ----

# libpfm-4 has err.h, but its package does not install it.
flags=(-O1 -D_GNU_SOURCE -pthread -Wall -Werror=format -Werror=implicit-function-declaration -Icompat/libpfm4/include
	-idirafter "$src/include" -I"$src/perf_examples" -DCONFIG_PFMLIB_ARCH_X86 -DCONFIG_PFMLIB_ARCH_X86_64)
compile() { # NAME SOURCE... [-lLIBRARY]
	local name=$1; shift
	"${CC:-gcc}" "${flags[@]}" -o "$work/$name" "$@" -L"$ours" -lpfm -lm 2>"$work/said" ||
		{ echo "# $name"; grep -m 3 error "$work/said" | sed 's/^/# /'; return 1; }
}
rc=0 n=0
compile validate "$src"/tests/validate{,_x86,_perf}.c || rc=1
for f in "$src"/examples/*.c "$src"/perf_examples/*.c "$src"/perf_examples/x86/*.c; do
	name=${f##*/} name=${name%.c} extra=()
	[ "$name" != perf_util ] || continue
	case $f in */perf_examples/*) extra=("$src/perf_examples/perf_util.c");; esac
	# The program prints an int as a long.
	[ "$name" != rtop ] || extra+=(-Wno-error=format -lncurses -ltinfo)
	compile "$name" "$f" ${extra[@]+"${extra[@]}"} || rc=1
	n=$((n + 1))
done
[ $n -ge 19 ] || rc=1
result compile $rc

# ---- tests/validate: strings and their expected codes ----

# Deliberate differences: the vendor's code (tests/vectors/vendor-over-libpfm4.tsv, and the bits of
# UNC_M2P_INGRESS_CYCLES_NE:ALL), answers of libpfm-4 versions after Debian's, and umasks that Debian's version lacks.
cat >"$work/rules" <<'END'
vendor ivb::MOVE_ELIMINATION:INT_NOT_ELIMINATED,
vendor ivb_ep::mem_load_uops_llc_miss_retired:local_dram,
vendor knl_unc_m2pcie::UNC_M2P_INGRESS_CYCLES_NE:ALL,
vendor knm_unc_m2pcie::UNC_M2P_INGRESS_CYCLES_NE:ALL,
newer spr::inst_retired:any,
more nhm::mem_uncore_retired:uncacheable,
more skx_unc_upi0::UNC_UPI_RXL_BASIC_HDR_MATCH:REQ_OPC,
END
"$work/validate" >"$work/theirs" 2>&1
rc=$?
[ $rc = 0 ] || echo "# Debian's library does not pass it"
with_ours "$work/validate" >"$work/have" 2>&1
grep -oE 'Event[0-9]+ [^ ]+' "$work/have" | cut -d' ' -f2 | sort >"$work/differ"
cut -d' ' -f2 "$work/rules" | sort >"$work/allowed"
diff "$work/allowed" "$work/differ" | sed -n 's/^[<>]/# &/p'
cmp -s "$work/allowed" "$work/differ" || rc=1
# The program processed all strings, as many as with Debian's library, and reported no faulty table entry.
[ "$(grep -oE '[0-9]+ x86 events' "$work/have")" = "$(grep -oE '[0-9]+ x86 events' "$work/theirs")" ] || rc=1
! grep -iE 'pmu: .*(event|umask)[0-9]' "$work/have" | sed 's/^/# /' | grep . || rc=1
result validate $rc

# ---- examples ----

rc=0
for pmu in hsw skl spr amd64_fam17h_zen2 amd64_fam19h_zen3; do
	export LIBPFM_FORCE_PMU=$pmu
	# Our library lists every event and umask that Debian's lists, except those that libpfm-4 itself has removed.
	"$work/showevtinfo" -L >"$work/theirs" 2>/dev/null
	with_ours "$work/showevtinfo" -L >"$work/have" 2>/dev/null
	[ "$(grep -c . "$work/theirs")" -gt 90 ] || { echo "# $pmu: too few events"; rc=1; }
	lacks=$(comm -23 <(grep -v 'spr::AMX_OPS_RETIRED' "$work/theirs" | sort -u) <(sort -u "$work/have"))
	[ -z "$lacks" ] || { head -3 <<<"$lacks" | sed "s/^/# $pmu lacks /"; rc=1; }
done
result showevtinfo $rc

rc=0
for string in skl::INST_RETIRED:ANY_P:u hsw::L2_RQSTS:ALL_DEMAND_MISS:c=1:i spr::ARITH:DIV_ACTIVE \
	amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:k ivb::OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_MISS_LOCAL; do
	export LIBPFM_FORCE_PMU=${string%%::*}
	"$work/check_events" "$string" 2>&1 | grep -E 'Event|Codes|Idx' >"$work/theirs"
	with_ours "$work/check_events" "$string" 2>&1 | grep -E 'Event|Codes|Idx' >"$work/have"
	# An event's number is its position in the table, and our tables have more events.
	grep -q 'Codes.*0x' "$work/theirs" &&
		cmp -s <(grep -v Idx "$work/theirs") <(grep -v Idx "$work/have") ||
		{ diff "$work/theirs" "$work/have" | sed 's/^/# /'; rc=1; }
	"$work/evt2raw" "$string" >"$work/theirs" 2>&1
	with_ours "$work/evt2raw" "$string" >"$work/have" 2>&1
	cmp -s "$work/theirs" "$work/have" || { diff "$work/theirs" "$work/have" | sed 's/^/# /'; rc=1; }
done
unset LIBPFM_FORCE_PMU
result codes $rc

# These programs count events that need no PMU, by the same names.
rc=0
names() { sed -E 's/[0-9][0-9,.]*/N/g; s/[[:blank:]]+/ /g' | grep . | sort -u; }
for run in 'task -e page-faults,context-switches true' 'task -e page-faults:u true' 'task -e no-such-event true' \
	'task -e page-faults,,cpu-clock true'; do
	# shellcheck disable=SC2086
	set -- $run
	"$work/$1" "${@:2}" >"$work/theirs" 2>&1; want=$?
	with_ours "$work/$1" "${@:2}" >"$work/have" 2>&1
	[ $? = $want ] && cmp -s <(names <"$work/theirs") <(names <"$work/have") ||
		{ echo "# $run"; diff "$work/theirs" "$work/have" | sed 's/^/# /'; rc=1; }
done
result task $rc

# ---- PAPI, as built by Debian ----

rc=0
for run in 'papi_event_chooser NATIVE skl::INST_RETIRED:ANY_P' 'papi_event_chooser PRESET PAPI_TOT_INS' 'papi_decode -a'; do
	# shellcheck disable=SC2086
	LIBPFM_FORCE_PMU=skl $run >"$work/theirs" 2>&1; want=$?
	# shellcheck disable=SC2086
	LIBPFM_FORCE_PMU=skl with_ours $run >"$work/have" 2>&1
	[ $? = $want ] && [ -s "$work/have" ] && cmp -s "$work/theirs" "$work/have" ||
		{ echo "# $run"; diff "$work/theirs" "$work/have" | head -5 | sed 's/^/# /'; rc=1; }
done
# Lines of papi_xml_event_info differ only by additional events and by descriptions, which are our own.
xml() { LIBPFM_FORCE_PMU=skl "$@" papi_xml_event_info 2>/dev/null | sed -E 's/ desc="[^"]*"//'; }
xml env >"$work/theirs"
xml with_ours >"$work/have"
[ "$(grep -c '<event ' "$work/theirs")" -gt 80 ] && ! diff "$work/theirs" "$work/have" | grep '^<' | sed 's/^/# /' | grep . || rc=1
result papi $rc

# ---- the Python binding ----

rc=0
cp -r "$src/python" "$work/python"
mkdir "$work/include"
cp -r compat/libpfm4/include/perfmon "$work/include/"
(cd "$work/python" && sed -i "s|'../lib'|'$ours'|" setup.py && python3 setup.py -q build_ext --inplace) >"$work/said" 2>&1 ||
	{ tail -n 5 "$work/said" | sed 's/^/# /'; rc=1; }
cat >"$work/client.py" <<'END'
import sys
sys.path.insert(0, 'src')
from perfmon_int import *
pfm_initialize()
pmus = {}
for i in range(0, PFM_PMU_MAX):
    try:
        info = pfm_get_pmu_info(i)[1]
    except Exception:
        continue
    pmus[info.name] = info
for name in ('skl', 'hsw', 'amd64_fam17h_zen2', 'perf'):
    info = pmus[name]
    names, idx = [], info.first_event
    while idx != -1:
        event = pfm_get_event_info(idx, PFM_OS_PERF_EVENT_EXT)[1]
        names.append(event.name)
        idx = pfm_get_event_next(idx)
    for n in sorted(names):
        print(name, info.type, n)
for string in ('perf::PAGE-FAULTS', 'skl::INST_RETIRED:ANY_P:u', 'hsw::L2_RQSTS:MISS', 'nosuch'):
    try:
        e = pfm_perf_encode_arg_t()
        attr = perf_event_attr_t()
        e.attr = attr
        r = pfm_get_os_event_encoding(string, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, e)
        print(string, r if isinstance(r, int) else 'encoded', attr.type, hex(attr.config), attr.exclude_kernel)
    except Exception as x:
        print(string, x)
END
if [ $rc = 0 ]; then
	export LIBPFM_ENCODE_INACTIVE=1
	(cd "$work/python" && python3 "$work/client.py") >"$work/theirs" 2>&1 || rc=1
	(cd "$work/python" && with_ours python3 "$work/client.py") >"$work/have" 2>&1 || rc=1
	lacks=$(comm -23 <(sort -u "$work/theirs") <(sort -u "$work/have"))
	[ -z "$lacks" ] || { head -5 <<<"$lacks" | sed 's/^/# lacks /'; rc=1; }
	[ "$(grep -c . "$work/theirs")" -gt 300 ] || { tail -n 3 "$work/theirs" | sed 's/^/# /'; rc=1; }
fi
result python $rc
exit $failed

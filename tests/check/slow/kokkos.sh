#!/usr/bin/env bash
# A Kokkos program, with Debian's Kokkos, loads libtach-kokkos.so: its kernels and regions are in the report. README
# states the extra cost of a kernel compared with a region in C (bench/faces).
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
! grep -q -e -fsanitize "$B/flags" || { echo "skip kokkos: AddressSanitizer would have to be loaded first"; exit 77; }
tools/need g++ libtrilinos-kokkos-dev valgrind >/dev/null || { echo "skip kokkos: packages cannot be installed"; exit 77; }
case $B in /*) lib=$B/libtach-kokkos.so;; *) lib=$PWD/$B/libtach-kokkos.so;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
failed=0
result() { if [ "$2" = 0 ]; then echo "ok kokkos_$1"; else tail -n 20 "$work/said" | sed 's/^/# /'; echo "not ok kokkos_$1"; failed=1; fi; }
cat >"$work/program.cc" <<'SOURCE'
#include <Kokkos_Core.hpp>
int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	{
		Kokkos::View<double *> a("a", 1000), b("b", 1000);
		double sum = 0;

		Kokkos::Profiling::pushRegion("solve");
		for (int i = 0; i < 7; i++)
			Kokkos::parallel_for("fill", 1000, KOKKOS_LAMBDA(int k) { a(k) = k; });
		Kokkos::parallel_reduce("sum", 1000, KOKKOS_LAMBDA(int k, double &s) { s += a(k); }, sum);
		Kokkos::deep_copy(b, a);
		Kokkos::Profiling::popRegion();
		if (sum != 499500)
			return 1;
	}
	Kokkos::finalize();
	return 0;
}
SOURCE
include=/usr/include/trilinos
g++ -std=c++17 -O1 -w -isystem $include -o "$work/program" "$work/program.cc" -ltrilinos_kokkoscore -fopenmp -ldl >"$work/said" 2>&1 &&
	KOKKOS_PROFILE_LIBRARY=$lib KOKKOS_TOOLS_LIBS=$lib OMP_NUM_THREADS=2 TACH_OUTPUT=$work/out.json "$work/program" >>"$work/said" 2>&1 &&
	python3 - "$work/out.json" >>"$work/said" 2>&1 <<'END'
import json, sys
regions = {r["name"]: r for r in json.load(open(sys.argv[1]))["regions"]}
assert regions["fill"]["calls"] == 7 and regions["sum"]["calls"] == 1 and regions["solve"]["calls"] == 1, regions.keys()
assert any(n.startswith("copy b = a") for n in regions), regions.keys()
assert regions["solve"]["nested"] >= 8
END
result program $?
# One at a time, because another test builds some of the same files.
flock "$B/flags" make -s B="$B" "$B/bench/face" "$B/bench/face_kokkos" "$B/bench/fakeperf.so" >"$work/said" 2>&1 && bench/faces C Kokkos >>"$work/said" 2>&1 &&
	awk -F'\t' '{ of[$1] = $4 } END { exit !(of["C"] > 50 && of["Kokkos"] >= of["C"] && of["Kokkos"] <= of["C"] + 200) }' "$work/said"
result cost $?
exit $failed

#!/usr/bin/env bash
# LIKWID's own examples from Debian's package, compiled with its headers and with ours: with our library they run
# without likwid-perfctr, and print correct calls, times and names. A program built by Debian's package uses our
# library only on request.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ours=$B/likwid;; *) ours=$PWD/$B/likwid;; esac
[ "$(uname -m)" = x86_64 ] || { echo "skip likwid: LIKWID does not run here"; exit 77; }
tools/need likwid g++ valgrind >/dev/null || { echo "skip likwid: packages cannot be installed"; exit 77; }
! grep -q -e -fsanitize "$B/flags" || { echo "skip likwid: OpenMP's library is no sanitizer's"; exit 77; }
examples=/usr/share/likwid/examples
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
flock "$B/flags" make -s B="$B" "$B/bench/face_marker" "$B/bench/fakeperf.so" || exit 1
failed=0
result() { if [ "$2" = 0 ]; then echo "ok likwid_$1"; else sed 's/^/# /' "$work/said" | tail -n 20; echo "not ok likwid_$1"; failed=1; fi; }
unset "${!TACH_@}" "${!LIKWID_@}" 2>/dev/null
export OMP_NUM_THREADS=2

# Here their sleeps are short, and output files go to a private folder.
sed 's/sleep(SLEEPTIME)/usleep(20000)/' $examples/C-markerAPI.c >"$work/marker.c"
sed "s|/tmp/likwid_marker.out|$work/internal.txt|; s/cpus\[NUM_THREADS\] = *{[0-9,]*}/cpus[NUM_THREADS] = {0, 0, 0}/; s/#define NUM_FLOPS .*/#define NUM_FLOPS 100000/; s/#define NUM_COPIES .*/#define NUM_COPIES 100/" \
	$examples/C-internalMarkerAPI.c >"$work/internal.c"
build() { gcc -fopenmp -O1 -DLIKWID_PERFMON "$@" >"$work/said" 2>&1; }
build -Icompat/likwid/include -o "$work/marker" "$work/marker.c" -L"$ours" -llikwid &&
	build -Icompat/likwid/include -o "$work/internal" "$work/internal.c" -L"$ours" -llikwid &&
	build -o "$work/debian" "$work/marker.c" -llikwid
result compile $?

right() { # PROGRAM: ten entries of 20 ms at least, five under each group, in both threads
	LIKWID_EVENTS='page-faults:PMC0|CLOCK' LIKWID_FILEPATH=$work/out.csv LD_LIBRARY_PATH=$ours "$1" >"$work/said" 2>&1 || return 1
	python3 - "$work/out.csv" >>"$work/said" 2>&1 <<'END'
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
assert [r[1:] for r in rows if r[0] == "call count"] == [["5", "5"] + [""] * (len(r) - 3) for r in rows if r[0] == "call count"]
times = [float(t) for r in rows if r[0] == "RDTSC Runtime [s]" for t in r[1:3]]
assert len(times) == 4 and all(0.1 <= t for t in times), times
assert [r[1:4] for r in rows if r[0].startswith("TABLE")][0] == ["Region example", "Group 1 Raw", "Custom"]
END
}
right "$work/marker"; result marker $?
# Code compiled with Debian's headers calls functions by name; the dynamic linker chooses the library at start.
right "$work/debian" && ! LD_TRACE_LOADED_OBJECTS=1 "$work/debian" | grep -q "$ours"; result debian $?

rc=0
LD_LIBRARY_PATH=$ours "$work/internal" >"$work/said" 2>&1 || rc=1
grep -q '^Marker API measured 9 regions$' "$work/said" && grep -q '^Region copy with . events and . metrics$' "$work/said" || rc=1
[ "$(grep -cE '^ +0 : +(Total|copy|calc_flops) : +(FLOPS_DP|L2|Custom) : +(event|metric) :' "$work/said")" -ge 9 ] || rc=1
# Results name pinned threads by their processor, as LIKWID does.
grep -q 'HWThread 0 | HWThread 0 | HWThread 0' "$work/internal.txt" || rc=1
result internal $rc

# The limit is a hundredth of LIKWID's own cost with 4 counters (bench/likwid-guest).
rc=0
for counters in 1:63 4:146; do
	FACE_COUNTERS=${counters%:*} bench/faces "LIKWID's markers" >"$work/said" 2>&1 || rc=1
	awk -F'\t' -v most="${counters#*:}" '{ bad = $4 < 30 || $4 > most } END { exit NR != 1 || bad }' "$work/said" || { rc=1; break; }
done
result cost $rc
exit $failed

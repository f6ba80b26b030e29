#!/usr/bin/env bash
# mpirun of Debian's Open MPI starts four ranks of a program that sends and receives, each under tach run: the result
# is one report with a row for each rank and the imbalance of each region. Without tach run each rank writes a file.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
. tests/unsanitized openmpi "a sanitizer's library would have to be preloaded first"
tools/need openmpi-bin libopenmpi-dev >/dev/null 2>&1 || { echo "skip openmpi: openmpi-bin and libopenmpi-dev cannot be installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work # Open MPI has its sessions there too
cat >"$work/ring.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <tach.h>

int main(int argc, char **argv)
{
	int rank, ranks, token = 0;
	volatile double sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int k = 0; k < 5; k++) {
		TACH_START(solve);
		for (int i = 1; i < 100000 * (1 + 3 * (rank == 3)); i++)
			sum += 1.0 / i;
		TACH_STOP(solve);
		TACH_START(exchange);
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &token, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		TACH_STOP(exchange);
	}
	if (argc > 1 && rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Finalize();
	return token == (rank + ranks - 1) % ranks ? 0 : 1;
}
C
OMPI_CC=gcc mpicc -O1 -Iinclude -o "$work/ring" "$work/ring.c" -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || { echo "not ok openmpi_build"; exit 1; }
launch=(mpirun --oversubscribe --mca btl "self,vader" -n 4)
[ "$(id -u)" != 0 ] || launch=(mpirun --allow-run-as-root "${launch[@]:1}")
"${launch[@]}" true >"$work/err" 2>&1 || { sed 's/^/# /' "$work/err" | head; echo "skip openmpi: mpirun does not run here"; exit 77; }
failed=0 rc=0
result() { if [ $rc = 0 ]; then echo "ok openmpi_$1"; else echo "not ok openmpi_$1"; sed 's/^/#   /' "$work/err" | head -20; failed=1; fi; rc=0; }
joined() { # FILE
	python3 - "$1" <<'P' || rc=1
import json, sys
report = json.load(open(sys.argv[1]))
rows = {r["name"]: r for r in report["regions"]}
time = lambda r: r["inclusive"]["time"]["value"]
for name in "solve", "exchange":
    each = [rows["%s [rank %d]" % (name, k)] for k in range(4)]
    assert [r["calls"] for r in each] == [5] * 4 and rows[name]["calls"] == 20
    mean = sum(map(time, each)) / 4
    got = rows[name]["inclusive"]["imbalance"]["value"]
    assert abs(got - max(map(time, each)) / mean) < 1e-6 * got
    print("# %s: imbalance %.2f" % (name, got))
P
}
"${launch[@]}" "$B/tach" run -o "$work/all.json" -- "$work/ring" >"$work/out" 2>"$work/err" || rc=1
joined "$work/all.json"
"${launch[@]}" "$B/tach" run -- "$work/ring" >"$work/out" 2>"$work/err" || rc=1
cat "$work/out" "$work/err" >"$work/both"
[ "$(grep -c '^region .* imbalance ' "$work/both")" = 1 ] && [ "$(grep -cE '^exchange \[rank [0-3]\] ' "$work/both")" = 4 ] || rc=1
result one_report

TACH_OUTPUT=$work/each.json "${launch[@]}" -x TACH_OUTPUT "$work/ring" 2>"$work/err" || rc=1
"$B/tach" report --ranks -o "$work/joined.json" "$work"/each.?.json 2>>"$work/err" || rc=1
joined "$work/joined.json"
result files

# One tach run around mpirun counts all processes of a job on one machine.
"$B/tach" run --per-process -o "$work/around.json" -- "${launch[@]}" "$work/ring" 2>"$work/err" || rc=1
[ "$(grep -c '"name": "(process [0-9]* ring)"' "$work/around.json")" = 4 ] || rc=1
result around

exit $failed

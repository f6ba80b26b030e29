#!/usr/bin/env bash
# <tach/google_benchmark.hpp>: the example with google-benchmark builds, runs, and reports every benchmark.
# google-benchmark's compare.py accepts two of our files, and a pair of one of its own and one of ours, with all
# numbers. tach reads files of google-benchmark.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
failed=0 rc=0
result() { if [ $rc = 0 ]; then echo "ok google-benchmark$1"; else echo "not ok google-benchmark$1"; failed=1; fi; rc=0; }
out=$(make -s google-benchmark 2>/dev/null) && grep -q '^divide ' <<<"$out" && grep -q '^unpredictable ' <<<"$out" || rc=1
result ''

# Four counters, in one thread and in two: the counts of an iteration are exact, and paused code is not counted.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/pages.cc" <<'END'
#include <tach/google_benchmark.hpp>
#include <sys/mman.h>
enum { PAGES = 8 };
static char *fresh(char *at)
{
	madvise(at, PAGES * 4096, MADV_DONTNEED);
	for (int i = 0; i < PAGES; i++)
		at[i * 4096] = 1;
	return at;
}
static void touch(benchmark::State &state)
{
	char *at = static_cast<char *>(mmap(nullptr, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
	tach::benchmark_counters counters(state);

	for (auto _ : state) {
		fresh(at);
		counters.pause();
		fresh(at);
		counters.resume();
	}
}
BENCHMARK(touch)->Threads(1)->Threads(2)->Iterations(1000);
BENCHMARK_MAIN();
END
g++ -std=c++11 -O1 -Wall -Wextra -Werror -Iinclude -o "$work/pages" "$work/pages.cc" "$B/libtach.a" -lm -lbenchmark -lpthread || rc=1
TACH_EVENTS=page-faults,minor-faults,major-faults,task-clock "$work/pages" --benchmark_format=json >"$work/pages.json" 2>/dev/null || rc=1
if grep -q '"no counters' "$work/pages.json"; then echo "skip google-benchmark_counts: perf_event_open is not permitted here"; else
	/usr/bin/python3 - "$work/pages.json" <<'PYTHON' || rc=1
import json, sys
rows = json.load(open(sys.argv[1]))["benchmarks"]
assert [r["threads"] for r in rows] == [1, 2], rows
for row in rows:
    assert 8 <= row["page-faults"] < 8.2 and 8 <= row["minor-faults"] < 8.2 and row["major-faults"] == 0 and row["task-clock"] > 0, row
PYTHON
	result _counts
fi

compare=/usr/share/benchmark/compare.py
tools/need libbenchmark-tools python3-scipy >/dev/null || { echo "skip google-benchmark_compare: libbenchmark-tools and python3-scipy are not installed"; exit $failed; }
cat >"$work/ours.c" <<'END'
#include <tach/bench_main.h>

static uint64_t steps;
TACH_BENCH(divide)
{
	for (int i = 0; i < 100; i++)
		TACH_CLOBBER();
	steps += 100;
}
TACH_BENCH_UNITS(divide, "byte", 64);
TACH_BENCH_COUNTER(divide, steps);
END
gcc -std=gnu11 -O2 -Iinclude -o "$work/ours" "$work/ours.c" -L"$B" -ltach "-Wl,-rpath,$(realpath "$B")" || rc=1
for file in a b; do "$work/ours" --seconds 1e-5 --samples 12 --events '' --google >"$work/$file.json" 2>/dev/null || rc=1; done
"$B/examples/google-benchmark/loops" --benchmark_min_time=0.0001 --benchmark_repetitions=12 --benchmark_format=json \
	--benchmark_filter=divide >"$work/theirs.json" 2>/dev/null || rc=1
# Use the Python that has the packages. Expect 12 rows, a U test of 12 against 12, and the values of the first row of
# the files.
compared() { # OLD NEW
	/usr/bin/python3 $compare --no-color benchmarks "$work/$1.json" "$work/$2.json" >"$work/out" 2>"$work/err" &&
		[ "$(grep -c '^divide  ' "$work/out")" = 12 ] &&
		grep -qE '^divide_pvalue +[01]\.[0-9]+ .*U Test, Repetitions: 12 vs 12' "$work/out" &&
		/usr/bin/python3 - "$work" "$1" "$2" <<'PYTHON' || { sed 's/^/# /' "$work/out" "$work/err"; rc=1; }
import json, sys
folder, old, new = sys.argv[1:]
first = [[b for b in json.load(open(f"{folder}/{f}.json"))["benchmarks"] if b["run_type"] == "iteration"][0] for f in (old, new)]
row = [line.split() for line in open(f"{folder}/out") if line.startswith("divide ")][0]
assert [int(row[3]), int(row[4])] == [round(b["real_time"]) for b in first], (row, first)
PYTHON
}
compared a b
result _ours
compared theirs a
/usr/bin/python3 - "$work/a.json" <<'PYTHON' || rc=1
import json, sys
# Disturbances during the empty loop can make a time of 0 or less.
row = next(b for b in json.load(open(sys.argv[1]))["benchmarks"] if b["real_time"] > 0)
assert row["steps"] == 100 and abs(row["bytes_per_second"] * row["real_time"] / 64e9 - 1) < 1e-6, row
PYTHON
result _theirs
"$work/ours" --seconds 1e-5 --samples 12 --events '' --wall --bound 1e6 --allow cannot-tell --against "$work/theirs.json" >"$work/out" 2>/dev/null || rc=1
grep -qE '^divide .* time ([-+][0-9.]+ %, (no change|cannot tell)|is about 0)' "$work/out" || { sed 's/^/# /' "$work/out"; rc=1; }
result _read
exit $failed

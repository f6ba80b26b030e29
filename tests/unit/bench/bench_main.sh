#!/usr/bin/env bash
# Benchmark programs: arguments, code around a run, throughput, selection, comparison with an earlier run, and
# progress, which only a terminal shows. In C and in C++.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/p.c" <<'END'
#include <tach/bench_main.h>

static int ready;
static volatile uint64_t seed = 3;

TACH_BENCH(plain) { TACH_KEEP(seed * seed); }

TACH_BENCH_ARGS(steps, 10, 1000)
{
	for (uint64_t i = 0; i < tach_arg; i++)
		TACH_CLOBBER();
	if (!ready)
		abort();
}
TACH_BENCH_SETUP(steps) { fprintf(stderr, "setup %d\n", (int)tach_arg); ready = 1; }
TACH_BENCH_TEARDOWN(steps) { fprintf(stderr, "teardown %d\n", (int)tach_arg); ready = 0; }
TACH_BENCH_UNITS(steps, "step", tach_arg);
TACH_BENCH_COMPLEXITY(steps);
END
cat >"$work/h.c" <<'END'
#include <tach/bench_main.h>
#include <pthread.h>

static volatile uint64_t seed = 3;
static uint64_t compares, found;

/* Every combination once: what it was called with is written down. */
TACH_BENCH(cross) { TACH_KEEP(tach_arg + tach_arg2 + tach_arg3); }
TACH_BENCH_RANGE(cross, 1, 8, 100, 4);
TACH_BENCH_NUMBERS(cross, 2, 5, 7);
TACH_BENCH_STEPS(cross, 3, 0, 5, 2);
TACH_BENCH_SETUP(cross)
{
	fprintf(stderr, "%d %d %d\n", (int)tach_arg, (int)tach_arg2, (int)tach_arg3);
}

/* Adds 3 and tach_arg for each iteration, whatever the number of them. */
TACH_BENCH_ARGS(counts, 2, 5)
{
	compares += 3;
	found += tach_arg;
	for (uint64_t i = 0; i < 100; i++)
		TACH_CLOBBER();
}
TACH_BENCH_COUNTER(counts, compares);
TACH_BENCH_RATE(counts, found);
TACH_BENCH_COMPLEXITY(counts);

/* What both do comes off, in the caller's counters too. */
TACH_BENCH(less) { compares += 10; for (int i = 0; i < 100; i++) TACH_CLOBBER(); }
TACH_BENCH_LESS(less) { compares += 4; }
TACH_BENCH_COUNTER(less, compares);

/* Ends only if three threads are in it at the same time. */
static pthread_barrier_t meeting;
static uint64_t seen;
TACH_BENCH(together)
{
	pthread_barrier_wait(&meeting);
	__atomic_fetch_or(&seen, UINT64_C(1) << tach_thread, __ATOMIC_RELAXED);
	__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
}
TACH_BENCH_THREADS(together, 3);
TACH_BENCH_UNITS(together, "item", 1);
TACH_BENCH_RATE(together, found);
TACH_BENCH_SETUP(together)
{
	if (pthread_barrier_init(&meeting, NULL, 3) != 0)
		abort();
}
TACH_BENCH_TEARDOWN(together)
{
	pthread_barrier_destroy(&meeting);
	fprintf(stderr, "seen %d\n", (int)seen);
}

#ifdef __cplusplus
TACH_BENCH_TEMPLATE(power, typename T, int N)
{
	T x = T(seed + tach_arg);

	for (int i = 1; i < N; i++)
		x *= x;
	TACH_KEEP(x);
}
TACH_BENCH_OF(power_int, power, int, 3);
TACH_BENCH_OF(power_long, power, unsigned long, 2);
TACH_BENCH_NUMBERS(power_long, 1, 4, 9);
#endif
END
san=
ldd "$B/libtach.so" | grep -q libasan && san=-fsanitize=address
ldd "$B/libtach.so" | grep -q libtsan && san=-fsanitize=thread
link=(-Wall -Wextra -Werror -O2 -Iinclude ${san:+"$san"} -L"$B" -ltach "-Wl,-rpath,$PWD/$B")
gcc -std=gnu11 -o "$work/p" "$work/p.c" "${link[@]}" || exit 1
g++ -std=gnu++11 -x c++ -o "$work/pp" "$work/p.c" "${link[@]}" || exit 1
gcc -std=gnu11 -o "$work/h" "$work/h.c" "${link[@]}" -lpthread || exit 1
g++ -std=gnu++11 -x c++ -o "$work/hh" "$work/h.c" "${link[@]}" -lpthread || exit 1

. tests/cases bench_main
run() { ends "$1" "$p" --wall --seconds 0.00001 "${@:2}"; } # STATUS ARGUMENT...
for p in "$work/p" "$work/pp"; do
	run 0 --list
	printf 'plain\nsteps/10\nsteps/1000\n' | cmp -s - "$work/out" || rc=1
	run 0 --list /10 plain; [ "$(wc -l <"$work/out")" = 3 ] || rc=1
	run 0 --details --events '' steps
	printf '%s\n' 'setup 10' 'teardown 10' 'setup 1000' 'teardown 1000' | cmp -s - "$work/err" || rc=1
	grep -qE '^  per step, ns +[0-9.]+ +[0-9.]+ [kMGT]?step/s$' "$work/out" || rc=1
	result "arguments${p#"$work/p"}"
done

for p in "$work/h" "$work/hh"; do
	run 0 --samples 2 --events '' cross
	for c in 0 2 4; do for b in 5 7; do for a in 8 32 100; do echo "$a $b $c"; done; done; done | cmp -s - "$work/err" || rc=1
	run 0 --list cross; [ "$(head -1 "$work/out") $(tail -1 "$work/out")" = 'cross/8/5/0 cross/100/7/4' ] || rc=1
	[ "$p" = "$work/h" ] && none=2 || none=0
	run $none --list '^power<'
	[ $none = 2 ] || printf 'power<int, 3>\npower<unsigned long, 2>/4\npower<unsigned long, 2>/9\n' | cmp -s - "$work/out" || rc=1
	result "numbers${p#"$work/h"}"

	# The program's own counters are exact; work that both loops do is subtracted.
	run 0 --details --events '' counts less
	grep -qE '^  compares +3\.0000 .*\[3\.0000, 3\.0000\]' "$work/out" && grep -qE '^  compares +6\.0000 ' "$work/out" || rc=1
	grep -qE '^  found +5\.0000 ' "$work/out" && grep -qE '^  per found, ns +[0-9.]+ +[0-9.e+]+ [kMGT]?found/s$' "$work/out" || rc=1
	run 0 --events '' counts; grep -qE '^benchmark +time +.- +compares +found$' "$work/out" || rc=1
	grep -qE '^counts/2 .* 3\.00 +[0-9.e+]+ [kMGT]?/s$' "$work/out" || rc=1
	run 0 --google --samples 3 --events '' counts
	python3 - "$work/out" <<'PYTHON' || rc=1
import json, sys
rows = json.load(open(sys.argv[1]))["benchmarks"]
assert len(rows) == 6 and all(b["compares"] == 3 for b in rows), rows
assert all(abs(b["found"] * b["real_time"] / (2e9 if b["name"] == "counts/2" else 5e9) - 1) < 1e-6 for b in rows if b["real_time"] > 0), rows
PYTHON
	result "counters${p#"$work/h"}"

	# All threads run at the same time, otherwise the test would not end; shared work is counted once.
	run 0 --details --events '' --samples 3 together; grep -q '^seen 7$' "$work/err" || rc=1
	grep -q '^together/threads:3: ' "$work/out" && grep -qE '^  found +1\.0000 ' "$work/out" || rc=1
	[ "$(grep -cE '^  (time, all, ns|thread [123]: time, ns) ' "$work/out")" = 4 ] || rc=1
	run 0 --json --events '' --samples 5 together; mv "$work/out" "$work/threads"
	python3 - "$work/threads" <<'PYTHON' || rc=1
import json, sys
bench = json.load(open(sys.argv[1]))
assert bench["threads"] == 3 and [(v["name"], v.get("thread", 0)) for v in bench["values"]] == [
    ("time", 0), ("found", 0), ("time, all", 0), ("time", 1), ("time", 2), ("time", 3)], bench
time, all, each = bench["values"][0], bench["values"][2], bench["values"][3:]
for k in range(5):
    assert abs(sum(t["sample"][k] for t in each) / 3 - time["sample"][k]) <= 1e-6 * max(1, *(abs(t["sample"][k]) for t in each))
PYTHON
	run 0 --events '' --bound 1e8 --samples 5 --allow cannot-tell --against "$work/threads" together
	[ "$(grep -oE '(time|found|time, all) [-+][0-9.]+ %' "$work/out" | wc -l)" -le 3 ] || rc=1
	result "threads${p#"$work/h"}"
done
p=$work/pp

run 2 nothing; grep -q 'no benchmark has that name' "$work/err" || rc=1
for bad in --bogus --samples '--samples x' '--bound 0' --baseline '(' '--samples 0' '--samples 1e30' '--seconds -1' "--against $work/none" \
	"--against $work/p.c" "--json --against $work/p.c"; do
	# shellcheck disable=SC2086
	run 2 $bad
done
run 0 --help; for o in $(grep -o -- '--[a-z]*' include/tach/bench_main.h include/tach/bench_show.h | cut -d: -f2 | sort -u); do grep -q -- "$o" "$work/out" || { echo "# --help lacks $o"; rc=1; }; done
run 2 --samples 3,5; grep -q "cannot use '--samples 3,5'" "$work/err" || rc=1
for lost in --list '--samples 5 plain'; do
	# shellcheck disable=SC2086
	"$p" --seconds 0.00001 $lost >/dev/full 2>"$work/err"; [ $? = 1 ] || { echo "# a full disk passes: $lost"; rc=1; }
	grep -q 'standard output: No space left' "$work/err" || rc=1
done
result usage

run 0 --json --events '' steps
mv "$work/out" "$work/old"
[ "$(wc -l <"$work/old")" = 2 ] && grep -q '"name":"steps/1000".*"unit":"step","units":1000' "$work/old" || rc=1
# Compared with itself, no value is 1000 times worse; compared with a run of a hundredth of the time, the run is
# worse.
run 0 --events '' --bound 100000 --allow cannot-tell --against "$work/old" steps plain
[ "$(grep -cE "^steps/10+ .* time ([-+][0-9.]+ %, (no change|cannot tell)|is about 0)" "$work/out")" = 2 ] || rc=1
grep -qE "^plain .*  not in $work/old$" "$work/out" || rc=1
python3 - "$work/old" "$work/quick" <<'PYTHON' || rc=1
import json, sys
with open(sys.argv[2], "w") as to:
    for line in open(sys.argv[1]):
        bench = json.loads(line)
        bench["values"][0]["sample"] = [(i * 7 % 31 + 1) * 1e-9 for i in range(2000)]
        print(json.dumps(bench), file=to)
PYTHON
# Enough samples to detect the change even if they are correlated.
run 1 --events '' --samples 2000 --against "$work/quick" steps/1000
grep -qE '^steps/1000 .* time .*, worse \(' "$work/out" && grep -q '^1 of 1 comparisons worse' "$work/out" || rc=1
result against

# The table's rows have the columns of its heading; benchmarks besides the requested one do not disturb it.
run 0 --events '' --baseline steps/1000 '^steps/10$' 00 '!plain'
grep -A2 '^benchmark' "$work/out" | cut -c1-12 | tr -d ' ' | paste -sd' ' | grep -qx 'benchmark steps/1000 steps/10' || rc=1
grep -qE '^steps/10 .*(/s|-)(  ([0-9.e+-]+ x|as) steps/1000(, cannot tell from the same)?)?$' "$work/out" || rc=1
grep -qE '^[0-9]+ x .*, load [0-9.]+$' "$work/out" || rc=1
run 2 --events '' --baseline nothing steps; grep -q "no benchmark 'nothing' runs" "$work/err" || rc=1
result table

# google-benchmark's JSON is written and read back; google-benchmark's own file has other units, and rows that are not
# runs.
run 0 --events '' --google --samples 4 steps
mv "$work/out" "$work/google"
python3 - "$work/google" <<'PYTHON' || rc=1
import json, sys
file = json.load(open(sys.argv[1]))
assert file["context"]["num_cpus"] > 0 and file["context"]["json_schema_version"] == 1, file["context"]
rows = file["benchmarks"]
assert [(b["name"], b["repetition_index"]) for b in rows] == [(n, k) for n in ("steps/10", "steps/1000") for k in range(4)]
assert all(b["run_type"] == "iteration" and b["time_unit"] == "ns" and b["real_time"] == b["cpu_time"] for b in rows)
PYTHON
run 0 --events '' --bound 100000 --allow cannot-tell --against "$work/google" steps
grep -qE '^steps/10 .* time (.* %, (no change|cannot tell)|is about 0)' "$work/out" || rc=1
result google

# A terminal shows which benchmark is running; files and pipes never contain this.
if command -v script >/dev/null; then
	script -qec "$p --seconds 0.00001 --events '' steps >/dev/null" "$work/tty" >/dev/null </dev/null
	grep -q 'steps/10 \.\.\.' "$work/tty" && grep -q 'steps/1000 \.\.\.' "$work/tty" || rc=1
	run 0 --events '' steps
	grep -q '\.\.\.' "$work/out" "$work/err" && rc=1
	result progress
else
	echo "skip bench_main_progress: there is no script(1)"
fi
exit $failed

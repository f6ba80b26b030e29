#!/usr/bin/env bash
# Programs of benchmarks: arguments, what is around a run, throughput, choosing, comparing with an
# earlier run, progress on a terminal alone. In C and in C++.
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
san=
ldd "$B/libtach.so" | grep -q libasan && san=-fsanitize=address
ldd "$B/libtach.so" | grep -q libtsan && san=-fsanitize=thread
link=(-Wall -Wextra -Werror -O2 -Iinclude ${san:+"$san"} -L"$B" -ltach "-Wl,-rpath,$PWD/$B")
gcc -std=gnu11 -o "$work/p" "$work/p.c" "${link[@]}" || exit 1
g++ -std=gnu++11 -x c++ -o "$work/pp" "$work/p.c" "${link[@]}" || exit 1

failed=0 rc=0
result() { if [ $rc = 0 ]; then echo "ok bench_main_$1"; else echo "not ok bench_main_$1"; sed 's/^/#   /' "$work/out" "$work/err"; failed=1; fi; rc=0; }
run() { # STATUS ARGUMENT...
	local want=$1 got; shift
	"$p" --seconds 0.00001 "$@" >"$work/out" 2>"$work/err"; got=$?
	[ $got = "$want" ] || { echo "# status $got, not $want, of: $*"; rc=1; }
}
for p in "$work/p" "$work/pp"; do
	run 0 --list
	printf 'plain\nsteps/10\nsteps/1000\n' | cmp -s - "$work/out" || rc=1
	run 0 --list /10 plain; [ "$(wc -l <"$work/out")" = 3 ] || rc=1
	run 0 --details --events '' steps
	printf '%s\n' 'setup 10' 'teardown 10' 'setup 1000' 'teardown 1000' | cmp -s - "$work/err" || rc=1
	grep -qE '^  per step, ns +[0-9.]+ +[0-9.]+ [kMGT]?step/s$' "$work/out" || rc=1
	result "arguments${p#"$work/p"}"
done

run 1 nothing; grep -q 'no benchmark has that name' "$work/err" || rc=1
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
# Against itself nothing is worse by 1000 times; against a run of a hundredth of the time it is.
run 0 --events '' --bound 100000 --against "$work/old" steps plain
[ "$(grep -cE "^steps/10+ .* time [-+][0-9.]+ %, ok \(" "$work/out")" = 2 ] || rc=1
grep -qE "^plain .*  not in $work/old$" "$work/out" || rc=1
python3 - "$work/old" "$work/quick" <<'PYTHON' || rc=1
import json, sys
with open(sys.argv[2], "w") as to:
    for line in open(sys.argv[1]):
        bench = json.loads(line)
        bench["values"][0]["sample"] = [(i * 7 % 31 + 1) * 1e-9 for i in range(2000)]
        print(json.dumps(bench), file=to)
PYTHON
# So many samples that it is seen however much they hang together.
run 1 --events '' --samples 2000 --against "$work/quick" steps/1000
grep -qE '^steps/1000 .* time .*, worse \(' "$work/out" && grep -q '^1 of 1 comparisons worse' "$work/out" || rc=1
result against

# A table, whose rows have the columns of its head; others beside the one that is asked for.
run 0 --events '' --baseline steps/1000 '^steps/10$' 00 '!plain'
grep -A9 '^benchmark' "$work/out" | cut -c1-12 | tr -d ' ' | paste -sd' ' | grep -qx 'benchmark steps/1000 steps/10' || rc=1
grep -qE '^steps/10 .*  ([0-9.e+-]+ x|as) steps/1000$' "$work/out" || rc=1
grep -qE '^[0-9]+ x .*, load [0-9.]+$' "$work/out" || rc=1
run 1 --events '' --baseline nothing steps; grep -q "no benchmark 'nothing' runs" "$work/err" || rc=1
result table

# google-benchmark's JSON, written and read back; its own has other units and rows that are no runs.
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
run 0 --events '' --bound 100000 --against "$work/google" steps
grep -qE '^steps/10 .* time .* %, ok \(' "$work/out" || rc=1
result google

# A terminal sees what is running; files and pipes never do.
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

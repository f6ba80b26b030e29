#!/usr/bin/env bash
# Hot operations stay within the instruction counts of bench/budgets.tsv.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
skip() { echo "skip budgets: $1"; exit 77; }
[ "$(uname -m)" = x86_64 ] || skip "the budgets are those of x86-64"
for tool in valgrind python3 objdump; do
	command -v $tool >/dev/null || skip "$tool is not installed ('make bench' brings it)"
done
[ -x "$B/bench/tach" ] || skip "bench/tach is not built ('make check' and 'make bench' build it)"
flock "$B/flags" make -s B="$B" "$B/bench/tach" "$B/bench/fakeperf.so" "$B/tach" >/dev/null || { echo "not ok budgets: bench/tach does not build"; exit 1; }
strings -a "$B/bench/tach" | grep -q 'GCC: .* 12\.' || skip "the budgets are those of gcc 12"
exec bench/run --budgets bench/budgets.tsv

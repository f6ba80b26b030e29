#!/usr/bin/env bash
# <tach/catch2.hpp> with Debian's Catch2. The example prints its table, or the reason for counting nothing. A benchmark in
# another file of the program is counted exactly, without its warm-up. The order of includes is checked.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need catch2 g++ >/dev/null || { echo "skip catch2: the package catch2 cannot be installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
verdict() { if [ "$2" = 0 ]; then echo "ok catch2_$1"; else tail -n 12 "$work/out" | sed 's/^/# /'; echo "not ok catch2_$1"; failed=1; fi; }
main=() # of Catch2 3
[ -f /usr/include/catch2/catch.hpp ] || main=(-lCatch2Main -lCatch2)
cat >"$work/pages.cc" <<'END'
#include <tach/catch2.hpp>
#include <sys/mman.h>
enum { PAGES = 8 };
TEST_CASE("touching")
{
	char *at = static_cast<char *>(mmap(nullptr, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
	BENCHMARK_ADVANCED("eight pages")(Catch::Benchmark::Chronometer meter)
	{
		tach::measure(meter, [&] {
			madvise(at, PAGES * 4096, MADV_DONTNEED);
			for (int i = 0; i < PAGES; i++)
				at[i * 4096] = 1;
		});
	};
}
END
g++ -std=c++14 -O1 -Wall -Wextra -Werror -Iinclude -o "$work/program" examples/catch2/sort.cc "$work/pages.cc" "$B/libtach.a" -lm "${main[@]}" >"$work/out" 2>&1
verdict builds $?
[ $failed = 0 ] || exit 1
run() { # EVENTS TEST
	TACH_EVENTS=$1 "$work/program" "$2" --benchmark-samples 20 --benchmark-warmup-time 1 --benchmark-no-analysis >"$work/stdout" 2>"$work/out"
}
# On a machine without counters the reason replaces the table.
run cycles,instructions sorting &&
	{ grep -qE '^shuffled +[0-9]+\.[0-9]( +[0-9]+\.[0-9])? *$' "$work/out" || grep -q '^ *no counters: .' "$work/out"; } && grep -q '^shuffled' "$work/stdout"
verdict example $?
run page-faults,minor-faults touching
status=$?
if grep -q 'no counters' "$work/out"; then echo "skip catch2_counts: perf_event_open is not permitted here"; else
	[ $status = 0 ] && [ "$(grep -c '^eight pages' "$work/out")" = 1 ] && awk '/^eight pages/ { exit !($3 >= 8 && $3 < 8.5 && $4 >= 8 && $4 < 8.5) }' "$work/out"
	verdict counts $?
fi
if [ ${#main[@]} = 0 ]; then
	printf '#include <catch2/catch.hpp>\n#include <tach/catch2.hpp>\n' | g++ -std=c++14 -Iinclude -fsyntax-only -x c++ - >"$work/out" 2>&1
	grep -q 'error: #error "include <tach/catch2.hpp> before' "$work/out"
	verdict order $?
fi
exit $failed

#!/usr/bin/env bash
# tach run and tach gate with hardware counters in the x86 guest: a shared program's threads and regions with known
# instructions, in one run and in passes; a gate that subtracts interrupts, finds a growth of 1 %, and passes an
# unchanged program; the tutorial's program, which prints the counts of its two loops; coroutines with regions that
# follow them; teams of OpenMP with unequal loops, each thread and their sum; and each of 1,000 functions.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tests/guest/ready x86 || exit 77
gcc -O1 -Iinclude -o "$work/target" tests/unit/tools/run/target.c -L"$B" -ltach -lpthread || exit 1
gcc -O2 -static -Iinclude -o "$work/takes" tests/unit/tools/gate/takes.c "$B/libtach.a" -lpthread -lm || exit 1
gcc -O2 -static -Iinclude -DTURNS=2000000 -o "$work/base" tests/unit/tools/gate/takes.c "$B/libtach.a" -lpthread -lm || exit 1
g++ -std=c++20 -O2 -static -Iinclude -o "$work/coroutine_exact" tests/guest/src/coroutine_exact.cpp "$B/libtach.a" -lpthread -lm || exit 1
gcc -O2 -static -o "$work/attached" tests/unit/tools/run/attached.c -lpthread || exit 1
awk '/^\/\* slow\.c \*\/$/ { on = 1 } on && /^```$/ { exit } on' docs/tutorial-loop.md | sed 's/2048/256/g' >"$work/slow.c"
gcc -O2 -Iinclude -o "$work/slow" "$work/slow.c" -L"$B" -ltach || exit 1
# A team of 4 with unequal loops, with gcc's runtime and with LLVM's.
cat >"$work/team.c" <<'SOURCE'
#include <omp.h>
#include "tests/guest/known_loop.h"
int main(void)
{
	for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(4)
		switch (omp_get_thread_num()) {
		case 0: LOOP(100000); break;
		case 1: LOOP(200000); break;
		case 2: LOOP(300000); break;
		default: LOOP(600000);
		}
	}
	return 0;
}
SOURCE
gcc -O1 -I. -fopenmp -o "$work/team_gcc" "$work/team.c" || exit 1
teams=(gcc) openmp=("$work/team_gcc" "$B/libtach-openmp.so")
if echo 'int main(void){return 0;}' | clang -x c -fopenmp -o "$work/probe" - 2>/dev/null; then
	clang -O1 -I. -fopenmp -o "$work/team_clang" "$work/team.c" || exit 1
	teams+=(clang) openmp+=("$work/team_clang")
else
	echo "skip x86-run_clang: clang or libomp-dev is not installed"
fi
# A tree of 1,000 functions with hooks, called five times.
awk 'BEGIN {
	print "#include \"tests/guest/known_loop.h\""
	for (i = 999; i >= 0; i--) {
		printf "static __attribute__((noinline)) void f%d(void) { LOOP(%d);", i, 100 + i % 7 * 50
		for (k = 2 * i + 1; k <= 2 * i + 2 && k < 1000; k++) printf " f%d();", k
		print " }"
	}
	print "int main(void) { for (int i = 0; i < 5; i++) f0(); return 0; }"
}' >"$work/thousand.c"
gcc -O1 -I. -finstrument-functions -o "$work/thousand" "$work/thousand.c" || exit 1
nm "$work/thousand" | sed -n 's/^0*\([0-9a-f]*\) t f\([0-9]*\)$/\1 \2/p' >"$work/offsets"
each=(-x "tach run --functions -e instructions --format csv -- /bin/LOADER --library-path /bin /bin/thousand")
for team in "${teams[@]}"; do
	for options in "" --per-thread; do
		each+=(-x "tach run --openmp $options -e instructions --format csv -- /bin/LOADER --library-path /bin /bin/team_$team")
	done
done

# LD_BIND_NOW: otherwise ld.so's work at the first call of a function counts for its caller. The guest has no shared
# libraries of its own: the test names the loader, and gives it their folder.
loader=$(ldd "$work/target" | grep -o '/[^ ]*ld-linux[^ ]*')
each=("${each[@]/LOADER/${loader##*/}}")
mapfile -t libraries < <(for program in target thousand "${teams[@]/#/team_}"; do LD_LIBRARY_PATH=$B ldd "$work/$program"; done | grep -o '=> /[^ ]*' | cut -c4- | grep -v libtach | sort -u)
tests/guest/boot x86 -e LD_BIND_NOW=1 -e OMP_WAIT_POLICY=passive "${each[@]}" \
	-x "tach run --per-thread -e instructions,branches -m share=branches/instructions --format csv -- /bin/${loader##*/} --library-path /bin /bin/target count" \
	-x "tach run --outside -e instructions --format csv -- /bin/${loader##*/} --library-path /bin /bin/target count" \
	-x "tach run --passes -e {branches,c=cycles/name=x/}:u,{branches,instructions,cycles}:uk,{branches,instructions,cycles}:k -m two=branches:uk/instructions --format csv -- /bin/${loader##*/} --library-path /bin /bin/target count" \
	-x "tach run -e cycles,instructions --format csv -- /bin/${loader##*/} --library-path /bin /bin/slow" \
	-x "tach run --correct -e instructions --format json -- /bin/takes 2000000" \
	-x "tach gate -n 12 --region work --save /tmp/base -- /bin/takes 2000000" \
	-x "tach gate -n 12 --region work --baseline /tmp/base -- /bin/takes 2000000" \
	-x "tach gate -n 12 --region work --against /bin/base -- /bin/takes 2020000" \
	-x "tach run -I 0.02 -e instructions --format csv -- /bin/attached" \
	-x "attached start /bin/tach" \
	-x coroutine_exact \
	-x "tach run -r 3 --outside -e instructions --format csv -- /bin/attached" \
	"$B/static/tach" "$work/attached" "$work/takes" "$work/base" "$work/coroutine_exact" "$B/libtach-run.so" "$B/libtach.so.0" "$work/target" "$work/slow" "$work/thousand" "$B/libtach-functions.so" "${openmp[@]}" "$loader" "${libraries[@]}" >"$work/out" 2>&1

failed=0
between() { # REGION QUANTITY LEAST MOST
	awk -F, -v region="\"$1\"" -v quantity="\"$2\"" -v least="$3" -v most="$4" '
		$1 == region && $6 == "inclusive" && $7 == quantity { found = 1; if ($8 + 0 < least || $8 + 0 > most) { print "# " $0; bad = 1 } }
		END { exit bad || !found }' "$work/out" || { echo "not ok x86-run $1 $2"; failed=1; }
}
# Two threads with 2 and 6 million instructions. The emulated PMU adds several hundred instructions at each reschedule
# of a thread; start and end of the thread are outside the region.
between loop instructions 8000000 8001000
between loop branches 4000000 4000300
between '(thread 2)' instructions 2000000 2005000
between '(thread 3)' instructions 6000000 6005000
between loop share 0.499 0.501
# In passes: three groups of levels need more than four general counters and two fixed ones.
between loop branches:u 4000000 4000300
between loop branches:uk 4000000 4100000
between loop instructions:uk 8000000 8400000
between loop branches:k 0 100000
between loop two 0.499 0.52
# All passes count instructions at user level. Only a metric uses these instructions, so they have no column.
[ "$(grep -c '^"loop",.*,inclusive,"instructions",' "$work/out")" = 1 ] || { echo "not ok x86-run passes"; failed=1; }
# From outside: the loops, and the code of the loader and of main.
between '(whole program)' instructions 8000000 9500000
# The tutorial, smaller: 5 calls over 256 x 256 numbers, 2 to 6 instructions each.
for loop in by_row by_column; do
	between $loop instructions 655360 1966080
	between $loop cycles 100000 1e12
done
# The gate subtracts interrupts itself: the emulated PMU reports an eighth of the instructions as interrupts.
tr -d ' \n' <"$work/out" | grep -q '"instructions":{"value":35[0-9.]*,"raw":40[0-9.]*,[^}]*"corrected"' || { echo "not ok x86-run correct"; failed=1; }
grep -qE '^work +instructions +3\.5[0-9]+ M .* no change( larger than [0-9.e-]+ %)?$' "$work/out" && grep -qE '^work +instructions +3\.5[0-9]+ M .* worse$' "$work/out" ||
	{ echo "not ok x86-run gate"; failed=1; }
# Two threads with 2 million instructions: in intervals of 20 ms; in a running process whose second thread starts
# later; and in repeated runs, which differ by the emulated PMU's additions.
sum=$(awk -F, '$3 == "\"(whole program)\"" && $4 == "\"instructions\"" { n++; sum += $5 } END { print n, sum }' "$work/out")
awk '{ exit !($1 >= 1 && $2 >= 4000000 && $2 <= 4200000) }' <<<"$sum" || { echo "not ok x86-run intervals: $sum"; failed=1; }
awk -F, '$1 ~ /^"\(process [0-9]+ attached\)"/ && $6 == "inclusive" && $7 == "\"instructions\"" { found = 1; if ($8 < 4000000 || $8 > 4100000) { print "# " $0; bad = 1 } }
	END { exit bad || !found }' "$work/out" || { echo "not ok x86-run running process"; failed=1; }
awk -F, '$1 == "\"(whole program)\"" && $4 == "\"instructions\"" && $5 == 3 { found = 1; if ($7 < 4000000 || $8 > 4200000) { print "# " $0; bad = 1 } }
	END { exit bad || !found }' "$work/out" || { echo "not ok x86-run repeats"; failed=1; }
# Each loop runs three times; around it are a few instructions of the team's function, and the emulated PMU's
# additions. The rows with the spread have the same values as the rows of threads. The time is the emulator's, and so
# is its imbalance: the longest loop has half of all turns, so with enough turns its thread takes about twice the
# mean.
for team in "${teams[@]}"; do
	awk -F, -v team="$team" '
		function near(value, turns) { if (value < 6 * turns || value > 6 * turns + 3000) { print "# " team ": " value " instead of " 6 * turns; bad = 1 } }
		BEGIN { n = split("100000 200000 300000 600000", turns, " ") }
		$1 ~ "^\"parallel team_" team "\\+0x[0-9a-f]+ \\[thread " && $6 == "self" && $7 == "\"instructions\"" { each[++found] = $8 + 0 }
		$1 ~ "^\"parallel team_" team "\\+0x[0-9a-f]+ \\[(least|median|most)\\]\"$" && $6 == "self" && $7 == "\"instructions\"" {
			spread[$1 ~ /least/ ? 1 : $1 ~ /median/ ? 2 : 4] = $8 + 0; spreads++ }
		$1 ~ "^\"parallel team_" team "\\+0x[0-9a-f]+\"$" && $6 == "self" && $7 == "\"instructions\"" { sum = $8 + 0 }
		$1 ~ "^\"parallel team_" team "\\+0x[0-9a-f]+\"$" && $6 == "inclusive" && $7 == "\"imbalance\"" { imbalance = $8 + 0 }
		END {
			if (found != 4 || spreads != 3) { print "# " team ": " found " threads, " spreads " rows of the spread"; exit 1 }
			for (i = 1; i <= 4; i++) for (j = i + 1; j <= 4; j++) if (each[j] < each[i]) { t = each[i]; each[i] = each[j]; each[j] = t }
			for (i = 1; i <= 4; i++) { near(each[i], turns[i]); if (i in spread) near(spread[i], turns[i]) }
			if (sum < 7200000 || sum > 7212000) { print "# " team ": sum " sum; bad = 1 }
			if (imbalance < 1.1 || imbalance > 4) { print "# " team ": imbalance " imbalance; bad = 1 }
			exit bad
		}' "$work/out" || { echo "not ok x86-run team of $team"; failed=1; }
done
# Five times each loop. A function that calls no other has only its loop. Others also have the calls, and the work of the
# callees outside of their hooks: less than 25 instructions for each call. Where the thread was rescheduled, the emulated
# PMU adds several hundred.
awk -F, '
	FILENAME ~ /offsets$/ { split($0, word, " "); number[word[1]] = word[2]; next }
	$7 == "\"instructions\"" && $6 == "self" && match($1, /^"function thousand\+0x[0-9a-f]+"$/) {
		at = substr($1, 22, length($1) - 22)
		if (!(at in number)) next
		i = number[at]
		loop = 5 * (2 * (100 + i % 7 * 50) + 1)
		n++
		calls += $4
		known += loop
		sum += $8
		over = $8 - loop - 5 * 25 * (i < 499 ? 2 : i == 499)
		if (over > 25 || $8 < loop) odd++
		if (over > 3000 || $8 < loop - 25) { print "# f" i ": " $8 " instead of " loop; bad = 1 }
	}
	END {
		if (n != 1000 || calls != 5000 || odd > 20) { print "# " n " functions, " calls " calls, " odd " of them odd"; bad = 1 }
		if (sum < known || sum > known + 5000 * 25 + 20 * 3000) { print "# functions: sum " sum " instead of " known; bad = 1 }
		exit bad
	}' "$work/offsets" "$work/out" || { echo "not ok x86-run functions"; failed=1; }
# The self values of all rows add up to the inclusive value of the outermost one.
awk -F, '/^@@ run/ { on = /--functions/ } on && $1 !~ /all callers/ && $7 == "\"instructions\"" { if ($6 == "self") sum += $8; else if ($1 ~ /all threads/) whole = $8 }
	END { if (!whole || sum < whole * 0.9999 || sum > whole * 1.0001) { print "# self " sum ", whole " whole; exit 1 } }' "$work/out" ||
	{ echo "not ok x86-run functions: sum"; failed=1; }
grep -q '^ok coroutine_exact' "$work/out" || { echo "not ok x86-run coroutines"; failed=1; }
[ $failed = 0 ] || { sed 's/^/# /' "$work/out" | tail -40; exit 1; }
echo "ok x86-run"

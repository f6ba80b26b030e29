#!/usr/bin/env bash
# "Did it get slower?" A user saves a baseline, makes one of two loops with the same name slower, then faster, and
# reads the verdict and the exit status from tach gate, tach diff, a benchmark with --against, and an assertion in a
# unit test.
set -u
. "$(dirname "$0")/lib.sh"
set -o pipefail
need pkg-config
. tests/emulator verdict
unset MPI_LOCALNRANKS
cd "$work" || exit
cat >work.c <<'C'
#include <stdlib.h>
#include <tach.h>

/* Two places of one name; the first takes A turns, the second B. */
int main(int argc, char **argv)
{
	for (volatile long i = 0; argc > 1 && i < 1; i++) {
		TACH_START(loop);
		for (volatile long k = atol(argv[1]); k; k--)
			;
		TACH_STOP(loop);
	}
	for (volatile long i = 0; argc > 2 && i < 1; i++) {
		TACH_START(loop);
		for (volatile long k = atol(argv[2]); k; k--)
			;
		TACH_STOP(loop);
	}
	return 0;
}
C
# shellcheck disable=SC2046
check builds cc -O1 work.c $(pkg-config --cflags --libs tach) -o work

ends() { # STATUS COMMAND...: with that status
	local want=$1 got; shift
	"$@"; got=$?
	[ $got = "$want" ] || { echo "status $got, not $want"; return 1; }
}
saves() { ends 0 tach gate --emulate -n 1 --save baseline.tsv -- ./work 1000 1000 && grep -c '^loop' baseline.tsv | grep -qx 2; }
check saves saves
gate() { ends "$1" tach gate --emulate -n 1 --baseline baseline.tsv -- "${@:2}"; }
same() { gate 0 ./work 1000 1000 | tee said && says '^loop .*work\.c:[0-9]+ +instructions .* no change$' said && says '^0 of [0-9]+ comparisons worse' said; }
check same same
# At first only the second place is twice as slow; then the first is faster and the second slower: the verdict names
# it.
slower() { gate 1 ./work 1000 2000 | tee said && says '^loop .*work\.c:14 +instructions .* worse$' said && says '^loop .*work\.c:8 +instructions .* no change$' said; }
check slower slower
faster() { gate 0 ./work 500 1000 | tee said && says '^loop .*work\.c:8 +instructions .* better$' said; }
check faster faster
gone() { gate 3 ./work 1000 | tee said && says ' gone$' said; }
check gone gone
misspelt() { ends 2 tach gate --emulate -n 1 --baseline baseline.tsv --fail-if 'instrutcions > 1%' -- ./work 1000 1000 2>&1 | tee said && says instrutcions said; }
check misspelt misspelt
nothing() { ends 3 tach gate --save empty.tsv --fail-if 'page-faults > 1%' -- /bin/true 2>&1 | tee said; [ ! -e empty.tsv ] && says 'nothing was measured' said; }
rank() { OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4 TACH_BY=thread gate 0 ./work 1000 1000; }
check rank rank

# Two reports of one run each: exact counts are compared, time is not.
for n in 1000 1030; do tach run --emulate -o $n.json -- ./work $n 1000 >/dev/null 2>&1; done
differ() { ends 1 tach diff --fail-if 'instructions > 1%' 1000.json 1030.json | tee said && says 'worse$' said && ends 0 tach diff --fail-if 'instructions > 1%' 1000.json 1000.json; }
check diff differ
untold() { ends 3 tach diff --fail-if 'time > 5%' 1000.json 1000.json | tee said && says 'cannot tell: too few values$' said && says '^One run of each' said; }
check time_of_one_run untold

# A unit test that permits more than the second place needs, and less than the first needs.
cat >expect.c <<'C'
#include <tach/expect.h>

static void turn(long n)
{
	for (volatile long k = n; k; k--)
		;
}
int main(void)
{
	tach_expect_count("instructions");
	for (int i = 0; i < 2; i++) {
		TACH_START(turn);
		turn(100);
		TACH_STOP(turn);
	}
	for (int i = 0; i < 2; i++) {
		TACH_START(turn);
		turn(100000);
		TACH_STOP(turn);
	}
	tach_expect("turn", "instructions", 10000);
	return tach_expect_done();
}
C
# shellcheck disable=SC2046
check expect_builds cc -O1 expect.c $(pkg-config --cflags --libs tach) -o expect
expects() { ends 1 tach run --emulate -o expect.json -- ./expect 2>&1 | tee said && says 'worse: [0-9.]+ instructions a call, more than 10000' said; }
check every_place expects
exit $rc

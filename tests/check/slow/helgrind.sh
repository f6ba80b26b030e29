#!/usr/bin/env bash
# tests/run: seconds=150
# Under Helgrind, threads begin and end, snapshots are taken, sets exchanged, processes forked and libraries unloaded:
# every lock is released, and no two locks are taken in both orders. helgrind.supp explains its exceptions.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need valgrind || exit 1
unset TEST_WHOLE
mkdir -p "$B/log"
make -s -j2 B="$B/helgrind" CPPFLAGS=-DTACH_HELGRIND OPT='-O2 -g' \
	"$B/helgrind/tests/unit/region/"region_{threads,process} "$B/helgrind/libtach.so" ||
	{ echo "not ok helgrind (does not build)"; exit 1; }

# Children are not checked: Helgrind does not know that a fork clears the page with the locks.
helgrind="valgrind --tool=helgrind --history-level=approx --fair-sched=yes --child-silent-after-fork=yes
	--suppressions=tests/check/slow/helgrind.supp"
under() { # NAME COMMAND...
	local name=$1 log=$B/log/helgrind-$1
	shift
	"$@" >"$log" 2>&1 && grep -q 'ERROR SUMMARY: 0 errors' "$log" && { echo "ok helgrind $name"; return; }
	# Prints the first error with its stacks, or the last lines of the test.
	{ grep -E -m 1 -A 50 '^==[0-9]+== (Possible data race|Thread #[0-9]+:)|^not ok' "$log" || tail -n 60 "$log"; } |
		grep -v 'sigprocmask: unknown' | sed 's/^/# /'
	echo "not ok helgrind $name"
}
# Run the tests in parallel.
# shellcheck disable=SC2086
under threads $helgrind "$B/helgrind/tests/unit/region/region_threads" >"$B/log/helgrind-said-1" &
# shellcheck disable=SC2086
under process $helgrind "$B/helgrind/tests/unit/region/region_process" >"$B/log/helgrind-said-2" &
under sites env B="$B/helgrind" UNDER="$helgrind" tests/check/slow/sites.sh >"$B/log/helgrind-said-3" &
wait
cat "$B"/log/helgrind-said-[123]
! grep -q '^not ok' "$B"/log/helgrind-said-[123]

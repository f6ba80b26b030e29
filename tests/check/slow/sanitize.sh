#!/usr/bin/env bash
# tests/run: memory=2000
# Every unit test runs under AddressSanitizer with UndefinedBehaviorSanitizer, and those with threads under
# ThreadSanitizer.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build} failed=0
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/tests/check/slow/tsan.supp

under() { # NAME SANITIZERS TEST...
	local name=$1 log status
	make -s -j2 SAN="$2" B="$B/$name" OPT='-O1 -g' unit_tests || { echo "not ok $name (does not build)"; failed=1; return; }
	shift 2
	for t; do
		# Threads' state lies in pages of its own, where LeakSanitizer does not look; it owns nothing there
		# that the registry's lists do not hold as well.
		log=$(ASAN_OPTIONS=detect_leaks=1 B=$B/$name "$B/$name/${t%.c}" 2>&1); status=$?
		case $status in
		0|77) echo "ok $name $(basename "$t" .c)";;
		*) echo "$log" | tail -n 40 | sed 's/^/# /'; echo "not ok $name $(basename "$t" .c) (exit status $status)"; failed=1;;
		esac
	done
}
under address address,undefined tests/unit/*/*.c
under thread thread $(grep -lE 'pthread_create|thrd_create' tests/unit/*/*.c)
exit $failed

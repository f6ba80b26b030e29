#!/usr/bin/env bash
# tests/run: memory=2000 seconds=500
# Every unit test runs under AddressSanitizer with UndefinedBehaviorSanitizer, and those with threads under
# ThreadSanitizer.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build} failed=0
unset TEST_WHOLE # which would be hours under ThreadSanitizer
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/tests/check/slow/tsan.supp

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

one() { # NAME TEST
	local log=$work/log.$BASHPID status
	# The state of threads is in separate pages that LeakSanitizer does not search; lists of the registry also
	# hold all memory that this state owns.
	ASAN_OPTIONS=detect_leaks=1 B=$B/$1 "$B/$1/$2" >"$log" 2>&1; status=$?
	case $status in
	0|77) echo "ok $1 ${2##*/}";;
	*) tail -n 40 "$log" | sed 's/^/# /'; echo "not ok $1 ${2##*/} (exit status $status)";;
	esac
}
# Runs one program per processor at a time; prints results in order.
n=1000
under() { # NAME SANITIZERS TEST...
	local name=$1 sanitizers=$2 t
	shift 2
	set -- "${@%.c}"
	# The command, and the libraries that programs link by name, for the tests that run them.
	make -s -j"$(nproc)" SAN="$sanitizers" B="$B/$name" OPT='-O1 -g1' LDFLAGS=-fuse-ld=lld lib tools vectors "${@/#/$B/$name/}" 2>"$work/make" ||
		{ tail -n 20 "$work/make" | sed 's/^/# /'; echo "not ok $name (does not build)"; failed=1; return; }
	for t; do
		[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
		n=$((n + 1))
		one "$name" "$t" >"$work/$n.said" &
	done
}
# ThreadSanitizer cannot see the other process, and makes reading it twenty times slower, so that test runs without
# it.
mapfile -t threaded < <(grep -lE 'pthread_create|thrd_create' tests/unit/*/*.c | grep -vx tests/unit/snapshot/remote.c)
under address address,undefined tests/unit/*/*.c
under thread thread "${threaded[@]}"
wait
cat "$work"/*.said
! grep -q '^not ok' "$work"/*.said && [ $failed = 0 ]

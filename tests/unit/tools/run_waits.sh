#!/usr/bin/env bash
# No code waits for a lock that is held by code below a signal handler, by a fork or by the allocator: programs that
# get signals during malloc and forks end normally. A hang is detected without a clock: all threads of the program
# sleep, and the kernel has not switched to any of them for a while.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
. tests/unsanitized run_waits "a sanitizer's library would have to be preloaded first"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
gcc -O1 -o "$work/waits" tests/unit/tools/run/waits.c -lpthread -ldl || exit 1
printf '#include <tach.h>\nvoid enter(void) { TACH_SCOPE(first); }\n' |
	gcc -O1 -fPIC -shared -Iinclude -x c -o "$work/library.so" - -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || exit 1

states() { # SESSION: its threads' states and how often the kernel switched to them
	local p
	for p in $(sed 's/([^)]*)/-/' /proc/[0-9]*/stat 2>/dev/null | awk -v s="$1" '$6 == s { print $1 }'); do
		cat /proc/"$p"/task/*/status
	done 2>/dev/null | sed -n '/^State\|ctxt/p'
}
ends() { # STATUS COMMAND...
	local want=$1 was='' now looks=0 got session; shift
	setsid "$@" >"$work/out" 2>&1 & session=$!
	while kill -0 $session 2>/dev/null; do
		sleep 0.02
		looks=$((looks + 1))
		[ $((looks % 50)) = 0 ] || continue
		now=$(states $session)
		# No state yet: the process has not started.
		if [ -z "$now" ] || [ "$now" != "$was" ] || grep -q '[RD] (' <<<"$now"; then was=$now looks=0; fi
		if [ $looks -ge 500 ]; then
			echo "# hangs: $*"; sed 's/^/#   /' <<<"$now"
			kill -KILL -- -$session
			return 1
		fi
	done
	wait $session; got=$?
	[ $got = "$want" ] || { echo "# status $got, not $want, of: $*"; sed 's/^/#   /' "$work/out" | tail -5; return 1; }
}
failed=0
many() { # NAME STATUS COMMAND...: each with another number of forks
	local name=$1 hung=0 n; shift
	for n in {1..60}; do
		ends "${@/FORKS/$((n % 20))}" || { hung=$((hung + 1)); [ $hung -lt 3 ] || break; }
	done
	if [ $hung = 0 ]; then echo "ok $name"; else echo "not ok $name"; failed=1; fi
}
many terminated_beside_forks 143 "$B/tach" run -- "$work/waits" FORKS
export TACH_OUTPUT=$work/report.json
many first_entry_in_a_handler_of_a_library 0 "$work/waits" FORKS "$work/library.so"
grep -q '"first"' "$TACH_OUTPUT" || { echo "not ok first_entry_is_counted"; failed=1; }
exit $failed

#!/usr/bin/env bash
# Tests tests/run: which files may be missing, tests in parallel and alone, hanging tests, and the last line.
set -u
cd "$(dirname "$0")/../../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/tests/{unit/room,guest,check/slow} "$work/tools" || exit 1
cp tests/run tests/skips "$work/tests"
cp tools/ccache tools/cache "$work/tools"
unset B
export TEST_LOOK=0.2 # s
failed=0
test_of() { # NAME SCRIPT; the floor knows it from then on
	local t=tests/unit/room/$1.sh
	printf '#!/bin/sh\n%s\n' "$2" >"$work/$t"
	chmod +x "$work/$t"
	grep -q " $t\$" "$work/tests/floor" || echo "1 $t" >>"$work/tests/floor"
}
forget() { rm "$work"/tests/unit/room/*.sh; floor; }
floor() { printf '%s\n' '# cases, test' "$@" >"$work/tests/floor"; }
on= # a command before it
run() { $on "$work/tests/run" "$@" >"$work/out" 2>&1; echo "$? $(tail -n 1 "$work/out")"; }
check() { # NAME EXPECTED ACTUAL
	if [ "$2" = "$3" ]; then echo "ok runner $1"; return; fi
	failed=1
	printf '# expected: %s\n# have:     %s\n' "$2" "$3"
	sed 's/^/#   /' "$work/out"
	echo "not ok runner $1"
}

floor '2 tests/unit/room/a.sh'
test_of a 'echo ok one; echo ok two'
check passes '0 2 passed, 0 failed, 0 skipped' "$(run)"
test_of a 'echo ok one'
check "loses a case" '1 1 passed, 1 failed, 0 skipped' "$(run)"
test_of a 'echo ok one; echo skip two: no PMU in this virtual machine'
check "skips for the hardware" '0 1 passed, 0 failed, 1 skipped' "$(run)"
test_of a 'echo no process may trace another here; exit 77'
check "skips whole" '0 0 passed, 0 failed, 1 skipped' "$(run)"
test_of a 'echo ok one; echo skip two: answers.tsv is missing'
check "skips for a file" '1 1 passed, 1 failed, 0 skipped' "$(run)"
test_of a 'echo skip two: chromium is not installed'
check "quick needs few packages" '0 0 passed, 0 failed, 1 skipped' "$(run)"
check "all tests need all" '1 0 passed, 1 failed, 0 skipped' "$(run --all)"
test_of a 'echo ok one; echo ok two; kill -SEGV $$'
check "crash" '1 2 passed, 1 failed, 0 skipped' "$(run)"
test_of a 'exit 77'
check "skips without a reason" '1 0 passed, 1 failed, 0 skipped' "$(run)"
rm "$work/tests/unit/room/a.sh"
test_of b 'echo ok one'
check "loses a test" '1 1 passed, 1 failed, 0 skipped' "$(run)"
check "but not when others are asked for" '0 1 passed, 0 failed, 0 skipped' "$(run unit/room/b)"
floor
check "not known to the floor" '1 1 passed, 1 failed, 0 skipped' "$(run)"
check "which others need not know" '0 1 passed, 0 failed, 0 skipped' "$(run unit/room/b)"
printf '#!/bin/sh\n' >"$work/tests/guest/c.sh"
chmod +x "$work/tests/guest/c.sh"
check "nor one that takes --all, not known" '1 1 passed, 2 failed, 0 skipped' "$(run)"
rm "$work/tests/guest/c.sh"
mkdir "$work/tests/journeys"
for kind in long quick; do printf '#!/bin/sh\n# tests/run: %s\necho ok journey\n' $kind >"$work/tests/journeys/$kind.sh"; done
printf 'exit 1\n' >"$work/tests/journeys/lib.sh"
chmod +x "$work"/tests/journeys/{long,quick}.sh
floor '1 tests/unit/room/b.sh' '1 tests/journeys/long.sh' '1 tests/journeys/quick.sh'
check "quick journeys" '0 2 passed, 0 failed, 0 skipped' "$(run)"
check "all journeys" '0 3 passed, 0 failed, 0 skipped' "$(run --all)"
rm -r "$work/tests/journeys"
check "a journey is gone" '1 1 passed, 2 failed, 0 skipped' "$(run --all)"
floor
run --record >/dev/null
check "records" '1 tests/unit/room/b.sh' "$(grep unit/room/b "$work/tests/floor")"
run --record no/such/test >/dev/null
check "records nothing of no test" '2' "$(grep -c '' "$work/tests/floor")"
check "names no test" "2 tests/run: no test's path contains no/such/test" "$(run no/such/test)"
check "one run at a time" 2 "$(flock "$work/build/log/lock" "$work/tests/run" 2>"$work/out" >&2; echo $?)"
test_of b "setsid sleep 1000 >/dev/null 2>&1 & echo \$! >>'$work/left'; echo ok one"
run >/dev/null
check "what a test leaves behind holds up none" '0 1 passed, 0 failed, 0 skipped' "$(run)"
xargs kill <"$work/left"

# Two tests that wait for each other end only if they run in parallel.
forget
test_of a "echo >'$work/a.here'; until [ -e '$work/b.here' ]; do sleep 0.05; done; sleep 0.2; echo ok a"
test_of b "echo >'$work/b.here'; until [ -e '$work/a.here' ]; do sleep 0.05; done; echo ok b"
check "side by side" '0 2 passed, 0 failed, 0 skipped' "$(TEST_STILL=60 run -j 2)"
rm "$work"/?.here
on="taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
check "quick ones on one processor, too" '0 2 passed, 0 failed, 0 skipped' "$(TEST_STILL=60 run)"
on=
test_of c "# tests/run: alone
[ -z \"\$(cat '$work'/build/log/*-[ab].sh.pid 2>/dev/null)\" ] && echo ok c"
check "alone" '0 3 passed, 0 failed, 0 skipped' "$(TEST_STILL=60 run -j 3)"
forget
test_of a 'exec sleep 1000'
check "stands still" '1 0 passed, 1 failed, 0 skipped' "$(TEST_STILL=3 run)"
test_of a 'ulimit -t 100; while :; do :; done'
check "never ends" '1 0 passed, 1 failed, 0 skipped' "$(TEST_CPU=1 run)"
forget
# The time is over when the test says so: it has its own date(1).
mkdir "$work/bin"
printf '#!/bin/sh\n[ -e "%s" ] && echo 2000000000 || echo 1000000000\n' "$work/late" >"$work/bin/date"
chmod +x "$work/bin/date"
until_late() { PATH=$work/bin:$PATH TEST_UNTIL=1500000000 run; rm -f "$work/late"; }
test_of a 'echo ok one'
check "begun before the time is over" '0 1 passed, 0 failed, 0 skipped' "$(until_late)"
: >"$work/late"
check "not begun when the time was over" '0 0 passed, 0 failed, 1 skipped' "$(until_late)"
test_of a "echo ok one; : >'$work/late'; exec sleep 1000"
check "not ended when the time was over" '0 1 passed, 0 failed, 1 skipped' "$(until_late)"
test_of a "trap 'echo not ok ended; exit 1' TERM; echo ok one; : >'$work/late'; sleep 1000 & wait"
check "fails as it is ended" '0 1 passed, 0 failed, 1 skipped' "$(until_late)"
test_of a "echo not ok one; : >'$work/late'; exec sleep 1000"
check "failed before the time was over" '1 0 passed, 1 failed, 1 skipped' "$(until_late)"
check "took too long when the time was over" '1 0 passed, 1 failed, 0 skipped' "$(TEST_ENOUGH=0 until_late)"
test_of a 'ulimit -t 100; while :; do :; done'
cat >"$work/tests/guest/a.sh" <<'EOF'
#!/usr/bin/env bash
most=$((2 * $(getconf CLK_TCK))) # 2 s of processor time
while read -r -a stat </proc/$$/stat && [ $((stat[13] + stat[14])) -lt $most ]; do :; done
echo ok a
EOF
chmod +x "$work/tests/guest/a.sh"
floor '1 tests/unit/room/a.sh' '1 tests/guest/a.sh'
check "a guest may take longer" '1 1 passed, 1 failed, 0 skipped' "$(TEST_CPU=1 run --all)"
rm "$work/tests/guest/a.sh"
floor
test_of a 'trap "echo ok signal; exit 0" INT; kill -INT $$; exit 1'
check "signals are as at a terminal" '0 1 passed, 0 failed, 0 skipped' "$(run)"

# Long tests start first, even without the times of an earlier run.
forget
for seconds in 2 30 5; do test_of takes$seconds "# tests/run: seconds=$seconds
echo ok $seconds"; done
check "the longest first" 'takes30 takes5 takes2' "$(run -j 1 >/dev/null; grep -oE 'takes[0-9]+' "$work/out" | xargs)"

# boot ends a guest, because it can report which program ran in it. In seconds: without progress, and of processor
# time.
default() { sed -n "s/.*$2\([0-9]\{2,\}\).*/\1/p" "$1" | head -n 1; }
kernels=$(tests/guest/kernels | wc -w)
first() { # NAME STILL CPU EACH WHOLE: boot gives a program a minute to be killed in
	check "$1" yes "$([ "$2" -gt $(($4 + 60)) ] && [ "$3" -gt $(($5 * kernels)) ] && echo yes)"
}
first "a guest's own limits come first" "$(default tests/run 'still=.*+4}')" "$(default tests/run 'limit=.*+10}')0" \
	"$(default tests/guest/boot ' each=')" "$(default tests/guest/boot ' limit=')"
first "with many reads, too" "4$(default tests/run 'still=.*+4}')" "10$(default tests/run 'limit=.*+10}')0" \
	"$(default tests/guest/suite ' -l ')" "$(default tests/guest/suite ' -t ')"
exit $failed

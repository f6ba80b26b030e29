#!/usr/bin/env bash
# musl: `make musl` builds one static command, which needs no library; programs of musl are measured under the
# installed `tach run` of glibc; a program with regions links the archive. Tests that depend on the C library pass
# when built with musl; all others are only compiled. `make CC=musl-gcc B=build/musl check-quick` runs all tests that
# can run.
set -u
. "$(dirname "$0")/lib.sh"
need musl-gcc
. tools/ccache
musl=$B/musl
make_musl() { make -s musl B="$B" && [ -x "$musl/static/tach" ] && [ -x "$musl/libtach-run.so" ]; }
check "make musl" make_musl
[ $rc = 0 ] || exit $rc

static_command() {
	! ldd "$musl/static/tach" && env -i "$musl/static/tach" encode skl::BR_INST_RETIRED.NEAR_CALL && env -i "$musl/static/tach" list -p skl uops_issued
}
check "static command" static_command
says 'config 0x2c4'; verdict "it encodes" $?
says 'UOPS_ISSUED'; verdict "it lists" $?

# The installed product, with the object that `make musl` built.
make -s install B="$B" PREFIX="$work/usr" >"$work/out" 2>&1; verdict "make install" $?
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' README.md >"$work/sum.c"
cat >"$work/threads.c" <<'END'
#include <pthread.h>
#include <stdio.h>
static void *half(void *unused) { return unused; }
int main(void)
{
	pthread_t thread;
	puts("as it is");
	return pthread_create(&thread, NULL, half, NULL) || pthread_join(thread, NULL) ? 1 : 3;
}
END
programs() {
	musl-gcc -O1 -o "$work/threads" "$work/threads.c" &&
		musl-gcc -O1 -Iinclude -idirafter /usr/include -idirafter "/usr/include/$(gcc -print-multiarch)" -o "$work/sum" "$work/sum.c" "$musl/libtach.a"
}
check "programs of musl" programs
run() { "$work/usr/bin/tach" run "$@"; }
threads() { run "$work/threads"; [ $? = 3 ] && says 'as it is'; }
check "threads under tach run" threads
says '^\(all threads\) +2 '; verdict "both threads are counted" $?
! says 'another C library|cannot be measured|Error relocating' 2>/dev/null; verdict "nothing is left out" $?
check "a region under tach run" run "$work/sum"
says '^sum +1 '; verdict "its row" $?
regions() { TACH_OUTPUT=- "$work/sum"; }
check "a region alone" regions
says '^sum +1 '; verdict "its row alone" $?

# Runs the tests of rooms that depend on the C library. The other tests are only compiled.
rooms=(base os startup)
mapfile -t tests < <(printf '%s\n' tests/unit/{base,os,startup}/*.c | grep -v /system_call_faults) # takes minutes
build_tests() { make -s -j2 CC=musl-gcc B="$musl" "${tests[@]/#/$musl/}"; }
tests=("${tests[@]%.c}")
check "tests of ${rooms[*]} are built" build_tests
failed=0
for t in "${tests[@]}"; do
	setsid -w "$musl/$t" >"$work/out" 2>&1 </dev/null; status=$? # some send signals to their group
	[ $status = 0 ] || [ $status = 77 ] || { verdict "$t" 1; failed=1; }
done
verdict "tests of ${rooms[*]} pass" $failed
exit $rc

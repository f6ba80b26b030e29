#!/usr/bin/env bash
# A program under tach run ends as without it: its status, its output and their order are the same. Tests a part of
# the matrix of blocking calls, ways to end and states (all of it: tests/journeys/ends_as_alone.sh); the program's
# view of its signals; threads that end by a system call; constructors that wait for a thread; programs that cannot
# load the preloaded object.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$B/tach
. tests/own_folder
. tests/unsanitized run_alone "a sanitizer's library would have to be preloaded first"
. tests/cases run_alone
ulimit -c 0
source=tests/unit/tools/run
gcc -O1 -o "$work/matrix" $source/matrix.c -lpthread -lrt || exit 1
gcc -O1 -w -o "$work/alone" $source/alone.c -lpthread -ldl -lrt || exit 1
gcc -O1 -shared -fPIC -o "$work/plugin.so" $source/wait_in_constructor.c -lpthread || exit 1
gcc -O1 -shared -fPIC -DWITH_TACH -Iinclude -o "$work/own.so" $source/wait_in_constructor.c "$B/libtach.a" -lm -lpthread || exit 1

HANG=${HANG:-300} # seconds, far more than any takes
same() { # COMMAND...: under tach run as alone
	local alone got
	timeout $HANG "$@" >"$work/out.alone" 2>"$work/err.alone"; alone=$?
	timeout $HANG "$tach" run -e '' -o "$work/report" -- "$@" >"$work/out" 2>"$work/err"; got=$?
	[ $got = $alone ] || no "status $got, alone $alone, of: $*"
	diff "$work/out.alone" "$work/out" >"$work/diff" || { no "other output of: $*"; head -5 "$work/diff"; }
}
counted() { grep -qE "^\(all threads\) +$1 " "$work/report" || no "not $1 threads"; }

for way in actions handler sigset sysv interrupts last; do same "$work/alone" $way; done
result signals
same "$work/alone" raw; counted 21
result raw_exit
for way in small small_dies crash; do same "$work/alone" $way; done
result ends
for what in create prctl signal fork vfork exec _exit; do
	WHAT=$what PLUGIN=$work/plugin.so same "$work/alone" load
done
result loader
# A plugin with its own copy of the library, without tach run.
export WHAT=region PLUGIN=$work/own.so
for enabled in 0 1; do
	TACH_ENABLE=$enabled TACH_OUTPUT=$work/plugin.txt timeout $HANG "$work/alone" load >"$work/out" 2>"$work/err"
	is status $? 3
done
says '^in_constructor +1 ' "$work/plugin.txt"
unset WHAT PLUGIN
result plugin

(cd "$work" && ./matrix 23 >out.alone && "$OLDPWD/$tach" run -e '' -o report -- ./matrix 23 >out 2>err) || no "the matrix does not run"
[ "$(wc -l <"$work/out")" -ge 70 ] || no "too few cells"
diff "$work/out.alone" "$work/out" || rc=1
result matrix

"$tach" run -e '' -- sh -c 'exit 5' 2>&-
is 'status with standard error closed' $? 5
(exec 2>&-; "$tach" run -e '' -- sh -c 'command : >&2 || exit 6')
is 'a standard error that is closed in the program' $? 6
result closed_streams

gcc -O1 -w -fsanitize=address -Iinclude -x c -o "$work/asan" - -x none "$B/libtach.a" -lm -lpthread 2>/dev/null <<'END'
#include <stdlib.h>
#include <tach.h>
int main(int argc, char **argv)
{
	volatile char *p = malloc(1);
	TACH_START(work); p[argc > 1 ? 0 : argc] = 0; TACH_STOP(work);
	free((void *)p);
	return 4;
}
END
if [ -x "$work/asan" ]; then
	ASAN_OPTIONS=exitcode=9 "$tach" run -e '' -- "$work/asan" >"$work/out" 2>"$work/err"
	is 'a fault that AddressSanitizer finds' $? 9
	says heap-buffer-overflow "$work/err"
	ends 4 "$tach" run -e '' -- "$work/asan" x
	says '^work +1 ' "$work/err"
	ends 4 "$tach" run -e '' -- sh -c "$work/asan x; exit \$?"
	result asan
else
	skip asan "no gcc -fsanitize=address"
fi
if musl-gcc -O1 -x c -o "$work/musl" - 2>/dev/null <<<'int main(void) { return 3; }'; then
	mkdir "$work/without" && cp "$B/tach" "$B/libtach-run.so" "$work/without" # no object for musl, which make musl builds
	for shell in 'exec %s' '%s; exit $?' 'env %s; exit $?' 'perl -e "exec q(%s)"'; do
		# shellcheck disable=SC2059
		ends 3 "$work/without/tach" run -e '' -- sh -c "$(printf "$shell" "$work/musl")"
		says 'could not be measured, and ran unmeasured: 1, musl first'
		! grep -q 'Error relocating' "$work/err" || rc=1
	done
	result musl_child
else
	skip musl_child "no musl-gcc (Debian: musl-tools)"
fi
if [ "$(id -u)" = 0 ] && chroot / true 2>/dev/null; then
	mkdir -p "$work/root/proc"
	for file in /bin/sh $(ldd /bin/sh | grep -o '/[^ ]*'); do
		mkdir -p "$work/root/$(dirname "$file")" && cp -L "$file" "$work/root/$file"
	done
	ends 7 "$tach" run -e '' -- chroot "$work/root" /bin/sh -c 'exit 7'
	says 'could not be measured, and ran unmeasured: 1, sh first'
	! grep -q 'ld.so' "$work/err" || no "the loader complains"
	result chroot_child
else
	skip chroot_child "takes root"
fi
exit $failed

#!/usr/bin/env bash
# tach/expect.h, in C and C++: a value within its bound passes, and one outside fails; a value that cannot be counted
# gives "cannot tell" or, on request, fails; without a measurement no check passes. It finds two percent more
# instructions in the emulator. ctest interprets the exit statuses correctly.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null || :
cat >"$work/p.c" <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <tach/expect.h>

/* As in a container: on no machine is anything counted. */
static int deny(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof f / sizeof *f, f};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static __attribute__((noinline)) void turns(unsigned long n)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\tdec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1:\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	while (n--)
		__asm__ volatile("");
#endif
}

/* TURNS EVENTS (REGION QUANTITY MAX)... */
int main(int argc, char **argv)
{
	unsigned long n = strtoul(argv[1], NULL, 10);

	if (getenv("DENY") && deny() != 0)
		return 99;
	tach_expect_count(argv[2]);
	for (int i = 0; i < 4; i++) {
		TACH_START(work);
		turns(n);
		TACH_STOP(work);
	}
	for (int i = 3; i + 2 < argc; i += 3)
		tach_expect(argv[i], argv[i + 1], strtod(argv[i + 2], NULL));
	return tach_expect_done();
}
END
flags=(-Wall -Wextra -Werror -O2 -Iinclude)
# shellcheck disable=SC2046
flags+=($(grep -o -e '-fsanitize=[^ ]*' "$B/flags" | sort -u))
gcc -std=c11 "${flags[@]}" -o "$work/c" "$work/p.c" "$B/libtach.a" -lpthread -lm -ldl || exit 1
g++ -std=c++11 "${flags[@]}" -x c++ -o "$work/cc" "$work/p.c" -x none "$B/libtach.a" -lpthread -lm -ldl || exit 1

. tests/cases expect
run() { ends "$@"; }
for p in "$work/c" "$work/cc"; do
	run 0 "$p" 100000 '' work time 1e12; [ -s "$work/err" ] && rc=1
	run 1 "$p" 100000 '' work time 1e12 work time 1; says '^tach_expect: work: worse: [0-9.e+]+ time a call, more than 1 \(\+[0-9.e+]+ %\), .*p\.c:[0-9]+$'
	run 1 "$p" 1 '' nothing time 1e12; says 'nothing: no such region was entered'
	run 1 "$p" 1 '' work instructions 1e12; says 'work: instructions is not counted'
	run 1 "$p" 1 '' work time nan
	run 1 "$p" 1 ''; says 'nothing was expected'
	run 1 "$p" 1 no_such_event work time 1e12; says '^tach_expect_count: .*no_such_event'
	result "decides_${p##*/}"

	run 77 env DENY=1 "$p" 1 instructions work instructions 1e12; says '^tach_expect: work: cannot tell: [^ ]'
	run 77 env DENY=1 TACH_EXPECT_REQUIRED=0 "$p" 1 instructions work time 1e12
	run 1 env DENY=1 TACH_EXPECT_REQUIRED=1 "$p" 1 instructions work instructions 1e12; says '^tach_expect: work: [^s]'
	result "skips_${p##*/}"
done

# Results in ctest.
if command -v ctest >/dev/null && [ ${#flags[@]} = 5 ]; then
	# This file stands for the one of the installed package. tests/check/slow/install.sh tests the package.
	cat >"$work/tachConfig.cmake" <<END
add_library(tach::tach_static STATIC IMPORTED)
set_target_properties(tach::tach_static PROPERTIES IMPORTED_LOCATION $B/libtach.a
  INTERFACE_INCLUDE_DIRECTORIES $PWD/include INTERFACE_LINK_LIBRARIES "pthread;dl;m")
END
	{ cmake -S examples/expect -B "$work/cmake" -Dtach_DIR="$work" && cmake --build "$work/cmake"; } >"$work/err" 2>&1 || rc=1
	run 0 ctest --test-dir "$work/cmake"
	grep -qE 'sum_time +\.+ +Passed' "$work/out" && grep -qE 'sum_instructions +\.+ *(Passed|\*\*\*Skipped)' "$work/out" || { sed 's/^/# /' "$work/out"; rc=1; }
	result ctest
else
	echo "skip expect_ctest: cmake is not installed"
fi

[ -z "${TACH_QEMU:-}" ] || PATH=$TACH_QEMU:$PATH
if [ ${#flags[@]} = 5 ] && command -v "qemu-$(uname -m)" >/dev/null && "qemu-$(uname -m)" -help | grep -q '^-plugin'; then
	for p in "$work/c" "$work/cc"; do
		run 0 "$B/tach" run --emulate -o "$work/report.json" -- "$p" 1000 instructions work instructions 2010
		run 1 "$B/tach" run --emulate -o "$work/report.json" -- "$p" 1020 instructions work instructions 2010
		says 'work: worse: 204[0-9.]+ instructions a call, more than 2010 \(\+1\.[0-9]+ %\)'
	done
	result emulated
else
	echo "skip expect_emulated: QEMU's user mode is not installed, or takes no plugins"
fi
exit $failed

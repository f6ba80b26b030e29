#!/usr/bin/env bash
# Compiler flags that change the cost of an edge: the table in docs/limits.md gives numbers of instructions, and this
# test counts each of its rows. A program with one region in another is compiled as the row says, with a library whose
# functions do nothing. It is executed one instruction at a time: by ptrace(2), or by QEMU for another processor.
set -u
cd "$(dirname "$0")/../../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/program.c" <<'END'
#include <tach/region.h>
void program(void);
void program(void)
{
	TACH_START(outer);
	TACH_START(inner);
	TACH_STOP(inner);
	TACH_STOP(outer);
}
END
# Counts only the calls of START and STOP, not functions that flags add to the program.
cat >"$work/library.c" <<'END'
#include <stddef.h>
#include <unistd.h>
struct mark { void (*end)(struct mark *mark); };
#define LIBRARY __attribute__((section("library"), noinline, used))
LIBRARY static void end(struct mark *mark) { mark->end = NULL; }
LIBRARY void tach__region_begin(void *site, struct mark *mark) { (void)site; mark->end = end; }
LIBRARY void tach__region_begin_fenced(void *site, struct mark *mark) { (void)site; mark->end = end; }
LIBRARY void tach__region_begin_flat(void *site, struct mark *mark) { (void)site; mark->end = end; }
#define HOOK(name) __attribute__((section("hooks"), noinline)) void name(void) {}
HOOK(__cyg_profile_func_enter) HOOK(__cyg_profile_func_exit)
HOOK(__gcov_init) HOOK(__gcov_exit) HOOK(__gcov_merge_add)
HOOK(llvm_gcov_init) HOOK(llvm_gcda_start_file) HOOK(llvm_gcda_emit_function) HOOK(llvm_gcda_emit_arcs)
HOOK(llvm_gcda_summary_info) HOOK(llvm_gcda_end_file)
HOOK(over)
extern const char __start_library[], __stop_library[], __start_hooks[], __stop_hooks[];
const char *const sections[] = {__start_library, __stop_library, __start_hooks, __stop_hooks};
void program(void);
int main(void)
{
#ifdef __x86_64__
	__asm__ volatile("int3");
#endif
	program();
	over();
	_exit(0);
}
END
cat >"$work/step.c" <<'END'
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status, traps = 0; /* at its start, and in main */
	pid_t child = fork();

	if (argc > 1 && child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execv(argv[1], argv + 1);
		_exit(77);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
#ifdef __x86_64__
		struct user_regs_struct regs;

		if (ptrace(PTRACE_GETREGS, child, NULL, &regs))
			return 77;
		printf("%llx\n", regs.rip);
#endif
		if (ptrace(++traps > 1 ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, NULL))
			return 77;
	}
	return WEXITSTATUS(status);
}
END
gcc -O1 -o "$work/step" "$work/step.c" || exit 1

# Counts into `own` and `all` the program's instructions between the edges of the inner and of the outer region.
count() { # COMPILER FLAG...
	local cc=$1 nm=nm; shift
	case $cc in *-linux-gnu-gcc) nm=${cc%gcc}nm;; esac
	"$cc" -O2 -fno-pie "$@" -std=c11 -Wno-unknown-warning-option -Wno-slh-asm-goto -Iinclude -c -o "$work/program.o" "$work/program.c" 2>"$work/err" || { sed 's/^/# /' "$work/err"; return 1; }
	"$cc" -O2 -fno-pie -w -c -o "$work/library.o" "$work/library.c" && "$cc" -static -no-pie -o "$work/run" "$work/program.o" "$work/library.o" 2>"$work/err" || { sed 's/^/# /' "$work/err"; return 1; }
	case $cc in
	*-linux-gnu-gcc) "qemu-${cc%%-*}" -singlestep -d exec,nochain -D "$work/log" "$work/run" && sed -n 's,.*\[[0-9a-f]*/0*\([0-9a-f]*\)/.*,\1,p' "$work/log" >"$work/pcs";;
	*) "$work/step" "$work/run" >"$work/pcs";;
	esac || return 1
	read -r own all < <(
		{ $nm "$work/run" | awk '{ sub(/^0+/, "", $1); print "symbol", $3, $1 }'; cat "$work/pcs"; } | awk '
		function at(a, from, to) { return length(a) == length(from) && a >= from && a < to }
		# Not numbers: "4e1" is one.
		$1 == "symbol" { where[$2] = "x" $3; next }
		{ $1 = "x" $1 }
		$1 == where["program"] { on = 1; program = 1 }
		$1 == where["over"] { on = 0 }
		!on { next }
		at($1, where["__start_hooks"], where["__stop_hooks"]) { next }
		at($1, where["__start_library"], where["__stop_library"]) { calls += program; program = 0; next }
		{ program = 1; if (calls == 2) own++; if (calls > 0 && calls < 4) all++ }
		END { print calls == 4 ? own : 0, all + 0 }')
	[ "$own" -gt 0 ]
}

failed=0 own=0 all=0 own_before=0 all_before=0
sed -n 's/^| `\([^`]*\)` | \([-+0-9]*\) | \([-+0-9]*\) |$/\1|\2|\3/p' docs/limits.md >"$work/rows"
[ -s "$work/rows" ] || { echo "not ok compilers: docs/limits.md has no table of them"; exit 1; }
while IFS='|' read -r flags region around; do
	read -ra command <<<"$flags"
	cc=${command[0]}
	command -v "$cc" >/dev/null || { echo "skip compilers $flags: $cc is not installed"; continue; }
	case $cc:$(gcc -dumpmachine) in
	*-linux-gnu-gcc:*) command -v "qemu-${cc%%-*}" >/dev/null || { echo "skip compilers $flags: qemu-${cc%%-*} is not installed"; continue; };;
	*:x86_64*) ;;
	*) echo "skip compilers $flags: the numbers are for x86-64 and a cross compiler"; continue;;
	esac
	if count "${command[0]/clang/gcc}" && own_before=$own all_before=$all && count "${command[@]}" &&
		[ $((own - own_before)) = $((region)) ] && [ $((all - own - all_before + own_before)) = $((around)) ]; then
		echo "ok compilers $flags"
	else
		echo "# $flags: $((own - own_before)) in the region, $((all - own - all_before + own_before)) around it; docs/limits.md says $region and $around"
		echo "not ok compilers $flags"; failed=1
	fi
done <"$work/rows"
exit $failed

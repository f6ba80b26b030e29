#!/usr/bin/env bash
# `tach doctor` in containers whose seccomp filter refuses perf_event_open, or kills the caller: the verdict is true,
# the cause is named, and the exit status is 1.
set -u
. "$(dirname "$0")/lib.sh"
cat >"$work/filter.c" <<'C'
/* filter ACTION PROGRAM...: runs it with perf_event_open answered by ACTION: kill, or an errno. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	unsigned action = strcmp(argv[1], "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};
	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	execvp(argv[2], argv + 2);
	return 126;
}
C
cc -o "$work/filter" "$work/filter.c" || exit 1
"$work/filter" 1 true || { echo "seccomp filters cannot be set here"; exit 77; }
alone='verdict: no counters and no software events here: regions measure time alone'
told() { # ACTION PATTERN
	local status
	"$work/filter" "$1" env MANWIDTH=80 tach doctor
	status=$?
	tr -s ' \n' ' ' <"$work/out" >"$work/line"
	[ $status = 1 ] && says "$2" "$work/line" && says "$alone" "$work/line"
}
check refused told 1 'a seccomp filter forbids perf_event_open \(EPERM\)'
check hidden told 38 'a seccomp filter hides perf_event_open \(ENOSYS\)'
check killed told kill 'a seccomp filter kills every process that calls perf_event_open \(SIGSYS\)'
as_json() { ! "$work/filter" kill tach doctor --json >"$work/json" && "$python" -c 'import json, sys
x = json.load(open(sys.argv[1]))
assert x["verdict"] == "clock" and any(f["cause"] == "seccomp-eperm" and "SIGSYS" in f["text"] for f in x["findings"]), x' "$work/json"; }
check killed_json as_json
check short_option bash -c '[ "$(tach doctor -h)" = "$(tach doctor --help)" ]'
full() { # COMMAND...: says so and fails, where nothing can be written
	! "$@" >/dev/full && says 'standard output: No space left on device'
}
check help_into_a_full_disk full tach help
check doctor_into_a_full_disk full tach doctor
exit $rc

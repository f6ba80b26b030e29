/* SPDX-License-Identifier: MIT */
/*
 * A kernel that refuses one system call: a child does a job, traced by this process, and its
 * k-th call after the mark fails in one of the ways in which such a call may. It sees all
 * calls, those that the C library makes for it, too.
 */
#ifndef TESTS_UNIT_REFUSE_H
#define TESTS_UNIT_REFUSE_H

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* How calls fail: at most three ways each; 0 ends the list. SHORT: less is transferred. */
enum { REFUSE_WAYS = 3, REFUSE_SHORT = 1 };

static const struct {
	long number;
	int way[REFUSE_WAYS];
} refuse_ways[] = {
	{SYS_openat, {-EMFILE, -EACCES, -EINTR}},
	{SYS_read, {-EINTR, -EIO, REFUSE_SHORT}},
	{SYS_write, {-EINTR, -ENOSPC, REFUSE_SHORT}},
	{SYS_mmap, {-ENOMEM, -EPERM}},
	{SYS_mprotect, {-ENOMEM}},
	{SYS_madvise, {-EINVAL}},
	{SYS_ioctl, {-ENOTTY, -EBUSY}},
	{SYS_getdents64, {-EIO}},
	{SYS_newfstatat, {-EACCES}},
	{SYS_faccessat, {-EACCES}},
	{SYS_lseek, {-ESPIPE}},
	{SYS_prlimit64, {-EPERM}},
	{SYS_rt_sigaction, {-EINVAL}},
	{SYS_sched_getaffinity, {-EPERM}},
	{SYS_clone, {-EAGAIN, -ENOMEM}},
	{SYS_pipe2, {-EMFILE}},
	{SYS_perf_event_open, {-EACCES, -EMFILE, -EINVAL}},
#ifdef SYS_access
	{SYS_access, {-EACCES}},
	{SYS_open, {-EMFILE}},
	{SYS_readlink, {-EACCES}},
#endif
#ifdef SYS_clone3
	{SYS_clone3, {-EAGAIN, -ENOMEM}},
#endif
	/* Done all the same, but says otherwise, as the kernel's close does. */
	{SYS_close, {-EIO, -EINTR}},
};

static inline int refuse_way(long number, int which)
{
	for (size_t i = 0; i < sizeof refuse_ways / sizeof *refuse_ways; i++)
		if (refuse_ways[i].number == number)
			return which < REFUSE_WAYS ? refuse_ways[i].way[which] : 0;
	return 0;
}

/* ---- registers ---- */

#if defined(__x86_64__)
typedef struct user_regs_struct refuse_regs;
#define REFUSE_NUMBER(r) ((r).orig_rax)
#define REFUSE_RESULT(r) ((r).rax)
#define REFUSE_SIZE(r)	 ((r).rdx)
#define REFUSE_FIRST(r)	 ((r).rdi)
#elif defined(__aarch64__)
typedef struct user_regs_struct refuse_regs;
#define REFUSE_NUMBER(r) ((r).regs[8])
#define REFUSE_RESULT(r) ((r).regs[0])
#define REFUSE_SIZE(r)	 ((r).regs[2])
#define REFUSE_FIRST(r)	 ((r).regs[0])
#endif

static inline void refuse_get(pid_t pid, refuse_regs *regs)
{
	struct iovec v = {regs, sizeof *regs};

	ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v);
}

static inline void refuse_set(pid_t pid, refuse_regs *regs)
{
	struct iovec v = {regs, sizeof *regs};

	ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v);
}

/* The call at whose entry the child stands is skipped. */
static inline void refuse_skip(pid_t pid, refuse_regs *regs)
{
#if defined(__aarch64__)
	int none = -1;
	struct iovec v = {&none, sizeof none};

	(void)regs;
	ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &v);
#else
	REFUSE_NUMBER(*regs) = (unsigned long)-1;
	refuse_set(pid, regs);
#endif
}

/* ---- one run ---- */

/* The mark: a call that nothing else makes. The first arms, the second disarms. */
#define REFUSE_MARK 0x7ac4
static inline void refuse_mark(void)
{
	syscall(SYS_getpgid, REFUSE_MARK);
}

struct refusal {
	long from;   /* calls are counted after the first of this number; 0: after the mark */
	long at;     /* which call fails: 0 is the first after the mark; -1: none */
	int which;   /* way of failing */
	long number; /* out: the call that failed; -1: there are not so many */
	int way;     /* out: 0: that call has not so many ways; it was done */
	long calls;  /* out, when none was to fail: how many there are */
	int status;  /* out: of waitpid */
};

static inline int refuse_next(pid_t pid, int *status)
{
	int sig = 0;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, (long)sig) || waitpid(pid, status, 0) < 0)
			return 0;
		if (!WIFSTOPPED(*status))
			return 0;
		sig = WSTOPSIG(*status);
		if (sig == (SIGTRAP | 0x80))
			return 1;
		if (sig == SIGTRAP || sig == SIGSTOP)
			sig = 0;
	}
}

/* The child stands at the entry of the call that is to fail. */
static inline void refuse_this(pid_t pid, struct refusal *r, refuse_regs *regs)
{
	if (r->way == REFUSE_SHORT) {
		REFUSE_SIZE(*regs) = (REFUSE_SIZE(*regs) + 1) / 2;
		refuse_set(pid, regs);
		return;
	}
	if (r->number != SYS_close)
		refuse_skip(pid, regs);
	if (!refuse_next(pid, &r->status))
		return;
	refuse_get(pid, regs);
	REFUSE_RESULT(*regs) = (unsigned long)(long)r->way;
	refuse_set(pid, regs);
}

/* Follows a child that has just stopped itself, to its end. */
static inline void refuse_follow(pid_t pid, struct refusal *r)
{
	int armed = 0;

	r->number = -1;
	r->way = 0;
	r->calls = 0;
	waitpid(pid, &r->status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (refuse_next(pid, &r->status)) {
		refuse_regs regs;
		int mark;

		refuse_get(pid, &regs);
		mark = (long)REFUSE_NUMBER(regs) == SYS_getpgid &&
		       REFUSE_FIRST(regs) == REFUSE_MARK;
		if (armed == 1 && !mark && r->calls++ == r->at) {
			r->number = (long)REFUSE_NUMBER(regs);
			r->way = refuse_way(r->number, r->which);
			if (r->way)
				refuse_this(pid, r, &regs);
			break;
		}
		if (mark)
			armed = armed ? 0 : r->from ? 2 : 1;
		else if (armed == 2 && (long)REFUSE_NUMBER(regs) == r->from)
			armed = 1;
		if (!refuse_next(pid, &r->status))
			return;
	}
	if (!WIFSTOPPED(r->status))
		return;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	waitpid(pid, &r->status, 0);
}

/* In the child: stops until the parent traces. 0 when tracing is not permitted here. */
static inline int refuse_me(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

#endif

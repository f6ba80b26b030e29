/* SPDX-License-Identifier: MIT */
/*
 * A kernel that refuses one system call: a child does a job while this process traces it, and
 * the child's k-th call after the mark fails in one of the ways in which such a call may fail.
 * The tracer sees all calls, including those that the C library makes itself.
 */
#ifndef TESTS_UNIT_REFUSE_H
#define TESTS_UNIT_REFUSE_H

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The ways in which calls fail: at most three per call; 0 ends the list. SHORT: fewer bytes are
 * transferred.
 */
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
	/* The kernel's close returns an error but still closes the descriptor. */
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
#define REFUSE_AT(r)	 ((r).rip)
#define REFUSE_STACK(r)	 ((r).rsp)
#elif defined(__aarch64__)
typedef struct user_regs_struct refuse_regs;
#define REFUSE_NUMBER(r) ((r).regs[8])
#define REFUSE_RESULT(r) ((r).regs[0])
#define REFUSE_SIZE(r)	 ((r).regs[2])
#define REFUSE_FIRST(r)	 ((r).regs[0])
#define REFUSE_AT(r)	 ((r).pc)
#define REFUSE_STACK(r)	 ((r).sp)
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

/* Skips the call at whose entry the child has stopped. */
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

/* ---- identifies the place in the code that makes a call ---- */

/*
 * A call's number, and a hash of code addresses on the stack: the caller and its nearest
 * callers. Equal hashes mean the same call of the same function, made again from the same
 * place.
 */
struct refuse_call {
	long number;
	uint64_t from;
};
enum { REFUSE_CALLS = 1 << 16, REFUSE_CALLERS = 5 };
/* calls of the last run without a refusal */
static struct refuse_call refuse_calls[REFUSE_CALLS];

static struct {
	int n;
	uint64_t begin[64], end[64];
} refuse_code;

static inline void refuse_code_find(pid_t pid)
{
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	f = fopen(path, "re");
	refuse_code.n = 0;
	while (f && fgets(line, sizeof line, f) && refuse_code.n < 64) {
		unsigned long begin, end;
		char access[8];

		if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3 || access[2] != 'x')
			continue;
		refuse_code.begin[refuse_code.n] = begin;
		refuse_code.end[refuse_code.n++] = end;
	}
	if (f)
		fclose(f);
}

static inline void refuse_note(pid_t pid, long at, const refuse_regs *regs)
{
	uint64_t word[128] = {0}, h = 14695981039346656037u ^ REFUSE_AT(*regs);
	struct iovec here = {word, sizeof word},
		     there = {(void *)(uintptr_t)REFUSE_STACK(*regs), sizeof word};
	int callers = REFUSE_CALLERS;

	if (at >= REFUSE_CALLS)
		return;
	if (at == 0)
		refuse_code_find(pid);
	process_vm_readv(pid, &here, 1, &there, 1, 0);
	for (size_t i = 0; i < sizeof word / sizeof *word && callers; i++)
		for (int k = 0; k < refuse_code.n; k++)
			if (word[i] >= refuse_code.begin[k] && word[i] < refuse_code.end[k]) {
				h = (h ^ word[i]) * 1099511628211u; /* FNV-1a */
				callers--;
			}
	refuse_calls[at].number = (long)REFUSE_NUMBER(*regs);
	refuse_calls[at].from = h;
}

/*
 * Returns true if this call should be refused: it can fail, and is the 1st, 2nd, 4th, 8th ...
 * or last of `calls` from its place.
 */
static inline int refuse_worth(long at, long calls, int every)
{
	const struct refuse_call *c = &refuse_calls[at];
	long before = 0, after = 0;

	if (at >= REFUSE_CALLS || every)
		return 1;
	for (size_t i = 0;; i++)
		if (i == sizeof refuse_ways / sizeof *refuse_ways)
			return 0;
		else if (refuse_ways[i].number == c->number)
			break;
	for (long i = 0; i < calls && i < REFUSE_CALLS; i++)
		if (refuse_calls[i].number == c->number && refuse_calls[i].from == c->from)
			*(i < at ? &before : &after) += i != at;
	return after == 0 || ((before + 1) & before) == 0;
}

/* ---- one run ---- */

/*
 * The mark is a call that no other code makes. The first mark arms the refusal, the second
 * disarms it.
 */
#define REFUSE_MARK 0x7ac4
static inline void refuse_mark(void)
{
	syscall(SYS_getpgid, REFUSE_MARK);
}

struct refusal {
	long from;   /* counting starts after the first call with this number; 0: after the mark
		      */
	long at;     /* number of the failing call: 0 is the first after the mark; -1: none */
	int which;   /* way of failing */
	long number; /* out: number of the failed call; -1: there were too few calls */
	int way;     /* out: 0: the call has fewer ways to fail, so it succeeded */
	long calls;  /* out: number of calls, if no call should fail */
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

/* The child has stopped at the entry of the call that must fail. */
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

/* Follows a child that has just stopped itself, until it ends. */
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
		if (armed == 1 && !mark && r->at < 0)
			refuse_note(pid, r->calls, &regs);
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

/*
 * In the child: stops until the parent traces it. Returns 0 if tracing is not permitted here.
 */
static inline int refuse_me(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

#endif

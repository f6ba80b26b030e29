/* SPDX-License-Identifier: MIT */
/* Processes that end without destructors, or after they gave up all rights. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>

static void *last(void *unused)
{
	usleep(20000);
	return unused;
}

/* The filter kills at every system call except the end and memory allocation. */
static void filter(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog whole = {sizeof program / sizeof *program, program};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole);
}

/* The filter kills at perf_event_open; then the process executes another program. */
static void become_forbidden(char **argv)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog whole = {sizeof program / sizeof *program, program};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);
	execv(argv[0], argv);
}

/* The process ends without the C library. */
static void leave_by_instruction(void)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_exit_group, status __asm__("x0") = 0;

	__asm__ volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#endif
}

static void lose_all(void)
{
	syscall(SYS_close_range, 0, ~0u, 0);
	if (chroot("/proc/self/fdinfo") != 0 || setgid(65534) != 0 || setuid(65534) != 0)
		_exit(9);
}

static void in_child(void (*lose)(void), int how)
{
	if (fork() == 0) {
		TACH_START(work_of_child);
		TACH_STOP(work_of_child);
		lose();
		if (how == 2 && fork() == 0) {
			TACH_START(work_of_grandchild);
			TACH_STOP(work_of_grandchild);
			_exit(0);
		}
		if (how == 2)
			wait(NULL);
		if (how == 1)
			_exit(0);
		exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void become_nobody(void)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		_exit(9);
}

static void change_root(void)
{
	if (chroot("/proc/self/fdinfo") != 0)
		_exit(9);
}

static void close_all(void)
{
	syscall(SYS_close_range, 3, ~0u, 0);
}

static void die(void)
{
	raise(SIGKILL);
}

static void leave_bare(void)
{
	syscall(SYS_exit_group, 0);
}

/* A call that only asks about filters installs none. */
static void ask_for_filters(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	TACH_START(asked);
	TACH_STOP(asked);
}

/* Its parent ends inside the C library. */
static void become_daemon(void)
{
	if (daemon(1, 1) != 0)
		_exit(9);
	TACH_START(of_daemon);
	TACH_STOP(of_daemon);
}

static void replace_bare(void)
{
	char *const argv[] = {"ends", NULL};

	syscall(SYS_execve, "/nonexistent", argv, environ);
	syscall(SYS_execve, "/proc/self/exe", argv, environ);
	_exit(9);
}

/* The fork of this child runs no hook. */
static void fork_bare(void)
{
	if (_Fork() == 0) {
		TACH_START(bare);
		TACH_STOP(bare);
		exit(0);
	}
	wait(NULL);
}

static const struct {
	const char *name;
	void (*lose)(void);
	int how; /* 1: _exit; 2: makes a child afterwards */
} children[] = {
	{"nobody", become_nobody, 0},
	{"chroot", change_root, 0},
	{"close", close_all, 0},
	{"_exit", close_all, 1},
	{"exit_group", leave_bare, 0},
	{"instruction", leave_by_instruction, 0},
	{"kill", die, 0},
	{"family", lose_all, 2},
	{"ask", ask_for_filters, 0},
	{"bare", fork_bare, 0},
	{"daemon", become_daemon, 0},
	{"replace", replace_bare, 0},
};

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	TACH_START(work);
	TACH_STOP(work);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(6);
	if (strcmp(how, "pthread_exit") == 0) {
		pthread_create(&thread, NULL, last, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "close") == 0)
		syscall(SYS_close_range, 0, ~0u, 0);
	for (size_t i = 0; i < sizeof children / sizeof *children; i++)
		if (strcmp(how, "child") == 0 && strcmp(argv[2], children[i].name) == 0)
			in_child(children[i].lose, children[i].how);
	if (strcmp(how, "filter") == 0) {
		filter();
		for (int i = 0; i < 3; i++) {
			TACH_START(work);
			TACH_STOP(work);
			TACH_START(after_the_filter);
			TACH_STOP(after_the_filter);
		}
		if (write(1, "data\n", 5) != 5)
			return 1;
		return 8;
	}
	if (strcmp(how, "forbidden") == 0)
		become_forbidden(argv + 2);
	if (strcmp(how, "seccomp") == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return 0;
}

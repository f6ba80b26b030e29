/* SPDX-License-Identifier: MIT */
/* Regions in the life of a process: every kind of fork, exec, exit; no system call inside. */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

static uint64_t refused(void)
{
	struct tach_counts counts = {0};

	regions_look("", 0);
	tach_snapshot_counts(shot, &counts);
	return counts.refused;
}

static void leaf(void)
{
	TACH_SCOPE(leaf);
	fake_count += 100;
}

/* Work of every child; its exit status is the number of the first failed check. */
static int child(void)
{
	struct tach_value v;

	if (tach__self->limit != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		leaf();
	if (!regions_look("leaf", 0))
		return 2;
	if (info.calls != 3)
		return 3; /* starts from zero */
	if (info.threads != 1)
		return 4;
	if (tach_snapshot_value(shot, 0, 1, TACH_PART_INCLUSIVE, &v) == 0 && v.value != 300)
		return 5;
	return 0;
}

static void reap(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

static void parent_is_unaffected(uint64_t calls)
{
	leaf();
	CHECK(regions_look("leaf", 0) && info.calls == calls + 1, "%d", (int)info.calls);
}

static void children(pid_t (*how)(void))
{
	regions_begin(1);
	leaf();
	leaf();
	for (uint64_t round = 0; round < 3; round++) {
		pid_t pid = how();

		if (pid == 0)
			_exit(child());
		reap(pid);
		parent_is_unaffected(2 + round);
	}
}

/* Refusals and overflows of the parent are not counted in the child. */
static int counts_of_a_child(void)
{
	struct tach_counts counts = {0};

	leaf();
	if (!regions_look("leaf", 0))
		return 1;
	tach_snapshot_counts(shot, &counts);
	return counts.refused ? 2 : counts.lost ? 3 : 0;
}

static void refused_and_lost_are_the_parents(void)
{
	pid_t pid;

	regions_begin(1);
	leaf();
	tach__registry.refused += 2;
	tach__registry.lost += 3;
	pid = fork();
	if (pid == 0)
		_exit(counts_of_a_child());
	reap(pid);
	CHECK(refused() >= 2);
	tach__registry.refused -= 2;
	tach__registry.lost -= 3;
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void after_fork(void)
{
	children(fork);
}

static void after_bare_fork(void)
{
	children(_Fork);
}

static void after_raw_clone(void)
{
	children(raw_clone);
}

/*
 * The child shares all memory with the sleeping parent: it changes nothing and measures
 * nothing.
 */
static void after_vfork(void)
{
	regions_begin(1);
	leaf();
	pid_t pid = vfork();
	if (pid == 0) {
		leaf();
		_exit(0);
	}
	reap(pid);
	leaf();
	CHECK(regions_look("leaf", 0) && info.calls >= 2 && info.calls <= 3 &&
	      info.outermost == info.calls);
}

static void fork_of_a_fork_inside_a_region(void)
{
	regions_begin(1);
	TACH_START(open_at_fork);
	leaf();
	pid_t pid = fork();
	if (pid == 0) {
		int status = child();

		TACH_STOP(open_at_fork); /* the parent's open region is dropped, and not
					    reported as a fault */
		if (!status && (regions_look("open_at_fork", 0) || refused() != 0))
			status = 10;
		pid = fork();
		if (pid == 0)
			_exit(status ? status : child());
		if (waitpid(pid, &status, 0) != pid || status != 0)
			_exit(11);
		_exit(0);
	}
	reap(pid);
	TACH_STOP(open_at_fork);
	CHECK(regions_look("open_at_fork", 0) && info.calls == 1);
	CHECK(refused() == 0);
}

static void *come_and_go_inner(void *arg)
{
	leaf();
	return arg;
}

static void *come_and_go(void *arg)
{
	while (!regions_stopped()) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, come_and_go_inner, NULL) == 0)
			pthread_join(thread, NULL);
		tach_snapshot_free(NULL);
		leaf();
	}
	return arg;
}

/* The child works, even if other threads hold locks at the fork. */
static void fork_among_busy_threads(void)
{
	pthread_t thread[3];

	regions_begin(1);
	regions_tell(0);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, come_and_go, NULL);
	while (!regions_look("leaf", 0)) /* on a busy machine the threads may be late */
		sched_yield();
	for (int round = 0; round < 60; round++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(child());
		reap(pid);
		CHECK(regions_look("leaf", 0));
	}
	regions_tell(1);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* Any system call kills the process, even the one that ends it. */
static void forbid_system_calls(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	struct sock_fprog program = {1, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		_exit(77);
}

static void no_system_call_between_start_and_stop(void)
{
	volatile int *reached =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	regions_begin(0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 2; i++) {
			TACH_START(silent);
			TACH_START_FENCED(silent_too);
			if (i == 1)
				*reached = 1;
			TACH_STOP(silent_too);
			TACH_STOP(silent);
			if (i == 0)
				forbid_system_calls();
		}
		*reached = 2;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("no seccomp filters here");
	CHECK(*reached == 2, "killed at step %d", *reached);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "the filter works: %x",
	      status);
	munmap((void *)reached, 4096);
}

static void use_region_late(void)
{
	TACH_SCOPE(late_destructor);
}

/*
 * A separate program that is configured only by the environment, and has a region in a
 * destructor.
 */
static int program(void)
{
	atexit(use_region_late);
	for (int i = 0; i < 7; i++)
		leaf();
	return 0;
}

static const char *self_path;

static int run_with(const char *const *environment, const char *output)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		for (; *environment; environment += 2)
			setenv(environment[0], environment[1], 1);
		setenv("TACH_OUTPUT", output, 1);
		execl(self_path, self_path, "program", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

static const char *file_text(const char *file)
{
	static char text[16384];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void report_at_exit(void)
{
	char file[] = "/tmp/region_process.XXXXXX.csv";
	const char *text;

	close(mkstemps(file, 4));
	CHECK(run_with((const char *const[]){"TACH_ENABLE", "1", "TACH_EVENTS", "", NULL},
		       file) == 0);
	text = file_text(file);
	CHECK(strstr(text, "\"leaf\"") && strstr(text, ",7,7,inclusive"), "%s", text);
	CHECK(strstr(text, "late_destructor"), "%s", text);

	CHECK(run_with((const char *const[]){"TACH_REGIONS", "late*", NULL}, file) == 0);
	text = file_text(file);
	CHECK(!strstr(text, "\"leaf\"") && strstr(text, "late_destructor"), "%s", text);

	unlink(file);
	CHECK(run_with((const char *const[]){"TACH_ENABLE", "0", NULL}, file) == 0);
	CHECK(access(file, F_OK) != 0, "nothing is written when regions are off");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return program();
	self_path = argv[0];
	CASE(after_fork);
	CASE(refused_and_lost_are_the_parents);
	CASE(after_bare_fork);
	CASE(after_raw_clone);
	CASE(after_vfork);
	CASE(fork_of_a_fork_inside_a_region);
	CASE(fork_among_busy_threads);
	CASE(no_system_call_between_start_and_stop);
	CASE(report_at_exit);
	tach_snapshot_free(shot);
	return check_done();
}

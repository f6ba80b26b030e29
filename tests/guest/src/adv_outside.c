/* SPDX-License-Identifier: MIT */
/*
 * Actions of an administrator or a debugger outside the process: they watch it, trace it, move
 * it between groups of processes, freeze it, and start programs next to it.
 */
#include <errno.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include "tests/guest/adversary.h"

enum { STRIKES = 100 };

static void suffer_from(const char *what, void (*strike)(void *), void *arg, int stops)
{
	struct adversary a;
	struct victim v;

	if (victim_open(&v, 0, 0))
		return;
	adversary_start(&a, strike, arg);
	victim_suffer_from(&v, &a, STRIKES, stops);
	victim_verdict(&v, what, adversary_stop(&a));
	victim_close(&v);
}

/* As in perf stat -p: takes all counters on the victim's thread. */
static void watch(void *thread)
{
	struct perf_event_attr attr = adversary_attr(PERF_COUNT_HW_CPU_CYCLES);
	int fd[8];

	attr.pinned = 1;
	for (int i = 0; i < 8; i++)
		fd[i] = adversary_open(&attr, *(pid_t *)thread, -1);
	adversary_sleep(200);
	for (int i = 0; i < 8; i++)
		close(fd[i]);
	adversary_sleep(200);
}

static void watched(void)
{
	pid_t self = getpid();

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	suffer_from("watched", watch, &self, 1);
}

/* Attaches to the process, stops it, steps through some instructions, and detaches. */
static void trace(void *process)
{
	pid_t pid = *(pid_t *)process;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	waitpid(pid, NULL, __WALL);
	for (int i = 0; i < 8 && ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0; i++)
		waitpid(pid, NULL, __WALL);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	adversary_sleep(300);
}

static void traced(void)
{
	pid_t self = getpid();

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	suffer_from("traced", trace, &self, 1);
}

/* Children share this process's memory until they execute a program, which then ends. */
static void start_a_program(void *argv)
{
	pid_t child = vfork();

	if (child == 0) {
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static void programs_beside(void)
{
	char *argv[] = {"adv_outside", "nothing", NULL};
	uint64_t strikes = 0;
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	for (; v.reads < adversary_reads() || strikes < adversary_strikes(200); strikes++) {
		start_a_program(argv);
		victim_suffer(&v, v.reads + adversary_reads() / 200);
	}
	victim_verdict(&v, "concurrent programs", strikes);
	victim_close(&v);
}

/* ---- control groups ---- */

#define GROUPS "/tmp/cgroup"

static int groups_are_there(void)
{
	mkdir(GROUPS, 0755);
	if (mount("cgroup2", GROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		return 0;
	mkdir(GROUPS "/a", 0755);
	mkdir(GROUPS "/b", 0755);
	return access(GROUPS "/b/cgroup.procs", W_OK) == 0;
}

static void move_to(const char *group, pid_t process)
{
	char text[16];

	snprintf(text, sizeof text, "%d", (int)process);
	adversary_write(group, text);
}

static void change_group(void *process)
{
	move_to(GROUPS "/a/cgroup.procs", *(pid_t *)process);
	adversary_sleep(300);
	move_to(GROUPS "/b/cgroup.procs", *(pid_t *)process);
	adversary_sleep(300);
}

static void moved_between_groups(void)
{
	pid_t self = getpid();

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (!groups_are_there())
		SKIP("no control groups");
	suffer_from("moved between groups", change_group, &self, 0);
	move_to(GROUPS "/cgroup.procs", self);
}

static void freeze_and_thaw(void *unused)
{
	(void)unused;
	adversary_write(GROUPS "/a/cgroup.freeze", "1");
	adversary_sleep(300);
	adversary_write(GROUPS "/a/cgroup.freeze", "0");
	adversary_sleep(300);
}

/* The freezing process first leaves the group, so that it is not frozen. */
static void freeze_from_outside(void *unused)
{
	move_to(GROUPS "/cgroup.procs", getpid());
	freeze_and_thaw(unused);
}

static void frozen(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (!groups_are_there())
		SKIP("no control groups");
	move_to(GROUPS "/a/cgroup.procs", getpid());
	suffer_from("frozen", freeze_from_outside, NULL, 1);
	move_to(GROUPS "/cgroup.procs", getpid());
}

/* The set of processors that the victim may use changes while it runs. */
static void change_processors(void *unused)
{
	(void)unused;
	adversary_write(GROUPS "/a/cpuset.cpus", "0");
	adversary_sleep(500);
	adversary_write(GROUPS "/a/cpuset.cpus", "1");
	adversary_sleep(500);
}

static void other_processors(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (sysconf(_SC_NPROCESSORS_CONF) < 2)
		SKIP("one processor");
	if (!groups_are_there() || adversary_write(GROUPS "/cgroup.subtree_control", "+cpuset"))
		SKIP("no control groups with cpusets");
	move_to(GROUPS "/a/cgroup.procs", getpid());
	suffer_from("other processors", change_processors, NULL, 1);
	move_to(GROUPS "/cgroup.procs", getpid());
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	ADVERSARY(watched);
	ADVERSARY(traced);
	ADVERSARY(programs_beside);
	ADVERSARY(moved_between_groups);
	ADVERSARY(frozen);
	ADVERSARY(other_processors);
	return check_done();
}

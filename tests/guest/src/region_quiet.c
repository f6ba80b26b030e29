/* SPDX-License-Identifier: MIT */
/*
 * Measuring with real counters disturbs no other thread. Between START and STOP there is no
 * system call, as a killing filter proves, and snapshots cost the measuring threads almost no
 * instructions.
 */
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

static int begin(const char *events)
{
	struct tach_regions_options opt = {.events = events};
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_regions_configure(&opt, &err);

	CHECK(code == 0, "%s", err.text);
	return code;
}

/* ---- no system call ---- */

enum { HANDLED = 20, ROUNDS = 10000 };

static volatile uint64_t handled;

static void handler(int number)
{
	(void)number;
	TACH_SCOPE(in_handler);
	handled++;
}

/*
 * Runs every kind of START and STOP, `rounds` times and until the handler has run often enough.
 */
static void edges(int rounds, uint64_t signals)
{
	for (int i = 0; i < rounds || handled < signals; i++) {
		TACH_START(plain);
		machine_loop(10);
		{
			TACH_SCOPE_FENCED(fenced);
			TACH_START(nested);
			machine_loop(10);
			TACH_STOP(nested);
		}
		TACH_STOP(plain);
	}
}

/*
 * A system call kills the process, except two: the return from a signal handler, and blocking
 * signals if regions are nested. If the kernel rescheduled the thread during an inner entry,
 * that entry blocks signals while it computes the cost for the enclosing regions.
 */
static int forbid_system_calls(int nested)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nested ? SYS_rt_sigprocmask : -1u, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {5, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

enum { STARTED, SILENT, DONE, OUT };

struct shared {
	volatile int step, enough;
};

static void measure_in_silence(struct shared *shared)
{
	struct itimerval every = {{0, 2000}, {0, 2000}};

	signal(SIGALRM, handler);
	raise(SIGALRM); /* now sites are known and the thread is open */
	edges(2, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	if (forbid_system_calls(1) != 0)
		_exit(77);
	shared->step = SILENT;
	edges(ROUNDS, HANDLED);
	shared->step = DONE;
	syscall(SYS_getppid); /* the filter works */
	shared->step = OUT;
}

static void flat(void)
{
	TACH_START(plain);
	machine_loop(10);
	TACH_STOP(plain);
	TACH_START_FENCED(fenced);
	machine_loop(10);
	TACH_STOP(fenced);
}

/* Runs until the parent has seen enough reschedules. */
static void measure_flat_in_silence(struct shared *shared)
{
	flat();
	if (forbid_system_calls(0) != 0)
		_exit(77);
	shared->step = SILENT;
	while (!shared->enough)
		flat();
	shared->step = DONE;
	syscall(SYS_getppid);
	shared->step = OUT;
}

/* Returns how often the kernel took the processor away from that process. */
static int times_preempted(pid_t process)
{
	char line[128];
	int times = -1;
	FILE *from;

	snprintf(line, sizeof line, "/proc/%d/status", (int)process);
	from = fopen(line, "r");
	while (from && fgets(line, sizeof line, from))
		if (sscanf(line, "nonvoluntary_ctxt_switches: %d", &times) == 1)
			break;
	if (from)
		fclose(from);
	return times;
}

enum { PREEMPTED = 200 };

/* The busy sibling takes the processor from the child between two checks. */
static void watch(struct shared *shared, pid_t child)
{
	int before = -1;
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0 && !shared->enough) {
		if (shared->step == SILENT && before < 0)
			before = times_preempted(child);
		usleep(1000);
		shared->enough = before >= 0 && times_preempted(child) - before >= PREEMPTED;
	}
}

static pid_t sibling(void)
{
	pid_t busy = fork();

	for (; busy == 0;)
		machine_loop(1000);
	return busy;
}

static void silent(const char *events, int nested)
{
	struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t all, first;
	pid_t child, busy;
	int status = 0;

	if (begin(events))
		return;
	/* Two busy processes on one processor preempt each other. */
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	busy = nested ? 0 : sibling();
	child = fork();
	if (child == 0) {
		(nested ? measure_in_silence : measure_flat_in_silence)(shared);
		_exit(0);
	}
	if (!nested) {
		watch(shared, child);
		kill(busy, SIGKILL);
		waitpid(busy, NULL, 0);
	}
	waitpid(child, &status, 0);
	sched_setaffinity(0, sizeof all, &all);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("no seccomp filters here");
	CHECK(shared->step == DONE, "killed at step %d", shared->step);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "status %x", status);
	munmap(shared, sizeof *shared);
}

static void no_system_call_with_1_counter(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	silent("cycles", 1);
	silent("cycles", 0);
}

static void no_system_call_with_4_counters(void)
{
	const char *events = machine_is_arm64() ? "cycles,a=r00,b=r23,c=r24"
						: "instructions,cycles,branches,branch-misses";

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	silent(events, 1);
	silent(events, 0);
}

/*
 * ---- snapshots ---- An emulator's clock is meaningless here, and the interrupts that tell
 * another processor about unmapped memory take an emulator long. So the test measures how many
 * instructions one snapshot costs the measuring threads. A thread with a thousand million
 * instructions per second executes a million between two snapshots at 1 kHz; a snapshot may
 * cost a hundredth of these.
 */

enum { SITES = 100, ENTRIES = 20000, SLEEPERS = 4 };
enum { SNAPSHOTS = 20, COST_MAX = 1000000 / 100 };

static struct tach_site *site[SITES];
static int stop;
static pthread_barrier_t barrier;

static void enter(int entries)
{
	struct tach_region_mark mark = TACH_REGION_MARK_INIT;

	for (int i = 0; i < entries; i++) {
		tach_region_begin(site[i % SITES], &mark);
		machine_loop(100);
		tach_region_end(&mark);
	}
}

static void *sleeper(void *arg)
{
	enter(SITES);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return arg;
}

static void *take_snapshots(void *taken)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct tach_snapshot *shot;

		if (tach_snapshot_take(&shot, NULL) == 0)
			__atomic_fetch_add((uint64_t *)taken, 1, __ATOMIC_RELAXED);
		tach_snapshot_free(shot);
	}
	return NULL;
}

/* Returns the calling thread's user-level instructions while it enters regions. */
static uint64_t instructions_of_entries(struct tach_reader *reader)
{
	uint64_t before[TACH_COUNTERS_MAX], after[TACH_COUNTERS_MAX];

	tach_reader_read(reader, before);
	enter(ENTRIES);
	tach_reader_read(reader, after);
	return after[0] - before[0];
}

static void compare(struct tach_reader *reader)
{
	uint64_t alone, watched = 0, taken = 0;
	pthread_t thread, asleep[SLEEPERS];
	int parts = 0;

	pthread_barrier_init(&barrier, NULL, SLEEPERS + 1);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&asleep[i], NULL, sleeper, NULL);
	pthread_barrier_wait(&barrier);
	enter(2 * SITES);
	alone = instructions_of_entries(reader);
	stop = 0;
	pthread_create(&thread, NULL, take_snapshots, &taken);
	while (parts < SNAPSHOTS) {
		watched += instructions_of_entries(reader);
		parts++;
		/*
		 * Take at least one snapshot for each part, however processors are distributed.
		 */
		while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < (uint64_t)parts)
			usleep(100);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_join(asleep[i], NULL);
	pthread_barrier_destroy(&barrier);
	alone *= (uint64_t)parts;
	printf("# %" PRIu64 " instructions alone, %+" PRId64 " with %d snapshots of %d slots\n",
	       alone, (int64_t)(watched - alone), (int)taken, SITES * (SLEEPERS + 1));
	CHECK(watched <= alone + taken * COST_MAX && watched + taken * COST_MAX >= alone);
}

static void snapshots_cost_writers_nothing(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_reader *reader;
	struct tach_set *set;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	for (int i = 0; i < SITES; i++) {
		char name[16];

		snprintf(name, sizeof name, "site %d", i);
		site[i] = tach_site_get(name);
	}
	opt.events = "instructions";
	if (begin("cycles") || tach_set_create(&opt, &set, NULL) != 0)
		return;
	if (tach_reader_open(set, &reader, NULL) == 0) {
		compare(reader);
		tach_reader_close(reader);
	} else {
		CHECK(0, "no counter beside the region's");
	}
	tach_set_free(set);
}

int main(void)
{
	CASE(no_system_call_with_1_counter);
	CASE(no_system_call_with_4_counters);
	CASE(snapshots_cost_writers_nothing);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * The doctor on a real kernel while the test changes its settings: each setting gives its own
 * verdict.
 */
#include <fcntl.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach/doctor.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { NOBODY = 65534 };

static struct tach_examination *x;

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

static int paranoid(const char *level)
{
	return put("/proc/sys/kernel/perf_event_paranoid", level);
}

static int rdpmc(const char *value)
{
	return put("/sys/bus/event_source/devices/cpu/rdpmc", value);
}

static int user_access(const char *value)
{
	return put("/proc/sys/kernel/perf_user_access", value);
}

/* In a child, because a process keeps its earlier mappings. */
static void examine(uid_t uid, rlim_t memlock)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		struct rlimit limit = {memlock, memlock};

		if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (uid && setuid(uid) != 0))
			_exit(2);
		x->size = sizeof *x;
		_exit(tach_doctor_examine(NULL, x, NULL) != 0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "child's status %#x", (unsigned)status);
}

static const struct tach_finding *found(enum tach_cause cause)
{
	for (uint32_t i = 0; i < x->nfindings; i++)
		if (x->findings[i].cause == cause)
			return &x->findings[i];
	return NULL;
}

static void expect(enum tach_cause cause, enum tach_verdict verdict)
{
	CHECK(found(cause), "no %s", tach_cause_name(cause));
	CHECK(x->verdict == verdict, "%s: verdict %s", tach_cause_name(cause),
	      tach_verdict_name(x->verdict));
	for (uint32_t i = 0; !found(cause) && i < x->nfindings; i++)
		printf("# %s: %s\n", tach_cause_name(x->findings[i].cause),
		       x->findings[i].text);
}

static void a_healthy_machine(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	examine(0, RLIM_INFINITY);
	CHECK(x->verdict == TACH_VERDICT_FAST, "%s", tach_verdict_name(x->verdict));
	for (uint32_t i = 0; i < x->nfindings; i++)
		CHECK(x->findings[i].severity < TACH_SEVERITY_FAIL, "%s", x->findings[i].text);
	if (!machine_is_exact())
		return;
	CHECK(x->loop_counted == x->loop_instructions, "%llu of %llu",
	      (unsigned long long)x->loop_counted, (unsigned long long)x->loop_instructions);
	CHECK(x->loop_user_counted == x->loop_instructions, "%llu of %llu",
	      (unsigned long long)x->loop_user_counted,
	      (unsigned long long)x->loop_instructions);
}

static void no_pmu(void)
{
	if (machine_has_pmu())
		SKIP("the machine has a PMU");
	examine(0, RLIM_INFINITY);
	expect(TACH_CAUSE_NO_VPMU, TACH_VERDICT_CLOCK);
}

static void paranoid_levels(void)
{
	examine(NOBODY, RLIM_INFINITY);
	if (!paranoid("3"))
		SKIP("this kernel takes no paranoid level above 2");
	examine(NOBODY, RLIM_INFINITY);
	expect(TACH_CAUSE_PARANOID, TACH_VERDICT_CLOCK);
	paranoid("2");
	examine(NOBODY, RLIM_INFINITY);
	CHECK(!found(TACH_CAUSE_PARANOID) && found(TACH_CAUSE_PARANOID_KERNEL));
	paranoid("1");
	examine(NOBODY, RLIM_INFINITY);
	CHECK(!found(TACH_CAUSE_PARANOID) && !found(TACH_CAUSE_PARANOID_KERNEL));
	paranoid("3");
	examine(0, RLIM_INFINITY);
	CHECK(!found(TACH_CAUSE_PARANOID), "root is above it");
}

static void rdpmc_values(void)
{
	if (!machine_has_pmu() || machine_is_arm64())
		SKIP("the machine has no x86 PMU");
	rdpmc("0");
	examine(0, RLIM_INFINITY);
	expect(TACH_CAUSE_RDPMC_OFF, TACH_VERDICT_SLOW);
	rdpmc("2");
	examine(0, RLIM_INFINITY);
	expect(TACH_CAUSE_RDPMC_ALL, TACH_VERDICT_FAST);
	rdpmc("1");
	examine(0, RLIM_INFINITY);
	CHECK(x->verdict == TACH_VERDICT_FAST && !found(TACH_CAUSE_RDPMC_ALL));
}

static void user_access_values(void)
{
	if (!machine_has_pmu() || !machine_is_arm64())
		SKIP("the machine has no arm64 PMU");
	user_access("0");
	examine(0, RLIM_INFINITY);
	expect(TACH_CAUSE_USER_ACCESS_OFF, TACH_VERDICT_SLOW);
	user_access("1");
	examine(0, RLIM_INFINITY);
	CHECK(x->verdict == TACH_VERDICT_FAST);
}

static void locked_memory(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	paranoid("2");
	put("/proc/sys/kernel/perf_event_mlock_kb", "0");
	examine(NOBODY, 0);
	expect(TACH_CAUSE_MLOCK, TACH_VERDICT_SLOW);
	put("/proc/sys/kernel/perf_event_mlock_kb", "516");
	examine(NOBODY, 0);
	CHECK(!found(TACH_CAUSE_MLOCK) && x->verdict == TACH_VERDICT_FAST);
}

/* Opens pinned events for all tasks on every CPU, as a system-wide profiler does. */
static void take(int share, uint64_t config, int *fds)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < share * cpus; i++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
					       .size = sizeof attr,
					       .config = config,
					       .pinned = 1,
					       .exclude_hv = 1};

		fds[i] = (int)syscall(SYS_perf_event_open, &attr, -1, i % cpus, -1, 0);
	}
}

static void give_back(int share, int *fds)
{
	for (int i = 0; i < share * (int)sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void taken_by_others(void)
{
	enum { ALL = 16, SOME = 2, CPUS = 8 };
	uint64_t config =
		machine_is_exact() ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES;
	int fds[ALL * CPUS], free;

	if (!machine_has_pmu() || sysconf(_SC_NPROCESSORS_ONLN) > CPUS)
		SKIP("the machine has no PMU");
	examine(0, RLIM_INFINITY);
	free = x->counters_free;
	CHECK(free > 0, "%d free", free);
	take(SOME, config, fds);
	examine(0, RLIM_INFINITY);
	CHECK(x->counters_free == free - SOME, "%d of %d are free", x->counters_free, free);
	give_back(SOME, fds);
	take(ALL, config, fds);
	examine(0, RLIM_INFINITY);
	expect(TACH_CAUSE_TAKEN_ALL, TACH_VERDICT_CLOCK);
	give_back(ALL, fds);
	examine(0, RLIM_INFINITY);
	CHECK(x->verdict == TACH_VERDICT_FAST && x->counters_free == free);
}

static void the_watchdog(void)
{
	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (!put("/proc/sys/kernel/nmi_watchdog", "1"))
		SKIP("this kernel has no NMI watchdog for this machine");
	examine(0, RLIM_INFINITY);
	expect(TACH_CAUSE_WATCHDOG, TACH_VERDICT_FAST);
	put("/proc/sys/kernel/nmi_watchdog", "0");
	examine(0, RLIM_INFINITY);
	CHECK(!found(TACH_CAUSE_WATCHDOG));
}

int main(void)
{
	x = mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (x == MAP_FAILED)
		return 1;
	user_access("1");
	CASE(a_healthy_machine);
	CASE(no_pmu);
	CASE(paranoid_levels);
	CASE(rdpmc_values);
	CASE(user_access_values);
	CASE(locked_memory);
	CASE(taken_by_others);
	CASE(the_watchdog);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* Examines simulated kernels, through the library's internal interface. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include <tach/doctor.h>
#include "core/os/sys.h"
#include "tests/check.h"
#include "tests/root.h"

/* The simulated kernel; all zero is a healthy kernel without reads in user space. */
static struct kernel {
	int open_error;		/* of hardware events */
	int software_error;	/* of software events */
	int instructions_error; /* for this event only */
	int map_error;
	int counters; /* if more pinned events are open, they are in error state; 0 = any number
		       */
	uint64_t step;	  /* growth of the count per read */
	uint64_t surplus; /* added once, at the end of the first long loop */
	int frozen;	  /* enabled and running stay 0 */
} kernel;

static int opened, live;
static uint64_t count;
static struct perf_event_mmap_page page;

/*
 * The doctor reads before and after each of 3 long and 3 short loops: reads 2, 4 and 6 end the
 * long ones.
 */
static int reads;

static long read_event(int fd, uint64_t *to)
{
	if (kernel.counters && fd - 1000 >= kernel.counters)
		return 0;
	reads++;
	count += kernel.step;
	if (reads % 2 == 0 && reads <= 6)
		count += kernel.surplus;
	to[0] = count;
	to[1] = to[2] = kernel.frozen ? 0 : 1000;
	return 24;
}

static long fake(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;

	switch (number) {
	case SYS_perf_event_open:
		if (attr->type == PERF_TYPE_SOFTWARE)
			return kernel.software_error ? -kernel.software_error : 999;
		if (kernel.open_error)
			return -kernel.open_error;
		if (kernel.instructions_error && attr->config == PERF_COUNT_HW_INSTRUCTIONS)
			return -kernel.instructions_error;
		opened++;
		return 1000 + live++;
	case SYS_read:
		return a >= 1000 ? read_event((int)a, (uint64_t *)b) : -EBADF;
	case SYS_mmap:
		if (e < 1000)
			break; /* memory that the library itself keeps */
		return kernel.map_error ? -kernel.map_error : (long)&page;
	case SYS_munmap:
		if ((const void *)a == &page)
			return 0;
		break;
	case SYS_fcntl:
		if (a >= 999 && b == F_DUPFD_CLOEXEC)
			return -EINVAL;
		/* fall through */
	case SYS_ioctl:
		if (a >= 999)
			return 0;
		break;
	case SYS_close:
		live -= a >= 1000;
		if (a >= 999)
			return 0;
		break;
	}
	return tach__sys_real(number, a, b, c, d, e, f);
}

static struct tach_examination x;
static struct tach_doctor_options where;

static void examine(struct kernel k)
{
	kernel = k;
	opened = live = reads = 0;
	count = 0;
	x.size = sizeof x;
	tach__sys = fake;
	CHECK(tach_doctor_examine(&where, &x, NULL) == 0, "refused");
	tach__sys = tach__sys_real;
	CHECK(live == 0, "%d of %d events were left open", live, opened);
}

static void expect(enum tach_cause cause, enum tach_verdict verdict)
{
	int hit = 0;

	for (uint32_t i = 0; i < x.nfindings; i++)
		hit |= x.findings[i].cause == cause;
	CHECK(hit, "no %s", tach_cause_name(cause));
	for (uint32_t i = 0; !hit && i < x.nfindings; i++)
		printf("# %s\n", x.findings[i].text);
	CHECK(x.verdict == verdict, "%s: verdict %s", tach_cause_name(cause),
	      tach_verdict_name(x.verdict));
}

/* Instructions of the examination's loop; see LOOP_LONG in core/doctor/probe.c. */
enum { LOOP = 2000000 };

static void counts_right_by_read(void)
{
	examine((struct kernel){.surplus = LOOP, .step = 20});
	CHECK(x.loop_counted == LOOP && x.loop_instructions == LOOP, "%llu",
	      (unsigned long long)x.loop_counted);
	CHECK(x.verdict == TACH_VERDICT_SLOW, "%s", tach_verdict_name(x.verdict));
}

static void counts_stay_0(void)
{
	examine((struct kernel){.step = 0});
	expect(TACH_CAUSE_COUNT_ZERO, TACH_VERDICT_CLOCK);
}

static void counts_half(void)
{
	examine((struct kernel){.surplus = LOOP / 2});
	expect(TACH_CAUSE_COUNT_WRONG, TACH_VERDICT_CLOCK);
}

static void never_runs(void)
{
	examine((struct kernel){.surplus = LOOP, .frozen = 1});
	CHECK(x.verdict == TACH_VERDICT_CLOCK, "%s", tach_verdict_name(x.verdict));
}

static void no_locked_memory(void)
{
	examine((struct kernel){.surplus = LOOP, .map_error = EPERM});
	expect(TACH_CAUSE_MLOCK, TACH_VERDICT_SLOW);
	examine((struct kernel){.surplus = LOOP, .map_error = ENODEV});
	expect(TACH_CAUSE_MMAP, TACH_VERDICT_SLOW);
}

static void pmu_is_busy(void)
{
	examine((struct kernel){.open_error = EBUSY});
	expect(TACH_CAUSE_TAKEN_ALL, TACH_VERDICT_CLOCK);
}

static void some_counters_are_free(void)
{
	examine((struct kernel){.surplus = LOOP, .counters = 3});
	CHECK(x.counters_free == 3, "%d free", x.counters_free);
}

static void no_event_counts_instructions(void)
{
	examine((struct kernel){.surplus = 1234567, .instructions_error = ENOENT});
	expect(TACH_CAUSE_NO_INSTRUCTIONS, TACH_VERDICT_SLOW);
}

static void refused_altogether(void)
{
	examine((struct kernel){.software_error = EIO});
	expect(TACH_CAUSE_OPEN_OTHER, TACH_VERDICT_CLOCK);
	examine((struct kernel){.software_error = ENFILE});
	expect(TACH_CAUSE_DESCRIPTORS, TACH_VERDICT_CLOCK);
}

/* ---- files of other machines ---- */

static char root[] = "/tmp/tach-doctor.XXXXXX";

static int drop(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Contents of the relevant files; NULL: missing. */
struct files {
	const char *paranoid, *status, *uid_map, *profile, *enforce, *lockdown;
};

static void refused(struct files f, int error, enum tach_cause cause)
{
	const char *const at[] = {"/proc/sys/kernel/perf_event_paranoid",
				  "/proc/self/status",
				  "/proc/self/uid_map",
				  "/proc/self/attr/current",
				  "/sys/fs/selinux/enforce",
				  "/sys/kernel/security/lockdown"};
	const char *const text[] = {f.paranoid, f.status,  f.uid_map,
				    f.profile,	f.enforce, f.lockdown};

	memcpy(root + sizeof root - 7, "XXXXXX", 6);
	CHECK(mkdtemp(root) != NULL);
	where.root = root;
	for (int i = 0; i < 6; i++)
		if (text[i])
			root_put(root, at[i], "%s", text[i]);
	examine((struct kernel){.software_error = error, .open_error = error});
	expect(cause, TACH_VERDICT_CLOCK);
	nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
	where.root = NULL;
}

#define ALL_USERS  "         0          0 4294967295\n"
#define ROOTLESS   "         0       1000          1\n"
#define NOBODY	   "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n"
#define PRIVILEGED "Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n"
#define FILTERED   "Name:\tx\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"

static void in_containers(void)
{
	static const char *const levels[] = {"3\n", "4\n"};

	for (int i = 0; i < 2; i++) {
		refused((struct files){levels[i], NOBODY, ALL_USERS, NULL, NULL, NULL}, EACCES,
			TACH_CAUSE_PARANOID);
		refused((struct files){levels[i], PRIVILEGED, ROOTLESS, NULL, NULL, NULL},
			EACCES, TACH_CAUSE_USER_NAMESPACE);
		refused((struct files){levels[i], FILTERED, ALL_USERS,
				       "docker-default (enforce)\n", NULL, NULL},
			EACCES, TACH_CAUSE_PARANOID);
		refused((struct files){levels[i], PRIVILEGED, ALL_USERS, "mine (enforce)\n",
				       NULL, NULL},
			EACCES, TACH_CAUSE_APPARMOR);
		refused((struct files){levels[i], PRIVILEGED, ALL_USERS, "unconfined\n", NULL,
				       NULL},
			EACCES, TACH_CAUSE_SECURITY_MODULE);
	}
	refused((struct files){"2\n", FILTERED, ROOTLESS, NULL, NULL, NULL}, EPERM,
		TACH_CAUSE_SECCOMP_EPERM);
	refused((struct files){"2\n", FILTERED, ROOTLESS, NULL, NULL, NULL}, ENOSYS,
		TACH_CAUSE_SECCOMP_ENOSYS);
}

static void by_security_modules(void)
{
	refused((struct files){"2\n", NOBODY, ALL_USERS, "system_u:system_r:unconfined_t:s0\n",
			       "1\n", NULL},
		EACCES, TACH_CAUSE_SELINUX);
	refused((struct files){"2\n", NOBODY, ALL_USERS, NULL, "0\n", NULL}, EACCES,
		TACH_CAUSE_SECURITY_MODULE);
	refused((struct files){"2\n", NOBODY, ALL_USERS, NULL, NULL,
			       "none integrity [confidentiality]\n"},
		EPERM, TACH_CAUSE_LOCKDOWN);
	refused((struct files){"2\n", NOBODY, ALL_USERS, NULL, NULL,
			       "none [integrity] confidentiality\n"},
		EPERM, TACH_CAUSE_SECURITY_MODULE);
}

/* ---- settings of regions in the environment ---- */

static void mistyped_settings(void)
{
	setenv("TACH_EVENTS", "cycles,instrutions", 1);
	examine((struct kernel){.surplus = LOOP});
	expect(TACH_CAUSE_EVENTS, TACH_VERDICT_SLOW);
	setenv("TACH_EVENTS", "cycles", 1);
	setenv("TACH_METRICS", "ipc = instructions / cycels", 1);
	examine((struct kernel){.surplus = LOOP});
	expect(TACH_CAUSE_EVENTS, TACH_VERDICT_SLOW);
	unsetenv("TACH_METRICS");
	setenv("TACH_OUTPUT", "/nonexistent/report.json", 1);
	examine((struct kernel){.surplus = LOOP});
	expect(TACH_CAUSE_OUTPUT, TACH_VERDICT_SLOW);
	setenv("TACH_OUTPUT", "-", 1);
	examine((struct kernel){.surplus = LOOP});
	for (uint32_t i = 0; i < x.nfindings; i++)
		CHECK(x.findings[i].cause != TACH_CAUSE_OUTPUT &&
			      x.findings[i].cause != TACH_CAUSE_EVENTS,
		      "%s", x.findings[i].text);
}

int main(void)
{
	CASE(counts_right_by_read);
	CASE(counts_stay_0);
	CASE(counts_half);
	CASE(never_runs);
	CASE(no_locked_memory);
	CASE(pmu_is_busy);
	CASE(some_counters_are_free);
	CASE(no_event_counts_instructions);
	CASE(refused_altogether);
	CASE(in_containers);
	CASE(by_security_modules);
	CASE(mistyped_settings);
	return check_done();
}

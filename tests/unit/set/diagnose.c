/* SPDX-License-Identifier: MIT */
/*
 * The message for an event that the kernel refuses: for each error code, depending on the
 * machine's settings and on other events that open. The test simulates kernel and settings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach.h>
#include <tach/arch.h>
#include "core/os/sys.h"
#include "core/set/diagnose.h"
#include "tests/check.h"

/* ---- simulated settings of the machine ---- */

static struct tach__settings settings;

void tach__settings_read(struct tach__settings *s, const char *root)
{
	CHECK(*root == '\0', "%s", root);
	*s = settings;
}

int32_t tach__setting(const char *root, const char *path)
{
	(void)root, (void)path;
	return TACH__UNREADABLE;
}

/* ---- the simulated kernel, with a result for each of three kinds of events ---- */

enum { CLOCK, CYCLES, OTHERS, KINDS }; /* CLOCK needs the fewest rights */
static int answer[KINDS];
static int whole; /* number of OTHERS that exclude no level */
static int opened, closed;

static long refuse(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	int code;

	closed += number == SYS_close;
	if (number != SYS_perf_event_open)
		return tach__sys_real(number, a, b, c, d, e, f);
	CHECK(attr->disabled && b == 0 && c == -1 && d == -1);
	if (attr->type == PERF_TYPE_SOFTWARE) {
		CHECK(attr->config == PERF_COUNT_SW_TASK_CLOCK);
		code = answer[CLOCK];
	} else if (attr->type == PERF_TYPE_HARDWARE &&
		   attr->config == PERF_COUNT_HW_CPU_CYCLES) {
		code = attr->exclude_kernel ? answer[CYCLES] : whole;
	} else {
		code = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
				       attr->exclude_host || attr->exclude_guest
			       ? answer[OTHERS]
			       : whole;
	}
	/*
	 * The library tries user level, which needs no privilege, unless levels cannot be
	 * separated.
	 */
	if (attr->type == PERF_TYPE_SOFTWARE || !TACH_ARCH_UNDIVIDED)
		CHECK(attr->type == PERF_TYPE_RAW ||
		      (attr->exclude_kernel && attr->exclude_hv && !attr->exclude_user));
	if (code)
		return code;
	opened++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* ---- sentences ---- */

static struct tach_set set;

static void member(uint32_t type, int kernel)
{
	static char name[] = "it";
	struct tach__member *m = &set.member[1];

	memset(m, 0, sizeof *m);
	m->name = name;
	m->attr.type = type;
	m->attr.config = 0xc0;
	m->attr.size = sizeof m->attr;
	m->attr.exclude_kernel = !kernel;
	m->attr.exclude_hv = 1;
	set.count = 3;
}

static void reset_kernel(void)
{
	memset(&settings, 0, sizeof settings);
	settings.paranoid = 2;
	settings.descriptors = 1024;
	memset(answer, 0, sizeof answer);
	whole = 0;
	tach__sys = refuse;
}

static void says(int code, int fit, int alone, int want, const char *text)
{
	struct tach_error err = TACH_ERROR_INIT;
	int got = tach__diagnose_open(code, &set, 1, fit, alone, &err);

	CHECK(got == want && err.code == want && err.column == 0, "%d: %d, want %d", code, got,
	      want);
	CHECK(strcmp(err.text, text) == 0, "%d: %s", code, err.text);
}

static void by_privilege(void)
{
	static const char kernel_level[] =
		"it: user level only: kernel-level counting is refused (paranoid level 2); "
		"only "
		"if you want kernel-level counts: sudo sysctl kernel.perf_event_paranoid=1";
	static const char module[] = "it: perf_event_open is refused with EACCES although "
				     "kernel.perf_event_paranoid "
				     "is %d: a security module does it; look for a denial of "
				     "perf_event in the audit "
				     "log (ausearch -m avc) and allow it in the policy";
	char text[256];

	reset_kernel();
	member(PERF_TYPE_RAW, 1);
	says(-EACCES, 0, 0, TACH_ERR_PERMISSION, kernel_level);
	/* With another setting, or at user level, the message names another cause. */
	settings.paranoid = 1;
	says(-EACCES, 0, 0, TACH_ERR_PERMISSION,
	     "it: the kernel refuses this event, and not all (Permission denied, "
	     "kernel.perf_event_paranoid=1): it may ask for a capability; CAP_PERFMON lifts "
	     "that");
	answer[CLOCK] = -EACCES;
	snprintf(text, sizeof text, module, 1);
	says(-EACCES, 0, 0, TACH_ERR_PERMISSION, text);
	settings.paranoid = 2;
	says(-EACCES, 0, 0, TACH_ERR_PERMISSION, kernel_level);
	says(-EPERM, 0, 0, TACH_ERR_PERMISSION,
	     "it: perf_event_open is refused with EPERM and no seccomp filter is active: a "
	     "sandbox or security module does it; look for a denial of perf_event in the audit "
	     "log (ausearch -m avc) and allow it in the policy");
	member(PERF_TYPE_RAW, 0);
	snprintf(text, sizeof text, module, 2);
	says(-EACCES, 0, 0, TACH_ERR_PERMISSION, text);
	answer[CLOCK] = 0;
	says(-EPERM, 0, 0, TACH_ERR_PERMISSION,
	     "it: the kernel refuses this event, and not all (Operation not permitted, "
	     "kernel.perf_event_paranoid=2): it may ask for a capability; CAP_PERFMON lifts "
	     "that");
	/* If the call does not exist, other opens prove nothing. */
	says(-ENOSYS, 0, 0, TACH_ERR_PERMISSION,
	     "it: this kernel has no perf_event_open (ENOSYS, and no filter is active); boot a "
	     "kernel built with CONFIG_PERF_EVENTS=y");
	tach__sys = tach__sys_real;
}

static void by_machine(void)
{
	static const int codes[] = {-ENOENT, -ENODEV, -ENXIO, -EOPNOTSUPP};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		reset_kernel();
		member(PERF_TYPE_RAW, 0);
		says(codes[i], 0, 0, TACH_ERR_NOTSUPP,
		     "it: this machine's PMU cannot count that");
		answer[CYCLES] = codes[i];
		says(codes[i], 1, 0, TACH_ERR_NOTSUPP,
		     "it: this machine's PMU cannot count that");
		settings.virtual_machine = 1;
		says(codes[i], 0, 0, TACH_ERR_NOHARDWARE,
		     "it: no PMU in this virtual machine: the host gives it no performance "
		     "counters; have the virtual PMU enabled on the host");
		member(PERF_TYPE_MAX, 0);
		says(codes[i], 0, 0, TACH_ERR_NOTSUPP,
		     "it: this machine's PMU cannot count that");
		member(PERF_TYPE_MAX - 1, 0);
		says(codes[i], 0, 0, TACH_ERR_NOHARDWARE,
		     "it: no PMU in this virtual machine: the host gives it no performance "
		     "counters; have the virtual PMU enabled on the host");
	}
	/*
	 * If a PMU cannot exclude levels, this is the cause; some architectures have such PMUs.
	 */
	reset_kernel();
	member(PERF_TYPE_RAW, 0);
	answer[CYCLES] = -EINVAL;
	CHECK(tach__diagnose_open(-ENOENT, &set, 1, 0, 0, NULL) ==
	      (TACH_ARCH_UNDIVIDED ? TACH_ERR_NOTSUPP : TACH_ERR_NOHARDWARE));
	tach__sys = tach__sys_real;
}

static void by_group(void)
{
	reset_kernel();
	member(PERF_TYPE_RAW, 0);
	says(-EINVAL, 1, 1, TACH_ERR_NOCOUNTER,
	     "it: the group is too large for this PMU: the first 1 of 3 events fit together");
	says(-EINVAL, 0, 1, TACH_ERR_INVAL,
	     "it: the kernel does not take this event (invalid argument)");
	says(-EINVAL, 1, 0, TACH_ERR_INVAL,
	     "it: the kernel does not take this event (invalid argument)");
	tach__sys = tach__sys_real;
}

static void other_errors_have_a_cause(void)
{
	char text[256];

	reset_kernel();
	member(PERF_TYPE_RAW, 0);
	says(-EMFILE, 0, 0, -EMFILE,
	     "it: the process's file descriptor limit is reached (1024); raise it with ulimit "
	     "-n: every thread needs one descriptor per event");
	says(-ENFILE, 0, 0, -ENFILE,
	     "it: the system's file descriptor limit is reached (1024); raise it with ulimit "
	     "-n: every thread needs one descriptor per event");
	snprintf(text, sizeof text, "it: perf_event_open failed: %s (errno 16)",
		 strerror(EBUSY));
	says(-EBUSY, 0, 0, -EBUSY, text);
	tach__sys = tach__sys_real;
}

/* A pinned group in error state. */
static void dead_groups(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	reset_kernel();
	member(PERF_TYPE_RAW, 0);
	CHECK(tach__diagnose_dead(&set, &err) == TACH_ERR_NOCOUNTER);
	CHECK(strcmp(err.text,
		     "no counters free for 3 pinned events: another profiler, another "
		     "set of this thread or the host holds them") == 0,
	      "%s", err.text);
	settings.watchdog = 1;
	CHECK(tach__diagnose_dead(&set, &err) == TACH_ERR_NOCOUNTER);
	CHECK(strcmp(err.text, "no counters free for 3 pinned events: the NMI watchdog holds "
			       "one counter of every CPU; sudo sysctl kernel.nmi_watchdog=0 "
			       "sets it free") == 0,
	      "%s", err.text);
	tach__sys = tach__sys_real;
}

static void pages(void)
{
	char text[256];

	reset_kernel();
	settings.memlock_bytes = 8 << 20;
	settings.mlock_kb = 516;
	tach__diagnose_map(-EPERM, text, sizeof text);
	CHECK(strcmp(text,
		     "mapping the event's page is refused: locked memory is used up "
		     "(RLIMIT_MEMLOCK 8192 KiB, kernel.perf_event_mlock_kb 516); raise "
		     "the limit (ulimit -l, or sudo sysctl kernel.perf_event_mlock_kb=N)") == 0,
	      "%s", text);
	tach__diagnose_map(-ENODEV, text, sizeof text);
	CHECK(strcmp(text, "mapping the event's page failed: No such device") == 0, "%s", text);
	/* A message is cut to fit its buffer. */
	memset(text, 'x', sizeof text);
	tach__diagnose_map(-EPERM, text, 12);
	CHECK(strcmp(text, "mapping the") == 0 && text[12] == 'x', "%.20s", text);
#if defined(__x86_64__)
	CHECK(tach__user_read() == TACH__USER_RDPMC);
	tach__diagnose_access(text, sizeof text);
	CHECK(strcmp(text,
		     "user-space reads are switched off: the PMU's rdpmc setting in sysfs "
		     "is 0; echo 1 | sudo tee /sys/bus/event_source/devices/cpu*/rdpmc, "
		     "then start the program again") == 0,
	      "%s", text);
	settings.rdpmc = 1;
	tach__diagnose_access(text, sizeof text);
	CHECK(strcmp(text,
		     "the kernel's page does not offer user-space reads of this event; the "
		     "kernel's PMU driver decides this; a newer kernel may offer it") == 0,
	      "%s", text);
#endif
	tach__sys = tach__sys_real;
}

/*
 * An event that is refused with excluded levels opens without them, or is refused because a
 * capability is missing.
 */
static void levels(void)
{
	static const int taken[] = {0, -EACCES, -EPERM};
	struct perf_event_attr attr;

	reset_kernel();
	for (int level = 0; level < 4; level++) {
		memset(&attr, 0, sizeof attr);
		attr.type = PERF_TYPE_RAW;
		attr.exclude_user = level == 0;
		attr.exclude_kernel = level == 1;
		attr.exclude_hv = level == 2;
		attr.exclude_guest = attr.exclude_host = 1;
		for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
			answer[OTHERS] = -EINVAL;
			whole = taken[i];
			CHECK(tach__cannot_divide(&attr) == (level < 3), "%d %d", level, whole);
			answer[OTHERS] = 0;
			CHECK(!tach__cannot_divide(&attr), "%d %d", level, whole);
			answer[OTHERS] = -ENOENT;
			CHECK(!tach__cannot_divide(&attr), "%d %d", level, whole);
		}
		answer[OTHERS] = whole = -EINVAL;
		CHECK(!tach__cannot_divide(&attr), "%d", level);
	}
	tach__sys = tach__sys_real;
	CHECK(opened > 0 && opened == closed, "%d of %d were closed", closed, opened);
}

int main(void)
{
	unsetenv("TACH_EMULATE");
	CASE(by_privilege);
	CASE(by_machine);
	CASE(by_group);
	CASE(other_errors_have_a_cause);
	CASE(dead_groups);
	CASE(pages);
	CASE(levels);
	return check_done();
}

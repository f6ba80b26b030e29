/* SPDX-License-Identifier: MIT */
/*
 * Counting on boxes: the events that are opened, their processor and group, the values read,
 * and the messages of refusals. The test simulates kernel and sysfs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tach.h>
#include "core/os/sys.h"
#include "core/uncore/uncore.h"
#include "tests/check.h"

static char root[] = "/tmp/tach-boxes.XXXXXX";

static void file(const char *device, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, device);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%s", root, device, name);
	f = fopen(path, "w");
	CHECK(f != NULL, "%s", path);
	if (f) {
		fprintf(f, "%s\n", text);
		fclose(f);
	}
}

/* ---- a kernel ---- */

enum { FD = 1000, OPENED_MAX = 100 };

static struct opened {
	struct perf_event_attr attr;
	long pid, cpu, leader, flags;
	int open, running;
	uint64_t count;
} opened[OPENED_MAX];
static int nopened, nopen;
static int room = 4;		   /* counters of a box */
static long refusal, refuse_after; /* all calls after this number are refused */
static uint64_t enabled = 100, running = 100;
static int short_read;
static long id_shift; /* other than 0: the program has its own events at these numbers */

static int members(long leader)
{
	int n = 1;

	for (int i = 0; i < nopened; i++)
		n += opened[i].leader == leader;
	return n;
}

static long perf_open(const struct perf_event_attr *attr, long pid, long cpu, long leader,
		      long flags)
{
	if (refusal && nopened >= refuse_after)
		return refusal;
	/* As in every driver of boxes (PERF_PMU_CAP_NO_EXCLUDE, kernel/events/core.c). */
	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
	    attr->exclude_idle || attr->exclude_host || attr->exclude_guest)
		return -EINVAL;
	if (leader >= 0 && (leader < FD || members(leader) >= room))
		return -EINVAL;
	if (nopened == OPENED_MAX)
		return -EMFILE;
	opened[nopened] = (struct opened){*attr, pid, cpu, leader,
					  flags, 1,   0,   (uint64_t)(nopened + 1) * 10};
	nopen++;
	return FD + nopened++;
}

static long perf_read(long fd, uint64_t *out, size_t size)
{
	size_t n = 3;

	out[0] = (uint64_t)members(fd);
	out[1] = enabled;
	out[2] = running;
	for (int i = 0; i < nopened; i++)
		if ((i == fd - FD || opened[i].leader == fd) && n < size / sizeof *out)
			out[n++] = opened[fd - FD].running ? opened[i].count : 0;
	return short_read ? 8 : (long)(n * sizeof *out);
}

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	int ours = a >= FD && a < FD + nopened;

	if (number == SYS_perf_event_open)
		return perf_open((const struct perf_event_attr *)a, b, c, d, e);
	if (number == SYS_read && ours)
		return perf_read(a, (uint64_t *)b, (size_t)c);
	/* tests/unit/reader/descriptors tests their numbers. */
	if (number == SYS_fcntl && ours)
		return -EINVAL;
	if (number == SYS_ioctl && ours && (unsigned long)b == PERF_EVENT_IOC_ID) {
		*(uint64_t *)c = opened[a - FD].open ? (uint64_t)(a + id_shift) : 0;
		return 0;
	}
	if (number == SYS_ioctl && ours) {
		CHECK(c == PERF_IOC_FLAG_GROUP && opened[a - FD].leader == -1);
		opened[a - FD].running = b == PERF_EVENT_IOC_ENABLE;
		return 0;
	}
	if (number == SYS_close && ours) {
		CHECK(opened[a - FD].open, "closed twice");
		opened[a - FD].open = 0;
		nopen--;
		return 0;
	}
	return tach__sys_real(number, a, b, c, d, e, f);
}

static struct tach_error err = TACH_ERROR_INIT;

static int open_events(const char *events, struct tach_uncore **u)
{
	struct tach_uncore_options opt = TACH_UNCORE_OPTIONS_INIT;

	opt.events = events;
	opt.sysfs = root;
	nopened = nopen = 0;
	errno = 4711;
	int code = tach_uncore_open(&opt, u, &err);
	CHECK(errno == 4711, "%s: errno %d", events, errno);
	CHECK(code == 0 || (nopen == 0 && !*u), "%s: %d left open", events, nopen);
	return code;
}

static struct tach_uncore *must(const char *events)
{
	struct tach_uncore *u = NULL;

	CHECK(open_events(events, &u) == 0, "%s: column %d: %s", events, err.column, err.text);
	return u;
}

/* ---- cases ---- */

/* Each socket's processor counts for its boxes, not for a process. */
static void one_box(void)
{
	struct tach_uncore *u = must("rd=skx_unc_imc0::UNC_M_CAS_COUNT:RD");
	uint64_t value = 0;
	uint32_t flags = 0;

	if (!u)
		return;
	CHECK(tach_uncore_count(u) == 1 && strcmp(tach_uncore_name(u, 0), "rd") == 0);
	CHECK(!tach_uncore_name(u, 1) && !tach_uncore_name(u, -1));
	CHECK(nopened == 2 && tach_uncore_counters(u, 0) == 2 && !tach_uncore_counters(u, 1));
	for (int i = 0; i < 2; i++) {
		CHECK(opened[i].pid == -1 && opened[i].cpu == (i ? 28 : 0) &&
			      opened[i].leader == -1 && opened[i].flags == PERF_FLAG_FD_CLOEXEC,
		      "%ld %ld", opened[i].pid, opened[i].cpu);
		CHECK(opened[i].attr.type == 20 && opened[i].attr.config == 0x304 &&
			      opened[i].attr.disabled && !opened[i].attr.inherit &&
			      !opened[i].attr.exclude_kernel && !opened[i].attr.sample_period,
		      "%#llx", (unsigned long long)opened[i].attr.config);
	}
	tach_uncore_read(u, &value, NULL);
	CHECK(value == 0, "nothing counts before it is started");
	CHECK(tach_uncore_start(u) == 0);
	CHECK(tach_uncore_read(u, &value, &flags) == TACH_FLAG_SYSCALL &&
	      flags == TACH_FLAG_SYSCALL && value == 30);
	CHECK(tach_uncore_stop(u) == 0 && !opened[0].running && !opened[1].running);
	tach_uncore_close(u);
	CHECK(nopen == 0);
	tach_uncore_close(NULL);
}

static void all_boxes(void)
{
	static const char *const strings[] = {
		"skx_unc_imc*::UNC_M_CAS_COUNT:RD",
		"SKX_UNC_IMC*::unc_m_cas_count:rd",
		"uncore_imc_*/event=4,umask=3/",
	};

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		struct tach_uncore *u = must(strings[i]);
		uint64_t value = 0, sum = 0;
		int types[3] = {0};

		if (!u)
			continue;
		CHECK(nopened == 6 && tach_uncore_counters(u, 0) == 6, "%s: %d", strings[i],
		      nopened);
		CHECK(strcmp(tach_uncore_name(u, 0), strings[i]) == 0);
		for (int k = 0; k < nopened; k++) {
			CHECK(opened[k].attr.config == 0x304 && opened[k].leader == -1);
			if (opened[k].attr.type - 20 < 3)
				types[opened[k].attr.type - 20]++;
			sum += opened[k].count;
		}
		CHECK(types[0] == 2 && types[1] == 2 && types[2] == 2);
		tach_uncore_start(u);
		tach_uncore_read(u, &value, NULL);
		CHECK(value == sum, "%llu", (unsigned long long)value);
		tach_uncore_close(u);
	}
}

/*
 * A box counts as many events at a time as it has counters; the others follow in further
 * groups.
 */
static void full_group_is_followed_by_another(void)
{
	struct tach_uncore *u;
	uint64_t value[3] = {0};

	room = 2;
	u = must("a=skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=5, "
		 "b=skx_unc_imc0::UNC_M_CAS_COUNT:WR:cpu=5 "
		 "c=skx_unc_imc0::UNC_M_ACT_COUNT:RD:cpu=5\n"
		 "d=skx_unc_imc1::UNC_M_CAS_COUNT:RD:cpu=5");
	room = 4;
	if (!u)
		return;
	CHECK(nopened == 4 && opened[0].leader == -1 && opened[1].leader == FD &&
		      opened[2].leader == -1 && opened[3].leader == -1,
	      "%d events", nopened);
	CHECK(opened[0].cpu == 5 && opened[3].cpu == 5 && opened[3].attr.type == 21);
	CHECK(opened[0].attr.disabled && !opened[1].attr.disabled);
	tach_uncore_close(u);

	u = must("a=skx_unc_imc0::UNC_M_CAS_COUNT:RD,b=skx_unc_imc*::UNC_M_CAS_COUNT:WR");
	if (!u)
		return;
	tach_uncore_start(u);
	tach_uncore_read(u, value, NULL);
	CHECK(value[0] == 10 + 20 && value[1] == 30 + 40 + 50 + 60 + 70 + 80, "%llu %llu",
	      (unsigned long long)value[0], (unsigned long long)value[1]);
	tach_uncore_close(u);
}

static void provenance(void)
{
	struct tach_uncore *u = must("skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0,"
				     "skx_unc_imc1::UNC_M_CAS_COUNT:RD:cpu=0");
	uint64_t value[2] = {0};
	uint32_t flags[2] = {0};

	if (!u)
		return;
	tach_uncore_start(u);
	running = 25;
	tach_uncore_read(u, value, flags);
	CHECK(flags[0] == (TACH_FLAG_SYSCALL | TACH_FLAG_SCALED) && value[0] == 40);
	running = 0;
	tach_uncore_read(u, value, flags);
	CHECK(flags[1] == (TACH_FLAG_SYSCALL | TACH_FLAG_LOST) && value[1] == 0);
	running = 100;
	short_read = 1;
	CHECK(tach_uncore_read(u, value, flags) & TACH_FLAG_LOST && value[0] == 0);
	short_read = 0;
	tach_uncore_close(u);
}

/* If another file of the program has one of our numbers, it is not read, changed or closed. */
static void file_with_our_number_is_left_alone(void)
{
	struct tach_uncore *u;
	uint64_t value[1];
	int before;

	CHECK(open_events("uncore_imc_0/event=4/", &u) == 0);
	CHECK(tach_uncore_start(u) == 0 && opened[nopened - 1].running);
	id_shift = 1;
	CHECK(tach_uncore_stop(u) == -EBADF && opened[nopened - 1].running);
	CHECK(tach_uncore_read(u, value, NULL) & TACH_FLAG_LOST && value[0] == 0);
	before = nopen;
	tach_uncore_close(u);
	CHECK(nopen == before, "%d of the program's events closed", before - nopen);
	for (int i = 0; i < nopened; i++)
		opened[i].open = 0;
	nopen = 0;
	id_shift = 0;
}

static void refused_strings(void)
{
	static const struct {
		const char *events, *says;
		int code, column;
	} bad[] = {
		{"", "no events", TACH_ERR_INVAL, 0},
		{"a=uncore_pcu/config=1/,a=uncore_pcu/config=2/", "names two events",
		 TACH_ERR_INVAL, 24},
		{"a=", "missing after", TACH_ERR_SYNTAX, 3},
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RD, skx_unc_imc0::UNC_M_CAS_COUNT:RDD",
		 "did you mean RD", TACH_ERR_ATTR, 65},
		{"skx_unc_imc*::UNC_M_CAS_COUNT:RDD", "did you mean RD", TACH_ERR_ATTR, 31},
		{"nosuch_unc*::UNC_M_CAS_COUNT:RD", "tach list --uncore", TACH_ERR_NOTFOUND, 1},
		{"uncore_qpi_*/event=1/", "no boxes are called", TACH_ERR_NOTFOUND, 1},
		{"skx_unc_cha*::UNC_CHA_CLOCKTICKS", "the kernel has no PMU uncore_cha_",
		 TACH_ERR_NOTSUPP, 1},
		{"x=skx_unc_imc0::UNC_M_CAS_COUNT:RD:period=9", "counted, not sampled",
		 TACH_ERR_NOTSUPP, 3},
		{"skx_unc_upi0::UNC_UPI_CLOCKTICKS", ":cpu=N", TACH_ERR_NOTSUPP, 1},
		{"page-faults", "use it in a set", TACH_ERR_NOTSUPP, 1},
		{"uncore_upi_0/config=1/", "use it in a set", TACH_ERR_NOTSUPP, 1},
		{"rapl::RAPL_ENERGY_PKG", "the kernel has no", TACH_ERR_NOTSUPP, 1},
	};
	struct tach_uncore *u;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int code = open_events(bad[i].events, &u);

		CHECK(code == bad[i].code && err.code == code, "%s: %d %s", bad[i].events, code,
		      err.text);
		CHECK(strstr(err.text, bad[i].says) && err.column == bad[i].column,
		      "%s: column %d: %s", bad[i].events, err.column, err.text);
	}
	CHECK(tach_uncore_open(NULL, &u, &err) == TACH_ERR_INVAL && !u);
	CHECK(open_events(NULL, &u) == TACH_ERR_INVAL);
}

static void refused_opens(void)
{
	static const struct {
		long refusal;
		int code;
		const char *says;
	} bad[] = {
		{-ENODEV, TACH_ERR_NOTSUPP, "processor 0 is not there"},
		{-EINVAL, TACH_ERR_NOTSUPP, "does not take this event"},
		{-EMFILE, -EMFILE, "ulimit -n"},
		{-ENOMEM, TACH_ERR_NOMEM, ""},
	};
	struct tach_uncore *u;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		refusal = bad[i].refusal;
		refuse_after = 2;
		CHECK(open_events("skx_unc_imc*::UNC_M_CAS_COUNT:RD", &u) == bad[i].code,
		      "%ld: %s", refusal, err.text);
		CHECK(strstr(err.text, bad[i].says), "%s", err.text);
	}
	refuse_after = 0;
	refusal = -EACCES;
	CHECK(open_events("skx_unc_imc0::UNC_M_CAS_COUNT:RD", &u) == TACH_ERR_PERMISSION);
	CHECK(*err.text && err.column == 1);
	refusal = 0;
}

/* The privilege that boxes need. */
static void missing_privilege_is_named(void)
{
	static const struct {
		struct tach__settings s;
		int refusal;
		const char *says, *cure;
	} bad[] = {
		{{.paranoid = 2},
		 -EACCES,
		 "CAP_PERFMON (kernel.perf_event_paranoid is 2)",
		 "kernel.perf_event_paranoid=0"},
		{{.paranoid = 1},
		 -EACCES,
		 "CAP_PERFMON (kernel.perf_event_paranoid is 1)",
		 "setcap cap_perfmon"},
		{{.paranoid = 2, .capable = 1, .user_namespace = 1},
		 -EACCES,
		 "of the host's root",
		 "kernel.perf_event_paranoid=0"},
		{{.paranoid = 0}, -EACCES, "a security module", "audit"},
		{{.paranoid = 0, .selinux = 1}, -EACCES, "SELinux", "ausearch"},
		{{.paranoid = 0, .seccomp = 2}, -EPERM, "seccomp", "profile"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK(tach__uncore_refused(bad[i].refusal, "energy", 0, &bad[i].s, &err) ==
		      TACH_ERR_PERMISSION);
		CHECK(strncmp(err.text, "energy: ", 8) == 0 && strstr(err.text, bad[i].says) &&
			      strstr(err.text, bad[i].cure),
		      "%s", err.text);
	}
}

/* An event without a box means all boxes of its kind; boxes need not be numbered. */
static void event_without_a_box_means_all_boxes(void)
{
	struct tach_uncore *u = must("pcu=skx_unc_pcu::UNC_P_CLOCKTICKS,uncore_pcu/config=1/");

	if (!u)
		return;
	CHECK(nopened == 4 && opened[0].leader == -1 && opened[2].leader == FD);
	CHECK(strcmp(tach_uncore_name(u, 1), "uncore_pcu/config=1/") == 0);
	tach_uncore_close(u);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 1;
	for (int i = 0; i < 3; i++) {
		char name[32], type[16];

		snprintf(name, sizeof name, "uncore_imc_%d", i);
		snprintf(type, sizeof type, "%d", 20 + i);
		file(name, "type", type);
		file(name, "cpumask", "0,28");
		mkdir(strcat(strcat(strcpy(command, root), "/"), name), 0700);
		strcat(command, "/format");
		mkdir(command, 0700);
		file(name, "format/event", "config:0-7");
		file(name, "format/umask", "config:8-15");
	}
	file("uncore_upi_0", "type", "30");
	file("uncore_imc_free_running", "type", "31");
	file("uncore_imc_free_running", "cpumask", "0");
	file("uncore_pcu", "type", "32");
	file("uncore_pcu", "cpumask", "0-1");
	tach__sys = kernel;
	CASE(one_box);
	CASE(all_boxes);
	CASE(full_group_is_followed_by_another);
	CASE(provenance);
	CASE(file_with_our_number_is_left_alone);
	CASE(refused_strings);
	CASE(refused_opens);
	CASE(missing_privilege_is_named);
	CASE(event_without_a_box_means_all_boxes);
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	CHECK(system(command) == 0);
	return check_done();
}

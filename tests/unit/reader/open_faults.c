/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing readers if the kernel refuses: every system call fails once, in every
 * possible way; nothing leaks, and the message names cause and remedy. The kernel is simulated:
 * hardware events open as software events, and the test makes their pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/reader/reader.h"
#include "core/os/sys.h"
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/unit/reader/pretended.h"

static struct {
	long calls, fail_at; /* number of the call that gives `error`; -1: none */
	long error;
	long refused; /* system call number of the call that failed */
	long number;  /* if not -1: every call with this number returns `error` */
	int fit;      /* hardware events that fit a group; one more gives EINVAL */
	int dead;     /* read(2) of a hardware group gives 0 bytes */
	int mediated; /* set: hardware events cannot count in guests: EOPNOTSUPP */
	unsigned width;
} kernel;

/* Anonymous memory in place of perf's page, with the content that the kernel would write. */
static long map_page(long at, long size, long flags)
{
	long got = tach__sys_real(SYS_mmap, at, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | (flags & MAP_FIXED), -1, 0);
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)got;

	page->lock = 2;
	page->index = 1;
	page->cap_user_rdpmc = 1;
	page->pmc_width = (uint16_t)kernel.width;
	return got;
}

static long open_event(const struct perf_event_attr *attr, long group)
{
	int counts_guests = attr->type != PERF_TYPE_SOFTWARE && !attr->exclude_guest;

	if (kernel.mediated && counts_guests)
		return -EOPNOTSUPP;
	return pretended_open(attr, group, kernel.fit);
}

static long pretend(long number, long a, long b, long c, long d, long e, long f)
{
	if (kernel.calls == kernel.fail_at)
		kernel.refused = number;
	if (kernel.calls++ == kernel.fail_at || number == kernel.number)
		return kernel.error;
	if (number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)a, d);
	if (number == SYS_mmap && pretends(e))
		return map_page(a, b, d);
	if (number == SYS_read && pretends(a) && kernel.dead)
		return 0;
	if (number == SYS_fcntl)
		return pretended_move(a, b, c);
	if (number == SYS_close && pretends(a))
		pretended[a] = 0;
	return tach__sys_real(number, a, b, c, d, e, f);
}

static struct tach_error err;
static struct tach_set *set;

static void start(const char *events)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	memset(&kernel, 0, sizeof kernel);
	memset(pretended, 0, sizeof pretended);
	memset(&err, 0, sizeof err);
	kernel.fail_at = -1;
	kernel.number = -1;
	kernel.width = PRETENDED_WIDTH;
	opt.events = events;
	tach__sys = tach__sys_real;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	tach__sys = pretend;
}

static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	for (int c; (c = fgetc(f)) != EOF;)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Opens, reads, closes; returns the code of opening. */
static int once(void)
{
	struct tach_reader *reader = (struct tach_reader *)&err;
	int code;

	errno = 4711;
	code = tach_reader_open(set, &reader, &err);
	CHECK(errno == 4711, "errno is %d", errno);
	CHECK((code == 0) == (reader != NULL), "code %d", code);
	CHECK(code == 0 || (code == err.code && err.text[0]), "code %d, %d: '%s'", code,
	      err.code, err.text);
	CHECK(err.line == 0 && err.column == 0, "'%s' has a place", err.text);
	tach_reader_close(reader);
	return code;
}

static int available(void)
{
	start("page-faults");
	kernel.fail_at = -1;
	if (once() == 0)
		return 1;
	tach_set_free(set);
	return 0;
}

static void every_call_fails_once(void)
{
	static const long errors[] = {-ENOMEM, -EPERM,	-EACCES, -EMFILE,
				      -EINVAL, -ENODEV, -EIO};
	int fds, maps;
	long calls;

	if (!available())
		SKIP(err.text);
	tach_set_free(set);
	start("cycles instructions page-faults");
	once(); /* objects that a process makes only once exist after this */
	kernel.calls = 0;
	CHECK(once() == 0, "%s", err.text);
	calls = kernel.calls;
	fds = descriptors();
	maps = mappings();
	for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
		for (long at = 0; at < calls + 2; at++) {
			kernel.calls = 0;
			kernel.fail_at = at;
			kernel.error = errors[e];
			once();
			/* If close or munmap is refused, what stays open is not our leak. */
			kernel.fail_at = -1;
			if (descriptors() != fds) {
				CHECK(descriptors() == fds + 1 &&
					      (kernel.refused == SYS_close || at > calls / 2),
				      "call %ld, error %ld: %d descriptors", at, errors[e],
				      descriptors() - fds);
				fds = descriptors();
			}
			if (mappings() > maps) {
				CHECK(at > calls / 2, "call %ld, error %ld: %d mappings", at,
				      errors[e], mappings() - maps);
				maps = mappings();
			}
		}
	tach_set_free(set);
}

/* Checks the message if every call of one kind fails in this way. */
static void says(const char *events, long number, long error, int want, const char *words)
{
	int code;

	start(events);
	kernel.number = number;
	kernel.error = error;
	code = once();
	CHECK(code == want && strstr(err.text, words), "%ld: %d, '%s'", error, code, err.text);
	tach_set_free(set);
}

static void refusals_are_explained(void)
{
	says("cycles", SYS_perf_event_open, -EACCES, TACH_ERR_PERMISSION,
	     "perf_event_paranoid");
	says("cycles:u:k", SYS_perf_event_open, -EACCES, TACH_ERR_PERMISSION,
	     "perf_event_paranoid");
	says("cycles", SYS_perf_event_open, -EPERM, TACH_ERR_PERMISSION, "(ausearch");
	says("cycles", SYS_perf_event_open, -ENOSYS, TACH_ERR_PERMISSION, "CONFIG_PERF_EVENTS");
	says("cycles", SYS_perf_event_open, -ENOENT, TACH_ERR_NOHARDWARE, "PMU");
	says("cycles", SYS_perf_event_open, -ENODEV, TACH_ERR_NOHARDWARE, "PMU");
	says("cycles", SYS_perf_event_open, -EMFILE, -EMFILE, "ulimit -n");
	says("cycles", SYS_perf_event_open, -EINVAL, TACH_ERR_INVAL, "cycles");
	says("cycles", SYS_perf_event_open, -EBUSY, -EBUSY, "perf_event_open");
	says("cycles", SYS_read, -EIO, -EIO, "cannot read the group");
	says("page-faults", SYS_mmap, -ENOMEM, TACH_ERR_NOMEM, "memory");
}

static void a_group_too_large_says_what_fits(void)
{
	if (!available())
		SKIP(err.text);
	tach_set_free(set);
	start("cycles instructions branches");
	kernel.fit = 2;
	CHECK(once() == TACH_ERR_NOCOUNTER && strstr(err.text, "2 of 3"), "%s", err.text);
	kernel.fit = 0;
	kernel.dead = 1;
	CHECK(once() == TACH_ERR_NOCOUNTER && strstr(err.text, "no counters free"), "%s",
	      err.text);
	tach_set_free(set);
}

/*
 * Linux 7.0: while virtual machines have the PMU, no event may count in them. Event strings
 * exclude guests anyway; a caller's attr may include them.
 */
static void guests_are_left_out_where_they_have_the_pmu(void)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
					     .size = sizeof attr,
					     .exclude_kernel = 1,
					     .exclude_hv = 1};
	const struct tach_set_member member = {"cycles", &attr};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	if (!available())
		SKIP(err.text);
	tach_set_free(set);
	opt.attrs = &member;
	opt.nattrs = 1;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	kernel.mediated = 1;
	CHECK(once() == 0, "%s", err.text);
	kernel.error = -EOPNOTSUPP;
	kernel.number = SYS_perf_event_open;
	CHECK(once() == TACH_ERR_NOHARDWARE, "%s", err.text);
	tach_set_free(set);
}

/* If a page cannot be mapped, reading is slower, but otherwise the same. */
static void without_pages_it_reads_by_system_call(void)
{
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[2];

	if (!available())
		SKIP(err.text);
	tach_set_free(set);
	start("cycles page-faults");
	kernel.fail_at = -1;
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	CHECK(tach_reader_missing(reader)[0] == '\0', "%s", tach_reader_missing(reader));
	tach_reader_close(reader);
	for (long at = 0; at < 64; at++) {
		kernel.calls = 0;
		kernel.fail_at = at;
		kernel.error = -EPERM;
		if (tach_reader_open(set, &reader, &err))
			continue;
		if (strstr(tach_reader_missing(reader), "perf_event_mlock_kb")) {
			CHECK(!reader->fast);
			tach_reader_begin(reader, &mark);
			CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL);
			CHECK(tach_reader_flags(reader, 1, 0) == TACH_FLAG_SYSCALL);
			tach_reader_close(reader);
			tach_set_free(set);
			return;
		}
		tach_reader_close(reader);
	}
	CHECK(0, "no call of these maps a page");
	tach_set_free(set);
}

/* Modular sums need 40 bits; counters of other widths are sign-extended out of line. */
static void widths_decide_the_way(void)
{
	static const unsigned widths[] = {0, 32, 39, 40, 48, 64};
	struct tach_reader *reader;

	if (!available())
		SKIP(err.text);
	tach_set_free(set);
	start("cycles instructions");
	for (int i = 0; i < 6; i++) {
		struct tach__reader *r;

		kernel.width = widths[i];
		CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
		r = tach__reader(reader);
		if (TACH_MODULAR && widths[i] >= 40 && widths[i] < 64)
			CHECK(reader->mask == ((uint64_t)1 << widths[i]) - 1 && !r->extend);
		else
			CHECK(reader->mask == ~(uint64_t)0 && (TACH_MODULAR || r->extend),
			      "%u bits", widths[i]);
		if (widths[i] == 0)
			CHECK(TACH_PAGE(reader, 0)->index == 0 && !reader->fast);
#if TACH_MODULAR /* otherwise both are the same page */
		if (widths[i] > 0 && widths[i] < 40)
			CHECK(r->extend && TACH_PAGE(reader, 0)->index == 0 &&
			      reader->way[0].page->index == 1);
#endif
		tach_reader_close(reader);
	}
	tach_set_free(set);
}

static void bad_arguments_are_refused(void)
{
	struct tach_reader *reader;

	CHECK(tach_reader_open(set, NULL, NULL) == TACH_ERR_INVAL);
	err.line = err.column = 1;
	CHECK(tach_reader_open(NULL, &reader, &err) == TACH_ERR_INVAL);
	CHECK(err.line == 0 && err.column == 0);
	tach_reader_close(NULL);
}

int main(void)
{
	CASE(every_call_fails_once);
	CASE(refusals_are_explained);
	CASE(a_group_too_large_says_what_fits);
	CASE(guests_are_left_out_where_they_have_the_pmu);
	CASE(without_pages_it_reads_by_system_call);
	CASE(widths_decide_the_way);
	CASE(bad_arguments_are_refused);
	return check_done();
}

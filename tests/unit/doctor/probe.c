/* SPDX-License-Identifier: MIT */
/* The doctor opens and reads events of a simulated kernel, checked call by call. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach/reader.h>
#include "core/doctor/evidence.h"
#include "core/os/sys.h"
#include "core/set/set.h"
#include "tests/check.h"

#if defined(__x86_64__)

/*
 * The doctor opens events in this order: two software events, the counted one, a trial, the
 * reader's event, and then events to find how many counters are free.
 */
enum { FIRST = 1000, MOST = 64, LOOP = 2000000, FREE = 5, READER = FIRST + 4 };

/* All zero: every open succeeds, and only loops count. */
static struct kernel {
	int refuse_kernel, refuse_instructions, refuse_cycles, map_error;
	int room; /* events after this number are in error state; 0: no event is */
	int most; /* number of events that may be open; 0: any number */
	int user_read;
	int broken; /* number of reads of the counted event that succeed, plus one */
	uint64_t loop, step, enabled, once; /* once: extra count in the first loop */
	/* user access is requested in config1; number of known bits */
	int asks, grants;
	int undivided; /* privilege levels cannot be excluded */
	int no_levels; /* they cannot be counted together either */
	/* Six loops, the short ones first: results of user-space reads, or NULL. */
	const uint64_t *user;
	uint32_t user_flags; /* of the fourth */
} kernel;

static char said[4000];
static int following, live, unmapped, ended, reads[MOST];
static struct perf_event_mmap_page shown;

/* First event: 3 long loops, 3 short ones, each between two reads. */
static uint64_t counted_at(int fd)
{
	int n = ++reads[fd - FIRST];

	return (uint64_t)n * kernel.step + (uint64_t)(n < 6 ? n / 2 : 3) * kernel.loop +
	       (n > 1 ? kernel.once : 0);
}

static long open_event(const struct perf_event_attr *attr)
{
	int software = attr->type == PERF_TYPE_SOFTWARE;

	if (software || attr->pinned)
		sprintf(said + strlen(said), "%u:%llu:%llu%s%s%s %llu\n", attr->type,
			(unsigned long long)attr->config, (unsigned long long)attr->config1,
			attr->pinned ? " pinned" : "", attr->exclude_kernel ? "" : " kernel",
			attr->exclude_hv ? "" : " hypervisor",
			(unsigned long long)attr->read_format);
	if (software && !attr->exclude_kernel && kernel.refuse_kernel)
		return -kernel.refuse_kernel;
	if (!software && attr->config == PERF_COUNT_HW_INSTRUCTIONS &&
	    kernel.refuse_instructions)
		return -kernel.refuse_instructions;
	if (!software && attr->config == PERF_COUNT_HW_CPU_CYCLES && kernel.refuse_cycles)
		return -kernel.refuse_cycles;
	if (!software && attr->pinned && (int)attr->config1 > kernel.grants)
		return -EINVAL;
	if (!software && kernel.undivided &&
	    (kernel.no_levels || attr->exclude_kernel || attr->exclude_hv))
		return -EINVAL;
	if (following - FIRST >= MOST || (kernel.most && live >= kernel.most))
		return -EMFILE;
	live++;
	return following++;
}

static long fake(long number, long a, long b, long c, long d, long e, long f)
{
	uint64_t *to = (uint64_t *)b;

	switch (number) {
	case SYS_perf_event_open:
		CHECK(b == 0 && c == -1 && d == -1, "of %ld, on %ld, led by %ld", b, c, d);
		return open_event((const struct perf_event_attr *)a);
	case SYS_read:
		if (kernel.broken && a == FIRST + 2 && reads[2] == kernel.broken - 1)
			return 0;
		if (kernel.room && a - FIRST >= kernel.room + FREE)
			return 0;
		if (a == READER && c > 24) {
			to[0] = 1; /* a group of one */
			to[1] = to[2] = kernel.enabled;
			to[3] = counted_at((int)a);
			return 32;
		}
		to[0] = counted_at((int)a);
		to[1] = to[2] = kernel.enabled;
		return 24;
	case SYS_mmap:
		if (e < FIRST)
			break;
		return kernel.map_error ? -kernel.map_error : (long)&shown;
	case SYS_munmap:
		if ((const void *)a == &shown) {
			unmapped++;
			return 0;
		}
		break;
	case SYS_fcntl:
		if (a >= FIRST)
			return -EINVAL;
		break;
	case SYS_ioctl:
		if (a >= FIRST)
			return 0;
		break;
	case SYS_close:
		CHECK(a >= FIRST && a < following, "%ld", a);
		live--;
		return 0;
	}
	return tach__sys_real(number, a, b, c, d, e, f);
}

static enum tach__user_read user_read(void)
{
	return kernel.asks ? TACH__USER_MRS : tach__user_read();
}

/* Simulates instructions that read counters, which belong to this processor. */
static uint32_t user_end(struct tach_reader *reader, const struct tach_mark *mark,
			 uint64_t *delta)
{
	if (!kernel.user)
		return tach_reader_end(reader, mark, delta);
	*delta = kernel.user[ended++];
	return ended == 4 ? kernel.user_flags : 0;
}

#define tach__user_read() user_read()
#define tach_reader_end	  user_end
#undef TACH_ARCH_UNDIVIDED
#define TACH_ARCH_UNDIVIDED kernel.undivided
#include "core/doctor/probe.c"

static struct tach__evidence attempted(struct kernel k)
{
	struct tach__evidence e;

	memset(&e, 0, sizeof e);
	e.counters_free = -1;
	kernel = k;
	following = FIRST;
	live = unmapped = ended = 0;
	memset(reads, 0, sizeof reads);
	said[0] = '\0';
	shown.cap_user_rdpmc = k.user_read != 0;
	tach__sys = fake;
	tach__evidence_attempts(&e);
	tach__sys = tach__sys_real;
	CHECK(live == 0, "%d are left open", live);
	return e;
}

static const struct kernel healthy = {.loop = LOOP, .step = 20, .enabled = 1000};

static void healthy_machine_is_probed_completely(void)
{
	struct tach__evidence e = attempted(healthy);
	char wanted[sizeof said] = "1:1:0 0\n1:1:0 kernel 0\n0:1:0 pinned 3\n0:1:0 pinned 3\n"
				   "0:1:0 pinned 11\n";

	for (int i = 0; i < 32; i++)
		strcat(wanted, "0:1:0 pinned 3\n");
	CHECK(strcmp(said, wanted) == 0, "%s", said);
	CHECK(unmapped == 1);
	/* The reader reads once when it opens, and at both ends of each of six loops. */
	CHECK(reads[READER - FIRST] == 1 + 2 * 6, "%d", reads[READER - FIRST]);
	CHECK(reads[2] == 12 && reads[FREE] == 1 && reads[FREE + 31] == 1 &&
	      reads[FREE + 32] == 0);
	CHECK(e.open_software == 0 && e.open_kernel == 0 && e.open_hardware == 0 && e.map == 0);
	CHECK(e.loop == LOOP && e.counted == LOOP && e.enabled == 1000 && e.running == 1000);
	CHECK(!e.used_cycles && !e.undivided && !e.pinned_error && !e.cap_user_read);
	/* The simulated kernel has no counter that user space could read. */
	CHECK(!e.user_tried && e.user_counted == 0 && e.counters_free == 32, "%d",
	      e.counters_free);
}

static void the_least_of_three(void)
{
	struct kernel k = healthy;

	k.once = 500;
	CHECK(attempted(k).counted == LOOP);
}

static void refusals(void)
{
	struct kernel k = healthy;
	struct tach__evidence e;

	k.refuse_kernel = EACCES;
	e = attempted(k);
	CHECK(e.open_kernel == -EACCES && e.open_software == 0 && e.open_hardware == 0);
	k.refuse_instructions = ENOENT;
	e = attempted(k);
	CHECK(e.used_cycles == 1 && e.open_hardware == 0 && strstr(said, "\n0:0:0 pinned 3\n"));
	k.refuse_cycles = EBUSY;
	e = attempted(k);
	CHECK(e.open_hardware == -EBUSY && e.counters_free == -1 && e.loop == 0 && e.map == 0);
	k = healthy;
	k.map_error = EPERM;
	k.user_read = 1;
	e = attempted(k);
	CHECK(e.map == -EPERM && !e.cap_user_read && e.counted == LOOP);
	k.map_error = 0;
	e = attempted(k);
	CHECK(e.map == 0 && e.cap_user_read == 1);
}

/* An event that is in error state from the first read on, or from a later one. */
static void no_counter_for_it(void)
{
	struct kernel k = healthy;

	for (k.broken = 1; k.broken <= 12; k.broken++) {
		struct tach__evidence e = attempted(k);

		CHECK(e.pinned_error == 1 && e.counted == 0 && e.enabled == 0, "%d", k.broken);
	}
}

static void how_many_are_free(void)
{
	struct kernel k = healthy;

	k.room = 3;
	CHECK(attempted(k).counters_free == 3);
	k = healthy;
	k.most = 4;
	CHECK(attempted(k).counters_free == 4);
	k.enabled = 0;
	CHECK(attempted(k).counters_free == 0);
}

/*
 * The kernel requires that access is requested: first with 64 bits, then with any width, then
 * without.
 */
static void access_that_is_asked_for(void)
{
	static const struct {
		int asks, grants;
		const char *said;
	} cases[] = {
		{0, 3, "0:1:0 pinned 3\n"},
		{1, 3, "0:1:3 pinned 3\n0:1:3 pinned 3\n"},
		{1, 2, "0:1:3 pinned 3\n0:1:2 pinned 3\n0:1:2 pinned 3\n"},
		{1, 0, "0:1:3 pinned 3\n0:1:2 pinned 3\n0:1:0 pinned 3\n0:1:0 pinned 3\n"},
		{1, -1,
		 "0:1:3 pinned 3\n0:1:2 pinned 3\n0:1:0 pinned 3\n"
		 "0:0:3 pinned 3\n0:0:2 pinned 3\n0:0:0 pinned 3\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kernel k = healthy;
		struct tach__evidence e;
		const char *hardware;

		k.asks = cases[i].asks;
		k.grants = cases[i].grants;
		e = attempted(k);
		hardware = strstr(said, "\n0:1:") + 1;
		CHECK(strncmp(hardware, cases[i].said, strlen(cases[i].said)) == 0, "%s", said);
		CHECK(k.grants >= 0 || strcmp(hardware, cases[i].said) == 0, "%s", said);
		CHECK(e.open_hardware == (k.grants < 0 ? -EINVAL : 0) && !e.undivided);
	}
}

/* Then all levels are counted together, unless the PMU does not support that either. */
static void levels_that_are_not_told_apart(void)
{
	struct kernel k = healthy;
	struct tach__evidence e;

	k.undivided = 1;
	e = attempted(k);
	CHECK(e.undivided && e.open_hardware == 0 && e.counters_free == 32);
	CHECK(strstr(said, "0:1:0 pinned 3\n0:1:0 pinned kernel hypervisor 3\n"
			   "0:1:0 pinned kernel hypervisor 3\n"),
	      "%s", said);
	k.no_levels = 1;
	e = attempted(k);
	CHECK(!e.undivided && e.open_hardware == -EINVAL);
	CHECK(strstr(said, "0:1:0 pinned 3\n0:1:0 pinned kernel hypervisor 3\n"
			   "0:0:0 pinned 3\n0:0:0 pinned kernel hypervisor 3\n"),
	      "%s", said);
}

static void what_a_user_gets(void)
{
	static const uint64_t counts[] = {30, LOOP + 90, 20, LOOP + 22, 25, LOOP + 50};
	static const struct {
		uint32_t flags;
		int tried;
	} cases[] = {
		{0, 1},
		{TACH_FLAG_RESCHEDULED, 1},
		{TACH_FLAG_SYSCALL, 0},
		{TACH_FLAG_LOST, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kernel k = healthy;
		struct tach__evidence e;

		k.user = counts;
		k.user_flags = cases[i].flags;
		e = attempted(k);
		CHECK(ended == 6, "%d", ended);
		CHECK(e.user_tried == cases[i].tried &&
			      e.user_counted == (e.user_tried ? LOOP + 2 : 0),
		      "%d, %llu", e.user_tried, (unsigned long long)e.user_counted);
	}
}

int main(void)
{
	CASE(healthy_machine_is_probed_completely);
	CASE(access_that_is_asked_for);
	CASE(levels_that_are_not_told_apart);
	CASE(what_a_user_gets);
	CASE(the_least_of_three);
	CASE(refusals);
	CASE(no_counter_for_it);
	CASE(how_many_are_free);
	return check_done();
}
#else
static void healthy_machine_is_probed_completely(void)
{
	SKIP("other events are opened on this architecture");
}

int main(void)
{
	CASE(healthy_machine_is_probed_completely);
	return check_done();
}
#endif

/* SPDX-License-Identifier: MIT */
/* Reading groups of boxes' events: sums, scaled values, lost values. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <tach.h>
#include "core/os/sys.h"
#include "core/uncore/uncore.h"
#include "tests/check.h"

/* ---- the simulated kernel: the result of read(2) for each descriptor, from FD on ---- */

enum { FD = 1000, GROUPS = 2 };

static struct answer {
	uint64_t n, enabled, running, value[3];
	long size; /* result of read; 0: all bytes */
} answers[GROUPS];
static int told[GROUPS];
static long refusal;

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	struct answer *answer = &answers[(a - FD) & 1];

	if (a < FD || a >= FD + GROUPS)
		return tach__sys_real(number, a, b, c, d, e, f);
	if (number == SYS_ioctl && (unsigned long)b == PERF_EVENT_IOC_ID) {
		*(uint64_t *)c = (uint64_t)a + 5;
		return 0;
	}
	if (number == SYS_ioctl) {
		CHECK(c == PERF_IOC_FLAG_GROUP);
		told[a - FD] += (unsigned long)b == PERF_EVENT_IOC_ENABLE ? 1 : 100;
		return a == FD && refusal ? refusal : 3;
	}
	if (number == SYS_read) {
		memcpy((void *)b, answer, (size_t)c < 48 ? (size_t)c : 48);
		return answer->size ? answer->size : c;
	}
	return -EINVAL;
}

static struct tach__uncore_event names[] = {
	{(char *)"a", 1}, {(char *)"b", 2}, {(char *)"c", 3}};
/* The first group has a and b; the second has b, twice, and c. */
static struct tach__uncore_group groups[GROUPS] = {
	{.n = 2, .fd = {FD, 0}, .id = {FD + 5, 0}, .event = {0, 1}},
	{.n = 3, .fd = {FD + 1, 0}, .id = {FD + 6, 0}, .event = {1, 1, 2}},
};
static struct tach_uncore boxes = {
	.nevents = 3, .ngroups = GROUPS, .event = names, .group = groups};

enum {
	READ = TACH_FLAG_SYSCALL,
	SCALED = TACH_FLAG_SYSCALL | TACH_FLAG_SCALED,
	LOST = TACH_FLAG_SYSCALL | TACH_FLAG_LOST,
};

static void read_all(void)
{
	static const struct {
		struct answer answers[GROUPS];
		uint64_t value[3];
		uint32_t flags[3], all;
	} cases[] = {
		{{{2, 9, 9, {1, 2, 0}, 0}, {3, 9, 9, {10, 20, 30}, 0}},
		 {1, 32, 30},
		 {READ, READ, READ},
		 READ},
		/*
		 * A group that is not yet enabled; a running time above the enabled time counts
		 * as equal to it.
		 */
		{{{2, 0, 0, {1, 2, 0}, 0}, {3, 8, 9, {10, 20, 30}, 0}},
		 {1, 32, 30},
		 {READ, READ, READ},
		 READ},
		{{{2, 9, 3, {1, 2, 0}, 0}, {3, 9, 9, {10, 20, 30}, 0}},
		 {3, 36, 30},
		 {SCALED, SCALED, READ},
		 SCALED},
		{{{2, 9, 9, {1, 2, 0}, 0}, {3, 9, 1, {10, 20, 30}, 0}},
		 {1, 272, 270},
		 {READ, SCALED, SCALED},
		 SCALED},
		/*
		 * An event without a counter; a wrong number of events; an incomplete result.
		 */
		{{{2, 9, 0, {1, 2, 0}, 0}, {3, 9, 9, {10, 20, 30}, 0}},
		 {0, 30, 30},
		 {LOST, LOST, READ},
		 LOST},
		{{{2, 9, 9, {1, 2, 0}, 0}, {2, 9, 9, {10, 20, 30}, 0}},
		 {1, 2, 0},
		 {READ, LOST, LOST},
		 LOST},
		{{{2, 9, 9, {1, 2, 0}, 32}, {3, 9, 9, {10, 20, 30}, 0}},
		 {0, 30, 30},
		 {LOST, LOST, READ},
		 LOST},
		{{{2, 9, 9, {1, 2, 0}, -EBADF}, {3, 9, 3, {10, 20, 30}, 0}},
		 {0, 90, 90},
		 {LOST, LOST | SCALED, SCALED},
		 LOST | SCALED},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t value[4] = {7, 7, 7, 7}, again[3];
		uint32_t flags[4] = {7, 7, 7, 7};

		memcpy(answers, cases[i].answers, sizeof answers);
		CHECK(tach_uncore_read(&boxes, value, flags) == cases[i].all, "%zu", i);
		for (int k = 0; k < 3; k++)
			CHECK(value[k] == cases[i].value[k] && flags[k] == cases[i].flags[k],
			      "%zu: %s is %llu, %x", i, names[k].name,
			      (unsigned long long)value[k], flags[k]);
		CHECK(value[3] == 7 && flags[3] == 7);
		CHECK(tach_uncore_read(&boxes, again, NULL) == cases[i].all &&
		      memcmp(value, again, sizeof again) == 0);
	}
	/* The descriptor belongs to another file. */
	groups[0].id[0]++;
	CHECK(tach_uncore_read(&boxes, (uint64_t[3]){0}, NULL) & TACH_FLAG_LOST);
	groups[0].id[0]--;
}

/* The leader of each group is enabled, until one fails. */
static void every_leader_is_enabled(void)
{
	CHECK(tach_uncore_start(&boxes) == 0 && told[0] == 1 && told[1] == 1);
	CHECK(tach_uncore_stop(&boxes) == 0 && told[0] == 101 && told[1] == 101);
	refusal = -EIO;
	CHECK(tach_uncore_start(&boxes) == -EIO && told[0] == 102 && told[1] == 101);
	refusal = 0;
	groups[1].id[0]++;
	CHECK(tach_uncore_start(&boxes) == -EBADF && told[0] == 103 && told[1] == 101);
	groups[1].id[0]--;
}

static void names_and_counters(void)
{
	struct tach_uncore one = {.nevents = 1, .event = names + 1};

	CHECK(tach_uncore_count(&boxes) == 3 && tach_uncore_count(&one) == 1);
	CHECK(tach_uncore_name(&one, 0) == names[1].name && !tach_uncore_name(&one, 1) &&
	      !tach_uncore_name(&one, -1) && !tach_uncore_name(&one, 2));
	CHECK(tach_uncore_counters(&one, 0) == 2 && tach_uncore_counters(&one, 1) == 0 &&
	      tach_uncore_counters(&one, -1) == 0);
}

int main(void)
{
	tach__sys = kernel;
	CASE(read_all);
	CASE(every_leader_is_enabled);
	CASE(names_and_counters);
	return check_done();
}

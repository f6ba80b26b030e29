/* SPDX-License-Identifier: MIT */
/* The ends of regions of a group with top-down metrics, with scripted reads. */
#include <string.h>
#include "core/reader/reader.h"
#include "tests/check.h"

/* The group's members; the entry after the last member is ignored. */
enum { SLOTS = 4, BACKEND = 1, PLAIN = 6, RETIRING = 0, MEMBERS = 4, NONE = 5, ALL = 7 };
enum { UNTOUCHED = 77, ERROR = 11, BEHIND = 4 };

static struct tach__look looked, reading[3];
/* the scripted results, and the number of calls */
static int looks, afresh, states[3], reads, checks, groups;
static int check_reads;	       /* the check finds a read by another process */
static uint32_t since, scaled; /* flags */

static int sim_look(struct tach__reader *r, struct tach__look *l)
{
	(void)r;
	*l = looked;
	return looks;
}

static int sim_set_back(struct tach__reader *r, struct tach__look *l)
{
	(void)r;
	*l = reading[reads];
	return states[reads++];
}

static int sim_look_afresh(struct tach__reader *r, struct tach__look *l)
{
	(void)r;
	*l = afresh == 1 ? looked : reading[reads++];
	return afresh;
}

static void sim_check(struct tach__reader *r, struct tach__look *l)
{
	(void)r;
	checks++;
	if (check_reads)
		*l = reading[2];
}

static int sim_group(struct tach__reader *r, struct tach__group_read *now)
{
	(void)r, (void)now;
	return ++groups;
}

static uint64_t sim_unknown(uint64_t slots, uint32_t locks)
{
	return slots / 10 + 1000 * (uint64_t)locks;
}

static uint32_t sim_since(struct tach__reader *r, uint32_t lock)
{
	(void)r;
	CHECK(lock == 6, "%u", lock);
	return since;
}

/* Called only if both ends used read(2), with the times of the later read. */
static uint32_t sim_scale(const struct tach__reader *r, const struct tach_mark *mark,
			  const struct tach__group_read *now, unsigned n, uint64_t *delta)
{
	(void)r, (void)delta;
	CHECK(mark->enabled == 1000 && mark->running == 900 && n == ALL);
	CHECK(now->enabled == 3000 && now->running == 2500);
	return scaled;
}

#define tach__topdown_look	  sim_look
#define tach__topdown_set_back	  sim_set_back
#define tach__topdown_look_afresh sim_look_afresh
#define tach__topdown_check	  sim_check
#define tach__topdown_group	  sim_group
#define tach__topdown_unknown	  sim_unknown
#define tach__reader_since	  sim_since
#define tach__scale		  sim_scale
#include "core/reader/topdown.c"

static const struct tach__group group = {
	.count = MEMBERS,
	.member = {SLOTS, BACKEND, PLAIN, RETIRING, NONE},
};
static struct tach__reader reader;
static struct tach_mark mark;
static uint64_t delta[TACH_COUNTERS_MAX];

/* Simulates a read of 2000 slots or more, inline or by read(2), at an even lock. */
static struct tach__look shows(uint32_t flags, uint64_t more)
{
	struct tach__look l = {.flags = flags, .error = ERROR, .behind = BEHIND, .lock = 8};

	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++)
		l.count[m] = 2000 + 10 * m + more;
	l.enabled = 3000;
	l.running = 2500;
	return l;
}

/* The region began at lock 6, when each event was 500 below the values of `shows`. */
static void begin(uint32_t flags)
{
	memset(&reader, 0, sizeof reader);
	reader.hot.fast = 1;
	reader.topdown.group = &group;
	reader.topdown.members = 1u << BACKEND | 1u << RETIRING;
	reader.topdown.field[BACKEND] = 3;
	reads = checks = groups = check_reads = 0;
	since = scaled = 0;
	looked = shows(0, 0);
	looks = afresh = 1;
	for (int i = 0; i < 3; i++) {
		reading[i] = shows(TACH_FLAG_SYSCALL, 100 * (unsigned)(i + 1));
		states[i] = 1;
	}
	/* After an inline read the mark has its error, after a read(2) its times. */
	mark = (struct tach_mark){.lock = 7, .flags = flags, .enabled = 23, .running = 3};
	if (flags & TACH_FLAG_SYSCALL)
		mark.enabled = 1000, mark.running = 900;
	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++) {
		mark.value[m] = 1500 + 10 * m;
		delta[m] = UNTOUCHED;
	}
}

static uint32_t end(unsigned n)
{
	return tach__topdown_end(&reader, &mark, delta, n);
}

/* Of the first n. */
static int has(unsigned m, unsigned n)
{
	return m < n && (m == SLOTS || m == BACKEND || m == PLAIN || m == RETIRING);
}

static void check_begin(uint32_t flags, unsigned n, uint64_t more, uint64_t enabled,
			uint64_t running)
{
	mark.lock = 0;
	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++)
		mark.value[m] = UNTOUCHED;
	tach__topdown_begin(&reader, &mark, n);
	CHECK(mark.lock == 9 && mark.flags == flags, "%u %#x", mark.lock, mark.flags);
	CHECK(mark.enabled == enabled && mark.running == running);
	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++)
		CHECK(mark.value[m] == (has(m, n) ? 2000 + 10 * m + more : UNTOUCHED),
		      "%u: %llu", m, (unsigned long long)mark.value[m]);
}

static void begun_by_a_look(void)
{
	begin(0);
	check_begin(0, ALL, 0, ERROR, BEHIND);
	CHECK(reads == 0);
	/* Earlier flags stay; with fewer members, no other value is written. */
	begin(TACH_FLAG_LOST);
	check_begin(TACH_FLAG_LOST, PLAIN, 0, ERROR, BEHIND);
	check_begin(TACH_FLAG_LOST, 0, 0, ERROR, BEHIND);
}

static void begun_by_read(void)
{
	begin(0);
	afresh = reader.hot.fast = 0;
	check_begin(TACH_FLAG_SYSCALL, ALL, 100, 3000, 2500);
	CHECK(reads == 1);
	/* If the group could be read in user space, a second read shows if it was disabled. */
	begin(0);
	afresh = 0;
	check_begin(TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE, ALL, 200, 3000, 2500);
	CHECK(reads == 2);
	begin(0);
	afresh = 0;
	reading[1].enabled++;
	check_begin(TACH_FLAG_SYSCALL, ALL, 200, 3001, 2500);
	/* If the second read fails, the first is used. */
	for (int failed = -1; failed <= 0; failed++) {
		begin(0);
		afresh = 0;
		states[1] = failed;
		check_begin(TACH_FLAG_SYSCALL, ALL, 100, 3000, 2500);
	}
}

static void failed_begin_is_lost(void)
{
	begin(TACH_FLAG_MIXED);
	afresh = -1;
	tach__topdown_begin(&reader, &mark, ALL);
	CHECK(mark.flags == (TACH_FLAG_MIXED | TACH_FLAG_LOST) && mark.lock == 7);
}

static void differs(unsigned n, uint64_t by)
{
	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++)
		CHECK(delta[m] == (has(m, n) ? by : UNTOUCHED), "%u: %llu", m,
		      (unsigned long long)delta[m]);
}

static void both_ends_by_looks(void)
{
	begin(0);
	CHECK(end(ALL) == 0 && checks == 1 && reads == 0);
	differs(ALL, 500);
	/* The errors of both ends, and the errors of the read(2) calls in between. */
	CHECK(reader.topdown.error == ERROR + 23 + BEHIND - 3);
	begin(0);
	CHECK(end(PLAIN) == 0);
	differs(PLAIN, 500);
	begin(0);
	CHECK(end(0) == 0);
	differs(0, 500);
	begin(TACH_FLAG_INCOMPLETE);
	since = TACH_FLAG_RESCHEDULED;
	CHECK(end(ALL) == (TACH_FLAG_INCOMPLETE | TACH_FLAG_RESCHEDULED));
	begin(TACH_FLAG_RESCHEDULED);
	CHECK(end(ALL) == 0);
}

static void ended_by_read(void)
{
	begin(0);
	looks = 0;
	since = TACH_FLAG_RESCHEDULED;
	/* The enabled time did not grow: the group was disabled. */
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE));
	CHECK(reads == 2);
	differs(ALL, 700);
	begin(0);
	looks = 0;
	reading[1].enabled++;
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED));
	begin(0);
	looks = 0;
	reading[1].enabled++;
	since = TACH_FLAG_INCOMPLETE | TACH_FLAG_RESCHEDULED;
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE));
	/* Another process has reset the group in between. */
	begin(0);
	check_reads = 1;
	reading[0].enabled++;
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED));
	differs(ALL, 600);
	begin(0);
	looks = states[0] = 0;
	CHECK(end(ALL) == TACH_FLAG_LOST);
	differs(0, 0);
}

static void begun_by_read_alone(void)
{
	begin(TACH_FLAG_SYSCALL);
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED));
	differs(ALL, 500);
	CHECK(reader.topdown.error == ERROR + 50 + 2 * 1000);
	begin(TACH_FLAG_SYSCALL);
	mark.value[SLOTS] -= 100;
	end(ALL);
	CHECK(reader.topdown.error == ERROR + 60 + 2 * 1000);
	begin(TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE);
	since = TACH_FLAG_RESCHEDULED;
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_INCOMPLETE));
}

static void both_ends_by_read(void)
{
	for (int more = 0; more < 2; more++) {
		begin(TACH_FLAG_SYSCALL | (more ? TACH_FLAG_INCOMPLETE : 0));
		looks = 0;
		scaled = TACH_FLAG_SCALED;
		CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_SCALED |
				   (more ? TACH_FLAG_INCOMPLETE : 0)));
		CHECK(reads == 1);
		differs(ALL, 600);
	}
	begin(TACH_FLAG_SYSCALL);
	looks = 0;
	since = TACH_FLAG_RESCHEDULED | TACH_FLAG_INCOMPLETE;
	CHECK(end(ALL) == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
}

/*
 * A metric may decrease by its error; the last metric gets the remainder, so its error is
 * larger.
 */
static void metric_may_decrease_by_its_error(void)
{
	enum { OFF = ERROR + 23 + BEHIND - 3 };

	for (unsigned more = 0; more < 2; more++) {
		begin(0);
		mark.value[BACKEND] = looked.count[BACKEND] + 3 * OFF + more;
		CHECK(end(ALL) == (more ? TACH_FLAG_LOST : 0));
		CHECK(delta[BACKEND] == (more ? 0 - (uint64_t)(3 * OFF + 1) : 0));
		begin(0);
		mark.value[RETIRING] = looked.count[RETIRING] + OFF + more;
		CHECK(end(ALL) == (more ? TACH_FLAG_LOST : 0));
		CHECK(delta[RETIRING] == (more ? 0 - (uint64_t)(OFF + 1) : 0));
	}
	/* A member that is not a metric must not decrease. */
	begin(0);
	mark.value[SLOTS] = looked.count[SLOTS] + 1;
	CHECK(end(ALL) == TACH_FLAG_LOST);
	begin(0);
	mark.value[PLAIN] = looked.count[PLAIN] + 1;
	CHECK(end(ALL) == TACH_FLAG_LOST);
	/* A member that was not requested is not checked. */
	begin(0);
	delta[PLAIN] = delta[NONE] = 1u << 20;
	CHECK(end(PLAIN) == 0);
	begin(0);
	mark.value[BACKEND] = looked.count[BACKEND] + 1;
	CHECK(end(BACKEND) == 0 && delta[BACKEND] == UNTOUCHED);
	/* All members are checked, from the first on. */
	begin(0);
	memset(mark.value, 0, sizeof mark.value);
	CHECK(end(ALL) == 0 && delta[SLOTS] == 2000 + 10 * SLOTS);
}

static void reads_(uint32_t flags, uint64_t more)
{
	uint64_t all[TACH_COUNTERS_MAX];

	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++)
		all[m] = UNTOUCHED;
	CHECK(tach__topdown_read(&reader, all) == flags);
	for (unsigned m = 0; m < TACH_COUNTERS_MAX; m++)
		CHECK(all[m] == (has(m, ALL) ? 2000 + 10 * m + more : UNTOUCHED), "%u: %llu", m,
		      (unsigned long long)all[m]);
	CHECK(reader.topdown.error == ERROR + BEHIND);
}

static void whole_counts(void)
{
	uint64_t all[TACH_COUNTERS_MAX];

	begin(0);
	reads_(0, 0);
	/* If only metrics decreased, the group was not reset. */
	looked.count[BACKEND] -= 5;
	looked.count[RETIRING] -= 5;
	looked.count[SLOTS] -= 5;
	tach__topdown_read(&reader, all);
	CHECK(all[BACKEND] == 2000 + 10 * BACKEND && all[RETIRING] == 2000);
	CHECK(all[SLOTS] == 2000 + 10 * SLOTS - 5);
	looked = shows(0, 3);
	reads_(0, 3);
	looks = 0;
	reads_(TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE, 100);
	reading[1].running = reading[1].enabled;
	reads_(TACH_FLAG_SYSCALL, 200);
	states[2] = 0;
	CHECK(tach__topdown_read(&reader, all) == (TACH_FLAG_SYSCALL | TACH_FLAG_LOST));
}

static void start_resets_the_error(void)
{
	begin(0);
	reader.topdown.behind = 9;
	tach__topdown_start(&reader);
	CHECK(groups == 1 && reader.topdown.behind == 0);
}

int main(void)
{
	CASE(begun_by_a_look);
	CASE(begun_by_read);
	CASE(failed_begin_is_lost);
	CASE(both_ends_by_looks);
	CASE(ended_by_read);
	CASE(begun_by_read_alone);
	CASE(both_ends_by_read);
	CASE(metric_may_decrease_by_its_error);
	CASE(whole_counts);
	CASE(start_resets_the_error);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* Gets a sample's numbers on a real machine. */
#include <string.h>
#include <time.h>
#include "core/bench/counting.h"
#include "core/set/set.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Returns the smallest observed step of the clock, or the time of a clock read if that is
 * longer. */
static double clock_resolution(void)
{
	uint64_t least = UINT64_MAX, last = now_ns();

	for (int i = 0; i < 100; i++) {
		uint64_t now = now_ns();

		if (now > last && now - last < least)
			least = now - last;
		last = now;
	}
	return least == UINT64_MAX ? 0 : (double)least;
}

static void begin_counting(struct tach__bench_source *source)
{
	struct tach__counting *c = (struct tach__counting *)source;
	uint64_t *before = c->before;

	for (const struct tach_bench_counter *o = c->own; o; o = o->next)
		*before++ = *o->at;
	/* Reading the CPU time is a system call, so it is outside the other measurements. */
	c->cpu_start = c->cpu ? read_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
	c->start = now_ns();
	if (c->reader)
		tach_reader_begin(c->reader, &c->mark);
}

static void end_counting(struct tach__bench_source *source, uint64_t *delta, uint32_t *flags)
{
	struct tach__counting *c = (struct tach__counting *)source;
	uint32_t group = c->reader ? tach_reader_end(c->reader, &c->mark, delta + 1) : 0;
	uint64_t *own = delta + 1 + c->events, *before = c->before;

	c->end = now_ns();
	delta[0] = c->end - c->start;
	if (c->cpu)
		delta[c->events] = read_clock(CLOCK_THREAD_CPUTIME_ID) - c->cpu_start;
	for (unsigned i = 0; i + (unsigned)c->cpu < c->events; i++)
		flags[i + 1] |= tach_reader_flags(c->reader, i, group);
	if (c->reader)
		tach_set_correct(c->set, delta + 1, flags + 1);
	for (const struct tach_bench_counter *o = c->own; o; o = o->next)
		*own++ = *o->at - *before++;
}

void tach__counting_init(struct tach__counting *c, const struct tach_bench_counter *own,
			 int cpu)
{
	memset(c, 0, sizeof *c);
	c->cpu = cpu;
	c->source.resolution = clock_resolution();
	c->source.begin = begin_counting;
	c->source.end = end_counting;
	c->own = own;
	tach__counting_use(c, NULL, NULL);
}

void tach__counting_use(struct tach__counting *c, struct tach_reader *reader,
			const struct tach_set *set)
{
	c->reader = reader;
	c->set = set;
	c->events = (reader ? (unsigned)tach_set_count(set) : 0) + (unsigned)c->cpu;
	c->source.count = c->events;
	for (const struct tach_bench_counter *o = c->own; o; o = o->next)
		c->source.count++;
}

/* SPDX-License-Identifier: MIT */
/* Readers for the slow paths: fakepage.h's kernel, and a group of software events. */
#ifndef TESTS_UNIT_READER_SLOW_H
#define TESTS_UNIT_READER_SLOW_H

#include <errno.h>
#include "tests/unit/reader/fakepage.h"

/*
 * Simulates the cases in which the thread's core type, or top-down metrics, make the group
 * another one.
 */
static unsigned others;
static char other;
static const void *other_got;
static uint32_t other_flags;

static inline uint32_t another(char which, const void *got, unsigned n)
{
	other = which;
	other_got = got;
	others = n;
	return other_flags;
}

void tach__hybrid_begin(struct tach__reader *r, struct tach_mark *to, unsigned n)
{
	(void)r;
	another('h', to, n);
}

void tach__topdown_begin(struct tach__reader *r, struct tach_mark *to, unsigned n)
{
	(void)r;
	another('t', to, n);
}

uint32_t tach__hybrid_end(struct tach__reader *r, const struct tach_mark *from, uint64_t *to,
			  unsigned n)
{
	(void)r, (void)from;
	return another('H', to, n);
}

uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *from, uint64_t *to,
			   unsigned n)
{
	(void)r, (void)from;
	return another('T', to, n);
}

uint32_t tach__hybrid_read(struct tach__reader *r, uint64_t *all)
{
	(void)r;
	return another('r', all, 0);
}

uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all)
{
	(void)r;
	return another('R', all, 0);
}

/* Software groups are recognised by this number: the hardware's descriptor is 0. */
enum { SOFT = 7 };
static const uint64_t canary = 0x5ca1ab1e5ca1ab1e;
static uint64_t soft_count[TACH_COUNTERS_MAX], emulated[TACH__EMULATED_COUNTS];
static int soft_refused, soft_read, soft_off, hard_refused, hard_dead;
static uint64_t soft_enabled;

static inline long sys(long number, long a, long b, long c, long d, long e, long f)
{
	struct tach__group_read *to = (struct tach__group_read *)b;

	if (number == SYS_read && a != SOFT && hard_refused)
		return -EIO;
	if (number == SYS_read && a != SOFT && hard_dead)
		return 0;
	if (number != SYS_read || a != SOFT)
		return sim_sys(number, a, b, c, d, e, f);
	soft_read++;
	if (soft_refused)
		return soft_refused < 0 ? soft_refused : 0; /* refused, or in error state */
	soft_enabled += !soft_off;
	to->enabled = soft_enabled;
	memcpy(to->value, soft_count, sizeof soft_count);
	return sizeof *to;
}

static struct tach_mark mark;
static uint64_t delta[TACH_COUNTERS_MAX + 1];

static inline void fill(uint64_t *with)
{
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		with[i] = canary;
}

static inline int untouched(const uint64_t *value, int from)
{
	for (int i = from; i < TACH_COUNTERS_MAX; i++)
		if (value[i] != canary)
			return 0;
	return 1;
}

static inline void soil(void)
{
	memset(&mark, 0xff, sizeof mark);
	fill(mark.value);
	fill(delta);
}

static inline struct tach_reader *open_sim(int n, unsigned width)
{
	struct tach_reader *r = sim_open(n, width, 7000);

	tach__sys = sys;
	soft_refused = hard_refused = hard_dead = soft_read = soft_off = 0;
	soil();
	return r;
}

/*
 * HARD hardware members, then members that an emulator counts, then software events. If there
 * are other kinds, the inline reads do not use hardware pages.
 */
static inline struct tach_reader *open_mixed(int hard, int emulates, int soft)
{
	struct tach_reader *reader = open_sim(hard, 48);
	struct tach__reader *r = tach__reader(reader);
	int n = hard;

	for (int i = 0; i < emulates; i++, n++) {
		sim.set.member[n].kind = TACH_MEMBER_EMULATED;
		sim.set.member[n].emulated = 1 + i;
	}
	r->emulated.count = emulates;
	r->emulated.counts = emulated;
	for (int i = 0; i < TACH__EMULATED_COUNTS; i++)
		r->emulated.begun[i] = emulated[i] = 1000 + 10 * (uint64_t)i;
	r->soft.leader = SOFT;
	for (int i = 0; i < soft; i++, n++) {
		sim.set.member[n].kind = TACH_MEMBER_SOFTWARE;
		r->soft.member[r->soft.count++] = (uint8_t)n;
		soft_count[i] = 500 + (uint64_t)i;
	}
	sim.set.count = n;
	reader->count = (uint32_t)n;
	reader->fast = 0;
	return reader;
}

static inline void all_work(uint64_t amount)
{
	sim_work_all(amount);
	for (int i = 0; i < TACH__EMULATED_COUNTS; i++)
		emulated[i] += amount + (uint64_t)i;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		soft_count[i] += amount + 2 * (uint64_t)i;
}

#endif

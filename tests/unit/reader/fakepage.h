/* SPDX-License-Identifier: MIT */
/*
 * Simulates a kernel, a PMU and perf pages in one thread, as far as the reader's code sees
 * them. The reader's header, core/reader/lag.c and slow.c are compiled here so that every page
 * access, counter read and system call goes through sim_step(). In sim_step() the kernel may
 * interrupt, as on the thread's own CPU: it does all its work between two of the thread's
 * instructions.
 *
 * If the includer defines SIM_SIGNAL, sim_step() does nothing and a signal handler acts as the
 * kernel.
 */
#ifndef TESTS_UNIT_FAKEPAGE_H
#define TESTS_UNIT_FAKEPAGE_H

#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include "tests/unit/reader/simulated.h"

uint64_t sim_counter(uint32_t index, uint32_t *seen);

#undef TACH_COUNTER
#undef TACH_COUNTER_48
#define TACH_COUNTER(way, number, value, seen)                                                 \
	do {                                                                                   \
		sim_step();                                                                    \
		(void)(way);                                                                   \
		(value) = sim_counter((number) + 1, &(seen));                                  \
	} while (0)
#define TACH_HANDLER_STEP() (__atomic_signal_fence(__ATOMIC_SEQ_CST), sim_step())
/* The includer chooses one of the two kinds of counters. */
#ifndef TACH_MODULAR
#define TACH_MODULAR 1
#endif

#include "core/reader/lag.c"
#include "core/reader/slow.c"
#include "tests/check.h"

enum { SIM_MAX = 4, SIM_INDICES = 16, SIM_PAGE = 4096 };

static struct {
	_Alignas(65536) struct tach__reader reader;
	_Alignas(SIM_PAGE) char pages[TACH__PAGES - 1][SIM_PAGE];
} sim_memory;

struct sim_event {
	uint64_t count; /* the true count */
	/* Count and counter value when the event was put on the counter. */
	uint64_t count_in, start;
	uint32_t index; /* 0: on none */
};

static struct {
	struct sim_event event[SIM_MAX];
	int n;
	unsigned width;
	int error, revoked, off;
	uint64_t enabled, running;
	uint64_t seed;
	/* The kernel's step: at access number `point` it calls `act`. */
	void (*act)(void);
	long point, steps;
	struct tach_set set;
} sim;

static uint64_t sim_mask(void)
{
	return sim.width == 64 ? ~(uint64_t)0 : ((uint64_t)1 << sim.width) - 1;
}

static uint64_t sim_random(void)
{
	sim.seed = sim.seed * 6364136223846793005u + 1442695040888963407u;
	return sim.seed >> 20;
}

/* ---- the PMU ---- */

static uint64_t sim_raw(const struct sim_event *e)
{
	return (e->start + (e->count - e->count_in)) & sim_mask();
}

uint64_t sim_counter(uint32_t index, uint32_t *seen)
{
	if (sim.revoked)
		*seen |= 1;
	for (int i = 0; i < sim.n; i++) {
		const struct sim_event *e = &sim.event[i];

		if (e->index == index && !sim.error)
			return sim_raw(e);
	}
	/* The counter of another event: a plausible number. */
	return (index * 0x1234567u + 0x76543210u) & sim_mask();
}

/* ---- the kernel ---- */

static struct perf_event_mmap_page *sim_page(int i)
{
	return (struct perf_event_mmap_page *)sim_memory.reader.hot.way[i].page;
}

/* Calculated independently of the code under test. */
static uint64_t sim_signed(uint64_t counter)
{
	return counter > sim_mask() / 2 ? counter - sim_mask() - 1 : counter;
}

static void sim_show(int i)
{
	struct perf_event_mmap_page *page = sim_page(i);
	struct sim_event *e = &sim.event[i];
	uint64_t start = sim_signed(e->start);

	page->lock++;
	__asm__ volatile("" ::: "memory");
	page->index = sim.error ? 0 : e->index;
	page->pmc_width = (uint16_t)sim.width;
	page->cap_user_rdpmc = 1;
	page->offset = sim.error ? 0 : (int64_t)(e->index ? e->count_in - start : e->count);
	page->time_enabled = sim.error ? 0 : sim.enabled;
	page->time_running = sim.error ? 0 : sim.running;
	__asm__ volatile("" ::: "memory");
	page->lock++;
}

/* The kernel starts a counter below zero, by the distance to the next interrupt. */
static void sim_put(int i, uint32_t index)
{
	struct sim_event *e = &sim.event[i];
	uint64_t left =
		1 + sim_random() % ((uint64_t)1 << (sim.width < 33 ? sim.width - 1 : 32));

	e->index = index;
	e->count_in = e->count;
	e->start = (0 - left) & sim_mask();
	sim_show(i);
}

static void sim_pass(int counting)
{
	if (sim.off)
		return;
	sim.enabled += 1000;
	sim.running += counting ? 1000 : 0;
}

/* Simulates work of the thread: counters that reach zero interrupt, and start again. */
static void sim_work(int i, uint64_t amount)
{
	struct sim_event *e = &sim.event[i];

	if (e->index && sim_raw(e) <= sim_mask() / 2)
		sim_put(i, e->index); /* an interrupt became due */
	while (e->index && amount) {
		uint64_t room = (0 - sim_raw(e)) & sim_mask();
		uint64_t part = room && room < amount ? room : amount;

		e->count += part;
		amount -= part;
		if (part == room)
			sim_put(i, e->index);
	}
}

static void sim_work_all(uint64_t amount)
{
	for (int i = 0; i < sim.n; i++)
		sim_work(i, amount * (uint64_t)(i + 1) + (uint64_t)i);
	sim_pass(1);
}

static inline void sim_reschedule(void)
{
	sim_pass(1);
	for (int i = 0; i < sim.n; i++)
		sim_put(i, sim.event[i].index);
}

static inline void sim_move(void)
{
	uint32_t by = 1 + (uint32_t)(sim_random() % (SIM_INDICES - SIM_MAX));

	sim_pass(1);
	for (int i = 0; i < sim.n; i++)
		sim_put(i, 1 + (sim.event[i].index - 1 + by) % SIM_INDICES);
}

/* Another event arrives: the kernel moves the last event only. */
static inline void sim_move_last(void)
{
	sim_pass(1);
	sim_put(sim.n - 1, sim.event[sim.n - 1].index + SIM_INDICES);
}

static inline void sim_touch(void)
{
	for (int i = 0; i < sim.n; i++)
		sim_show(i);
}

static inline void sim_out(void)
{
	for (int i = 0; i < sim.n; i++) {
		sim.event[i].index = 0;
		sim_show(i);
	}
}

/* Takes the counters away and gives them back while the thread runs. */
static inline void sim_starve(void)
{
	uint32_t index[SIM_MAX];

	for (int i = 0; i < sim.n; i++)
		index[i] = sim.event[i].index;
	sim_out();
	sim_pass(0);
	for (int i = 0; i < sim.n; i++)
		sim_put(i, index[i]);
}

/* A process with the descriptor disables the event: its enabled time stops. */
static inline void sim_turn_off(void)
{
	sim_out();
	sim.off = 1;
}

/*
 * Other code resets the count to 0: the offset is the negative counter value, which is not
 * sign-extended.
 */
static inline void sim_set_back(void)
{
	for (int i = 0; i < sim.n; i++) {
		sim.event[i].start = sim_raw(&sim.event[i]);
		sim.event[i].count = sim.event[i].count_in = 0;
		sim_show(i);
		sim_page(i)->offset = -(int64_t)sim.event[i].start;
	}
}

static inline void sim_fail(void)
{
	sim.error = 1;
	sim_touch();
}

static inline void sim_revoke(void)
{
	sim.revoked = 1;
}

/* The counters pass zero; the interrupt arrives immediately, or later. */
static inline void sim_overflow(void)
{
	for (int i = 0; i < sim.n; i++)
		sim_work(i, ((0 - sim_raw(&sim.event[i])) & sim_mask()) + 3);
	sim_pass(1);
}

static inline void sim_overflow_late(void)
{
	for (int i = 0; i < sim.n; i++)
		if (sim.event[i].index)
			sim.event[i].count += ((0 - sim_raw(&sim.event[i])) & sim_mask()) + 3;
}

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	struct tach__group_read *to = (struct tach__group_read *)b;

	(void)a, (void)c, (void)d, (void)e, (void)f;
	sim_step();
	if (number == SYS_ioctl && b == PERF_EVENT_IOC_ID)
		return 0;
	if (number == SYS_ioctl) {
		sim.error = 0;
		for (int i = 0; i < sim.n; i++)
			sim_put(i, (uint32_t)i + 1);
		return 0;
	}
	if (sim.error)
		return 0;
	sim_pass(1);
	to->count = (uint64_t)sim.n;
	to->enabled = sim.enabled;
	to->running = sim.running;
	for (int i = 0; i < sim.n; i++)
		to->value[i] = sim.event[i].count;
	return (long)offsetof(struct tach__group_read, value[sim.n]);
}

void sim_step(void)
{
#ifndef SIM_SIGNAL
	if (sim.steps++ == sim.point && sim.act)
		sim.act();
#endif
}

/* ---- a thread's reader with this kernel ---- */

static struct tach_reader *sim_open(int n, unsigned width, uint64_t count)
{
	struct tach__reader *r = &sim_memory.reader;

	memset(&sim, 0, sizeof sim);
	memset(&sim_memory, 0, sizeof sim_memory);
	sim.n = n;
	sim.width = width;
	sim.seed = 1;
	sim.point = -1;
	tach__sys = sim_sys;
	r->set = &sim.set;
	sim.set.count = n;
	r->owner = tach__thread_token();
	r->page_size = SIM_PAGE;
	r->hot.count = (uint32_t)n;
	r->hot.fast = 1;
	r->extend = !TACH_MODULAR;
	r->hot.mask = TACH_MODULAR ? sim_mask() : ~(uint64_t)0;
	r->hard.count = n;
	for (int i = 0; i < SIM_MAX; i++) {
		r->hot.way[i].page = tach__reader_page(r, i);
		r->hard.member[i] = (uint8_t)i;
	}
	if (TACH_MODULAR && width < 40) { /* as in core/reader/open.c */
		r->extend = 1;
		r->hot.mask = ~(uint64_t)0;
		r->hot.way[0].page = tach__reader_page(r, TACH__SPARE);
	}
	for (int i = 0; i < n; i++) {
		sim.event[i].count = count;
		sim_put(i, (uint32_t)i + 1);
	}
	return &r->hot;
}

#endif

/*
 * tach-mini.h against a hostile kernel. At each access of a page the kernel may reschedule or
 * move the counters, remove them, give them no time, fail the group or forbid the instruction.
 * Each region must be right or flagged. tests/check/mini.sh replaces the names with which the
 * header reads pages and counters.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct perf_event_mmap_page;
static uint64_t sim_counter(uint32_t index, uint32_t *seen);
static void step(void);
static long sim_sys(long number, long a, long b);
#include "tach-mini.h"

enum { EVENTS = 2, WIDTH = 48, SPARE_INDEX = 9 };
#define MASK (((uint64_t)1 << WIDTH) - 1)

static struct {
	_Alignas(4096) struct tach_mini__reader reader;
	_Alignas(4096) char pages[TACH_MINI__PAGES][4096];
} memory;
static struct {
	uint64_t count, put,
		start; /* true count; count and counter value at the last scheduling */
	uint32_t index;
} counter[EVENTS];
static struct perf_event_mmap_page *page[EVENTS];
static uint64_t enabled, running;
static int failed_group, forbidden;
static long steps, point;
static void (*act)(void);

static uint64_t raw(int i)
{
	return (counter[i].start + counter[i].count - counter[i].put) & MASK;
}

static void show(int i)
{
	uint64_t start = counter[i].start, whole = start > MASK / 2 ? start - MASK - 1 : start;

	page[i]->lock++;
	page[i]->index = failed_group ? 0 : counter[i].index;
	page[i]->pmc_width = WIDTH;
	page[i]->cap_user_rdpmc = 1;
	page[i]->offset =
		(int64_t)(counter[i].index ? counter[i].put - whole : counter[i].count);
	page[i]->time_enabled = enabled;
	page[i]->time_running = running;
	page[i]->lock++;
}

static void put(int i, uint32_t index)
{
	counter[i].index = index;
	counter[i].put = counter[i].count;
	counter[i].start = (0 - (uint64_t)(1000 + 77 * i + steps)) &
			   MASK; /* a counter starts below zero */
	show(i);
}

static void pass(int counts)
{
	enabled += 1000;
	running += counts ? 1000 : 0;
}

static void reschedule(void)
{
	pass(1);
	for (int i = 0; i < EVENTS; i++)
		put(i, counter[i].index);
}
static void move(void)
{
	pass(1);
	for (int i = 0; i < EVENTS; i++)
		put(i, counter[i].index % SPARE_INDEX + 1);
}
static void take_off(void)
{
	for (int i = 0; i < EVENTS; i++) {
		counter[i].index = 0;
		show(i);
	}
}
static void starve(void)
{
	take_off();
	pass(0);
	for (int i = 0; i < EVENTS; i++)
		put(i, (uint32_t)i + 1);
}
/* The counters pass zero, and the interrupt is late. */
static void overflow(void)
{
	for (int i = 0; i < EVENTS; i++)
		if (counter[i].index)
			counter[i].count += ((0 - raw(i)) & MASK) + 3;
}
static void fail_group(void)
{
	failed_group = 1;
	for (int i = 0; i < EVENTS; i++)
		show(i);
}
static void forbid(void)
{
	forbidden = 1;
}

static const struct {
	const char *name;
	void (*act)(void);
	uint32_t must; /* one of these flags is required if the event happens in the middle */
	int lossless;  /* counts stay right, with any flag */
} acts[] = {
	{"nothing", NULL, 0, 1},
	{"reschedule", reschedule, TACH_MINI_FLAG_RESCHEDULED, 1},
	{"move", move, TACH_MINI_FLAG_RESCHEDULED, 1},
	{"take off", take_off, TACH_MINI_FLAG_SYSCALL | TACH_MINI_FLAG_MIXED, 1},
	{"starve", starve, TACH_MINI_FLAG_INCOMPLETE, 1},
	{"overflow", overflow, 0, 1},
	{"fail", fail_group, TACH_MINI_FLAG_LOST, 0},
	{"forbid", forbid, TACH_MINI_FLAG_SYSCALL | TACH_MINI_FLAG_MIXED, 1},
};

static void step(void)
{
	if (steps++ == point && act)
		act();
}

static uint64_t sim_counter(uint32_t index, uint32_t *seen)
{
	if (forbidden)
		*seen |= 1;
	for (int i = 0; i < EVENTS; i++)
		if (counter[i].index == index && !failed_group)
			return raw(i);
	return 0x123456789 * (uint64_t)index; /* another event's counter */
}

static long sim_sys(long number, long a, long b)
{
	struct tach_mini__group_read *to = (struct tach_mini__group_read *)b;

	step();
	if (number == SYS_ioctl && a == (long)PERF_EVENT_IOC_ID)
		return *(uint64_t *)b = 5, 0;
	if (number == SYS_ioctl) {
		failed_group = 0;
		reschedule();
		return 0;
	}
	if (failed_group) {
		memset(to, 0x55, sizeof *to);
		return 0;
	}
	pass(1);
	to->count = EVENTS;
	to->enabled = enabled;
	to->running = running;
	for (int i = 0; i < EVENTS; i++)
		to->value[i] = counter[i].count;
	return (long)sizeof *to;
}

static void work(uint64_t n)
{
	for (int i = 0; i < EVENTS; i++) {
		uint64_t room = raw(i) > MASK / 2 ? (0 - raw(i)) & MASK : UINT64_MAX;

		counter[i].count += n * (uint64_t)(i + 1);
		if (counter[i].index && n * (uint64_t)(i + 1) >= room) { /* the interrupt */
			counter[i].put = counter[i].count;
			counter[i].start = (0 - (uint64_t)5000) & MASK;
			show(i);
		}
	}
	pass(1);
}

static void prepare(void)
{
	memset(&memory, 0, sizeof memory);
	memset(counter, 0, sizeof counter);
	enabled = running = 0;
	failed_group = forbidden = 0;
	steps = 0;
	memory.reader.owner = tach_mini__thread();
	memory.reader.page_size = 4096;
	memory.reader.hot.count = EVENTS;
	memory.reader.hot.fast = 1;
	memory.reader.hot.mask = MASK;
	memory.reader.hard.leader = 3;
	memory.reader.hard.id = 5;
	memory.reader.hard.count = EVENTS;
	for (int i = 0; i < EVENTS; i++) {
		page[i] = (struct perf_event_mmap_page *)(void *)memory.pages[i];
		memory.reader.hot.way[i].page = page[i];
		memory.reader.hard.member[i] = (uint8_t)i;
		counter[i].count = 7000;
		page[i]->lock = 40;
		put(i, (uint32_t)i + 1);
	}
	steps = 0;
}

/* 1 if the region's values are right: the counts between the latest begin and the earliest end,
 * or more. */
static int region(unsigned k, uint64_t amount, long at, long *middle, long *total)
{
	struct tach_mini m;
	uint64_t before[EVENTS], begun[EVENTS], ending[EVENTS], after[EVENTS],
		delta[TACH_MINI_COUNTERS_MAX];
	uint32_t flags;
	int right = 1;

	prepare();
	memset(&m, 0, sizeof m);
	m.reader = &memory.reader.hot;
	m.count = EVENTS;
	point = at;
	act = acts[k].act;
	for (int i = 0; i < EVENTS; i++)
		before[i] = counter[i].count;
	tach_mini_begin_n(&m, EVENTS);
	for (int i = 0; i < EVENTS; i++)
		begun[i] = counter[i].count;
	*middle = steps;
	work(amount);
	step();
	work(amount);
	for (int i = 0; i < EVENTS; i++)
		ending[i] = counter[i].count;
	flags = tach_mini_end_n(&m, delta, EVENTS);
	for (int i = 0; i < EVENTS; i++)
		after[i] = counter[i].count;
	*total = steps;
	for (int i = 0; i < EVENTS; i++) {
		uint64_t least = ending[i] - begun[i], most = after[i] - before[i];

		if (flags & TACH_MINI_FLAG_LOST)
			right &= delta[i] == 0 && !acts[k].lossless;
		else
			right &= delta[i] >= least && delta[i] <= most;
	}
	if (at == *middle && acts[k].must)
		right &= (flags & acts[k].must) != 0;
	if (!acts[k].act)
		right &= flags == 0 || amount > 400; /* an interrupt changed the page */
	return right;
}

int main(void)
{
	int bad = 0;

	for (unsigned k = 0; k < sizeof acts / sizeof *acts; k++)
		for (int a = 0; a < 3; a++) {
			static const uint64_t amounts[] = {0, 300, 100000};
			long middle = 0, total = 1000;
			int wrong = 0;

			for (long at = 0; at <= total; at++)
				wrong += !region(k, amounts[a], at, &middle, &total);
			if (wrong)
				printf("# %s, work of %d: %d of %ld steps wrong\n",
				       acts[k].name, (int)amounts[a], wrong, total);
			bad += wrong;
		}
	return bad != 0;
}

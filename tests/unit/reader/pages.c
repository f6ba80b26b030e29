/* SPDX-License-Identifier: MIT */
/*
 * Tests which members get a kernel page, and how core/reader/pages.c, compiled here, uses its
 * content. The pages are memory of the test. The test replaces the architecture's answers:
 * whether correct reads fault, and which events must not be read.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "tests/unit/reader/simulated.h"

static int reads_fault;	    /* correct ones may */
static uint64_t unreadable; /* a config */
/* Number of reads that fault; the page changes during the later ones. */
static int faults, seldom;
static int counters_read;
uint64_t read_counter(uint32_t *seen);

#undef TACH_ARCH_FAULTS
#define TACH_ARCH_FAULTS reads_fault
#undef TACH_ARCH_UNREADABLE
#define TACH_ARCH_UNREADABLE(attr) (unreadable && (attr)->config == unreadable)
#undef TACH_WIDTH
#define TACH_WIDTH(width) ((width) >= 1 && (width) <= 64)
#undef TACH_STUBS
#define TACH_STUBS(width) ((const char *)(uintptr_t)(width))
#undef TACH_COUNTER
#undef TACH_COUNTER_48
#define TACH_COUNTER(way, number, value, seen)                                                 \
	((void)(way), (void)(number), (value) = read_counter(&(seen)))
#define TACH_MODULAR 1
#include "core/reader/reader.h"
#include "core/set/set.h"
#include "tests/check.h"

enum { PAGE = 4096, SLOTS = 0x400, RETIRING = 0x8000, BAD = 0x8100 };

/* Metrics follow their slots, also on architectures that have none (core/reader/fields.c). */
static int sim_find(struct tach__topdown *t, const struct tach_set *set, int core,
		    const struct tach__group *group)
{
	CHECK(core == -1);
	t->members = 0;
	for (int i = 0; i < group->count; i++)
		if (set->member[group->member[i]].attr.config >= RETIRING)
			t->members |= 1u << group->member[i];
	if (!t->members || set->member[group->member[0]].attr.config != SLOTS)
		return 0;
	t->group = group;
	return 1;
}

#define tach__topdown_find sim_find
#include "core/reader/pages.c"

static struct {
	_Alignas(PAGE) char page[1 + TACH__PAGES][PAGE];
} memory;
static struct tach__reader *const r = (struct tach__reader *)&memory;
static struct tach_set set;

/*
 * Simulates the kernel: member i's descriptor is 10 + i, and shown[i] + 1 becomes its mapped
 * page.
 */
static struct perf_event_mmap_page shown[TACH_COUNTERS_MAX];
static struct {
	long at, size, fd;
} call[64];
static int calls;
static int refused = -1; /* number of the page that cannot be mapped */
/* number of the page that is mapped at another address than requested */
static int elsewhere = -1;

void sim_step(void)
{
}

uint64_t read_counter(uint32_t *seen)
{
	struct perf_event_mmap_page *page = (void *)memory.page[1];

	counters_read++;
	if (faults-- > 0)
		*seen |= 1;
	else if (seldom)
		page->lock += 2;
	return 5;
}

static long sys(long number, long a, long b, long c, long d, long e, long f)
{
	CHECK(number == SYS_mmap && c == PROT_READ && f == 0 && d & MAP_FIXED);
	CHECK(a % PAGE == 0 && a > (long)&memory && a + b <= (long)(&memory + 1));
	if (calls < 64) {
		call[calls].at = (a - (long)memory.page[1]) / PAGE;
		call[calls].size = b;
		call[calls++].fd = e;
	}
	memset((void *)a, 0, (size_t)b);
	if (e < 0) {
		CHECK(d == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED) && e == -1);
		return a;
	}
	CHECK(d == (MAP_SHARED | MAP_FIXED) && b == PAGE && e >= 10);
	if (call[calls - 1].at == refused)
		return -EPERM;
	memcpy((void *)a, &shown[e - 10], sizeof shown[0]);
	return call[calls - 1].at == elsewhere ? a + PAGE : a;
}

/* How often a page of that descriptor was requested. */
static int asked(long at, long fd)
{
	int n = 0;

	for (int i = 0; i < calls; i++)
		n += call[i].at == at && call[i].fd == fd;
	return n;
}

static struct perf_event_mmap_page *page_of(int i)
{
	return (struct perf_event_mmap_page *)memory.page[1 + i];
}

/* Makes HARD hardware members after SOFT others, all with counters of that width. */
static void make(int soft, int hard, unsigned width)
{
	memset(&memory, 0, sizeof memory);
	memset(&set, 0, sizeof set);
	reads_fault = faults = seldom = counters_read = calls = 0;
	unreadable = 0;
	refused = elsewhere = -1;
	tach__sys = sys;
	r->set = &set;
	r->page_size = PAGE;
	r->hot.mask = ~(uint64_t)0;
	set.count = soft + hard;
	r->hard.count = hard;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++) {
		r->hot.way[i].page = tach__reader_page(r, i);
		r->fd[i] = 10 + i;
		r->hard.member[i] = (uint8_t)(soft + i < TACH_COUNTERS_MAX ? soft + i : 0);
		set.member[i].attr.type = PERF_TYPE_RAW;
		set.member[i].attr.config = 0xc0 + (uint64_t)i;
		shown[i] = (struct perf_event_mmap_page){.lock = 2,
							 .index = (uint32_t)i + 1,
							 .cap_user_rdpmc = 1,
							 .pmc_width = (uint16_t)width};
	}
}

/* ---- zeros ---- */

static void zero_pages_where_requested(void)
{
	for (int page = 0; page < TACH__PAGES - 1; page++) {
		make(0, 1, 48);
		memset(memory.page[1], 0xff, sizeof memory.page - PAGE);
		r->mapped = ~0u;
		tach__page_zero(r, page);
		CHECK(calls == 1 && call[0].at == page && call[0].size == PAGE);
		CHECK(r->mapped == ~(1u << page), "%#x", r->mapped);
	}
	/* All pages are reserved; the spare page is the last. */
	tach__pages_zero(r);
	CHECK(calls == 2 && call[1].at == 0 && call[1].size == (TACH_COUNTERS_MAX + 1) * PAGE);
}

/* ---- mapping ---- */

static void each_member_has_its_page(void)
{
	make(1, 3, 48);
	tach__pages_map(r);
	CHECK(calls == 3 && asked(1, 11) && asked(2, 12) && asked(3, 13));
	CHECK(r->mapped == 14 && r->slow == TACH__FAST, "%#x", r->mapped);
	/* If a page is refused, a page of zeros takes its place, and the cause is recorded. */
	make(0, 3, 48);
	refused = 1;
	tach__pages_map(r);
	CHECK(r->mapped == 5 && asked(1, 11) == 1 && asked(1, -1) == 1 && calls == 4);
	CHECK(r->slow == TACH__SLOW_MAP && r->slow_code == -EPERM, "%d", r->slow_code);
	make(0, 2, 48);
	elsewhere = 0;
	tach__pages_map(r);
	CHECK(r->mapped == 2 && asked(0, -1) == 1 && r->slow == TACH__SLOW_MAP);
	make(0, 2, 48);
	set.flags = TACH_SET_MULTIPLEX;
	reads_fault = 1;
	tach__pages_map(r);
	CHECK(calls == 0 && r->mapped == 0 && r->slow == TACH__SLOW_MULTIPLEX);
	CHECK(r->slow_code == 0);
}

/* If reads may fault, a blocked SIGILL kills the process. */
static void blocked_signals(void)
{
	sigset_t own, before;

	for (int blocks = 0; blocks < 2; blocks++)
		for (int fault = 0; fault < 2; fault++) {
			int slow = blocks && fault;

			make(0, 2, 48);
			reads_fault = fault;
			sigemptyset(&own);
			sigaddset(&own, SIGUSR1);
			if (blocks)
				sigaddset(&own, SIGILL);
			pthread_sigmask(SIG_BLOCK, &own, &before);
			tach__pages_map(r);
			CHECK(pthread_sigmask(SIG_SETMASK, &before, &own) == 0 &&
			      sigismember(&own, SIGILL) == blocks &&
			      sigismember(&own, SIGUSR1) && !sigismember(&own, SIGUSR2));
			CHECK(r->slow == (slow ? TACH__SLOW_BLOCKED : TACH__FAST) &&
			      r->slow_code == 0 && calls == (slow ? 0 : 2));
		}
}

static void what_must_not_be_read(void)
{
	make(0, 3, 48);
	unreadable = 0xc1;
	tach__pages_map(r);
	CHECK(r->mapped == 5 && calls == 2 && asked(1, 11) == 0);
	CHECK(r->slow == TACH__SLOW_FIRMWARE && r->slow_code == 1);
}

/* Slots are read at the spare page, metrics at none; neither is if slots are not the leader. */
static void topdown(void)
{
	for (int leads = 0; leads < 2; leads++)
		for (int spare = 0; spare < 2; spare++) {
			int on = leads && spare;

			make(1, 4, 48);
			set.member[1].attr.config = leads ? SLOTS : 0xc0;
			set.member[2].attr.config = RETIRING;
			set.member[4].attr.config = BAD;
			refused = spare ? -1 : TACH__SPARE;
			tach__pages_map(r);
			CHECK(r->topdown.on == on && asked(TACH__SPARE, 11) == leads);
			CHECK(r->mapped == (on ? 1u << TACH__SPARE | 8 : 10), "%#x", r->mapped);
			CHECK(asked(1, 11) == !on && asked(2, 12) == 0 && asked(4, 14) == 0);
			CHECK(r->hot.way[1].page == tach__reader_page(r, on ? TACH__SPARE : 1));
			if (on)
				CHECK(r->slow == TACH__FAST && r->topdown.way == r->hot.way);
			else
				CHECK(leads ? r->slow == TACH__SLOW_MAP
					    : r->slow == TACH__SLOW_METRIC &&
						      r->slow_code == 2);
		}
}

/* ---- judging ---- */

static void judged(int soft, const unsigned *width, int n)
{
	make(soft, n, 48);
	for (int i = 0; i < n; i++)
		shown[soft + i].pmc_width = (uint16_t)width[i];
	tach__pages_map(r);
	tach__pages_judge(r);
}

static void widths_make_the_mask(void)
{
	static const struct {
		unsigned width[3], mask; /* in bits; 64: all ones */
	} cases[] = {
		{{48, 48, 48}, 48}, {{64, 64, 64}, 64}, {{48, 64, 48}, 47}, {{64, 48, 64}, 47},
		{{49, 48, 48}, 47}, {{48, 48, 49}, 47}, {{49, 50, 64}, 49}, {{40, 64, 48}, 40},
		{{47, 48, 48}, 47}, {{63, 64, 64}, 63}, {{48, 47, 64}, 47}, {{64, 64, 50}, 50},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t mask =
			cases[i].mask == 64 ? ~(uint64_t)0 : ((uint64_t)1 << cases[i].mask) - 1;

		judged(0, cases[i].width, 3);
		CHECK(r->hot.mask == mask && r->extend == 0 && r->hot.fast == 1 &&
			      r->slow == TACH__FAST && r->mapped == 7,
		      "%zu: %#llx", i, (unsigned long long)r->hot.mask);
		for (int k = 0; k < 3; k++)
			CHECK(r->hot.way[k].page == (void *)page_of(k) &&
			      (uintptr_t)r->hot.way[k].stubs == cases[i].width[k]);
	}
	/* A member that is not a hardware event is not read inline. */
	judged(1, (unsigned[]){48, 48}, 2);
	CHECK(r->hot.fast == 0 && r->slow == TACH__FAST && r->hot.mask == (1ull << 48) - 1);
	CHECK(!r->hot.way[0].stubs && r->hot.way[1].stubs);
	judged(1, NULL, 0);
	CHECK(r->hot.fast == 0 && r->hot.mask == ~(uint64_t)0 && r->extend == 0);
}

/*
 * Sums of narrow counters are sign-extended, and the first member's page selects the slow path.
 */
static void narrow_counters(void)
{
	static const unsigned width[2] = {48, 39};

	for (int soft = 0; soft < 2; soft++)
		for (int spare = 0; spare < 2; spare++) {
			int there = !soft && spare;

			make(soft, 2, 48);
			shown[soft + 1].pmc_width = (uint16_t)width[1];
			tach__pages_map(r);
			refused = spare ? -1 : TACH__SPARE;
			calls = 0;
			page_of(0)->index = 1;
			tach__pages_judge(r);
			CHECK(r->extend == 1 && r->hot.mask == ~(uint64_t)0);
			CHECK(asked(TACH__SPARE, 10) == !soft && asked(0, -1) == 1);
			CHECK(r->hot.way[0].page ==
			      tach__reader_page(r, there ? TACH__SPARE : 0));
			CHECK(page_of(0)->index == 0 && !(r->mapped & 1));
			CHECK(!there || page_of(TACH__SPARE)->index == 1);
		}
}

/* Some pages forbid user access. */
static void pages_that_forbid(void)
{
	for (int which = 0; which < 4; which++) {
		make(0, 2, 48);
		if (which == 0)
			shown[0].pmc_width = 0;
		if (which == 1)
			shown[0].pmc_width = 65;
		shown[0].cap_user_rdpmc = which != 2;
		shown[0].index = which != 3;
		tach__pages_map(r);
		r->slow_code = -1;
		calls = 0;
		tach__pages_judge(r);
		CHECK(r->hot.fast == 0 && r->slow == TACH__SLOW_ACCESS && r->slow_code == 0,
		      "%d", which);
		CHECK(r->mapped == (which < 2 ? 2 : 3) && asked(0, -1) == (which < 2), "%d",
		      which);
		CHECK(!r->hot.way[0].stubs == (which < 2) && r->hot.way[1].stubs);
		CHECK(r->hot.mask == (1ull << 48) - 1 && r->extend == 0);
		CHECK(counters_read == 0);
	}
}

/* If no member can be read, their widths are not used. */
static void no_counter_at_all(void)
{
	make(0, 2, 0);
	tach__pages_map(r);
	tach__pages_judge(r);
	CHECK(r->hot.fast == 0 && r->hot.mask == ~(uint64_t)0 && r->extend == 0);
}

/* Three faults in a row are not chance; this is tested only if reads may fault. */
static void counters_that_always_fault(void)
{
	for (int fault = 0; fault < 2; fault++)
		for (int n = 0; n < 4; n++) {
			int dead = fault && n == 3;

			make(0, 1, 48);
			reads_fault = fault;
			tach__pages_map(r);
			faults = n;
			calls = 0;
			tach__pages_judge(r);
			CHECK(r->hot.fast == !dead && r->mapped == !dead &&
				      asked(0, -1) == dead,
			      "%d: %d", fault, n);
			CHECK(r->slow == (dead ? TACH__SLOW_ACCESS : TACH__FAST));
			CHECK(counters_read == (!fault ? 0 : n == 3 ? 3 : n + 1));
		}
	/* The page changes during the read, or shows no counter: the reader learns nothing. */
	make(0, 1, 48);
	reads_fault = seldom = 1;
	tach__pages_map(r);
	tach__pages_judge(r);
	CHECK(r->hot.fast == 1 && counters_read == 1);
	make(0, 1, 48);
	reads_fault = 1;
	faults = 9;
	shown[0].index = 0;
	tach__pages_map(r);
	tach__pages_judge(r);
	CHECK(r->hot.fast == 0 && r->mapped == 1 && counters_read == 0);
}

static void slots_are_judged_at_the_spare_page(void)
{
	for (int which = 0; which < 5; which++) {
		make(0, 3, 48);
		set.member[0].attr.config = SLOTS;
		set.member[1].attr.config = RETIRING;
		if (which < 2)
			shown[0].pmc_width = (uint16_t)(40 - which);
		shown[0].cap_user_rdpmc = which != 2;
		shown[0].index = which != 3;
		tach__pages_map(r);
		r->slow_code = -1;
		calls = 0;
		tach__pages_judge(r);
		CHECK(r->topdown.on);
		CHECK(r->hot.fast == (which == 0 || which == 4), "%d", which);
		CHECK(r->slow == (r->hot.fast ? TACH__FAST : TACH__SLOW_ACCESS) &&
		      r->slow_code == (r->hot.fast ? -1 : 0));
		CHECK(calls == (which == 1) && asked(TACH__SPARE, -1) == calls);
		CHECK(r->hot.mask == (1ull << 48) - 1 && r->extend == 0);
		CHECK(!r->hot.way[0].stubs && !r->hot.way[1].stubs && r->hot.way[2].stubs);
	}
}

int main(void)
{
	CASE(zero_pages_where_requested);
	CASE(each_member_has_its_page);
	CASE(blocked_signals);
	CASE(what_must_not_be_read);
	CASE(topdown);
	CASE(widths_make_the_mask);
	CASE(narrow_counters);
	CASE(pages_that_forbid);
	CASE(no_counter_at_all);
	CASE(counters_that_always_fault);
	CASE(slots_are_judged_at_the_spare_page);
	return check_done();
}

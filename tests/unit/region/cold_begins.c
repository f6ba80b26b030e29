/* SPDX-License-Identifier: MIT */
/*
 * The slow paths of START: what they prepare, and how an entry begins after them. The test
 * replaces all functions that they call, and records each call.
 */
#include <stdio.h>
#include "core/reader/reader.h"
#include "core/region/beacon.h"
#include "core/region/cost.h"
#include "core/region/reads.h"

static struct tach__slot *sim_slot_at(const struct tach__thread *of, uint32_t id);
static struct tach__site *sim_site_at(uint32_t id);
static void *sim_pages(size_t size);
static uint64_t sim_draw(struct tach__thread *of);
static uint32_t *sim_histograms(uint32_t sums);
static int sim_flat_ready(struct tach__thread *of);
static void sim_worst_slot(struct tach__thread *of, uint32_t id);
static uint32_t sim_split_id(const struct tach__thread *of, uint32_t id);
static int sim_grow(struct tach__thread *of, uint32_t id);
static void sim_split_set(struct tach__thread *of, uint32_t id, struct tach__slot *slot);
static uint32_t sim_register(struct tach_site *site);
static int sim_enabled(void);
static struct tach__hot *sim_thread_ready(uint32_t id);
static void sim_configure(void);
static const struct tach__beacon *sim_owner(void);
static int sim_alone(void);
static int sim_gated(struct tach__thread *of, struct tach__slot *slot);
static void sim_reader_begin(struct tach_reader *reader, struct tach_mark *of);
static uint32_t sim_read(const struct tach__hot *self, const struct tach_mark *begun,
			 uint64_t *delta, int fenced);
static int sim_sum(struct tach_way way, int extend, uint64_t *sum, uint32_t *lock);
static void sim_slow(struct tach_reader *reader, struct tach_mark *of, unsigned n);
static uint64_t sim_clock(void);

#define tach__slot_at		 sim_slot_at
#define tach__site_at		 sim_site_at
#define tach__pages		 sim_pages
#define tach__sampling_draw	 sim_draw
#define tach__histograms_make	 sim_histograms
#define tach__flat_ready	 sim_flat_ready
#define tach__worst_slot	 sim_worst_slot
#define tach__split_id		 sim_split_id
#define tach__slots_grow	 sim_grow
#define tach__split_set		 sim_split_set
#define tach__site_register	 sim_register
#define tach__enabled_here	 sim_enabled
#define tach__thread_ready	 sim_thread_ready
#define tach__configure_once	 sim_configure
#define tach__beacon_owner	 sim_owner
#define tach__beacon_is_excluded sim_alone
#define tach__sampling_skips	 sim_gated
#define tach_reader_begin	 sim_reader_begin
#define tach__edges_read	 sim_read
#define tach__sum		 sim_sum
#define tach__begin_slow	 sim_slow
#define tach_clock		 sim_clock
#undef TACH_FENCE
#define TACH_FENCE() fence()
static void fence(void);
#include "tests/ordered.h"
#define UNDER_TEST "core/region/cold_start.c"
#include "tests/unit/region/cold.h"

enum { ID = TACH__SITE_FIRST, ROW }; /* slots 1 and 2 */

/* A snapshot that reads a slot's id finds the whole slot ready. */
static void ordered(const void *at, int order)
{
	for (int i = 0; i < SLOTS; i++)
		CHECK(at != &slots[i].slot.id || order == __ATOMIC_RELEASE);
}

static struct tach__site sites[2];
static struct tach_site site;
static struct tach__config config;
static _Alignas(4096) union {
	struct tach__reader it;
	/* The leader's page, then each counter's page. */
	char pages[4096 * (2 + TACH_COUNTERS_MAX)];
} reader;
static const char stubs[16]; /* stands for the addresses of the counters' code */
static struct tach__sampling sampling;
static uint32_t histograms[1];
static struct {
	/* The test's script. */
	int enabled[3]; /* results, one per call; -1: unchanged */
	int no_thread, flat, gated, no_row, alone;
	struct tach__sampling *sampling;
	uint32_t registered, row;
	const struct tach__beacon *owner;
	uint32_t locks[4]; /* locks that the reads return; odd: the read failed; 0: correct
			      reads */
	int slow_pairs;	   /* number of slow reads during which a handler's region ends */
	/* What there was. */
	int asked, nsums;
	struct tach_site *of;
	struct tach__slot *slot, *row_slot;
	struct tach__part *part;
	struct tach_region_mark *to;
	uint64_t state;
	struct tach_mark read;
} sim;

static struct perf_event_mmap_page *page(int i)
{
	return (struct perf_event_mmap_page *)(void *)(reader.pages + 4096 * (1 + i));
}

static struct tach__slot *sim_slot_at(const struct tach__thread *of, uint32_t id)
{
	CHECK(of == &record && (id == ID || id == ROW || id < TACH__SITE_FIRST));
	return &slots[id == ROW ? 2 : 1].slot;
}

static struct tach__site *sim_site_at(uint32_t id)
{
	CHECK(id == ID || id == ROW);
	return &sites[id - ID];
}

static void *sim_pages(size_t size)
{
	SAY("pages ");
	CHECK(size == sizeof sampling);
	return sim.sampling;
}

static uint64_t sim_draw(struct tach__thread *of)
{
	CHECK(of == &record);
	return 17;
}

static uint32_t *sim_histograms(uint32_t sums)
{
	CHECK(sums == SUMS);
	SAY("histograms ");
	return histograms;
}

static int sim_flat_ready(struct tach__thread *of)
{
	CHECK(of == &record);
	SAY("flat ");
	return sim.flat;
}

static void sim_worst_slot(struct tach__thread *of, uint32_t id)
{
	CHECK(of == &record && sim_slot_at(of, id)->id == 0);
	SAY("worst %u ", id - ID + 1);
}

static uint32_t sim_split_id(const struct tach__thread *of, uint32_t id)
{
	CHECK(of == &record && id == ID);
	SAY("row ");
	return sim.row;
}

static int sim_grow(struct tach__thread *of, uint32_t id)
{
	CHECK(of == &record && id == sim.row);
	SAY("grow ");
	return sim.no_row;
}

static void sim_split_set(struct tach__thread *of, uint32_t id, struct tach__slot *slot)
{
	CHECK(of == &record && id == ID);
	sim.row_slot = slot;
	SAY("set ");
}

static uint32_t sim_register(struct tach_site *of)
{
	CHECK(of == &site);
	SAY("register ");
	site.id = sim.registered;
	return sim.registered;
}

static int sim_enabled(void)
{
	return sim.enabled[sim.asked++];
}

static struct tach__hot *sim_thread_ready(uint32_t id)
{
	CHECK(id == ID);
	SAY("thread ");
	tach__self = hot;
	return sim.no_thread ? NULL : hot;
}

static void sim_configure(void)
{
	SAY("configure ");
}

static const struct tach__beacon *sim_owner(void)
{
	SAY("owner ");
	return sim.owner;
}

static int sim_alone(void)
{
	return sim.alone;
}

static int sim_gated(struct tach__thread *of, struct tach__slot *slot)
{
	CHECK(of == &record && slot == &slots[1].slot);
	SAY("gated ");
	return sim.gated;
}

static void sim_reader_begin(struct tach_reader *of, struct tach_mark *to)
{
	CHECK(of == &reader.it.hot);
	sim.read = *to;
	to->lock = 31;
	SAY("warm ");
}

static uint32_t sim_read(const struct tach__hot *self, const struct tach_mark *begun,
			 uint64_t *delta, int fenced)
{
	CHECK(self == hot && begun->lock == 31 && delta && !fenced);
	SAY("read ");
	return 0;
}

static int sim_sum(struct tach_way way, int extend, uint64_t *sum, uint32_t *lock)
{
	uint32_t failed = sim.locks[sim.nsums++];
	long i = way.page == page(1);

	CHECK(way.page == page((int)i) && extend == !TACH_MODULAR && sim.nsums < 4);
	*sum = 500 + (uint64_t)i;
	*lock = failed ? failed : way.page->lock;
	return !failed;
}

static void sim_slow(struct tach_reader *of, struct tach_mark *to, unsigned n)
{
	CHECK(of == &reader.it.hot && to == &mark.counters && n == COUNT);
	SAY("slow ");
	if (sim.slow_pairs-- > 0)
		hot->pairs[0]++;
}

static void fence(void)
{
	SAY("fence ");
}

static uint64_t sim_clock(void)
{
	SAY("clock ");
	return 123456;
}

/* ---- what begins then ---- */

static void ends(struct tach_region_mark *unused)
{
	(void)unused;
}

static void began(int fenced, struct tach_region_mark *to, struct tach__slot *slot,
		  struct tach__part *part, struct tach__hot *self)
{
	SAY(fenced ? "begin fenced " : "begin ");
	CHECK(self == hot);
	sim.to = to;
	sim.slot = slot;
	sim.part = part;
}

static void begin_0(struct tach_site *of, struct tach_region_mark *to, struct tach__slot *slot,
		    struct tach__part *part, struct tach__hot *self)
{
	sim.of = of;
	began(0, to, slot, part, self);
}

static void begin_1(struct tach_site *of, struct tach_region_mark *to, struct tach__slot *slot,
		    struct tach__part *part, struct tach__hot *self)
{
	sim.of = of;
	began(1, to, slot, part, self);
}

static void flat_begin(struct tach_site *of, struct tach_region_mark *to,
		       struct tach__slot *slot, struct tach__part *part, struct tach__hot *self)
{
	begin_0(of, to, slot, part, self);
}

static void open_0(uint64_t state, struct tach_region_mark *to, struct tach__slot *slot,
		   struct tach__part *part, struct tach__hot *self)
{
	sim.state = state;
	SAY("open ");
	began(0, to, slot, part, self);
}

static void open_1(uint64_t state, struct tach_region_mark *to, struct tach__slot *slot,
		   struct tach__part *part, struct tach__hot *self)
{
	sim.state = state;
	SAY("open ");
	began(1, to, slot, part, self);
}

static void elsewhere_0(struct tach_site *of, struct tach_region_mark *to)
{
	sim.of = of;
	sim.to = to;
	SAY("elsewhere ");
}

static void elsewhere_1(struct tach_site *of, struct tach_region_mark *to)
{
	sim.of = of;
	sim.to = to;
	SAY("elsewhere fenced ");
}

/* Prepares `level` open regions; another region begins, and its slot is ready. */
static void begin(uint32_t level)
{
	struct tach__slot *slot = &slots[1].slot;

	thread_begin();
	memset(&sim, 0, sizeof sim);
	memset(&config, 0, sizeof config);
	memset(&sampling, 0, sizeof sampling);
	memset(sites, 0, sizeof sites);
	memset(&site, 0, sizeof site);
	for (int n = 0; n < 3; n++)
		sim.enabled[n] = 1;
	tach__beacon.state = TACH__BEACON_OWNER;
	site.id = sim.registered = ID;
	hot->state = TACH__STATE(OPENING, EPOCH, level);
	hot->reader = &reader.it.hot;
	hot->begin[0] = begin_0;
	hot->begin[1] = begin_1;
	hot->begin_flat = flat_begin;
	hot->open[0] = open_0;
	hot->open[1] = open_1;
	record.config = &config;
	record.limit = 64;
	record.epoch = EPOCH;
	for (int i = 0; i < COUNT; i++) {
		reader.it.hot.way[i] = (struct tach_way){page(i), stubs};
		page(i)->index = 4 + (uint32_t)i;
		page(i)->lock = 20 + 10 * (uint32_t)i;
	}
	page(COUNT)->lock = 7; /* of no counter */
	for (uint32_t at = 0; at < level; at++)
		tach__stack(hot, at)[1] = &slots[3].slot;
	slot->id = ID;
	slot->rest = TACH__OUTER_NONE;
	for (int inner = 0; inner < 2; inner++) {
		tach__part(slot, COUNT, inner)->outer = TACH__OUTER_NONE;
		tach__part(slot, COUNT, inner)->ceiling = TACH__CEILING_OPEN;
	}
	tach__table(hot)[ID] = slot;
	if (!level)
		cost_record = NULL;
}

/* The same with a slot that is not ready. */
static void begin_unready(uint32_t level)
{
	begin(level);
	memset(&slots[1], 0, sizeof slots[1]);
	tach__table(hot)[ID] = NULL;
}

static uint64_t lost(void)
{
	return __atomic_load_n(&tach__registry.lost, __ATOMIC_RELAXED);
}

/* ---- the first entry ---- */

static void slot_is(const struct tach__slot *slot, uintptr_t rest)
{
	CHECK(slot->rest == rest && tach__part(slot, COUNT, 0)->outer == rest);
	CHECK(tach__part(slot, COUNT, 0)->ceiling == TACH__CEILING_OPEN &&
	      tach__part(slot, COUNT, 1)->ceiling == TACH__CEILING_OPEN);
	CHECK(tach__part(slot, COUNT, 1)->outer == 0);
}

static void first_entry(void)
{
	for (int fenced = 0; fenced < 2; fenced++)
		for (int is_new = 0; is_new < 2; is_new++) {
			struct tach__slot *slot = &slots[1].slot;

			begin_unready(0);
			site.id = is_new ? TACH_SITE_NEW : ID;
			sites[0].fenced = fenced ? TACH__SITE_FENCED_BIT : 0;
			slot->word[TACH__SLOT_WORDS(COUNT) - 1] = 9;
			tach__begin_cold(&site, &mark, fenced);
			if (is_new)
				CHECK(strncmp(said,
					      "configure cost heal lock register unlock "
					      "thread ",
					      48) == 0);
			memmove(said, strstr(said, "thread"),
				strlen(strstr(said, "thread")) + 1);
			SAID(fenced ? "thread worst 1 epochs spent begin fenced "
				    : "thread worst 1 epochs spent begin ");
			CHECK(slot->id == ID && tach__table(hot)[ID] == slot);
			CHECK(slot->fenced == fenced && !slot->task && !slot->sampling &&
			      !slot->histograms && slot->begin == begin_0);
			slot_is(slot, TACH__OUTER_NONE);
			CHECK(slot->word[TACH__SLOT_WORDS(COUNT) - 1] == 0);
			CHECK(sim.of == &site && sim.to == &mark && sim.slot == slot);
			CHECK(sim.part == tach__part(slot, COUNT, 0));
			CHECK(cost.around == 0 && cost.level == 0);
		}
}

/* Entries of tasks are never skipped, with any set. */
static void slots_of_all_kinds(void)
{
	static const struct {
		uint32_t fenced, sparse, warmup, histograms;
		int memory, flat;
		const char *said;
	} kinds[] = {
		{0, 1, 0, 0, 1, 0, "worst 1 "},
		{0, 2, 0, 0, 1, 0, "pages worst 1 "},
		{0, 2, 0, 0, 0, 0, "pages worst 1 "},
		{0, 0, 3, 1, 1, 0, "pages histograms worst 1 "},
		{TACH__SITE_TASK, 2, 3, 1, 1, 0, "histograms worst 1 "},
		{TACH_SITE_FLAT, 0, 0, 0, 0, 1, "flat worst 1 "},
		{TACH_SITE_FLAT, 0, 0, 0, 0, 0, "flat worst 1 "},
	};

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct tach__slot *slot = &slots[1].slot;
		int samples = strncmp(kinds[k].said, "pages", 5) == 0 && kinds[k].memory;
		char want[120];

		begin_unready(0);
		sites[0].fenced = kinds[k].fenced;
		config.sparse = kinds[k].sparse;
		config.warmup = kinds[k].warmup;
		config.histograms = kinds[k].histograms;
		sim.sampling = kinds[k].memory ? &sampling : NULL;
		sim.flat = kinds[k].flat;
		tach__begin_cold(&site, &mark, 0);
		snprintf(want, sizeof want, "configure cost heal thread %sepochs spent begin ",
			 kinds[k].said);
		SAID(want);
		CHECK(slot->task == (kinds[k].fenced == TACH__SITE_TASK) && !slot->fenced);
		CHECK(slot->sampling == (samples ? &sampling : NULL));
		CHECK(!samples || sampling.gap == 17);
		slot_is(slot, samples ? 0 : TACH__OUTER_NONE);
		CHECK(slot->histograms == (kinds[k].histograms ? histograms : NULL));
		CHECK(slot->begin == (kinds[k].flat ? flat_begin : begin_0));
	}
}

/* The slot of the entry's row is prepared too, if there is room. */
static void divided_rows(void)
{
	static struct tach__slot **none;

	for (int k = 0; k < 5; k++) {
		struct tach__slot *row = &slots[k == 2 ? 1 : 2].slot;

		begin_unready(0);
		record.splits = k == 4 ? NULL : &none;
		record.limit = k == 0 ? ROW + 1 : ROW;
		sim.row = k == 3 ? ID : ROW;
		sim.no_row = k == 2 ? -1 : 0;
		tach__begin_cold(&site, &mark, 0);
		SAID(k == 0   ? "configure cost heal thread worst 1 row worst 2 set epochs "
				"spent begin "
		     : k == 1 ? "configure cost heal thread worst 1 row grow worst 2 set "
				"epochs spent begin "
		     : k == 2 ? "configure cost heal thread worst 1 row grow set epochs spent "
				"begin "
		     : k == 3 ? "configure cost heal thread worst 1 row set epochs spent begin "
			      : "configure cost heal thread worst 1 epochs spent begin ");
		if (k < 3)
			CHECK(sim.row_slot == row && row->id == (k == 2 ? ID : ROW));
	}
}

/* Another set may be activated while the thread follows to one; inside a region it waits. */
static void until_no_set_is_pending(void)
{
	begin_unready(0);
	pending = 2;
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost heal thread worst 1 thread thread epochs spent begin ");
	begin_unready(1);
	pending = 2;
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost heal thread worst 1 residue spent begin ");
}

/* ---- entries that are skipped ---- */

static void not_measured(void)
{
	uint64_t before;

	/* This region, or all regions, are switched off. */
	begin_unready(0);
	site.id = TACH_SITE_OFF;
	before = lost();
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost heal epochs spent ");
	begin_unready(0);
	site.id = TACH_SITE_NEW;
	sim.registered = TACH_SITE_OFF;
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost heal lock register unlock epochs spent ");
	begin_unready(0);
	sim.enabled[0] = 0;
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost heal epochs spent ");
	CHECK(lost() == before);
	/* If there is no memory for the slot, an enabled entry is lost. */
	for (int wanted = 0; wanted < 2; wanted++) {
		begin_unready(0);
		sim.no_thread = 1;
		sim.enabled[1] = wanted;
		tach__begin_cold(&site, &mark, 0);
		SAID("configure cost heal thread epochs spent ");
		CHECK(lost() == before + (uint64_t)wanted);
	}
	/* A handler runs during library code. */
	begin_unready(0);
	tach__signals_held++;
	tach__begin_cold(&site, &mark, 0);
	tach__begin_checked(&site, &mark, &slots[1].slot, 0, hot);
	tach__signals_held--;
	SAID("");
	CHECK(lost() == before + 3);
	/* The thread is not open yet, so no region was left open, and no epoch began. */
	begin_unready(0);
	hot->record = NULL;
	site.id = TACH_SITE_OFF;
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost spent ");
}

static void calibrating(void)
{
	begin(0);
	hot->limit = 0;
	site.id = TACH__SITE_FLAT;
	tach__begin_cold(&site, &mark, 0);
	SAID("configure cost epochs spent begin ");
	CHECK(hot->limit == 64 && tach__table(hot)[TACH__SITE_FLAT] == &slots[1].slot);
	CHECK(sim.slot == &slots[1].slot);
}

/* ---- the cost for the enclosing regions ---- */

static void inside_others(void)
{
	for (int fenced = 0; fenced < 2; fenced++)
		for (int unready = 0; unready < 2; unready++) {
			begin_unready(LEVEL);
			if (unready)
				tach__begin_checked(&site, &mark, &slots[1].slot, fenced, hot);
			else
				tach__begin_cold(&site, &mark, fenced);
			SAID(fenced ? "configure cost heal thread worst 1 residue "
				      "spent "
				      "begin fenced "
				    : "configure cost heal thread worst 1 residue "
				      "spent "
				      "begin ");
			CHECK(cost.around == LEVEL && cost.level == LEVEL);
			CHECK(memcmp(cost.residue, record.residue.begin[unready][fenced],
				     sizeof cost.residue) == 0);
		}
}

/* ---- another copy's regions ---- */

static void another_copy(void)
{
	static struct tach__beacon owner = {.begin = {elsewhere_0, elsewhere_1}};

	for (int fenced = 0; fenced < 2; fenced++) {
		begin_unready(0);
		tach__beacon.state = TACH__BEACON_JOINED;
		sim.owner = &owner;
		tach__begin_cold(&site, &mark, fenced);
		SAID(fenced ? "configure owner elsewhere fenced "
			    : "configure owner elsewhere ");
		CHECK(site.begin == owner.begin[fenced] && sim.of == &site && sim.to == &mark &&
		      site.id == ID);
		/* This copy has another layout than the owner. */
		begin_unready(0);
		tach__beacon.state = TACH__BEACON_EXCLUDED;
		sim.alone = 1;
		mark.end = ends;
		tach__begin_cold(&site, &mark, fenced);
		SAID("configure owner ");
		CHECK(site.id == TACH_SITE_OFF && !mark.end && !site.begin);
		/* This copy was inactive, and is the owner now. */
		begin_unready(0);
		tach__beacon.state = TACH__BEACON_ASLEEP;
		tach__begin_cold(&site, &mark, fenced);
		SAID(fenced ? "configure owner configure cost heal thread worst 1 epochs spent "
			      "begin fenced "
			    : "configure owner configure cost heal thread worst 1 epochs spent "
			      "begin ");
	}
}

/* ---- unusual entries ---- */

static void sampled(void)
{
	struct tach__slot *slot = &slots[1].slot;

	for (uint32_t sparse = 1; sparse < 3; sparse++)
		for (uint32_t count = 0; count <= COUNT; count += COUNT)
			for (int gated = 0; gated < 2; gated++) {
				begin(0);
				hot->count = count;
				slot->sampling = &sampling;
				slot->rest = tach__part(slot, count, 0)->outer = 0;
				config.sparse = sparse;
				sim.gated = gated;
				record.passed = 55;
				tach__begin_checked(&site, &mark, slot, 1, hot);
				SAID(gated ? "gated "
				     : sparse == 1 || count == 0
					     ? "gated open begin fenced "
					     : "gated warm read open begin fenced ");
				CHECK(sampling.begun == (gated ? 0 : 55));
			}
}

static void pair_ends(void)
{
	at_order = NULL;
	hot->pairs[0] += 5;
	hot->state += (uint64_t)1 << 32;
}

/* The state is read after the pairs, so it is the state before or after a handler. */
static void start_reads_state_after_pairs(void)
{
	struct tach__slot *slot = &slots[1].slot;

	for (int fenced = 0; fenced < 2; fenced++) {
		begin(LEVEL);
		hot->pairs[0] = 3;
		hot->pairs[1] = 2;
		tach__part(slot, COUNT, 0)->outer = (uintptr_t)&mark;
		tach__part(slot, COUNT, 0)->ceiling = TACH__STATE(OPENING, EPOCH, LEVEL + 1);
		at_order = pair_ends;
		tach__begin_checked(&site, &mark, slot, fenced, hot);
		SAID(fenced ? "open begin fenced " : "open begin ");
		CHECK(mark.pairs[0] == 3 && mark.pairs[1] == 2);
		CHECK(sim.state == TACH__STATE(OPENING, EPOCH + 1, LEVEL) && sim.to == &mark);
		CHECK(sim.slot == slot && sim.part == tach__part(slot, COUNT, 0));
	}
}

/*
 * An entry inside an open entry of the same region; the mark's address shows which entry is
 * open.
 */
static void recursions(void)
{
	struct tach__slot *slot = &slots[1].slot;
	struct tach__part *part = tach__part(slot, COUNT, 0);
	struct tach_region_mark marks[3];
	static struct tach_region_mark below[1];

	for (int k = 0; k < 8; k++) {
		struct tach_region_mark *outer = &marks[1];

		begin(LEVEL);
		memset(marks, 0, sizeof marks);
		part->ceiling = TACH__STATE(OPENING, EPOCH, LEVEL - (k == 7));
		if (k == 1)
			outer = &marks[2];
		if (k == 6)
			outer = below;
		outer->part = k == 2 ? (void *)&mark : part;
		outer->state = part->ceiling - (k == 3 ? 0 : 1);
		outer->end = k == 4 ? NULL : ends;
		part->outer = (uintptr_t)outer;
		tach__begin_checked(&site, k == 5 ? &marks[1] : &marks[2], slot, 0, hot);
		/* If that is uncertain, START checks whether that entry was left open. */
		SAID(k == 0 || k == 7 ? "aside0 open begin "
				      : "configure cost heal thread residue spent open begin ");
		CHECK(sim.part == tach__part(slot, COUNT, 1));
		CHECK(k == 0 || k == 7 ||
		      memcmp(cost.residue, record.residue.begin[1][0], sizeof cost.residue) ==
			      0);
	}
	/* Asked in vain. */
	begin(LEVEL);
	part->outer = (uintptr_t)&below[0];
	part->ceiling = TACH__STATE(OPENING, EPOCH, LEVEL);
	sim.enabled[0] = 0;
	tach__begin_checked(&site, &mark, slot, 0, hot);
	SAID("configure cost heal residue spent ");
}

/* A STOP is interrupted just before its end. */
static void start_checks_a_closing_stop(void)
{
	struct tach__slot *slot = &slots[1].slot;

	begin(LEVEL);
	tach__part(slot, COUNT, 0)->outer = (uintptr_t)&mark;
	tach__begin_checked(&site, &mark, slot, 0, hot);
	SAID("configure cost heal thread residue spent open begin ");
	CHECK(sim.part == tach__part(slot, COUNT, 0));
}

/* ---- torn ones ---- */

/* The state after START: the level is raised, and the entry is on the stack. */
static struct tach__part *begin_torn(uint32_t level)
{
	struct tach__slot *slot = &slots[1].slot;
	struct tach__part *part = tach__part(slot, COUNT, 0);

	begin(level);
	mark.state = hot->state;
	mark.part = part;
	mark.counters.lock = 4;
	hot->state++;
	tach__stack(hot, level)[1] = slot;
	for (uint32_t k = 0; k <= level; k++) /* the other parts are not checked */
		*tach__marks(tach__stack(hot, k)) = &mark;
	part->outer = (uintptr_t)&mark;
	part->ceiling = hot->state;
	return part;
}

static void torn_start_begins_again(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		struct tach__part *part = begin_torn(LEVEL);

		hot->pairs[0] = 8;
		hot->pairs[1] = 1;
		sim.locks[1] = 2; /* torn once more */
		/* The state after a handler's region that took this place and ended. */
		part->outer = TACH__OUTER_NONE;
		part->ceiling = TACH__CEILING_OPEN;
		tach__begin_torn(fenced, &mark, hot);
		SAID(fenced ? "open begin fenced " : "open begin ");
		CHECK(sim.nsums == 3 && orders == 2);
		CHECK(mark.pairs[0] == 8 && mark.pairs[1] == 1);
		CHECK(sim.state == mark.state && sim.to == &mark && sim.part == part &&
		      sim.slot == &slots[1].slot);
		CHECK(mark.state == TACH__STATE(OPENING, EPOCH, LEVEL) &&
		      hot->state == mark.state + 1 && part->ceiling == mark.state + 1 &&
		      part->outer == (uintptr_t)&mark);
		CHECK(mark.counters.value[0] == 500 && mark.counters.value[1] == 501);
	}
}

/* A handler took a slow path, right before the state is read again. */
static void epoch_ends(void)
{
	at_order = NULL;
	record.epoch++;
	hot->state += (uint64_t)1 << 32;
}

static void start_begins_again_in_another_epoch(void)
{
	struct tach__part *part = begin_torn(LEVEL);

	at_order = epoch_ends;
	tach__begin_torn(0, &mark, hot);
	CHECK(mark.state == TACH__STATE(OPENING, EPOCH + 1, LEVEL) &&
	      hot->state == mark.state + 1 && part->ceiling == mark.state + 1);
	/* The record has the newest epoch. */
	begin_torn(LEVEL);
	record.epoch = EPOCH + 3;
	tach__begin_torn(0, &mark, hot);
	CHECK(mark.state == TACH__STATE(OPENING, EPOCH + 3, LEVEL));
}

/* A handler found that enclosing regions were left open, or stopped one: the level is lower. */
static void start_begins_again_at_another_level(void)
{
	static const struct {
		uint32_t top, own, level; /* own: the position of the region's slot */
		int lost;
	} cases[] = {
		{LEVEL + 1, LEVEL, LEVEL, 0},
		{LEVEL + 2, LEVEL, LEVEL, 0},
		{LEVEL, LEVEL - 1, LEVEL - 1, 0},
		{LEVEL, LEVEL, LEVEL, 1},
		{1, 0, 0, 0},
		{1, LEVEL, 1, 1},
		{0, LEVEL, 0, 1},
	};
	struct tach__slot *slot = &slots[1].slot;

	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct tach__part *part = begin_torn(LEVEL);

		tach__stack(hot, LEVEL)[1] = &slots[3].slot;
		tach__stack(hot, cases[k].own)[1] = slot;
		tach__stack(hot, 0)[0] = slot; /* none is there */
		hot->state = TACH__STATE(OPENING, EPOCH, cases[k].top);
		slot->lost = 9;
		tach__begin_torn(0, &mark, hot);
		CHECK(slot->lost == 9 - (uint64_t)cases[k].lost, "%zu", k);
		CHECK(mark.state == TACH__STATE(OPENING, EPOCH, cases[k].level), "%zu: %x", k,
		      TACH__LEVEL(mark.state));
		CHECK(hot->state == mark.state + 1 && part->ceiling == hot->state &&
		      tach__stack(hot, cases[k].level)[1] == slot);
		CHECK(*tach__marks(tach__stack(hot, cases[k].level)) == &mark);
	}
	/*
	 * The innermost enclosing region left the stack before START stored the raised level.
	 */
	begin_torn(LEVEL);
	*tach__marks(tach__stack(hot, LEVEL - 1)) = NULL;
	*tach__marks(tach__stack(hot, LEVEL - 2)) = NULL;
	slot->lost = 9;
	tach__begin_torn(0, &mark, hot);
	CHECK(mark.state == TACH__STATE(OPENING, EPOCH, LEVEL - 2) && slot->lost == 9 &&
	      hot->state == mark.state + 1);
}

/* The counter cannot be read; an odd lock shows it. */
static void slow(void)
{
	for (int fenced = 0; fenced < 2; fenced++)
		for (int ended = 0; ended < 2; ended++) {
			struct tach__part *part = begin_torn(LEVEL);
			uint64_t locks;

			hot->pairs[1] = 1;
			sim.locks[fenced] = 1;
			sim.slow_pairs = ended;
			tach__begin_torn(fenced, &mark, hot);
			if (fenced)
				SAID(ended ? "fence slow clock fence fence slow clock fence "
					   : "fence slow clock fence ");
			else
				SAID(ended ? "slow clock slow clock " : "slow clock ");
			CHECK(sim.nsums == 1 + fenced);
			CHECK(mark.counters.clock == 123456 &&
			      mark.pairs[0] == (uint64_t)ended && mark.pairs[1] == 1);
			CHECK(hot->state == mark.state + 1 && part->ceiling == hot->state);
			memcpy(&locks, &mark.counters.reader, sizeof locks);
			CHECK(locks & 1); /* no sum of locks is odd */
		}
}

/* ---- places of counters ---- */

/*
 * The record of a counter: the lock at which its page showed a number, or the address of the
 * code for that number.
 */
static uint64_t known(int i)
{
#ifdef TACH_COUNTER_AT
	return (uint64_t)(uintptr_t)hot->seen[i].at;
#else
	return hot->seen[i].number;
#endif
}

static uint64_t shown(int i)
{
#ifdef TACH_COUNTER_AT
	return (uint64_t)(uintptr_t)stubs + 16 * (uint64_t)page(i)->index;
#else
	tach__word number = 0;

	(void)TACH_NUMBER(page(i)->index, number);
	return (uint64_t)page(i)->lock << 32 | (uint32_t)number;
#endif
}

static void looked_up(void)
{
	for (uint32_t level = 0; level <= LEVEL; level += LEVEL)
		for (int fenced = 0; fenced < 2; fenced++)
			for (uint32_t elsewhere = 0; elsewhere < 2; elsewhere++) {
				begin_torn(level);
				hot->cached = 1;
				hot->since.lock = elsewhere ? 20 : 22;
				hot->since.locks = 48;
				tach__begin_torn(fenced, &mark, hot);
				if (level) {
					SAID(fenced ? "cost residue spent open begin fenced "
						    : "cost residue spent open begin ");
					CHECK(cost.around == level && cost.level == level);
					CHECK(memcmp(cost.residue,
						     record.residue.stale[elsewhere][fenced],
						     sizeof cost.residue) == 0);
				} else {
					SAID(fenced ? "open begin fenced " : "open begin ");
				}
				CHECK(record.stale == 1 && orders == 3);
				CHECK(hot->since.lock == 20 && hot->since.locks == 50);
				for (int i = 0; i < COUNT; i++)
					CHECK(known(i) == shown(i));
			}
}

/* The pages did not change since. */
static void seen_before(void)
{
	for (int odd = 0; odd < 2; odd++) {
		begin_torn(LEVEL);
		hot->cached = 1;
		hot->since.lock = 20 + (uint32_t)odd;
		hot->since.locks = 50;
		tach__begin_torn(0, &mark, hot);
		SAID(odd ? "cost residue spent open begin " : "open begin ");
		CHECK(record.stale == (uint64_t)odd);
	}
}

/*
 * Index 0, or a page that is being written: the counter is read slowly, and nothing is
 * recorded.
 */
static void unreadable_counters_are_not_recorded(void)
{
	for (int k = 0; k < 4; k++) {
		begin_torn(0);
		hot->cached = 1;
		hot->since.lock = 7;
		hot->since.locks = 9;
		if (k % 2)
			page(k / 2)->lock++;
		else
			page(k / 2)->index = 0;
		tach__begin_torn(0, &mark, hot);
		SAID("slow clock ");
		CHECK(hot->since.lock == 7 && hot->since.locks == 9 && record.stale == 1);
		CHECK(known(k / 2) == 0);
	}
}

int main(void)
{
	struct tach__hot *own = tach__self;
	uint32_t state = tach__beacon.state;

	CASE(first_entry);
	CASE(slots_of_all_kinds);
	CASE(divided_rows);
	CASE(until_no_set_is_pending);
	CASE(not_measured);
	CASE(calibrating);
	CASE(inside_others);
	CASE(another_copy);
	CASE(sampled);
	CASE(start_reads_state_after_pairs);
	CASE(recursions);
	CASE(start_checks_a_closing_stop);
	CASE(torn_start_begins_again);
	CASE(start_begins_again_in_another_epoch);
	CASE(start_begins_again_at_another_level);
	CASE(slow);
	CASE(looked_up);
	CASE(seen_before);
	CASE(unreadable_counters_are_not_recorded);
	tach__self = own;
	tach__beacon.state = state;
	return check_done();
}

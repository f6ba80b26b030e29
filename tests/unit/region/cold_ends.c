/* SPDX-License-Identifier: MIT */
/*
 * The slow paths of STOP: how they use their reads, and in which order. The test replaces all
 * functions that they call, and records each call.
 */
#include "core/region/cost.h"
#include "core/region/reads.h"

static int sim_stop(const struct tach__hot *self, const struct tach_region_mark *mark,
		    uint64_t state, struct tach__reading *r, int fenced);
static void sim_since(const struct tach__hot *self, const struct tach_region_mark *mark,
		      struct tach__reading *r);
static void sim_add(struct tach__hot *self, struct tach_region_mark *mark,
		    struct tach__reading *r, int fenced);
static void sim_cost_settle(struct tach__thread *of, uint32_t epoch, const uint64_t *spent,
			    uint64_t *delta);
static void sim_level_end(struct tach__thread *of, struct tach_region_mark *mark,
			  uint32_t level, struct tach__reading *r, int fenced);
static void sim_cost_add(struct tach__thread *of, const uint64_t *sums, uint32_t level);

#define tach__edges_stop    sim_stop
#define tach__edges_since   sim_since
#define tach__edges_add	    sim_add
#define tach__cost_subtract sim_cost_settle
#define tach__level_end	    sim_level_end
#define tach__cost_add	    sim_cost_add
#define UNDER_TEST	    "core/region/cold_stop.c"
#include "tests/unit/region/cold.h"

static struct {
	/*
	 * The test's script: results of tach__edges_stop, one per call, and events in between.
	 */
	int stops[4];
	uint64_t cold_after[4], state_after[4];
	uint32_t flags, since_flags;
	int lowers;
	/* What there was. */
	int nstops;
	uint64_t asked[4]; /* states with which the region was stopped */
	int fenced, add_fenced;
	struct tach__reading added;
	struct tach__slot *around, *slot;
	uint64_t mark_state, hot_state;
	uint32_t settled_epoch;
	uint64_t spent[SUMS];
} sim;

/* A reader, and the page of its leader. */
static _Alignas(4096) union {
	struct tach__reader reader;
	char room[4096 + sizeof(struct perf_event_mmap_page)];
} leader;

static void begin_reader(uint32_t lock)
{
	static struct perf_event_mmap_page *const page =
		(struct perf_event_mmap_page *)(void *)(leader.room + 4096);

	leader.reader.hot.fast = 1;
	leader.reader.extend = !TACH_MODULAR;
	leader.reader.hot.way[0].page = page;
	page->lock = lock;
	record.reader = &leader.reader.hot;
}

static uint64_t read_now(int stop, uint32_t i)
{
	return 100000 * (uint64_t)(i + 1) + 10 * (uint64_t)stop;
}

static int sim_stop(const struct tach__hot *self, const struct tach_region_mark *of,
		    uint64_t state, struct tach__reading *r, int fenced)
{
	int n = sim.nstops++;

	SAY("stop ");
	CHECK(self == hot && of == &mark && n < 4);
	sim.asked[n] = state;
	sim.fenced = fenced;
	for (uint32_t i = 0; i < TACH__SUMS; i++)
		r->delta[i] = read_now(n, i);
	r->flags = sim.flags;
	r->inside[0] = 5;
	r->inside[1] = 2;
	r->again = 0;
	record.cold[0] += sim.cold_after[n];
	record.costs += sim.cold_after[n] != 0;
	hot->state += sim.state_after[n];
	return sim.stops[n];
}

static void sim_since(const struct tach__hot *self, const struct tach_region_mark *of,
		      struct tach__reading *r)
{
	SAY("since ");
	CHECK(self == hot && of == &mark);
	r->flags |= sim.since_flags;
}

static void sim_add(struct tach__hot *self, struct tach_region_mark *of,
		    struct tach__reading *r, int fenced)
{
	struct tach__slot **stack = tach__stack(self, of->state);

	SAY("add ");
	CHECK(self == hot && of == &mark);
	sim.added = *r;
	sim.add_fenced = fenced;
	sim.around = stack[0];
	sim.slot = stack[1];
	sim.mark_state = of->state;
	sim.hot_state = self->state;
	if (sim.lowers)
		self->state =
			TACH__STATE(TACH__OPENING(self->state), TACH__EPOCH(self->state), 0);
}

static void sim_cost_settle(struct tach__thread *of, uint32_t epoch, const uint64_t *spent,
			    uint64_t *delta)
{
	SAY("settle ");
	CHECK(of == &record);
	sim.settled_epoch = epoch;
	memcpy(sim.spent, spent, sizeof sim.spent);
	for (int i = 0; i < SUMS; i++)
		delta[i] += 7;
}

static void sim_level_end(struct tach__thread *of, struct tach_region_mark *at, uint32_t level,
			  struct tach__reading *r, int fenced)
{
	CHECK(of == &record);
	SAY("level %u ", level);
	at->state = TACH__STATE(TACH__OPENING(at->state), TACH__EPOCH(at->state), level);
	sim_add(hot, at, r, fenced);
}

static void sim_cost_add(struct tach__thread *of, const uint64_t *sums, uint32_t level)
{
	CHECK(of == &record &&
	      (sums == record.residue.spent[0] || sums == record.residue.spent[1]));
	SAY("known%s %u ", sums == record.residue.spent[1] ? " fenced" : "", level);
}

/* Regions with slots 1 to level + 1 are open; the mark belongs to the innermost. */
static void begin(uint32_t level)
{
	struct tach__part *part;

	thread_begin();
	for (uint32_t at = 0; at <= level; at++) {
		tach__stack(hot, at)[0] = at ? &slots[at].slot : record.outside;
		tach__stack(hot, at)[1] = &slots[at + 1].slot;
	}
	/* Entries above the innermost region are left from regions that have ended. */
	tach__stack(hot, level)[2] = &slots[level + 1].slot;
	memset(&sim, 0, sizeof sim);
	for (int n = 0; n < 4; n++)
		sim.stops[n] = 1;
	mark.state = TACH__STATE(OPENING, EPOCH, level);
	part = tach__part(&slots[level + 1].slot, COUNT, 0);
	part->outer = (uintptr_t)&mark;
	part->ceiling = mark.state + 1;
	mark.part = part;
	hot->state = mark.state + 1;
	*tach__marks(tach__stack(hot, level)) = &mark;
	record.reader = &leader.reader.hot;
}

/*
 * Checks the values of one read: without the part that was not added, and all other sums except
 * the set's.
 */
static void added(int stop, uint32_t flags, uint64_t less, int fenced)
{
	for (uint32_t i = 0; i < TACH__SUMS; i++) {
		uint64_t want = read_now(stop, i) - (i < SUMS && less ? less + i : 0);

		CHECK(sim.added.delta[i] == want, "%d: %d, not %d", (int)i,
		      (int)sim.added.delta[i], (int)want);
	}
	CHECK(sim.added.flags == flags, "%x", sim.added.flags);
	CHECK(sim.added.inside[0] == 5 && sim.added.inside[1] == 2);
	CHECK(sim.add_fenced == fenced);
}

static struct tach__reading reading(uint32_t again, uint32_t flags)
{
	struct tach__reading r = {.inside = {5, 2}, .again = again, .flags = flags};

	for (uint32_t i = 0; i < TACH__SUMS; i++)
		r.delta[i] = read_now(0, i);
	return r;
}

/* ---- values that were already read ---- */

static void read_without_a_region_around(void)
{
	for (int fenced = 0; fenced < 2; fenced++)
		for (int known = 0; known < 2; known++) {
			struct tach__reading r = reading(0, 0);

			begin(0);
			record.residue_known = known;
			tach__end_read(&mark, &r, fenced);
			SAID("since add ");
			added(0, 0, 0, fenced);
		}
}

/* The cost of the second reading is subtracted, once it is known. */
static void read_twice(void)
{
	for (int fenced = 0; fenced < 2; fenced++)
		for (int known = 0; known < 2; known++)
			for (uint32_t flags = 0; flags < 2; flags++) {
				struct tach__reading r = reading(1, flags * TACH_FLAG_SYSCALL);

				begin(0);
				record.residue_known = known;
				tach__end_read(&mark, &r, fenced);
				if (known)
					SAID("since add ");
				else
					SAID("cost residue heal since add spent ");
				added(0, flags ? TACH_FLAG_SYSCALL : TACH_FLAG_RESCHEDULED,
				      record.residue.again[!flags][fenced][0], fenced);
				if (!known) /* an unflagged one: the page of another member than
					       the leader */
					CHECK(memcmp(cost.residue,
						     record.residue.rescheduled[!flags][fenced],
						     sizeof cost.residue) == 0);
			}
}

static void read_in_another(void)
{
	for (int fenced = 0; fenced < 2; fenced++)
		for (uint32_t epochs = 0; epochs < 2; epochs++) {
			struct tach__reading r = reading(0, 0);

			begin(LEVEL);
			hot->state += (uint64_t)epochs << 32;
			sim.since_flags = TACH_FLAG_INCOMPLETE;
			tach__end_read(&mark, &r, fenced);
			SAID("cost residue heal since add spent ");
			added(0, TACH_FLAG_INCOMPLETE, 0, fenced);
			CHECK(cost.around == LEVEL && cost.level == LEVEL);
			CHECK(memcmp(cost.residue, record.residue.rescheduled[0][fenced],
				     sizeof cost.residue) == 0);
		}
}

/* The state in which the fast STOP leaves the mark. */
static void rescheduled(void)
{
	uint64_t delta[TACH__SUMS];

	for (int fenced = 0; fenced < 2; fenced++) {
		begin(0);
		for (uint32_t i = 0; i < TACH__SUMS; i++)
			delta[i] = read_now(0, i);
		tach__store_reading(&mark, delta, COUNT);
		mark.pairs[0] = 5;
		mark.pairs[1] = 2;
		sim.since_flags = TACH_FLAG_INCOMPLETE;
		tach__end_rescheduled(&mark, fenced);
		SAID("since add ");
		CHECK(memcmp(sim.added.delta, delta, SUMS * sizeof *delta) == 0);
		CHECK(sim.added.inside[0] == 5 && sim.added.inside[1] == 2);
		CHECK(sim.added.flags == TACH_FLAG_INCOMPLETE && sim.add_fenced == fenced);
	}
}

/* ---- values that are read again ---- */

static void stop_reads_again_after_a_page_change(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		begin(0);
		mark.counters.lock = 8;
		tach__end_moved(&mark, fenced);
		SAID("stop since add ");
		CHECK(sim.asked[0] == mark.state + 1 && sim.fenced == fenced);
		added(0, TACH_FLAG_RESCHEDULED, record.residue.again[1][fenced][0], fenced);
		/* START had read no counters, so no cost is subtracted. */
		begin(0);
		mark.counters.lock = 9;
		tach__end_moved(&mark, fenced);
		SAID("stop since since add ");
		CHECK(sim.asked[0] == mark.state + 1 && sim.fenced == fenced);
		added(0, TACH_FLAG_RESCHEDULED, 0, fenced);
		/* A handler ran between the reads. */
		begin(0);
		mark.counters.lock = 8;
		sim.stops[0] = 0;
		tach__end_moved(&mark, fenced);
		SAID("stop stop since since add ");
		CHECK(sim.asked[1] == mark.state + 1);
		added(1, TACH_FLAG_RESCHEDULED, 0, fenced);
	}
}

static void torn_stop_reads_again(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		begin(0);
		sim.since_flags = TACH_FLAG_INCOMPLETE;
		tach__end_torn(&mark, fenced);
		SAID("stop since since add ");
		CHECK(sim.asked[0] == mark.state + 1 && sim.fenced == fenced);
		added(0, TACH_FLAG_INCOMPLETE, 0, fenced);
		/* A handler took a slow path before the read or during it. */
		for (int before = 0; before < 2; before++) {
			begin(0);
			hot->state += (uint64_t)before << 32;
			sim.stops[0] = before;
			tach__end_torn(&mark, fenced);
			if (before)
				SAID("stop cost residue since settle heal level 0 add "
				     "spent ");
			else
				SAID("stop stop cost residue since heal level 0 add "
				     "spent ");
			CHECK(sim.asked[!before] == hot->state && sim.fenced == fenced);
			added(!before, TACH_FLAG_RESCHEDULED,
			      record.residue.before[fenced][0] - (before ? 7 : 0), fenced);
		}
	}
}

/* ---- any state ---- */

static void cold_stop_subtracts_its_cost(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		begin(LEVEL);
		tach__end_cold(&mark, fenced);
		SAID("stop cost residue since heal level 3 add spent ");
		CHECK(sim.asked[0] == hot->state && sim.fenced == fenced);
		added(0, 0, record.residue.before[fenced][0], fenced);
		CHECK(cost.around != 0 && cost.level == TACH__LEVEL(hot->state));
		for (uint32_t i = 0; i < SUMS; i++)
			CHECK(cost.residue[i] == record.residue.before[fenced][i] +
							 record.residue.after[fenced][i]);
		CHECK(sim.slot == &slots[LEVEL + 1].slot);
		CHECK(hot->limit == 64);
	}
}

/* START was in another epoch: costs up to the read are subtracted. */
static void cold_in_another_epoch(void)
{
	begin(LEVEL);
	record.residue_known = 0;
	hot->state += (uint64_t)1 << 32;
	sim.since_flags = TACH_FLAG_INCOMPLETE;
	tach__end_cold(&mark, 0);
	SAID("stop cost residue since settle heal level 3 add spent ");
	CHECK(sim.settled_epoch == EPOCH);
	for (uint32_t i = 0; i < SUMS; i++)
		CHECK(sim.spent[i] == 40 + i);
	added(0, TACH_FLAG_INCOMPLETE, record.residue.before[0][0] - 7, 0);
	CHECK(sim.mark_state == TACH__STATE(OPENING, EPOCH, LEVEL));
}

/* Only the epoch differs. */
static void begin_spent(uint32_t level)
{
	begin(level);
	record.residue_known = 1;
	record.epoch = EPOCH + 1;
	mark.counters.lock = 8;
	begin_reader(8);
	hot->state += (uint64_t)1 << 32;
}

static void only_spent(void)
{
	for (int fenced = 0; fenced < 2; fenced++) {
		begin_spent(LEVEL);
		tach__end_cold(&mark, fenced);
		if (fenced)
			SAID("stop settle add known fenced 3 ");
		else
			SAID("stop settle add known 3 ");
		CHECK(sim.settled_epoch == EPOCH && sim.spent[1] == 41);
		added(0, 0, record.residue.before[fenced][0] - 7, fenced);
		CHECK(sim.hot_state == TACH__STATE(OPENING, EPOCH + 1, LEVEL + 1));
		CHECK(record.epoch == EPOCH + 1);
	}
	/*
	 * The read's record of its page is known, also after a START that took the slow path.
	 */
	for (int odd = 0; odd < 2; odd++) {
		begin_spent(LEVEL);
		begin_reader(10);
		mark.counters.lock |= (uint32_t)odd;
		sim.flags = odd ? 0 : TACH_FLAG_RESCHEDULED;
		tach__end_cold(&mark, 0);
		SAID("stop settle add known 3 ");
	}
	/* A flat region is never inside another. */
	begin_spent(0);
	tach__end_not_flat(&mark, TACH__FLAT_STATE);
	SAID("stop settle add ");
	added(0, 0, record.unflat[TACH__FLAT_STATE][0] - 7, 0);
	/* The outermost region restarts the epochs while it is open. */
	CHECK(sim.hot_state == TACH__STATE(OPENING, 0, 1) && record.epoch == 0);
}

/* Each of these differs in more than the epoch. */
static void more_than_spent(void)
{
	static int32_t owed[1][2];
	static struct tach_region_mark another;

	for (int what = 0; what < 6; what++) {
		begin_spent(what == 4 ? 0 : LEVEL);
		begin_reader(what == 5 ? 10 : 8);
		record.residue_known = what != 0;
		record.owed = what == 1 ? owed : NULL;
		if (what == 2)
			hot->state++;
		if (what == 3)
			*tach__marks(tach__stack(hot, LEVEL)) = &another;
		pending = what == 4;
		tach__end_cold(&mark, 0);
		CHECK(strstr(said, "stop cost residue since settle heal ") == said, "%d: %s",
		      what, said);
	}
	record.owed = NULL;
	said[0] = 0;
	/* A handler took a slow path during the reads. */
	begin_spent(LEVEL);
	tach__end_torn(&mark, 0);
	SAID("stop cost residue since settle heal level 3 add spent ");
}

static void another_epoch(void)
{
	/* Now after the state was read. */
	if (orders < 2)
		return;
	at_order = NULL;
	hot->state += (uint64_t)1 << 32;
}

/* A handler runs during the read: the read is repeated, and the cost of the last one counts. */
static void cold_with_handlers(void)
{
	begin(LEVEL);
	record.residue_known = 0;
	sim.stops[0] = 0;
	sim.state_after[0] = (uint64_t)1 << 32;
	sim.cold_after[1] = 1000;
	tach__end_cold(&mark, 1);
	SAID("stop stop stop cost residue since settle heal level 3 add spent ");
	CHECK(sim.asked[0] == mark.state + 1 && sim.asked[1] == hot->state &&
	      sim.asked[2] == hot->state);
	CHECK(sim.spent[0] == 1040 && sim.spent[1] == 41 && sim.spent[2] == 42);
	added(2, 0, record.residue.before[1][0] - 7, 1);
	/* The handler may also run before the read, after the cost was determined. */
	begin(LEVEL);
	record.residue_known = 0;
	at_order = another_epoch;
	sim.stops[0] = 0;
	tach__end_cold(&mark, 0);
	CHECK(sim.asked[0] == mark.state + 1 && sim.asked[1] == hot->state && orders == 4);
	SAID("stop stop cost residue since settle heal level 3 add spent ");
	/*
	 * If it runs after the read, the cost does not belong to this epoch, because enclosing
	 * regions subtract it.
	 */
	begin(LEVEL);
	record.residue_known = 0;
	sim.stops[1] = 0;
	sim.state_after[0] = (uint64_t)1 << 32;
	tach__end_cold(&mark, 0);
	SAID("stop cost residue since heal level 3 add spent ");
}

/* The outermost region: no enclosing region gets a cost, and another set may be waiting. */
static void cold_and_outermost(void)
{
	for (int other = 0; other < 2; other++)
		for (int lowers = 0; lowers < 2; lowers++) {
			begin(0);
			pending = other;
			sim.lowers = lowers;
			tach__end_cold(&mark, 0);
			if (lowers)
				SAID("stop cost residue since heal level 0 add epochs "
				     "spent ");
			else
				SAID("stop cost residue since heal level 0 add "
				     "spent ");
			CHECK(hot->limit == (lowers && other ? 0 : 64), "%d", (int)hot->limit);
		}
}

/* ---- flat regions that become general ---- */

static void unflat_stop_subtracts_extra_counts(void)
{
	for (int why = TACH__FLAT_MOVED; why < TACH__UNFLAT; why++)
		for (uint32_t flags = 0; flags < 2; flags++) {
			uint32_t told = why == TACH__FLAT_INSIDE ? 0 : TACH_FLAG_RESCHEDULED;
			/* If the leader's page did not change, another page did. */
			int is = why == TACH__FLAT_MOVED && !flags ? TACH__FLAT_MOVED_ELSEWHERE
								   : why;

			if (why == TACH__FLAT_MOVED_ELSEWHERE)
				continue;
			begin(0);
			sim.since_flags = flags * TACH_FLAG_INCOMPLETE;
			tach__end_not_flat(&mark, (enum tach__unflat)why);
			SAID("stop since add ");
			CHECK(sim.asked[0] == mark.state + 1 && !sim.fenced);
			added(0, flags ? TACH_FLAG_INCOMPLETE : told, record.unflat[is][0], 0);
			/* Not even that. */
			begin(0);
			sim.stops[0] = 0;
			sim.since_flags = flags * TACH_FLAG_INCOMPLETE;
			tach__end_not_flat(&mark, (enum tach__unflat)why);
			SAID("stop stop cost residue since heal level 0 add spent ");
			added(1, flags * TACH_FLAG_INCOMPLETE | TACH_FLAG_RESCHEDULED,
			      record.unflat[why][0], 0);
		}
	begin(0);
	tach__end_not_flat(&mark, TACH__FLAT_STATE);
	SAID("stop cost residue since heal level 0 add spent ");
	CHECK(sim.asked[0] == hot->state);
	added(0, 0, record.unflat[TACH__FLAT_STATE][0], 0);
	/*
	 * The slow path cannot measure this cost itself; it is the same as for other regions.
	 */
	CHECK(cost.residue[0] == record.residue.before[0][0] + record.residue.after[0][0]);
}

/* ---- the entry's place on the stack ---- */

/* An entry is found by its mark, at any level. */
static void found_by_its_mark(void)
{
	for (uint32_t level = 0; level <= LEVEL; level++) {
		begin(LEVEL);
		*tach__marks(tach__stack(hot, LEVEL)) = NULL;
		*tach__marks(tach__stack(hot, level)) = &mark;
		tach__end_cold(&mark, 0);
		CHECK(mark.state == TACH__STATE(OPENING, EPOCH, level), "%d", (int)level);
		CHECK(cost.around != 0 && cost.level == TACH__LEVEL(hot->state));
		CHECK(sim.added.flags == 0);
	}
}

/* A copied mark finds the entry at its level if that entry began when the mark says. */
static void found_by_a_copy(void)
{
	static struct tach_region_mark moved;

	for (int same = 0; same < 2; same++) {
		begin(LEVEL);
		*tach__marks(tach__stack(hot, LEVEL)) = &moved;
		if (!same)
			((struct tach__part *)mark.part)->ceiling += (uint64_t)1 << 32;
		tach__end_cold(&mark, 0);
		CHECK((strstr(said, "level 3 add") != NULL) == same, "%s", said);
		CHECK((sim.added.flags == TACH_FLAG_INCOMPLETE) == !same);
	}
}

/* The entry is not counted in another region, and is no longer counted as lost. */
static void found_nowhere(void)
{
	for (int other = 0; other < 2; other++)
		for (int open = 0; open < 2; open++) {
			struct tach__slot *slot = &slots[LEVEL + 1].slot;
			struct tach__part *part = tach__part(slot, COUNT, 0);

			begin(LEVEL);
			hot->state--;
			tach__stack(hot, LEVEL)[1] = &slots[1].slot;
			*tach__marks(tach__stack(hot, LEVEL)) = NULL;
			slot->lost = 9;
			if (other)
				part->outer--;
			if (open) { /* the entry was never on the stack */
				part->ceiling = TACH__CEILING_OPEN;
				tach__stack(hot, LEVEL)[2] = NULL;
			}
			tach__end_cold(&mark, 1);
			SAID("stop cost residue since heal add spent ");
			CHECK(slot->lost == (other || open ? 8 : 9), "%d", (int)slot->lost);
			CHECK(sim.mark_state == TACH__STATE(OPENING, EPOCH, LEVEL) &&
			      sim.hot_state == sim.mark_state + 1);
			CHECK(sim.around == record.outside && sim.slot == slot);
			CHECK(tach__stack(hot, LEVEL)[0] == &slots[LEVEL].slot);
			added(0, TACH_FLAG_INCOMPLETE, record.residue.before[1][0], 1);
		}
	/* The level in the mark is then ignored. */
	begin(LEVEL);
	*tach__marks(tach__stack(hot, LEVEL)) = NULL;
	hot->state = TACH__STATE(OPENING, EPOCH, 1);
	tach__end_cold(&mark, 0);
	CHECK(sim.mark_state == TACH__STATE(OPENING, EPOCH, 1) &&
	      sim.hot_state == sim.mark_state + 1 && sim.around == record.outside);
	CHECK(tach__stack(hot, 1)[0] == &slots[1].slot);
}

/* ---- refused stops ---- */

static void ends(struct tach_region_mark *unused)
{
	(void)unused;
}

static uint64_t refused(void)
{
	return __atomic_load_n(&tach__registry.refused, __ATOMIC_RELAXED);
}

static void another_threads(void)
{
	static struct tach__hot others[4];
	static struct tach__thread threads[4];
	uint64_t before = refused();

	begin(0);
	tach__registry.inherited = OPENING - 1;
	CDS_INIT_LIST_HEAD(&tach__registry.threads);
	for (int i = 3; i >= 0; i--) {
		threads[i].hot = &others[i];
		others[i].limit = 64;
		others[i].state = TACH__STATE(i == 0 ? OPENING + 1 : OPENING, 0, 1);
		threads[i].folded = i == 1;
		cds_list_add(&threads[i].node, &tach__registry.threads);
	}
	/* If the entry's thread still exists, only that thread checks it, at its next START. */
	hot->state = TACH__STATE(OPENING + 9, 0, 1);
	mark.end = ends;
	tach__end_cold(&mark, 0);
	SAID("lock unlock ");
	CHECK(!mark.end && refused() == before + 1);
	for (int i = 0; i < 4; i++)
		CHECK(others[i].limit == (i == 2 ? 0 : 64), "%d", i);
	/* An entry of the parent process is not reported as a fault. */
	others[2].limit = 64;
	tach__registry.inherited = OPENING;
	mark.end = ends;
	tach__end_cold(&mark, 0);
	SAID("lock unlock ");
	CHECK(!mark.end && refused() == before + 1 && others[2].limit == 64);
	/* While signals are blocked, as in a handler during library code, it does not wait. */
	tach__registry.inherited = OPENING - 1;
	mark.end = ends;
	tach__signals_held++;
	tach__end_cold(&mark, 0);
	tach__signals_held--;
	SAID("");
	CHECK(!mark.end && refused() == before + 2 && others[2].limit == 64);
	/* The thread has no open region. */
	hot->record = NULL;
	hot->state = mark.state + 1;
	mark.end = ends;
	tach__end_cold(&mark, 0);
	SAID("lock unlock ");
	CHECK(!mark.end && refused() == before + 3 && others[2].limit == 0);
	CDS_INIT_LIST_HEAD(&tach__registry.threads);
	tach__registry.inherited = 0;
}

int main(void)
{
	struct tach__hot *own = tach__self;

	CASE(read_without_a_region_around);
	CASE(read_twice);
	CASE(read_in_another);
	CASE(rescheduled);
	CASE(stop_reads_again_after_a_page_change);
	CASE(torn_stop_reads_again);
	CASE(cold_stop_subtracts_its_cost);
	CASE(cold_in_another_epoch);
	CASE(only_spent);
	CASE(more_than_spent);
	CASE(cold_with_handlers);
	CASE(cold_and_outermost);
	CASE(unflat_stop_subtracts_extra_counts);
	CASE(found_by_its_mark);
	CASE(found_by_a_copy);
	CASE(found_nowhere);
	CASE(another_threads);
	tach__self = own;
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Trials without threads: the actions of each trial in their order, the trials that are used,
 * and the memory that they need.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "core/os/sys.h"
#include "core/region/left.h"
#include "core/region/trial.h"
#include "tests/check.h"

/* ---- regions: a letter for a START, a dot for its STOP ---- */

static char did[64];
static struct tach_region_mark *open_[8];
static int depth;
static uint64_t poked[2]; /* target of pokes */
static const uint32_t lock_is = 0x100;
static const uint64_t locks_are = 0x2000;
static uint64_t lock_by, locks_by; /* locks of the mark at its last change */

static void note(char letter)
{
	did[strlen(did) % (sizeof did - 1)] = letter;
}

/* Records a poke; its value is visible in the next step. */
static void note_poke(void)
{
	if (poked[0] || poked[1])
		note('!');
	poked[0] = poked[1] = 0;
}

static void sim_start(struct tach_site *site, struct tach_region_mark *mark)
{
	int is_fenced = site->id == TACH__SITE_FENCED || site->id == TACH__SITE_MIDDLE_FENCED;

	note_poke();
	CHECK(site->id < TACH__SITE_FIRST && site->fenced == (uint32_t)is_fenced &&
	      !site->line);
	CHECK(site->begin == (site->id == TACH__SITE_FLAT ? tach__region_begin_flat
			      : is_fenced		  ? tach__region_begin_fenced
							  : tach__region_begin));
	note("-efEmMF"[site->id]);
	mark->counters.lock = lock_is;
	memcpy(&mark->counters.reader, &locks_are, sizeof locks_are);
	open_[depth++] = mark;
}

static int comes;  /* number of further trials that the kernel disturbs */
static int stales; /* number of further trials that START reports as disturbed */
static int outermost;
static void kernel_comes(int s);

static void sim_stop(struct tach_region_mark *mark)
{
	uint64_t locks;

	note_poke();
	CHECK(depth > 0 && mark == open_[--depth]);
	memcpy(&locks, &mark->counters.reader, sizeof locks);
	if (locks != locks_are || mark->counters.lock != lock_is) {
		note('~');
		lock_by = mark->counters.lock ^ lock_is;
		locks_by = locks ^ locks_are;
	}
	note('.');
	if (!depth) {
		kernel_comes(0);
		outermost++;
	}
}

/* ---- memory, slots ---- */

static int live, allowed;
static void *sim_pages(size_t size)
{
	CHECK(size == sizeof(struct tach__shown) || size == sizeof(struct tach__sampling));
	if (allowed == 0)
		return NULL;
	allowed--;
	live++;
	return calloc(1, size);
}

static void sim_free(void *at, size_t size)
{
	CHECK((size == TACH__OWED_SIZE && !at) || size == sizeof(struct tach__shown) ||
	      size == sizeof(struct tach__sampling));
	live -= at != NULL;
	free(at);
}

static uint32_t their_histograms[1];
static int has_histograms;
static uint32_t *sim_histograms(uint32_t sums)
{
	CHECK(sums == 3);
	has_histograms++;
	return their_histograms;
}

static void sim_histograms_free(uint32_t *at, uint32_t sums)
{
	CHECK(at == their_histograms && sums == 3);
	has_histograms--;
}

static union tach__slot_copy slots[TACH__SITE_FIRST];
static struct tach__thread the_thread;
static struct tach__config the_config;
static struct tach__hot *hot;
static int chosen;

static struct tach__slot *sim_slot(const struct tach__thread *of, uint32_t id)
{
	CHECK(of == &the_thread && id < TACH__SITE_FIRST, "%u", id);
	return &slots[id % TACH__SITE_FIRST].slot;
}

static void kernel_comes(int s)
{
	if (comes && comes--)
		sim_slot(&the_thread, tach__trial_ids[s])->provenance[0]++;
	if (stales && stales--)
		the_thread.stale++;
}

static void sim_choose(struct tach__hot *self)
{
	CHECK(self == hot);
	chosen++;
}

static void begin_any(struct tach_site *site, struct tach_region_mark *mark,
		      struct tach__slot *slot, struct tach__part *part, struct tach__hot *self)
{
	(void)site, (void)mark, (void)slot, (void)part, (void)self;
	CHECK(0);
}

static void begin_flatly(struct tach_site *site, struct tach_region_mark *mark,
			 struct tach__slot *slot, struct tach__part *part,
			 struct tach__hot *self)
{
	begin_any(site, mark, slot, part, self);
}

#define tach__region_start    sim_start
#define tach__region_stop     sim_stop
#define tach__pages	      sim_pages
#define tach__pages_free      sim_free
#define tach__histograms_make sim_histograms
#define tach__histograms_free sim_histograms_free
#define tach__slot_at	      sim_slot
#define tach__split_choose    sim_choose
#include "core/region/trial.c"
#include "core/region/trials.c"

/* ---- the trials ---- */

static int does(void (*trial)(const struct tach__poke *), uint64_t value, const char *what)
{
	struct tach__poke poke = {poked, value};
	int same;

	memset(did, 0, sizeof did);
	poked[0] = poked[1] = 0;
	lock_by = locks_by = 0;
	trial(&poke);
	same = strcmp(did, what) == 0 && depth == 0;
	if (!same)
		printf("# %s, not %s\n", did, what);
	return same;
}

static void trials_change_a_word(void)
{
	CHECK(does(tach__trial_one, 1, "E!e..") && does(tach__trial_one_fenced, 1, "E!f.."));
	CHECK(does(tach__trial_two, 1, "E!e.!e..") && does(tach__trial_two, 0, "Ee.e.."));
	CHECK(does(tach__trial_three, 1, "Em!e..."));
	CHECK(does(tach__trial_three_fenced, 1, "EM!e..."));
	CHECK(does(tach__trial_flat_one, 1, "F!e.."));
	CHECK(does(tach__trial_pair, 1, "Ee..") && does(tach__trial_pair_fenced, 1, "Ef.."));
	CHECK(does(tach__trial_flat, 1, "F.") && does(tach__trial_flat_pair, 1, "Fe.."));
}

static int moves(void (*trial)(const struct tach__poke *), const char *usual, const char *other)
{
	for (int elsewhere = 0; elsewhere < 2; elsewhere++)
		if (!does(trial, TACH__POKE_PAGE(2, elsewhere), other) || locks_by != 2 ||
		    lock_by != (elsewhere ? 0 : 2))
			return 0;
	return does(trial, 0, usual);
}

static void pages_changed(void)
{
	CHECK(moves(tach__trial_moved, "Ee..", "Ee~.."));
	CHECK(moves(tach__trial_moved_fenced, "Ef..", "Ef~.."));
	CHECK(moves(tach__trial_flat_moved, "F.", "F~."));
}

static uint64_t since[2];
static void start_and_keep(const struct tach__poke *poke)
{
	make_stale(poke);
	since[0] = poke->at[0];
	since[1] = poke->at[1];
}

static void pages_looked_up(void)
{
	uint64_t word[2];

	CHECK(does(tach__trial_stale, 1, "E!e..") && does(tach__trial_stale, 0, "Ee.."));
	CHECK(does(tach__trial_stale_fenced, 1, "E!f.."));
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		word[0] = 0x700000100;
		word[1] = 0x800000200;
		start_and_keep(&(struct tach__poke){word, TACH__POKE_PAGE(1, elsewhere)});
		CHECK(since[0] == 0x700000100 + !elsewhere && since[1] == 0x800000201);
	}
	word[0] = word[1] = 1;
	start_and_keep(&(struct tach__poke){word, TACH__POKE_PAGE(1, 0)});
	CHECK(since[0] == 1 && since[1] == 1);
}

/* ---- which are shown ---- */

static struct tach__shown shown;
static int ran;
static struct tach__poke pokes_nothing;
static const uint32_t *ids;

/* The n-th trial adds (n * 7) % 16 to each sum, and another number to each region. */
static void counts(const struct tach__poke *poke)
{
	CHECK(poke == &pokes_nothing);
	for (uint32_t s = 0; s < TACH__SHOWN; s++) {
		struct tach__slot *slot = sim_slot(&the_thread, ids[s]);

		for (uint32_t i = 0; i <= the_thread.count; i++)
			tach__part(slot, the_thread.count, 0)->sum[i] +=
				(uint64_t)(ran * 7 % 16) + 100 * s + 1000 * i;
	}
	kernel_comes(ran % TACH__SHOWN);
	ran++;
}

static void begin(void)
{
	memset(&the_thread, 0, sizeof the_thread);
	memset(&the_config, 0, sizeof the_config);
	memset(slots, 0, sizeof slots);
	memset(&shown, 0, sizeof shown);
	the_thread.count = 2;
	the_thread.hot = hot;
	the_thread.config = &the_config;
	ran = comes = stales = 0;
	pokes_nothing.value = 0;
}

/* The sums of each region begin with another value. */
static void run(int warm, int tries)
{
	struct tach__trials r = {&the_thread, &shown, warm, tries, NULL, NULL, NULL, NULL, 0};

	for (uint32_t s = 0; s < TACH__SHOWN; s++)
		for (uint32_t i = 0; i <= the_thread.count; i++)
			tach__part(sim_slot(&the_thread, ids[s]), the_thread.count, 0)->sum[i] =
				10000000 - 1000000 * s - 100000 * i;
	tach__trials_run(&r, counts, &pokes_nothing, ids);
}

/* Returns true if exactly the trials with these numbers were used, sorted. */
static int is_shown(int from, int n)
{
	uint64_t told[TACH__TRIES];

	for (int k = 0; k < n; k++)
		told[k] = (uint64_t)((from + k) * 7 % 16);
	for (int k = 0; k < n; k++)
		for (int j = k + 1; j < n; j++)
			if (told[j] < told[k]) {
				uint64_t t = told[j];

				told[j] = told[k];
				told[k] = t;
			}
	for (uint64_t s = 0; s < TACH__SHOWN; s++)
		for (uint64_t i = 0; i < TACH__SUMS; i++)
			for (int k = 0; k < TACH__TRIES; k++)
				if (shown.sum[s][i][k] !=
				    (i <= the_thread.count && k < n
					     ? told[k] + 100 * s + 1000 * i
					     : 0)) {
					printf("# %d %d %d: %llu\n", (int)s, (int)i, k,
					       (unsigned long long)shown.sum[s][i][k]);
					return 0;
				}
	return 1;
}

static void sorted(void)
{
	static const uint32_t four[] = {TACH__SITE_FLAT, TACH__SITE_ENCLOSING, TACH__SITE_EMPTY,
					99};

	ids = four;
	for (int tries = 1; tries <= TACH__TRIES; tries++)
		for (int warm = 0; warm < 3; warm++) {
			begin();
			run(warm, tries);
			CHECK(ran == warm + tries && is_shown(warm, tries), "%d %d", warm,
			      tries);
		}
	/* Earlier values stay unsorted. */
	for (int s = 0; s < TACH__SHOWN; s++)
		CHECK(shown.before[s][0] > shown.before[s][1] &&
		      shown.before[s][1] > shown.before[s][2] && shown.before[s][3] == 0);
}

static void disturbed_trials_are_not_used(void)
{
	ids = tach__trial_ids;
	for (int way = 1; way <= 3; way++) {
		for (int n = 99; n <= 101; n++) {
			begin();
			comes = way & 1 ? n : 0;
			stales = way & 2 ? n : 0;
			run(1, 3);
			CHECK(ran == 4 + (n < 100 ? n : 100) &&
			      is_shown(1 + (n < 100 ? n : 100), 3));
		}
	}
}

/*
 * The minimum contains a planted cost. A trial with additional counts is used only if there is
 * no other.
 */
static void undisturbed_trials_are_preferred(void)
{
	static const struct {
		int tries, comes, ran;
	} cases[] = {{1, 1, 1}, {1, 0, 1}, {3, 1, 4}, {3, 2, 5}, {3, 0, 3}};

	ids = tach__trial_ids;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int stale = 0; stale < 2; stale++) {
			struct tach__trials r = {&the_thread,	 &shown, 0,
						 cases[i].tries, NULL,	 NULL,
						 NULL,		 NULL,	 1};
			struct tach__poke poke = {poked, 1};

			begin();
			comes = stale ? 0 : cases[i].comes;
			stales = stale ? cases[i].comes : 0;
			outermost = 0;
			tach__trials_run(&r, tach__trial_flat, &poke, tach__trial_ids);
			CHECK(outermost == cases[i].ran, "%d: %d", (int)i, outermost);
		}
}

static const uint32_t *const all_ids[] = {tach__trial_ids, tach__trial_fenced_ids,
					  tach__trial_flat_ids};

static void trials_have_fixed_ids(void)
{
	static const uint32_t are[3][TACH__SHOWN] = {
		{TACH__SITE_EMPTY, TACH__SITE_ENCLOSING, TACH__SITE_MIDDLE},
		{TACH__SITE_FENCED, TACH__SITE_ENCLOSING, TACH__SITE_MIDDLE_FENCED},
		{TACH__SITE_FLAT, TACH__SITE_ENCLOSING, TACH__SITE_MIDDLE}};

	for (int k = 0; k < 3; k++)
		CHECK(memcmp(all_ids[k], are[k], sizeof are[k]) == 0);
}

/* ---- what they need ---- */

static int is_ready(uint32_t id, const struct tach__trials *t, int flatly)
{
	struct tach__slot *slot = &slots[id].slot;
	uintptr_t rest = t->sampling ? 0 : TACH__OUTER_NONE;

	return slot->id == id && slot->rest == rest && slot->histograms == t->histograms &&
	       slot->sampling == t->sampling &&
	       slot->begin == (flatly ? begin_flatly : begin_any) &&
	       tach__part(slot, 2, 0)->ceiling == TACH__CEILING_OPEN &&
	       tach__part(slot, 2, 1)->ceiling == TACH__CEILING_OPEN &&
	       tach__part(slot, 2, 0)->outer == rest && tach__table(hot)[id] == slot;
}

static void needed(void)
{
	for (uint32_t k = 0; k < 4; k++) {
		struct tach__trials t;

		begin();
		memset(hot, 0, TACH__STACK_AT);
		the_config.histograms = k & 1;
		the_config.sparse = 1 + k / 2;
		the_thread.limit = 64;
		hot->begin[0] = begin_any;
		hot->begin_flat = k ? begin_flatly : NULL;
		tach__signals_held = 2;
		allowed = 2;
		chosen = 0;
		CHECK(tach__trials_begin(&t, &the_thread) == 1);
		CHECK(t.record == &the_thread && t.shown && t.warm == 0 && t.tries == 0);
		CHECK((t.histograms != NULL) == (k & 1) && (t.sampling != NULL) == (k > 1));
		CHECK(live == 1 + (k > 1) && has_histograms == (int)(k & 1));
		for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++)
			CHECK(is_ready(id, &t, k != 0), "%u %u", k, id);
		CHECK(!tach__table(hot)[0] && !tach__table(hot)[TACH__SITE_FIRST]);
		CHECK(hot->limit == 64 && hot->split == tach__table(hot));
		CHECK(tach__calibrating == 2 && !chosen);
		tach__trials_end(&t);
		for (uint32_t id = TACH__SITE_EMPTY; id < TACH__SITE_FIRST; id++)
			CHECK(!slots[id].slot.sampling && !slots[id].slot.histograms);
		CHECK(live == 0 && !has_histograms && !hot->limit && !tach__calibrating);
		CHECK(chosen == 1);
		tach__signals_held = 0;
	}
}

static void no_memory(void)
{
	struct tach__trials t;

	begin();
	memset(hot, 0, TACH__STACK_AT);
	the_config.histograms = 1;
	allowed = 0;
	CHECK(tach__trials_begin(&t, &the_thread) == 0 && !hot->limit && !has_histograms);
	CHECK(!tach__table(hot)[TACH__SITE_EMPTY] && hot->split == tach__table(hot));
	/* Without the state for sparse mode, all entries are measured. */
	allowed = 1;
	the_config.sparse = 2;
	CHECK(tach__trials_begin(&t, &the_thread) == 1 && !t.sampling);
	CHECK(slots[TACH__SITE_EMPTY].slot.rest == TACH__OUTER_NONE);
	tach__trials_end(&t);
	CHECK(live == 0);
}

int main(void)
{
	hot = mmap(NULL, TACH__RECORD_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	CASE(trials_change_a_word);
	CASE(pages_changed);
	CASE(pages_looked_up);
	CASE(sorted);
	CASE(disturbed_trials_are_not_used);
	CASE(undisturbed_trials_are_preferred);
	CASE(trials_have_fixed_ids);
	CASE(needed);
	CASE(no_memory);
	return check_done();
}

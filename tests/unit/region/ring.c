/* SPDX-License-Identifier: MIT */
/* Planning and making sets that take turns: plans, sets and configurations are scripted. */
#include <stdlib.h>
#include <string.h>
#include "core/region/region.h"
#include "core/set/plan.h"
#include "tests/check.h"

enum { MOST = 4, SETS = 3 };

/* memory: number of allocations that succeed; -1: unlimited */
static int live, plans, refuses, compiles, sets_alone, memory;
static int sets_made, sets_freed, configs_made, dropped, given_back;
static const char *env;
static struct tach__passes passes;
static struct tach_set *const a_set = (struct tach_set *)&passes;
static struct tach__config made[MOST];

static int sim_plan_make(struct tach__plan *plan, const char *events, const char *metrics,
			 struct tach_error *err)
{
	(void)err;
	plans++;
	CHECK(events || metrics);
	plan->passes = &passes;
	return refuses;
}

static int sim_plan_compile(struct tach__plan *plan, struct tach_error *err)
{
	(void)err;
	CHECK(plan->passes == &passes && !refuses);
	return compiles;
}

static void sim_plan_free(struct tach__plan *plan)
{
	CHECK(plan->passes == &passes);
	plans--;
}

static const char *sim_environment(const char *name)
{
	CHECK(strcmp(name, "TACH_TRACE") == 0);
	return env;
}

/* The maximum number. */
static int has_memory(void)
{
	if (memory > 0)
		memory--;
	return memory != 0;
}

static void *sim_calloc(size_t n, size_t size)
{
	if (!has_memory())
		return NULL;
	live++;
	return calloc(n, size);
}

static void sim_free(void *at)
{
	if (at >= (void *)made && at < (void *)(made + MOST))
		given_back++;
	else {
		live--;
		free(at);
	}
}

static int sim_counted_set(struct tach_set **out, const struct tach_regions_options *opt,
			   char *note, size_t size, struct tach_error *err)
{
	(void)err;
	CHECK(!opt->metrics && opt->events == passes.events[sets_made + 1]);
	CHECK(size == sizeof made->note && !note[0]);
	if (sets_made == sets_alone)
		return TACH_ERR_NOCOUNTER;
	sets_made++;
	*out = a_set;
	return 0;
}

static void sim_set_free(struct tach_set *set)
{
	CHECK(set == a_set);
	sets_freed++;
}

static struct tach__config *sim_config_make(struct tach_set *set,
					    const struct tach_regions_options *opt)
{
	CHECK(set == a_set && opt->events == passes.events[sets_made] && !opt->metrics);
	if (!has_memory())
		return NULL;
	made[configs_made] = (struct tach__config){.set = set, .stride = 64};
	return &made[configs_made++];
}

static void sim_config_drop(struct tach__config *config)
{
	CHECK(config >= made && config < made + MOST);
	dropped++;
}

#define calloc		   sim_calloc
#define free		   sim_free
#define tach__plan_make	   sim_plan_make
#define tach__plan_compile sim_plan_compile
#define tach__plan_free	   sim_plan_free
#define tach__environment  sim_environment
#define tach__counted_set  sim_counted_set
#define tach_set_free	   sim_set_free
#define tach__config_make  sim_config_make
#define tach__config_drop  sim_config_drop
#include "core/region/ring.c"
#undef calloc
#undef free

static struct tach_regions_options opt;
static struct tach__plan *plan;
static struct tach_error err;

static void begin(void)
{
	static char name[MOST][8] = {"a", "b", "c", "d"};

	for (int i = 0; i < MOST; i++)
		passes.events[i] = name[i];
	passes.count = SETS;
	plans = refuses = compiles = sets_made = sets_freed = configs_made = dropped = 0;
	given_back = 0;
	sets_alone = memory = -1;
	env = NULL;
	opt = (struct tach_regions_options){.turns = 1, .events = "a b c", .metrics = "m = a"};
	err = (struct tach_error)TACH_ERROR_INIT;
	plan = NULL;
}

/*
 * Returns true if the call fails with this code, without a position in a text, and makes no
 * plan.
 */
static int is_refused(int code)
{
	err.line = err.column = 7;
	return tach__ring_plan(&plan, &opt, &err) == code && err.code == code && !err.line &&
	       !err.column && !plan && !plans && !live;
}

/* Each by itself. */
static void options_that_exclude_turns(void)
{
	begin();
	opt.turns = UINT32_MAX / 2 + 1;
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	opt.sparse = 2;
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	opt.warmup = 1;
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	opt.histograms = 1;
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	opt.interrupts = 1;
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	opt.worst = "3";
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	opt.by = "tag";
	CHECK(is_refused(TACH_ERR_INVAL));
	begin();
	env = "a.json";
	CHECK(is_refused(TACH_ERR_INVAL));
}

static void what_is_planned(void)
{
	begin();
	opt.turns = UINT32_MAX / 2;
	opt.sparse = 1;
	opt.by = "";
	CHECK(tach__ring_plan(&plan, &opt, &err) == 0 && plan && plans == 1);
	CHECK(opt.events == passes.events[0] && !opt.metrics);
	tach__ring_forget(plan);
	CHECK(plans == 0 && live == 0);
	/* Works also with derived metrics only. */
	for (int metrics = 0; metrics < 2; metrics++) {
		begin();
		passes.count = 2;
		*(metrics ? &opt.events : &opt.metrics) = NULL;
		CHECK(tach__ring_plan(&plan, &opt, &err) == 0 && plan && plans == 1);
		tach__ring_forget(plan);
	}
	/* A set that fits the counters is unchanged. */
	begin();
	passes.count = 1;
	CHECK(tach__ring_plan(&plan, &opt, &err) == 0 && !plan && plans == 0);
	CHECK(strcmp(opt.events, "a b c") == 0 && opt.metrics);
}

static void what_is_not_planned(void)
{
	begin();
	opt.turns = 0;
	opt.sparse = 2;
	CHECK(tach__ring_plan(&plan, &opt, &err) == 0 && !plan);
	begin();
	opt.set = a_set;
	CHECK(tach__ring_plan(&plan, &opt, &err) == 0 && !plan);
	begin();
	opt.events = opt.metrics = NULL;
	CHECK(tach__ring_plan(&plan, &opt, &err) == 0 && !plan);
	begin();
	memory = 1;
	CHECK(is_refused(TACH_ERR_NOMEM));
	begin();
	refuses = TACH_ERR_NOTFOUND;
	CHECK(tach__ring_plan(&plan, &opt, &err) == TACH_ERR_NOTFOUND && !plan && !plans);
	begin();
	compiles = TACH_ERR_INVAL;
	CHECK(tach__ring_plan(&plan, &opt, &err) == TACH_ERR_INVAL && !plan && !plans);
}

static void a_ring(void)
{
	struct tach__config first = {.stride = 128}, *c = &first;
	struct tach__plan told = {.passes = &passes};

	begin();
	opt.turns = 9;
	CHECK(tach__ring_make(&first, &told, &opt, &err) == 0);
	CHECK(sets_made == SETS - 1 && configs_made == SETS - 1 && first.ring.plan == &told);
	for (int i = 0; i < SETS; i++) {
		CHECK(c == (i ? &made[i - 1] : &first));
		CHECK(c->stride == 128 && c->ring.sets == SETS && c->ring.length == 9);
		c = c->ring.next;
	}
	CHECK(c == &first);
	/* Any of the sets may have the largest stride. */
	made[1].stride = 192;
	ring_close(&first, &made[1], SETS);
	CHECK(first.stride == 192 && made[0].stride == 192 && made[1].stride == 192);
	tach__ring_drop(&first);
	CHECK(dropped == SETS - 1);
	tach__ring_drop(&(struct tach__config){.stride = 64});
	CHECK(dropped == SETS - 1);
}

/* If a set is refused, only the first set is used. */
static void a_ring_that_cannot_be(void)
{
	for (int good = 0; good < SETS - 1; good++)
		for (int room = 0; room < 2; room++) {
			struct tach__config first = {.stride = 128};
			struct tach__plan told = {.passes = &passes};
			int code = room ? TACH_ERR_NOMEM : TACH_ERR_NOCOUNTER;

			begin();
			*(room ? &memory : &sets_alone) = good + room;
			err.line = err.column = 7;
			CHECK(tach__ring_make(&first, &told, &opt, &err) == code);
			CHECK(!room || (err.code == code && !err.line && !err.column));
			CHECK(!first.ring.next && !first.ring.plan);
			CHECK(given_back == good && sets_freed == sets_made, "%d, %d of %d",
			      given_back, sets_freed, sets_made);
		}
}

int main(void)
{
	CASE(options_that_exclude_turns);
	CASE(what_is_planned);
	CASE(what_is_not_planned);
	CASE(a_ring);
	CASE(a_ring_that_cannot_be);
	return check_done();
}

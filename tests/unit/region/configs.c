/* SPDX-License-Identifier: MIT */
/*
 * Configurations without threads: making one, the list of all, and freeing unreferenced ones
 * completely and once, outside the lock.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/maths.h"
#include "core/reader/reader.h"
#include "core/set/set.h"
#include "tests/unit/region/locked.h"

enum { MOST = 4, METRICS = 9 /* such a member's type */ };

static struct tach__config *freed[MOST];
static const char *traces;
static int frees, rows_freed, sets_freed, plans, no_memory;
static struct tach_set counted;
static struct tach__plan *const plan = (struct tach__plan *)(void *)&counted;

static int sim_is_metrics(const struct perf_event_attr *attr)
{
	return attr->type == METRICS;
}

static void sim_set_free(struct tach_set *of)
{
	CHECK(of == &counted && locks == 0);
	sets_freed++;
}

static void sim_rows_free(struct tach__rows *of)
{
	CHECK(of->count == (uint32_t)counted.count && locks == 0);
	rows_freed++;
}

static void sim_forget(struct tach__plan *of)
{
	plans += of == plan;
}

static const char *sim_environment(const char *name)
{
	CHECK(strcmp(name, "TACH_TRACE") == 0);
	return traces;
}

static void *sim_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : calloc(n, size);
}

static void sim_free(void *of)
{
	CHECK(locks == 0 && frees < MOST && rows_freed == frees + 1 && sets_freed == frees + 1);
	freed[frees++] = of;
}

#define tach__is_metrics  sim_is_metrics
#define tach_set_free	  sim_set_free
#define tach__rows_free	  sim_rows_free
#define tach__ring_forget sim_forget
#define tach__environment sim_environment
#define calloc		  sim_calloc
#define free		  sim_free
#include "core/region/config.c"
#undef free

static struct tach__config *make(uint32_t sparse)
{
	const struct tach_regions_options opt = {
		.sparse = sparse, .warmup = 3, .histograms = 1};

	return tach__config_make(&counted, &opt);
}

static void config_has_the_options(void)
{
	struct tach__config *config;

	counted.count = 4;
	config = make(0);
	CHECK(config && config->set == &counted && config->refs == 1 && config->sparse == 0);
	CHECK(!config->trace && config->rows.count == 4);
	CHECK(config->warmup == 3 && config->histograms == 1 && config->per_log_keep == 0);
	free(config);
	traces = "";
	config = make(1);
	traces = NULL;
	CHECK(config && config->trace == 1);
	CHECK(config && config->sparse == 1 && config->per_log_keep == 0);
	free(config);
	config = make(2);
	CHECK(config && fabs(config->per_log_keep + 1 / log(2)) < 1e-9);
	free(config);
	no_memory = 1;
	CHECK(!make(2));
	no_memory = 0;
}

/*
 * The stride of a slot: its words, then the space for top-down metrics, in whole cache lines.
 */
static void strides(void)
{
	for (int count = 0; count <= TACH_COUNTERS_MAX; count++)
		for (int at = -1; at < count; at++) {
			size_t least = sizeof(struct tach__slot) +
				       sizeof(uint64_t) * TACH__SLOT_WORDS((uint32_t)count);
			struct tach__config *config;

			memset(&counted, 0, sizeof counted);
			counted.count = count;
			/* One metric needs the same space as two. */
			for (int i = at; i >= 0 && i < count; i++)
				counted.member[i].attr.type = METRICS;
			/* Members after these metrics are ignored. */
			if (count < TACH_COUNTERS_MAX)
				counted.member[count].attr.type = METRICS;
			if (at >= 0)
				least += sizeof(struct tach__inexact);
			config = make(0);
			CHECK(config && config->count == (uint32_t)count);
			CHECK(config && config->stride % 64 == 0 && config->stride >= least &&
				      config->stride < least + 64,
			      "%d, %d: %u", count, at, config ? config->stride : 0);
			free(config);
		}
	memset(&counted, 0, sizeof counted);
}

static void unused_configs_are_freed(void)
{
	struct tach__registry *r = &tach__registry;
	struct tach__config *all[MOST];

	counted.count = 1;
	for (int i = 0; i < MOST; i++) {
		all[i] = make(0);
		if (!all[i])
			return;
	}
	/* One configuration alone; and three that take turns, in the list after it. */
	all[0]->generation = 5;
	tach__config_list(all[0]);
	CHECK(r->configs == all[0] && !all[0]->next);
	all[1]->generation = 6;
	all[1]->ring.next = all[2];
	all[2]->ring.next = all[3];
	all[3]->ring.next = all[1];
	all[2]->ring.plan = plan;
	tach__config_list(all[1]);
	CHECK(r->configs == all[3] && all[3]->next == all[2] && all[2]->next == all[1] &&
	      all[1]->next == all[0]);
	CHECK(all[0]->generation == 5 && all[2]->generation == 6 && all[3]->generation == 6);
	tach__configs_sweep();
	CHECK(frees == 0 && rows_freed == 0 && sets_freed == 0);
	/* A configuration with another reference stays. */
	all[2]->refs++;
	for (int i = 0; i < MOST - 1; i++)
		tach__config_drop(all[i]);
	tach__configs_sweep();
	CHECK(frees == 2 && rows_freed == 2 && sets_freed == 2 && plans == 0);
	CHECK((freed[0] == all[0] && freed[1] == all[1]) ||
	      (freed[0] == all[1] && freed[1] == all[0]));
	CHECK(r->configs == all[3] && all[3]->next == all[2] && !all[2]->next);
	tach__config_drop(all[2]);
	tach__config_drop(all[3]);
	tach__configs_sweep();
	CHECK(frees == MOST && rows_freed == MOST && sets_freed == MOST && plans == 1);
	CHECK(!r->configs);
	for (int i = 0; i < MOST; i++)
		free(all[i]);
}

int main(void)
{
	CASE(config_has_the_options);
	CASE(strides);
	CASE(unused_configs_are_freed);
	return check_done();
}

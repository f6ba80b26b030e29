/* SPDX-License-Identifier: MIT */
/* Configurations and their reference counts. */
#include <stdlib.h>
#include "core/base/maths.h"
#include "core/os/origin.h"
#include "core/reader/reader.h"
#include "core/region/region.h"
#include "core/set/set.h"

void tach__config_drop(struct tach__config *config)
{
	config->refs--;
}

/* Frees unused configurations. Leak checkers do not read the pages of thread records, which
 * point to configurations. The list makes the configurations reachable for them. */
void tach__configs_sweep(void)
{
	struct tach__config **link, *config, *unused = NULL;
	struct tach__held held;

	tach__lock(&held);
	for (link = &tach__registry.configs; (config = *link);) {
		if (config->refs) {
			link = &config->next;
			continue;
		}
		*link = config->next;
		config->next = unused;
		unused = config;
	}
	tach__unlock(&held);
	while ((config = unused)) {
		unused = config->next;
		tach_set_free(config->set);
		tach__rows_free(&config->rows);
		tach__ring_forget(config->ring.plan);
		free(config);
	}
}

static uint32_t stride_of(const struct tach_set *set)
{
	size_t bytes = offsetof(struct tach__slot, word) +
		       TACH__SLOT_WORDS((uint32_t)set->count) * sizeof(uint64_t);

	for (int i = 0; i < set->count; i++)
		if (tach__is_metrics(&set->member[i].attr)) {
			bytes += sizeof(struct tach__inexact);
			break;
		}
	return (uint32_t)((bytes + 63) & ~(size_t)63);
}

struct tach__config *tach__config_make(struct tach_set *set,
				       const struct tach_regions_options *opt)
{
	struct tach__config *config = calloc(1, sizeof *config);
	struct tach__held held;

	if (!config)
		return NULL;
	tach__lock(&held);
	tach__origin_note();
	tach__unlock(&held);
	config->set = set;
	config->refs = 1;
	config->count = (uint32_t)tach_set_count(set);
	config->stride = stride_of(set);
	config->sparse = opt->sparse;
	if (opt->sparse > 1)
		config->per_log_keep = 1 / tach__log(1 - 1.0 / opt->sparse);
	config->warmup = opt->warmup;
	config->histograms = opt->histograms;
	config->trace = tach__environment("TACH_TRACE") != NULL;
	tach__rows_init(&config->rows, config->count);
	return config;
}

/* Adds a configuration and the others that take turns with it. */
void tach__config_list(struct tach__config *first)
{
	struct tach__registry *r = &tach__registry;
	struct tach__config *config = first;

	do {
		config->generation = first->generation;
		config->next = r->configs;
		r->configs = config;
		config = config->ring.next;
	} while (config && config != first);
}

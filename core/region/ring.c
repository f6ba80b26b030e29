/* SPDX-License-Identifier: MIT */
/* Makes the sets that take turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/region/region.h"
#include "core/set/set.h"

static int check(const struct tach_regions_options *opt, struct tach_error *err)
{
	if (opt->turns > UINT32_MAX / 2)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "a turn is too long");
	if (opt->sparse > 1 || opt->warmup || opt->histograms || opt->interrupts ||
	    opt->worst || (opt->by && *opt->by) || tach__environment("TACH_TRACE"))
		return tach__error(
			err, TACH_ERR_INVAL, 0, 0,
			"sets that take turns exclude sparse mode, warm-up, histograms, worst "
			"entries, divided rows, traces and interrupts");
	return 0;
}

int tach__ring_plan(struct tach__plan **out, struct tach_regions_options *opt,
		    struct tach_error *err)
{
	struct tach__plan *plan;
	int code;

	if (!opt->turns || opt->set || (!opt->events && !opt->metrics))
		return 0;
	code = check(opt, err);
	if (code)
		return code;
	plan = calloc(1, sizeof *plan);
	if (!plan)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	code = tach__plan_make(plan, opt->events, opt->metrics, err);
	if (!code)
		code = tach__plan_compile(plan, err);
	if (code || plan->passes->count < 2) {
		tach__ring_forget(plan);
		return code;
	}
	opt->events = plan->passes->events[0];
	opt->metrics = NULL;
	*out = plan;
	return 0;
}

void tach__ring_forget(struct tach__plan *plan)
{
	if (!plan)
		return;
	tach__plan_free(plan);
	free(plan);
}

/*
 * All sets have slots of the same size, because they use a thread's memory one after the other.
 */
static void ring_close(struct tach__config *first, struct tach__config *last, uint32_t sets)
{
	uint32_t stride = 0;
	struct tach__config *c = first;

	last->ring.next = first;
	do {
		stride = c->stride > stride ? c->stride : stride;
		c = c->ring.next;
	} while (c != first);
	do {
		c->stride = stride;
		c->ring.sets = sets;
		c->ring.length = first->ring.length;
		c = c->ring.next;
	} while (c != first);
}

static void ring_free(struct tach__config *config)
{
	while (config) {
		struct tach__config *next = config->ring.next;

		tach_set_free(config->set);
		free(config);
		config = next;
	}
}

int tach__ring_make(struct tach__config *first, struct tach__plan *plan,
		    const struct tach_regions_options *opt, struct tach_error *err)
{
	struct tach__config *last = first;
	int code = 0, sets = plan->passes->count;

	for (int i = 1; i < sets && !code; i++) {
		struct tach_regions_options one = *opt;
		struct tach_set *set = NULL;
		char note[sizeof first->note] = "";

		one.events = plan->passes->events[i];
		one.metrics = NULL;
		code = tach__counted_set(&set, &one, note, sizeof note, err);
		if (code)
			break;
		last->ring.next = tach__config_make(set, &one);
		if (last->ring.next) {
			last = last->ring.next;
		} else {
			tach_set_free(set);
			code = tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
		}
	}
	if (code) {
		ring_free(first->ring.next);
		first->ring.next = NULL;
		return code;
	}
	first->ring.length = opt->turns;
	first->ring.plan = plan;
	ring_close(first, last, (uint32_t)sets);
	return 0;
}

void tach__ring_drop(struct tach__config *first)
{
	struct tach__config *c = first->ring.next;

	for (; c && c != first; c = c->ring.next)
		tach__config_drop(c);
}

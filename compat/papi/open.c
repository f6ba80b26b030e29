/* SPDX-License-Identifier: MIT */
/*
 * Counts the members of a set. A thread's own members are read in user space: the reader counts
 * from its opening, and PAPI's start and stop are two reads of it. So a stopped set keeps its
 * counters until another set of the thread needs them.
 */
#include <stdlib.h>
#include <string.h>
#include "compat/papi/state.h"

void pp_close(struct pp_set *set)
{
	tach_reader_close(set->reader);
	tach_set_free(set->set);
	pp_kernel_close(set->kernel);
	tach_uncore_close(set->uncore);
	free(set->base);
	set->reader = NULL;
	set->set = NULL;
	set->kernel = NULL;
	set->uncore = NULL;
	set->base = NULL;
	set->reading = set->ready = set->opener = NULL;
	set->open = 0;
}

/* Closes sets of this thread that have counters and do not run, except `but`. Returns their
 * number. */
static int evict_sets(const struct pp_set *but)
{
	int n = 0;

	for (uint32_t i = 0; i < pp_table.size; i++) {
		struct pp_set *set = pp_table.slot[i];

		if (!set || set == but || !set->open || set->opener != pp_self ||
		    set->state & PAPI_RUNNING)
			continue;
		pp_close(set);
		n++;
	}
	return n;
}

static void attr_of(const struct pp_set *set, int i, struct perf_event_attr *attr)
{
	const struct pp_native *native = pp_native_of(set->member[i]);

	*attr = native->attr;
	if (native->levels)
		return;
	attr->exclude_user = !(set->domain & PAPI_DOM_USER);
	attr->exclude_kernel = !(set->domain & PAPI_DOM_KERNEL);
}

/* ---- in user space ---- */

static int wants_reader(const struct pp_set *set)
{
	int hardware = 0;

	if (set->state & (PAPI_MULTIPLEXING | PAPI_ATTACHED | PAPI_CPU_ATTACHED) ||
	    set->inherit || set->granularity != PAPI_GRN_THR ||
	    set->nmembers > TACH_COUNTERS_MAX || set->master != pp_self)
		return 0;
	for (int i = 0; i < set->nmembers; i++) {
		const struct pp_native *native = pp_native_of(set->member[i]);

		hardware |= native->hardware;
		if (native->cpu >= 0)
			return 0;
	}
	return hardware;
}

static int open_reader(struct pp_set *set)
{
	struct perf_event_attr attr[TACH_COUNTERS_MAX];
	struct tach_set_member member[TACH_COUNTERS_MAX];
	struct tach_set_options options = TACH_SET_OPTIONS_INIT;
	int code;

	for (int i = 0; i < set->nmembers; i++) {
		attr_of(set, i, &attr[i]);
		member[i].name = pp_native_of(set->member[i])->given;
		member[i].attr = &attr[i];
	}
	options.attrs = member;
	options.nattrs = set->nmembers;
	code = tach_set_create(&options, &set->set, NULL);
	if (code != 0)
		return pp_from_tach(code);
	code = tach_reader_open(set->set, &set->reader, NULL);
	if (code == TACH_ERR_NOCOUNTER && evict_sets(set) > 0)
		code = tach_reader_open(set->set, &set->reader, NULL);
	if (code != 0) {
		set->reader = NULL;
		return pp_from_tach(code);
	}
	/* The fast paths do not check this at each read. */
	if (!tach__whole(set->reader))
		set->plain = 0;
	set->ready = pp_self;
	return PAPI_OK;
}

/* ---- by read(2) ---- */

static int find_target(const struct pp_set *set)
{
	if (set->state & PAPI_ATTACHED)
		return (int)set->attached;
	if (set->granularity == PAPI_GRN_SYS || set->state & PAPI_CPU_ATTACHED)
		return -1;
	return set->master == pp_self ? 0 : set->master->kernel_tid;
}

static int open_kernel(struct pp_set *set)
{
	struct pp_kernel_options options = {find_target(set), set->cpu,
					    set->state & PAPI_MULTIPLEXING, set->inherit, 1};
	struct perf_event_attr *attr = calloc((size_t)set->nmembers, sizeof(*attr));
	int code, hardware = 0;

	if (!attr)
		return PAPI_ENOMEM;
	for (int i = 0; i < set->nmembers; i++) {
		const struct pp_native *native = pp_native_of(set->member[i]);

		attr_of(set, i, &attr[i]);
		hardware |= native->hardware;
		if (native->cpu >= 0)
			options.cpu = native->cpu;
	}
	options.kept =
		!hardware && !options.multiplexed && !options.inherit && options.pid == 0;
	if (options.multiplexed && hardware)
		evict_sets(set);
	code = pp_kernel_open(attr, set->nmembers, &options, &set->kernel);
	if (code == PAPI_ECNFLCT && evict_sets(set) > 0)
		code = pp_kernel_open(attr, set->nmembers, &options, &set->kernel);
	free(attr);
	return code;
}

/* ---- boxes ---- */

static int open_uncore(struct pp_set *set)
{
	struct tach_uncore_options options = TACH_UNCORE_OPTIONS_INIT;
	char *text;
	size_t size = 1, used = 0;
	int code;

	for (int i = 0; i < set->nmembers; i++)
		size += strlen(pp_native_of(set->member[i])->given) + 1;
	text = malloc(size);
	if (!text)
		return PAPI_ENOMEM;
	for (int i = 0; i < set->nmembers; i++) {
		const char *name = pp_native_of(set->member[i])->given;

		if (used)
			text[used++] = ',';
		memcpy(text + used, name, strlen(name) + 1);
		used += strlen(name);
	}
	options.events = text;
	code = tach_uncore_open(&options, &set->uncore, NULL);
	free(text);
	return code != 0 ? pp_from_tach(code) : PAPI_OK;
}

int pp_open(struct pp_set *set)
{
	int code;

	pp_close(set);
	if (set->nmembers == 0)
		return PAPI_OK;
	set->opener = pp_self;
	set->base = calloc((size_t)set->nmembers, sizeof(*set->base));
	if (!set->base)
		code = PAPI_ENOMEM;
	else if (set->component == PP_UNCORE)
		code = open_uncore(set);
	else if (wants_reader(set))
		code = open_reader(set);
	else
		code = open_kernel(set);
	if (code != PAPI_OK)
		pp_close(set);
	else
		set->open = 1;
	return code;
}

/* ---- from when to when ---- */

int pp_begin(struct pp_set *set)
{
	int code;

	if (!set->open || (set->reader && set->opener != pp_self)) {
		if (set->open)
			return PAPI_ECMP; /* its counters belong to another thread */
		code = pp_open(set);
		if (code != PAPI_OK)
			return code;
	}
	if (set->reader)
		return tach_reader_read(set->reader, set->base) & TACH_FLAG_LOST ? PAPI_ESYS
										 : PAPI_OK;
	if (set->kernel) {
		if (set->state & PAPI_RUNNING)
			return pp_kernel_reset(set->kernel);
		if (set->state & PAPI_MULTIPLEXING)
			evict_sets(set);
		return pp_kernel_begin(set->kernel);
	}
	if (!(set->state & PAPI_RUNNING) && tach_uncore_start(set->uncore) != 0)
		return PAPI_ESYS;
	return tach_uncore_read(set->uncore, set->base, NULL) & TACH_FLAG_LOST ? PAPI_ESYS
									       : PAPI_OK;
}

int pp_raw(struct pp_set *set, uint64_t *raw)
{
	if (set->reader) {
		if (set->opener != pp_self)
			return PAPI_ECLOST;
		if (tach_reader_read(set->reader, raw) & TACH_FLAG_LOST)
			return PAPI_ECLOST;
	} else if (set->kernel) {
		return pp_kernel_read(set->kernel, raw);
	} else if (!set->uncore || tach_uncore_read(set->uncore, raw, NULL) & TACH_FLAG_LOST) {
		return PAPI_ECLOST;
	}
	for (int i = 0; i < set->nmembers; i++)
		raw[i] -= set->base[i];
	return PAPI_OK;
}

int pp_end(struct pp_set *set)
{
	if (set->kernel)
		return pp_kernel_end(set->kernel);
	if (set->uncore && tach_uncore_stop(set->uncore) != 0)
		return PAPI_ESYS;
	return PAPI_OK;
}

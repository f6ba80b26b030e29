/* SPDX-License-Identifier: MIT */
/* A set: what to count. Immutable after creation. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/set.h"

static enum tach_member_kind kind_of(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return TACH_MEMBER_SOFTWARE;
	}
	return TACH_MEMBER_HARDWARE;
}

static int add_attr(struct tach_set *set, const char *name, const struct perf_event_attr *attr,
		    struct tach_error *err)
{
	struct tach__member *m = &set->member[set->count];

	if (set->count == TACH_COUNTERS_MAX)
		return tach__error(err, TACH_ERR_TOOMANY, 0, 0, "a set holds %d events at most",
				   TACH_COUNTERS_MAX);
	m->attr = *attr;
	m->kind = kind_of(attr);
	m->name = strdup(name ? name : "");
	m->qualified = strdup(name ? name : "");
	set->count++;
	if (!m->name || !m->qualified)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	return 0;
}

int tach_set_create(struct tach_set **out, const struct tach_set_options *opt,
		    struct tach_error *err)
{
	struct tach_set *set;
	int code = 0;

	*out = NULL;
	set = calloc(1, sizeof *set);
	if (!set)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	set->flags = opt->flags;
	for (int i = 0; i < opt->nattrs && !code; i++)
		code = add_attr(set, opt->attrs[i].name, opt->attrs[i].attr, err);
	if (code) {
		tach_set_free(set);
		return code;
	}
	*out = set;
	return 0;
}

void tach_set_free(struct tach_set *set)
{
	if (!set)
		return;
	for (int i = 0; i < set->count; i++) {
		free(set->member[i].name);
		free(set->member[i].qualified);
	}
	free(set);
}

int tach_set_count(const struct tach_set *set)
{
	return set->count;
}

const char *tach_set_name(const struct tach_set *set, int member)
{
	return set->member[member].name;
}

const char *tach_set_qualified(const struct tach_set *set, int member)
{
	return set->member[member].qualified;
}

enum tach_member_kind tach_set_kind(const struct tach_set *set, int member)
{
	return set->member[member].kind;
}

const struct perf_event_attr *tach_set_attr(const struct tach_set *set, int member)
{
	return &set->member[member].attr;
}

const char *tach_set_missing(const struct tach_set *set)
{
	return set->missing;
}

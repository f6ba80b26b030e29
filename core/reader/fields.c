/* SPDX-License-Identifier: MIT */
/* The events for slots and for the fields of PERF_METRICS, with Linux's numbers. */
#include "core/reader/reader.h"
#include "core/reader/topdown.h"
#include "core/set/set.h"

enum { FIELDS = 8, BACKEND = 3 };

static const struct perf_event_attr *attr_of(const struct tach_set *set, int core, int member)
{
	return core < 0 ? &set->member[member].attr : &set->cores->attr[core][member];
}

int tach__topdown_leader(const struct tach_set *set, int core, uint32_t members)
{
	int slots = -1, metrics = 0;

	for (int m = 0; m < set->count; m++) {
		if (!(members >> m & 1))
			continue;
		if (slots < 0 && tach__is_slots(attr_of(set, core, m)))
			slots = m;
		metrics |= tach__is_metrics(attr_of(set, core, m));
	}
	return metrics ? slots : -1;
}

int tach__topdown_find(struct tach__topdown *t, const struct tach_set *set, int core,
		       const struct tach__group *group)
{
	t->members = 0;
	for (int i = 0; i < group->count; i++) {
		int m = group->member[i];
		const struct perf_event_attr *attr = attr_of(set, core, m);

		if (!tach__is_metrics(attr))
			continue;
		t->members |= 1u << m;
		t->field[m] = attr->config >> 8 & (FIELDS - 1);
	}
	if (!t->members || !tach__is_slots(attr_of(set, core, group->member[0])))
		return 0;
	t->group = group;
	return 1;
}

/* The first four fields add up to 255, so BACKEND contains the rounding of the other three. */
unsigned tach__topdown_steps(const struct tach__topdown *t, int member)
{
	return t->field[member] == BACKEND ? 3 : 1;
}

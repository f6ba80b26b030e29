/* SPDX-License-Identifier: MIT */
/* Adds one row to a new snapshot, for events counted outside the program's threads. The
 * snapshot's regions move to wider arrays. The data that they point to stays in place. */
#include <math.h>
#include <string.h>
#include "core/set/set.h"
#include "core/snapshot/operands.h"
#include "core/snapshot/snapshot.h"

struct joining {
	const struct tach__beside *b;
	const struct tach_set *theirs; /* the set with the metrics of the other rows */
	const struct tach__plain *old;
	struct tach__plain whole;
	int map[1 + TACH_COUNTERS_MAX]; /* the row's quantities in the result, time first */
	char *at;			/* start of the unused memory */
};

static void *get(struct joining *j, size_t size)
{
	void *at = j->at;

	j->at += (size + 15) / 16 * 16;
	return at;
}

/* ---- names ---- */

/* Returns the number of a quantity, or -1. The search begins after the time, because no event
 * has the name of the time. */
static int find_quantity(const struct tach__plain *p, const char *name)
{
	for (int q = 1; q < p->nquantities; q++)
		if (strcmp(p->quantity[q], name) == 0)
			return q;
	return -1;
}

static int has_metric(const struct tach__plain *p, const char *name)
{
	for (int m = 0; m < p->nmetrics; m++)
		if (strcmp(p->metric[m].name, name) == 0)
			return 1;
	return 0;
}

/* Counts the names that only the row's set has. The result already has the other names. */
static void count_names(struct joining *j)
{
	const struct tach_set *set = j->b->set;

	for (int i = 0; i < tach_set_count(set); i++) {
		int q = find_quantity(j->old, tach_set_name(set, i));
		int operand = (int)(set->operands >> i & 1);

		if (q < 0 || !operand)
			tach__plain_mark_operand(&j->whole, q < 0 ? j->whole.nquantities : q,
						 operand);
		j->map[1 + i] = q < 0 ? j->whole.nquantities++ : q;
	}
	for (int m = 0; m < tach_set_nmetrics(set); m++)
		j->whole.nmetrics += !has_metric(j->old, set->metric[m].name);
}

static size_t memory_of(const struct joining *j)
{
	const struct tach_set *set = j->b->set;
	size_t all = (size_t)(j->whole.nquantities + j->whole.nmetrics);
	size_t regions = (size_t)j->whole.nregions, size = 0;

	for (int m = 0; m < tach_set_nmetrics(set); m++)
		size += TACH__RENUMBERED(set->metric[m].text) + 15;
	size += (size_t)j->whole.nquantities * sizeof *j->whole.quantity;
	size += (size_t)j->whole.nmetrics * sizeof *j->whole.metric;
	size += regions * (sizeof *j->whole.region + 2 * all * sizeof(struct tach_value) +
			   (size_t)j->whole.nquantities * sizeof(struct tach__plain_buckets));
	/* Adds 15 bytes for each piece, because its size is rounded up. */
	return size + (3 + 3 * regions) * 15;
}

static void name_all(struct joining *j)
{
	const struct tach_set *set = j->b->set;
	struct tach__plain *p = &j->whole;
	int m = j->old->nmetrics;

	p->quantity = get(j, (size_t)p->nquantities * sizeof *p->quantity);
	p->metric = get(j, (size_t)p->nmetrics * sizeof *p->metric);
	memcpy(p->quantity, j->old->quantity,
	       (size_t)j->old->nquantities * sizeof *p->quantity);
	memcpy(p->metric, j->old->metric, (size_t)m * sizeof *p->metric);
	for (int i = 0; i < tach_set_count(set); i++)
		p->quantity[j->map[1 + i]] = tach_set_name(set, i);
	for (int k = 0; k < tach_set_nmetrics(set); k++) {
		char *text = get(j, TACH__RENUMBERED(set->metric[k].text));

		if (has_metric(j->old, set->metric[k].name))
			continue;
		tach__renumber(text, set->metric[k].text, j->map, 1 + tach_set_count(set));
		p->metric[m++] = (struct tach__plain_metric){set->metric[k].name, text, NULL,
							     set->metric[k].node};
	}
}

/* ---- values ---- */

static const struct tach_value lost = {.flags = TACH_FLAG_LOST};

/* Computes metric m of the result from the quantities of a row. */
static void derive(const struct joining *j, struct tach_value *v, int m)
{
	const struct tach_set *set = m < j->old->nmetrics ? j->theirs : j->b->set;
	struct tach__operands o = {.count = (uint32_t)tach_set_count(set),
				   .time = v[TACH_QUANTITY_TIME]};
	int k = 0;

	for (uint32_t i = 0; i < o.count; i++)
		tach__operands_put(&o, i,
				   &v[set == j->b->set ? (uint32_t)j->map[1 + i] : 1 + i]);
	while (k < tach_set_nmetrics(set) &&
	       strcmp(set->metric[k].name, j->whole.metric[m].name) != 0)
		k++;
	/* Metric m uses quantities of several sets that take turns, which this row does not
	 * have. */
	if (k == tach_set_nmetrics(set)) {
		v[j->whole.nquantities + m] = lost;
		return;
	}
	tach__operands_derive(&o, tach_set_metric(set, k), &v[j->whole.nquantities + m]);
}

static void widen_row(struct joining *j, struct tach__plain_region *to,
		      const struct tach__plain_region *from)
{
	size_t old = (size_t)j->old->nquantities, now = (size_t)j->whole.nquantities;
	size_t all = now + (size_t)j->whole.nmetrics;

	*to = *from;
	to->sample[0] = to->sample[1] = NULL; /* these arrays have fewer quantities */
	to->histogram = get(j, now * sizeof *to->histogram);
	if (from->histogram)
		memcpy(to->histogram, from->histogram, old * sizeof *to->histogram);
	for (int part = 0; part < 2; part++) {
		struct tach_value *v = to->value[part] = get(j, all * sizeof *v);

		memcpy(v, from->value[part], old * sizeof *v);
		for (size_t q = old; q < now; q++)
			v[q] = lost;
		memcpy(v + now, from->value[part] + old, (size_t)j->old->nmetrics * sizeof *v);
		for (int m = j->old->nmetrics; m < j->whole.nmetrics; m++)
			derive(j, v, m);
	}
}

static void fill_row(struct joining *j, struct tach__plain_region *row)
{
	const struct tach__beside *b = j->b;
	size_t now = (size_t)j->whole.nquantities, all = now + (size_t)j->whole.nmetrics;
	uint32_t flags = 0;

	*row = (struct tach__plain_region){.histogram = get(j, now * sizeof *row->histogram)};
	for (int part = 0; part < 2; part++) {
		struct tach_value *v = row->value[part] = get(j, all * sizeof *v);

		for (size_t q = 1; q < now; q++)
			v[q] = lost;
		v[TACH_QUANTITY_TIME].value = v[TACH_QUANTITY_TIME].raw =
			round(b->seconds * 1e9);
		for (int i = 0; i < tach_set_count(b->set); i++) {
			struct tach_value *to = &v[j->map[1 + i]];

			flags |= b->flags[i];
			if (!(b->flags[i] & TACH_FLAG_LOST))
				*to = (struct tach_value){.value = (double)b->count[i],
							  .raw = (double)b->count[i],
							  .flags = b->flags[i]};
		}
		for (int m = 0; m < j->whole.nmetrics; m++)
			derive(j, v, m);
	}
	row->info = (struct tach_region_info){.size = sizeof row->info,
					      .name = b->row,
					      .file = "",
					      .function = "",
					      .of = b->row,
					      .task = "",
					      .tag = "",
					      .thread = "",
					      .entries = 1,
					      .calls = 1,
					      .outermost = 1,
					      .parent = -1};
	for (int i = 0; i < 6; i++)
		row->info.provenance[i] = flags >> i & 1;
}

/* ---- the whole ---- */

/* Rows are sorted by time. */
static void place_rows(struct joining *j)
{
	const struct tach__plain *old = j->old;
	double time = round(j->b->seconds * 1e9);
	int r = 0, added;

	j->whole.region = get(j, (size_t)j->whole.nregions * sizeof *j->whole.region);
	for (; r < old->nregions && old->region[r].value[0][TACH_QUANTITY_TIME].value >= time;
	     r++)
		widen_row(j, &j->whole.region[r], &old->region[r]);
	added = r;
	fill_row(j, &j->whole.region[r]);
	for (; r < old->nregions; r++)
		widen_row(j, &j->whole.region[r + 1], &old->region[r]);
	for (r = 0; r < j->whole.nregions; r++)
		j->whole.region[r].info.parent += j->whole.region[r].info.parent >= added;
}

int tach__snapshot_add_row(struct tach_snapshot *s, const struct tach__beside *b)
{
	struct joining j = {
		.b = b, .theirs = s->config->set, .old = &s->plain, .whole = s->plain};

	count_names(&j);
	if (j.whole.nquantities > TACH__PLAIN_QUANTITIES_MAX ||
	    j.whole.nmetrics > TACH__PLAIN_METRICS_MAX)
		return TACH_ERR_TOOMANY;
	j.whole.nregions++;
	j.whole.more_size = memory_of(&j);
	j.whole.more_pages = j.at = tach__pages(j.whole.more_size);
	if (!j.at)
		return TACH_ERR_NOMEM;
	name_all(&j);
	place_rows(&j);
	s->plain = j.whole;
	return 0;
}

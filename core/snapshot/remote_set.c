/* SPDX-License-Identifier: MIT */
/* Reads sets, totals and sites of another process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/set/set.h"
#include "core/snapshot/remote.h"

/* Checks the numbers of a set on which other reads depend. */
static int set_is_sound(const struct tach_set *set)
{
	return set->count >= 0 && set->count <= TACH_COUNTERS_MAX && set->nmetrics >= 0 &&
	       set->nmetrics <= TACH__METRICS_MAX && set->interrupts >= -1 &&
	       set->interrupts < set->count;
}

static int no_text(const struct tach__remote *r)
{
	return r->failed ? r->failed : TACH_ERR_NOMEM;
}

/* Replaces the remote address in *text by the address of a local copy. */
static int copy_text(struct tach__remote *r, const char **text)
{
	*text = tach__remote_text(r, *text);
	return *text ? 0 : no_text(r);
}

static int copy_node(struct tach__remote *r, struct tach__place *to,
		     const struct tach__place *from)
{
	int code;

	*to = *from;
	to->level = from->level > 0 && from->level < 64 ? from->level : 0;
	to->scale = isfinite(from->scale) ? from->scale : 0;
	code = copy_text(r, &to->unit);
	if (!code)
		code = copy_text(r, &to->parent);
	if (!code)
		code = copy_text(r, &to->threshold);
	return code ? code : copy_text(r, &to->description);
}

static char *copy_remote_text(struct tach__remote *r, const char *at)
{
	const char *text = tach__remote_text(r, at);

	return text ? strdup(text) : NULL;
}

/* If the formula does not compile, it is dropped, and the values of the metric are unknown. */
static int copy_metric(struct tach__remote *r, struct tach__metric *to,
		       const struct tach__metric *from, int count)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	int code;

	to->name = copy_remote_text(r, from->name);
	if (to->name)
		to->text = copy_remote_text(r, from->text);
	code = to->name && to->text ? copy_node(r, &to->node, &from->node) : no_text(r);
	if (code)
		return code;
	opt.noperands = count;
	return tach_formula_compile(to->text, &opt, &to->formula, NULL) != 0
		       ? TACH__REMOTE_AGAIN
		       : 0;
}

static int copy_set(struct tach__remote *r, struct tach_set *to, const struct tach_set *from)
{
	int code = 0;

	to->interrupts = from->interrupts;
	to->operands = from->operands;
	to->corrected = from->interrupts < 0 ? 0 : from->corrected;
	for (; to->count < from->count && !code; to->count++) {
		struct tach__member *m = &to->member[to->count];

		m->kind = from->member[to->count].kind;
		m->name = copy_remote_text(r, from->member[to->count].name);
		code = m->name ? 0 : no_text(r);
	}
	/* Never subtract interrupts from the count of interrupts, even if the remote data
	 * requests it. */
	if (to->interrupts >= 0)
		to->corrected &= ~(1u << to->interrupts);
	for (; to->nmetrics < from->nmetrics && !code; to->nmetrics++)
		code = copy_metric(r, &to->metric[to->nmetrics], &from->metric[to->nmetrics],
				   to->count);
	return code;
}

int tach__remote_set(struct tach__remote *r, const struct tach_set *at, struct tach_set **out)
{
	struct tach_set *there = malloc(sizeof *there), *set = calloc(1, sizeof *set);
	int code =
		there && set ? tach__remote_get(r, at, there, sizeof *there) : TACH_ERR_NOMEM;

	if (!code && !set_is_sound(there))
		code = TACH__REMOTE_AGAIN;
	if (!code)
		code = copy_set(r, set, there);
	free(there);
	if (code) {
		tach_set_free(set);
		return code;
	}
	*out = set;
	return 0;
}

int tach__remote_histograms(struct tach__remote *r, uint32_t *to, const uint32_t *at,
			    uint32_t sums)
{
	return tach__remote_get(r, at, to, tach__histograms_size(sums));
}

/*
 * Copies a row that was read. Its numbers may have any value, but its pointers are replaced by
 * ours.
 */
static void own_row(struct tach__row *to, const struct tach__row *from, size_t stride,
		    uint32_t count)
{
	uint32_t *ours = to->histograms;
	struct tach__worst *worst = to->worst;

	memcpy(to, from, stride);
	to->histograms = ours;
	to->worst = worst;
	tach__remote_finite(&to->passed, 1);
	tach__remote_finite(to->paced, 2);
	for (uint32_t i = 0; i <= count; i++) {
		struct tach__cell *cell = &to->cell[i];

		tach__remote_finite(cell->overhead,
				    (sizeof *cell - offsetof(struct tach__cell, overhead)) /
					    sizeof(double));
	}
}

static int own_histograms(struct tach__remote *r, struct tach__row *row, const uint32_t *at,
			  uint32_t count)
{
	int code;

	if (!at)
		return 0;
	if (!row->histograms) {
		code = tach__remote_reserve(r, tach__histograms_size(count + 1));
		if (code)
			return code;
		row->histograms = tach__histograms_make(count + 1);
	}
	return row->histograms ? tach__remote_histograms(r, row->histograms, at, count + 1)
			       : TACH_ERR_NOMEM;
}

int tach__remote_rows_read(struct tach__remote *r, const struct tach__rows *there,
			   uint32_t nsites, struct tach__remote_rows *copy)
{
	uint32_t limit = there->limit < nsites ? there->limit : nsites;
	size_t size = (size_t)limit * there->stride;

	copy->limit = 0;
	if (there->stride != copy->stride || there->count != copy->count)
		return TACH__REMOTE_AGAIN;
	if (!there->base || limit <= TACH__SITE_FIRST)
		return 0;
	if (size > copy->size) {
		char *larger = tach__pages_larger(copy->base, copy->size, size);

		if (!larger)
			return TACH_ERR_NOMEM;
		tach__pages_free(copy->base, copy->size);
		copy->base = larger;
		copy->size = size;
	}
	copy->limit = limit;
	/* Use one read, because during a longer one, a thread may end. */
	return tach__remote_get(r, there->base, copy->base, size);
}

int tach__remote_rows_own(struct tach__remote *r, const struct tach__config *config,
			  const struct tach__remote_rows *copy, struct tach__rows *rows,
			  int with_histograms)
{
	int code = 0;

	if (copy->limit && !tach__rows_at(rows, copy->limit - 1))
		return TACH_ERR_NOMEM;
	for (uint32_t id = TACH__SITE_FIRST; id < copy->limit && !code; id++) {
		const struct tach__row *from =
			(const void *)(copy->base + (size_t)id * copy->stride);
		struct tach__row *row = tach__rows_at(rows, id);

		own_row(row, from, copy->stride, copy->count);
		if (with_histograms)
			code = own_histograms(r, row, from->histograms, copy->count);
		if (with_histograms && !code)
			code = tach__remote_worst(r, from->worst, config, NULL, row);
	}
	return code;
}

int tach__remote_site(struct tach__remote *r, struct tach__site *const *by_id, uint32_t id,
		      struct tach__site *out)
{
	const char **text[] = {&out->name,	 &out->file,	  &out->function,    &out->of,
			       &out->parts.task, &out->parts.tag, &out->parts.thread};
	struct tach__site *at, there;
	int code = tach__remote_get(r, tach__remote_at(by_id, id * sizeof at), &at, sizeof at);

	if (!code)
		code = tach__remote_get(r, at, &there, sizeof there);
	if (code)
		return code;
	if (there.id != id)
		return TACH__REMOTE_AGAIN;
	*out = (struct tach__site){.id = id,
				   .line = there.line,
				   .fenced = there.fenced,
				   .parent = there.parent,
				   .name = there.name,
				   .file = there.file,
				   .function = there.function,
				   .of = there.of,
				   .parts = there.parts};
	for (size_t i = 0; i < sizeof text / sizeof *text && !code; i++)
		code = copy_text(r, text[i]);
	return code;
}

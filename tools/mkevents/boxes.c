/* SPDX-License-Identifier: MIT */
/* Boxes of an uncore: PMUs that share the rows of one file. */
#include <stdlib.h>
#include <string.h>
#include "core/port/modifiers.h"
#include "tools/mkevents/mk.h"

static int number(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell)
{
	uint64_t n = 0;

	if (mk_empty(cell))
		return -1;
	if (!mk_number(cell, 10, 9999, &n))
		mk_fault(mk, pmu, cell, "'%.*s' is not a number up to 9999", (int)cell->length,
			 cell->text);
	return (int)n;
}

/* Needs exactly one conversion, %d or %x, if boxes are numbered, otherwise no conversion. */
static void check_pattern(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
			  int numbered)
{
	const char *percent = memchr(cell->text, '%', cell->length);
	size_t left = percent ? (size_t)(cell->text + cell->length - percent) : 0;

	if ((percent != NULL) != numbered ||
	    (percent && (left < 2 || (percent[1] != 'd' && percent[1] != 'x') ||
			 memchr(percent + 1, '%', left - 1))))
		mk_fault(mk, pmu, cell,
			 numbered ? "%%d or %%x is to stand for the number"
				  : "a box without number has no %%");
}

void mk_inst(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value)
{
	struct mk_cell range = value[1], part;
	struct mk_inst *inst;

	pmu->insts = mk_grow(pmu->insts, pmu->ninsts, &pmu->inst_room, sizeof *inst);
	inst = &pmu->insts[pmu->ninsts++];
	inst->name = value[0];
	inst->perf = value[3];
	inst->libpfm4_id = number(mk, pmu, &value[2]);
	inst->order = number(mk, pmu, &value[4]);
	if (mk_empty(&value[1])) {
		inst->first = inst->last = -1;
	} else {
		mk_split(&range, '-', &part);
		inst->first = number(mk, pmu, &part);
		inst->last = range.text ? number(mk, pmu, &range) : -1;
		if (inst->first < 0 || inst->last < inst->first) {
			mk_fault(mk, pmu, &value[1], "expected -, or a range of boxes: a-b");
			inst->last = inst->first;
		}
	}
	check_pattern(mk, pmu, &value[0], inst->first >= 0);
	check_pattern(mk, pmu, &value[3], inst->first >= 0);
}

void mk_osmods(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value)
{
	static const char *const words[TACH__NOSMODS] = {
		[TACH__OS_U] = "u",	      [TACH__OS_K] = "k",
		[TACH__OS_H] = "h",	      [TACH__OS_PERIOD] = "period",
		[TACH__OS_FREQ] = "freq",     [TACH__OS_PRECISE] = "precise",
		[TACH__OS_EXCL] = "excl",     [TACH__OS_MG] = "mg",
		[TACH__OS_MH] = "mh",	      [TACH__OS_CPU] = "cpu",
		[TACH__OS_PINNED] = "pinned", [TACH__OS_HW_SMPL] = "hw_smpl",
	};
	struct mk_cell rest = *value, part;

	if (mk_empty(value))
		return;
	while (mk_split(&rest, ',', &part)) {
		int i = mk_word(words, TACH__NOSMODS, &part);

		if (i < 0)
			mk_fault(mk, pmu, &part, "perf has no modifier '%.*s'",
				 (int)part.length, part.text);
		else
			pmu->row.osmods |= 1u << i;
	}
}

struct box {
	const struct mk_pmu *pmu;
	const struct mk_inst *inst;
	int number; /* -1: it has none */
	size_t place;
	char name[64];
};

static int box_position(const struct box *b)
{
	return b->inst->order < 0 ? 1 << 20 : b->inst->order + (int)b->place;
}

/*
 * Order: architecture, then libpfm-4's search order, then PMUs that libpfm-4 does not have, in
 * input order.
 */
static int box_order(const void *pa, const void *pb)
{
	const struct box *a = pa, *b = pb;

	if (a->pmu->row.arch != b->pmu->row.arch)
		return a->pmu->row.arch < b->pmu->row.arch ? -1 : 1;
	if (box_position(a) != box_position(b))
		return box_position(a) < box_position(b) ? -1 : 1;
	if (a->pmu != b->pmu)
		return a->pmu < b->pmu ? -1 : 1;
	if (a->inst != b->inst)
		return a->inst < b->inst ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static struct mk_cell spelled(const struct mk_cell *with, int number, char *out, size_t size)
{
	const char *percent = memchr(with->text, '%', with->length);
	size_t before = percent ? (size_t)(percent - with->text) : with->length;
	size_t after = percent ? with->length - before - 2 : 0;

	if (percent)
		snprintf(out, size, percent[1] == 'x' ? "%.*s%x%.*s" : "%.*s%d%.*s",
			 (int)before, with->text, (unsigned)number, (int)after, percent + 2);
	else
		snprintf(out, size, "%.*s", (int)before, with->text);
	return (struct mk_cell){out, strlen(out), 0, 0};
}

static uint32_t perf_names(struct mk_image *im, const struct box *b)
{
	char first[64], other[64], both[132];
	const struct mk_cell *single = &b->pmu->single;

	spelled(&b->inst->perf, b->number, first, sizeof first);
	other[0] = 0;
	if (single->text && (b->place == 0 || memchr(single->text, '%', single->length)))
		spelled(single, b->number, other, sizeof other);
	snprintf(both, sizeof both, "%s%s%s", first, *other ? " " : "", other);
	return mk_pool_string(&im->strings, &(struct mk_cell){both, strlen(both), 0, 0});
}

static void one_box(struct mk *mk, struct mk_image *im, const struct box *b)
{
	struct tach__pmu *row = &im->pmus[im->npmus];
	struct mk_cell name = {b->name, strlen(b->name), 0, 0};

	*row = b->pmu->row;
	row->name = mk_pool_string(&im->strings, &name);
	row->description = mk_pool_string(&im->strings, &b->pmu->description);
	row->perf = perf_names(im, b);
	row->alias = mk_pool_string(&im->strings, &b->pmu->alias);
	row->libpfm4_id = b->inst->libpfm4_id < 0 ? -1 : b->inst->libpfm4_id + (int)b->place;
	im->runs[im->npmus].events = mk_build_events(mk, im, b->pmu, b->number, &row->nevents);
	mk_build_vendor(mk, im, b->pmu, &im->runs[im->npmus]);
	im->npmus++;
}

/* A line of boxes that is limited to some CPUs must name CPUs of the file. */
static void check_matches(struct mk *mk, const struct mk_pmu *pmu)
{
	for (size_t i = 0; i < pmu->nmatches; i++) {
		const struct mk_cell *name = &pmu->matches[i].inst;
		int found = !name->text;

		for (size_t k = 0; k < pmu->ninsts; k++)
			found |= name->text && mk_same(name, &pmu->insts[k].name);
		if (!found)
			mk_fault(mk, pmu, name, "no @inst is called '%.*s'", (int)name->length,
				 name->text);
	}
}

/* The CPUs of a line claim its boxes, which are consecutive in every order. */
static void claim_boxes(struct mk_image *im, const struct box *b, size_t row)
{
	for (size_t i = 0; i < b->pmu->nmatches; i++) {
		const struct mk_match *m = &b->pmu->matches[i];
		struct tach__tab_boxes *to = &im->box_matches[im->nbox_matches];

		if (m->inst.text && !mk_same(&m->inst, &b->inst->name))
			continue;
		im->nbox_matches++;
		to->vendor = mk_pool_string(&im->strings, &b->pmu->vendor);
		to->first = (uint16_t)row;
		to->count = (uint16_t)(b->inst->last - b->inst->first + 1);
		to->arch = b->pmu->row.arch;
		memcpy(to->family, m->row.family, sizeof to->family);
		memcpy(to->model, m->row.model, sizeof to->model);
		memcpy(to->stepping, m->row.stepping, sizeof to->stepping);
	}
}

static size_t list_boxes(struct mk *mk, struct box *boxes, size_t *claims)
{
	size_t n = 0;

	for (size_t p = 0; p < mk->npmus; p++) {
		const struct mk_pmu *pmu = &mk->pmus[p];

		check_matches(mk, pmu);
		*claims += pmu->ninsts * pmu->nmatches;
		for (size_t i = 0; i < pmu->ninsts; i++)
			for (int k = pmu->insts[i].first; k <= pmu->insts[i].last; k++) {
				struct box *b = &boxes[n++];

				*b = (struct box){pmu, &pmu->insts[i], k,
						  (size_t)(k - pmu->insts[i].first), ""};
				spelled(&b->inst->name, k, b->name, sizeof b->name);
			}
	}
	qsort(boxes, n, sizeof *boxes, box_order);
	return n;
}

void mk_boxes(struct mk *mk, struct mk_image *im)
{
	struct box *boxes = mk_alloc(im->nboxes * sizeof *boxes);
	struct mk_cell *names = mk_alloc(im->nboxes * sizeof *names);
	uint16_t *rows = mk_alloc(im->nboxes * sizeof *rows);
	size_t claims = 0, n = list_boxes(mk, boxes, &claims), distinct = n;

	im->box_matches = mk_alloc(claims * sizeof *im->box_matches);
	for (size_t i = 0; i < n; i++) {
		names[i] = (struct mk_cell){boxes[i].name, strlen(boxes[i].name), 0, 0};
		rows[i] = (uint16_t)im->npmus;
		if (boxes[i].place == 0)
			claim_boxes(im, &boxes[i], im->npmus);
		one_box(mk, im, &boxes[i]);
	}
	im->box_names = mk_build_names(im, names, rows, &distinct);
	if (distinct != n)
		mk_fault(mk, boxes[0].pmu, &boxes[0].inst->name, "two boxes have one name");
	free(boxes);
	free(names);
	free(rows);
}

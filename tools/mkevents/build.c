/* SPDX-License-Identifier: MIT */
/* Converts parsed files to the arrays of core/tables/data.h: pooling, sharing, sorting. */
#include <stdlib.h>
#include <string.h>
#include "core/tables/search.h"
#include "tools/mkevents/mk.h"

/* Vendor spellings are not stored: the sorted names are for searching them. */
static uint16_t add_attrs(struct mk *mk, struct mk_image *im, const struct mk_row *row)
{
	uint16_t list[2 + TACH__NATTRS], ids[TACH__NATTRS], n = 2;
	uint32_t keys = 0;

	for (size_t i = 0; i < row->nattrs; i++) {
		const struct mk_attr *a = &mk->attrs[row->first_attr + i];
		struct tach__tab_attr value;

		if (a->key == TACH__A_VN)
			continue;
		memset(&value, 0, sizeof value);
		value.key = a->key;
		value.number = a->number;
		value.text = mk_pool_string(&im->strings, &a->cell);
		ids[a->key] = (uint16_t)mk_pool_add(&im->attr_values, &value, 1);
		keys |= 1u << a->key;
	}
	if (!keys)
		return 0;
	list[0] = (uint16_t)keys;
	list[1] = (uint16_t)(keys >> 16);
	for (uint32_t left = keys; left; left &= left - 1)
		list[n++] = ids[__builtin_ctz(left)];
	return (uint16_t)mk_pool_add(&im->attr_lists, list, n);
}

/*
 * In rows of boxes, only occupancy events and umasks used as modifiers need this value. Rows
 * that differ less are shared more.
 */
static uint8_t src_of(const struct mk_pmu *pmu, const struct mk_row *row)
{
	if (!pmu->boxes || (row->src == TACH__SRC_V &&
			    (pmu->row.flags & TACH__PMU_OCC || row->name.length == 1)))
		return row->src;
	return TACH__SRC_L;
}

static uint16_t add_umask(struct mk *mk, struct mk_image *im, const struct mk_pmu *pmu,
			  const struct mk_row *row)
{
	struct tach__umask u;

	memset(&u, 0, sizeof u);
	u.name = mk_pool_string(&im->strings, &row->name);
	u.description = mk_pool_string(&im->strings, &row->description);
	u.code = row->code;
	u.counter_set = (uint16_t)mk_pool_add(&im->counters, &row->counters, 1);
	u.flags = (uint16_t)row->flags;
	u.mods = (uint16_t)row->mods;
	u.hw = (uint16_t)mk_pool_add(&im->hw, row->hw, row->nhw);
	u.attrs = add_attrs(mk, im, row);
	u.group = row->group;
	u.requires = row->requires;
	u.src = src_of(pmu, row);
	return (uint16_t)mk_pool_add(&im->umasks, &u, 1);
}

/*
 * The three pools grow together: runs with equal ids have equal names, so they have equal
 * indexes.
 */
static uint32_t add_run(struct mk_pool *ids, struct mk_pool *orders, struct mk_pool *hashes,
			const uint16_t *id, const struct mk_row *rows, size_t n)
{
	size_t used = ids->used;
	uint32_t start = mk_pool_add(ids, id, n);

	if (ids->used != used)
		mk_index_rows(orders, hashes, rows, n);
	return start;
}

static size_t of_box(const struct mk_row *rows, size_t n, int box, struct mk_row *out);

static uint16_t add_event(struct mk *mk, struct mk_image *im, const struct mk_pmu *pmu,
			  const struct mk_row *row, int box)
{
	struct mk_row *umasks = mk_alloc(row->numasks * sizeof *umasks);
	size_t n = of_box(mk_umasks(pmu, row), row->numasks, box, umasks);
	uint16_t *id = mk_alloc(row->numasks * sizeof *id);
	struct tach__event e;

	for (size_t i = 0; i < n; i++)
		id[i] = add_umask(mk, im, pmu, &umasks[i]);
	memset(&e, 0, sizeof e);
	e.name = mk_pool_string(&im->strings, &row->name);
	e.description = mk_pool_string(&im->strings, &row->description);
	e.code = (uint32_t)row->code;
	e.flags = row->flags;
	e.counter_set = (uint16_t)mk_pool_add(&im->counters, &row->counters, 1);
	e.mods = row->mods;
	e.hw = (uint16_t)mk_pool_add(&im->hw, row->hw, row->nhw);
	e.attrs = add_attrs(mk, im, row);
	e.numasks = (uint16_t)n;
	e.ngroups = row->group;
	e.src = src_of(pmu, row);
	e.umasks = (uint16_t)add_run(&im->umask_ids, &im->umask_order, &im->umask_hash, id,
				     umasks, n);
	free(id);
	free(umasks);
	return (uint16_t)mk_pool_add(&im->events, &e, 1);
}

static uint32_t join_perf_names(struct mk_image *im, const struct mk_pmu *pmu)
{
	size_t room = 1, used = 0;
	uint32_t start;
	char *text;

	for (int i = 0; i < pmu->nperf; i++)
		room += pmu->perf[i].length + 1;
	text = mk_alloc(room);
	for (int i = 0; i < pmu->nperf; i++)
		used += (size_t)sprintf(text + used, "%s%.*s", i ? " " : "",
					(int)pmu->perf[i].length, pmu->perf[i].text);
	start = used ? mk_pool_add(&im->strings, text, used + 1) : 0;
	free(text);
	return start;
}

/* The default PMU of an architecture is its last one, so its line is the last one too. */
static void claim_the_rest(struct mk_image *im, size_t p, uint32_t vendor_name)
{
	struct tach__tab_match *m = &im->matches[im->nmatches++];

	memset(m, 0, sizeof *m);
	m->vendor = vendor_name;
	m->arch = im->pmus[p].arch;
	m->pmu = (uint16_t)p;
	m->family[1] = m->model[1] = m->stepping[1] = UINT32_MAX;
}

/* Returns the rows of a box, or all rows if box is -1. */
static size_t of_box(const struct mk_row *rows, size_t n, int box, struct mk_row *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].box < 0 || rows[i].box == box)
			out[kept++] = rows[i];
	return kept;
}

uint32_t mk_build_events(struct mk *mk, struct mk_image *im, const struct mk_pmu *pmu, int box,
			 uint32_t *nevents)
{
	struct mk_row *rows = mk_alloc(pmu->nevents * sizeof *rows);
	size_t n = of_box(pmu->events, pmu->nevents, box, rows);
	uint16_t *id = mk_alloc(n * sizeof *id);
	uint32_t start;

	for (size_t e = 0; e < n; e++)
		id[e] = add_event(mk, im, pmu, &rows[e], box);
	start = add_run(&im->event_ids, &im->event_order, &im->event_hash, id, rows, n);
	*nevents = (uint32_t)n;
	free(id);
	free(rows);
	return start;
}

static void one_pmu(struct mk *mk, struct mk_image *im, size_t p)
{
	const struct mk_pmu *pmu = &mk->pmus[p];
	struct tach__pmu *row = &im->pmus[im->npmus];

	*row = pmu->row;
	row->name = mk_pool_string(&im->strings, &pmu->name);
	row->description = mk_pool_string(&im->strings, &pmu->description);
	row->perf = join_perf_names(im, pmu);
	row->alias = mk_pool_string(&im->strings, &pmu->alias);
	im->runs[im->npmus].events = mk_build_events(mk, im, pmu, -1, &row->nevents);
	mk_build_vendor(mk, im, pmu, &im->runs[im->npmus]);
	p = im->npmus++;
	for (size_t i = 0; i < pmu->nmatches; i++) {
		struct tach__tab_match *m = &im->matches[im->nmatches++];

		*m = pmu->matches[i].row;
		m->vendor = mk_pool_string(&im->strings, &pmu->vendor);
		m->fallback = mk_pool_string(&im->strings, &pmu->matches[i].fallback);
		m->pattern = mk_pool_string(
			&im->strings, &(struct mk_cell){pmu->matches[i].pattern,
							strlen(pmu->matches[i].pattern), 0, 0});
		m->pmu = (uint16_t)p;
	}
	if (row->flags & TACH__PMU_ARCHDEFAULT)
		claim_the_rest(im, p, mk_pool_string(&im->strings, &pmu->vendor));
}

/*
 * PMU names, and the aliases that are not the name of another PMU. (Strings of such a PMU work
 * under its alias only on a machine that has the aliasing PMU.)
 */
static void pmu_names(struct mk *mk, struct mk_image *im)
{
	struct mk_sorted *s = mk_alloc(2 * mk->npmus * sizeof *s);
	size_t n = 0;

	for (size_t p = 0; p < mk->npmus && !mk->pmus[p].boxes; p++)
		if (!(mk->pmus[p].row.flags & TACH__PMU_PFM3))
			s[n++] = mk_sortable(&mk->pmus[p].name, p, TACH__TAB_NONE);
	for (size_t p = 0; p < mk->npmus; p++) {
		const struct mk_cell *alias = &mk->pmus[p].alias;
		size_t q = 0;

		if (!alias->text)
			continue;
		while (q < mk->npmus && !mk_same(&mk->pmus[q].name, alias))
			q++;
		if (q == mk->npmus)
			s[n++] = mk_sortable(alias, p, TACH__TAB_NONE);
	}
	im->pmu_names = mk_names(im, s, &n);
	im->npmu_names = (uint32_t)n;
	free(s);
}

uint32_t mk_build_names(struct mk_image *im, const struct mk_cell *name, const uint16_t *pmu,
			size_t *n)
{
	struct mk_sorted *s = mk_alloc(*n * sizeof *s);
	uint32_t start;

	for (size_t i = 0; i < *n; i++)
		s[i] = mk_sortable(&name[i], pmu[i], TACH__TAB_NONE);
	start = mk_names(im, s, n);
	free(s);
	return start;
}

/* Row numbers have 16 bits in the arrays. */
static void check_fits(struct mk *mk, const struct mk_pool *pool, const char *what)
{
	struct mk_cell at = {"", 0, 1, 1};

	if (pool->used > TACH__TAB_NONE)
		mk_fault(mk, &mk->pmus[0], &at,
			 "%zu different %s in all files, but row numbers have 16 bits: widen "
			 "them in core/tables/data.h",
			 pool->used, what);
}

void mk_build(struct mk *mk, struct mk_image *im)
{
	static const uint16_t no_attrs[2] = {0};
	static const uint32_t no_hw = UINT32_MAX; /* no modifier has this number */
	static const uint64_t no_counters = 0;
	size_t nmatches = 0;

	memset(im, 0, sizeof *im);
	im->strings.size = 1;
	im->attr_values.size = sizeof(struct tach__tab_attr);
	im->hw.size = sizeof(uint32_t);
	im->counters.size = sizeof(uint64_t);
	im->umasks.size = sizeof(struct tach__umask);
	im->events.size = sizeof(struct tach__event);
	im->names.size = sizeof(struct tach__tab_name);
	im->attr_lists.size = im->name_hash.size = sizeof(uint16_t);
	im->umask_ids.size = im->umask_order.size = im->umask_hash.size = sizeof(uint16_t);
	im->event_ids.size = im->event_order.size = im->event_hash.size = sizeof(uint16_t);
	/* Index 0 means "none". */
	mk_pool_add(&im->strings, "", 1);
	mk_pool_add(&im->attr_lists, no_attrs, 2);
	mk_pool_add(&im->hw, &no_hw, 1);
	mk_pool_add(&im->counters, &no_counters, 1);
	for (size_t p = 0; p < mk->npmus; p++) {
		nmatches += mk->pmus[p].nmatches + 1; /* + 1: claim_the_rest */
		im->npfm3 += (mk->pmus[p].row.flags & TACH__PMU_PFM3) != 0;
		for (size_t i = 0; i < mk->pmus[p].ninsts; i++)
			im->nboxes += (size_t)(mk->pmus[p].insts[i].last -
					       mk->pmus[p].insts[i].first + 1);
	}
	im->pmus = mk_alloc((mk->npmus + im->nboxes) * sizeof *im->pmus);
	im->runs = mk_alloc((mk->npmus + im->nboxes) * sizeof *im->runs);
	im->matches = mk_alloc(nmatches * sizeof *im->matches);
	for (size_t p = 0; p < mk->npmus; p++) {
		if (!mk->pmus[p].boxes)
			one_pmu(mk, im, p);
		else if (!mk->pmus[p - 1].boxes)
			mk_boxes(mk, im);
	}
	pmu_names(mk, im);
	/* tach__name_equal reads up to 8 bytes after a string. */
	mk_pool_append(&im->strings, "\0\0\0\0\0\0\0", 8);
	check_fits(mk, &im->events, "events");
	check_fits(mk, &im->umasks, "umasks");
	check_fits(mk, &im->umask_ids, "runs of umasks");
	check_fits(mk, &im->names, "names of vendors");
	check_fits(mk, &im->attr_values, "attribute values");
	check_fits(mk, &im->attr_lists, "attribute lists");
	check_fits(mk, &im->counters, "sets of counters");
	check_fits(mk, &im->hw, "wired-in modifiers");
}

/*
 * Sorts PMUs: libpfm-3's lists are last, boxes come before them. Then by architecture, with
 * each architecture's default after its models (like libpfm-4). Then by libpfm-4's numbers;
 * PMUs without such a number are sorted by name.
 */
static int pmu_order(const void *pa, const void *pb)
{
	const struct mk_pmu *a = pa, *b = pb;
	uint32_t da = a->row.flags & TACH__PMU_ARCHDEFAULT;
	uint32_t db = b->row.flags & TACH__PMU_ARCHDEFAULT;
	uint32_t ia = (uint32_t)a->row.libpfm4_id, ib = (uint32_t)b->row.libpfm4_id;
	uint32_t oa = a->row.flags & TACH__PMU_PFM3 ? 2 : a->boxes != 0;
	uint32_t ob = b->row.flags & TACH__PMU_PFM3 ? 2 : b->boxes != 0;

	if (oa != ob)
		return oa < ob ? -1 : 1;
	if (a->row.arch != b->row.arch)
		return a->row.arch < b->row.arch ? -1 : 1;
	if (da != db)
		return da < db ? -1 : 1;
	if (ia != ib)
		return ia < ib ? -1 : 1;
	return mk_order(&a->name, &b->name);
}

void mk_sort(struct mk *mk)
{
	qsort(mk->pmus, mk->npmus, sizeof *mk->pmus, pmu_order);
}

void mk_free(struct mk *mk)
{
	for (size_t p = 0; p < mk->npmus; p++) {
		free(mk->pmus[p].events);
		free(mk->pmus[p].umasks);
		free(mk->pmus[p].matches);
		free(mk->pmus[p].insts);
	}
	free(mk->pmus);
	free(mk->attrs);
}

void mk_image_free(struct mk_image *im)
{
	struct mk_pool *pools[] = {
		&im->strings, &im->attr_values, &im->attr_lists,  &im->hw,
		&im->umasks,  &im->umask_ids,	&im->umask_order, &im->umask_hash,
		&im->events,  &im->event_ids,	&im->event_order, &im->event_hash,
		&im->names,   &im->name_hash,	&im->counters,
	};

	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
		mk_pool_free(pools[i]);
	free(im->pmus);
	free(im->runs);
	free(im->matches);
	free(im->box_matches);
}

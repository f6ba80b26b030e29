/* SPDX-License-Identifier: MIT */
/* Indexes of names, sorted by hash. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/tables/search.h"
#include "tools/mkevents/mk.h"

struct mk_sorted mk_sortable(const struct mk_cell *name, size_t first, size_t second)
{
	return (struct mk_sorted){*name, (uint32_t)first, (uint32_t)second,
				  tach__name_hash(name->text, name->length)};
}

static int by_hash(const void *pa, const void *pb)
{
	const struct mk_sorted *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->second < b->second ? -1 : a->second > b->second;
}

static void append_hashes(struct mk_pool *to, const struct mk_sorted *s, size_t n)
{
	uint16_t *hash = mk_alloc(n * sizeof *hash);

	for (size_t i = 0; i < n; i++)
		hash[i] = s[i].hash;
	mk_pool_append(to, hash, n);
	free(hash);
}

/* Stores sorted positions and hashes for a run of rows that is new in its pool. */
void mk_index_rows(struct mk_pool *orders, struct mk_pool *hashes, const struct mk_row *rows,
		   size_t n)
{
	struct mk_sorted *s = mk_alloc(n * sizeof *s);
	uint16_t *order = mk_alloc(n * sizeof *order);

	for (size_t i = 0; i < n; i++)
		s[i] = mk_sortable(&rows[i].name, i, 0);
	qsort(s, n, sizeof *s, by_hash);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint16_t)s[i].first;
	mk_pool_append(orders, order, n);
	append_hashes(hashes, s, n);
	free(order);
	free(s);
}

/* Of equal names only the first can be found, so the others are removed. */
static size_t drop_duplicates(struct mk_sorted *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = kept;

		while (k > 0 && s[k - 1].hash == s[i].hash &&
		       !mk_same(&s[k - 1].name, &s[i].name))
			k--;
		if (k == 0 || s[k - 1].hash != s[i].hash)
			s[kept++] = s[i];
	}
	return kept;
}

/* Stores a sorted run of names. *n: the number before, then the number without duplicates. */
uint32_t mk_names(struct mk_image *im, struct mk_sorted *s, size_t *n)
{
	struct tach__tab_name *list = mk_alloc(*n * sizeof *list);
	size_t used = im->names.used;
	uint32_t start;

	qsort(s, *n, sizeof *s, by_hash);
	*n = drop_duplicates(s, *n);
	for (size_t i = 0; i < *n; i++) {
		list[i].name = mk_pool_string(&im->strings, &s[i].name);
		list[i].first = (uint16_t)s[i].first;
		list[i].second = (uint16_t)s[i].second;
	}
	start = mk_pool_add(&im->names, list, *n);
	if (im->names.used != used)
		append_hashes(&im->name_hash, s, *n);
	free(list);
	return start;
}

/*
 * Returns true for EVENT.UMASK with more dots, which tach__vendor_find finds without an index.
 */
static int is_plain(const struct mk_cell *event, const struct mk_row *umask,
		    const struct mk_cell *vendor)
{
	size_t n = event->length;
	struct mk_cell rest = {vendor->text + n + 1, vendor->length - n - 1, 0, 0};

	if (!umask)
		return mk_same(vendor, event);
	if (vendor->length != n + 1 + umask->name.length || vendor->text[n] != '.' ||
	    strncasecmp(vendor->text, event->text, n) != 0)
		return 0;
	for (size_t i = 0; i < rest.length; i++) {
		char c = rest.text[i] == '.' ? '_' : rest.text[i];

		if (strncasecmp(&c, &umask->name.text[i], 1) != 0)
			return 0;
	}
	return 1;
}

static const struct mk_cell *spelling(const struct mk *mk, const struct mk_row *row)
{
	for (size_t i = 0; i < row->nattrs; i++)
		if (mk->attrs[row->first_attr + i].key == TACH__A_VN)
			return &mk->attrs[row->first_attr + i].cell;
	return NULL;
}

/*
 * The vendor may use another event name for all umasks of an event of boxes. If all umasks have
 * the same such name, tach__vendor_find finds them by that name. *under is that name, or empty.
 */
static size_t vendor_event(const struct mk *mk, const struct mk_pmu *pmu, uint32_t event,
			   const struct mk_sorted *before, size_t n, struct mk_cell *under,
			   struct mk_sorted *out)
{
	const struct mk_row *row = &pmu->events[event];
	const struct mk_cell *first = row->numasks ? spelling(mk, mk_umasks(pmu, row)) : NULL;
	const char *dot = first ? memchr(first->text, '.', first->length) : NULL;

	*under = (struct mk_cell){"", 0, 0, 0};
	if (!pmu->boxes || !dot)
		return 0;
	*under = (struct mk_cell){first->text, (size_t)(dot - first->text), 0, 0};
	for (size_t i = 0; i < pmu->nevents; i++)
		if (mk_same(under, &pmu->events[i].name))
			under->length = 0;
	for (size_t i = 0; i < n; i++)
		if (mk_same(under, &before[i].name))
			under->length = 0;
	if (!under->length)
		return 0;
	*out = mk_sortable(under, event, TACH__TAB_NONE);
	return 1;
}

static size_t vendor_name(const struct mk *mk, const struct mk_pmu *pmu, uint32_t event,
			  uint32_t umask, const struct mk_cell *spelled, struct mk_sorted *out)
{
	const struct mk_row *owner = &pmu->events[event];
	const struct mk_row *under =
		umask == TACH__TAB_NONE ? NULL : &pmu->umasks[owner->first_umask + umask];
	const struct mk_row *row = under ? under : owner;

	for (size_t i = 0; i < row->nattrs; i++) {
		const struct mk_attr *a = &mk->attrs[row->first_attr + i];

		/* A name with a colon cannot occur in an event string. */
		if (a->key == TACH__A_VN && !is_plain(&owner->name, under, &a->cell) &&
		    !(spelled->length && is_plain(spelled, under, &a->cell)) &&
		    !memchr(a->cell.text, ':', a->cell.length)) {
			*out = mk_sortable(&a->cell, event, umask);
			return 1;
		}
	}
	return 0;
}

void mk_build_vendor(struct mk *mk, struct mk_image *im, const struct mk_pmu *pmu,
		     struct tach__tab_pmu *out)
{
	struct mk_sorted *s = mk_alloc((2 * pmu->nevents + pmu->numasks) * sizeof *s);
	struct mk_cell spelled;
	size_t n = 0;

	for (size_t e = 0; e < pmu->nevents; e++) {
		n += vendor_event(mk, pmu, (uint32_t)e, s, n, &spelled, s + n);
		n += vendor_name(mk, pmu, (uint32_t)e, TACH__TAB_NONE, &spelled, s + n);
		for (size_t u = 0; u < pmu->events[e].numasks; u++)
			n += vendor_name(mk, pmu, (uint32_t)e, (uint32_t)u, &spelled, s + n);
	}
	out->vendor = (uint16_t)mk_names(im, s, &n);
	out->nvendor = (uint16_t)n;
	free(s);
}

/* SPDX-License-Identifier: MIT */
/* Events and unit masks: finding them, and their properties. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <tach/dispatch.h>
#include "compat/libpfm3/state.h"
#include "core/port/port.h"

pfm_err_t p3_event(struct p3_chosen *out, unsigned idx, const struct tach__event **row)
{
	pfm_err_t rc = p3_chosen(out);

	if (rc)
		return rc;
	if (idx >= tach__pmu_at(out->table)->nevents)
		return PFMLIB_ERR_INVAL;
	*row = tach__event_at(out->table, (int)idx);
	return tach__is_in_revision((*row)->attrs, out->revision) ? PFMLIB_SUCCESS
								  : PFMLIB_ERR_BADHOST;
}

pfm_err_t p3_umask(struct p3_chosen *out, unsigned idx, unsigned mask,
		   const struct tach__umask **row)
{
	const struct tach__event *event;
	pfm_err_t rc = p3_event(out, idx, &event);

	if (rc)
		return rc;
	if (mask >= event->numasks)
		return PFMLIB_ERR_INVAL;
	*row = tach__umask_at(event, (int)mask);
	return tach__is_in_revision((*row)->attrs, out->revision) ? PFMLIB_SUCCESS
								  : PFMLIB_ERR_BADHOST;
}

/* ---- finding ---- */
static pfm_err_t find_event(struct p3_chosen *c, const char *string,
			    struct tach_dispatch_event *event)
{
	struct tach_error err = TACH_ERROR_INIT;
	int rc = tach_dispatch_find(c->number, c->revision, string, event, &err);

	if (rc && p3_verbose())
		fprintf(stderr, "libpfm: %s\n", err.text);
	return p3_error(rc);
}

pfm_err_t pfm_find_event_byname(const char *name, unsigned int *idx)
{
	struct tach_dispatch_event event = {.event = -1};
	struct p3_chosen c;
	char alone[256];
	pfm_err_t rc = p3_chosen(&c);

	if (rc)
		return rc;
	if (!name || !idx)
		return PFMLIB_ERR_INVAL;
	snprintf(alone, sizeof alone, "%.*s", (int)strcspn(name, ":"), name);
	rc = find_event(&c, alone, &event);
	/* A missing unit mask is no error here. */
	if (rc && rc != PFMLIB_ERR_UMASK)
		return rc;
	*idx = (unsigned)event.event;
	return PFMLIB_SUCCESS;
}

static pfm_err_t find_code(struct p3_chosen *c, int code, unsigned from, unsigned *idx)
{
	for (unsigned i = from; i < tach__pmu_at(c->table)->nevents; i++) {
		const struct tach__event *row = tach__event_at(c->table, (int)i);

		if ((int)row->code == code && tach__is_in_revision(row->attrs, c->revision)) {
			*idx = i;
			return PFMLIB_SUCCESS;
		}
	}
	return PFMLIB_ERR_NOTFOUND;
}

pfm_err_t pfm_find_event_bycode(int code, unsigned int *idx)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!rc && !idx)
		rc = PFMLIB_ERR_INVAL;
	return rc ? rc : find_code(&c, code, 0, idx);
}

pfm_err_t pfm_find_event_bycode_next(int code, unsigned int start, unsigned int *next)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!rc && !next)
		rc = PFMLIB_ERR_INVAL;
	return rc ? rc : find_code(&c, code, start + 1, next);
}

/* Accepts a name or a code; some names also begin with a digit. */
pfm_err_t pfm_find_event(const char *str, unsigned int *idx)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);
	unsigned long code;
	char *end;

	if (rc)
		return rc;
	if (!str || !idx)
		return PFMLIB_ERR_INVAL;
	if (!isdigit((unsigned char)*str))
		return pfm_find_event_byname(str, idx);
	code = strtoul(str, &end, 0);
	if (isalpha((unsigned char)*end) || *end == '_')
		return pfm_find_event_byname(str, idx) ? PFMLIB_ERR_INVAL : PFMLIB_SUCCESS;
	if (*end || code > 0x7fffffff)
		return PFMLIB_ERR_INVAL;
	return find_code(&c, (int)code, 0, idx);
}

pfm_err_t pfm_find_event_mask(unsigned int event_idx, const char *str, unsigned int *mask_idx)
{
	struct tach_dispatch_event event;
	const struct tach__event *row;
	struct p3_chosen c;
	char full[512];
	pfm_err_t rc = p3_event(&c, event_idx, &row);

	if (rc)
		return rc;
	if (!str || !mask_idx)
		return PFMLIB_ERR_INVAL;
	if (strchr(str, ':') || strlen(str) > 200)
		return PFMLIB_ERR_UMASK;
	snprintf(full, sizeof full, "%s:%s", tach__str(row->name), str);
	rc = find_event(&c, full, &event);
	if (rc || event.numasks != 1)
		return PFMLIB_ERR_UMASK;
	*mask_idx = event.umasks[0];
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_find_full_event(const char *str, pfmlib_event_t *e)
{
	struct tach_dispatch_event event;
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!rc && (!str || !e))
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		rc = find_event(&c, str, &event);
	if (rc)
		return rc;
	e->event = (unsigned)event.event;
	e->num_masks = event.numasks;
	for (unsigned i = 0; i < PFMLIB_MAX_MASKS_PER_EVENT; i++)
		e->unit_masks[i] = i < event.numasks ? event.umasks[i] : 0;
	return PFMLIB_SUCCESS;
}

/* ---- names ---- */
pfm_err_t pfm_get_num_events(unsigned int *count)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);

	if (!rc && !count)
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		*count = tach__pmu_at(c.table)->nevents;
	return rc;
}

pfm_err_t pfm_get_num_event_masks(unsigned int event_idx, unsigned int *count)
{
	const struct tach__event *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_event(&c, event_idx, &row);

	if (rc == PFMLIB_ERR_BADHOST)
		rc = PFMLIB_SUCCESS;
	if (!rc && !count)
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		*count = row->numasks;
	return rc;
}

/* The longest name that pfm_get_full_event_name can return. */
pfm_err_t pfm_get_max_event_name_len(size_t *len)
{
	struct p3_chosen c;
	pfm_err_t rc = p3_chosen(&c);
	size_t most = 0;

	if (rc)
		return rc;
	if (!len)
		return PFMLIB_ERR_INVAL;
	for (unsigned i = 0; i < tach__pmu_at(c.table)->nevents; i++) {
		const struct tach__event *row = tach__event_at(c.table, (int)i);
		size_t n = strlen(tach__str(row->name));

		for (int u = 0; u < row->numasks; u++)
			n += 1 + strlen(tach__str(tach__umask_at(row, u)->name));
		if (n > most)
			most = n;
	}
	*len = most;
	return PFMLIB_SUCCESS;
}

/* Writes the whole name or nothing: half a name is useless. */
static pfm_err_t copy_name(const char *from, char *name, size_t max)
{
	if (!name || max < 1)
		return PFMLIB_ERR_INVAL;
	if (strlen(from) >= max)
		return PFMLIB_ERR_FULL;
	strcpy(name, from);
	return PFMLIB_SUCCESS;
}

pfm_err_t pfm_get_event_name(unsigned int idx, char *name, size_t maxlen)
{
	const struct tach__event *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_event(&c, idx, &row);

	return rc ? rc : copy_name(tach__str(row->name), name, maxlen);
}

pfm_err_t pfm_get_event_mask_name(unsigned int event_idx, unsigned int mask_idx, char *name,
				  size_t maxlen)
{
	const struct tach__umask *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_umask(&c, event_idx, mask_idx, &row);

	return rc ? rc : copy_name(tach__str(row->name), name, maxlen);
}

pfm_err_t pfm_get_full_event_name(pfmlib_event_t *e, char *name, size_t maxlen)
{
	pfm_err_t rc;

	if (!e || !name || maxlen < 1 || e->num_masks > PFMLIB_MAX_MASKS_PER_EVENT)
		return PFMLIB_ERR_INVAL;
	rc = pfm_get_event_name(e->event, name, maxlen);
	for (unsigned i = 0; !rc && i < e->num_masks; i++) {
		size_t used = strlen(name);

		if (used + 2 > maxlen)
			return PFMLIB_ERR_FULL;
		strcpy(name + used, ":");
		rc = pfm_get_event_mask_name(e->event, e->unit_masks[i], name + used + 1,
					     maxlen - used - 1);
		if (rc == PFMLIB_ERR_INVAL)
			rc = PFMLIB_ERR_UMASK;
	}
	return rc;
}

static pfm_err_t describe(uint32_t description, char **out)
{
	const char *text = tach__str(description);

	if (!out)
		return PFMLIB_ERR_INVAL;
	*out = strdup(*text ? text : "no description available");
	return *out ? PFMLIB_SUCCESS : PFMLIB_ERR_NOMEM;
}

pfm_err_t pfm_get_event_description(unsigned int idx, char **str)
{
	const struct tach__event *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_event(&c, idx, &row);

	return rc ? rc : describe(row->description, str);
}

pfm_err_t pfm_get_event_mask_description(unsigned int event_idx, unsigned int mask_idx,
					 char **desc)
{
	const struct tach__umask *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_umask(&c, event_idx, mask_idx, &row);

	return rc ? rc : describe(row->description, desc);
}

/* ---- codes and counters ---- */
pfm_err_t pfm_get_event_code(unsigned int idx, int *code)
{
	const struct tach__event *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_event(&c, idx, &row);

	if (!rc && !code)
		rc = PFMLIB_ERR_INVAL;
	if (!rc)
		*code = (int)row->code;
	return rc;
}

/* No PMU here has different codes for different counters. */
pfm_err_t pfm_get_event_code_counter(unsigned int idx, unsigned int cnt, int *code)
{
	pfmlib_regmask_t counters;
	pfm_err_t rc = pfm_get_event_counters(idx, &counters);

	if (!rc && !pfm_regmask_isset(&counters, cnt))
		rc = PFMLIB_ERR_INVAL;
	return rc ? rc : pfm_get_event_code(idx, code);
}

pfm_err_t pfm_get_event_mask_code(unsigned int idx, unsigned int mask_idx, unsigned int *code)
{
	const struct tach__umask *row;
	struct p3_chosen c;
	pfm_err_t rc = p3_umask(&c, idx, mask_idx, &row);

	if (!rc && !code)
		rc = PFMLIB_ERR_INVAL;
	/* We store Montecito's masks as bits; libpfm-3 uses numbers. */
	if (!rc)
		*code = c.pmu->type == PFMLIB_MONTECITO_PMU ? mask_idx : (unsigned)row->code;
	return rc;
}

/* Fixed counters are registers 16 and above. */
pfm_err_t pfm_get_event_counters(unsigned int idx, pfmlib_regmask_t *counters)
{
	const struct tach__event *row;
	uint64_t mask;
	struct p3_chosen c;
	pfm_err_t rc = p3_event(&c, idx, &row);

	if (rc)
		return rc;
	if (!counters)
		return PFMLIB_ERR_INVAL;
	mask = c.pmu->type == PFMLIB_PENTIUM4_PMU ? tach__netburst_counters(row)
						  : tach__counter_set(row->counter_set);
	memset(counters, 0, sizeof *counters);
	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			pfm_regmask_set(counters, i < 32 ? i : i - 16);
	if (row->flags & TACH__EV_UNCORE)
		/* 3.10 returns these counters too, although it assigns 21 to 28. */
		p3_regmask(row->flags & TACH__EV_FIXED ? "20" : "20-27", counters);
	else if (!mask)
		p3_regmask(c.pmu->counters, counters);
	return PFMLIB_SUCCESS;
}

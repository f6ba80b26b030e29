/* SPDX-License-Identifier: MIT */
/* Finds events for dispatch: libpfm-3's lists and its way to name unit masks. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/dispatch/dispatch.h"
#include "core/base/error.h"

/* libpfm-3's lists have public numbers far above those of PMUs. */
#define LISTS_FROM 1000

int tach__dispatch_pmu(int pmu)
{
	int table = pmu >= LISTS_FROM ? pmu - LISTS_FROM + tach__npmus() + tach__nboxes() : pmu;

	if (pmu < LISTS_FROM && pmu >= tach__npmus())
		return -1;
	return tach__pmu_exists(table) ? table : -1;
}

int tach_dispatch_list(const char *name)
{
	int table;

	if (!name)
		return TACH_ERR_INVAL;
	table = tach__pfm3_find(name);
	if (table >= 0)
		return table - tach__npmus() - tach__nboxes() + LISTS_FROM;
	/* libpfm-3 and libpfm-4 have the same names for ia64. */
	table = tach__pmu_find(name, strlen(name));
	return table >= 0 && tach__pmu_at(table)->arch == TACH__IA64 ? table
								     : TACH_ERR_NOTFOUND;
}

static int is_same_name(const char *name, const char *text, size_t length)
{
	return strncasecmp(name, text, length) == 0 && name[length] == 0;
}

/* Returns the first event of that name that the revision has. Lists for several revisions
 * contain a name more than once. */
static int find_event(int table, uint32_t revision, const char *name, size_t length)
{
	int first = tach__event_find(table, name, length);

	for (int e = first; e >= 0 && e < (int)tach__pmu_at(table)->nevents; e++) {
		const struct tach__event *row = tach__event_at(table, e);

		if (tach__is_in_revision(row->attrs, revision) &&
		    is_same_name(tach__str(row->name), name, length))
			return e;
	}
	return -1;
}

static int add_umask(struct tach_dispatch_event *out, int umask)
{
	for (uint32_t i = 0; i < out->numasks; i++)
		if (out->umasks[i] == umask)
			return 0;
	if (out->numasks == TACH_DISPATCH_UMASKS_MAX)
		return TACH_ERR_UMASK;
	out->umasks[out->numasks++] = (uint16_t)umask;
	return 0;
}

/* Adds a mask with exactly this code, or else masks whose bits together equal it. */
static int add_code(const struct tach__event *row, uint64_t code,
		    struct tach_dispatch_event *out)
{
	uint64_t left = code;
	int rc = 0;

	for (int u = 0; u < row->numasks; u++)
		if (tach__umask_at(row, u)->code == code)
			return add_umask(out, u);
	for (int u = 0; !rc && u < row->numasks; u++) {
		uint64_t bits = tach__umask_at(row, u)->code;

		if (!bits || bits & ~code || !(bits & left))
			continue;
		left &= ~bits;
		rc = add_umask(out, u);
	}
	return rc || left ? TACH_ERR_UMASK : 0;
}

static int add_mask(const struct tach__event *row, uint32_t revision, const char *text,
		    size_t length, struct tach_dispatch_event *out)
{
	char *end;
	unsigned long code;

	for (int u = tach__umask_find(row, text, length); u >= 0 && u < row->numasks; u++) {
		const struct tach__umask *mask = tach__umask_at(row, u);

		if (tach__is_in_revision(mask->attrs, revision) &&
		    is_same_name(tach__str(mask->name), text, length))
			return add_umask(out, u);
	}
	if (length == 0 || row->numasks == 0)
		return TACH_ERR_UMASK;
	code = strtoul(text, &end, 0);
	return end == text + length ? add_code(row, code, out) : TACH_ERR_UMASK;
}

/* Returns the name of a libpfm-3 list for users. */
static const char *list_name(const struct tach__pmu *pmu)
{
	return tach__str(pmu->name) + (pmu->flags & TACH__PMU_PFM3 ? strlen("pfm3_") : 0);
}

static int refuse_unknown(struct tach_error *err, int code, int column, const char *owner,
			  const char *what, const struct tach__text *name, const char *near)
{
	return tach__error(err, code, 1, column, "%s has no %s '%.*s'%s%s%s", owner, what,
			   name->length > 60 ? 60 : (int)name->length, name->text,
			   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int find_masks(int table, uint32_t revision, const char *string,
		      struct tach_dispatch_event *out, struct tach_error *err)
{
	const struct tach__event *row = tach__event_at(table, out->event);

	for (const char *at = string + strcspn(string, ":"); *at; at += strcspn(at, ":")) {
		struct tach__text name = {at + 1, strcspn(at + 1, ":")};
		int rc = add_mask(row, revision, name.text, name.length, out);

		if (rc)
			return refuse_unknown(err, rc, (int)(name.text - string) + 1,
					      tach__str(row->name), "unit mask", &name,
					      err ? tach__suggest_near(table, row, &name)
						  : NULL);
		at++;
	}
	if (row->numasks && !out->numasks)
		return tach__error(err, TACH_ERR_UMASK, 1, (int)strlen(string) + 1,
				   "%s needs a unit mask: %s%s", tach__str(row->name),
				   tach__str(tach__umask_at(row, 0)->name),
				   row->numasks > 1 ? ", ..." : "");
	return 0;
}

int tach_dispatch_find(int pmu, uint32_t revision, const char *string,
		       struct tach_dispatch_event *out, struct tach_error *err)
{
	struct tach__text name = {string, string ? strcspn(string, ":") : 0};
	int table = tach__dispatch_pmu(pmu), event;

	if (!string || !out || table < 0)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no string, or no such PMU");
	event = find_event(table, revision, string, name.length);
	if (event < 0)
		return refuse_unknown(err, TACH_ERR_NOTFOUND, 1, list_name(tach__pmu_at(table)),
				      "event", &name,
				      err ? tach__suggest_near(table, NULL, &name) : NULL);
	memset(out, 0, sizeof *out);
	out->event = event;
	return find_masks(table, revision, string, out, err);
}

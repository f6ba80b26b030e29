/* SPDX-License-Identifier: MIT */
/* Adds sentences to a snapshot's note: which counts the sums lack, and why. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tach/team.h>
#include "core/region/region.h"
#include "core/snapshot/snapshot.h"

__attribute__((format(printf, 2, 3))) static void note(struct tach_snapshot *s,
						       const char *format, ...)
{
	size_t used = strlen(s->note);
	va_list args;

	if (used && used + 2 < sizeof s->note)
		used = (size_t)(stpcpy(s->note + used, "; ") - s->note);
	va_start(args, format);
	vsnprintf(s->note + used, sizeof s->note - used, format, args);
	va_end(args);
}

/* Notes a filter that no region matches, because it is probably misspelt. Call it with the
 * lock. */
static void judge_filter(struct tach_snapshot *s)
{
	const struct tach__registry *r = &tach__registry;
	const struct tach__site *site;
	unsigned sites = 0, selected = 0;

	cds_list_for_each_entry(site, &r->sites, node)
	{
		if (site->fenced & (TACH__SITE_GATE | TACH__SITE_PART | TACH__SITE_HELPERS))
			continue;
		sites++;
		selected += site->selected != 0;
	}
	if (sites && !selected)
		note(s, "TACH_REGIONS, '%s', fits none of the %u regions that were entered",
		     r->only, sites);
}

void tach__notes_add(struct tach_snapshot *s)
{
	const struct tach__registry *r = &tach__registry;
	char divided[256];

	if (r->unopened)
		note(s, "%u threads have the clock alone: %s", r->unopened, r->open_error.text);
	if (tach__names_are_full())
		note(s, "more than %d names were computed: entries of the others are in '%s'",
		     TACH_NAMES_MAX, TACH_NAMES_OTHER);
	if (tach__teams_are_deep())
		note(s,
		     "more than %d regions were open around a team: the outer ones lack its "
		     "helpers",
		     TACH_TEAM_REGIONS);
	if (r->unplaced)
		note(s,
		     "%u regions are not measured: there is room for %u regions and divided "
		     "rows",
		     r->unplaced, TACH__CHUNKS * TACH__CHUNK_SLOTS - TACH__SITE_FIRST);
	if (*tach__beacon.others)
		note(s, "%s", tach__beacon.others);
	if (tach__split_note(r->config, divided, sizeof divided))
		note(s, "%s", divided);
	judge_filter(s);
}

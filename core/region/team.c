/* SPDX-License-Identifier: MIT */
/* Threads that work for a region of another thread: tach/team.h. */
#include <string.h>
#include <tach/reader.h>
#undef TACH_API_INLINE
#define TACH_API_INLINE inline __attribute__((always_inline))
#include <tach/team.h>
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"

/* Atomic. deep: 1 if more regions were open than a team can name. joined: 1 if any thread
 * joined a team. */
static uint32_t deep, joined;

int tach__teams_are_deep(void)
{
	return (int)TACH__GET(deep);
}

int tach__teams_were_joined(void)
{
	return (int)TACH__GET(joined);
}

/* ---- the regions that are open ---- */

/* Returns the region of which `id` is a part (a tag or a task), or the region `id` itself. */
static struct tach__site *whole_of(uint32_t id)
{
	struct tach__site *site = tach__site_at(id);
	uint32_t whole = TACH__GET(site->whole);

	return whole ? tach__site_at(whole) : site;
}

/* Returns the region at that level of the calling thread's stack, or NULL if it is not the
 * program's. */
static struct tach__site *open_region(const struct tach__hot *self, uint32_t level)
{
	struct tach__slot *const *stack = tach__stack(self, level);
	const struct tach__slot *slot = TACH__GET(stack[1]);
	const struct tach_region_mark *mark =
		TACH__GET(*tach__marks((struct tach__slot **)(uintptr_t)stack));

	if (!slot || slot->id < TACH__SITE_FIRST ||
	    tach__is_whole_mark(self->record, (uintptr_t)mark))
		return NULL;
	return whole_of(slot->id);
}

/* Returns the number of open regions, but at most the number of elements of the stack. */
static uint32_t count_levels(const struct tach__hot *self)
{
	uint32_t levels = self->record ? TACH__LEVEL(TACH__GET(self->state)) : 0;

	return levels < TACH__LEVELS ? levels : TACH__LEVELS;
}

/* Returns the helpers' site of a region. Helpers of helpers work for the same region. */
static struct tach_site *helpers_of(struct tach__site *site)
{
	struct tach_site *helpers = __atomic_load_n(&site->helpers, __ATOMIC_ACQUIRE);
	struct tach__held held;

	if (site->owner)
		return helpers_of(tach__site_at(site->owner));
	if (helpers || tach__signals_held != tach__calibrating)
		return helpers;
	tach__lock(&held);
	helpers = tach__site_helpers(site);
	tach__unlock(&held);
	return helpers;
}

static int is_in(const struct tach_team *team, int n, const struct tach_site *site)
{
	for (int i = 0; i < n; i++)
		if (team->site[i] == site)
			return 1;
	return 0;
}

int tach__team_take_here(struct tach_team *team)
{
	const struct tach__hot *self = tach__self;
	int n = 0;

	memset(team, 0, sizeof *team);
	for (uint32_t level = count_levels(self); level-- > 0;) {
		struct tach__site *site = open_region(self, level);
		struct tach_site *helpers = site ? helpers_of(site) : NULL;

		if (!helpers || is_in(team, n, helpers))
			continue;
		if (n == TACH_TEAM_REGIONS) {
			TACH__SET(deep, 1);
			break;
		}
		team->site[n++] = helpers;
	}
	return n;
}

/* ---- helping ---- */

/* Returns 1 if the thread has the region open itself, or already helps: it must count once. */
static int is_counted(const struct tach__hot *self, uint64_t helpers)
{
	uint32_t owner = tach__site_at((uint32_t)helpers)->owner;

	for (uint32_t level = count_levels(self); level-- > 0;) {
		const struct tach__site *site = open_region(self, level);

		if (site && (site->id == helpers || site->id == owner))
			return 1;
	}
	return 0;
}

static void choose_none(struct tach_help *help)
{
	for (int i = 0; i < TACH_TEAM_REGIONS; i++)
		help->site[i].id = TACH_SITE_OFF;
}

void tach__team_join_here(const struct tach_team *team, struct tach_help *help)
{
	const struct tach__hot *self = tach__self;
	int n = 0;

	choose_none(help);
	if (team->site[0] && !TACH__GET(joined))
		TACH__SET(joined, 1);
	for (int i = 0; i < TACH_TEAM_REGIONS && team->site[i]; i++) {
		const struct tach_site *from = team->site[i];
		uint64_t id = TACH__GET(from->id);

		/* All members except the id are constant. */
		if (id != TACH_SITE_OFF && !is_counted(self, id))
			help->site[n++] = (struct tach_site){
				from->begin, id,	 from->line,	from->fenced,
				from->name,  from->file, from->function};
	}
}

/* ---- in any copy of the library ---- */

/* Returns the copy that owns the regions, or NULL if its version has no teams. */
static const struct tach__beacon *teams(void)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	if (!owner)
		return &tach__beacon;
	return owner->size > offsetof(struct tach__beacon, team_join) ? owner : NULL;
}

int tach_team_take(struct tach_team *team)
{
	const struct tach__beacon *owner = teams();

	if (owner)
		return owner->team_take(team);
	memset(team, 0, sizeof *team);
	return 0;
}

void tach__team_joining(const struct tach_team *team, struct tach_help *help)
{
	const struct tach__beacon *owner = teams();

	if (owner)
		owner->team_join(team, help);
	else
		choose_none(help);
}

/* ---- in a snapshot ---- */

/* Adds to the teams' rows: the rows of helpers, or the rows of regions that have helpers. */
static int add_rows(struct tach__rows *rows, uint32_t limit, int are_helpers)
{
	for (uint32_t id = TACH__SITE_FIRST; id < limit; id++) {
		const struct tach__site *site;
		struct tach__row *to;
		uint32_t team;

		if (!tach__row_is_used(tach__rows_row(rows, id)))
			continue;
		site = whole_of(id);
		team = TACH__GET(site->team);
		if (!team || are_helpers != (site->owner != 0))
			continue;
		to = tach__rows_at(rows, team);
		if (!to)
			return TACH_ERR_NOMEM;
		if (!are_helpers && !tach__row_is_used(to))
			continue;
		tach__row_join_sums(to, tach__rows_row(rows, id), rows->count);
		if (!are_helpers)
			TACH__SET(tach__site_at(team)->parent, TACH__GET(site->parent));
	}
	return 0;
}

int tach__team_rows(struct tach__rows *rows)
{
	uint32_t limit = rows->limit;
	int code = add_rows(rows, limit, 1);

	return code ? code : add_rows(rows, limit, 0);
}

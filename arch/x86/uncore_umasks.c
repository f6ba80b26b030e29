/* SPDX-License-Identifier: MIT */
/* Umasks of uncore events: the given ones, and the defaults. */
#include <stdio.h>
#include "arch/x86/uncore.h"

static void filter(struct box *b, uint32_t attrs, enum tach__attr key, enum word word)
{
	uint64_t number;

	if (tach__attr(attrs, key, &number, NULL))
		b->word[word] = (b->word[word] | (number & UINT32_MAX)) & ~(number >> 32);
}

static void apply_umask(struct box *b, const struct tach__umask *um)
{
	uint32_t threshold;

	if (um->attrs) {
		filter(b, um->attrs, TACH__A_F0, F0);
		filter(b, um->attrs, TACH__A_F1, F1);
	}
	if (tach__hw(um->hw, TACH__MOD_C, &threshold))
		store(b, &(struct field){R, 24, 8}, threshold);
	b->umask |= um->code;
	b->have |= 1u << um->group;
	b->n++;
}

static int refuse_clash(struct tach__work *w, int row, const char *why)
{
	return tach__refuse(w, TACH_ERR_FEATCOMB, "%s %s",
			    tach__str(tach__umask_at(w->got.event, row)->name), why);
}

static int excluded(struct tach__work *w, const struct box *b, int row)
{
	const struct tach__umask *um = tach__umask_at(w->got.event, row);
	/* An occupancy has only one field for the core state. */
	int alone = um->flags & TACH__UM_NC || (b->occupancy && !w->ask.quirks->box_slips);

	if (w->got.nrows && (w->got.groups.solo || um->flags & TACH__UM_SOLO))
		return refuse_clash(w, row, "and the umask before: one of them stands alone");
	if (b->last >= 0 && b->last != um->group && w->got.event->flags & TACH__EV_GRPEXCL)
		return refuse_clash(w, row, "is of another group than the umask before");
	if (w->got.groups.count[um->group] && (alone || b->nc >> um->group & 1))
		return refuse_clash(w, row,
				    "cannot be combined with another umask of its group");
	return 0;
}

int tach__uncore_umask(struct tach__work *w, struct box *b, int row)
{
	const struct tach__umask *um = tach__umask_at(w->got.event, row);
	int rc = excluded(w, b, row);

	if (rc)
		return rc;
	w->got.groups.count[um->group]++;
	b->last = um->group;
	if (um->flags & TACH__UM_NC)
		b->nc |= 1u << um->group;
	if (um->flags & TACH__UM_XGT)
		b->above = um->group;
	/* groups.used now has the groups that umasks require. */
	w->got.groups.used |= um->requires != 0xff ? 1u << um->requires : 0;
	apply_umask(b, um);
	if (um->flags & TACH__UM_SOLO) {
		w->got.groups.solo = 1;
		b->have = UINT32_MAX;
	}
	if (b->occupancy) {
		store(b, &(struct field){R, 14, 2}, b->umask >> 6);
		b->umask = 0;
	}
	b->need |= um->mods;
	w->got.rows[w->got.nrows++] = (uint16_t)row;
	return 0;
}

/* ---- defaults ---- */

static int no_default(struct tach__work *w, int group)
{
	char list[200] = ""; /* three names, of less than 64 letters each */
	int n = 0, used = 0;

	for (int i = 0; i < w->got.event->numasks; i++) {
		const struct tach__umask *um = tach__umask_at(w->got.event, i);

		if (um->group == group && n++ < 3)
			used += sprintf(list + used, "%s%s", n > 1 ? ", " : "",
					tach__str(um->name));
	}
	return tach__refuse(w, TACH_ERR_UMASK, "%s needs a umask of group %d: %s%s",
			    tach__str(w->got.event->name), group, list, n > 3 ? ", ..." : "");
}

/* Adds the defaults of one group. Returns 1 if no further group needs a default, because the
 * event accepts umasks of one group only. */
static int group_default(struct tach__work *w, struct box *b, int group)
{
	int done = 0;

	for (int i = 0; i < w->got.event->numasks; i++) {
		const struct tach__umask *um = tach__umask_at(w->got.event, i);

		if (um->group != group)
			continue;
		if ((!b->plain && b->above >= 0 && group > b->above) ||
		    um->flags & TACH__UM_GRPNONE) {
			done = 1;
			continue;
		}
		if (!(um->flags & TACH__UM_DFL) || w->got.nrows == TACH__ROWS_MAX)
			continue;
		if (um->flags & TACH__UM_XGT)
			b->above = group;
		apply_umask(b, um);
		w->got.rows[w->got.nrows++] = (uint16_t)i;
		done = 1;
		if (w->got.event->flags & TACH__EV_GRPEXCL)
			return 1;
	}
	return done ? 0 : no_default(w, group);
}

static int take_group_defaults(struct tach__work *w, struct box *b)
{
	uint32_t all = (1u << w->got.event->ngroups) - 1, missing = all & ~b->have;
	int rc = 0;

	if (w->got.event->flags & (w->ask.quirks->box_slips ? TACH__EV_BAREL : TACH__EV_BARE) &&
	    !b->n) {
		uint64_t bits;

		if (tach__attr(w->got.event->attrs, TACH__A_UM, &bits, NULL))
			b->umask = bits;
		b->n = 1;
		return 0;
	}
	if (b->plain && w->got.event->flags & TACH__EV_GRPEXCL && b->n)
		return 0;
	for (; missing && !rc; missing &= missing - 1)
		rc = group_default(w, b, __builtin_ctz(missing));
	return rc < 0 ? rc : 0;
}

int tach__uncore_umasks(struct tach__work *w, struct box *b)
{
	uint32_t required = w->got.groups.used & ~b->have;
	int rc;

	w->column = 0;
	if (required && !b->plain)
		return tach__refuse(w, TACH_ERR_FEATCOMB, "%s also needs a umask of group %d",
				    tach__str(w->got.event->name), __builtin_ctz(required));
	rc = take_group_defaults(w, b);
	if (rc)
		return rc;
	if (w->got.event->numasks && !b->n)
		return tach__refuse(w, TACH_ERR_ATTR, "%s needs a umask",
				    tach__str(w->got.event->name));
	if (w->got.given & NODE_FILTERS & ~b->need)
		return tach__refuse(w, TACH_ERR_ATTR, "nf= needs a umask that asks for it");
	if (b->need && !(w->got.given & b->need))
		return tach__refuse(w, TACH_ERR_ATTR, "%s= must be given here",
				    tach__box_mods[__builtin_ctz(b->need)].name);
	return 0;
}

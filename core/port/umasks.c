/* SPDX-License-Identifier: MIT */
/*
 * Applies the rules of umask groups. An event has up to eight groups, and each group needs a
 * umask: a given one or a default. Flags of umasks make exceptions (arch/FORMAT.md: nc, solo,
 * xgt, xbut0, grpnone, omit).
 */
#include "core/port/work.h"

static const char *name_of(const struct tach__work *w, int row)
{
	return tach__str(tach__umask_at(w->got.event, row)->name);
}

static void add_row(struct tach__work *w, int row, const struct tach__umask *um)
{
	w->got.rows[w->got.nrows++] = (uint16_t)row;
	w->got.groups.used |= 1u << um->group;
	if (um->flags & TACH__UM_XGT)
		w->got.groups.above = (int8_t)um->group;
	if (um->flags & TACH__UM_XBUT0)
		w->got.groups.only = (int8_t)um->group;
	if (um->flags & TACH__UM_NOMODS)
		w->out.nomods = 1;
}

/*
 * Returns 1 if `um` is an alias of `other` in libpfm-4, although the vendor and our tables have
 * two separate umasks. The attribute TACH__A_PFM of `um` is its word in libpfm-4. Bits 8 to 15
 * of this word are the code of `other`. If a string has both umasks, libpfm-4 encodes `other`.
 */
static int is_alias_there(const struct tach__work *w, const struct tach__umask *um,
			  const struct tach__umask *other)
{
	uint64_t word;

	return w->ask.quirks->aliases_by_word && um->attrs && !other->attrs &&
	       tach__attr(um->attrs, TACH__A_PFM, &word, NULL) &&
	       (word >> 8 & 0xff) == other->code && other->code != um->code;
}

static int same_there(struct tach__work *w, int row)
{
	const struct tach__umask *um = tach__umask_at(w->got.event, row), *first;

	if (w->got.nrows != 1)
		return 0;
	first = tach__umask_at(w->got.event, w->got.rows[0]);
	if (is_alias_there(w, um, first))
		return 1;
	if (!is_alias_there(w, first, um))
		return 0;
	w->got.rows[0] = (uint16_t)row;
	return 1;
}

int tach__umask_take(struct tach__work *w, const struct tach__pick *pick)
{
	const struct tach__umask *um;

	w->column = pick->column;
	if (pick->kind == TACH__PICK_RAW) {
		w->got.has_raw = 1;
		w->got.raw = pick->value;
		w->got.groups.used = (1u << w->got.event->ngroups) - 1;
		return 0;
	}
	um = tach__umask_at(w->got.event, pick->number);
	if (w->got.groups.last >= 0 && w->got.groups.last != um->group &&
	    w->got.event->flags & TACH__EV_GRPEXCL)
		return tach__refuse(w, TACH_ERR_FEATCOMB,
				    "%s takes umasks of one group only; %s is of another",
				    tach__str(w->got.event->name), name_of(w, pick->number));
	if (w->got.nrows && (w->got.groups.solo || um->flags & TACH__UM_SOLO))
		return tach__refuse(
			w, TACH_ERR_FEATCOMB, "%s cannot be combined with a second umask",
			name_of(w, w->got.groups.solo ? w->got.rows[0] : pick->number));
	if (um->flags & TACH__UM_NC)
		w->got.groups.nc |= 1u << um->group;
	if (++w->got.groups.count[um->group] > 1 && w->got.groups.nc >> um->group & 1) {
		if (same_there(w, pick->number))
			return 0;
		return tach__refuse(w, TACH_ERR_FEATCOMB,
				    "%s cannot be combined with another umask of its group",
				    name_of(w, pick->number));
	}
	w->got.groups.last = (int8_t)um->group;
	add_row(w, pick->number, um);
	if (um->flags & TACH__UM_SOLO) {
		w->got.groups.solo = 1;
		w->got.groups.used = (1u << w->got.event->ngroups) - 1;
	}
	return 0;
}

/* Reports a missing umask, with the possible names. */
static int missing_umask(struct tach__work *w, int group, int code)
{
	char list[160];
	size_t used = 0;
	int n = 0;

	list[0] = 0;
	for (int i = 0; i < w->got.event->numasks; i++) {
		const struct tach__umask *um = tach__umask_at(w->got.event, i);
		const char *name = tach__str(um->name);
		size_t length = __builtin_strlen(name);

		if (um->group != group)
			continue;
		if (used + length + 8 > sizeof list) {
			__builtin_memcpy(list + used, ", ...", 6);
			break;
		}
		if (n++) {
			__builtin_memcpy(list + used, ", ", 2);
			used += 2;
		}
		__builtin_memcpy(list + used, name, length + 1);
		used += length;
	}
	w->column = 0;
	return tach__refuse(w, code, "%s needs a umask: %s", tach__str(w->got.event->name),
			    list);
}

/* Adds a default umask. If it is an alias, adds its targets, as if the string had the alias. */
static void add_default(struct tach__work *w, int row, const struct tach__umask *um)
{
	const char *text;
	struct tach__attrs list;
	struct tach__term term;
	unsigned before = w->got.nrows;

	if (!(w->ask.quirks->default_keys >> TACH__A_EQ & 1) || !um->attrs ||
	    !tach__attr(um->attrs, TACH__A_EQ, NULL, &text)) {
		add_row(w, row, um);
		return;
	}
	list = tach__attrs_of(text);
	while (tach__attrs_next(&list, &term)) {
		int part = tach__umask_find(w->got.event, term.name.text, term.name.length);

		/* An alias with modifiers is not resolved, because its own row contains the
		 * modifiers. */
		if (part < 0 || term.has_value || w->got.nrows == TACH__ROWS_MAX) {
			w->got.nrows = before;
			add_row(w, row, um);
			return;
		}
		add_row(w, part, tach__umask_at(w->got.event, part));
	}
}

/* Adds the defaults of one group. Returns 0, also if the group needs no umask, or an error. */
static int fill_group(struct tach__work *w, int group, int missing)
{
	int added = 0, skip = 0, seen = 0, needed = 0;

	for (int i = 0; i < w->got.event->numasks; i++) {
		const struct tach__umask *um = tach__umask_at(w->got.event, i);

		if (um->group != group)
			continue;
		seen = 1;
		needed |= !(um->flags & TACH__UM_OMIT);
		if ((w->got.groups.above >= 0 && group > w->got.groups.above) ||
		    (w->got.groups.only >= 0 && group != w->got.groups.only && group != 0) ||
		    um->flags & TACH__UM_GRPNONE) {
			skip = 1;
			continue;
		}
		if (!(um->flags & TACH__UM_DFL) || w->got.nrows == TACH__ROWS_MAX)
			continue;
		if (um->flags & TACH__UM_XGT && w->got.groups.above >= 0)
			return tach__refuse(
				w, TACH_ERR_UMASK,
				"the defaults of %s exclude each other: name umasks",
				tach__str(w->got.event->name));
		add_default(w, i, um);
		added = 1;
		/* The full name omits this default, because it would exclude the given umask.
		 * If the full name is encoded, this code adds the default again. */
		if (um->flags & w->ask.quirks->silent && w->got.groups.used >> (group + 1))
			w->got.groups.silent = (int8_t)group;
	}
	return added || skip || (seen && !needed) ? 0 : missing_umask(w, group, missing);
}

/* Checks the limits that given umasks set for other groups. */
static int check_groups(struct tach__work *w)
{
	for (unsigned i = 0; i < w->got.nrows; i++) {
		const struct tach__umask *um = tach__umask_at(w->got.event, w->got.rows[i]);

		if ((w->got.groups.above >= 0 && um->group > w->got.groups.above) ||
		    (w->got.groups.only >= 0 && um->group && um->group != w->got.groups.only))
			return tach__refuse(w, TACH_ERR_FEATCOMB,
					    "%s is excluded by another umask of this event",
					    name_of(w, w->got.rows[i]));
		if (um->requires != 0xff && !(w->got.groups.used >> um->requires & 1))
			return tach__refuse(w, TACH_ERR_FEATCOMB,
					    "%s also needs a umask of group %d",
					    name_of(w, w->got.rows[i]), um->requires);
	}
	return 0;
}

int tach__umask_finish(struct tach__work *w, int missing)
{
	uint32_t all = (1u << w->got.event->ngroups) - 1;
	int chosen = w->got.groups.above, rc;

	/* Flag "bare": without a umask, the event's own bits apply. */
	if (!w->got.nrows && w->got.event->flags & TACH__EV_BARE)
		return 0;
	for (uint32_t open = all & ~w->got.groups.used; open; open &= open - 1) {
		/* An event with this flag accepts umasks of one group only. */
		if (w->got.nrows && w->got.event->flags & TACH__EV_GRPEXCL)
			break;
		rc = fill_group(w, __builtin_ctz(open), missing);
		if (rc)
			return rc;
	}
	/* If a default excludes higher groups, it excludes only their defaults, not given
	 * umasks. */
	w->got.groups.above = (int8_t)chosen;
	return w->got.nrows > 1 ? check_groups(w) : 0;
}

void tach__umask_sort(struct tach__work *w)
{
	for (unsigned i = 1; i < w->got.nrows; i++) {
		uint16_t row = w->got.rows[i];
		unsigned at = i;

		for (; at && w->got.rows[at - 1] > row; at--)
			w->got.rows[at] = w->got.rows[at - 1];
		w->got.rows[at] = row;
	}
}

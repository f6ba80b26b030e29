/* SPDX-License-Identifier: MIT */
/* Checks across lines and files: duplicates, groups, alias targets. */
#include <string.h>
#include "tools/mkevents/mk.h"

static const struct mk_row *find(const struct mk_row *rows, size_t n,
				 const struct mk_cell *name)
{
	for (size_t i = 0; i < n; i++)
		if (mk_same(&rows[i].name, name))
			return &rows[i];
	return NULL;
}

static void check_unique(struct mk *mk, const struct mk_pmu *pmu, const struct mk_row *rows,
			 size_t n, const char *what)
{
	/*
	 * libpfm-3 uses one list for several revisions of a CPU, with a row for each revision.
	 */
	if (pmu->row.flags & TACH__PMU_PFM3)
		return;
	for (size_t i = 1; i < n; i++) {
		const struct mk_row *other = find(rows, i, &rows[i].name);

		if (other && !(rows[i].flags & TACH__EV_SHADOW && pmu->boxes))
			mk_fault(mk, pmu, &rows[i].name, "%s '%.*s' was given at line %d", what,
				 (int)rows[i].name.length, rows[i].name.text, other->name.line);
	}
}

/*
 * Checks one word of an alias: a umask of the event, or a modifier that the event takes, with
 * or without a value.
 */
static void alias_word(struct mk *mk, const struct mk_pmu *pmu, const struct mk_row *event,
		       const struct mk_cell *word)
{
	struct mk_cell value = *word, name;
	uint64_t n;
	int mod;

	if (find(mk_umasks(pmu, event), event->numasks, word))
		return;
	mk_split(&value, '=', &name);
	mod = mk_mod(&name);
	if (mod < 0 || !(event->mods & 1u << mod))
		mk_fault(mk, pmu, word, "event %.*s has no umask or modifier '%.*s'",
			 (int)event->name.length, event->name.text, (int)name.length,
			 name.text);
	else if (value.text && !mk_number(&value, 10, TACH__TAB_HW_MAX, &n))
		mk_fault(mk, pmu, &value, "'%.*s' is not a number", (int)value.length,
			 value.text);
}

/* Follows a chain of aliases to the event. Returns NULL if the chain breaks or is a cycle. */
static const struct mk_row *target(const struct mk_pmu *pmu, const struct mk_row *event)
{
	for (size_t steps = 0; event && event->eq.text; steps++) {
		struct mk_cell rest = event->eq, word;

		mk_split(&rest, ':', &word);
		event = steps <= pmu->nevents ? find(pmu->events, pmu->nevents, &word) : NULL;
	}
	return event;
}

static void check_alias(struct mk *mk, const struct mk_pmu *pmu, const struct mk_row *event)
{
	struct mk_cell rest = event->eq, word;
	const struct mk_row *end = target(pmu, event);

	mk_split(&rest, ':', &word);
	if (!find(pmu->events, pmu->nevents, &word))
		mk_fault(mk, pmu, &word, "no event '%.*s' in this file", (int)word.length,
			 word.text);
	else if (!end)
		mk_fault(mk, pmu, &word, "alias '%.*s' does not end at an event",
			 (int)event->name.length, event->name.text);
	else
		while (mk_split(&rest, ':', &word))
			alias_word(mk, pmu, end, &word);
}

/* Depth-first search through the umasks of an alias. */
static int has_ring(const struct mk_pmu *pmu, const struct mk_row *event, struct mk_row *umask)
{
	struct mk_cell rest = umask->eq, word;

	if (umask->mark)
		return umask->mark == MK_OPEN;
	umask->mark = MK_OPEN;
	while (mk_split(&rest, ':', &word)) {
		struct mk_row *next =
			(struct mk_row *)find(mk_umasks(pmu, event), event->numasks, &word);

		if (next && has_ring(pmu, event, next))
			return 1;
	}
	umask->mark = MK_DONE;
	return 0;
}

/*
 * Checks that the PMU has these counters. Tables list the counters of a core without
 * hyper-threading, up to twice @gp, which is the number with hyper-threading. A fixed event may
 * also name the position after the last fixed counter: libpfm-4 describes PERF_METRICS in this
 * way.
 */
static void check_counters(struct mk *mk, const struct mk_pmu *pmu, const struct mk_row *row,
			   uint32_t metrics)
{
	uint64_t general = pmu->row.general_mask, fixed = pmu->row.fixed;

	if (pmu->boxes)
		return;
	if (general & 1)
		general = (1ull << (pmu->row.general < 16 ? 2 * pmu->row.general : 32)) - 1;
	if (metrics)
		fixed |= fixed << 1;
	if (pmu->row.general && row->counters & ~general & UINT32_MAX)
		mk_fault(mk, pmu, &row->where, "this PMU has no such general counter");
	if (fixed && row->counters >> 32 & ~fixed)
		mk_fault(mk, pmu, &row->where, "this PMU has no such fixed counter");
}

static void check_event(struct mk *mk, const struct mk_pmu *pmu, const struct mk_row *event)
{
	struct mk_row *umasks = mk_umasks(pmu, event);
	uint32_t groups = 0;

	check_counters(mk, pmu, event, event->flags & TACH__EV_FIXED);
	check_unique(mk, pmu, umasks, event->numasks, "umask");
	for (size_t i = 0; i < event->numasks; i++) {
		struct mk_row *u = &umasks[i];
		struct mk_cell rest = u->eq, word;

		groups |= 1u << u->group;
		check_counters(mk, pmu, u, u->flags & TACH__UM_FIXED);
		if (u->group >= event->group)
			mk_fault(mk, pmu, &u->name, "group %d, but event %.*s has %d", u->group,
				 (int)event->name.length, event->name.text, event->group);
		if (u->requires != 0xff && u->requires >= event->group)
			mk_fault(mk, pmu, &u->name, "needs group %d, but event %.*s has %d",
				 u->requires, (int)event->name.length, event->name.text,
				 event->group);
		if (u->mods & ~event->mods)
			mk_fault(mk, pmu, &u->name,
				 "requires a modifier that event %.*s does not take",
				 (int)event->name.length, event->name.text);
		if (u->mods > UINT16_MAX) /* struct tach__umask has 16 bits for the modifiers */
			mk_fault(mk, pmu, &u->name, "cannot require irange, drange or opc");
		while (mk_split(&rest, ':', &word))
			alias_word(mk, pmu, event, &word);
		if (has_ring(pmu, event, u))
			mk_fault(mk, pmu, &u->eq, "umask '%.*s' stands for itself",
				 (int)u->name.length, u->name.text);
	}
	/* In libpfm-4 an event without umasks accepts raw umasks only. */
	for (int g = 0; groups && g < event->group; g++)
		if (!(groups & 1u << g))
			mk_fault(mk, pmu, &event->name, "no umask in group %d", g);
	if (event->eq.text)
		check_alias(mk, pmu, event);
}

static const struct mk_pmu *pmu_named(const struct mk *mk, size_t n, const struct mk_cell *name)
{
	for (size_t i = 0; i < n; i++)
		if (mk->pmus[i].name.text && mk_same(&mk->pmus[i].name, name))
			return &mk->pmus[i];
	return NULL;
}

static int ranges_overlap(const uint32_t a[2], const uint32_t b[2])
{
	return a[0] <= b[1] && b[0] <= a[1];
}

static const char *cell_end(const char *p)
{
	while (*p && *p != ' ')
		p++;
	return p;
}

/* Returns true if some text matches both patterns. */
static int patterns_meet(const char *a, const char *b)
{
	while (*a && *b) {
		const char *p = a, *q = b;
		int byte = 1;

		if (*a == '~' || *b == '~') {
			if (*a == ' ' || *b == ' ')
				return 0;
			a = cell_end(a);
			b = cell_end(b);
			continue;
		}
		while (byte < 128 && !(tach__pattern_byte(a, (char)byte, &p) &
				       tach__pattern_byte(b, (char)byte, &q)))
			byte++;
		if (byte == 128)
			return 0;
		a = p;
		b = q;
	}
	return !*a && !*b;
}

/*
 * If two PMUs claimed the same CPU, the first in table order would be used without a message.
 */
static void check_claims(struct mk *mk, const struct mk_pmu *pmu, const struct mk_match *m)
{
	for (const struct mk_pmu *p = mk->pmus; p <= pmu; p++) {
		if (p->row.arch != pmu->row.arch || p->boxes)
			continue;
		if (p->vendor.text && pmu->vendor.text && !mk_same(&p->vendor, &pmu->vendor))
			continue;
		for (size_t i = 0; i < p->nmatches && &p->matches[i] != m; i++) {
			const struct mk_match *o = &p->matches[i];

			if (ranges_overlap(o->row.family, m->row.family) &&
			    ranges_overlap(o->row.model, m->row.model) &&
			    ranges_overlap(o->row.stepping, m->row.stepping) &&
			    patterns_meet(o->pattern, m->pattern) &&
			    o->row.core == m->row.core && o->row.native == m->row.native)
				mk_fault(mk, pmu, &m->cell, "this CPU is claimed at %s:%d too",
					 p->file, o->cell.line);
		}
	}
}

static void check_file(struct mk *mk, const struct mk_pmu *pmu)
{
	const char *base = strrchr(pmu->file, '/');
	const struct mk_pmu *other;
	size_t n;

	base = base ? base + 1 : pmu->file;
	n = strcspn(base, ".");
	if (pmu->name.text) {
		if (n != pmu->name.length || memcmp(base, pmu->name.text, n) != 0)
			mk_fault(mk, pmu, &pmu->name, "@pmu %.*s lies in a file named %s",
				 (int)pmu->name.length, pmu->name.text, base);
		other = pmu_named(mk, (size_t)(pmu - mk->pmus), &pmu->name);
		if (other)
			mk_fault(mk, pmu, &pmu->name, "PMU %.*s is described in %s too",
				 (int)pmu->name.length, pmu->name.text, other->file);
	}
	for (const struct mk_pmu *p = mk->pmus; p < pmu; p++)
		if (p->row.arch == pmu->row.arch &&
		    p->row.flags & pmu->row.flags & TACH__PMU_ARCHDEFAULT)
			mk_fault(mk, pmu, &pmu->flags_cell, "%s is archdefault too", p->file);
	if (pmu->alias.text && pmu->name.text && mk_same(&pmu->alias, &pmu->name))
		mk_fault(mk, pmu, &pmu->alias, "an alias of itself");
	if (pmu->row.arch == TACH__X86 && pmu->nmatches && !pmu->vendor.text)
		mk_fault(mk, pmu, &pmu->matches[0].cell, "@match needs a @vendor");
	for (size_t i = 0; i < pmu->nmatches && !pmu->boxes; i++)
		check_claims(mk, pmu, &pmu->matches[i]);
}

void mk_check(struct mk *mk)
{
	for (size_t p = 0; p < mk->npmus; p++) {
		const struct mk_pmu *pmu = &mk->pmus[p];

		check_file(mk, pmu);
		check_unique(mk, pmu, pmu->events, pmu->nevents, "event");
		for (size_t i = 0; i < pmu->nevents; i++)
			check_event(mk, pmu, &pmu->events[i]);
	}
}

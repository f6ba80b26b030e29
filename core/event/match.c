/* SPDX-License-Identifier: MIT */
/* Attributes of an event string become picks: umasks, modifiers, raw umasks, aliases. */
#include "core/event/event.h"
#include "core/event/perf_events.h"
#include "core/event/suggest.h"

/* Aliases of aliases exist in the tables, longer chains do not. */
enum { ALIAS_DEPTH_MAX = 4 };

static int add(struct tach__work *w, int kind, int number, uint64_t value)
{
	struct tach__pick *pick = &w->picks[w->npicks];

	if (w->nattrs++ == TACH__PICKS_MAX)
		return tach__refuse(w, TACH_ERR_TOOMANY, "more than %d attributes",
				    TACH__PICKS_MAX);
	for (unsigned i = 0; i < w->npicks && !(w->opt->flags & TACH_ENCODE_LIBPFM4); i++) {
		if (w->picks[i].kind != kind || w->picks[i].number != number)
			continue;
		/* Told later: a word that does not exist at all is the worse fault. */
		if (w->picks[i].value != value && !w->conflict)
			w->conflict = w->column;
		return 0;
	}
	pick->value = value;
	pick->number = (uint16_t)number;
	pick->column = (uint16_t)w->column;
	pick->kind = (uint8_t)kind;
	w->npicks++;
	return 0;
}

static int bad_value(struct tach__work *w, const struct tach__modifier *mod,
		     const struct tach__term *term)
{
	if (mod->integer)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE,
				    "%s takes a number: %s=N, decimal, 0x... or 0...",
				    mod->name, mod->name);
	return tach__refuse(w, TACH_ERR_ATTR_VALUE, "%s takes one of y t 1 n f 0, not '%.*s'",
			    mod->name, (int)(term->value.length > 40 ? 40 : term->value.length),
			    term->value.text);
}

static int match_modifier(struct tach__work *w, const struct tach__term *term, int *found)
{
	uint64_t word = tach__modifier_word(&term->name), value = 1;
	int mod = tach__mod_find(w->mods, word), kind = TACH__PICK_MOD;
	const struct tach__modifier *which = tach__mods;

	if (mod < 0) {
		mod = tach__osmod_find(w->osmods, word);
		kind = TACH__PICK_OSMOD;
		which = tach__osmods;
	}
	*found = mod >= 0;
	if (mod < 0)
		return 0;
	if ((term->has_value || which[mod].integer) &&
	    tach__mod_value(&which[mod], term, w->opt->flags & TACH_ENCODE_LIBPFM4, &value))
		return bad_value(w, &which[mod], term);
	if (kind == TACH__PICK_MOD)
		w->given |= 1u << mod;
	return add(w, kind, mod, value);
}

static int two_kinds(struct tach__work *w)
{
	return tach__refuse(w, TACH_ERR_ATTR, "one numeric umask, and no named one beside it");
}

/* A umask as a number. The user's own words may not hold both kinds; an alias' may differ. */
static int match_raw(struct tach__work *w, const struct tach__term *term)
{
	unsigned long long value;

	if (!(w->pmu->flags & TACH__PMU_RAWUMASK))
		return tach__refuse(w, TACH_ERR_ATTR, "%s takes no umasks as numbers",
				    tach__str(w->pmu->name));
	if (!tach__text_number(&term->name, &value))
		return tach__refuse(w, TACH_ERR_ATTR, "malformed hexadecimal umask");
	if (w->raw_given || w->named_given)
		return two_kinds(w);
	if (term->has_value)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "a umask takes no value");
	w->raw_given = 1;
	return add(w, TACH__PICK_RAW, 0, value);
}

static int match_list(struct tach__work *w, struct tach__attrs list);

static int match_alias(struct tach__work *w, const char *text)
{
	int rc;

	if (w->alias == ALIAS_DEPTH_MAX)
		return tach__refuse(w, TACH_ERR_CYCLE, "aliases refer to each other");
	w->alias++;
	rc = match_list(w, tach__attrs_of(text));
	w->alias--;
	return rc;
}

static int match_umask(struct tach__work *w, const struct tach__term *term, int *found)
{
	int row = tach__umask_find(w->event, term->name.text, term->name.length);
	const struct tach__umask *um;
	const char *alias;

	*found = 1;
	if (row < 0 && w->generic == TACH__GENERIC_TRACEPOINT && !term->has_value) {
		int rc = tach__tracepoint(w, &term->name);

		*found = rc > 0;
		return rc > 0 ? 0 : rc;
	}
	if (row < 0) {
		*found = 0;
		return 0;
	}
	um = tach__umask_at(w->event, row);
	/* "I=1" is the modifier i even where a umask I exists. */
	if (term->has_value) {
		*found = 0;
		return 0;
	}
	if (!w->alias) {
		if (w->raw_given)
			return two_kinds(w);
		w->named_given = 1;
	}
	if (um->attrs && tach__attr(um->attrs, TACH__A_EQ, NULL, &alias))
		return match_alias(w, alias);
	return add(w, TACH__PICK_UMASK, row, 0);
}

static int match_term(struct tach__work *w, const struct tach__term *term)
{
	const struct tach__text *name = &term->name;
	int found = 0, rc;

	if (!w->alias)
		w->column = tach__column(w->string, name->text);
	if (!name->length)
		return tach__refuse(w, TACH_ERR_ATTR, "a umask or modifier is expected here");
	rc = match_umask(w, term, &found);
	if (rc || found)
		return rc;
	rc = match_modifier(w, term, &found);
	if (rc || found)
		return rc;
	if (name->length > 1 && name->text[0] == '0' && tach__fold(name->text[1]) == 'x')
		return match_raw(w, term);
	return tach__suggest_attr(w, name);
}

static int match_list(struct tach__work *w, struct tach__attrs list)
{
	struct tach__term term;

	while (tach__attrs_next(&list, &term)) {
		int rc = match_term(w, &term);

		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Follows event aliases; the attributes that an alias spells come before those of its user.
 * libpfm-4 takes one step: what an alias of an alias names keeps its own name and code.
 */
static int resolve(struct tach__work *w)
{
	int steps = w->opt->flags & TACH_ENCODE_LIBPFM4 ? 1 : ALIAS_DEPTH_MAX;
	const char *alias, *end, *rest;
	int event, rc = 0;

	if (w->alias_steps == steps || !w->event->attrs ||
	    !tach__attr(w->event->attrs, TACH__A_EQ, NULL, &alias)) {
		tach__offer(w);
		return 0;
	}
	end = alias + __builtin_strlen(alias);
	rest = alias + __builtin_strcspn(alias, ":");
	event = tach__event_find(w->pmu_number, alias, (size_t)(rest - alias));
	if (event < 0)
		return tach__refuse(w, TACH_ERR_CYCLE, "the alias %s leads nowhere", alias);
	w->event_number = event;
	w->event = tach__event_at(w->pmu_number, event);
	w->alias_steps++;
	rc = resolve(w);
	w->alias++;
	if (!rc)
		rc = match_list(w, tach__attrs_from(rest, end));
	w->alias--;
	return rc;
}

/*
 * libpfm-4's way to drop repeated attributes: having dropped one it skips the next unseen, so
 * that of three equal ones two remain, and a third value is not compared.
 */
static void drop_as_libpfm4(struct tach__work *w)
{
	for (unsigned i = 0; i < w->npicks; i++)
		for (unsigned j = i + 1; j < w->npicks; j++) {
			struct tach__pick *a = &w->picks[i], *b = &w->picks[j];

			if (a->kind != b->kind || a->number != b->number)
				continue;
			if (a->value != b->value && !w->conflict)
				w->conflict = b->column;
			for (unsigned k = j + 1; k < w->npicks; k++)
				w->picks[k - 1] = w->picks[k];
			w->npicks--;
		}
}

static int conflict(struct tach__work *w)
{
	w->column = w->conflict;
	return tach__refuse(w, TACH_ERR_ATTR_SET, "given before with another value");
}

static inline int no_conflict(struct tach__work *w)
{
	if (w->npicks > 1 && w->opt->flags & TACH_ENCODE_LIBPFM4)
		drop_as_libpfm4(w);
	return w->conflict ? conflict(w) : 0;
}

static int match_row(struct tach__work *w, int row)
{
	const struct tach__umask *um = tach__umask_at(w->event, row);
	const char *alias;

	w->named_given = 1;
	if (um->attrs && tach__attr(um->attrs, TACH__A_EQ, NULL, &alias))
		return match_alias(w, alias);
	return add(w, TACH__PICK_UMASK, row, 0);
}

int tach__match_row(struct tach__work *w, int row, struct tach__attrs attrs)
{
	int rc = resolve(w);

	if (!rc && row >= 0)
		rc = match_row(w, row);
	if (!rc)
		rc = match_list(w, attrs);
	return rc ? rc : no_conflict(w);
}

int tach__match_picks(struct tach__work *w, const struct tach__pick *picks, unsigned n)
{
	const struct tach__event *asked = w->event;
	int rc = resolve(w);

	for (unsigned i = 0; !rc && i < n; i++) {
		const struct tach__pick *pick = &picks[i];

		if (pick->kind == TACH__PICK_UMASK) {
			/* An alias has led to an event with umasks of its own. */
			rc = w->event == asked ? match_row(w, pick->number) : TACH_ERR_UMASK;
		} else if (w->mods >> pick->number & 1) {
			w->given |= 1u << pick->number;
			rc = add(w, pick->kind, pick->number, pick->value);
		} else {
			rc = TACH_ERR_ATTR;
		}
	}
	return rc ? rc : no_conflict(w);
}

int tach__match(struct tach__work *w, struct tach__attrs attrs)
{
	int rc = resolve(w);

	if (!rc)
		rc = match_list(w, attrs);
	return rc ? rc : no_conflict(w);
}

int tach__match_more(struct tach__work *w, struct tach__attrs attrs)
{
	int rc = match_list(w, attrs);

	return rc ? rc : no_conflict(w);
}

void tach__offer(struct tach__work *w)
{
	uint32_t kept_by_perf = 0;

	w->mods = w->event->mods;
	w->osmods = 0;
	if (w->pmu->encoding == TACH__IA64_PMC)
		w->mods &= ~(1u << TACH__MOD_IRANGE | 1u << TACH__MOD_DRANGE |
			     1u << TACH__MOD_OPC);
	if (w->pmu->flags & TACH__PMU_ARCHDEFAULT && w->pmu->encoding == TACH__INTEL)
		w->mods = tach__archperfmon_mods(w->opt, w->mods);
	w->spelled = w->mods;
	if (w->os == TACH_OS_NONE)
		return;
	switch ((enum tach__encoding)w->pmu->encoding) {
	case TACH__INTEL:
	case TACH__NETBURST:
		kept_by_perf = 1u << TACH__MOD_K | 1u << TACH__MOD_U;
		break;
	case TACH__AMD:
		kept_by_perf = 1u << TACH__MOD_K | 1u << TACH__MOD_U | 1u << TACH__MOD_H;
		break;
	case TACH__ARM:
	case TACH__APPLE:
		kept_by_perf = 1u << TACH__MOD_K | 1u << TACH__MOD_U | 1u << TACH__MOD_HV;
		break;
	default:
		break;
	}
	w->mods &= ~kept_by_perf;
	/* NetBurst's words hold the levels under perf too; libpfm-4's names show them twice. */
	if (w->pmu->encoding != TACH__NETBURST || !(w->opt->flags & TACH_ENCODE_LIBPFM4))
		w->spelled = w->mods;
	w->osmods = tach__perf_offer(w);
}

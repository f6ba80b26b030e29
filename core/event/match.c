/* SPDX-License-Identifier: MIT */
/* Converts attributes of an event string to picks: umasks, modifiers, raw umasks, aliases. */
#include "core/event/event.h"
#include "core/event/perf_events.h"
#include "core/event/suggest.h"

/* An alias may contain another alias. */
enum { ALIAS_DEPTH_MAX = 4 };

static int add_pick(struct tach__work *w, int kind, int number, uint64_t value)
{
	struct tach__pick *pick = &w->got.picks[w->got.npicks];

	if (w->got.nattrs++ == TACH__PICKS_MAX)
		return tach__refuse(w, TACH_ERR_TOOMANY, "more than %d attributes",
				    TACH__PICKS_MAX);
	for (unsigned i = 0, n = w->got.npicks & w->ask.quirks->compared; i < n; i++) {
		if (w->got.picks[i].kind != kind || w->got.picks[i].number != number)
			continue;
		/*
		 * The conflict is reported later, because a word that does not exist is the
		 * more serious error.
		 */
		if (w->got.picks[i].value != value && !w->got.conflict)
			w->got.conflict = w->column;
		return 0;
	}
	pick->value = value;
	pick->number = (uint16_t)number;
	pick->column = (uint16_t)w->column;
	pick->kind = (uint8_t)kind;
	w->got.npicks++;
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
	const struct tach__modifier *which = tach__mods;
	int box = (w->got.pmu->flags & TACH__PMU_BOX) != 0, kind = TACH__PICK_MOD;
	int mod = box ? tach__modifier_find(tach__box_mods, w->got.mods, word) : -1;

	if (mod >= 0)
		which = tach__box_mods;
	else
		mod = tach__mod_find_any(box ? 0 : w->got.mods, w->got.osmods, word);
	if (mod >= TACH__NMODS && which == tach__mods) {
		mod -= TACH__NMODS;
		kind = TACH__PICK_OSMOD;
		which = tach__osmods;
	}
	*found = mod >= 0;
	if (mod < 0)
		return 0;
	if ((term->has_value || which[mod].integer) &&
	    tach__mod_value(&which[mod], term, w->ask.quirks->cut_numbers, &value))
		return bad_value(w, &which[mod], term);
	if (kind == TACH__PICK_MOD)
		w->got.given |= 1u << mod;
	return add_pick(w, kind, mod, value);
}

static int refuse_two_kinds(struct tach__work *w)
{
	return tach__refuse(w, TACH_ERR_ATTR, "use one numeric umask, without named umasks");
}

/* Matches a umask as a number. A user's string must not mix names and numbers, but an alias may
 * add the other kind. */
static int match_raw(struct tach__work *w, const struct tach__term *term)
{
	unsigned long long value;

	if (!(w->got.pmu->flags & TACH__PMU_RAWUMASK))
		return tach__refuse(w, TACH_ERR_ATTR, "%s takes no umasks as numbers",
				    tach__str(w->got.pmu->name));
	if (!tach__text_number(&term->name, &value))
		return tach__refuse(w, TACH_ERR_ATTR, "malformed hexadecimal umask");
	if (w->got.raw_given || w->got.named_given)
		return refuse_two_kinds(w);
	if (term->has_value)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "a umask takes no value");
	w->got.raw_given = 1;
	return add_pick(w, TACH__PICK_RAW, 0, value);
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

/*
 * Vendors' lists of boxes have umasks named E and I; in libpfm-4 these names are the modifiers.
 */
static int is_also_modifier(const struct tach__work *w, int row, const struct tach__term *term)
{
	return w->ask.quirks->box_slips &&
	       tach__umask_at(w->got.event, row)->src == TACH__SRC_V &&
	       tach__modifier_find(tach__box_mods, w->got.mods,
				   tach__modifier_word(&term->name)) >= 0;
}

static int match_umask(struct tach__work *w, const struct tach__term *term, int *found)
{
	int row = tach__umask_find(w->got.event, term->name.text, term->name.length);
	const struct tach__umask *um;
	const char *alias, *name = term->name.text;
	uint32_t keys;

	*found = 1;
	if (row >= 0 && w->got.pmu->flags & TACH__PMU_BOX && is_also_modifier(w, row, term))
		row = -1;
	if (row < 0 && w->got.generic == TACH__GENERIC_TRACEPOINT && !term->has_value) {
		int rc = tach__tracepoint(w, &term->name);

		*found = rc > 0;
		return rc > 0 ? 0 : rc;
	}
	if (row < 0) {
		*found = 0;
		return 0;
	}
	um = tach__umask_at(w->got.event, row);
	/* "I=1" is the modifier i even if a umask I exists. */
	if (term->has_value) {
		*found = 0;
		return 0;
	}
	if (!w->alias) {
		if (w->got.raw_given)
			return refuse_two_kinds(w);
		w->got.named_given = 1;
	}
	if (!um->attrs)
		return add_pick(w, TACH__PICK_UMASK, row, 0);
	keys = tach__attr_keys(um->attrs);
	/* EVENT.UMASK is the vendor's spelling, but the vendor means another event by it. */
	if (keys >> TACH__A_VC & 1 && name[-1] == '.')
		w->got.vendor_differs = !(w->ask.opt->flags & TACH_ENCODE_LIBPFM4);
	if (keys >> TACH__A_EQ & 1 && tach__attr(um->attrs, TACH__A_EQ, NULL, &alias))
		return match_alias(w, alias);
	return add_pick(w, TACH__PICK_UMASK, row, 0);
}

/* Matches perf's modifiers, several in one word. */
static int match_letters(struct tach__work *w, const struct tach__term *term, int *found)
{
	uint64_t precise;
	uint32_t asked = 0;
	int rc = 0;

	*found = w->ask.quirks->letters && w->ask.os != TACH_OS_NONE && !term->has_value &&
		 tach__letters(&term->name, w->got.osmods, &asked, &precise);
	for (; asked && !rc; asked &= asked - 1) {
		int mod = __builtin_ctz(asked);
		int precision = mod == TACH__OS_PRECISE || mod == TACH__OS_HW_SMPL;

		rc = add_pick(w, TACH__PICK_OSMOD, mod, precision ? precise : 1);
	}
	return rc;
}

static int match_term(struct tach__work *w, const struct tach__term *term)
{
	const struct tach__text *name = &term->name;
	int found = 0, rc;

	if (!w->alias)
		w->column = tach__column(w->ask.string, name->text);
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
	rc = match_letters(w, term, &found);
	return rc || found ? rc : tach__suggest_attr(w, name);
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

/* Follows aliases of events. Attributes in an alias precede the user's. */
static int resolve_aliases(struct tach__work *w)
{
	const char *alias, *end, *rest;
	int event, rc = 0;

	if (w->got.alias_steps == w->ask.quirks->alias_steps || !w->got.event->attrs ||
	    !tach__attr(w->got.event->attrs, TACH__A_EQ, NULL, &alias)) {
		tach__offer(w);
		return 0;
	}
	end = alias + __builtin_strlen(alias);
	rest = alias + __builtin_strcspn(alias, ":");
	event = tach__event_find(w->got.pmu_number, alias, (size_t)(rest - alias));
	if (event < 0)
		return tach__refuse(w, TACH_ERR_CYCLE, "the alias %s leads nowhere", alias);
	w->got.event_number = event;
	w->got.event = tach__event_at(w->got.pmu_number, event);
	w->got.alias_steps++;
	rc = resolve_aliases(w);
	w->alias++;
	if (!rc)
		rc = match_list(w, tach__attrs_from(rest, end));
	w->alias--;
	return rc;
}

/*
 * Drops repeated attributes as libpfm-4 does: after each drop it skips the next attribute. So
 * two of three equal ones remain, and a third value is not compared.
 */
static void drop_as_libpfm4(struct tach__work *w)
{
	for (unsigned i = 0; i < w->got.npicks; i++)
		for (unsigned j = i + 1; j < w->got.npicks; j++) {
			struct tach__pick *a = &w->got.picks[i], *b = &w->got.picks[j];

			if (a->kind != b->kind || a->number != b->number)
				continue;
			if (a->value != b->value && !w->got.conflict)
				w->got.conflict = b->column;
			for (unsigned k = j + 1; k < w->got.npicks; k++)
				w->got.picks[k - 1] = w->got.picks[k];
			w->got.npicks--;
		}
}

static int refuse_conflict(struct tach__work *w)
{
	w->column = w->got.conflict;
	return tach__refuse(w, TACH_ERR_ATTR_SET, "given before with another value");
}

static inline int check_conflicts(struct tach__work *w)
{
	if (w->got.npicks > w->ask.quirks->repeats)
		drop_as_libpfm4(w);
	return w->got.conflict ? refuse_conflict(w) : 0;
}

static int match_row(struct tach__work *w, int row)
{
	const struct tach__umask *um = tach__umask_at(w->got.event, row);
	const char *alias;

	w->got.named_given = 1;
	if (um->attrs && tach__attr(um->attrs, TACH__A_EQ, NULL, &alias))
		return match_alias(w, alias);
	return add_pick(w, TACH__PICK_UMASK, row, 0);
}

int tach__match_row(struct tach__work *w, int row, struct tach__attrs attrs)
{
	int rc = resolve_aliases(w);

	if (!rc && row >= 0)
		rc = match_row(w, row);
	if (!rc)
		rc = match_list(w, attrs);
	return rc ? rc : check_conflicts(w);
}

int tach__match_picks(struct tach__work *w, const struct tach__pick *picks, unsigned n)
{
	const struct tach__event *asked = w->got.event;
	int rc = resolve_aliases(w);

	for (unsigned i = 0; !rc && i < n; i++) {
		const struct tach__pick *pick = &picks[i];

		if (pick->kind == TACH__PICK_UMASK) {
			/* An alias led to an event that has its own umasks. */
			rc = w->got.event == asked ? match_row(w, pick->number)
						   : TACH_ERR_UMASK;
		} else if (w->got.mods >> pick->number & 1) {
			w->got.given |= 1u << pick->number;
			rc = add_pick(w, pick->kind, pick->number, pick->value);
		} else {
			rc = TACH_ERR_ATTR;
		}
	}
	return rc ? rc : check_conflicts(w);
}

int tach__match(struct tach__work *w, struct tach__attrs attrs)
{
	int rc = resolve_aliases(w);

	if (!rc)
		rc = match_list(w, attrs);
	return rc ? rc : check_conflicts(w);
}

int tach__match_more(struct tach__work *w, struct tach__attrs attrs)
{
	int rc = match_list(w, attrs);

	return rc ? rc : check_conflicts(w);
}

static void offer_box(struct tach__work *w)
{
	const uint32_t levels = 1u << TACH__OS_U | 1u << TACH__OS_K | 1u << TACH__OS_H |
				1u << TACH__OS_MG | 1u << TACH__OS_MH;

	w->got.mods = w->got.event->mods;
	/* Modifiers of raw boxes have no effect. */
	if (w->ask.os != TACH_OS_NONE &&
	    (w->ask.quirks->box_slips || w->got.pmu->encoding == TACH__RAW))
		w->got.mods &= ~w->got.pmu->perfdrop;
	w->got.spelled = w->got.mods;
	w->got.osmods = w->ask.os == TACH_OS_NONE   ? 0
			: w->ask.os == TACH_OS_PERF ? w->got.pmu->osmods & levels
						    : w->got.pmu->osmods;
}

void tach__offer(struct tach__work *w)
{
	uint32_t kept_by_perf = 0, both = 0;

	if (w->got.pmu->flags & TACH__PMU_BOX) {
		offer_box(w);
		return;
	}
	w->got.mods = w->got.event->mods;
	w->got.osmods = 0;
	if (w->got.pmu->encoding == TACH__IA64_PMC)
		w->got.mods &= ~(1u << TACH__MOD_IRANGE | 1u << TACH__MOD_DRANGE |
				 1u << TACH__MOD_OPC);
	if (w->got.pmu->flags & TACH__PMU_ARCHDEFAULT && w->got.pmu->encoding == TACH__INTEL)
		w->got.mods = tach__archperfmon_mods(w->ask.opt, w->got.mods);
	w->got.spelled = w->got.mods;
	if (w->ask.os == TACH_OS_NONE)
		return;
	switch ((enum tach__encoding)w->got.pmu->encoding) {
	case TACH__NETBURST:
		both = w->got.mods & w->ask.quirks->netburst_shown;
		/* fallthrough */
	case TACH__INTEL:
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
	w->got.mods &= ~kept_by_perf;
	w->got.spelled = w->got.mods | both;
	w->got.osmods = tach__perf_offer(w);
}

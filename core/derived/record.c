/* SPDX-License-Identifier: MIT */
/* One PRESET or EVENT record: its fields checked and put in their places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/derived/parse.h"

static const struct {
	const char *name;
	int least, most; /* base events */
	bool formula, per_second;
} types[] = {
	[TACH_DERIVED_TYPE_NONE] = {"NOT_DERIVED", 1, 1, false, false},
	[TACH_DERIVED_TYPE_ADD] = {"DERIVED_ADD", 1, TACH__D_EVENTS_MAX, false, false},
	[TACH_DERIVED_TYPE_PS] = {"DERIVED_PS", 2, 2, false, true},
	[TACH_DERIVED_TYPE_ADD_PS] = {"DERIVED_ADD_PS", 3, 3, false, true},
	[TACH_DERIVED_TYPE_CMPD] = {"DERIVED_CMPD", 1, TACH__D_EVENTS_MAX, false, false},
	[TACH_DERIVED_TYPE_SUB] = {"DERIVED_SUB", 1, TACH__D_EVENTS_MAX, false, false},
	[TACH_DERIVED_TYPE_POSTFIX] = {"DERIVED_POSTFIX", 1, TACH__D_EVENTS_MAX, true, false},
	[TACH_DERIVED_TYPE_INFIX] = {"DERIVED_INFIX", 1, TACH__D_EVENTS_MAX, true, false},
};

#define NTYPES (sizeof types / sizeof *types)

const char *tach__derived_type_name(enum tach_derived_type type)
{
	return types[type].name;
}

int tach__derived_type(const struct tach__span *name)
{
	for (size_t i = 0; i < NTYPES; i++)
		if (tach__span_is(name, types[i].name))
			return (int)i;
	return -1;
}

static int shown(const struct tach__span *s)
{
	return s->length > 60 ? 60 : (int)s->length;
}

#define FAIL(f, column, ...)                                                                   \
	(tach__derived_report((f)->sink, TACH_DIAGNOSTIC_ERROR, (f)->line, column,             \
			      __VA_ARGS__),                                                    \
	 false)

/* The name of a derived or a base event. */
static bool sound_name(const struct tach__fields *f, const struct tach__span *s,
		       const char *what)
{
	if (!s->length)
		return FAIL(f, s->column, "the %s is empty", what);
	if (s->length > TACH__D_NAME_MAX)
		return FAIL(f, s->column, "the %s has more than %d characters", what,
			    TACH__D_NAME_MAX);
	for (size_t i = 0; i < s->length; i++) {
		unsigned char c = (unsigned char)s->at[i];
		int column = s->column + (int)i;

		if (c == ' ' || c == '\t')
			return FAIL(f, column, "a blank in the %s '%.*s': is a comma missing?",
				    what, shown(s), s->at);
		if (c >= 0x7f)
			return FAIL(f, column, "byte 0x%02x in the %s: only ASCII is allowed",
				    c, what);
		if (strchr("|\"'();", c))
			return FAIL(f, column, "'%c' in the %s '%.*s'", c, what, shown(s),
				    s->at);
	}
	return true;
}

static struct tach__span *tail(struct tach__record *r, const struct tach__span *keyword)
{
	if (tach__span_is(keyword, "LDESC"))
		return &r->long_description;
	if (tach__span_is(keyword, "SDESC"))
		return &r->short_description;
	return tach__span_is(keyword, "NOTE") ? &r->note : NULL;
}

/* LDESC, SDESC and NOTE with their texts, from field i to the end, in any order. */
static bool tails(const struct tach__fields *f, struct tach__record *r, int i)
{
	for (; i < f->count; i += 2) {
		const struct tach__span *keyword = &f->field[i];
		struct tach__span *text = tail(r, keyword);

		if (!text)
			return FAIL(f, keyword->column,
				    "'%.*s' after a description: LDESC, SDESC or NOTE expected",
				    shown(keyword), keyword->at);
		if (i + 1 == f->count) {
			tach__derived_report(f->sink, TACH_DIAGNOSTIC_WARNING, f->line, f->end,
					     "no text after %.*s", shown(keyword), keyword->at);
			return true;
		}
		if (text->at)
			tach__derived_report(f->sink, TACH_DIAGNOSTIC_NOTE, f->line,
					     keyword->column,
					     "a second %.*s replaces the first", shown(keyword),
					     keyword->at);
		*text = f->field[i + 1];
	}
	return true;
}

static bool events(const struct tach__fields *f, struct tach__record *r, int i)
{
	const char *type = types[r->type].name;
	int least = types[r->type].least, most = types[r->type].most, first = i;

	for (; i < f->count && !tail(r, &f->field[i]); i++) {
		if (i - first == TACH__D_EVENTS_MAX)
			return FAIL(f, f->field[i].column, "more than %d base events",
				    TACH__D_EVENTS_MAX);
		if (!sound_name(f, &f->field[i], "base event"))
			return false;
		r->event[r->nevents++] = f->field[i];
	}
	if (r->nevents < least)
		return FAIL(f, i < f->count ? f->field[i].column : f->end,
			    "%s takes %s%d base event%s, but %d %s given", type,
			    most > least ? "at least " : "", least, least == 1 ? "" : "s",
			    r->nevents, r->nevents == 1 ? "is" : "are");
	if (r->nevents > most)
		return FAIL(f, r->event[most].column,
			    "%s takes %d base event%s, but %d are given", type, most,
			    most == 1 ? "" : "s", r->nevents);
	if (types[r->type].per_second && !tach__span_is(&r->event[0], "PAPI_TOT_CYC"))
		return FAIL(f, r->event[0].column,
			    "%s divides by PAPI_TOT_CYC, which must be its first base event",
			    type);
	return tails(f, r, i);
}

static void unused(const struct tach__fields *f, const struct tach__record *r, uint64_t uses)
{
	for (int i = 0; i < r->nevents; i++)
		if (!(uses >> i & 1))
			tach__derived_report(f->sink, TACH_DIAGNOSTIC_WARNING, f->line,
					     r->event[i].column,
					     "the formula does not use N%d, '%.*s'", i,
					     shown(&r->event[i]), r->event[i].at);
}

/*
 * Compiled to see that it can be, and what it uses; clocks do not matter for that. Without
 * events any operand may be there: a formula that runs on to the end of the line hides them.
 */
static bool formula(const struct tach__fields *f, const struct tach__record *r)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *compiled;
	char *text = malloc(r->formula.length + 1);
	int rc;

	if (!text)
		return FAIL(f, r->formula.column, "out of memory");
	memcpy(text, r->formula.at, r->formula.length);
	text[r->formula.length] = 0;
	opt.kind = r->type == TACH_DERIVED_TYPE_POSTFIX ? TACH_FORMULA_POSTFIX
							: TACH_FORMULA_INFIX;
	opt.noperands = r->nevents ? r->nevents : -1;
	opt.max_hz = opt.tsc_hz = 1;
	rc = tach_formula_compile(text, &opt, &compiled, &err);
	free(text);
	if (rc)
		return FAIL(f, r->formula.column + (err.column ? err.column - 1 : 0), "%s",
			    err.text);
	unused(f, r, tach_formula_uses(compiled));
	tach_formula_free(compiled);
	return true;
}

static bool interpret(const struct tach__fields *f, struct tach__record *r)
{
	const char *command = r->preset ? "PRESET" : "EVENT";
	int i = 2, type;

	if (f->count < 1)
		return FAIL(f, f->end, "an event name expected after %s", command);
	r->name = f->field[0];
	if (!sound_name(f, &r->name, "event name"))
		return false;
	if (f->count < 2)
		return FAIL(f, f->end, "a derived type expected after the name");
	type = tach__derived_type(&f->field[1]);
	if (type < 0)
		return FAIL(
			f, f->field[1].column,
			"unknown derived type '%.*s': NOT_DERIVED, DERIVED_ADD, _PS, _ADD_PS, "
			"_CMPD, _SUB, _POSTFIX or _INFIX expected",
			shown(&f->field[1]), f->field[1].at);
	r->type = (enum tach_derived_type)type;
	if (types[type].formula) {
		if (f->count < 3)
			return FAIL(f, f->end, "a formula expected after %s", types[type].name);
		r->formula = f->field[i++];
		if ((f->count == i || tail(r, &f->field[i])) && !formula(f, r))
			return false;
	}
	return events(f, r, i) && (!types[type].formula || formula(f, r));
}

void tach__derived_record(const struct tach__fields *f, bool preset)
{
	struct tach__record r = {.preset = preset, .line = f->line};

	if (interpret(f, &r))
		f->sink->record(f->sink->context, &r);
}

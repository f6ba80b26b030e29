/* SPDX-License-Identifier: MIT */
/* Checks the fields of one PRESET or EVENT record, and stores them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/number.h"
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

static int shown_length(const struct tach__span *s)
{
	return s->length > 60 ? 60 : (int)s->length;
}

#define FAIL(f, column, ...)                                                                   \
	(tach__derived_report((f)->sink, TACH_DIAGNOSTIC_ERROR, (f)->line, column,             \
			      __VA_ARGS__),                                                    \
	 false)

/* Notes a lack of memory, which is not an error of the record. */
static bool report_no_memory(const struct tach__fields *f, int column)
{
	if (f->sink->no_memory)
		*f->sink->no_memory = true;
	return FAIL(f, column, "out of memory");
}

/* Returns true if the field is quoted: then its blanks belong to it. */
static bool is_quoted(const struct tach__span *s)
{
	return s->column > 1 && (s->at[-1] == '"' || s->at[-1] == '\'');
}

/* Checks the name of a derived or a base event. */
static bool check_name(const struct tach__fields *f, const struct tach__span *s,
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

		if (c == ' ' && is_quoted(s))
			continue;
		if (c == ' ' || c == '\t')
			return FAIL(f, column, "a blank in the %s '%.*s': is a comma missing?",
				    what, shown_length(s), s->at);
		if (c >= 0x7f)
			return FAIL(f, column, "byte 0x%02x in the %s: only ASCII is allowed",
				    c, what);
		if (strchr("|\"'();", c))
			return FAIL(f, column, "'%c' in the %s '%.*s'", c, what,
				    shown_length(s), s->at);
	}
	return true;
}

/*
 * Fields that may follow the events, with one value each: the destination of each value, and
 * temporary numbers.
 */
enum { SCALE, LEVEL, NNUMBERS };
struct tails {
	struct tach__record *r;
	struct tach__span number[NNUMBERS];
};

static struct tach__span *find_tail(struct tails *t, const struct tach__span *keyword)
{
	struct tach__record *r = t->r;
	const struct {
		const char *word;
		struct tach__span *to;
	} words[] = {
		{"LDESC", &r->long_description},
		{"SDESC", &r->short_description},
		{"NOTE", &r->note},
		{"UNIT", &r->unit},
		{"SCALE", &t->number[SCALE]},
		{"THRESHOLD", &r->threshold},
		{"LEVEL", &t->number[LEVEL]},
		{"PARENT", &r->parent},
		{"GROUP", &r->groups},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tach__span_is(keyword, words[i].word))
			return words[i].to;
	return NULL;
}

static bool is_tail(const struct tach__span *field)
{
	struct tach__record r;
	struct tails t = {.r = &r};

	return find_tail(&t, field) != NULL;
}

static bool parse_formula(const struct tach__fields *f, const struct tach__record *r,
			  const struct tach__span *text, int noperands, int *used);

static size_t count_digits(const struct tach__span *s, size_t at)
{
	size_t n = 0;

	while (at + n < s->length && s->at[at + n] >= '0' && s->at[at + n] <= '9')
		n++;
	return n;
}

/* Skips digits, with or without a point and an exponent. */
static bool skip_decimal(const struct tach__span *s)
{
	size_t n = count_digits(s, 0), any = n;

	if (n < s->length && s->at[n] == '.') {
		any += count_digits(s, n + 1);
		n += 1 + count_digits(s, n + 1);
	}
	if (any && n < s->length && (s->at[n] == 'e' || s->at[n] == 'E')) {
		n++;
		n += n < s->length && (s->at[n] == '+' || s->at[n] == '-');
		any = count_digits(s, n);
		n += any;
	}
	return any && n == s->length;
}

static bool parse_number(const struct tach__fields *f, const struct tach__span *s,
			 const char *what, double *value)
{
	if (!skip_decimal(s))
		return FAIL(f, s->column, "%s is no number: '%.*s'", what, shown_length(s),
			    s->at);
	if (s->length > 100)
		return FAIL(f, s->column, "%s has more than 100 characters", what);
	*value = tach__number_parse(s->at, s->length);
	if (!isfinite(*value))
		return FAIL(f, s->column, "%s is too large: %.*s", what, shown_length(s),
			    s->at);
	return true;
}

static bool take_numbers(const struct tach__fields *f, struct tails *t)
{
	const struct tach__span *scale = &t->number[SCALE], *level = &t->number[LEVEL];
	double value;
	int used;

	t->r->scale = 1;
	if (scale->at && !parse_number(f, scale, "SCALE", &t->r->scale))
		return false;
	if (level->at) {
		if (!parse_number(f, level, "LEVEL", &value))
			return false;
		if (!(value >= 1 && value <= 99) || value != (int)value)
			return FAIL(f, level->column, "LEVEL is 1 to 99, not %.*s",
				    shown_length(level), level->at);
		t->r->level = (int)value;
	}
	if (t->r->parent.at && !check_name(f, &t->r->parent, "PARENT"))
		return false;
	return !t->r->threshold.at || parse_formula(f, t->r, &t->r->threshold, 0, &used);
}

/*
 * Parses LDESC, SDESC and the other tails with their texts, from field i to the end, in any
 * order.
 */
static bool parse_tails(const struct tach__fields *f, struct tach__record *r, int i)
{
	struct tails t = {.r = r};

	for (; i < f->count; i += 2) {
		const struct tach__span *keyword = &f->field[i];
		struct tach__span *text = find_tail(&t, keyword);

		if (!text)
			return FAIL(f, keyword->column,
				    "'%.*s' after a description: LDESC, SDESC, NOTE, UNIT, "
				    "SCALE, THRESHOLD, LEVEL, PARENT or GROUP expected",
				    shown_length(keyword), keyword->at);
		if (i + 1 == f->count) {
			tach__derived_report(f->sink, TACH_DIAGNOSTIC_WARNING, f->line, f->end,
					     "no text after %.*s", shown_length(keyword),
					     keyword->at);
			break;
		}
		if (text->at)
			tach__derived_report(f->sink, TACH_DIAGNOSTIC_NOTE, f->line,
					     keyword->column,
					     "a second %.*s replaces the first",
					     shown_length(keyword), keyword->at);
		*text = f->field[i + 1];
	}
	return take_numbers(f, &t);
}

/* Parses the events. named: the formula contains only names and numbers. */
static bool parse_events(const struct tach__fields *f, struct tach__record *r, int i,
			 bool named)
{
	const char *type = types[r->type].name;
	int least = named ? 0 : types[r->type].least, most = types[r->type].most, first = i;

	for (; i < f->count && !is_tail(&f->field[i]); i++) {
		if (i - first == TACH__D_EVENTS_MAX)
			return FAIL(f, f->field[i].column, "more than %d base events",
				    TACH__D_EVENTS_MAX);
		if (!check_name(f, &f->field[i], "base event"))
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
	return parse_tails(f, r, i);
}

static void report_unused(const struct tach__fields *f, const struct tach__record *r,
			  const struct tach_formula *formula)
{
	for (int i = 0; i < r->nevents; i++)
		if (!tach_formula_uses(formula, i))
			tach__derived_report(f->sink, TACH_DIAGNOSTIC_WARNING, f->line,
					     r->event[i].column,
					     "the formula does not use N%d, '%.*s'", i,
					     shown_length(&r->event[i]), r->event[i].at);
}

/*
 * Accepts any name in an infix formula. Events of the PMU and definitions are looked up when it
 * is expanded. Without quotes, a character that may be an operator between two operands is an
 * operator: N0-x, N0?N1:N2, a-b.
 */
static int any_name(void *context, const char *name, size_t length, double *value)
{
	const char *text = context;
	size_t number = 1;

	*value = 1;
	if (name > text && (name[-1] == '"' || name[-1] == '\''))
		return 0;
	while (number < length && name[number] >= '0' && name[number] <= '9')
		number++;
	if (name[0] == 'N' && number > 1 && number < length)
		return TACH_ERR_NOTFOUND;
	return memchr(name, '-', length) || strchr(":.=", name[length - 1]) ? TACH_ERR_NOTFOUND
									    : 0;
}

/*
 * Compiles the formula to find errors and the operands that it uses. The values of clocks do
 * not matter for this. If a formula continues to the end of the line, its events are unknown,
 * and any operand may exist.
 */
static bool parse_formula(const struct tach__fields *f, const struct tach__record *r,
			  const struct tach__span *span, int noperands, int *used)
{
	struct tach_formula_options opt = TACH_FORMULA_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_formula *compiled;
	char *text = malloc(span->length + 1);
	int rc;

	if (!text)
		return report_no_memory(f, span->column);
	memcpy(text, span->at, span->length);
	text[span->length] = 0;
	if (span == &r->formula && r->type == TACH_DERIVED_TYPE_POSTFIX)
		opt.kind = TACH_FORMULA_POSTFIX;
	else
		opt.parameter = any_name, opt.context = text;
	opt.noperands = noperands;
	opt.max_hz = opt.tsc_hz = 1;
	rc = tach_formula_compile(text, &opt, &compiled, &err);
	free(text);
	if (rc == TACH_ERR_NOMEM)
		return report_no_memory(f, span->column);
	if (rc)
		return FAIL(f, span->column + (err.column ? err.column - 1 : 0), "%s",
			    err.text);
	*used = 0;
	for (int i = 0; i < TACH_FORMULA_OPERANDS_MAX; i++)
		*used += tach_formula_uses(compiled, i);
	if (span == &r->formula)
		report_unused(f, r, compiled);
	tach_formula_free(compiled);
	return true;
}

static bool interpret(const struct tach__fields *f, struct tach__record *r)
{
	const char *command = r->preset ? "PRESET" : "EVENT";
	int i = 2, type, used = -1;

	if (f->count < 1)
		return FAIL(f, f->end, "an event name expected after %s", command);
	r->name = f->field[0];
	if (!check_name(f, &r->name, "event name"))
		return false;
	if (f->count < 2)
		return FAIL(f, f->end, "a derived type expected after the name");
	type = tach__derived_type(&f->field[1]);
	if (type < 0)
		return FAIL(
			f, f->field[1].column,
			"unknown derived type '%.*s': NOT_DERIVED, DERIVED_ADD, _PS, _ADD_PS, "
			"_CMPD, _SUB, _POSTFIX or _INFIX expected",
			shown_length(&f->field[1]), f->field[1].at);
	r->type = (enum tach_derived_type)type;
	if (types[type].formula) {
		if (f->count < 3)
			return FAIL(f, f->end, "a formula expected after %s", types[type].name);
		r->formula = f->field[i++];
		if ((f->count == i || is_tail(&f->field[i])) &&
		    !parse_formula(f, r, &r->formula, -1, &used))
			return false;
	}
	if (!parse_events(f, r, i, type == TACH_DERIVED_TYPE_INFIX && !used))
		return false;
	return !types[type].formula || parse_formula(f, r, &r->formula, r->nevents, &used);
}

void tach__derived_record(const struct tach__fields *f, bool preset)
{
	struct tach__record r = {.preset = preset, .line = f->line};

	if (interpret(f, &r))
		f->sink->record(f->sink->context, &r);
}

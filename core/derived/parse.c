/* SPDX-License-Identifier: MIT */
/*
 * Derived event files: lines, commands and fields. Fields end at commas. A field that begins
 * with a quote ends at the same quote before a comma or the end of the line, so an apostrophe
 * in a note causes no error. In an infix formula, commas within parentheses belong to the
 * formula.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/derived/parse.h"
#include "core/tables/tables.h"

struct line {
	const struct tach__derived_sink *sink;
	const char *start, *at, *end;
	int number;
	bool list_open; /* the last command was CPU: another CPU command adds to its list */
	bool ignoring;	/* records are for something that is not a CPU */
};

void tach__derived_report(const struct tach__derived_sink *sink,
			  enum tach_diagnostic_level level, int line, int column,
			  const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	sink->report(sink->context, level, line, column, text);
}

bool tach__span_is(const struct tach__span *span, const char *word)
{
	return tach__name_compare(span->at, span->length, word) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int column_of(const struct line *l, const char *at)
{
	return (int)(at - l->start) + 1;
}

static struct tach__span span(const struct line *l, const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	while (end > at && is_blank(end[-1]))
		end--;
	return (struct tach__span){at, (size_t)(end - at), column_of(l, at)};
}

static const char *find_comma(const char *at, const char *end)
{
	while (at < end && *at != ',')
		at++;
	return at;
}

/*
 * Returns the length of PRESET or EVENT at `at` if a whole record begins there: keyword, name,
 * type.
 */
static size_t record_begins(const struct line *l, const char *at)
{
	static const char *const words[] = {"PRESET", "EVENT"};

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(words[i]);
		const char *comma;
		struct tach__span type;

		/* Compare the first letter first, because this runs at every character. */
		if (*at != words[i][0])
			continue;
		if ((size_t)(l->end - at) <= n || memcmp(at, words[i], n) != 0 || at[n] != ',')
			continue;
		comma = find_comma(at + n + 1, l->end);
		if (comma == l->end)
			continue;
		type = span(l, comma + 1, find_comma(comma + 1, l->end));
		if (tach__derived_type(&type) >= 0)
			return n;
	}
	return 0;
}

/* Finds the quote that closes the one at `at`, or returns NULL. */
static const char *find_closing_quote(const struct line *l, const char *at)
{
	for (const char *q = at + 1; q < l->end; q++) {
		const char *after = q + 1;

		if (*q != *at)
			continue;
		while (after < l->end && is_blank(*after))
			after++;
		if (after == l->end || *after == ',' || record_begins(l, after))
			return q;
	}
	return NULL;
}

/*
 * Returns the end of an unquoted field that begins at `at`: a comma, a lost line break, or the
 * end.
 */
static const char *field_end(const struct line *l, const char *at, bool formula)
{
	int depth = 0;

	for (; at < l->end; at++) {
		if (formula && (*at == '(' || *at == ')'))
			depth += *at == '(' ? 1 : -1;
		if ((*at == ',' && depth <= 0) || record_begins(l, at))
			return at;
	}
	return at;
}

enum next { NEXT_FIELD, NEXT_LAST, NEXT_RECORD, NEXT_BAD };

static enum next next_field(struct line *l, struct tach__fields *f, bool formula)
{
	struct tach__span *out = &f->field[f->count];
	const char *end, *quote;

	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	if (l->at < l->end && (*l->at == '"' || *l->at == '\'')) {
		quote = find_closing_quote(l, l->at);
		if (!quote) {
			tach__derived_report(l->sink, TACH_DIAGNOSTIC_ERROR, l->number,
					     column_of(l, l->at), "the quote is never closed");
			return NEXT_BAD;
		}
		*out = (struct tach__span){l->at + 1, (size_t)(quote - l->at - 1),
					   column_of(l, l->at) + 1};
		end = quote + 1;
		while (end < l->end && is_blank(*end))
			end++;
	} else {
		end = field_end(l, l->at, formula);
		*out = span(l, l->at, end);
	}
	l->at = end;
	if (end == l->end) {
		f->count++;
		return NEXT_LAST;
	}
	if (*end == ',') {
		f->count++;
		l->at++;
		return NEXT_FIELD;
	}
	f->count += out->length != 0;
	return NEXT_RECORD;
}

/* Returns true if the next field is a formula, whose parentheses may contain commas. */
static bool formula_next(const struct tach__fields *f)
{
	const struct tach__span *last = f->field + f->count - (f->count > 0);

	return (f->count == 2 && tach__derived_type(last) == TACH_DERIVED_TYPE_INFIX) ||
	       (f->count > 3 && tach__span_is(last, "THRESHOLD"));
}

/* Reads the fields of one record. Returns false if nothing more can be read on this line. */
static bool parse_record(struct line *l, bool preset)
{
	struct tach__fields f = {.sink = l->sink, .line = l->number};
	enum next next = NEXT_FIELD;

	while (next == NEXT_FIELD && f.count < TACH__D_FIELDS_MAX)
		next = next_field(l, &f, formula_next(&f));
	if (next == NEXT_BAD)
		return false;
	if (next == NEXT_FIELD) {
		tach__derived_report(l->sink, TACH_DIAGNOSTIC_ERROR, l->number,
				     column_of(l, l->at), "the record has more than %d fields",
				     TACH__D_FIELDS_MAX);
		return false;
	}
	f.end = column_of(l, l->at);
	while (f.count && !f.field[f.count - 1].length)
		f.count--; /* commas at the end are common and harmless */
	if (next == NEXT_RECORD)
		tach__derived_report(l->sink, TACH_DIAGNOSTIC_WARNING, l->number, f.end,
				     "another record begins here: a line break is missing");
	if (!l->ignoring)
		tach__derived_record(&f, preset);
	return next == NEXT_RECORD;
}

/*
 * Reads names that are separated by '|'. A list must restart even at an invalid line, otherwise
 * records would go to the wrong CPUs.
 */
static void each_cpu(struct line *l, const struct tach__span *names)
{
	const char *at = names->at, *end = at + names->length, *bar;

	do {
		struct tach__span name;

		bar = memchr(at, '|', (size_t)(end - at));
		name = span(l, at, bar ? bar : end);
		l->sink->cpu(l->sink->context, &name, l->number, !l->list_open);
		l->list_open = true;
		at = bar ? bar + 1 : end;
	} while (bar);
}

static void parse_cpu(struct line *l)
{
	struct tach__span name;
	const char *end;

	if (l->at < l->end && (*l->at == '"' || *l->at == '\'') &&
	    find_closing_quote(l, l->at)) {
		end = find_closing_quote(l, l->at);
		name = (struct tach__span){l->at + 1, (size_t)(end - l->at - 1),
					   column_of(l, l->at + 1)};
		end++;
	} else {
		end = find_comma(l->at, l->end);
		name = span(l, l->at, end);
	}
	while (end < l->end && (is_blank(*end) || *end == ','))
		end++;
	if (!name.length)
		tach__derived_report(l->sink, TACH_DIAGNOSTIC_ERROR, l->number,
				     column_of(l, l->at), "a CPU name expected after CPU");
	else if (end < l->end)
		tach__derived_report(l->sink, TACH_DIAGNOSTIC_WARNING, l->number,
				     column_of(l, end),
				     "one CPU name per line: the rest is ignored");
	each_cpu(l, &name);
	l->ignoring = false;
}

/*
 * After an unknown command, the records are for an unknown model if the command may have named
 * a CPU: at the beginning of a list of CPUs or inside it, in the form WORD,NAME.
 */
static void report_unknown(struct line *l, const struct tach__span *word)
{
	bool like_cpu = l->at < l->end && find_comma(l->at, l->end) == l->end;

	tach__derived_report(l->sink, TACH_DIAGNOSTIC_ERROR, l->number, word->column,
			     "unknown command '%.*s': CPU, PRESET or EVENT expected%s",
			     word->length > 40 ? 40 : (int)word->length, word->at,
			     like_cpu && !l->list_open
				     ? "; records up to the next CPU line are left out"
				     : "");
	if (like_cpu && !l->list_open)
		l->ignoring = true;
}

/*
 * Returns true for PAPI's components that have their own sections in its file: GPUs, which this
 * library cannot count.
 */
static bool is_component(const struct tach__span *word)
{
	static const char *const components[] = {"cuda",    "rocm", "rocp_sdk",	 "rocm_smi",
						 "amd_smi", "nvml", "intel_gpu", "sde"};

	for (size_t i = 0; i < sizeof components / sizeof *components; i++)
		if (tach__span_is(word, components[i]))
			return true;
	return false;
}

static void report_component(struct line *l, const struct tach__span *word)
{
	tach__derived_report(l->sink, TACH_DIAGNOSTIC_NOTE, l->number, word->column,
			     "a section of PAPI's component %.*s, which is not a CPU's: "
			     "records up to the next CPU line are skipped",
			     (int)word->length, word->at);
	l->list_open = false;
	l->ignoring = true;
}

static bool is_command(const char *at, const char *end)
{
	return at == end || *at == ',' || is_blank(*at);
}

static void parse_command(struct line *l)
{
	struct tach__span word;
	const char *end = l->at;
	bool preset;

	while (end < l->end && !is_command(end, l->end))
		end++;
	word = (struct tach__span){l->at, (size_t)(end - l->at), column_of(l, l->at)};
	while (end < l->end && is_blank(*end))
		end++;
	l->at = end + (end < l->end && *end == ',');
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	if (tach__span_is(&word, "CPU")) {
		parse_cpu(l);
		return;
	}
	if (is_component(&word)) {
		report_component(l, &word);
		return;
	}
	preset = tach__span_is(&word, "PRESET");
	if (!preset && !tach__span_is(&word, "EVENT")) {
		report_unknown(l, &word);
		return;
	}
	l->list_open = false;
	while (parse_record(l, preset)) {
		preset = *l->at == 'P';
		l->at += record_begins(l, l->at) + 1;
	}
}

/* Returns false if the line has a control character other than a tab, because then it is not
 * text. */
static bool is_text(struct line *l)
{
	for (const char *at = l->at; at < l->end; at++)
		if ((unsigned char)*at < ' ' && *at != '\t') {
			tach__derived_report(
				l->sink, TACH_DIAGNOSTIC_ERROR, l->number, column_of(l, at),
				"a control character (0x%02x) in the line", (unsigned char)*at);
			return false;
		}
	return true;
}

void tach__derived_parse(const char *text, size_t length, const struct tach__derived_sink *sink)
{
	struct line l = {.sink = sink};
	const char *end = text + length, *next = text;

	if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		next += 3; /* the byte order mark that some editors write */
	while (next < end) {
		l.start = l.at = next;
		l.number++;
		while (next < end && *next != '\n' && *next != '\r')
			next++;
		l.end = next;
		next += next < end && end - next > 1 && next[0] == '\r' && next[1] == '\n' ? 2
											   : 1;
		while (l.end > l.at && is_blank(l.end[-1]))
			l.end--;
		while (l.at < l.end && is_blank(*l.at))
			l.at++;
		if (l.at == l.end || *l.at == '#' || !is_text(&l))
			continue;
		parse_command(&l);
	}
}

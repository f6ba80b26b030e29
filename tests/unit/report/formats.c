/* SPDX-License-Identifier: MIT */
/*
 * Each format of saved reports, completely. A file has the expected text: NAME.FORMAT. JSON
 * must equal the loaded text, byte by byte; comparisons of HTML pages omit the parts that have
 * source files of their own.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/report/page.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/unit/report/guarded.h"
#include "tests/unit/report/text.h"

static void read_file(struct text *t, const char *file)
{
	FILE *from = fopen(file, "r");

	t->length = from ? fread(t->at, 1, sizeof t->at - 1, from) : 0;
	t->at[t->length] = '\0';
	if (from)
		fclose(from);
	CHECK(t->length > 0, "%s", file);
}

/* Replaces the first occurrence. */
static void put_for(struct text *t, const char *what, const char *with)
{
	static struct text whole;
	const char *at = strstr(t->at, what);

	if (!at)
		return;
	whole.length = 0;
	append(&whole, t->at, (size_t)(at - t->at));
	append(&whole, with, strlen(with));
	append(&whole, at + strlen(what), strlen(at + strlen(what)));
	*t = whole;
}

static void write_as(struct text *t, const struct tach_snapshot *s,
		     struct tach_report_options opt)
{
	struct tach_error err = TACH_ERROR_INIT;

	t->length = 0;
	CHECK(tach_report_write(s, &opt, append, t, &err) == 0, "%s", err.text);
}

/* Compares both texts, and prints the first line that differs. */
static void compare(const struct text *is, const struct text *wanted, const char *file)
{
	size_t i = 0, begin = 0;
	int line = 1;

	for (; is->at[i] == wanted->at[i] && is->at[i]; i++)
		if (is->at[i] == '\n') {
			begin = i + 1;
			line++;
		}
	CHECK(is->at[i] == wanted->at[i] && is->length == wanted->length, "%s:%d: %.*s", file,
	      line, (int)strcspn(is->at + begin, "\n"), is->at + begin);
}

static struct tach_snapshot *load(const char *file)
{
	static struct text json;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;

	read_file(&json, file);
	CHECK(tach_snapshot_load(json.at, json.length, &s, &err) == 0, "%s:%d:%d: %s", file,
	      err.line, err.column, err.text);
	return s;
}

static void holds(const char *name, const char *suffix, struct tach_report_options opt)
{
	static struct text is, wanted, data;
	struct tach_snapshot *s;
	char file[100];

	snprintf(file, sizeof file, "tests/unit/report/%s.json", name);
	s = load(file);
	if (!s)
		return;
	s->plain.region = guarded_copy(s->plain.region,
				       (size_t)s->plain.nregions * sizeof *s->plain.region);
	s->plain.metric = guarded_copy(s->plain.metric,
				       (size_t)s->plain.nmetrics * sizeof *s->plain.metric);
	write_as(&is, s, opt);
	write_as(&data, s, (struct tach_report_options){.format = TACH_FORMAT_JSON});
	snprintf(file, sizeof file, "tests/unit/report/%s.%s", name, suffix);
	read_file(&wanted, file);
	put_for(&wanted, "0.1.0", tach_version());
	put_for(&wanted, "@style@\n", tach__report_style);
	put_for(&wanted, "@data@\n", data.at);
	put_for(&wanted, "@script@\n", tach__report_script);
	compare(&is, &wanted, file);
	tach_snapshot_free(s);
}

static const struct tach_report_options json = {.format = TACH_FORMAT_JSON},
					csv = {.format = TACH_FORMAT_CSV},
					prometheus = {.format = TACH_FORMAT_PROMETHEUS},
					html = {.format = TACH_FORMAT_HTML}, text,
					ascii = {.ascii = 1, .width = 79, .color = 1},
					narrow = {.width = 39}, tiny = {.width = 30},
					forty = {.width = 40, .color = 1},
					two_hundred = {.ascii = 1, .width = 200};

/* A report with everything that a report can contain. */
static void whole(void)
{
	holds("formats/whole", "json", json);
	holds("formats/whole", "csv", csv);
	holds("formats/whole", "prometheus", prometheus);
	holds("formats/whole", "html", html);
	holds("formats/whole", "text", text);
	holds("formats/whole", "ascii", ascii);
	holds("formats/whole", "narrow", narrow);
	holds("formats/whole", "tiny", tiny);
}

/* A report of a rank, without regions. */
static void none(void)
{
	holds("formats/none", "json", json);
	holds("formats/none", "csv", csv);
	holds("formats/none", "prometheus", prometheus);
	holds("formats/none", "html", html);
	holds("formats/none", "text", text);
}

static void clock_alone(void)
{
	holds("formats/clock", "json", json);
	holds("formats/clock", "csv", csv);
	holds("formats/clock", "prometheus", prometheus);
	holds("formats/clock", "html", html);
	holds("formats/clock", "text", text);
}

/* The tool formats by the same rules. */
static void of_the_tool(void)
{
	holds("report/sample", "text", text);
	holds("report/sample", "csv", csv);
	holds("report/sample", "prometheus", prometheus);
	holds("report/odd", "text", text);
	holds("report/odd", "40", forty);
	holds("report/odd", "ascii", two_hundred);
	holds("report/odd", "csv", csv);
	holds("report/odd", "prometheus", prometheus);
}

/* Self times of the regions: 0; one ns; equal times; just below one hundredth. */
static void shares_of_time(void)
{
	static const struct {
		double ns[9];
		const char *text;
	} cases[] = {
		{{0}, NULL},
		{{1},
		 "<ul><li style=\"--c:var(--c0)\">p\u00e4rse &lt;b&gt; t1 #ff <span>100% "
		 "\u00b7 1.000 ns</span></li>"},
		{{4, 4, 4, 4, 4, 4, 4, 4, 4}, "<title>idle</title></rect><rect x=\"444.4\""},
		{{4, 4, 4, 4, 4, 4, 4, 4, 4},
		 "x=\"777.7\" width=\"111.1\" height=\"26\" "
		 "style=\"fill:var(--c7)\"><title>r2"},
		{{99.5, 1}, "lexer <span>&lt;1% \u00b7 1.000 ns"}};
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/whole.json");

	for (size_t i = 0; s && i < sizeof cases / sizeof *cases; i++) {
		for (int r = 0; r < 9; r++)
			s->plain.region[r].value[TACH_PART_SELF][0].value = cases[i].ns[r];
		write_as(&is, s, html);
		if (cases[i].text)
			CHECK(strstr(is.at, cases[i].text), "%s", cases[i].text);
		else
			CHECK(!strstr(is.at, "Where the time goes"));
	}
	tach_snapshot_free(s);
}

/* Names next to a source position that leaves five columns, or four. */
static void names_beside_places(void)
{
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/whole.json");

	if (!s)
		return;
	write_as(&is, s, (struct tach_report_options){.width = 34});
	CHECK(strstr(is.at, "\nlexer :4294967295 "));
	write_as(&is, s, (struct tach_report_options){.width = 32});
	CHECK(strstr(is.at, "\nlex\u2026 :4294967295 "));
	tach_snapshot_free(s);
}

/* The column of calls counts entries with values; the next column counts the others. */
static void calls_and_others(void)
{
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/clock.json");
	struct tach_region_info *info;

	if (!s)
		return;
	info = &s->plain.region[0].info;
	info->entries = 99 + 60;
	info->calls = 66;
	info->lost = 33;
	info->excluded = 60;
	write_as(&is, s, text);
	CHECK(strstr(is.at, "once       66  ") &&
		      strstr(is.at, "  clock, 60 in warm-up, 33 never stopped\n"),
	      "%s", is.at);
	write_as(&is, s, html);
	CHECK(strstr(is.at, "data-i=\"66\">66</td>") && strstr(is.at, ">33 never stopped<"));
	/* In sparse mode the values represent all entries. */
	info->lost = info->excluded = 0;
	info->entries = 1000;
	info->skipped = 934;
	s->plain.region[0].value[0][0].flags = TACH_FLAG_UNBOUNDED | TACH_FLAG_SMALL;
	write_as(&is, s, text);
	CHECK(strstr(is.at, "once     1000  1.000 ms \u00b1?  66.00 us  900.0 us 1.100 ms "
			    "1.100 ms  100.0%  clock, 66 sampled\n") &&
		      strstr(is.at, "\nAn error is not known, "),
	      "%s", is.at);
	write_as(&is, s, html);
	CHECK(strstr(is.at, "1.000 ms<small>\u00b1?</small>"));
	tach_snapshot_free(s);
}

/* Each format shows the counts that are in no row. */
static void missing(void)
{
	static const struct {
		enum tach_format format;
		const char *says;
	} cases[] = {
		{TACH_FORMAT_TEXT, "3 processes missing in this report. 5 threads missing in"},
		{TACH_FORMAT_JSON, "\"missing\": {\"processes\": 3, \"threads\": 5}"},
		{TACH_FORMAT_CSV, "\"\",\"\",0,0,0,missing,\"processes\",3,3,0,\"\"\r\n"
				  "\"\",\"\",0,0,0,missing,\"threads\",5,5,0,\"\"\r\n"},
		{TACH_FORMAT_PROMETHEUS, "\ntach_processes_missing_total 3\n"},
		{TACH_FORMAT_PROMETHEUS, "\ntach_threads_missing_total 5\n"},
		{TACH_FORMAT_HTML, "<dt>Processes missing</dt><dd class=\"bad\">3</dd>"},
		{TACH_FORMAT_HTML, "<dt>Threads missing</dt><dd class=\"bad\">5</dd>"}};
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/clock.json"), *again = NULL;
	const struct tach_snapshot *list[2];
	struct tach_counts c = {.size = sizeof c};

	if (!s)
		return;
	s->rank = 0;
	s->missing_processes = 3;
	s->missing_threads = 5;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_as(&is, s, (struct tach_report_options){.format = cases[i].format});
		CHECK(strstr(is.at, cases[i].says), "%s in %s", cases[i].says, is.at);
	}
	/* The output can be loaded again, and merged. */
	write_as(&is, s, json);
	CHECK(tach_snapshot_load(is.at, is.length, &again, NULL) == 0);
	list[0] = s;
	list[1] = again;
	CHECK(tach_snapshot_merge(list, 2, &again, NULL) == 0);
	tach_snapshot_free((struct tach_snapshot *)(uintptr_t)list[1]);
	CHECK(tach_snapshot_counts(again, &c) == 0 && c.missing_processes == 6 &&
	      c.missing_threads == 10);
	tach_snapshot_free(again);
	tach_snapshot_free(s);
}

/* An event that is counted twice has two separate series. */
static void event_counted_twice_has_two_series(void)
{
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/whole.json");

	if (!s)
		return;
	s->plain.quantity[2] = s->plain.quantity[1];
	write_as(&is, s, prometheus);
	CHECK(strstr(is.at, ",event=\"cycles\"} ") &&
	      strstr(is.at, ",event=\"cycles\",copy=\"1\"} "));
	tach_snapshot_free(s);
}

/* Rows divided by task, tag or thread have more columns, for any of the three. */
static void divided_rows(void)
{
	static const char more[] = ",flags,of,task,tag,thread\r\n";
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/whole.json");
	int n = s ? tach_snapshot_nregions(s) : 0;

	for (int divided = 0; divided < n; divided++) {
		for (int r = 0; r < n; r++)
			s->plain.region[r].info.of =
				r == divided ? "whole" : s->plain.region[r].info.name;
		write_as(&is, s, csv);
		CHECK(strstr(is.at, more), "row %d", divided);
		s->plain.region[divided].info.of = s->plain.region[divided].info.name;
	}
	if (s)
		write_as(&is, s, csv);
	CHECK(strstr(is.at, ",flags\r\n") && !strstr(is.at, more));
	tach_snapshot_free(s);
}

/* A quantity that only metrics use has no column. JSON contains it, with a mark. */
static void operands(void)
{
	static const enum tach_format tables[] = {TACH_FORMAT_TEXT, TACH_FORMAT_CSV,
						  TACH_FORMAT_PROMETHEUS, TACH_FORMAT_HTML};
	static const char mark[] = "\"unit\": \"count\", \"operand\": true";
	const char *at, *json_at;
	static struct text is;
	struct tach_snapshot *s = load("tests/unit/report/formats/whole.json"), *loaded = NULL,
			     *both = NULL;
	const struct tach_snapshot *list[2];

	if (!s)
		return;
	s->plain.quantity[2] = "of-a-metric";
	tach__plain_mark_operand(&s->plain, 2, 1);
	write_as(&is, s, json);
	CHECK(strstr(is.at, mark));
	CHECK(tach_snapshot_load(is.at, is.length, &loaded, NULL) == 0);
	for (size_t i = 0; loaded && i < sizeof tables / sizeof *tables; i++) {
		write_as(&is, loaded, (struct tach_report_options){.format = tables[i]});
		at = strstr(is.at, "of-a-metric");
		/* An HTML page also contains the report as JSON. */
		json_at = strstr(is.at, "<script type=\"application/json\"");
		CHECK(!at || (json_at && at > json_at), "format %d", (int)tables[i]);
		CHECK(strstr(is.at, s->plain.quantity[1]), "format %d", (int)tables[i]);
	}
	/* If the report is merged with one that requested this quantity, it is shown. */
	for (int asked = 0; loaded && asked < 2; asked++) {
		tach__plain_mark_operand(&s->plain, 2, !asked);
		for (int first = 0; first < 2; first++) {
			list[first] = s;
			list[!first] = loaded;
			CHECK(tach_snapshot_merge(list, 2, &both, NULL) == 0);
			write_as(&is, both, json);
			CHECK((strstr(is.at, mark) == NULL) == asked, "%d %d", asked, first);
			tach_snapshot_free(both);
		}
	}
	tach_snapshot_free(loaded);
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(whole);
	CASE(none);
	CASE(clock_alone);
	CASE(of_the_tool);
	CASE(shares_of_time);
	CASE(names_beside_places);
	CASE(calls_and_others);
	CASE(missing);
	CASE(event_counted_twice_has_two_series);
	CASE(divided_rows);
	CASE(operands);
	return check_done();
}

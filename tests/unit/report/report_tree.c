/* SPDX-License-Identifier: MIT */
/* Trees of metrics in reports of text, of saved snapshots: order, thresholds, the sentence,
 * names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/base/utf8.h"
#include "tests/check.h"

static char text[1 << 20];
static size_t used;

static int gather(void *context, const char *piece, size_t length)
{
	(void)context;
	if (used + length >= sizeof text)
		return -1;
	memcpy(text + used, piece, length);
	text[used += length] = '\0';
	return 0;
}

static void write_as(const struct tach_snapshot *s, enum tach_format format, int ascii)
{
	struct tach_report_options opt = {.size = sizeof opt, .format = format, .ascii = ascii};

	used = 0;
	CHECK(tach_report_write(s, &opt, gather, NULL, NULL) == 0);
}

/* A region has 1000 slots; the metrics are shares of them. */
struct shares {
	const char *region;
	double ns, frontend, backend, memory, retiring, error;
	double self_ns; /* 0: the same */
};

static const char METRICS[] =
	"{\"name\":\"retiring\",\"formula\":\"N4 / N0\",\"level\":1,\"unit\":\"percent of "
	"slots\",\"scale\":100},"
	"{\"name\":\"memory\",\"formula\":\"N3 / "
	"N0\",\"level\":2,\"parent\":\"Backend\",\"unit\":"
	"\"percent\",\"scale\":100,\"threshold\":\"memory > 0.2 & backend > "
	"0.2\",\"description\":\"waiting for loads\"},"
	"{\"name\":\"frontend\",\"formula\":\"N1 / "
	"N0\",\"level\":1,\"unit\":\"percent\",\"scale\":"
	"100,\"threshold\":\"frontend > 0.35 | not_counted > 0.1\"},"
	"{\"name\":\"backend\",\"formula\":\"N2 / "
	"N0\",\"level\":1,\"unit\":\"percent\",\"scale\":"
	"100},"
	"{\"name\":\"plain\",\"formula\":\"N1 + N2\"}";

static void value(char *to, const char *name, double v, double error)
{
	sprintf(to + strlen(to),
		"\"%s\":{\"value\":%g,\"raw\":%g,\"overhead\":0,\"error\":%g,\"flags\":[]},",
		name, v, v, error);
}

static void part(char *to, const char *name, const struct shares *r)
{
	sprintf(to + strlen(to), ",\"%s\":{", name);
	value(to, "time", *name == 's' && r->self_ns > 0 ? r->self_ns : r->ns, 0);
	value(to, "slots", 1000, 0);
	value(to, "f", r->frontend, r->error);
	value(to, "b", r->backend, r->error);
	value(to, "m", r->memory, r->error);
	value(to, "r", r->retiring, r->error);
	/* The loaded value, which merging computes again. */
	value(to, "retiring", r->retiring / 1000, r->error / 1000);
	value(to, "memory", r->memory / 1000, r->error / 1000);
	value(to, "frontend", r->frontend / 1000, r->error / 1000);
	value(to, "backend", r->backend / 1000, r->error / 1000);
	value(to, "plain", r->frontend + r->backend, r->error);
	to[strlen(to) - 1] = '}';
}

static struct tach_snapshot *saved(const char *metrics, const struct shares *regions, int n)
{
	static char json[1 << 16];
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s = NULL;

	sprintf(json,
		"{\"tach\":1,\"note\":\"\",\"clock\":{\"hz\":1e9,\"estimate\":false},"
		"\"threads\":1,\"refused\":0,\"lost\":0,\"stale\":0,\"unopened\":0,"
		"\"quantities\":[{\"name\":\"time\"},{\"name\":\"slots\"},{\"name\":\"f\"},"
		"{\"name\":\"b\"},{\"name\":\"m\"},{\"name\":\"r\"}],\"metrics\":[%s],"
		"\"regions\":[",
		metrics);
	for (int i = 0; i < n; i++) {
		sprintf(json + strlen(json),
			"%s{\"name\":\"%s\",\"file\":\"\",\"function\":\"\",\"line\":0,"
			"\"entries\":1,\"calls\":1,\"outermost\":1,\"skipped\":0,"
			"\"excluded\":0,\"nested\":0,\"threads\":1,\"provenance\":{}",
			i ? "," : "", regions[i].region);
		part(json, "inclusive", &regions[i]);
		part(json, "self", &regions[i]);
		strcat(json, "}");
	}
	strcat(json, "]}");
	CHECK(tach_snapshot_load(json, strlen(json), &s, &err) == 0, "%d:%d: %s", err.line,
	      err.column, err.text);
	return s;
}

static int in_order(const char *const *words)
{
	const char *at = strstr(text, "Where the slots went");

	for (; at && *words; words++)
		at = strstr(at, *words);
	return at != NULL;
}

static const struct shares work = {"work", 5e6, 100, 600, 500, 300, 4, 0};

static void metrics_above_their_threshold_are_first(void)
{
	static const char *const order[] = {
		"\nwork\n",    "* backend",    "60.0 %", "\u00b10.4",	 "  * memory", "50.0 %",
		"waiting for", "    retiring", "30.0 %", "    frontend", NULL};
	struct tach_snapshot *s = saved(METRICS, &work, 1);

	write_as(s, TACH_FORMAT_TEXT, 0);
	CHECK(in_order(order), "%s", text);
	CHECK(strstr(text,
		     "\nWhat to look at next: in work, backend (60.0 %), and in it memory "
		     "(50.0 %): waiting for loads.\n") &&
		      text[used - 1] == '\n' && strrchr(text, '\n') == text + used - 1,
	      "%s", text);
	/* The sentence is at the end of the report. */
	CHECK(strchr(strstr(text, "What to look at next"), '\n') == text + used - 1);
	/* A metric without a level is a column of the table, not a part of a tree. */
	CHECK(!strstr(strstr(text, "Where the slots went"), "plain"));
	tach_snapshot_free(s);
}

static void the_heaviest_region_decides(void)
{
	/* The last region contains all others. */
	const struct shares all[] = {{"small", 1e3, 900, 50, 10, 50, 0, 0},
				     work,
				     {"outer", 6e6, 900, 50, 10, 50, 0, 1e6}};
	struct tach_snapshot *s = saved(METRICS, all, 3);

	write_as(s, TACH_FORMAT_TEXT, 0);
	CHECK(strstr(text, "next: in work,") && strstr(text, "\nsmall\n"), "%s", text);
	tach_snapshot_free(s);
}

static void thresholds_decide(void)
{
	/* A front end share of 0.3 is above the default threshold, but below its own. */
	const struct shares even = {"even", 1e6, 300, 200, 190, 500, 0, 0};
	struct tach_snapshot *s = saved(METRICS, &even, 1);

	write_as(s, TACH_FORMAT_TEXT, 0);
	CHECK(strstr(text, "in even, nothing stands out") && !strstr(text, "  * "), "%s", text);
	tach_snapshot_free(s);
}

/* A share that is not above its error causes no advice. */
static void errors_decide(void)
{
	const struct shares unsure = {"unsure", 1e6, 100, 600, 500, 300, 700, 0};
	struct tach_snapshot *s = saved(METRICS, &unsure, 1), *whole = NULL;
	const struct tach_snapshot *list[] = {s};

	CHECK(tach_snapshot_merge(list, 1, &whole, NULL) == 0);
	tach_snapshot_free(s);
	write_as(whole, TACH_FORMAT_TEXT, 0);
	CHECK(strstr(text, "\u00b170.0") && strstr(text, "in unsure, nothing stands out"), "%s",
	      text);
	tach_snapshot_free(whole);
}

static void saved_again_and_merged(void)
{
	struct tach_snapshot *s = saved(METRICS, &work, 1), *again = NULL, *both = NULL;
	const struct tach_snapshot *list[2];
	static char first[sizeof text];

	write_as(s, TACH_FORMAT_TEXT, 0);
	strcpy(first, text);
	write_as(s, TACH_FORMAT_JSON, 0);
	CHECK(tach_snapshot_load(text, used, &again, NULL) == 0);
	write_as(again, TACH_FORMAT_TEXT, 0);
	CHECK(strcmp(first, text) == 0, "%s", text);
	list[0] = s;
	list[1] = again;
	CHECK(tach_snapshot_merge(list, 2, &both, NULL) == 0);
	tach_snapshot_free(s);
	tach_snapshot_free(again);
	write_as(both, TACH_FORMAT_TEXT, 0);
	CHECK(strstr(text, "backend (60.0 %), and in it memory (50.0 %)"), "%s", text);
	tach_snapshot_free(both);
}

/*
 * Metrics that are their own parents, invalid formulas, names with any bytes, too many levels.
 */
static void hostile_reports(void)
{
	static const char hostile[] =
		"{\"name\":\"retiring\",\"level\":2,\"parent\":\"memory\"},"
		"{\"name\":\"memory\",\"level\":2,\"parent\":\"retiring\",\"threshold\":\"((\"}"
		","
		"{\"name\":\"frontend\",\"level\":1e18,\"parent\":\"frontend\",\"scale\":-"
		"1e308,"
		"\"unit\":\"%s%n\",\"threshold\":\"N7 > N9\"},"
		"{\"name\":\"backend\",\"level\":1,\"scale\":1e308,\"unit\":\"percent\","
		"\"description\":\"%s%n\\u202e\\u001b[31m\\n# next\"},"
		"{\"name\":\"plain\",\"level\":3,\"parent\":\"\\u00e9\",\"threshold\":\"plain "
		"> "
		"time & elapsed_ns\"}";
	const struct shares odd = {"\\u001b[2J%s\\nWhat to look at next: \\u00e9\\u202e",
				   1e6,
				   900,
				   500,
				   300,
				   100,
				   0,
				   0};
	struct tach_snapshot *s = saved(hostile, &odd, 1);
	int lines = 0;

	for (int ascii = 0; ascii < 2; ascii++) {
		write_as(s, TACH_FORMAT_TEXT, ascii);
		CHECK(!strchr(text, '\033') && !strstr(text, "\u202e"), "%s", text);
		for (size_t i = 0; ascii && i < used; i++)
			CHECK((unsigned char)text[i] < 0x80, "byte %zu", i);
	}
	for (const char *at = text; (at = strstr(at, "\nWhat to look at next: ")); at++)
		lines++;
	CHECK(lines == 1, "%d sentences", lines);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {" retiring ", " memory ", " frontend ",
						    " backend "};
		const char *at = strstr(strstr(text, "Where the slots went"), names[i]);

		CHECK(at, "%s is not shown: %s", names[i], text);
	}
	tach_snapshot_free(s);
}

static int count_of(const char *piece)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, piece)); at++)
		n++;
	return n;
}

/*
 * The HTML page has the same order, thresholds, errors and sentence, and no text that closes
 * its tags.
 */
static void pages_have_trees(void)
{
	static const char *const order[] = {
		"next: in work, backend (60.0 %), and in it memory (50.0 %): waiting",
		"<h3>work</h3>",
		"<li class=\"above\"><p><span class=\"m\">backend</span>",
		"style=\"width:60.0%\"",
		"<b>60.0 %</b> <small>\u00b10.4</small>",
		"<ul>",
		"<li class=\"above\"><p><span class=\"m\">memory</span>",
		"<span class=\"d\">waiting for loads</span>",
		"</ul></li>",
		"<li><p><span class=\"m\">retiring</span>",
		"<li><p><span class=\"m\">frontend</span>",
		"</ul></section>",
		NULL};
	const struct shares hostile = {"<script>\\\"&", 1e6, 900, 50, 10, 50, 0, 0};
	const struct shares all[] = {work, hostile};
	struct tach_snapshot *s = saved(METRICS, all, 2);

	write_as(s, TACH_FORMAT_HTML, 0);
	CHECK(in_order(order), "%.6000s", strstr(text, "Where the slots went"));
	CHECK(strstr(text, "<h3>&lt;script&gt;&quot;&amp;</h3>"));
	CHECK(count_of("<ul>") == count_of("</ul>") && count_of("<li") == count_of("</li>"));
	CHECK(count_of("class=\"card tree\"") == 2);
	/* A page without a tree does not mention one. */
	tach_snapshot_free(s);
	s = saved("{\"name\":\"plain\",\"formula\":\"N1 + N2\"}", &work, 1);
	write_as(s, TACH_FORMAT_HTML, 0);
	CHECK(!strstr(text, "Where the slots went"));
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(metrics_above_their_threshold_are_first);
	CASE(the_heaviest_region_decides);
	CASE(thresholds_decide);
	CASE(errors_decide);
	CASE(saved_again_and_merged);
	CASE(hostile_reports);
	CASE(pages_have_trees);
	return check_done();
}

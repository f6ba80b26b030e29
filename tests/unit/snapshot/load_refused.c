/* SPDX-License-Identifier: MIT */
/* Texts that are not reports, or exceed limits: the position and the reason. */
#include <string.h>
#include <tach.h>
#include "core/snapshot/load.c"
#include "tests/unit/snapshot/loaded.h"

/* The changed text is refused at this place, for this reason. */
static void refused(const char *from, const char *to, int line, const char *why)
{
	struct tach_snapshot *s = load(with(from, to));

	CHECK(!s && err.code == TACH_ERR_SYNTAX && err.line == line &&
		      strcmp(err.text, why) == 0,
	      "%s: %d at %d:%d: %s", to, err.code, err.line, err.column, err.text);
	tach_snapshot_free(s);
}

/* Each required member and its type; the first fault is reported. */
static void wrong_member_is_reported(void)
{
	static const struct {
		const char *member, *as; /* its replacement */
		int line, missing; /* line of the member; line of the object if the member is
				      missing */
	} cases[] = {
		{"note\":\"missing\"", "string", 4, 2},
		{"clock\":{\"hz\":1000,\"estimate\":true}", "object", 7, 2},
		{"hz\":1000", "number", 7, 7},
		{"threads\":1", "number", 8, 2},
		{"refused\":2", "number", 9, 2},
		{"lost\":30", "number", 10, 2},
		{"stale\":4", "number", 11, 2},
		{"unopened\":5", "number", 12, 2},
		{"quantities\":[{\"name\":\"time\"},{\"name\":\"x\"}]", "array", 14, 2},
		{"name\":\"time\"", "string", 14, 14},
		{"name\":\"m\"", "string", 15, 15},
		{"name\":\"r\"", "string", 17, 17},
		{"file\":\"f\"", "string", 17, 17},
		{"function\":\"g\"", "string", 17, 17},
		{"line\":11", "number", 17, 17},
		{"entries\":12", "number", 17, 17},
		{"calls\":13", "number", 17, 17},
		{"outermost\":14", "number", 17, 17},
		{"skipped\":15", "number", 17, 17},
		{"excluded\":16", "number", 17, 17},
		{"nested\":18", "number", 18, 17},
		{"threads\":19", "number", 18, 17},
		{"overhead\":21", "number", 21, 21},
		{"error\":31", "number", 21, 21},
		{"flags\":[\"lost\",\"scaled\"]", "array", 21, 21},
		{"at\":1.5", "number", 31, 31},
		{"tag\":\"0x1f\"", "string", 31, 31},
		{"thread\":77", "number", 31, 31},
		{"thread_name\":\"w\"", "string", 31, 31},
		{"parent\":\"q\"", "string", 31, 31},
		{"values\":{\"time\":9,\"x\":null}", "object", 31, 31},
		{"time\":9", "number", 31, 31},
	};
	char to[64], why[100];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int length = (int)strcspn(cases[i].member, "\"");

		snprintf(to, sizeof to, "%.*s\":true", length, cases[i].member);
		snprintf(why, sizeof why, "'%.*s' is not a%s %s", length, cases[i].member,
			 strchr("ao", *cases[i].as) ? "n" : "", cases[i].as);
		refused(cases[i].member, to, cases[i].line, why);
		snprintf(to, sizeof to, "another\":true");
		snprintf(why, sizeof why, "not a report of tach: '%.*s' is missing", length,
			 cases[i].member);
		refused(cases[i].member, to, cases[i].missing, why);
	}
	refused("\"threads\":1,", "\"threads\":18446744073709551616,", 8,
		"'threads' is not a count");
	refused("\"threads\":1,", "\"threads\":-1,", 8, "'threads' is not a count");
	refused("\"tach\"", "\"tock\"", 2, "not a report of tach: 'tach' is missing");
	refused("\"regions\"", "\"region\"", 2, "not a report of tach: 'regions' is missing");
	refused("\"self\"", "\"shelf\"", 17, "not a report of tach: 'self' is missing");
	refused("\"x\":{\"value\":6", "\"y\":{\"value\":6", 25,
		"not a report of tach: 'x' is missing");
	refused("\"n\":{\"value\":8", "\"y\":{\"value\":8", 25,
		"not a report of tach: 'n' is missing");
	refused("\"threads\":1,\n\"refused\":2,", "\"threads\":-1,\n\"refused\":-1,", 8,
		"'threads' is not a count");
	CHECK(err.column == 11, "%d", err.column);
}

/* A repeated quantity name is refused: its values and histograms would be ambiguous. */
static void names_twice(void)
{
	static const char says[] = "two quantities, or two metrics, of the report are called ";
	char why[100];

	snprintf(why, sizeof why, "%s'x'", says);
	refused("{\"name\":\"x\"}]", "{\"name\":\"x\"},{\"name\":\"x\"}]", 0, why);
	snprintf(why, sizeof why, "%s'm'", says);
	refused("{\"name\":\"n\"}]", "{\"name\":\"m\"}]", 0, why);
}

static void buckets(void)
{
	static const char *const bad[] = {
		"[1,2]",       "[1,2,3,4]",   "[]",	     "{\"a\":1,\"b\":2,\"c\":3}",
		"[\"1\",2,3]", "[1,\"2\",3]", "[1,2,\"3\"]", "[-1,2,3]",
		"[3,2,1]",     "[1,1e100,3]", "[1,2,-1]",    "[1,2,18446744073709551616]",
	};
	struct tach_snapshot *s;
	char to[64];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(to, sizeof to, "[0,0,0],\n%s", bad[i]);
		refused("[0,0,0],[1,2,3]", to, 31, "a bucket is [low, high, count]");
		CHECK(err.column == 1, "%d", err.column);
	}
	s = taken("[1,2,3]", "[2,9e99,18446744073709549568]");
	CHECK(s && s->plain.region->histogram[1].at[1].high == 9e99 &&
	      s->plain.region->histogram[1].at[1].count == 18446744073709549568u);
	tach_snapshot_free(s);
}

/* Almost a million buckets, more than any library writes. */
static void most_buckets(void)
{
	enum { MOST = 1 << 20 };
	static struct tach__json all[MOST];
	struct tach__json count = {.type = TACH__JSON_NUMBER, .number = 3};
	struct tach__json high = count, low = count, from = {.kid = all};

	high.next = &count;
	low.next = &high;
	for (int i = 0; i < MOST; i++)
		all[i] = (struct tach__json){.type = TACH__JSON_ARRAY,
					     .kid = &low,
					     .next = i + 1 < MOST ? &all[i + 1] : NULL};
	for (int more = 0; more < 2; more++) {
		struct tach__plain plain = {.nquantities = 1};
		struct tach__plain_buckets to = {0};
		struct load l = {.plain = &plain, .err = &err};

		from.kid = &all[1 - more];
		load_histogram(&l, &from, &to);
		CHECK(l.code == (more ? TACH_ERR_NOMEM : 0) &&
			      to.count == (more ? 0 : MOST - 1),
		      "%d: %d, %d", more, l.code, to.count);
		CHECK(!more || (err.code == TACH_ERR_NOMEM && !err.line && !err.column));
		tach__arena_free(&plain.arena);
	}
}

static const char *of_names(int quantities, int metrics)
{
	char *at = text_of;

	at += sprintf(at, "{\"tach\":1,\"note\":\"\",\"clock\":{\"hz\":1},\"threads\":0,"
			  "\"refused\":0,\"lost\":0,\"stale\":0,\"unopened\":0,"
			  "\"regions\":[],\n\"quantities\":[");
	for (int i = 0; i < quantities; i++)
		at += sprintf(at, "%s{\"name\":\"%d\"}", i ? "," : "", i);
	at += sprintf(at, "],\n\"metrics\":[");
	for (int i = 0; i < metrics; i++)
		at += sprintf(at, "%s{\"name\":\"%d\"}", i ? "," : "", i);
	sprintf(at, "]}");
	return text_of;
}

static void limits(void)
{
	static const struct {
		int quantities, metrics, line;
		const char *why;
	} cases[] = {
		{0, 0, 2, "no quantity, or more than 193 of them"},
		{1, 0, 0, ""},
		{193, 1024, 0, ""},
		{194, 0, 2, "no quantity, or more than 193 of them"},
		{1, 1025, 3, "more than 1024 metrics"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_snapshot *s = load(of_names(cases[i].quantities, cases[i].metrics));

		CHECK((s == NULL) == (cases[i].line > 0) && err.line == cases[i].line &&
			      strcmp(err.text, cases[i].why) == 0,
		      "%d: %d:%d: %s", (int)i, err.line, err.column, err.text);
		CHECK(!s || (s->plain.nquantities == cases[i].quantities &&
			     s->plain.nmetrics == cases[i].metrics));
		tach_snapshot_free(s);
	}
}

static void of_another_kind(void)
{
	const char *volatile none = NULL;
	struct tach_snapshot *s, **volatile nowhere = NULL;

	CHECK(!load(with("\"tach\":1", "\"tach\":2")) && err.code == TACH_ERR_NOTSUPP &&
		      err.line == 2 && err.column == 2 &&
		      strcmp(err.text, "a report of schema version 2; this library reads "
				       "version 1") == 0,
	      "%d:%d: %s", err.line, err.column, err.text);
	/* A report of another version is not read further. */
	CHECK(!load("{\"tach\":0.5}") && err.code == TACH_ERR_NOTSUPP);
	CHECK(!load("{\"tach\":1,") && err.code == TACH_ERR_SYNTAX && err.line == 1);
	/* A metric has an operand that does not exist; the first quantity is the time. */
	CHECK(!load(with("2 * N0", "2 * N1")) && err.code != 0, "%d", err.code);
	CHECK(tach_snapshot_load(none, 0, &s, &err) == TACH_ERR_INVAL && err.line == 0 &&
	      err.column == 0);
	CHECK(tach_snapshot_load(whole, sizeof whole - 1, nowhere, &err) == TACH_ERR_INVAL);
}

int main(void)
{
	CASE(wrong_member_is_reported);
	CASE(names_twice);
	CASE(buckets);
	CASE(most_buckets);
	CASE(limits);
	CASE(of_another_kind);
	return check_done();
}

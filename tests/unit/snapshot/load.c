/* SPDX-License-Identifier: MIT */
/* A report is read back: each of its numbers and words, also at their bounds. */
#include <math.h>
#include "tests/unit/snapshot/loaded.h"

static void counts(void)
{
	struct tach_snapshot *s = load(whole);

	CHECK(s->threads == 1 && s->refused == 2 && s->lost == 30 && s->stale == 4 &&
	      s->unopened == 5 && s->reports == 6 && s->rank == 4);
	CHECK(s->clock_hz == 1000 && s->clock_flags == TACH_FLAG_CLOCK &&
	      strcmp(s->note, "missing") == 0 && s->plain.worst == 2);
	tach_snapshot_free(s);
	s = taken("\"rank\":3,\n\"reports\":6,\n", "");
	CHECK(s && s->rank == 0 && s->reports == 1);
	tach_snapshot_free(s);
	s = taken("true}", "false}");
	CHECK(s && s->clock_flags == 0);
	tach_snapshot_free(s);
	s = taken(",\"estimate\":true", "");
	CHECK(s && s->clock_flags == 0);
	tach_snapshot_free(s);
}

static void names_of_metrics(void)
{
	struct tach_snapshot *s = load(whole);
	const struct tach__plain_metric *m = s->plain.metric;

	CHECK(s->plain.nquantities == 2 && strcmp(s->plain.quantity[0], "time") == 0 &&
	      strcmp(s->plain.quantity[1], "x") == 0 && s->plain.nmetrics == 2);
	CHECK(strcmp(m[0].name, "m") == 0 && strcmp(m[0].text, "2 * N0") == 0 && m[0].formula);
	CHECK(m[0].node.level == 2 && m[0].node.scale == 100 &&
	      strcmp(m[0].node.unit, "u") == 0 && strcmp(m[0].node.parent, "p") == 0 &&
	      strcmp(m[0].node.threshold, "t") == 0 && strcmp(m[0].node.description, "d") == 0);
	CHECK(strcmp(m[1].name, "n") == 0 && !m[1].text && !m[1].formula && !m[1].node.level &&
	      m[1].node.scale == 0 && !m[1].node.unit && !m[1].node.description);
	tach_snapshot_free(s);
}

static void of_a_region(void)
{
	struct tach_snapshot *s = load(whole);
	const struct tach__plain_region *r = s->plain.region;
	const struct tach_region_info *i = &r->info;

	CHECK(s->plain.nregions == 1 && r->rank == 6);
	CHECK(strcmp(i->name, "r") == 0 && strcmp(i->file, "f") == 0 &&
	      strcmp(i->function, "g") == 0 && strcmp(i->of, "o") == 0 &&
	      strcmp(i->task, "k") == 0 && strcmp(i->tag, "a") == 0 &&
	      strcmp(i->thread, "h") == 0 && i->fenced);
	CHECK(i->line == 11 && i->entries == 12 && i->calls == 13 && i->outermost == 14 &&
	      i->skipped == 15 && i->excluded == 16 && i->lost == 17 && i->nested == 18 &&
	      i->threads == 19);
	for (uint64_t p = 0; p < 6; p++)
		CHECK(i->provenance[p] == 21 + p, "%d", (int)p);
	for (int part = 0; part < 2; part++)
		for (int q = 0; q < 4; q++) {
			const struct tach_value *v = &r->value[part][q];
			double n = 1 + q + 4 * part;

			CHECK(v->value == n && v->raw == 10 + n && v->overhead == 20 + n &&
				      v->error == 30 + n && v->share == 0,
			      "%d %d: %g", part, q, v->value);
		}
	CHECK(r->value[0][0].flags == (TACH_FLAG_LOST | TACH_FLAG_SCALED) &&
	      r->value[0][1].flags == 0 && r->value[0][2].flags == TACH_FLAG_SHARED &&
	      r->value[1][1].flags == TACH_FLAG_SMALL);
	CHECK(r->histogram[0].count == 0 && r->histogram[1].count == 2 &&
	      r->histogram[1].at[0].high == 0 && r->histogram[1].at[1].low == 1 &&
	      r->histogram[1].at[1].high == 2 && r->histogram[1].at[1].count == 3);
	tach_snapshot_free(s);
}

static void worst(void)
{
	struct tach_snapshot *s = load(whole);
	const struct tach__plain_region *r = s->plain.region;
	const struct tach__plain_worst *w = r->worst;

	CHECK(r->nworst == 2 && w[0].info.size == sizeof w->info && w[0].info.at == 1.5 &&
	      w[0].info.tag == 31 && w[0].info.thread == 77);
	CHECK(strcmp(w[0].info.thread_name, "w") == 0 && strcmp(w[0].info.parent, "q") == 0 &&
	      w[0].info.flags == (TACH_FLAG_LOST | TACH_FLAG_MIXED) && w[0].value[0] == 9 &&
	      isnan(w[0].value[1]) && w[0].begun == 0);
	CHECK(w[1].info.at == 2.5 && w[1].info.tag == 10 && w[1].info.thread == 5 &&
	      w[1].info.flags == 0 && w[1].value[0] == 8 && w[1].value[1] == 7);
	tach_snapshot_free(s);
	/* worst_by is absent, or names an unknown quantity. */
	s = taken("\"worst_by\":\"x\",\n", "");
	CHECK(s && s->plain.worst == 0 && s->plain.region->nworst == 0);
	tach_snapshot_free(s);
	s = taken("\"worst_by\":\"x\"", "\"worst_by\":\"time\"");
	CHECK(s && s->plain.worst == 1 && s->plain.region->nworst == 2);
	tach_snapshot_free(s);
	s = taken("\"worst_by\":\"x\"", "\"worst_by\":\"m\"");
	CHECK(s && s->plain.worst == 0 && s->plain.region->nworst == 0);
	tach_snapshot_free(s);
	s = taken(WORST, "\"worst\":[]");
	CHECK(s && s->plain.worst == 2 && s->plain.region->nworst == 0 &&
	      !s->plain.region->worst);
	tach_snapshot_free(s);
}

/*
 * Fields that older versions did not write, and fields that are written only if there is a
 * value.
 */
static void missing_fields_are_empty(void)
{
	struct tach_snapshot *s = taken("\"of\":\"o\",\"task\":\"k\",\"tag\":\"a\","
					"\"thread\":\"h\",\"fenced\":true,",
					"\"fenced\":false,");
	const struct tach_region_info *i = &s->plain.region->info;

	CHECK(strcmp(i->of, "r") == 0 && !*i->task && !*i->tag && !*i->thread && !i->fenced);
	tach_snapshot_free(s);
	s = taken("\"fenced\":true,", "");
	CHECK(s && !s->plain.region->info.fenced);
	tach_snapshot_free(s);
	s = taken("\"lost\":17,\"nested\"", "\"nested\"");
	CHECK(s && s->plain.region->info.lost == 0);
	tach_snapshot_free(s);
	s = taken("\"rank\":5,", "");
	CHECK(s && s->plain.region->rank == 0);
	tach_snapshot_free(s);
	s = taken("\"mixed\":25,", "");
	CHECK(s && s->plain.region->info.provenance[4] == 0 &&
	      s->plain.region->info.provenance[5] == 26);
	tach_snapshot_free(s);
	/* Six flags are counted; a seventh is ignored. */
	s = taken("\"mixed\":25,", "\"clock-estimate\":25,");
	CHECK(s && s->plain.region->info.threads == 19 &&
	      s->plain.region->info.provenance[5] == 26);
	tach_snapshot_free(s);
	s = taken(HISTOGRAMS, "");
	CHECK(s && s->plain.region->histogram[1].count == 0 && s->plain.region->nworst == 2);
	tach_snapshot_free(s);
	s = taken(",\n" WORST, "");
	tach_snapshot_free(s);
	s = taken("\"value\":2,\"raw\":12", "\"value\":null,\"raw\":null");
	CHECK(s && isnan(s->plain.region->value[0][1].value) &&
	      isnan(s->plain.region->value[0][1].raw));
	tach_snapshot_free(s);
}

static void every_region_gets_its_own_data(void)
{
	struct tach_snapshot *s = taken(WORST, WORST "},\n" COUNTS VALUES HISTOGRAMS WORST);

	CHECK(s->plain.nregions == 2);
	for (int r = 0; r < s->plain.nregions; r++)
		CHECK(strcmp(s->plain.region[r].info.name, "r") == 0 &&
		      s->plain.region[r].info.calls == 13 &&
		      s->plain.region[r].value[1][3].value == 8 &&
		      s->plain.region[r].nworst == 2);
	tach_snapshot_free(s);
}

/* Numbers at their limits: the written text, and the loaded value. */
static void bounds(void)
{
	static const struct {
		const char *rank;
		int is;
	} ranks[] = {{"0", 1}, {"1073741823", 1 << 30}, {"1073741824", 1}, {"1073741825", 2}};
	static const struct {
		const char *share;
		uint32_t is;
	} shares[] = {{"0", 0},		{"0.25", 250000}, {"-3", 0},	 {"2", 1000000},
		      {"0.0000006", 1}, {"0.0000004", 0}, {"1", 1000000}};
	static const struct {
		const char *level;
		int is;
	} levels[] = {{"0", 0}, {"63", 63}, {"64", 64}, {"65", 64}, {"1e15", 64}};
	struct tach_snapshot *s;
	char to[1200];

	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		snprintf(to, sizeof to, "\"rank\":%s,", ranks[i].rank);
		s = taken("\"rank\":3,", to);
		CHECK(s && s->rank == ranks[i].is, "%s: %d", to, s ? s->rank : -1);
		tach_snapshot_free(s);
		s = taken("\"rank\":5,", to);
		CHECK(s && s->plain.region->rank == ranks[i].is, "%s", to);
		tach_snapshot_free(s);
	}
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		snprintf(to, sizeof to, "\"error\":31,\"share\":%s,", shares[i].share);
		s = taken("\"error\":31,", to);
		CHECK(s && s->plain.region->value[0][0].share == shares[i].is, "%s", to);
		tach_snapshot_free(s);
	}
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		snprintf(to, sizeof to, "\"level\":%s", levels[i].level);
		s = taken("\"level\":2", to);
		CHECK(s && s->plain.metric[0].node.level == levels[i].is, "%s", to);
		tach_snapshot_free(s);
	}
	s = taken("\"threads\":1,", "\"threads\":0,");
	CHECK(s && s->threads == 0);
	tach_snapshot_free(s);
	s = taken("\"threads\":1,", "\"threads\":18446744073709549568,");
	CHECK(s && s->threads == 18446744073709549568u);
	tach_snapshot_free(s);
	/* A note has a maximum length. */
	snprintf(to, sizeof to, "\"note\":\"%01100d\"", 0);
	s = taken("\"note\":\"missing\"", to);
	CHECK(s && strlen(s->note) == sizeof s->note - 1);
	tach_snapshot_free(s);
}

int main(void)
{
	CASE(counts);
	CASE(names_of_metrics);
	CASE(of_a_region);
	CASE(worst);
	CASE(every_region_gets_its_own_data);
	CASE(missing_fields_are_empty);
	CASE(bounds);
	return check_done();
}

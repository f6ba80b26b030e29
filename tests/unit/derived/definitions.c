/* SPDX-License-Identifier: MIT */
/* Definitions in a registry: every field of a record, for any number of CPUs. */
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "tests/check.h"

static char said[1000];

static void report(void *context, const struct tach_diagnostic *d)
{
	(void)context;
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s;", d->text);
}

static struct tach_derived *registry(void)
{
	struct tach_derived_options opt = {
		.size = sizeof opt, .flags = TACH_DERIVED_PRESETS, .report = report};
	struct tach_derived *d = NULL;

	said[0] = '\0';
	CHECK(tach_derived_create(&opt, &d, NULL) == 0);
	return d;
}

static int load(struct tach_derived *d, const char *text)
{
	return tach_derived_load_text(d, "a file", text, strlen(text), NULL);
}

/* Makes each field long in turn: the allocator detects writes after its end. */
static void every_field(void)
{
	enum { FIELDS = 10, MUCH = 240 };
	struct tach_derived *d = registry();

	for (int i = 0; i < FIELDS; i++) {
		struct tach_derived_info info = {.size = sizeof info};
		char field[FIELDS][MUCH + 20], text[4000], name[MUCH + 40];

		for (int k = 0; k < FIELDS; k++)
			snprintf(field[k], sizeof field[k], "%c%0*d", 'a' + k,
				 k == i ? MUCH : 1, k);
		snprintf(name, sizeof name, "%s_%d", field[0], i);
		snprintf(text, sizeof text,
			 "PRESET,%s,DERIVED_INFIX,N0 + N1 + "
			 "%*d,%s,%s,LDESC,%s,SDESC,%s,NOTE,%s,"
			 "UNIT,%s,THRESHOLD,%s > 1,PARENT,%s,GROUP,%s,SCALE,3,LEVEL,4\n",
			 name, i == 1 ? MUCH : 1, 1, field[1], field[2], field[3], field[4],
			 field[5], field[6], field[7], field[8], field[9]);
		said[0] = '\0';
		CHECK(load(d, text) == 1 && !*said, "%s", said);
		CHECK(tach_derived_find(d, -1, name, &info) == 0, "%s", name);
		if (!info.name)
			continue;
		CHECK(info.preset == 1 && strcmp(info.name, name) == 0 &&
		      info.type == TACH_DERIVED_TYPE_INFIX &&
		      strcmp(info.type_name, "DERIVED_INFIX") == 0 && info.nevents == 2);
		CHECK(strncmp(info.formula, "N0 + N1 + ", 10) == 0 &&
		      strcmp(info.events, field[1]) == 0 &&
		      strcmp(info.events + strlen(field[1]) + 1, field[2]) == 0);
		CHECK(strcmp(info.long_description, field[3]) == 0 &&
		      strcmp(info.short_description, field[4]) == 0 &&
		      strcmp(info.note, field[5]) == 0 && strcmp(info.unit, field[6]) == 0);
		CHECK(strncmp(info.threshold, field[7], strlen(field[7])) == 0 &&
		      strcmp(info.parent, field[8]) == 0 && strcmp(info.groups, field[9]) == 0);
		CHECK(strcmp(info.file, "a file") == 0 && info.line == 1 && info.level == 4 &&
		      info.scale == 3);
	}
	tach_derived_free(d);
}

/* A list has more names than there are PMUs: as many as fit are used. */
static void many_cpus(void)
{
	struct tach_derived *d = registry();
	struct tach_derived_info info = {.size = sizeof info};
	char *text = calloc(700, 16), *to = text;

	for (int i = 0; i < 600; i++)
		to += sprintf(to, "CPU,skl\n");
	strcpy(to, "EVENT,mine,NOT_DERIVED,x\n");
	CHECK(load(d, text) == 1);
	CHECK(tach_derived_find(d, tach_pmu_find("skl"), "mine", &info) == 0 &&
	      info.line == 601 && info.preset == 0);
	tach_derived_free(d);
	free(text);
}

/* The first and the last of the library's own definitions, found by name. */
static void presets_are_replaced(void)
{
	struct tach_derived *d = registry();
	int skl = tach_pmu_find("skl"), n = tach_derived_count(d, skl);
	struct tach_derived_info info = {.size = sizeof info};

	for (int i = 0; i < n; i += n - 1) {
		char text[300], want[300];

		CHECK(tach_derived_at(d, skl, i, &info) == 0);
		snprintf(text, sizeof text, "CPU,skl\nEVENT,%.200s,NOT_DERIVED,x\n", info.name);
		snprintf(want, sizeof want, "replaces the library's own %.200s;", info.name);
		said[0] = '\0';
		CHECK(load(d, text) == 1 && strcmp(said, want) == 0, "%s, want %s", said, want);
		CHECK(tach_derived_count(d, skl) == n);
	}
	tach_derived_free(d);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	CASE(every_field);
	CASE(many_cpus);
	CASE(presets_are_replaced);
	return check_done();
}

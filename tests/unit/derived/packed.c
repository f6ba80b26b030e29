/* SPDX-License-Identifier: MIT */
/*
 * Presets are packed when the library is built. Unpacked, they equal the files, record by
 * record, also in several threads at once; and they stay small.
 */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "core/derived/packed.h"
#include "core/derived/parse.h"
#include "tests/check.h"

static struct tach_derived *presets;

enum { THREADS = 4, SMALL = 130000 };

struct reading {
	int pmu, records, wrong;
};

static void cpu(void *context, const struct tach__span *name, int line, bool first)
{
	struct reading *r = context;
	char text[64];

	(void)line;
	snprintf(text, sizeof text, "%.*s", (int)name->length, name->at);
	if (first)
		r->pmu = tach_pmu_find(text);
}

static int says(const char *packed, const struct tach__span *s)
{
	return strlen(packed) == s->length &&
	       (!s->length || memcmp(packed, s->at, s->length) == 0);
}

static int same(const struct tach_derived_info *info, const struct tach__record *r)
{
	const char *event = info->events;
	int same = info->nevents == r->nevents;

	for (int i = 0; i < r->nevents && same; i++, event += strlen(event) + 1)
		same = says(event, &r->event[i]);
	return same && says(info->name, &r->name) && info->preset == r->preset &&
	       info->type == r->type &&
	       strcmp(info->type_name, tach__derived_type_name(r->type)) == 0 &&
	       says(info->formula, &r->formula) && says(info->note, &r->note) &&
	       says(info->threshold, &r->threshold) && says(info->groups, &r->groups) &&
	       says(info->unit, &r->unit) && says(info->parent, &r->parent) &&
	       info->line == r->line && info->level == r->level && info->scale == r->scale &&
	       (!r->short_description.length ||
		says(info->short_description, &r->short_description)) &&
	       *info->short_description && !*info->long_description;
}

static void record(void *context, const struct tach__record *r)
{
	struct reading *reading = context;
	struct tach_derived_info info = {.size = sizeof info};
	char name[TACH__D_NAME_MAX + 1];

	snprintf(name, sizeof name, "%.*s", (int)r->name.length, r->name.at);
	reading->records++;
	reading->wrong +=
		tach_derived_find(presets, reading->pmu, name, &info) || !same(&info, r);
}

static void report(void *context, enum tach_diagnostic_level level, int line, int column,
		   const char *text)
{
	(void)level, (void)line, (void)column, (void)text;
	((struct reading *)context)->wrong++;
}

static void read_file(const char *path, struct reading *r)
{
	const struct tach__derived_sink sink = {r, cpu, record, report, NULL};
	FILE *in = fopen(path, "r");
	size_t size = 1 << 20, n;
	char *text = malloc(size);

	CHECK(in && text, "%s", path);
	n = in && text ? fread(text, 1, size, in) : size;
	CHECK(n < size, "%s: %zu", path, n);
	if (n < size)
		tach__derived_parse(text, n, &sink);
	if (in)
		fclose(in);
	free(text);
}

static void *read_all(void *reading)
{
	glob_t files = {.gl_pathc = 0};

	if (glob("arch/*/presets/*.derived", 0, NULL, &files) == 0)
		for (size_t i = 0; i < files.gl_pathc; i++)
			read_file(files.gl_pathv[i], reading);
	globfree(&files);
	return NULL;
}

static void as_written(void)
{
	struct reading r[THREADS] = {{0}};
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, read_all, &r[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		CHECK(r[i].records > 3600 && r[i].wrong == 0, "%d of %d records", r[i].wrong,
		      r[i].records);
	}
}

static void packed_presets_are_small(void)
{
	printf("# %u bytes\n", tach__preset_packed_size);
	CHECK(tach__preset_packed_size < SMALL, "%u bytes", tach__preset_packed_size);
	CHECK(*tach__packed(0) == '\0', "the empty one");
}

int main(void)
{
	struct tach_derived_options opt = {.size = sizeof opt, .flags = TACH_DERIVED_PRESETS};

	if (tach_derived_create(&opt, &presets, NULL))
		return 1;
	CASE(as_written);
	CASE(packed_presets_are_small);
	tach_derived_free(presets);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * mkpresets -o OUT.c CPUNAMES.tsv PRESETS.tsv PMU... -- FILE.derived...: compiles the built-in
 * presets, their descriptions and the names of CPUs. A build-time program: on an error it
 * prints the place and exits. It is stricter than the library's loader: each PMU must exist,
 * and each name must be defined only once per PMU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/derived/parse.h"
#include "core/formula/formula.h"
#include "core/derived/packed.h"
#include "core/derived/presets.h"
#include "core/tables/search.h"
#include "tools/mkpresets/strings.h"

static void *grow(void *old, size_t count, size_t size)
{
	/* The capacity is a power of two, so the array is full when count is one. */
	void *p = count & (count - 1) ? old : realloc(old, (count ? 2 * count : 1) * size);

	if (!p) {
		fputs("mkpresets: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* ---- what was read ---- */

struct definition {
	uint32_t record;
	uint32_t pmu;
};

static struct tach__preset *records;
static struct tach__preset_metric metrics[1 << 13] = {{.scale = 1}};
static size_t nmetrics = 1;
static struct definition *definitions;
static size_t nrecords, ndefinitions;
static char **pmus;
static size_t npmus;
static uint32_t list[512], nlist; /* CPUs of the current CPU lines */
static struct {
	uint32_t name, description;
} * meanings;
static size_t nmeanings;
static struct tach__preset_cpu *cpus;
static size_t ncpus;
static struct strings names = {.size = 0}, texts = {.block = TACH__PACKED_BLOCK};
static const char *file;
static int errors;

static void complain(int line, int column, const char *text, const char *name, int length)
{
	fprintf(stderr, "%s:%d:%d: %s%.*s\n", file, line, column, text, length, name);
	errors++;
}

static void report(void *context, enum tach_diagnostic_level level, int line, int column,
		   const char *text)
{
	(void)context;
	(void)level; /* in the built-in files even a note is an error */
	complain(line, column, text, "", 0);
}

static void take_cpu(void *context, const struct tach__span *name, int line, bool first)
{
	(void)context;
	if (first)
		nlist = 0;
	for (uint32_t i = 0; i < npmus; i++)
		if (tach__span_is(name, pmus[i]) && nlist < sizeof list / sizeof *list) {
			list[nlist++] = i;
			return;
		}
	complain(line, name->column, "no such PMU: ", name->at, (int)name->length);
}

static uint32_t describe(uint32_t name, uint32_t parent, int line);

static uint32_t store_events(const struct tach__record *r)
{
	char all[TACH__D_EVENTS_MAX * (TACH__D_NAME_MAX + 1)];
	size_t n = 0;

	for (int i = 0; i < r->nevents; i++) {
		memcpy(all + n, r->event[i].at, r->event[i].length);
		n += r->event[i].length;
		all[n++] = 0;
	}
	return n ? pooled(&texts, all, n - 1) : 0;
}

/*
 * Returns the index of an equal row. Searches from the end, without a hash: recent rows are the
 * most likely.
 */
static uint16_t store_metric(const struct tach__record *r)
{
	struct tach__preset_metric m;
	size_t i = nmetrics;

	memset(&m, 0, sizeof m); /* compared as bytes */
	m.scale = r->scale;
	m.threshold = pooled_span(&texts, &r->threshold);
	m.groups = pooled_span(&texts, &r->groups);
	m.unit = (uint16_t)pooled_span(&names, &r->unit);
	m.parent = (uint16_t)pooled_span(&names, &r->parent);
	m.level = (uint8_t)r->level;
	while (i-- > 0)
		if (!memcmp(&metrics[i], &m, sizeof m))
			return (uint16_t)i;
	if (nmetrics == sizeof metrics / sizeof *metrics) {
		complain(r->line, 1, "too many different metrics", "", 0);
		return 0;
	}
	metrics[nmetrics] = m;
	return (uint16_t)nmetrics++;
}

static void take_record(void *context, const struct tach__record *r)
{
	struct tach__preset p = {.line = (uint16_t)r->line,
				 .type = (uint8_t)r->type,
				 .preset = r->preset,
				 .nevents = (uint8_t)r->nevents};

	(void)context;
	p.name = (uint16_t)pooled_span(&names, &r->name);
	p.formula = pooled_span(&texts, &r->formula);
	p.events = store_events(r);
	p.description = r->short_description.length
				? pooled_span(&texts, &r->short_description)
				: describe(p.name, pooled_span(&names, &r->parent), r->line);
	p.note = pooled_span(&texts, &r->note);
	p.file = (uint16_t)pooled(&names, file, strlen(file));
	if (r->long_description.length)
		complain(r->line, 1, "there is no room for a long description", "", 0);
	p.metric = store_metric(r);
	if (!nlist)
		complain(r->line, 1, "no CPU line before this record", "", 0);
	for (uint32_t i = 0; i < nlist; i++) {
		definitions = grow(definitions, ndefinitions, sizeof *definitions);
		definitions[ndefinitions++] = (struct definition){(uint32_t)nrecords, list[i]};
	}
	records = grow(records, nrecords, sizeof *records);
	records[nrecords++] = p;
}

static char *slurp(const char *path, size_t *size)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t length = 0, capacity = 0, n;

	if (!in) {
		perror(path);
		exit(1);
	}
	do {
		if (length == capacity) {
			capacity = capacity ? 2 * capacity : 65536;
			text = realloc(text, capacity + 1);
			if (!text)
				exit(1);
		}
		n = fread(text + length, 1, capacity - length, in);
		length += n;
	} while (n);
	fclose(in);
	text[length] = 0;
	*size = length;
	return text;
}

static void load_file(const char *path)
{
	static const struct tach__derived_sink sink = {NULL, take_cpu, take_record, report,
						       NULL};
	size_t length;
	char *text = slurp(path, &length);

	file = path;
	nlist = 0;
	tach__derived_parse(text, length, &sink);
	free(text);
}

/* NAME TAB DESCRIPTION */
static void load_descriptions(const char *path)
{
	size_t length;
	char *text = slurp(path, &length), *next = text, *line, *cell;

	file = path;
	for (int n = 1; (line = strsep(&next, "\n")); n++) {
		if (!*line || *line == '#')
			continue;
		cell = strsep(&line, "\t");
		if (!line) {
			complain(n, 1, "no description for ", cell, (int)strlen(cell));
			continue;
		}
		meanings = grow(meanings, nmeanings, sizeof *meanings);
		meanings[nmeanings].name = pooled(&names, cell, strlen(cell));
		meanings[nmeanings++].description = pooled(&texts, line, strlen(line));
	}
	free(text);
}

/* A name without a description is a part of its parent in a tree. */
static uint32_t describe(uint32_t name, uint32_t parent, int line)
{
	char text[TACH__D_NAME_MAX + 16];

	for (size_t i = 0; i < nmeanings; i++)
		if (meanings[i].name == name) /* equal strings have the same index */
			return meanings[i].description;
	if (parent) {
		int n = snprintf(text, sizeof text, "Part of %s", names.at + parent);

		return pooled(&texts, text, (size_t)n);
	}
	complain(line, 1, "arch/presets.tsv does not describe ", names.at + name,
		 (int)strlen(names.at + name));
	return 0;
}

/* NAME TAB PMU PMU... */
static void load_names(const char *path)
{
	size_t length;
	char *text = slurp(path, &length), *next = text, *line, *cell, *word;

	file = path;
	for (int n = 1; (line = strsep(&next, "\n")); n++) {
		if (!*line || *line == '#')
			continue;
		cell = strsep(&line, "\t");
		while ((word = strsep(&line, " "))) {
			uint32_t i = 0;

			while (i < npmus && strcmp(pmus[i], word) != 0)
				i++;
			if (i == npmus) {
				complain(n, 1, "no such PMU: ", word, (int)strlen(word));
				continue;
			}
			cpus = grow(cpus, ncpus, sizeof *cpus);
			cpus[ncpus].name = pooled(&names, cell, strlen(cell));
			cpus[ncpus++].pmu = pooled(&names, word, strlen(word));
		}
	}
	free(text);
}

/* ---- sorting and writing ---- */

static int compare_names(const char *a, const char *b)
{
	return tach__name_compare(a, strlen(a), b);
}

static int by_pmu_and_name(const void *a, const void *b)
{
	const struct definition *x = a, *y = b;
	int order = compare_names(pmus[x->pmu], pmus[y->pmu]);

	return order ? order
		     : compare_names(names.at + records[x->record].name,
				     names.at + records[y->record].name);
}

static void find_duplicates(void)
{
	for (size_t i = 1; i < ndefinitions; i++) {
		const struct tach__preset *r = &records[definitions[i].record];

		if (by_pmu_and_name(&definitions[i - 1], &definitions[i]))
			continue;
		file = names.at + r->file;
		complain(r->line, 1, "defined twice for one PMU: ", names.at + r->name,
			 (int)strlen(names.at + r->name));
	}
}

static void write_records(FILE *out)
{
	fputs("const struct tach__preset tach__preset_record[] = {\n", out);
	for (size_t i = 0; i < nrecords; i++) {
		const struct tach__preset *r = &records[i];

		fprintf(out, "\t{%u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u},\n", r->formula,
			r->events, r->description, r->note, r->name, r->file, r->line,
			r->metric, r->type, r->preset, r->nevents);
	}
	fputs("\t{0},\n};\n\nconst struct tach__preset_metric tach__preset_metrics[] = {\n",
	      out);
	for (size_t i = 0; i < nmetrics; i++)
		fprintf(out, "\t{%.17g, %u, %u, %u, %u, %u},\n", metrics[i].scale,
			metrics[i].threshold, metrics[i].groups, metrics[i].unit,
			metrics[i].parent, metrics[i].level);
	fputs("};\n\nconst uint16_t tach__preset_index[] = {\n", out);
	for (size_t i = 0; i < ndefinitions; i++)
		fprintf(out, "%u,%s", definitions[i].record, i % 16 == 15 ? "\n" : " ");
	fputs("0};\n\n", out);
}

static void write_pmus(FILE *out)
{
	size_t count = 0;

	fputs("const struct tach__preset_pmu tach__preset_pmus[] = {\n", out);
	for (size_t i = 0, first; i < ndefinitions; count++) {
		const char *name = pmus[definitions[i].pmu];

		for (first = i;
		     i < ndefinitions && definitions[i].pmu == definitions[first].pmu;)
			i++;
		fprintf(out, "\t{%u, %zu, %zu}, /* %s */\n", pooled(&names, name, strlen(name)),
			first, i - first, name);
	}
	fprintf(out, "\t{0},\n};\nconst uint32_t tach__preset_npmus = %zu;\n", count);
}

static int by_cpu_name(const void *a, const void *b)
{
	const struct tach__preset_cpu *x = a, *y = b;
	int order = compare_names(names.at + x->name, names.at + y->name);

	return order ? order : compare_names(names.at + x->pmu, names.at + y->pmu);
}

static void write_cpus(FILE *out)
{
	qsort(cpus, ncpus, sizeof *cpus, by_cpu_name);
	fputs("\nconst struct tach__preset_cpu tach__preset_cpus[] = {\n", out);
	for (size_t i = 0; i < ncpus; i++)
		fprintf(out, "\t{%u, %u},\n", cpus[i].name, cpus[i].pmu);
	fprintf(out, "\t{0},\n};\nconst uint32_t tach__preset_ncpus = %zu;\n\n", ncpus);
}

static void write_all(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out) {
		perror(path);
		exit(1);
	}
	fputs("/* Generated by mkpresets. */\n#include \"core/derived/packed.h\"\n"
	      "#include \"core/derived/presets.h\"\n\n",
	      out);
	write_records(out);
	write_pmus(out);
	write_cpus(out);
	write_strings(out, &names); /* last: writing the PMUs adds their names */
	write_packed(out, &texts);
	if (names.size > UINT16_MAX)
		complain(1, 1, "the names take more than 65,535 bytes", "", 0);
	if (fclose(out)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int i = 5;

	if (argc < 6 || strcmp(argv[1], "-o") != 0) {
		fputs("usage: mkpresets -o OUT.c CPUNAMES.tsv PRESETS.tsv PMU... -- "
		      "FILE.derived...\n",
		      stderr);
		return 2;
	}
	pooled(&names, "", 0); /* at 0 */
	pooled(&texts, "", 0);
	pmus = argv + i;
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		npmus++;
	load_names(argv[3]);
	load_descriptions(argv[4]);
	for (i++; i < argc; i++)
		load_file(argv[i]);
	if (ndefinitions)
		qsort(definitions, ndefinitions, sizeof *definitions, by_pmu_and_name);
	find_duplicates();
	if (errors)
		return 1;
	write_all(argv[2]);
	return errors != 0;
}

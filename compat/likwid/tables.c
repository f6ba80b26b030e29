/* SPDX-License-Identifier: MIT */
/* The tables of likwid-perfctr -m: for each region and group, threads in columns. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "compat/likwid/state.h"
#include "compat/likwid/table.h"

struct place {
	FILE *file;
	int csv, fields, group;
	uint32_t id;
};

static void heads(struct lw_table *t)
{
	for (int i = 0; i < lw_state.nthreads; i++) {
		const struct lw_thread *thread = lw_thread_at(i);

		t->filled = (t->columns - lw_state.nthreads + i) * t->rows;
		if (thread && thread->cpu >= 0)
			lw_put(t, "HWThread %d", thread->cpu);
		else
			lw_put(t, "Thread %d", i);
	}
}

/* Runs a statement for each thread, whose column then continues after its heading. */
#define EACH_THREAD(t, place, thread, region)                                                  \
	for (int i_ = 0; i_ < lw_state.nthreads; i_++)                                         \
		if ((thread = lw_thread_at(i_),                                                \
		     region = thread ? lw_result_of(thread, (place)->group, (place)->id)       \
				     : NULL,                                                   \
		     (t)->filled = ((t)->columns - lw_state.nthreads + i_) * (t)->rows + 1,    \
		     thread))

static int info_table(struct lw_table *t, const struct place *p)
{
	const struct lw_thread *thread;
	const struct lw_region *region;

	if (!lw_table_begin(t, 1 + lw_state.nthreads, 3))
		return 0;
	lw_put(t, "Region Info");
	lw_put(t, "RDTSC Runtime [s]");
	lw_put(t, "call count");
	heads(t);
	EACH_THREAD(t, p, thread, region)
	{
		lw_put(t, "%.6f", lw_seconds(thread, p->group, region));
		lw_put(t, "%llu", region ? (unsigned long long)lw_calls(region) : 0ull);
	}
	t->filled = t->columns * t->rows;
	return 1;
}

static int event_table(struct lw_table *t, const struct place *p)
{
	const struct lw_group *g = &lw_state.group[p->group];
	const struct lw_thread *thread;
	const struct lw_region *region;
	int clock = g->nmetrics == 0;

	if (!lw_table_begin(t, 2 + lw_state.nthreads, 1 + clock + g->nevents))
		return 0;
	lw_put(t, "Event");
	if (clock)
		lw_put(t, "Runtime (RDTSC) [s]");
	for (int i = 0; i < g->nevents; i++)
		lw_put(t, "%s", g->event[i].name);
	lw_put(t, "Counter");
	if (clock)
		lw_put(t, "TSC");
	for (int i = 0; i < g->nevents; i++)
		lw_put(t, "%s", g->event[i].counter);
	heads(t);
	EACH_THREAD(t, p, thread, region)
	{
		if (clock)
			lw_put(t, "%e", lw_seconds(thread, p->group, region));
		for (int i = 0; i < g->nevents; i++)
			lw_put_number(t, lw_count(thread, p->group, region, i));
	}
	t->filled = t->columns * t->rows;
	return 1;
}

static int metric_table(struct lw_table *t, const struct place *p)
{
	const struct lw_group *g = &lw_state.group[p->group];
	const struct lw_thread *thread;
	const struct lw_region *region;

	if (!lw_table_begin(t, 1 + lw_state.nthreads, 1 + g->nmetrics))
		return 0;
	lw_put(t, "Metric");
	for (int i = 0; i < g->nmetrics; i++)
		lw_put(t, "%s", g->metric[i].name);
	heads(t);
	EACH_THREAD(t, p, thread, region)
	for (int i = 0; i < g->nmetrics; i++)
		lw_put_number(t, lw_metric_value(thread, p->group, region, i));
	t->filled = t->columns * t->rows;
	return 1;
}

/*
 * Sum, minimum, maximum and mean over the threads. A value is missing if one thread could not
 * count it.
 */
static int stat_table(struct lw_table *t, const struct lw_table *of)
{
	static const char *const heads_of[] = {"Sum", "Min", "Max", "Avg"};
	int skip = of->columns - lw_state.nthreads;

	if (!lw_table_begin(t, skip + 4, of->rows))
		return 0;
	for (int c = 0; c < skip; c++)
		for (int row = 0; row < of->rows; row++)
			lw_put(t, row && c == 0 ? "%s STAT" : "%s", lw_at(of, c, row));
	for (int s = 0; s < 4; s++) {
		lw_put(t, "%s", heads_of[s]);
		for (int row = 1; row < of->rows; row++) {
			double sum = 0, least = INFINITY, most = -INFINITY;

			for (int c = skip; c < of->columns; c++) {
				double v = strtod(lw_at(of, c, row), NULL);

				sum += v;
				least = isnan(v) || v < least ? v : least;
				most = isnan(v) || v > most ? v : most;
			}
			lw_put_number(t, s == 0	      ? sum
					 : s == 3     ? sum / lw_state.nthreads
					 : isnan(sum) ? sum
					 : s == 1     ? least
						      : most);
		}
	}
	return 1;
}

/* ---- one region ---- */

static void print(const struct place *p, const struct lw_table *t)
{
	if (p->csv)
		lw_print_csv(p->file, t, p->fields);
	else
		lw_print_text(p->file, t);
}

static void title(const struct place *p, const struct lw_table *t, const char *what)
{
	char *region;

	if (!p->csv)
		return;
	if (asprintf(&region, "Region %s", lw_name_at(p->id)->tag) < 0)
		region = NULL;
	fputs("TABLE,", p->file);
	lw_cell_csv(p->file, region ? region : "Region");
	free(region);
	fprintf(p->file, ",Group %d %s,%s,%d", p->group + 1, what,
		lw_state.group[p->group].name, t->rows - 1);
	lw_commas(p->file, p->fields - 5);
}

static void print_stat(const struct place *p, const struct lw_table *t, const char *what)
{
	struct lw_table stat;

	if (lw_state.nthreads < 2 || !stat_table(&stat, t))
		return;
	title(p, &stat, what);
	print(p, &stat);
	lw_table_end(&stat);
}

static void print_result(const struct place *p)
{
	struct lw_table info, events, metrics;

	if (!info_table(&info, p))
		return;
	if (!p->csv)
		fprintf(p->file, "Region %s, Group %d: %s\n", lw_name_at(p->id)->tag,
			p->group + 1, lw_state.group[p->group].name);
	if (event_table(&events, p)) {
		title(p, &events, "Raw");
		print(p, &info);
		/* Text output has no table without rows. */
		if (p->csv || events.rows > 1) {
			print(p, &events);
			print_stat(p, &events, "Raw STAT");
		}
		lw_table_end(&events);
	}
	lw_table_end(&info);
	if (lw_state.group[p->group].nmetrics && metric_table(&metrics, p)) {
		title(p, &metrics, "Metric");
		print(p, &metrics);
		print_stat(p, &metrics, "Metric STAT");
		lw_table_end(&metrics);
	}
}

/* ---- the file ---- */

/* The kernel's name of the processor. */
static void processor(char *name, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char one[256];

	snprintf(name, size, "unknown");
	while (f && fgets(one, sizeof one, f))
		if (strncmp(one, "model name", 10) == 0 && strstr(one, ": ")) {
			snprintf(name, size, "%s", strstr(one, ": ") + 2);
			name[strcspn(name, "\n")] = '\0';
			break;
		}
	if (f)
		fclose(f);
}

static void print_csv_head(const struct place *p, const char *key, const char *value)
{
	lw_cell_csv(p->file, key);
	fputc(',', p->file);
	lw_cell_csv(p->file, value);
	lw_commas(p->file, p->fields - 2);
}

static void print_head(const struct place *p)
{
	static const char rule[] =
		"--------------------------------------------------------------"
		"------------------";
	struct tach_pmu_info pmu = {.size = sizeof pmu, .name = "unknown"};
	char name[256], hz[64];
	int host;

	processor(name, sizeof name);
	if (tach_pmu_host(&host, 1, NULL) > 0)
		tach_pmu_describe(host, &pmu);
	snprintf(hz, sizeof hz, p->csv ? "%.9g GHz" : "%.2f GHz", lw_state.hz / 1e9);
	if (p->csv) {
		fputs("STRUCT,Info,3", p->file);
		lw_commas(p->file, p->fields - 3);
		print_csv_head(p, "CPU name:", name);
		print_csv_head(p, "CPU type:", pmu.name);
		print_csv_head(p, "CPU clock:", hz);
		return;
	}
	fprintf(p->file, "%s\nCPU name:\t%s\nCPU type:\t%s\nCPU clock:\t%s\n%s\n", rule, name,
		pmu.name, hz, rule);
	for (int g = 0; g < lw_state.ngroups; g++)
		if (*lw_state.group[g].missing)
			fprintf(p->file, "Group %d: not counted: %s\n", g + 1,
				lw_state.group[g].missing);
}

static void print_group(struct place *p)
{
	int title = 5, events = 2 + lw_state.nthreads, stat = lw_state.nthreads > 1 ? 6 : 0;

	/* The widest line of the group sets the number of fields. */
	p->fields = events > title ? events : title;
	if (p->fields < stat)
		p->fields = stat;
	for (p->id = 0; p->id < lw_names_count(); p->id++) {
		if (!lw_result_is(p->group, p->id))
			continue;
		if (p->csv)
			print_head(p);
		print_result(p);
	}
}

static int ends_in_csv(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n >= 4 && strcasecmp(path + n - 4, ".csv") == 0;
}

int lw_tables_write(const char *path)
{
	struct place p = {.csv = ends_in_csv(path)};
	/* Numbers have a decimal point in every locale. */
	locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before;
	int code = 0;

	p.file = path && *path ? fopen(path, "we") : fdopen(fcntl(2, F_DUPFD_CLOEXEC, 3), "w");
	before = plain ? uselocale(plain) : (locale_t)0;
	if (p.file) {
		if (!p.csv)
			print_head(&p);
		for (p.group = 0; p.group < lw_state.ngroups; p.group++)
			print_group(&p);
		code = ferror(p.file) ? EIO : 0;
		if (fclose(p.file) != 0)
			code = errno;
	} else {
		code = errno;
	}
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	return code;
}

/* SPDX-License-Identifier: MIT */
/* tach list: chooses PMUs and events by pattern. */
#include <ctype.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tach/event.h>
#include "tools/tach/commands.h"
#include "tools/tach/list.h"

struct wanted {
	char **patterns;
	int npatterns;
	int all, json, umasks, uncore;
	const char *pmu;
	struct tach_derived *derived; /* presets and the user's definitions; NULL: no memory */
};

struct result {
	struct list_pmu *pmus;
	size_t n, room;
};

static const char help[] =
	"usage: tach list [--all | --pmu NAME] [--uncore] [OPTION]... [PATTERN]...\n"
	"\n"
	"Shows events: name, counters (f0, f1: fixed ones) and description. Umasks are\n"
	"indented below their event; * marks those that an event without umasks uses.\n"
	"Without options it shows this machine's events; with --all and no PATTERN, the\n"
	"names of all PMUs.\n"
	"\n"
	"PATTERN is searched in names of events, presets and derived events, in\n"
	"EVENT:UMASK and in descriptions, in any case. With * ? or [ it is a glob for a\n"
	"whole name, PMU::EVENT, or EVENT:UMASK.\n"
	"\n"
	"  -p, --pmu NAME   show this PMU\n"
	"      --all        show every PMU that the library knows\n"
	"      --uncore     show boxes instead: memory controllers, caches, links,\n"
	"                   energy; with --all every box that the library knows\n"
	"  -u, --umasks     show umasks without a PATTERN too\n"
	"  -j, --json       print JSON\n"
	"  -h, --help       print this text\n"
	"\n"
	"TACH_PMU=NAME replaces this machine's PMU. man tach-list explains each option.\n"
	"Exit status: 0 something was found, 1 nothing was found, 2 bad usage.\n";

/* ---- patterns ---- */

static int is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

/* Longer than any name. The cost of matching a glob grows with its length and its stars. */
enum { PATTERN_MOST = 1000 };

static int check_pattern(const char *pattern)
{
	if (strlen(pattern) <= PATTERN_MOST)
		return 0;
	return refuse_usage("list",
			    "'%.20s...' is longer than %d characters, the limit of a pattern",
			    pattern, PATTERN_MOST);
}

/* EVENT.UMASK equals EVENT:UMASK: vendors write the first, libpfm-4 the second. */
static char *colons(const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		exit(EXIT_NO);
	for (char *p = copy; *p; p++)
		if (*p == '.' && p[1])
			*p = ':';
	return copy;
}

static int name_fits(const char *pattern, const char *name)
{
	return is_glob(pattern) ? fnmatch(pattern, name, FNM_CASEFOLD) == 0
				: strcasestr(name, pattern) != NULL;
}

static int any_fits(const struct wanted *w, const char *pmu, const char *name,
		    const char *description)
{
	char whole[600];

	snprintf(whole, sizeof whole, "%s::%s", pmu, name);
	for (int i = 0; i < w->npatterns; i++)
		if (name_fits(w->patterns[i], name) || name_fits(w->patterns[i], whole) ||
		    (!is_glob(w->patterns[i]) && strcasestr(description, w->patterns[i])))
			return 1;
	return 0;
}

/* ---- details of a line ---- */

/* The words for user and kernel level, as in libpfm-4's register words. */
static void words_text(const struct list_pmu *pmu, const char *event, const char *umask,
		       char *out, size_t size)
{
	struct tach_encode_options options = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event code = {.size = sizeof code};
	char text[600];
	size_t used = 0;

	options.os = TACH_OS_NONE;
	options.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	snprintf(text, sizeof text, "%s::%s%s%s", pmu->info.name, event, umask ? ":" : "",
		 umask ? umask : "");
	if (tach_event_encode(text, &options, &code, NULL) != 0)
		return;
	for (uint32_t i = 0; i < code.ncodes && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s0x%" PRIx64, i ? "," : "",
					 code.codes[i]);
}

void list_row(const struct list_pmu *pmu, const struct list_line *line, struct list_row *row)
{
	struct tach_event_info e = {.size = sizeof e};
	struct tach_umask_info u = {.size = sizeof u};

	memset(row, 0, sizeof *row);
	row->name = row->description = "";
	if (line->umask < 0 && tach_pmu_event(pmu->pmu, line->event, &e) == 0)
		*row = (struct list_row){.name = e.name,
					 .description = e.description,
					 .alias_of = e.alias_of,
					 .vendor_code = e.vendor_code,
					 .libpfm4_code = e.libpfm4_code,
					 .deprecated = e.deprecated,
					 .code = e.code};
	else if (tach_pmu_umask(pmu->pmu, line->event, line->umask, &u) == 0)
		*row = (struct list_row){.name = u.name,
					 .description = u.description,
					 .alias_of = u.alias_of,
					 .vendor_code = u.vendor_code,
					 .libpfm4_code = u.libpfm4_code,
					 .deprecated = u.deprecated,
					 .code = u.code,
					 .is_umask = 1,
					 .group = u.group,
					 .is_default = u.is_default};
	if (row->vendor_code || row->libpfm4_code) {
		tach_pmu_event(pmu->pmu, line->event, &e);
		words_text(pmu, e.name, row->is_umask ? u.name : NULL, row->words,
			   sizeof row->words);
	}
	counters_text(row->is_umask ? u.counters : e.counters, row->counters,
		      sizeof row->counters);
}

/* ---- choosing ---- */

static void *grown(void *array, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? *room * 2 : 16;
	array = realloc(array, *room * size);
	if (!array) {
		fputs("tach: out of memory\n", stderr);
		exit(EXIT_NO);
	}
	return array;
}

static void add_line(struct list_pmu *to, int event, int umask)
{
	to->lines = grown(to->lines, to->nlines, &to->room, sizeof *to->lines);
	to->lines[to->nlines++] = (struct list_line){event, umask};
}

/* If the event matches, all its umasks are shown; otherwise only the umasks that match. */
static void choose_event(const struct wanted *w, struct list_pmu *to, int event)
{
	struct tach_event_info e = {.size = sizeof e};
	struct tach_umask_info u = {.size = sizeof u};
	int fits, added = 0;
	char name[600];

	if (tach_pmu_event(to->pmu, event, &e) != 0)
		return;
	fits = w->npatterns == 0 || any_fits(w, to->info.name, e.name, e.description);
	if (fits)
		add_line(to, event, -1);
	if (fits && w->npatterns == 0 && !w->umasks)
		return;
	for (int i = 0; i < e.numasks; i++) {
		if (tach_pmu_umask(to->pmu, event, i, &u) != 0)
			continue;
		snprintf(name, sizeof name, "%s:%s", e.name, u.name);
		if (!fits && !any_fits(w, to->info.name, name, u.description))
			continue;
		if (!fits && !added++)
			add_line(to, event, -1);
		add_line(to, event, i);
	}
}

/* Selects presets and derived events by name or description. */
static void choose_derived(const struct wanted *w, struct list_pmu *to)
{
	struct tach_derived_info info = {.size = sizeof info};
	int n = w->derived && w->npatterns && !to->info.uncore
			? tach_derived_count(w->derived, to->pmu)
			: 0;

	for (int i = 0; i < n; i++) {
		if (tach_derived_at(w->derived, to->pmu, i, &info) != 0 ||
		    !any_fits(w, to->info.name, info.name, info.short_description))
			continue;
		to->derived = grown(to->derived, to->nderived, &to->derived_room,
				    sizeof *to->derived);
		to->derived[to->nderived++] = info;
	}
}

static void choose_pmu(const struct wanted *w, struct result *result, int pmu)
{
	struct list_pmu to = {.pmu = pmu};
	int names_only = w->all && w->npatterns == 0 && !w->umasks;

	to.info.size = sizeof to.info;
	if (tach_pmu_describe(pmu, &to.info) != 0)
		return;
	for (int e = 0; !names_only && e < to.info.nevents; e++)
		choose_event(w, &to, e);
	choose_derived(w, &to);
	if (!names_only && to.nlines + to.nderived == 0 && (w->npatterns || !w->pmu))
		return;
	result->pmus = grown(result->pmus, result->n, &result->room, sizeof *result->pmus);
	result->pmus[result->n++] = to;
}

/* This machine's PMUs come first, then those that Linux has on every machine. */
static void choose_host(const struct wanted *w, struct result *result)
{
	struct tach_error err = TACH_ERROR_INIT;
	int pmus[8], n = tach_pmu_host(pmus, 8, &err);
	struct tach_pmu_info info = {.size = sizeof info};

	if (err.text[0])
		fprintf(stderr, "tach: %s\n", err.text);
	for (int i = 0; i < n && i < 8; i++)
		choose_pmu(w, result, pmus[i]);
	for (int i = 0; i < tach_pmu_count(); i++)
		if (tach_pmu_describe(i, &info) == 0 && strcmp(info.arch, "linux") == 0)
			choose_pmu(w, result, i);
}

/* Selects boxes: those of this machine, or all. */
static void choose_boxes(const struct wanted *w, struct result *result)
{
	struct tach_pmu_info info = {.size = sizeof info};
	int first = tach_pmu_count();

	for (int i = first; i < first + tach_pmu_uncore_count(); i++)
		if (w->all || (tach_pmu_describe(i, &info) == 0 && info.present))
			choose_pmu(w, result, i);
	if (!result->n && !w->all && !w->npatterns)
		fputs("tach: this machine has no uncore that the library knows and the kernel "
		      "shows; tach list --uncore --all shows every box\n",
		      stderr);
}

static int choose_named(const struct wanted *w, struct result *result)
{
	int pmu = tach_pmu_find(w->pmu);

	if (pmu < 0) {
		fprintf(stderr, "tach: no PMU '%s'; tach list --all shows the names\n", w->pmu);
		return -1;
	}
	choose_pmu(w, result, pmu);
	return 0;
}

/* ---- arguments ---- */

static int parse_arguments(int argc, char **argv, struct wanted *w)
{
	static const struct option options[] = {
		{"all", no_argument, NULL, 'a'},
		{"pmu", required_argument, NULL, 'p'},
		{"umasks", no_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{"uncore", no_argument, NULL, 'U'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static char name[] = "tach list"; /* getopt begins its messages with this name */
	int c;

	argv[0] = name;
	while ((c = getopt_long(argc, argv, "ap:ujh", options, NULL)) != -1) {
		if (c == 'a')
			w->all = 1;
		else if (c == 'p')
			w->pmu = optarg;
		else if (c == 'u')
			w->umasks = 1;
		else if (c == 'U')
			w->uncore = 1;
		else if (c == 'j')
			w->json = 1;
		else if (c == 'h')
			return fputs(help, stdout), -1;
		else
			return print_usage_error("list");
	}
	if (w->pmu && (w->all || w->uncore))
		return refuse_usage("list", "--%s or --pmu, not both",
				    w->all ? "all" : "uncore");
	for (int i = optind; i < argc; i++)
		if (check_pattern(argv[i]))
			return EXIT_USAGE;
	w->npatterns = argc - optind;
	w->patterns = calloc((size_t)w->npatterns + 1, sizeof *w->patterns);
	for (int i = 0; w->patterns && i < w->npatterns; i++)
		w->patterns[i] = colons(argv[optind + i]);
	return w->patterns ? 0 : EXIT_NO;
}

int cmd_list(int argc, char **argv)
{
	struct wanted w = {0};
	struct result result = {0};
	struct tach_derived_options derived = {
		.flags = TACH_DERIVED_PRESETS | TACH_DERIVED_USER, .max_hz = 1};
	int status = parse_arguments(argc, argv, &w);

	if (status)
		return status < 0 ? EXIT_DONE : status;
	if (tach_derived_create(&derived, &w.derived, NULL))
		w.derived = NULL; /* without them, then */
	if (w.pmu)
		status = choose_named(&w, &result);
	else if (w.uncore)
		choose_boxes(&w, &result);
	else if (w.all)
		for (int i = 0; i < tach_pmu_count(); i++)
			choose_pmu(&w, &result, i);
	else
		choose_host(&w, &result);
	if (w.json)
		list_json(result.pmus, result.n);
	else
		list_text(result.pmus, result.n);
	if (result.n == 0 && status == 0 && w.npatterns)
		fprintf(stderr, "tach: nothing fits '%s'%s\n", w.patterns[0],
			w.all ? "" : "; tach list --all looks in every PMU");
	for (size_t i = 0; i < result.n; i++) {
		free(result.pmus[i].lines);
		free(result.pmus[i].derived);
	}
	tach_derived_free(w.derived);
	free(result.pmus);
	for (int i = 0; i < w.npatterns; i++)
		free(w.patterns[i]);
	free(w.patterns);
	return result.n ? EXIT_DONE : EXIT_NO;
}

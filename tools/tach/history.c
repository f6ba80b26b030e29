/* SPDX-License-Identifier: MIT */
/* `tach history`: the costs of each commit, kept in a file, shown as tables and as a page. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/os/buffer.h"
#include "tools/tach/commands.h"
#include "tools/tach/history.h"

static const char help[] =
	"usage: tach history add [OPTION]... FILE RESULTS\n"
	"       tach history show [OPTION]... FILE\n"
	"       tach history page [OPTION]... FILE\n"
	"\n"
	"Keeps what each commit took in FILE, a line of JSON for each run, and finds the\n"
	"commits that changed it. RESULTS are a report, a baseline or a verdict of tach\n"
	"gate, or results of a benchmark, in JSON.\n"
	"\n"
	"add: append a run. By default it is of the commit that git has checked out.\n"
	"      --commit NAME     the run is of this commit\n"
	"      --date DATE       its date: 2026-11-27T13:04:05Z (default: the commit's)\n"
	"      --subject TEXT    what the commit does\n"
	"      --machine NAME    where it ran (default: the processor's name)\n"
	"      --counted HOW     how it was counted, if RESULTS do not say\n"
	"\n"
	"show: print change points and the last values. page: write a page of graphs.\n"
	"  -o, --output FILE     write to FILE, not to standard output\n"
	"      --region NAMES    only these: \"parse,sort\"\n"
	"      --least PERCENT   leave out change points that are smaller (0)\n"
	"      --title TEXT      of the page\n"
	"      --url ADDRESS     of the repository, for links to commits: https://...\n"
	"  -h, --help            print this text\n"
	"\n"
	"man tach-history explains each option. Exit status: 0 done, 2 bad usage or\n"
	"a file that cannot be used, 3 a part of FILE is cut off or out of order.\n";

enum { COMMIT = 256, DATE, SUBJECT, MACHINE, COUNTED, REGION, LEAST, TITLE, URL };
static const struct option options[] = {
	{"commit", required_argument, NULL, COMMIT},
	{"date", required_argument, NULL, DATE},
	{"subject", required_argument, NULL, SUBJECT},
	{"machine", required_argument, NULL, MACHINE},
	{"counted", required_argument, NULL, COUNTED},
	{"region", required_argument, NULL, REGION},
	{"least", required_argument, NULL, LEAST},
	{"title", required_argument, NULL, TITLE},
	{"url", required_argument, NULL, URL},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct arguments {
	struct history_run run; /* the texts belong to this run */
	const char *output, *regions, *title, *url;
	double least;
};

static int bad_usage(const char *what, const char *word)
{
	return refuse_usage("history", "%s%s%s", what, word ? ": " : "", word ? word : "");
}

static int take_least(struct arguments *a, const char *text)
{
	char *end;

	a->least = strtod(text, &end) / 100;
	if (end != text && *end == '%')
		end++;
	if (end == text || *end || !(a->least >= 0 && a->least < 1e6))
		return bad_usage("--least takes a percentage, not", text);
	return 0;
}

static int take_copy(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	return *to ? 0 : EXIT_USAGE;
}

static int take_option(struct arguments *a, int option)
{
	switch (option) {
	case COMMIT:
		return take_copy(&a->run.commit, optarg);
	case DATE:
		return take_copy(&a->run.date, optarg);
	case SUBJECT:
		return take_copy(&a->run.subject, optarg);
	case MACHINE:
		return take_copy(&a->run.machine, optarg);
	case COUNTED:
		return take_copy(&a->run.counted, optarg);
	case REGION:
		a->regions = optarg;
		return 0;
	case LEAST:
		return take_least(a, optarg);
	case TITLE:
		a->title = optarg;
		return 0;
	case URL:
		a->url = optarg;
		if (strncmp(optarg, "https://", 8) != 0 && strncmp(optarg, "http://", 7) != 0)
			return bad_usage(
				"--url takes an address that begins with https://, not",
				optarg);
		return 0;
	default:
		a->output = optarg;
		return 0;
	}
}

/* Returns 0, -1 after printing the help, or the exit status. */
static int parse(struct arguments *a, int argc, char **argv)
{
	int c, code;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return -1;
		}
		code = c == '?' ? bad_usage("cannot use", argv[optind - 1]) : take_option(a, c);
		if (code)
			return code;
	}
	return 0;
}

/* ---- add ---- */

/* The words of tach gate, so that its baselines and reports share a line. */
static const char *way_of(const struct samples *s)
{
	if (*s->how)
		return s->how;
	if (s->emulated)
		return "emulated";
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i]->kind == SERIES_COUNT || s->list[i]->kind == SERIES_EXACT)
			return "counted by this machine's PMU";
	return "time on this machine";
}

static int add_run(struct arguments *a, const char *file, const char *results)
{
	struct history_run *run = &a->run;
	int status;

	if (samples_load(&run->of, results, HISTORY_WHO) != 0)
		return EXIT_USAGE;
	if (!run->of.n) {
		fprintf(stderr,
			HISTORY_WHO ": %s: nothing was measured%s%s: nothing is added\n",
			results, *run->of.missing ? ": " : "", run->of.missing);
		return EXIT_UNKNOWN;
	}
	if (!run->counted && take_copy(&run->counted, way_of(&run->of)) != 0)
		return EXIT_USAGE;
	samples_sort(&run->of);
	status = history_origin(run);
	if (!status)
		status = history_append(file, run);
	if (!status)
		printf("%s: added %.10s, %zu values, %s, %s\n", file, run->commit, run->of.n,
		       run->counted, run->machine);
	return status;
}

/* ---- show, page ---- */

static int show_history(const struct arguments *a, const char *file, int as_page)
{
	struct tach__buffer text = {0};
	struct history_lines lines = {0};
	struct history h = {0};
	struct tach__out out;
	int status = history_read(&h, file), code = EXIT_USAGE;

	if ((!status || status == EXIT_UNKNOWN) &&
	    history_lines(&lines, &h, a->least, a->regions) == 0) {
		tach__out_open(&out, tach__buffer_sink, &text);
		if (as_page)
			history_page(&out, &lines, a->title ? a->title : "history", a->url);
		else
			history_show(&out, &lines);
		if (tach__out_flush(&out) == 0 &&
		    deliver(HISTORY_WHO, a->output, stdout, &text) == 0)
			code = 0;
	}
	tach__buffer_free(&text);
	history_lines_free(&lines);
	history_free(&h);
	return status ? status : code;
}

static int run_verb(struct arguments *a, const char *verb, int n, char **words)
{
	int is_add = strcmp(verb, "add") == 0, is_page = strcmp(verb, "page") == 0;

	if (!is_add && !is_page && strcmp(verb, "show") != 0)
		return bad_usage("add, show or page expected, not", verb);
	if (n != 1 + is_add)
		return bad_usage(is_add ? "add takes two files, the history and the results"
					: "one history expected",
				 NULL);
	return is_add ? add_run(a, words[0], words[1]) : show_history(a, words[0], is_page);
}

int cmd_history(int argc, char **argv)
{
	struct arguments a = {0};
	int status = parse(&a, argc, argv);

	if (!status && optind == argc)
		status = bad_usage("add, show or page expected", NULL);
	else if (!status)
		status = run_verb(&a, argv[optind], argc - optind - 1, argv + optind + 1);
	history_run_free(&a.run);
	return status < 0 ? EXIT_DONE : status;
}

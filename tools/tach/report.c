/* SPDX-License-Identifier: MIT */
/* `tach report`: converts saved JSON reports to another format, or adds them up. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tach/report.h>
#include "tools/tach/commands.h"
#include "tools/tach/report.h"
#include "tools/tach/samples.h"

static const char help[] =
	"usage: tach report [OPTION]... REPORT.json...\n"
	"       tach report -p PID [OPTION]... [REPORT.json]...\n"
	"       tach report --ranks [OPTION]... REPORT.json...\n"
	"\n"
	"Reads reports that TACH_OUTPUT=FILE.json or tach run -o FILE.json wrote, adds\n"
	"them up, and writes the result. \"-\" is standard input.\n"
	"\n"
	"  -o, --output FILE  write to FILE, not to standard output\n"
	"      --format NAME  text, json, csv, prometheus, html (default: from FILE);\n"
	"                     google-benchmark, hyperfine, bmf (Bencher),\n"
	"                     github-action-benchmark: also of a history, a baseline and\n"
	"                     results of benchmarks\n"
	"  -p, --pid PID      report a running process; it is not slowed\n"
	"      --tree         in text, show each region below its enclosing region\n"
	"      --places       in text, show the file and line of each region\n"
	"      --ranks        the reports are from ranks of a parallel job (MPI, Slurm):\n"
	"                     add a row for each rank, and imbalance (longest time\n"
	"                     divided by mean time)\n"
	"  -h, --help         print this text\n"
	"\n"
	"Results of benchmarks become a page with plots: -o FILE.html.\n"
	"tach diff compares two reports. tach report --diff is its older name.\n"
	"\n"
	"man tach-report explains each option.\n"
	"Exit status: 0 done, 1 a report cannot be read or written, 2 bad usage.\n";

struct arguments {
	const char *output, *format;
	int ranks, nfiles, process;
	char **files;
};

/* A device may never end. */
static FILE *open_ending(const char *file)
{
	struct stat status;

	if (stat(file, &status) == 0 && S_ISCHR(status.st_mode)) {
		errno = EINVAL;
		return NULL;
	}
	return fopen(file, "re");
}

char *report_slurp(const char *file, size_t *length, const char *who)
{
	FILE *from = strcmp(file, "-") == 0 ? stdin : open_ending(file);
	size_t room = 0, n;
	char *text = NULL, *more;

	*length = 0;
	while (from) {
		if (room - *length < 2) {
			room = room ? 2 * room : 65536;
			more = realloc(text, room);
			if (!more)
				break;
			text = more;
		}
		n = fread(text + *length, 1, room - *length - 1, from);
		*length += n;
		text[*length] = '\0';
		if (n == 0)
			break;
	}
	if (!from || ferror(from) || room - *length < 2) {
		fprintf(stderr, "%s: %s: %s\n", who, file, strerror(errno));
		free(text);
		text = NULL;
	}
	if (from && from != stdin)
		fclose(from);
	return text;
}

/* Values of an incomplete report are too small. */
static void warn_missing(const struct tach_snapshot *s, const char *file, const char *who)
{
	struct tach_counts c = {.size = sizeof c};

	if (tach_snapshot_counts(s, &c) == 0 && (c.missing_processes || c.missing_threads))
		fprintf(stderr, "%s: %s: missing in it: processes %llu, threads %llu\n", who,
			file, (unsigned long long)c.missing_processes,
			(unsigned long long)c.missing_threads);
}

int report_read(struct tach_snapshot **out, const char *text, size_t length, const char *file,
		const char *who)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_snapshot_load(text, length, out, &err);

	if (code && err.line)
		fprintf(stderr, "%s: %s:%d:%d: %s\n", who, file, err.line, err.column,
			err.text);
	else if (code)
		fprintf(stderr, "%s: %s: %s\n", who, file, err.text);
	else
		warn_missing(*out, file, who);
	return code;
}

int report_load(struct tach_snapshot **out, const char *file, const char *who)
{
	size_t length;
	char *text = report_slurp(file, &length, who);
	int code;

	if (!text)
		return -1;
	code = report_read(out, text, length, file, who);
	free(text);
	return code;
}

const char *report_suffix(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	const char *point = strrchr(name, '.');

	return point && point > name && point[1] ? point : NULL;
}

int report_format(const char *name, const char *file, enum tach_format *format, const char *who)
{
	static const char *const names[] = {
		[TACH_FORMAT_TEXT] = "text", [TACH_FORMAT_JSON] = "json",
		[TACH_FORMAT_CSV] = "csv",   [TACH_FORMAT_PROMETHEUS] = "prometheus",
		[TACH_FORMAT_HTML] = "html",
	};

	*format = file ? tach_report_format(file) : TACH_FORMAT_TEXT;
	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0) {
			*format = (enum tach_format)i;
			return 0;
		}
	if (name)
		fprintf(stderr, "%s: no format '%s': text, json, csv, prometheus or html\n",
			who, name);
	else if (file && *format == TACH_FORMAT_TEXT && report_suffix(file) &&
		 strcmp(report_suffix(file), ".txt") != 0)
		fprintf(stderr,
			"%s: no format has the suffix '%s' (.txt .json .csv .prom .html); "
			"--format names one\n",
			who, report_suffix(file));
	else
		return 0;
	return -1;
}

int report_write(const struct tach_snapshot *s, enum tach_format format, const char *file,
		 int fd, const char *who)
{
	struct tach_report_options opt = {.format = format};
	struct tach_error err = TACH_ERROR_INIT;
	int code;

	if (file) {
		code = tach_report_file(s, &opt, file, &err);
		if (code == -ENXIO)
			fprintf(stderr, "%s: %s: no process reads this pipe\n", who, file);
		else if (code)
			fprintf(stderr, "%s: %s\n", who, err.text);
		return code;
	}
	/* Without options the library adapts to the terminal. */
	code = tach_report_fd(s, format == TACH_FORMAT_TEXT ? NULL : &opt, fd, &err);
	if (code)
		fprintf(stderr, "%s: %s\n", who, err.text);
	return code;
}

int report_merge(struct tach_snapshot **out, struct tach_snapshot **list, int n,
		 const char *who)
{
	struct tach_error err = TACH_ERROR_INIT;
	int code = tach_snapshot_merge((const struct tach_snapshot *const *)list, n, out, &err);

	if (code)
		fprintf(stderr, "%s: %s\n", who, err.text);
	return code;
}

enum { FORMAT = 256, RANKS, TREE, PLACES };

static const struct option options[] = {
	{"ranks", no_argument, NULL, RANKS},	  {"format", required_argument, NULL, FORMAT},
	{"output", required_argument, NULL, 'o'}, {"pid", required_argument, NULL, 'p'},
	{"tree", no_argument, NULL, TREE},	  {"places", no_argument, NULL, PLACES},
	{"help", no_argument, NULL, 'h'},	  {NULL, 0, NULL, 0},
};

/* Returns EXIT_DONE to continue, -1 after printing the help, or an exit status. */
static int parse(struct arguments *a, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "o:p:h", options, NULL)) != -1) {
		switch (c) {
		case RANKS:
			a->ranks = 1;
			break;
		case TREE:
			setenv("TACH_TREE", "1", 1);
			break;
		case PLACES:
			setenv("TACH_PLACES", "1", 1);
			break;
		case FORMAT:
			a->format = optarg;
			break;
		case 'o':
			a->output = optarg;
			break;
		case 'p':
			a->process = atoi(optarg);
			if (a->process > 0 && optarg[strspn(optarg, "0123456789")] == '\0')
				break;
			return refuse_usage("report", "no process number is '%s'", optarg);
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			return refuse_usage("report", "cannot use '%s'", argv[optind - 1]);
		}
	}
	a->files = argv + optind;
	a->nfiles = argc - optind;
	if (a->nfiles + (a->process > 0) == 0 || (a->ranks && a->process > 0))
		return refuse_usage("report", "%s",
				    a->ranks ? "--ranks takes reports, not -p"
					     : "no report given");
	return EXIT_DONE;
}

int report_add(struct tach_snapshot **sum, struct tach_snapshot *more, const char *who)
{
	struct tach_snapshot *both[] = {*sum, more};
	int code;

	if (!*sum) {
		*sum = more;
		return 0;
	}
	code = report_merge(sum, both, 2, who);
	tach_snapshot_free(both[0]);
	tach_snapshot_free(more);
	return code ? -1 : 0;
}

/*
 * Reads one file at a time, and the process last: even with thousands of files, only one report
 * and the sum are in memory.
 */
static struct tach_snapshot *add_all(const struct arguments *a)
{
	struct tach_snapshot *sum = NULL, *one;
	struct tach_error err = TACH_ERROR_INIT;
	int code = 0;

	for (int i = 0; i < a->nfiles && !code; i++) {
		code = report_load(&one, a->files[i], "tach report");
		code = code ? code : report_add(&sum, one, "tach report");
	}
	if (!code && a->process) {
		code = tach_snapshot_take_process(a->process, &one, &err);
		if (code)
			fprintf(stderr, "tach report: %s\n", err.text);
		code = code ? code : report_add(&sum, one, "tach report");
	}
	if (!code)
		return sum;
	tach_snapshot_free(sum);
	return NULL;
}

static struct tach_snapshot *join_ranks(const struct arguments *a)
{
	struct report_ranks ranks = {NULL, 0};
	struct tach_snapshot *all = NULL, *one;
	int code = 0;

	for (int i = 0; i < a->nfiles && !code; i++) {
		code = report_load(&one, a->files[i], "tach report");
		code = code ? code : report_ranks_add(&ranks, one, a->files[i], "tach report");
	}
	if (!code)
		all = report_ranks_join(&ranks, "tach report");
	report_ranks_free(&ranks);
	return all;
}

static int convert_reports(const struct arguments *a, enum tach_format format)
{
	struct tach_snapshot *sum = a->ranks ? join_ranks(a) : add_all(a);
	int code =
		sum ? report_write(sum, format, a->output, STDOUT_FILENO, "tach report") : -1;

	tach_snapshot_free(sum);
	return code ? EXIT_NO : EXIT_DONE;
}

/* Shows benchmark results instead of a report. Returns -1 if the file contains none. */
static int show_bench(const struct arguments *a, enum tach_format format)
{
	size_t length;
	int status = -1;
	char *text;
	FILE *to;

	if (a->nfiles != 1 || strcmp(a->files[0], "-") == 0)
		return -1;
	text = report_slurp(a->files[0], &length, "tach report");
	if (!text)
		return EXIT_NO;
	if (report_bench_is(text) && format != TACH_FORMAT_HTML) {
		status = refuse_usage("report",
				      "results of benchmarks can only become a page: -o "
				      "FILE.html");
	} else if (report_bench_is(text)) {
		to = a->output ? fopen(a->output, "we") : stdout;
		status = to && report_bench(text, a->files[0], to) == 0 ? EXIT_DONE : EXIT_NO;
		if (!to || (to == stdout ? fflush(to) : fclose(to)) != 0) {
			fprintf(stderr, "tach report: %s: %s\n",
				a->output ? a->output : "standard output", strerror(errno));
			status = EXIT_NO;
		}
	}
	free(text);
	return status;
}

static int convert_samples(const struct arguments *a)
{
	if (a->ranks || a->process)
		return refuse_usage("report", "--format %s takes files, not -p and not --ranks",
				    a->format);
	return samples_convert(a->files, a->nfiles, samples_format(a->format), a->output);
}

int cmd_report(int argc, char **argv)
{
	struct arguments a = {0};
	enum tach_format format;
	int status;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--diff") == 0) {
			memmove(&argv[i], &argv[i + 1], (size_t)(argc - i) * sizeof *argv);
			return cmd_diff(argc - 1, argv);
		}
	status = parse(&a, argc, argv);
	if (status)
		return status < 0 ? EXIT_DONE : status;
	if (a.format && samples_format(a.format) >= 0)
		return convert_samples(&a);
	if (report_format(a.format, a.output, &format, "tach report") != 0)
		return print_usage_error("report");
	status = show_bench(&a, format);
	return status < 0 ? convert_reports(&a, format) : status;
}

/* SPDX-License-Identifier: MIT */
/* tach derived: definition files, presets and formulas. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include "core/derived/derived.h"
#include "tools/tach/commands.h"
#include "tools/tach/derived.h"

static const char help[] =
	"usage: tach derived check [--pmu NAME] FILE...\n"
	"       tach derived list [--pmu NAME]\n"
	"       tach derived show NAME... [--pmu NAME] [--file FILE] [--max-hz HZ]\n"
	"       tach derived eval FORMULA [N0=COUNT]... [--max-hz HZ] [--tsc-hz HZ]\n"
	"                                 [--elapsed-ns NS] [--postfix]\n"
	"       tach derived eval --batch [--max-hz HZ] < LINES\n"
	"\n"
	"check  reads definition files in PAPI's format; reports errors with their place\n"
	"list   names the presets and user events of a PMU\n"
	"show   prints the formula of a definition, its events, their register words, and\n"
	"       the number of counter groups that they need\n"
	"eval   computes a formula: N0 / N1, max(N0, N1), N1 > 0 ? N0 / N1 : 0; or in\n"
	"       postfix: N0|N1|/|. Constants: max_hz (also #), tsc_hz, time\n"
	"\n"
	"  -p, --pmu NAME      use this PMU, not this machine's\n"
	"  -f, --file FILE     read definitions from FILE too\n"
	"      --max-hz HZ     the CPU's highest clock (default: ask the system)\n"
	"      --tsc-hz HZ     the region clock's frequency (default: ask the system)\n"
	"      --elapsed-ns NS the time of the counts (default 0)\n"
	"      --postfix       FORMULA is postfix\n"
	"      --batch         answer lines \"type TAB formula TAB v0,v1,...\"\n"
	"  -h, --help          print this text\n"
	"\n"
	"User files: $XDG_CONFIG_HOME/tach/*.derived and the files in TACH_DERIVED.\n"
	"man tach-derived explains each option.\n"
	"Exit status: 0 done, 1 a file, name or formula is wrong, 2 bad usage.\n";

enum { MAX_HZ = 256, TSC_HZ, ELAPSED, POSTFIX, BATCH };

static const struct option options[] = {
	{"pmu", required_argument, NULL, 'p'},
	{"file", required_argument, NULL, 'f'},
	{"max-hz", required_argument, NULL, MAX_HZ},
	{"tsc-hz", required_argument, NULL, TSC_HZ},
	{"elapsed-ns", required_argument, NULL, ELAPSED},
	{"postfix", no_argument, NULL, POSTFIX},
	{"batch", no_argument, NULL, BATCH},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int usage(const char *what, const char *value)
{
	return refuse_usage("derived", "%s '%s'", what, value);
}

static int parse_positive(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end && *value > 0 && *value - *value == 0;
}

static void print_diagnostic(void *context, const struct tach_diagnostic *d)
{
	static const char *const words[] = {"note", "warning", "error"};
	int *errors = context;

	fflush(stdout);
	fprintf(stderr, "%s:", d->file);
	if (d->line)
		fprintf(stderr, "%d:%d:", d->line, d->column);
	fprintf(stderr, " %s: %s\n", words[d->level], d->text);
	*errors += d->level == TACH_DIAGNOSTIC_ERROR;
}

/* ---- check ---- */

static int find_pmu(const struct derived_arguments *a);

static int check_files(const struct derived_arguments *a, int argc, char **argv)
{
	int errors = 0, status = EXIT_DONE, pmu = -1;
	struct tach_derived_options opt = {
		.size = sizeof opt, .report = print_diagnostic, .context = &errors};

	if (!argc)
		return usage("a file expected after", "check");
	if (a->pmu && (pmu = find_pmu(a)) < 0)
		return EXIT_NO;
	for (int i = 0; i < argc; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_derived *d;
		int taken;

		if (tach_derived_create(&opt, &d, &err) < 0) {
			fprintf(stderr, "tach derived: %s\n", err.text);
			return EXIT_NO;
		}
		errors = 0;
		taken = tach_derived_load(d, argv[i], &err);
		if (taken > 0)
			errors += derived_check_uses(argv[i], pmu);
		if (taken < 0)
			fprintf(stderr, "tach derived: %s\n", err.text);
		else
			printf("%s: %d definitions, %d errors\n", argv[i], taken, errors);
		if (taken < 0 || errors)
			status = EXIT_NO;
		tach_derived_free(d);
	}
	return status;
}

/* ---- list, show ---- */

static struct tach_derived *registry(const struct derived_arguments *a)
{
	static int errors;
	struct tach_derived_options opt = {.size = sizeof opt,
					   .flags = TACH_DERIVED_PRESETS | TACH_DERIVED_USER,
					   .report = print_diagnostic,
					   .context = &errors,
					   .max_hz = a->max_hz};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_derived *d;

	if (tach_derived_create(&opt, &d, &err) < 0 ||
	    (a->file && tach_derived_load(d, a->file, &err) < 0)) {
		fprintf(stderr, "tach derived: %s\n", err.text);
		return NULL;
	}
	return d;
}

/* Also accepts a name from preset files: "nhm-ex". */
static int find_named(const char *name)
{
	char copy[64];

	snprintf(copy, sizeof copy, "%s", name);
	for (char *c = copy; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return tach_pmu_find(copy);
}

static int find_pmu(const struct derived_arguments *a)
{
	struct tach_error err = TACH_ERROR_INIT;
	int pmu;

	if (!a->pmu) {
		if (tach_pmu_host(&pmu, 1, &err) > 0)
			return pmu;
		fprintf(stderr, "tach derived: %s; name one with --pmu\n",
			err.text[0] ? err.text : "this machine's PMU is not known");
		return -1;
	}
	pmu = find_named(a->pmu);
	if (pmu < 0)
		fprintf(stderr, "tach derived: no PMU '%s'; tach list --all names them\n",
			a->pmu);
	return pmu;
}

static int list_definitions(const struct derived_arguments *a)
{
	int pmu = find_pmu(a), n;
	struct tach_derived *d = pmu < 0 ? NULL : registry(a);

	if (!d)
		return EXIT_NO;
	n = tach_derived_count(d, pmu);
	for (int i = 0; i < n; i++) {
		struct tach_derived_info info = {.size = sizeof info};

		tach_derived_at(d, pmu, i, &info);
		printf("%-28s %s\n", info.name, info.short_description);
	}
	tach_derived_free(d);
	return EXIT_DONE;
}

static void print_base_events(const struct tach_derived_info *info)
{
	const char *event = info->events;

	printf("  defined   %s", info->type_name);
	if (info->formula[0])
		printf("  %s ", info->formula);
	for (int i = 0; i < info->nevents; i++, event += strlen(event) + 1)
		printf("%s%s", i ? ", " : "  ", event);
	printf("\n  in        %s:%d\n", info->file, info->line);
}

static void print_formula(const struct tach_formula *f)
{
	static const char *const shapes[] = {"constant", "linear", "quotient", "program"};

	for (int kind = TACH_FORMULA_INFIX; kind <= TACH_FORMULA_POSTFIX; kind++) {
		int length = tach_formula_print(f, kind, NULL, 0);
		char *text = malloc((size_t)length + 1);

		if (!text)
			return;
		tach_formula_print(f, kind, text, (size_t)length + 1);
		if (kind == TACH_FORMULA_INFIX)
			printf("  formula   %s  (%s)\n", text, shapes[tach_formula_shape(f)]);
		else
			printf("  postfix   %s\n", text);
		free(text);
	}
}

/* Uses the PMU as its table describes it, or this machine's PMU in its current state. */
static void print_groups(int pmu, const struct tach_expansion *x)
{
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_schedule s = {.size = sizeof s};
	int n = tach_expansion_count(x);

	opt.pmu = pmu;
	if (tach_schedule_split(tach_expansion_encoded(x), n, 0, &opt, &s, &err) < 0) {
		printf("  groups    none: %s\n", err.text);
		return;
	}
	if (s.ngroups <= 1) {
		printf("  groups    1\n");
		return;
	}
	printf("  groups    %d, one at a time:", s.ngroups);
	for (int g = 0; g < s.ngroups; g++)
		for (int i = 0, first = 1; i < n; i++)
			if (s.group[i] == g) {
				printf("%sN%d", first ? (g ? "; " : " ") : " ", i);
				first = 0;
			}
	putchar('\n');
}

static void print_expansion(int pmu, const struct tach_expansion *x)
{
	const struct tach_event *e = tach_expansion_encoded(x);

	print_formula(tach_expansion_formula(x));
	for (int i = 0; i < tach_expansion_count(x); i++) {
		printf("  N%-8d %s%s", i, tach_expansion_event(x, i),
		       tach__expansion_is_box(x, i) ? " (whole machine)" : "");
		printf("%s", e[i].ncodes ? " =" : "");
		for (uint32_t k = 0; k < e[i].ncodes; k++)
			printf(" 0x%" PRIx64, e[i].codes[k]);
		putchar('\n');
	}
	print_groups(pmu, x);
}

static void print_definition(const struct tach_derived_info *info)
{
	printf("%s", info->name);
	if (info->short_description[0])
		printf(": %s", info->short_description);
	putchar('\n');
	if (info->long_description[0])
		printf("  %s\n", info->long_description);
	if (info->note[0])
		printf("  note      %s\n", info->note);
	print_base_events(info);
}

/* A name with modifiers or a PMU's name has no definition of its own, but may use one. */
static int show_one(struct tach_derived *d, int pmu, const char *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_expansion *x = NULL;
	int code = tach_derived_expand(d, pmu, name, &x, &err);

	if (tach_derived_find(d, pmu, name, &info) == 0)
		print_definition(&info);
	else if (x)
		printf("%s\n", name);
	if (x)
		print_expansion(pmu, x);
	fflush(stdout); /* earlier output must come first if both streams go to one file */
	if (!x)
		fprintf(stderr, "tach derived: %s\n", err.text);
	if (code == TACH_ERR_NOTFOUND && !info.name)
		fputs("  tach derived list names those there are\n", stderr);
	tach_expansion_free(x);
	return x ? EXIT_DONE : EXIT_NO;
}

static int show_definitions(const struct derived_arguments *a, int argc, char **argv)
{
	int pmu, status = EXIT_DONE;
	struct tach_derived *d;

	if (!argc)
		return usage("a name expected after", "show");
	pmu = find_pmu(a);
	d = pmu < 0 ? NULL : registry(a);
	if (!d)
		return EXIT_NO;
	for (int i = 0; i < argc; i++)
		if (show_one(d, pmu, argv[i]) != EXIT_DONE)
			status = EXIT_NO;
	tach_derived_free(d);
	return status;
}

int cmd_derived(int argc, char **argv)
{
	struct derived_arguments a = {.max_hz = 0};
	static char name[] = "tach derived"; /* getopt begins its messages with this name */
	const char *what;
	int c;

	argv[0] = name;
	while ((c = getopt_long(argc, argv, "p:f:h", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			a.pmu = optarg;
			break;
		case 'f':
			a.file = optarg;
			break;
		case MAX_HZ:
		case TSC_HZ:
			if (!parse_positive(optarg, c == MAX_HZ ? &a.max_hz : &a.tsc_hz))
				return usage("a clock in Hz expected, not", optarg);
			break;
		case ELAPSED:
			if (!parse_positive(optarg, &a.elapsed_ns))
				return usage("a time in ns expected, not", optarg);
			break;
		case POSTFIX:
			a.postfix = 1;
			break;
		case BATCH:
			a.batch = 1;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			return print_usage_error("derived");
		}
	}
	what = optind < argc ? argv[optind++] : "";
	argc -= optind;
	argv += optind;
	if (!strcmp(what, "check"))
		return check_files(&a, argc, argv);
	if (!strcmp(what, "list"))
		return argc ? usage("nothing expected after list, but", argv[0])
			    : list_definitions(&a);
	if (!strcmp(what, "show"))
		return show_definitions(&a, argc, argv);
	if (!strcmp(what, "eval"))
		return a.batch ? derived_batch(&a, stdin) : derived_eval(&a, argc, argv);
	return usage("check, list, show or eval expected, not", what);
}

/* SPDX-License-Identifier: MIT */
/* tach dispatch: register values for events of any PMU, without using the hardware. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <tach/dispatch.h>
#include <tach/pmu.h>
#include "tools/tach/dispatch.h"

static const char help[] =
	"usage: tach dispatch [--pmu NAME] [OPTION]... EVENT...\n"
	"       tach dispatch --batch < LINES\n"
	"\n"
	"Prints the register values that count these events at the same time, for any\n"
	"PMU. It does not access hardware.\n"
	"\n"
	"  -p, --pmu NAME           for this PMU (tach list --all), not this machine's.\n"
	"                           pfm3:NAME is a list of libpfm-3 (pfm3:core)\n"
	"  -l, --privilege LEVELS   where to count: letters of u k h; default u\n"
	"  -x, --unavailable N,...  do not use these configuration registers\n"
	"  -j, --json               print JSON\n"
	"      --pebs               sample precisely if the events can (Intel)\n"
	"      --ldlat N            load latency threshold (libpfm-3's Nehalem, Westmere;\n"
	"                           for others write EVENT:ldlat=N)\n"
	"      --lbr                branch records (libpfm-3's Nehalem and Westmere)\n"
	"      --ibs-fetch N, --ibs-op N  instruction-based sampling, every N (AMD)\n"
	"      --code FROM-TO       count in this address range only (ia64; up to 4)\n"
	"      --data FROM-TO       count accesses to this data only (ia64; up to 4)\n"
	"      --inverse            count outside the code ranges (Itanium 2, Montecito)\n"
	"      --batch              answer recorded questions of libpfm-3, one per line\n"
	"  -h, --help               print this text\n"
	"\n"
	"man tach-dispatch explains each option.\n"
	"Exit status: 0 done, 1 the events cannot be counted together, 2 bad usage.\n";

static int find_pmu(struct dispatch_request *r)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_pmu_info info = {.size = sizeof info};

	if (!r->pmu) {
		if (tach_pmu_host(&r->in.pmu, 1, &err) <= 0) {
			fprintf(stderr, "tach dispatch: %s; name a PMU with --pmu\n", err.text);
			return -1;
		}
		tach_pmu_describe(r->in.pmu, &info);
		r->pmu = info.name;
	}
	r->is_list = strncmp(r->pmu, "pfm3:", 5) == 0;
	r->in.pmu = r->is_list ? tach_dispatch_list(r->pmu + 5) : tach_pmu_find(r->pmu);
	if (r->in.pmu >= 0)
		return 0;
	if (r->is_list)
		fprintf(stderr,
			"tach dispatch: libpfm-3 has no list %s; it has core, atom, nhm, wsm, "
			"coreduo, p6, ppro, pii, pm, pentium4, gen_ia32, amd64_k7, amd64_k8, "
			"amd64_fam10h, amd64_fam15h, itanium, itanium2, montecito, gen_ia64\n",
			r->pmu + 5);
	else
		fprintf(stderr,
			"tach dispatch: no PMU is called %s; tach list --all names them\n",
			r->pmu);
	return -1;
}

static int encode(const struct dispatch_request *r, const char *name,
		  struct tach_dispatch_event *out, struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};
	int rc;

	if (strchr(name, ',') && !strchr(name, '/')) {
		snprintf(err->text, sizeof err->text, "blanks separate events, not commas");
		err->column = (int)strcspn(name, ",") + 1;
		return TACH_ERR_SYNTAX;
	}
	if (r->is_list)
		return tach_dispatch_find(r->in.pmu, 0, name, out, err);
	opt.os = TACH_OS_NONE;
	opt.privilege = r->in.privilege;
	opt.pmu = r->in.pmu;
	rc = tach_event_encode(name, &opt, &event, err);
	if (rc)
		return rc;
	if (event.pmu != r->in.pmu) {
		snprintf(err->text, sizeof err->text,
			 "not an event of %s but one whose registers the kernel chooses; 'tach "
			 "list --pmu %s' shows its own",
			 r->pmu, r->pmu);
		return TACH_ERR_NOTFOUND;
	}
	tach_dispatch_from_event(&event, out);
	return 0;
}

/* Prints the error and its position in the string. */
static void print_error(const char *string, const struct tach_error *err)
{
	fprintf(stderr, "tach dispatch: %s\n", err->text);
	if (strlen(string) > 200 || strpbrk(string, "\t\n"))
		return;
	fprintf(stderr, "    %s\n", string);
	if (err->column > 0 && (size_t)err->column <= strlen(string) + 1)
		fprintf(stderr, "    %*s\n", err->column, "^");
}

static int find_events(struct dispatch_request *r)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (r->nnames > TACH_DISPATCH_EVENTS_MAX) {
		fprintf(stderr, "tach dispatch: at most %d events\n", TACH_DISPATCH_EVENTS_MAX);
		return -1;
	}
	for (int i = 0; i < r->nnames; i++) {
		if (encode(r, r->names[i], &r->events[i], &err) == 0)
			continue;
		print_error(r->names[i], &err);
		return -1;
	}
	r->in.events = r->events;
	r->in.nevents = (uint32_t)r->nnames;
	return 0;
}

static int answer_request(struct dispatch_request *r)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_dispatch_out out = {.size = sizeof out};

	if (find_pmu(r) || find_events(r))
		return EXIT_NO;
	if (tach_dispatch_compute(&r->in, &out, &err)) {
		fprintf(stderr, "tach dispatch: %s: %s\n", r->pmu, err.text);
		return EXIT_NO;
	}
	(r->json ? dispatch_json : dispatch_text)(r, &out);
	return EXIT_DONE;
}

/* "FROM-TO"; TO is excluded. */
static int parse_range(struct tach_dispatch_ranges *list, const char *text)
{
	struct tach_dispatch_range *r = list->range;
	char *end;

	while (r < list->range + TACH_DISPATCH_RANGES_MAX && r->end)
		r++;
	if (r == list->range + TACH_DISPATCH_RANGES_MAX)
		return -1;
	r->start = strtoull(text, &end, 0);
	if (end == text || *end != '-')
		return -1;
	text = end + 1;
	r->end = strtoull(text, &end, 0);
	list->used = 1;
	return end == text || *end ? -1 : 0;
}

static int parse_unavailable(struct dispatch_request *r, const char *text)
{
	char *end;

	while (*text) {
		unsigned long n = strtoul(text, &end, 0);

		if (end == text || (*end && *end != ',') || n >= TACH_DISPATCH_PMC_MAX)
			return -1;
		r->in.unavailable[n / 64] |= 1ull << n % 64;
		text = *end ? end + 1 : end;
	}
	return 0;
}

enum { BATCH = 256, CODE, DATA, INVERSE, PEBS, LDLAT, LBR, IBS_FETCH, IBS_OP };

static const struct option options[] = {
	{"pmu", required_argument, NULL, 'p'},
	{"privilege", required_argument, NULL, 'l'},
	{"unavailable", required_argument, NULL, 'x'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"batch", no_argument, NULL, BATCH},
	{"code", required_argument, NULL, CODE},
	{"data", required_argument, NULL, DATA},
	{"inverse", no_argument, NULL, INVERSE},
	{"pebs", no_argument, NULL, PEBS},
	{"ldlat", required_argument, NULL, LDLAT},
	{"lbr", no_argument, NULL, LBR},
	{"ibs-fetch", required_argument, NULL, IBS_FETCH},
	{"ibs-op", required_argument, NULL, IBS_OP},
	{NULL, 0, NULL, 0},
};

/* Parses a number without other text. */
static int parse_number(const char *text, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	*out = (uint32_t)n;
	return *text < '0' || *text > '9' || *end || n > UINT32_MAX ? -1 : 0;
}

static int take_x86_option(struct tach_dispatch_x86 *x, int c)
{
	switch (c) {
	case PEBS:
		x->pebs = 1;
		return 0;
	case LDLAT:
		return parse_number(optarg, &x->ldlat);
	case LBR:
		x->lbr = 1;
		return 0;
	case IBS_FETCH:
		x->ibs_fetch = 1;
		return parse_number(optarg, &x->ibs_fetch_period);
	default:
		x->ibs_op = 1;
		return parse_number(optarg, &x->ibs_op_period);
	}
}

static int take_option(struct dispatch_request *r, int c)
{
	if (c >= PEBS) {
		r->in.x86 = &r->x86;
		return take_x86_option(&r->x86, c);
	}
	if (c >= CODE)
		r->in.ia64 = &r->ia64;
	switch (c) {
	case 'p':
		r->pmu = optarg;
		return 0;
	case 'l':
		return privilege_parse(optarg, &r->in.privilege) ? 0 : -1;
	case 'x':
		return parse_unavailable(r, optarg);
	case 'j':
		r->json = 1;
		return 0;
	case CODE:
		return parse_range(&r->ia64.code, optarg);
	case DATA:
		return parse_range(&r->ia64.data, optarg);
	case INVERSE:
		r->ia64.code.flags |= TACH_RANGE_INVERSE;
		return 0;
	}
	return -1;
}

/* Prints the values that the option accepts, as the help does. */
static int bad_option(int c, const char *given)
{
	static const struct {
		int c;
		const char *takes;
	} values[] = {
		{'l', PRIVILEGE_TAKES},
		{'x', "--unavailable takes numbers below 512, separated by commas"},
		{CODE, "--code takes FROM-TO (0x4000-0x5000), at most four times"},
		{DATA, "--data takes FROM-TO (0x4000-0x5000), at most four times"},
		{LDLAT, "--ldlat takes a number of cycles"},
		{IBS_FETCH, "--ibs-fetch takes a number"},
		{IBS_OP, "--ibs-op takes a number"},
	};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i].c == c)
			return refuse_usage("dispatch", "%s, not '%s'", values[i].takes, given);
	return print_usage_error("dispatch");
}

int cmd_dispatch(int argc, char **argv)
{
	static struct dispatch_request r;
	static char name[] = "tach dispatch"; /* getopt begins its messages with this name */
	int c;

	argv[0] = name;

	memset(&r, 0, sizeof r);
	r.in.privilege = TACH_PRIVILEGE_USER;
	r.x86.size = sizeof r.x86;
	r.ia64.size = sizeof r.ia64;
	while ((c = getopt_long(argc, argv, "p:l:x:jh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_DONE;
		}
		if (c == BATCH)
			return dispatch_batch(stdin, stdout);
		if (take_option(&r, c))
			return bad_option(c, optarg);
	}
	r.names = argv + optind;
	r.nnames = argc - optind;
	if (!r.nnames && !r.in.x86 && !r.in.ia64)
		return refuse_usage("dispatch", "no events given");
	return answer_request(&r);
}

/* SPDX-License-Identifier: MIT */
/* tach dispatch: register values for events, of any PMU, without touching hardware. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <tach/dispatch.h>
#include <tach/pmu.h>
#include "tools/tach/dispatch.h"

static const char help[] =
	"usage: tach dispatch [--pmu NAME] [OPTION]... EVENT...\n"
	"       tach dispatch --batch <LINES\n"
	"\n"
	"Prints the register values that count these events at the same time: which counter\n"
	"each gets, and what is to be written where. No hardware is touched, so any PMU's\n"
	"registers can be had on any machine.\n"
	"\n"
	"  -p, --pmu NAME           for this PMU (tach list --all); default: this machine's.\n"
	"                           pfm3:NAME is libpfm-3's list of that name (pfm3:core)\n"
	"  -l, --levels LEVELS      u, k or uk: where to count; default u\n"
	"  -x, --unavailable N,...  configuration registers that must not be used\n"
	"      --pebs               sample precisely where the events can (Intel)\n"
	"      --ldlat N            load latency threshold (libpfm-3's Nehalem, Westmere)\n"
	"      --lbr                branch records (libpfm-3's Nehalem, Westmere)\n"
	"      --ibs-fetch N, --ibs-op N  instruction-based sampling, every N (AMD)\n"
	"  -j, --json               machine-readable\n"
	"      --batch              answer recorded questions of libpfm-3, one a line\n"
	"  -h, --help               this text\n"
	"\n"
	"Exit status: 0 done, 1 the events cannot be counted together, 2 bad usage.\n";

struct request {
	struct tach_dispatch in;
	struct tach_dispatch_event events[TACH_DISPATCH_EVENTS_MAX];
	struct tach_dispatch_x86 x86;
	const char *pmu;
	int is_list, json;
	char **names;
	int nnames;
};

static int find_pmu(struct request *r)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (!r->pmu) {
		if (tach_pmu_host(&r->in.pmu, 1, &err) > 0)
			return 0;
		fprintf(stderr, "tach dispatch: %s; name a PMU with --pmu\n", err.text);
		return -1;
	}
	r->is_list = strncmp(r->pmu, "pfm3:", 5) == 0;
	r->in.pmu = r->is_list ? tach_dispatch_list(r->pmu + 5) : tach_pmu_find(r->pmu);
	if (r->in.pmu >= 0)
		return 0;
	fprintf(stderr, "tach dispatch: no PMU is called %s; tach list --all names them\n",
		r->pmu);
	return -1;
}

static int encode(const struct request *r, const char *name, struct tach_dispatch_event *out,
		  struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_DEFAULT;
	struct tach_event event = {.size = sizeof event};
	int rc;

	if (r->is_list)
		return tach_dispatch_find(r->in.pmu, 0, name, out, err);
	opt.os = TACH_OS_NONE;
	opt.privilege = r->in.privilege;
	opt.pmu = r->in.pmu;
	rc = tach_event_encode(name, &opt, &event, err);
	if (rc)
		return rc;
	if (event.pmu != r->in.pmu)
		return TACH_ERR_NOTFOUND;
	tach_dispatch_event(&event, out);
	return 0;
}

static int find_events(struct request *r)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (r->nnames > TACH_DISPATCH_EVENTS_MAX) {
		fprintf(stderr, "tach dispatch: at most %d events\n", TACH_DISPATCH_EVENTS_MAX);
		return -1;
	}
	for (int i = 0; i < r->nnames; i++) {
		err.text[0] = 0;
		if (encode(r, r->names[i], &r->events[i], &err) == 0)
			continue;
		fprintf(stderr, "tach dispatch: %s: %s\n", r->names[i],
			err.text[0] ? err.text : "not an event of this PMU");
		return -1;
	}
	r->in.events = r->events;
	r->in.nevents = (uint32_t)r->nnames;
	return 0;
}

static void table(const char *kind, const struct tach_register *list, uint32_t n,
		  const struct request *r)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *event = *kind == 'D' && i < r->in.nevents ? r->names[i] : "";

		printf("PM%s%-3u  0x%-10llx  ", kind, list[i].number,
		       (unsigned long long)list[i].address);
		if (*kind == 'C')
			printf("0x%016llx\n", (unsigned long long)list[i].value);
		else
			printf("%-18s  %s\n", "", event);
	}
}

static void debug_registers(const char *kind, const struct tach_ranges_used *used)
{
	for (uint32_t i = 0; i < used->nregisters; i++)
		printf("%s%-4u              0x%016llx\n", kind, used->registers[i].number,
		       (unsigned long long)used->registers[i].value);
}

static void json_list(const char *key, const struct tach_register *list, uint32_t n)
{
	printf("  \"%s\": [", key);
	for (uint32_t i = 0; i < n; i++)
		printf("%s\n    {\"number\": %u, \"value\": \"0x%llx\", \"address\": "
		       "\"0x%llx\", "
		       "\"alternative\": \"0x%llx\"}",
		       i ? "," : "", list[i].number, (unsigned long long)list[i].value,
		       (unsigned long long)list[i].address,
		       (unsigned long long)list[i].alternative);
	printf("%s]", n ? "\n  " : "");
}

/* Numbers that may be wider than 53 bits are strings. */
static void json(const struct tach_dispatch_out *out)
{
	printf("{\n  \"schema\": \"tach-dispatch-1\",\n");
	json_list("pmcs", out->pmcs, out->npmcs);
	printf(",\n");
	json_list("pmds", out->pmds, out->npmds);
	printf(",\n");
	json_list("code_registers", out->code.registers, out->code.nregisters);
	printf(",\n");
	json_list("data_registers", out->data.registers, out->data.nregisters);
	printf("\n}\n");
}

static int answer(struct request *r)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_dispatch_out out;

	if (find_pmu(r) || find_events(r))
		return EXIT_NO;
	if (tach_dispatch(&r->in, &out, &err)) {
		fprintf(stderr, "tach dispatch: %s\n", err.text);
		return EXIT_NO;
	}
	if (r->json) {
		json(&out);
		return EXIT_DONE;
	}
	printf("%-6s  %-12s  %-18s  %s\n", "", "address", "value", "event");
	table("C", out.pmcs, out.npmcs, r);
	table("D", out.pmds, out.npmds, r);
	debug_registers("IBR", &out.code);
	debug_registers("DBR", &out.data);
	return EXIT_DONE;
}

static int levels(struct request *r, const char *text)
{
	r->in.privilege = 0;
	for (; *text; text++) {
		if (*text == 'u')
			r->in.privilege |= TACH_PLM_USER;
		else if (*text == 'k')
			r->in.privilege |= TACH_PLM_KERNEL;
		else if (*text == 'h')
			r->in.privilege |= TACH_PLM_HYPERVISOR;
		else
			return -1;
	}
	return r->in.privilege ? 0 : -1;
}

static int unavailable(struct request *r, const char *text)
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

enum { BATCH = 256, PEBS, LDLAT, LBR, IBS_FETCH, IBS_OP };

static const struct option options[] = {
	{"pmu", required_argument, NULL, 'p'},
	{"levels", required_argument, NULL, 'l'},
	{"unavailable", required_argument, NULL, 'x'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"batch", no_argument, NULL, BATCH},
	{"pebs", no_argument, NULL, PEBS},
	{"ldlat", required_argument, NULL, LDLAT},
	{"lbr", no_argument, NULL, LBR},
	{"ibs-fetch", required_argument, NULL, IBS_FETCH},
	{"ibs-op", required_argument, NULL, IBS_OP},
	{NULL, 0, NULL, 0},
};

static int take_option(struct request *r, int c)
{
	uint32_t number = optarg ? (uint32_t)strtoul(optarg, NULL, 0) : 0;

	if (c >= PEBS)
		r->in.x86 = &r->x86;
	switch (c) {
	case 'p':
		r->pmu = optarg;
		return 0;
	case 'l':
		return levels(r, optarg);
	case 'x':
		return unavailable(r, optarg);
	case 'j':
		r->json = 1;
		return 0;
	case PEBS:
		r->x86.pebs = 1;
		return 0;
	case LDLAT:
		r->x86.ldlat = number;
		return 0;
	case LBR:
		r->x86.lbr = 1;
		return 0;
	case IBS_FETCH:
		r->x86.ibs_fetch = 1;
		r->x86.ibs_fetch_period = number;
		return 0;
	case IBS_OP:
		r->x86.ibs_op = 1;
		r->x86.ibs_op_period = number;
		return 0;
	}
	return -1;
}

int cmd_dispatch(int argc, char **argv)
{
	static struct request r;
	int c;

	memset(&r, 0, sizeof r);
	r.in.privilege = TACH_PLM_USER;
	r.x86.size = sizeof r.x86;
	while ((c = getopt_long(argc, argv, "p:l:x:jh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_DONE;
		}
		if (c == BATCH)
			return dispatch_batch(stdin, stdout);
		if (take_option(&r, c)) {
			fputs("tach dispatch: bad option or value; --help tells more\n",
			      stderr);
			return EXIT_USAGE;
		}
	}
	r.names = argv + optind;
	r.nnames = argc - optind;
	if (!r.nnames && !r.in.x86) {
		fputs("tach dispatch: name events; --help tells more\n", stderr);
		return EXIT_USAGE;
	}
	return answer(&r);
}

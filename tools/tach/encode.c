/* SPDX-License-Identifier: MIT */
/* tach encode: what an event string means to the hardware and to the kernel. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include "tools/tach/commands.h"
#include "tools/tach/encode.h"

static const char help[] =
	"usage: tach encode [OPTION]... EVENT...\n"
	"       tach encode --batch [OPTION]... < LINES\n"
	"\n"
	"Shows what an event string means: the register words, the fields of\n"
	"perf_event_attr, the counters it may use, and its name with everything spelled\n"
	"out. An EVENT is\n"
	"\n"
	"  [PMU::]EVENT[:UMASK]...[:MODIFIER[=N]]...   skl::INST_RETIRED:ANY_P:u:c=1\n"
	"  the vendor's name                           INST_RETIRED.ANY_P\n"
	"  a name of perf's or a preset                cycles, L1-dcache-loads, PAPI_TOT_INS\n"
	"  a raw code                                  r01c2\n"
	"  terms of a PMU in sysfs                     cpu/event=0xc0,umask=1/u\n"
	"\n"
	"'.' may stand for ':'. tach list shows events, umasks and what they count.\n"
	"\n"
	"  -p, --pmu NAME       the PMU of strings without a prefix (default: this\n"
	"                       machine's)\n"
	"  -o, --os FORM        none: register words; perf: attr with the hardware's\n"
	"                       modifiers; perf_ext: attr with perf's own too (default)\n"
	"  -l, --plm LEVELS     where to count when the string does not say: letters out\n"
	"                       of u k h, or libpfm's number (default u)\n"
	"  -j, --json           machine-readable\n"
	"  -b, --batch          answers lines \"string TAB plm TAB os\" (os 0 none, 1 perf,\n"
	"                       2 perf_ext) exactly as libpfm-4 does, in its words:\n"
	"                       string plm os OK payload name, or string plm os ERROR.\n"
	"                       payload: words in hex, or type:config:config1:config2:\n"
	"                       excludes(u k hv host guest):precise:pinned:exclusive:\n"
	"                       freq:period:cpu:flags\n"
	"      --libpfm4        exactly as libpfm-4 also without --batch\n"
	"      --host NAME      generic events filter by this PMU's levels (NAME empty: no\n"
	"                       PMU) instead of this machine's\n"
	"      --sysfs DIR      instead of /sys/bus/event_source/devices\n"
	"      --tracefs DIR    instead of /sys/kernel/tracing/events\n"
	"  -h, --help           this text\n"
	"\n"
	"TACH_PMU=NAME in the environment makes another PMU this machine's.\n"
	"Exit status: 0 all encoded (or batch answered), 1 something refused, 2 bad usage or\n"
	"a line of the batch that is none.\n";

enum { LIBPFM4 = 256, HOST, SYSFS, TRACEFS };

static const struct option options[] = {
	{"pmu", required_argument, NULL, 'p'},
	{"os", required_argument, NULL, 'o'},
	{"plm", required_argument, NULL, 'l'},
	{"json", no_argument, NULL, 'j'},
	{"batch", no_argument, NULL, 'b'},
	{"libpfm4", no_argument, NULL, LIBPFM4},
	{"host", required_argument, NULL, HOST},
	{"sysfs", required_argument, NULL, SYSFS},
	{"tracefs", required_argument, NULL, TRACEFS},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int usage(const char *what, const char *value)
{
	fprintf(stderr, "tach encode: %s '%s'; tach encode --help tells more\n", what, value);
	return EXIT_USAGE;
}

/* ---- plain ---- */

static void print_counters(uint64_t counters)
{
	const char *comma = "";

	if (!counters) {
		printf("any");
		return;
	}
	for (int i = 0; i < 64; i++) {
		int first = i;

		if (!(counters >> i & 1))
			continue;
		while (i + 1 < 64 && i + 1 != 32 && counters >> (i + 1) & 1)
			i++;
		printf("%s%s%d", comma, first < 32 ? "" : "f", first & 31);
		if (i > first)
			printf("-%s%d", i < 32 ? "" : "f", i & 31);
		comma = ",";
	}
}

static void print_excludes(const struct tach_event *e)
{
	static const char names[][8] = {"user", "kernel", "hv", "host", "guest"};
	const uint8_t bits[] = {e->exclude_user, e->exclude_kernel, e->exclude_hv,
				e->exclude_host, e->exclude_guest};
	int n = 0;

	for (int i = 0; i < 5; i++)
		if (bits[i])
			printf("%s%s", n++ ? ", " : "  exclude   ", names[i]);
	if (n)
		putchar('\n');
}

static void print_attr(const struct tach_event *e)
{
	printf("  perf      type %u, config 0x%" PRIx64, e->type, e->config);
	if (e->has & TACH_EVENT_HAS_CONFIG1)
		printf(", config1 0x%" PRIx64, e->config1);
	if (e->has & TACH_EVENT_HAS_CONFIG2)
		printf(", config2 0x%" PRIx64, e->config2);
	if (e->has & (TACH_EVENT_HAS_PERIOD | TACH_EVENT_HAS_FREQ))
		printf(", %s %" PRIu64, e->has & TACH_EVENT_HAS_FREQ ? "freq" : "period",
		       e->period);
	if (e->has & TACH_EVENT_HAS_PRECISE)
		printf(", precise %d", e->precise);
	printf("%s%s", e->pinned ? ", pinned" : "", e->exclusive ? ", exclusive" : "");
	if (e->has & TACH_EVENT_HAS_CPU)
		printf(", cpu %d", e->cpu);
	putchar('\n');
	print_excludes(e);
}

static void print_text(const struct tach_event *e, enum tach_os os)
{
	printf("%s\n  words    ", e->name);
	for (uint32_t i = 0; i < e->ncodes; i++)
		printf(" 0x%" PRIx64, e->codes[i]);
	printf("\n  counters  ");
	print_counters(e->counters);
	putchar('\n');
	if (os != TACH_OS_NONE)
		print_attr(e);
}

/* ---- JSON ---- */

static void print_string(const char *key, const char *text)
{
	printf("\"%s\": ", key);
	json_string(stdout, text);
}

static void print_attr_json(const struct tach_event *e)
{
	printf(", \"type\": %u, \"config\": \"0x%" PRIx64 "\"", e->type, e->config);
	if (e->has & TACH_EVENT_HAS_CONFIG1)
		printf(", \"config1\": \"0x%" PRIx64 "\"", e->config1);
	if (e->has & TACH_EVENT_HAS_CONFIG2)
		printf(", \"config2\": \"0x%" PRIx64 "\"", e->config2);
	if (e->has & TACH_EVENT_HAS_PERIOD)
		printf(", \"sample_period\": %" PRIu64, e->period);
	if (e->has & TACH_EVENT_HAS_FREQ)
		printf(", \"sample_freq\": %" PRIu64, e->period);
	if (e->has & TACH_EVENT_HAS_PRECISE)
		printf(", \"precise_ip\": %d", e->precise);
	if (e->has & TACH_EVENT_HAS_CPU)
		printf(", \"cpu\": %d", e->cpu);
	printf(", \"pinned\": %s, \"exclusive\": %s", e->pinned ? "true" : "false",
	       e->exclusive ? "true" : "false");
	printf(", \"exclude_user\": %s, \"exclude_kernel\": %s, \"exclude_hv\": %s",
	       e->exclude_user ? "true" : "false", e->exclude_kernel ? "true" : "false",
	       e->exclude_hv ? "true" : "false");
	printf(", \"exclude_host\": %s, \"exclude_guest\": %s",
	       e->exclude_host ? "true" : "false", e->exclude_guest ? "true" : "false");
}

static void print_json(const char *string, const struct tach_event *e, enum tach_os os)
{
	printf("{");
	print_string("event", string);
	printf(", ");
	print_string("name", e->name);
	printf(", \"words\": [");
	for (uint32_t i = 0; i < e->ncodes; i++)
		printf("%s\"0x%" PRIx64 "\"", i ? ", " : "", e->codes[i]);
	printf("], \"counters\": \"");
	print_counters(e->counters);
	printf("\"");
	if (os != TACH_OS_NONE)
		print_attr_json(e);
	printf("}");
}

static void print_error_json(const char *string, const struct tach_error *err)
{
	printf("{");
	print_string("event", string);
	printf(", \"error\": %d, \"column\": %d, ", err->code, err->column);
	print_string("text", err->text);
	printf("}");
}

/* ---- events of the command line ---- */

static int encode_all(char **strings, int n, const struct tach_encode_options *opt, int json)
{
	int status = EXIT_DONE;

	if (json)
		printf("[");
	for (int i = 0; i < n; i++) {
		struct tach_event e = {.size = sizeof e};
		struct tach_error err = TACH_ERROR_INIT;
		int rc = tach_event_encode(strings[i], opt, &e, &err);

		if (json)
			printf("%s", i ? ",\n " : "");
		if (rc)
			status = EXIT_NO;
		if (rc && json)
			print_error_json(strings[i], &err);
		else if (rc)
			complain("tach encode", strings[i], &err);
		else if (json)
			print_json(strings[i], &e, opt->os);
		else
			print_text(&e, opt->os);
	}
	if (json)
		printf("]\n");
	return status;
}

/* ---- options ---- */

static int parse_os(const char *text, enum tach_os *os)
{
	static const char names[][12] = {"none", "perf", "perf_ext"};

	for (int i = 0; i < 3; i++)
		if (strcmp(text, names[i]) == 0) {
			*os = (enum tach_os)i;
			return 1;
		}
	return 0;
}

static int parse_levels(const char *text, uint32_t *levels)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);

	*levels = 0;
	if (end != text && !*end) {
		*levels = (uint32_t)number;
		return number <= 0x1f;
	}
	for (; *text; text++)
		switch (*text) {
		case 'u':
			*levels |= TACH_PRIVILEGE_USER;
			break;
		case 'k':
			*levels |= TACH_PRIVILEGE_KERNEL;
			break;
		case 'h':
			*levels |= TACH_PRIVILEGE_HYPERVISOR;
			break;
		default:
			return 0;
		}
	return 1;
}

int cmd_encode(int argc, char **argv)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	int json = 0, batch = 0, c;

	while ((c = getopt_long(argc, argv, "p:o:l:jbh", options, NULL)) != -1)
		switch (c) {
		case 'p':
			opt.pmu = tach_pmu_find(optarg);
			if (opt.pmu < 0)
				return usage("no PMU", optarg);
			break;
		case 'o':
			if (!parse_os(optarg, &opt.os))
				return usage("--os takes none, perf or perf_ext, not", optarg);
			break;
		case 'l':
			if (!parse_levels(optarg, &opt.privilege))
				return usage(
					"--plm takes letters out of u k h, or 0 .. 31, not",
					optarg);
			break;
		case 'j':
			json = 1;
			break;
		case 'b':
			batch = 1;
			opt.flags |= TACH_ENCODE_LIBPFM4;
			break;
		case LIBPFM4:
			opt.flags |= TACH_ENCODE_LIBPFM4;
			break;
		case HOST:
			opt.host = optarg;
			break;
		case SYSFS:
			opt.sysfs = optarg;
			break;
		case TRACEFS:
			opt.tracefs = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_DONE;
		default:
			fputs("tach encode --help tells more\n", stderr);
			return EXIT_USAGE;
		}
	if (batch ? optind < argc : optind == argc) {
		fputs(batch ? "tach encode: --batch reads its events from standard input\n"
			    : help,
		      stderr);
		return EXIT_USAGE;
	}
	return batch ? encode_batch(stdin, &opt)
		     : encode_all(argv + optind, argc - optind, &opt, json);
}

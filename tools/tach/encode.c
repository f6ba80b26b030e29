/* SPDX-License-Identifier: MIT */
/* tach encode: the encoding of an event string for hardware and kernel. */
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
	"Shows an event's register words, perf_event_attr, counters and full name:\n"
	"\n"
	"  [PMU::]EVENT[:UMASK]...[:MODIFIER[=N]]  skl::INST_RETIRED:ANY_P:u:c=1\n"
	"  the vendor's name                       INST_RETIRED.ANY_P\n"
	"  a name from perf, or a preset           cycles, L1-dcache-loads, PAPI_TOT_INS\n"
	"  a raw code, or terms of a PMU in sysfs  r01c2, cpu/event=0xc0,umask=1/u\n"
	"\n"
	"  -p, --pmu NAME         PMU of events without a prefix, not this machine's\n"
	"  -l, --privilege LEVELS levels of events without one: letters of u k h (u)\n"
	"  -j, --json             print JSON\n"
	"  -o, --os FORM          none: register words; perf: attr with the hardware's\n"
	"                         modifiers; perf_ext: also perf's modifiers (default)\n"
	"  -b, --batch            answer lines \"EVENT TAB plm TAB os\" like libpfm-4\n"
	"      --libpfm4          answer like libpfm-4 without --batch\n"
	"      --host NAME        levels of generic events from this PMU (\"\": no PMU)\n"
	"      --sysfs DIR        read DIR instead of /sys/bus/event_source/devices\n"
	"      --tracefs DIR      read DIR instead of /sys/kernel/tracing/events\n"
	"  -h, --help             print this text\n"
	"\n"
	"tach list finds events and umasks. man tach-events has the grammar; man\n"
	"tach-encode explains each option. TACH_PMU=NAME replaces this machine's PMU.\n"
	"Exit status: 0 all encoded, 1 an event was refused, 2 bad usage or a bad line.\n";

enum { LIBPFM4 = 256, HOST, SYSFS, TRACEFS };

static const struct option options[] = {
	{"pmu", required_argument, NULL, 'p'},
	{"os", required_argument, NULL, 'o'},
	{"privilege", required_argument, NULL, 'l'},
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
	return refuse_usage("encode", "%s '%s'", what, value);
}

/* ---- plain ---- */

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
	char counters[COUNTERS_TEXT_MAX];

	printf("%s\n  words    ", e->name);
	for (uint32_t i = 0; i < e->ncodes; i++)
		printf(" 0x%" PRIx64, e->codes[i]);
	counters_text(e->counters, counters, sizeof counters);
	printf("\n  counters  %s\n", counters);
	if (os != TACH_OS_NONE)
		print_attr(e);
}

/* ---- JSON ---- */

static void attr_json(struct tach__json_out *json, const struct tach_event *e)
{
	tach__json_unsigned(json, "type", e->type);
	tach__json_hex(json, "config", e->config);
	if (e->has & TACH_EVENT_HAS_CONFIG1)
		tach__json_hex(json, "config1", e->config1);
	if (e->has & TACH_EVENT_HAS_CONFIG2)
		tach__json_hex(json, "config2", e->config2);
	if (e->has & TACH_EVENT_HAS_PERIOD)
		tach__json_unsigned(json, "sample_period", e->period);
	if (e->has & TACH_EVENT_HAS_FREQ)
		tach__json_unsigned(json, "sample_freq", e->period);
	if (e->has & TACH_EVENT_HAS_PRECISE)
		tach__json_int(json, "precise_ip", e->precise);
	if (e->has & TACH_EVENT_HAS_CPU)
		tach__json_int(json, "cpu", e->cpu);
	tach__json_bool(json, "pinned", e->pinned);
	tach__json_bool(json, "exclusive", e->exclusive);
	tach__json_bool(json, "exclude_user", e->exclude_user);
	tach__json_bool(json, "exclude_kernel", e->exclude_kernel);
	tach__json_bool(json, "exclude_hv", e->exclude_hv);
	tach__json_bool(json, "exclude_host", e->exclude_host);
	tach__json_bool(json, "exclude_guest", e->exclude_guest);
}

static void event_json(struct tach__json_out *json, const struct tach_event *e, enum tach_os os)
{
	char counters[COUNTERS_TEXT_MAX];

	tach__json_string(json, "name", e->name);
	tach__json_array(json, "words");
	for (uint32_t i = 0; i < e->ncodes; i++)
		tach__json_hex(json, NULL, e->codes[i]);
	tach__json_end(json);
	counters_text(e->counters, counters, sizeof counters);
	tach__json_string(json, "counters", counters);
	if (os != TACH_OS_NONE)
		attr_json(json, e);
}

static void error_json(struct tach__json_out *json, const struct tach_error *err)
{
	tach__json_int(json, "error", err->code);
	tach__json_int(json, "column", err->column);
	tach__json_string(json, "text", err->text);
}

/* ---- events that the command line names ---- */

/*
 * The library stops at the end of the first event, so that callers can walk a list. This
 * function reports the rest of the string, which is not encoded. Commas between a device's
 * slashes belong to the event.
 */
static void name_rest(const char *string)
{
	const char *slash = strchr(string, '/'), *comma = strchr(string, ',');

	if (comma && slash && slash < comma && (slash = strchr(slash + 1, '/')))
		comma = strchr(slash, ',');
	if (comma)
		fprintf(stderr,
			"tach encode: one event an argument: ignored is '%s'\n    %s\n    "
			"%*s^\n",
			comma, string, (int)(comma - string), "");
}

static int encode_text(char **strings, int n, const struct tach_encode_options *opt)
{
	int status = EXIT_DONE;

	for (int i = 0; i < n; i++) {
		struct tach_event e = {.size = sizeof e};
		struct tach_error err = TACH_ERROR_INIT;

		if (tach_event_encode(strings[i], opt, &e, &err) == 0) {
			print_text(&e, opt->os);
			name_rest(strings[i]);
			continue;
		}
		complain("tach encode", strings[i], &err);
		status = EXIT_NO;
	}
	return status;
}

static int encode_json(char **strings, int n, const struct tach_encode_options *opt)
{
	int status = EXIT_DONE;
	struct json_to to;
	struct tach__json_out *json = &to.json;

	json_begin(&to, stdout, TACH__JSON_SPACED);
	tach__json_array(json, NULL);
	for (int i = 0; i < n; i++) {
		struct tach_event e = {.size = sizeof e};
		struct tach_error err = TACH_ERROR_INIT;

		if (i)
			tach__json_line(json, 1);
		tach__json_object(json, NULL);
		tach__json_string(json, "event", strings[i]);
		if (tach_event_encode(strings[i], opt, &e, &err) == 0) {
			event_json(json, &e, opt->os);
			name_rest(strings[i]);
		} else {
			error_json(json, &err);
			status = EXIT_NO;
		}
		tach__json_end(json);
	}
	tach__json_end(json);
	json_end(&to);
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

int cmd_encode(int argc, char **argv)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	static char name[] = "tach encode"; /* getopt begins its messages with this name */
	int json = 0, batch = 0, c;

	argv[0] = name;
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
			if (!privilege_parse(optarg, &opt.privilege))
				return usage(PRIVILEGE_TAKES ", not", optarg);
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
			return print_usage_error("encode");
		}
	if (batch ? optind < argc : optind == argc)
		return refuse_usage("encode", "%s",
				    batch ? "--batch reads its events from standard input"
					  : "no events given");
	if (batch)
		return encode_batch(stdin, &opt);
	return (json ? encode_json : encode_text)(argv + optind, argc - optind, &opt);
}

/* SPDX-License-Identifier: MIT */
/* The machine that runs benchmarks: the sources of its facts, and the text about it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <tach/bench.h>
#include "core/bench/context.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-machine.XXXXXX";

#define CPU	"/sys/devices/system/cpu/"
#define CPUFREQ CPU "cpu0/cpufreq/"

/* In order; "" with content NULL: removes all files of the simulated machine. */
static void read_from_files(void)
{
	static const struct {
		const char *path, *content;
		struct tach__machine want;
	} of[] = {
		{"", NULL, {.mhz = 0}},
		{"/proc/cpuinfo", "cpu MHz : 2400.5\nother : 1\n", {.mhz = 2400.5}},
		/* If a file repeats a key, the first line is used. */
		{"/proc/cpuinfo",
		 "processor : 0\nmodel name\t: A\ncpu MHz\t\t: 0.5\n"
		 "processor : 1\nmodel name\t: B\ncpu MHz\t\t: 900\n",
		 {.mhz = 0.5, .model = "A"}},
		{"/proc/loadavg", "", {.mhz = 0.5, .model = "A"}},
		{"/proc/loadavg", "0.25 9 9 1/2 3\n", {.mhz = 0.5, .model = "A", .load = 0.25}},
		{"", NULL, {.mhz = 0}},
		{CPUFREQ "scaling_governor", "powersave\n", {.governor = "powersave"}},
		{CPUFREQ "scaling_min_freq",
		 "800000\n",
		 {.governor = "powersave", .least_mhz = 800}},
		{CPUFREQ "scaling_max_freq",
		 "4700500\n",
		 {.governor = "powersave", .least_mhz = 800, .most_mhz = 4700.5}},
		{CPUFREQ "scaling_min_freq",
		 "1\n",
		 {.governor = "powersave", .least_mhz = 0.001, .most_mhz = 4700.5}},
		{CPUFREQ "scaling_max_freq",
		 "1\n",
		 {.governor = "powersave", .least_mhz = 0.001, .most_mhz = 0.001}},
		{"", NULL, {.mhz = 0}},
		{CPU "cpufreq/boost", "0\n", {.turbo = 0}},
		{CPU "cpufreq/boost", "1\n", {.turbo = 1}},
		{CPU "cpufreq/boost", "2\n", {.turbo = 0}},
		{CPU "intel_pstate/no_turbo", "1\n", {.turbo = 0}},
		{CPU "intel_pstate/no_turbo", "\n", {.turbo = 0}},
		{CPU "intel_pstate/no_turbo", "0\n", {.turbo = 1}},
		{CPUFREQ "scaling_min_freq", "", {.turbo = 1}},
	};

	CHECK(mkdtemp(root) != NULL);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		const struct tach__machine *want = &of[i].want;
		struct tach__machine m;

		if (of[i].content)
			root_put(root, of[i].path, "%s", of[i].content);
		else
			root_wipe(root);
		memset(&m, 7, sizeof m);
		tach__machine_look(&m, root);
		CHECK(m.processors == sysconf(_SC_NPROCESSORS_ONLN), "%ld", m.processors);
		CHECK(m.mhz == want->mhz && strcmp(m.model, want->model) == 0 &&
			      m.load == want->load,
		      "number %zu: %g, %s, %g", i, m.mhz, m.model, m.load);
		CHECK(strcmp(m.governor, want->governor) == 0 &&
			      m.least_mhz == want->least_mhz && m.most_mhz == want->most_mhz &&
			      m.turbo == want->turbo,
		      "number %zu: %s, %g, %g, %d", i, m.governor, m.least_mhz, m.most_mhz,
		      m.turbo);
	}
	root_wipe(root);
	rmdir(root);
}

static int append(void *context, const char *text, size_t length)
{
	strncat(context, text, length);
	return 0;
}

static void warnings_are_of_what_moves(void)
{
	static const struct {
		struct tach__machine m;
		const char *want;
	} of[] = {
		{{.processors = 4}, "4 x processor, load 0.00\n"},
		{{.processors = 2, .model = "A\x1b CPU", .mhz = 0.6, .load = 1},
		 "2 x A? CPU, 1 MHz, load 1.00\n"},
		{{.processors = 2, .load = 1.25},
		 "2 x processor, load 1.25\n"
		 "warning: the machine is busy (load 1.25, 2 processors): other "
		 "programs change the times\n"},
		{{.processors = 1, .governor = "performance", .least_mhz = 1, .most_mhz = 2},
		 "1 x processor, load 0.00\n"},
		{{.processors = 1, .governor = "x", .least_mhz = 2, .most_mhz = 2},
		 "1 x processor, load 0.00\n"
		 "warning: the frequency is scaled (governor x): times vary with it\n"},
		{{.processors = 1,
		  .governor = "powersave",
		  .least_mhz = 800,
		  .most_mhz = 4700.5,
		  .turbo = 1},
		 "1 x processor, load 0.00\n"
		 "warning: the frequency is scaled (governor powersave, 800 to 4700 MHz): "
		 "times vary with it\n"
		 "warning: turbo is on: the frequency depends on heat and on what other "
		 "processors do\n"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		char text[1024] = "";
		struct tach__out out;

		tach__out_open(&out, append, text);
		tach__machine_text(&out, &of[i].m);
		tach__out_flush(&out);
		CHECK(strcmp(text, of[i].want) == 0, "%s, not %s", text, of[i].want);
	}
}

/* The date is a second between begin and end of the writing. */
static void google_benchmarks_context(void)
{
	static const struct tach__machine scaled = {.processors = 6,
						    .mhz = 2400.5,
						    .load = 0.25,
						    .governor = "powersave"},
					  plain = {
						  .processors = 6, .mhz = 2400.5, .load = 0.25};
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	for (int i = 0; i < 2; i++) {
		char text[1024] = "", date[64], want[1024];
		struct tach__out out;
		time_t first = time(NULL), t;
		int found = 0;

		tach__out_open(&out, append, text);
		tach__machine_google(&out, i ? &scaled : &plain);
		tach__out_flush(&out);
		t = time(NULL);
		for (; t >= first && !found; t--) {
			strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", gmtime(&t));
			snprintf(want, sizeof want,
				 "{\"date\": \"%s\", \"host_name\": \"%s\", "
				 "\"executable\": \"\", \"num_cpus\": 6, "
				 "\"mhz_per_cpu\": 2400, \"cpu_scaling_enabled\": %s, "
				 "\"caches\": [], \"load_avg\": [0.25], "
				 "\"library_build_type\": \"release\", "
				 "\"json_schema_version\": 1}",
				 date, host, i ? "true" : "false");
			found = strcmp(text, want) == 0;
		}
		CHECK(found, "%s, not %s", text, want);
	}
}

/* The facts of this machine, shortened like every text. */
static void this_machine(void)
{
	char text[2048], start[64], first[8] = "#######";
	int n = tach_bench_context(TACH_BENCH_TEXT, text, sizeof text);

	snprintf(start, sizeof start, "%ld x ", sysconf(_SC_NPROCESSORS_ONLN));
	CHECK(n == (int)strlen(text) && strncmp(text, start, strlen(start)) == 0 &&
		      strstr(text, ", load "),
	      "%s", text);
	n = tach_bench_context(TACH_BENCH_GOOGLE, text, sizeof text);
	CHECK(n == (int)strlen(text) && strncmp(text, "{\"date\": ", 9) == 0, "%s", text);
	/* The text's length changes with the load. */
	CHECK(tach_bench_context(TACH_BENCH_GOOGLE, first, 0) > 100 && *first == '#');
	CHECK(tach_bench_context(TACH_BENCH_GOOGLE, first, 1) > 100 &&
	      memcmp(first, "\0#", 2) == 0);
	CHECK(tach_bench_context(TACH_BENCH_GOOGLE, first, 6) > 100 &&
	      memcmp(first, "{\"dat\0#", 7) == 0);
}

int main(void)
{
	CASE(read_from_files);
	CASE(warnings_are_of_what_moves);
	CASE(google_benchmarks_context);
	CASE(this_machine);
	return check_done();
}

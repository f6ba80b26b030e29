/* SPDX-License-Identifier: MIT */
/*
 * A benchmark program, called with arguments: the benchmarks that it runs, their order, its
 * exact output, and its exit status. Only the bodies advance the clock.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static int no_memory; /* number of texts for which memory fails */

#define main	  benchmarks
#define malloc(n) (no_memory && no_memory-- ? NULL : (malloc)(n))
int benchmarks(int argc, char **argv);
#include <tach/bench_main.h>
#undef main
#undef malloc
#include "core/os/sys.h"
#include "tests/check.h"
#include "tests/heap.h"
#include "tests/descriptors.h"
#include "tests/stack.h"

static uint64_t clock_ns, scale = 1000; /* in thousandths */

#pragma GCC visibility push(default)
int clock_gettime(clockid_t which, struct timespec *t)
{
	(void)which;
	t->tv_sec = (time_t)(clock_ns / 1000000000);
	t->tv_nsec = (long)(clock_ns % 1000000000);
	return 0;
}
#pragma GCC visibility pop

/* ---- benchmarks ---- */

static uint64_t compares, found;
static char calls[256]; /* calls of the functions around a run */

TACH_BENCH(plain)
{
	clock_ns += scale;
}

/* A single value has no law, and does not belong to the next family. */
TACH_BENCH(lone)
{
	clock_ns += 500;
}
TACH_BENCH_COMPLEXITY(lone);

TACH_BENCH_ARGS(steps, 10, 20, 40)
{
	clock_ns += 3 * tach_arg;
}
TACH_BENCH_UNITS(steps, "step", tach_arg);
TACH_BENCH_COMPLEXITY(steps);
TACH_BENCH_SETUP(steps)
{
	sprintf(calls + strlen(calls), "<%d", (int)(tach_arg + tach_arg2 + tach_arg3));
}
TACH_BENCH_TEARDOWN(steps)
{
	sprintf(calls + strlen(calls), "%d>", (int)(tach_arg + tach_arg2 + tach_arg3));
}

TACH_BENCH(counts)
{
	clock_ns += 8;
	compares += 3;
	found += 2;
}
TACH_BENCH_COUNTER(counts, compares);
TACH_BENCH_RATE(counts, found);

/* Work that both loops do is subtracted. */
TACH_BENCH(less)
{
	clock_ns += 10;
	compares += 10 * scale;
}
TACH_BENCH_LESS(less)
{
	clock_ns += 4;
	compares += 4 * scale;
}
TACH_BENCH_COUNTER(less, compares);

/* This benchmark fails: it cannot have so many threads. */
TACH_BENCH(crowd)
{
	clock_ns += 1000;
}
TACH_BENCH_THREADS(crowd, 1000);

TACH_BENCH(alike)
{
	clock_ns += 1000;
}

static int made, eaten;

TACH_BENCH_ARGS(eats, 3)
{
	eaten++;
	clock_ns += made == eaten ? 10 * tach_arg : 1000000;
}
TACH_BENCH_LESS(eats)
{
	eaten++;
}
TACH_BENCH_BEFORE(eats)
{
	(void)tach_arg, (void)tach_arg2, (void)tach_arg3;
	made++;
}

TACH_BENCH(shaky)
{
	static int n;

	clock_ns += 1000 + (uint64_t)(n++ * 7919 % 1000);
}

/* Size of the output when preparation begins. */
static off_t printed;

TACH_BENCH_ARGS(bent, 10, 20, 40, 80)
{
	clock_ns += tach_arg == 40 ? 67 : tach_arg;
}
TACH_BENCH_SETUP(bent)
{
	struct stat st;

	(void)tach_arg, (void)tach_arg2, (void)tach_arg3;
	printed = fstat(1, &st) == 0 ? st.st_size : -1;
}
TACH_BENCH_COMPLEXITY(bent);

/* The law of all 66 values differs from the law of the first 64. */
TACH_BENCH(many)
{
	clock_ns += tach_arg <= 64 ? 3 * tach_arg : 100000;
}
TACH_BENCH_STEPS(many, 1, 1, 66, 1);
TACH_BENCH_COMPLEXITY(many);

/* Three benchmarks have the same name. */
TACH_BENCH_ARGS(many_times, 7, 7, 7)
{
	clock_ns += 1000;
}
TACH_BENCH_COMPLEXITY(many_times);

TACH_BENCH(cross)
{
	clock_ns += tach_arg + 1000 * tach_arg2 + 10000 * tach_arg3 + 100000 * tach_thread;
}
TACH_BENCH_RANGE(cross, 1, 8, 100, 4);
TACH_BENCH_NUMBERS(cross, 2, 5, 7);
TACH_BENCH_STEPS(cross, 3, 0, 5, 2);
TACH_BENCH_THREADS(cross, 1, 2);
TACH_BENCH_UNITS(cross, "x", tach_arg + 100 * tach_arg2 + 10000 * tach_arg3);
TACH_BENCH_SETUP(cross)
{
	sprintf(calls + strlen(calls), "<%d %d %d", (int)tach_arg, (int)tach_arg2,
		(int)tach_arg3);
}
TACH_BENCH_TEARDOWN(cross)
{
	sprintf(calls + strlen(calls), ":%d %d %d>", (int)tach_arg, (int)tach_arg2,
		(int)tach_arg3);
}

TACH_BENCH(nothing)
{
	clock_ns += 4;
}
TACH_BENCH_LESS(nothing)
{
	clock_ns += 4;
}

/* ---- running them ---- */

static char out[1 << 16], err[1 << 14];
static int screen = -1; /* file for standard error, or -1 */

static void keep(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

static int temporary(void)
{
	char path[] = "/tmp/tach-program.XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}

/* Returns the exit status; the output is in `out` and `err`, or goes to the descriptor `to`. */
static int run_to(int to, const char *const *arguments, int n)
{
	int was[2] = {dup(1), dup(2)},
	    now[2] = {to < 0 ? temporary() : to, screen < 0 ? temporary() : dup(screen)},
	    status;
	char *argv[32] = {(char *)(uintptr_t) "program"};

	for (int i = 0; i < n; i++)
		argv[1 + i] = (char *)(uintptr_t)arguments[i];
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++)
		dup2(now[i], 1 + i);
	*calls = '\0';
	dirty_stack();
	status = benchmarks(1 + n, argv);
	clearerr(stdout);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		dup2(was[i], 1 + i);
		close(was[i]);
	}
	if (to < 0)
		keep(now[0], out, sizeof out);
	keep(now[1], err, sizeof err);
	return status;
}

#define RUN(...)                                                                               \
	run_to(-1, (const char *const[]){__VA_ARGS__},                                         \
	       sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
/* Short runs with only the time and the benchmarks' own counters. */
#define QUICK "--wall", "--events", "", "--seconds", "0.00001", "--samples", "15"

/* The table, without the lines about the machine before it. */
static const char *table(void)
{
	const char *at = strstr(out, "\nbenchmark");

	return at ? at + 1 : out;
}

/* Messages, without the warning that tests are compiled without optimisation. */
static const char *said(void)
{
	static const char warning[] =
		"warning: this program was compiled without optimisation\n";

	return strncmp(err, warning, strlen(warning)) == 0 ? err + strlen(warning) : err;
}

static void is(const char *text, const char *want)
{
	CHECK(strcmp(text, want) == 0, "\n%s\nnot\n%s", text, want);
}

/* ---- names ---- */

/* The first argument varies fastest, the number of threads slowest. */
static void every_combination_has_a_name(void)
{
	static const int first[] = {8, 32, 100}, second[] = {5, 7};
	char want[4096] = "";

	for (int threads = 1; threads <= 2; threads++)
		for (int third = 0; third <= 4; third += 2)
			for (int j = 0; j < 2; j++)
				for (int i = 0; i < 3; i++)
					sprintf(want + strlen(want),
						"cross/%d/%d/%d/threads:%d\n", first[i],
						second[j], third, threads);
	CHECK(RUN("--list", "cross") == 0);
	is(out, want);
	CHECK(!*err && !*calls, "%s", err);
}

static void patterns_choose(void)
{
	CHECK(RUN("--list", "!cross", "!many") == 0);
	is(out,
	   "plain\nlone\nsteps/10\nsteps/20\nsteps/40\ncounts\nless\ncrowd/"
	   "threads:1000\nalike\neats/3\nshaky\nbent/10\nbent/20\nbent/40\nbent/80\nnothing\n");
	CHECK(RUN("--list", "^s.*0$", "!20", "less", "!x", "!a(") == 2);
	CHECK(strcmp(err, "program: no regular expression: '!a('\n") == 0, "%s", err);
	CHECK(RUN("--list", "!{1}") == 2); /* follows a single letter */
	CHECK(RUN("--list", "^s.*0$", "!20", "less", "!x") == 0);
	is(out, "steps/10\nsteps/40\nless\n");
	CHECK(RUN("--list", "l(e|a)ss") == 0);
	is(out, "less\n");
	CHECK(RUN("alike", "--list", "--samples", "3") == 0); /* options stand anywhere */
	is(out, "alike\n");
	CHECK(RUN("--list", "nosuch") == 2);
	is(out, "");
	is(err, "no benchmark has that name; --list shows them\n");
	CHECK(RUN("(") == 2);
	is(err, "program: no regular expression: '('\n");
}

static void ranges_and_steps(void)
{
	static const struct {
		uint64_t low, high, factor;
		uint32_t n;
		uint64_t last_but_one;
	} ranges[] = {
		{8, 100, 4, 3, 32},
		{8, 32, 4, 2, 8},
		{1, 5, 2, 4, 4},
		{8, 8, 4, 1, 0},
		{9, 8, 4, 1, 0},
		{1, 3, 1, 2, 1},
		{0, 3, 2, 2, 0},
		{1, UINT64_MAX, 2, 65, (uint64_t)1 << 63},
		{3, UINT64_MAX, UINT64_MAX, 2, 3},
		{1, UINT64_MAX / 2 + 1, 2, 64, (uint64_t)1 << 62},
	};
	uint64_t to[TACH__BENCH_RANGE_MAX + 1];

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		uint32_t n =
			tach__bench_range(to, ranges[i].low, ranges[i].high, ranges[i].factor);

		CHECK(n == ranges[i].n && to[n - 1] == ranges[i].high &&
			      (n == 1 ||
			       (to[0] == ranges[i].low && to[n - 2] == ranges[i].last_but_one)),
		      "number %zu: %u", i, n);
	}
	CHECK(tach__bench_steps(to, 0, 5, 2) == 3 && to[0] == 0 && to[1] == 2 && to[2] == 4);
	CHECK(tach__bench_steps(to, 3, 5, 2) == 2 && to[1] == 5);
	CHECK(tach__bench_steps(to, 6, 5, 2) == 0);
}

/* ---- the table ---- */

#define HEAD  "benchmark            time       +-\n"
#define RATES "benchmark            time       +-              rate\n"
#define PLAIN "plain                1 us    0.0 %"

static void rows_are_compared_with_the_first(void)
{
	CHECK(RUN(QUICK, "plain", "alike", "steps") == 0);
	is(table(), HEAD PLAIN
	   "\n\n" RATES "steps/10            30 ns    0.0 %     333.3 Mstep/s  0.03 x plain\n"
	   "steps/20            60 ns    0.0 %     333.3 Mstep/s  0.06 x plain\n"
	   "steps/40           120 ns    0.0 %     333.3 Mstep/s  0.12 x plain\n"
	   "steps/*      O(n), 3 ns times that, error 0 %\n"
	   "\n" HEAD "alike                1 us    0.0 %  as plain\n");
	is(calls, "<1010><2020><4040>");
	is(said(), "");
	/* The baseline is printed first although it is defined later. */
	CHECK(RUN(QUICK, "--baseline", "steps/20", "plain", "steps") == 0);
	is(table(), RATES
	   "steps/20            60 ns    0.0 %     333.3 Mstep/s\n"
	   "\n" HEAD "plain                1 us    0.0 %  16.67 x steps/20\n"
	   "\n" RATES "steps/10            30 ns    0.0 %     333.3 Mstep/s  0.5 x steps/20\n"
	   "steps/40           120 ns    0.0 %     333.3 Mstep/s  2 x steps/20\n");
	is(calls, "<2020><1010><4040>");
	CHECK(RUN(QUICK, "--baseline", "steps/30", "plain") == 2);
	is(said(), "no benchmark 'steps/30' runs; --list shows them\n");
}

/* Each row is printed as soon as it is known; a body without time has no multiples. */
static void rows_are_there_at_once(void)
{
	CHECK(RUN(QUICK, "plain", "bent/10", "nothing") == 0);
	CHECK(printed == strstr(out, "bent/10") - out, "%d", (int)printed);
	CHECK(strstr(out, " -\n") == out + strlen(out) - 3, "%s", out);
}

/* A law that does not fit well. */
static void bad_fit_is_shown(void)
{
	CHECK(RUN(QUICK, "bent") == 0);
	CHECK(strstr(out, "\nbent/*       O(n), 1.127 ns times that, error 27 %\n"), "%s", out);
	CHECK(RUN(QUICK, "many/") == 0);
	CHECK(strstr(out, "\nmany/* ") && !strstr(out, "error 0 %"), "%s", out);
	/*
	 * The reference of a comparison has no law, even if several benchmarks have its name.
	 */
	CHECK(RUN(QUICK, "--baseline", "many_times/7", "plain", "many_times") == 0);
	CHECK(!strstr(out, "many_times/*"), "%s", out);
}

/* 40732 units in 47032 ns. */
static void numbers_reach_the_body(void)
{
	CHECK(RUN(QUICK, "cross/32/7/4/threads:1") == 0);
	is(table(), "benchmark                      time       +-              rate\n"
		    "cross/32/7/4/threads:1     47.03 us    0.0 %          866 Mx/s\n");
	is(calls, "<32 7 4:32 7 4>");
	CHECK(RUN(QUICK, "lone", "steps") == 0);
	CHECK(strstr(out, "\nsteps/*      O(n), 3 ns times that, error 0 %\n") &&
		      !strstr(out, "lone/") && !strstr(out, "lone  O"),
	      "%s", out);
}

/* As snprintf cuts. */
static void names_are_cut_to_size(void)
{
	static const struct tach_bench_case of = {
		.name = "steps",
		.axis = {{.count = 1}, {.count = 0}, {.count = 1}},
		.threads = {.count = 1}};
	static const struct tach__bench_at at = {{12345, 6, 789}, 16};
	static const char *const whole[] = {"steps/12345/789/threads:16",
					    "steps/*/789/threads:16"};

	for (int growing = 0; growing < 2; growing++)
		for (size_t size = 1; size < 30; size++) {
			char name[32];
			size_t most = strlen(whole[growing]);

			most = size - 1 < most ? size - 1 : most;
			memset(name, '#', sizeof name);
			tach__bench_call_it(&of, &at, growing, name, size);
			CHECK(memcmp(name, whole[growing], most) == 0 && !name[most] &&
				      name[size] == '#',
			      "in %zu: %.30s", size, name);
		}
}

static void overhead_is_subtracted_from_counters(void)
{
	CHECK(RUN(QUICK, "counts") == 0);
	is(table(), "benchmark            time       +-      compares             found\n"
		    "counts               8 ns    0.0 %          3.00           250 M/s\n");
	CHECK(RUN(QUICK, "less") == 0);
	is(table(), "benchmark            time       +-      compares\n"
		    "less                 6 ns    0.0 %          6000\n");
}

static void details(void)
{
	static const char of[] =
		"iterations a sample\n"
		"  time, ns                         8.0000  +- 0.0000      96.5 % in "
		"[8.0000, 8.0000]  n 15\n"
		"  compares                         3.0000  +- 0.0000      96.5 % in "
		"[3.0000, 3.0000]  n 15\n"
		"  found                            2.0000  +- 0.0000      96.5 % in "
		"[2.0000, 2.0000]  n 15\n"
		"  per found, ns                    4.0000  250 Mfound/s\n";
	const char *at;

	CHECK(RUN(QUICK, "--details", "counts") == 0);
	at = strstr(out, "iterations");
	is(at ? at : out, of);
	CHECK(RUN(QUICK, "--details", "--samples", "5.9", "counts", "alike") == 0);
	CHECK(strstr(out, "n 5\n") && strstr(out, "n 5\n  125 x counts\n"), "%s", out);
}

/* ---- JSON ---- */

static void json_of_both_kinds(void)
{
	static const char *const names[] = {"plain", "alike"};
	struct tach_bench *b = NULL;
	const char *end;

	CHECK(RUN(QUICK, "--json", "plain", "alike") == 0);
	end = strchr(out, '\n');
	CHECK(end && tach_bench_load(out, (size_t)(end - out), &b, NULL) == 0, "%s", out);
	CHECK(strcmp(tach_bench_name(b), "plain") == 0 && tach_bench_count(b) == 1);
	tach_bench_free(b);
	CHECK(end && tach_bench_load(end + 1, strlen(end + 1), &b, NULL) == 0, "%s", out);
	CHECK(strcmp(tach_bench_name(b), "alike") == 0);
	tach_bench_free(b);
	CHECK(RUN(QUICK, "--google", "--samples", "3", "plain", "alike") == 0);
	CHECK(strncmp(out, "{\"context\": {\"date\"", 19) == 0 &&
		      strstr(out, "},\n\"benchmarks\": [\n{\"name\": \"plain\"") &&
		      strstr(out, "},\n{\"name\": \"alike\"") &&
		      strcmp(out + strlen(out) - 5, "}\n]}\n") == 0,
	      "%s", out);
	for (int i = 0; i < 2; i++) {
		struct tach_bench_quantity v = {.size = sizeof v};

		CHECK(tach_bench_load_google(out, strlen(out), names[i], &b, NULL) == 0);
		CHECK(tach_bench_value(b, 0, &v) == 0 && v.samples == 3 && v.median == 1000);
		tach_bench_free(b);
	}
}

/* Each value has a line; names that would break a table are escaped. */
static void other_tables(void)
{
	CHECK(RUN(QUICK, "--csv", "counts") == 0);
	is(out, "benchmark,quantity,thread,unit,median,low,high,confidence,mad,samples\r\n"
		"\"counts\",\"time\",0,ns,8,8,8,0.96484375,0,15\r\n"
		"\"counts\",\"compares\",0,count,3,3,3,0.96484375,0,15\r\n"
		"\"counts\",\"found\",0,count,2,2,2,0.96484375,0,15\r\n");
	CHECK(RUN(QUICK, "--markdown", "many_times/7") == 0);
	is(out, "| benchmark | quantity | median | interval | confidence | samples |\n"
		"|---|---|---:|---:|---:|---:|\n"
		"| many\\_times/7 | time (ns) | 1000 | 1000 to 1000 | 96 % | 15 |\n"
		"| many\\_times/7 | time (ns) | 1000 | 1000 to 1000 | 96 % | 15 |\n"
		"| many\\_times/7 | time (ns) | 1000 | 1000 to 1000 | 96 % | 15 |\n");
	CHECK(RUN(QUICK, "--csv", "--against", "x", "plain") == 2);
}

/* The processor's clock does not advance in either loop. */
static void processor_time(void)
{
	CHECK(RUN("--events", "", "--seconds", "0.00001", "--samples", "15", "plain") == 0);
	is(table(), "benchmark            time       +-      cpu time\n"
		    "plain                1 us    0.0 %          1 us\n");
	CHECK(RUN("--events", "", "--seconds", "0.00001", "--samples", "2", "--google",
		  "plain") == 0);
	CHECK(strstr(out, "\"real_time\": 1000, \"cpu_time\": 1000,"), "%s", out);
}

/* Each sample is one iteration, and uses the data prepared for it. */
static void before_each_sample(void)
{
	CHECK(RUN(QUICK, "eats") == 0);
	is(table(), "benchmark            time       +-\n"
		    "eats/3              30 ns    0.0 %\n");
	CHECK(made == eaten && made >= 15, "%d, %d", made, eaten);
}

/* The duration of the run, and of its preparation. */
static void durations(void)
{
	uint64_t begin = clock_ns, took;

	CHECK(RUN("--wall", "--events", "", "--samples", "10", "--min-time", "0.1", "plain") ==
	      0);
	took = clock_ns - begin;
	CHECK(took >= 100000000 && took < 300000000, "%llu", (unsigned long long)took);
	begin = clock_ns;
	CHECK(RUN(QUICK, "--warmup", "2", "plain") == 0);
	took = clock_ns - begin;
	CHECK(took >= 2000000000 && took < 2100000000, "%llu", (unsigned long long)took);
	CHECK(RUN(QUICK, "--min-time", "0", "plain") == 2);
	CHECK(RUN(QUICK, "--warmup", "x", "plain") == 2);
}

/* Names each time that is uncertain by more than 5 %. */
static void uncertain_times_are_named(void)
{
	CHECK(RUN(QUICK, "shaky") == 0);
	CHECK(strstr(out, "\nwarning: times are uncertain: shaky by "), "%s", out);
	CHECK(RUN(QUICK, "--csv", "shaky") == 0);
	CHECK(strstr(err, "warning: times are uncertain: shaky by "), "%s", err);
	CHECK(RUN(QUICK, "plain") == 0);
	CHECK(!strstr(out, "uncertain"), "%s", out);
}

/* ---- an earlier run ---- */

static char file[] = "/tmp/tach-program.XXXXXX";

static void save(const char *before, const char *text)
{
	FILE *to = fopen(file, "w");

	CHECK(to != NULL);
	fputs(before, to);
	fputs(text, to);
	fclose(to);
}

/* If all samples are equal, any difference above the bound is found. */
static void earlier_runs_are_compared(void)
{
	static char junk[150000]; /* more than one read(2) returns; the command skips lines of
				     other benchmarks */
	int fd = mkstemp(file), before;

	close(fd);
	before = descriptors();
	for (size_t i = 0; i + 1 < sizeof junk; i++)
		junk[i] = i % 80 == 79 ? '\n' : 'x';
	junk[sizeof junk - 2] = '\n';
	CHECK(RUN(QUICK, "--json", "plain", "less", "steps/20") == 0);
	save(junk, out);
	CHECK(RUN(QUICK, "--against", file, "plain", "less", "steps/(10|20)") == 0);
	CHECK(strstr(table(), PLAIN "  time +0.00 %, no change (bound 5 %)\n"), "%s", table());
	CHECK(strstr(table(), "step/s  time +0.00 %, no change (bound 5 %)\n"), "%s", table());
	CHECK(strstr(table(), "step/s  not in /tmp/tach-program."), "%s", table());
	CHECK(strstr(table(), "6000  time +0.00 %, no change (bound 5 %)\n") &&
		      !strstr(table(), "comparisons"),
	      "%s", table());
	scale = 1060;
	CHECK(RUN(QUICK, "--against", file, "plain", "less") == 1);
	is(table(),
	   HEAD "plain             1.06 us    0.0 %  time +6.00 %, worse (bound 5 %)\n"
		"\nbenchmark            time       +-      compares\n"
		"less                 6 ns    0.0 %          6360  time +0.00 %, no change "
		"(bound 5 %); compares +6.00 %, worse (bound 0.5 %)\n"
		"2 of 3 comparisons worse, 0 undecided, 0 gone. At most 1 % of comparisons "
		"without a change are called worse.\n");
	CHECK(RUN(QUICK, "--against", file, "plain", "alike") == 1);
	CHECK(strstr(out, "\n1 of 1 comparisons worse, "), "%s", out);
	CHECK(RUN(QUICK, "--against", file, "--bound", "7", "plain") == 0);
	is(table(), HEAD "plain             1.06 us    0.0 %  time +6.00 %, no change larger "
			 "than 6 % (bound 7 %)\n");
	CHECK(RUN(QUICK, "--against", file, "--details", "--bound", "7", "less") == 0);
	CHECK(strstr(out, "n 15\n  time +0.00 %, no change (bound 7 %); compares +6.00 %, no "
			  "change larger than 6 % (bound 7 %)\n"),
	      "%s", out);
	scale = 900;
	CHECK(RUN(QUICK, "--against", file, "plain") == 0);
	is(table(), HEAD "plain              900 ns    0.0 %  time -10.00 %, better (bound 5 "
			 "%)\n");
	/* A sample proves nothing. */
	CHECK(RUN(QUICK, "--against", file, "--samples", "1", "plain") == 3);
	is(table(), HEAD
	   "plain              900 ns    0.0 %  time -10.00 %, cannot tell: too few values "
	   "(bound 5 %)\n"
	   "0 of 1 comparisons worse, 1 undecided, 0 gone. At most 1 % of "
	   "comparisons without a change are called worse.\n");
	CHECK(RUN(QUICK, "--against", file, "--samples", "1", "--allow", "cannot-tell",
		  "plain") == 0);
	CHECK(RUN(QUICK, "--against", file, "--samples", "1", "--allow", "gone", "plain") == 3);
	CHECK(RUN(QUICK, "--against", file, "--allow", "all", "plain") == 2);
	scale = 1000;
	/* For threads only the common time is compared. */
	CHECK(RUN(QUICK, "--json", "cross/8/5/0/threads:2") == 0);
	save("", out);
	CHECK(RUN(QUICK, "--against", file, "--details", "cross/8/5/0/threads:2") == 0);
	CHECK(strstr(out, "\n  time +0.00 %, no change (") && strstr(out, "; time, all +") &&
		      !strstr(out, "; time +"),
	      "%s", out);
	CHECK(RUN(QUICK, "--google", "plain") == 0);
	save("", out);
	CHECK(RUN(QUICK, "--against", file, "plain", "alike") == 0);
	CHECK(strstr(table(), PLAIN "  time +0.00 %, no change (bound 5 %)\nalike"), "%s",
	      table());
	/* A body without time has no percentage, even if the change is positive. */
	save("", "{\"schema\":\"tach-bench-1\",\"name\":\"nothing\",\"iterations\":1,"
		 "\"passes\":1,\"drift\":0,\"confidence\":0.95,\"values\":[{\"name\":\"time\","
		 "\"empty\":0,\"resolution\":0,\"outliers\":0,\"flags\":0,\"pass\":0,"
		 "\"sample\":[-8,-8,-8,-8,-8,-8,-8,-8,-8,-8,-8,-8]}]}\n");
	CHECK(RUN(QUICK, "--against", file, "nothing") == 0);
	is(table(), HEAD "nothing        about 0 ns        -  time is about 0\n");
	save("", "nothing of the kind\n");
	CHECK(RUN(QUICK, "--against", file, "plain") == 2);
	CHECK(strstr(err, ": not what --json or google-benchmark writes\n"), "%s", err);
	save("", "");
	CHECK(RUN(QUICK, "--against", file, "plain") == 2);
	CHECK(strstr(err, ": not what --json or google-benchmark writes\n"), "%s", err);
	unlink(file);
	CHECK(RUN(QUICK, "--against", file, "plain") == 2);
	CHECK(strncmp(err, "program: /tmp/", 14) == 0 &&
		      strstr(err, ": No such file or directory\n"),
	      "%s", err);
	CHECK(RUN(QUICK, "--against", file, "--json", "plain") == 2);
	is(err, "program: only the table shows a comparison: leave out --against\n");
	CHECK(descriptors() == before, "files are left open");
}

/* ---- what goes wrong ---- */

static long no_events(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_perf_event_open ? -ENOENT
					     : tach__sys_real(number, a, b, c, d, e, f);
}

/* A missing feature is printed once below the table; in JSON each result contains it. */
static void what_is_missing(void)
{
	tach__sys = no_events;
	CHECK(RUN("--seconds", "0.00001", "--samples", "5", "--events", "cycles", "plain",
		  "alike") == 0);
	CHECK(strstr(out, "as plain\ncycles") &&
		      strchr(strstr(out, "\ncycles") + 1, '\n')[1] == 0,
	      "%s", out);
	CHECK(RUN("--seconds", "0.00001", "--events", "cycles", "--google", "plain") == 0);
	CHECK(strcmp(out + strlen(out) - 5, "}\n]}\n") == 0, "%s", out);
	tach__sys = tach__sys_real;
}

/* Frees results of this run, and those of the earlier run, in which benchmarks are searched. */
static void nothing_is_left(void)
{
	CHECK(RUN(QUICK, "--json", "plain", "alike", "steps") == 0);
	save("", out);
	for (int against = 0; against < 3; against++) {
		size_t before = 0;

		if (!HEAP_IS_KNOWN)
			SKIP(HEAP_SKIP);
		if (against == 2)
			save("", "no results\n");
		for (int i = 0; i < 16; i++) {
			/* The allocator caches some blocks of each size. */
			if (i == 8)
				before = heap_in_use();
			if (against)
				CHECK(RUN(QUICK, "--against", file, "alike") ==
				      (against == 2 ? 2 : 0));
			else
				CHECK(RUN(QUICK, "plain", "alike", "steps") == 0);
		}
		CHECK(heap_in_use() == before, "%zu bytes, were %zu", heap_in_use(), before);
	}
	unlink(file);
}

static void bad_arguments(void)
{
	static const struct {
		const char *word[2], *said;
	} of[] = {
		{{"-x", NULL}, "'-x'"},
		{{"-x", "y"}, "'-x y'"},
		{{"--events", NULL}, "'--events'"},
		{{"--samples", "0"}, "'--samples 0'"},
		{{"--samples", "0.5"}, "'--samples 0.5'"},
		{{"--samples", "3x"}, "'--samples 3x'"},
		{{"--samples", ""}, "'--samples '"},
		{{"--seconds", "-1"}, "'--seconds -1'"},
		{{"--seconds", "1e9"}, "'--seconds 1e9'"},
		{{"--bound", "0"}, "'--bound 0'"},
	};
	char want[64];

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		CHECK(run_to(-1, of[i].word, of[i].word[1] ? 2 : 1) == 2, "%s", of[i].said);
		snprintf(want, sizeof want, "program: cannot use %s\nusage: PROGRAM",
			 of[i].said);
		CHECK(strncmp(err, want, strlen(want)) == 0 && !*out, "%s", err);
	}
	CHECK(RUN("--help") == 0);
	CHECK(strncmp(out, "usage: PROGRAM [OPTION]... [REGEX]...\n\nRuns", 43) == 0 && !*err,
	      "%s%s", out, err);
	CHECK(RUN(QUICK, "--samples", "20000", "plain") == 1);
	CHECK(strncmp(said(), "plain: samples must be at most 10000", 36) == 0, "%s", err);
}

/* Benchmarks after one that fails still run. */
static void one_that_fails(void)
{
	CHECK(RUN(QUICK, "crowd", "alike") == 1);
	CHECK(strncmp(said(), "crowd/threads:1000: ", 20) == 0 && strstr(out, "\nalike"),
	      "%s%s", err, out);
	CHECK(RUN(QUICK, "--details", "crowd", "alike") == 1);
	CHECK(RUN(QUICK, "--json", "crowd", "alike") == 1);
}

/* Shows the running benchmark on a line, and removes the line later. */
static void on_a_terminal(void)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	size_t length = 0;
	ssize_t n;

	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal) ||
	    (screen = open(ptsname(terminal), O_RDWR | O_NOCTTY)) < 0)
		SKIP("there are no terminals");
	CHECK(RUN(QUICK, "plain") == 0);
	close(screen);
	screen = -1;
	/* Reads the output to its end, where read(2) of the terminal fails. */
	while ((n = read(terminal, err + length, sizeof err - 1 - length)) > 0)
		length += (size_t)n;
	err[length] = '\0';
	CHECK(strstr(err, "\r\033[Kplain ...\r\033[K"), "%s", err);
	close(terminal);
}

static void out_of_memory(void)
{
	no_memory = 100;
	CHECK(RUN(QUICK, "--details", "plain") == 1);
	CHECK(RUN(QUICK, "plain") == 1);
	no_memory = 1; /* the text about the machine */
	CHECK(RUN(QUICK, "plain") == 1 && !no_memory);
	no_memory = 0;
	CHECK(RUN(QUICK, "plain") == 0);
}

/* If output cannot be written, the run fails. */
static void a_full_disk(void)
{
	static const char *const arguments[] = {"--list"};
	int full = open("/dev/full", O_WRONLY);

	if (full < 0)
		SKIP("there is no /dev/full");
	CHECK(run_to(full, arguments, 1) == 1);
	is(err, "program: standard output: No space left on device\n");
	close(full);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	CASE(every_combination_has_a_name);
	CASE(patterns_choose);
	CASE(ranges_and_steps);
	CASE(rows_are_compared_with_the_first);
	CASE(other_tables);
	CASE(processor_time);
	CASE(before_each_sample);
	CASE(durations);
	CASE(uncertain_times_are_named);
	CASE(rows_are_there_at_once);
	CASE(bad_fit_is_shown);
	CASE(one_that_fails);
	CASE(numbers_reach_the_body);
	CASE(names_are_cut_to_size);
	CASE(overhead_is_subtracted_from_counters);
	CASE(details);
	CASE(json_of_both_kinds);
	CASE(earlier_runs_are_compared);
	CASE(what_is_missing);
	CASE(nothing_is_left);
	CASE(bad_arguments);
	CASE(on_a_terminal);
	CASE(out_of_memory);
	CASE(a_full_disk);
	return check_done();
}

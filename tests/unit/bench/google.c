/* SPDX-License-Identifier: MIT */
/*
 * google-benchmark's JSON: how a result is written in it, and how google-benchmark's files are
 * read.
 */
#include <string.h>
#include "tests/check.h"
#include "tests/results.h"

#define VALUE(name, more, samples)                                                             \
	"{\"name\":\"" name "\",\"empty\":0,\"resolution\":0,\"outliers\":0,\"flags\":0,"      \
	"\"pass\":0," more "\"sample\":[" samples "]}"
#define RESULT(more, values)                                                                   \
	"{\"schema\":\"tach-bench-1\",\"name\":\"copy\",\"iterations\":10,\"passes\":1,"       \
	"\"drift\":0,\"confidence\":0.95," more "\"values\":[" values "]}"
#define REPETITION(of, which, threads)                                                         \
	"{\"name\": \"copy\", \"run_name\": \"copy\", \"run_type\": \"iteration\", "           \
	"\"repetitions\": " of ", \"repetition_index\": " which ", \"threads\": " threads      \
	", \"iterations\": 10, "

/* 4096 bytes in 8 ns: 512 per ns; 4 locks: half a lock per ns. */
static void samples_are_repetitions(void)
{
	show(RESULT("\"unit\":\"byte\",\"units\":4096,",
		    VALUE("time", "", "8,2") "," VALUE("cycles", "", "20,5") "," VALUE(
			    "locks", "\"rate\":1,", "4")),
	     TACH_BENCH_GOOGLE,
	     REPETITION(
		     "2", "0",
		     "1") "\"real_time\": 8, \"cpu_time\": 8, \"time_unit\": \"ns\", "
			  "\"bytes_per_second\": 512000000000, \"cycles\": 20, \"locks\": "
			  "500000000},\n" REPETITION(
				  "2", "1",
				  "1") "\"real_time\": 2, \"cpu_time\": 2, \"time_unit\": "
				       "\"ns\", "
				       "\"bytes_per_second\": 2048000000000, \"cycles\": 5}");
}

/* The threads' common time is the real time; no field has each thread's own time. */
static void threads_have_one_pace(void)
{
	show(RESULT("\"threads\":2,\"unit\":\"x\",\"units\":3,",
		    VALUE("time", "", "8") "," VALUE("locks", "\"rate\":1,", "2") "," VALUE(
			    "time, all", "",
			    "4") "," VALUE("time", "\"thread\":1,",
					   "7") "," VALUE("time", "\"thread\":2,", "9")),
	     TACH_BENCH_GOOGLE,
	     REPETITION("1", "0",
			"2") "\"real_time\": 4, \"cpu_time\": 8, \"time_unit\": \"ns\", "
			     "\"xs_per_second\": 750000000, \"locks\": 500000000}");
}

/* If files have different numbers of samples, only the samples that both have are shown. */
static void a_pace_of_fewer_samples_ends_the_list(void)
{
	show(RESULT("", VALUE("time", "", "8,8") "," VALUE("time, all", "", "4")),
	     TACH_BENCH_GOOGLE,
	     REPETITION("1", "0",
			"1") "\"real_time\": 4, \"cpu_time\": 8, \"time_unit\": \"ns\"}");
}

static void no_time_gives_no_rate(void)
{
	show(RESULT("\"unit\":\"0123456789012345678901234567890123456789beyond\",\"units\":1,",
		    VALUE("time", "", "0,-1,0.5") "," VALUE("locks", "\"rate\":1,", "4,4,4")),
	     TACH_BENCH_GOOGLE,
	     REPETITION("3", "0",
			"1") "\"real_time\": 0, \"cpu_time\": 0, \"time_unit\": \"ns\", "
			     "\"0123456789012345678901234567890123456789s_per_second\": 0, "
			     "\"locks\": 0},\n" REPETITION(
				     "3", "1",
				     "1") "\"real_time\": -1, \"cpu_time\": -1, "
					  "\"time_unit\": \"ns\", "
					  "\"0123456789012345678901234567890123456789"
					  "s_per_second\": 0, \"locks\": 0},\n" REPETITION(
						  "3", "2",
						  "1") "\"real_time\": 0.5, \"cpu_time\": 0.5, "
						       "\"time_unit\": \"ns\", "
						       "\"0123456789012345678901234567890123456"
						       "789s_per_second\": 2000000000, "
						       "\"locks\": 8000000000}");
}

/* ---- reading ---- */

static const char google[] =
	"{\"context\": {\"num_cpus\": 2},\n"
	" \"benchmarks\": [\n"
	"  {\"name\": \"BM_a/8\", \"run_type\": \"iteration\", \"iterations\": 10,"
	" \"real_time\": 2.5, \"cpu_time\": 1, \"time_unit\": \"us\"},\n"
	"  {\"name\": \"BM_b\", \"real_time\": 7, \"cpu_time\": 1, \"time_unit\": \"ns\"},\n"
	"  {\"name\": \"BM_a/8\", \"run_type\": \"aggregate\", \"real_time\": 9,"
	" \"time_unit\": \"us\"},\n"
	"  {\"name\": \"BM_a/8\", \"run_type\": \"iteration\", \"real_time\": 3.5,"
	" \"time_unit\": \"us\"},\n"
	"  {\"name\": \"BM_c\", \"real_time\": 2, \"time_unit\": \"ms\"},\n"
	"  {\"name\": \"BM_c\", \"real_time\": 3, \"time_unit\": \"s\"},\n"
	"  {\"name\": \"BM_c\", \"real_time\": 5, \"time_unit\": 1},\n"
	"  {\"name\": \"BM_c\", \"real_time\": \"4\"},\n"
	"  {\"name\": \"BM_c\"},\n"
	"  {\"name\": 9, \"real_time\": 6}]}\n";

/* Without a requested name the first benchmark is used. */
static void times_are_nanoseconds(void)
{
	static const struct {
		const char *name, *is, *samples;
	} want[] = {
		{"BM_a/8", "BM_a/8", "[2500,3500]"},
		{NULL, "BM_a/8", "[2500,3500]"},
		{"BM_b", "BM_b", "[7]"},
		{"BM_c", "BM_c", "[2000000,3000000000,5]"},
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_bench *b;
		const char *text, *samples;

		CHECK(tach_bench_load_google(google, strlen(google), want[i].name, &b, &err) ==
				      0 &&
			      b,
		      "%s", err.text);
		if (!b)
			continue;
		text = shown(b, TACH_BENCH_JSON);
		samples = strstr(text, "\"sample\":");
		CHECK(samples && strncmp(samples + 9, want[i].samples,
					 strlen(want[i].samples)) == 0,
		      "%s", text);
		CHECK(strcmp(tach_bench_name(b), want[i].is) == 0, "%s", tach_bench_name(b));
		CHECK(tach_bench_count(b) == 1 && tach_bench_passes(b) == 1 &&
			      tach_bench_iterations(b) == 0 && tach_bench_drift(b) == 0,
		      "%s", text);
		CHECK(strstr(text, "\"passes\":1,\"drift\":0,\"confidence\":0.95,\"values\":"
				   "[{\"name\":\"time\",\"median\":"),
		      "%s", text);
		CHECK(strstr(shown(b, TACH_BENCH_GOOGLE),
			     "\"threads\": 1, \"iterations\": 0,"));
		tach_bench_free(b);
	}
}

static void other_files_are_refused_with_their_place(void)
{
	static const struct {
		const char *json, *name;
		int code, line, column;
		const char *text;
	} bad[] = {
		{google, "BM_d", TACH_ERR_NOTFOUND, 2, 16,
		 "no benchmark is called 'BM_d' there"},
		{"{\"benchmarks\": []}", NULL, TACH_ERR_NOTFOUND, 1, 16,
		 "no benchmark is called '' there"},
		{"\n {}", "BM_b", TACH_ERR_SYNTAX, 2, 2,
		 "not google-benchmark's: there is no list 'benchmarks'"},
		{"[]", "BM_b", TACH_ERR_SYNTAX, 1, 1,
		 "not google-benchmark's: there is no list 'benchmarks'"},
		{"{\"benchmarks\": {}}", "BM_b", TACH_ERR_SYNTAX, 1, 1,
		 "not google-benchmark's: there is no list 'benchmarks'"},
		{"{\"benchmarks\": [}", "BM_b", TACH_ERR_SYNTAX, 1, 17, NULL},
		{NULL, "BM_b", TACH_ERR_INVAL, 0, 0, "no text, or nowhere to put it"},
	};
	struct tach_error err = TACH_ERROR_INIT;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_bench *b = NULL;
		size_t n = bad[i].json ? strlen(bad[i].json) : 0;
		int code = tach_bench_load_google(bad[i].json, n, bad[i].name, &b, &err);

		CHECK(code == bad[i].code && err.code == code && !b &&
			      err.line == bad[i].line && err.column == bad[i].column &&
			      (!bad[i].text || strcmp(err.text, bad[i].text) == 0),
		      "number %zu: %d, %d:%d %s", i, code, err.line, err.column, err.text);
	}
	CHECK(tach_bench_load_google("{}", 2, "BM_b", NULL, &err) == TACH_ERR_INVAL);
}

int main(void)
{
	CASE(samples_are_repetitions);
	CASE(threads_have_one_pace);
	CASE(a_pace_of_fewer_samples_ends_the_list);
	CASE(no_time_gives_no_rate);
	CASE(times_are_nanoseconds);
	CASE(other_files_are_refused_with_their_place);
	return check_done();
}

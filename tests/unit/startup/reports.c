/* SPDX-License-Identifier: MIT */
/*
 * TACH_OUTPUT that names a file: where, when and in which format a report is written, and the
 * reasons why it is not written.
 */
#include <sched.h>
#include "tests/unit/startup/reports.h"

/* ---- files ---- */

static void formats(void)
{
	start(in_folder("a.csv"));
	now();
	CHECK(strncmp(content("a.csv"), "region,file,", 12) == 0, "%s", got);
	now();
	CHECK(strncmp(content("a.csv"), "region,file,", 12) == 0, "%s", got);
}

static void own_name(void)
{
	char name[40];

	start(in_folder("%p.json"));
	now();
	snprintf(name, sizeof name, "%d.json", (int)getpid());
	CHECK(is_json(content(name)), "%s", got);
}

/* Returns a new name for each report. */
static void new_name(void)
{
	start(in_folder("%u.json"));
	now();
	now();
	CHECK(is_json(content("1.json")), "%s", got);
	now();
	CHECK(is_json(content("0.json")) && is_json(content("1.json")) && !*content("2.json"));
}

static void in_a_child(void)
{
	char text[100];

	snprintf(text, sizeof text, "TACH_OUTPUT belongs to process %d", (int)getppid());
	refused(TACH_ERR_STATE, text);
}

static void of_the_parent(void)
{
	start(in_folder("a.json"));
	in_child(in_a_child);
	CHECK(!*content("a.json"));
}

static void child_of_its_own(void)
{
	char name[40];

	now();
	snprintf(name, sizeof name, "%d.json", (int)getpid());
	CHECK(strncmp(content(name), "{\n  \"tach\": 1,", 14) == 0, "%s", got);
}

static void of_each(void)
{
	start(in_folder("%p.json"));
	in_child(child_of_its_own);
}

static void nowhere(void)
{
	char text[200];

	start(in_folder("none/a.json"));
	snprintf(text, sizeof text, "%s: No such file or directory", file);
	refused(-ENOENT, text);
}

static void not_asked_for(void)
{
	start(NULL);
	refused(TACH_ERR_STATE, "TACH_OUTPUT was not set as the process began");
}

static void anothers(void)
{
	setenv("TACH_OUTPUT_PID", "1", 1);
	tach__output_at_exit(in_folder("a.json"));
	refused(TACH_ERR_STATE, "TACH_OUTPUT was not set as the process began");
}

static void too_long(void)
{
	static char name[5000];

	memset(name, 'a', sizeof name - 1);
	start(name);
	refused(TACH_ERR_STATE, "TACH_OUTPUT was not set as the process began");
	memcpy(name, "%p", 2);
	name[4093] = '\0';
	name[0] = '/';
	start(name);
	refused(-ENAMETOOLONG, "/pa");
}

static void files(void)
{
	in_child(formats);
	in_child(own_name);
	in_child(new_name);
	in_child(of_the_parent);
	in_child(of_each);
	in_child(nowhere);
	in_child(not_asked_for);
	in_child(anothers);
	in_child(too_long);
}

/* ---- the end ---- */

static void exits(void)
{
	start(in_folder("end.json"));
	exit(3);
}

static void exits_quickly(void)
{
	start(in_folder("end.json"));
	quick_exit(4);
}

static void is_killed_at_once(void)
{
	start(in_folder("end.json"));
	_exit(5);
}

static void at_the_end(void)
{
	CHECK(ends_with(exits) == 3 << 8 && is_json(content("end.json")));
	CHECK(ends_with(exits_quickly) == 4 << 8 && is_json(content("end.json")));
	CHECK(ends_with(is_killed_at_once) == 5 << 8 && !*content("end.json"));
}

/* ---- a child with its parent's number: both are process 1 of a PID namespace ---- */

static void as_process_1(void (*job)(void))
{
	int code = unshare(CLONE_NEWPID);

	CHECK(code == 0, "%d", errno);
	in_child_named(job, "process 1");
}

/* The process writes no report now, and no report when it ends. */
static void not_its_own(void)
{
	CHECK(getpid() == 1);
	refused(TACH_ERR_STATE, "TACH_OUTPUT belongs to process 1");
	CHECK(tach__trace_write() == 0);
	exit(check__failed != 0);
}

static void owns(void)
{
	CHECK(getpid() == 1);
	setenv("TACH_TRACE", in_folder("t.json"), 1);
	start(in_folder("a.json"));
	as_process_1(not_its_own);
	CHECK(!*content("a.json") && !*content("t.json"));
	now();
	CHECK(is_json(content("a.json")) && *content("t.json") == '{');
}

static void is_alone(void)
{
	now();
}

/* The child does not wait for its parent's thread. */
static void was_forked_amid_a_report(void)
{
	start(in_folder("%p.json"));
	*tach__process_writer() = (uint64_t)1 << 32 | 1;
	as_process_1(is_alone);
	CHECK(strncmp(content("1.json"), "{\n  \"tach\": 1,", 14) == 0, "%s", got);
}

static void in_namespaces(void)
{
	as_process_1(owns);
}

static void amid_a_report(void)
{
	as_process_1(was_forked_amid_a_report);
}

static void may_unshare(void)
{
	_exit(unshare(CLONE_NEWPID) != 0);
}

static void equal_numbers(void)
{
	if (ends_with(may_unshare) != 0)
		SKIP("a process namespace takes root");
	in_child(in_namespaces);
	in_child(amid_a_report);
}

/* ---- for tach run ---- */

static size_t taken;

static void take(const char *text, size_t length)
{
	CHECK(length == strlen(text) || text[length - 1] == '\n');
	CHECK(strncmp(text, "{\n  \"tach\": 1,", 14) == 0);
	taken += length;
}

static void to_a_taker(void)
{
	start(in_folder("a.json"));
	tach__output_now();
	CHECK(taken == 0, "it goes nowhere");
	CHECK(!tach__regions_are_frozen() && tach__output_to(take) == 1);
	CHECK(tach__regions_are_frozen());
	errno = 77;
	tach__output_now();
	CHECK(taken > 100 && errno == 77);
	refused(TACH_ERR_STATE, "the report is tach run's, and comes at the end");
	CHECK(!*content("a.json"));
	CHECK(tach__output_to(NULL) == 1 && !tach_regions_enabled());
}

static void tell(const char *text, size_t length)
{
	(void)text;
	(void)length;
	puts("taken");
	fflush(stdout);
}

static void is_taken_at_the_end(void)
{
	start(in_folder("a.json"));
	CHECK(tach__output_to(tell) == 1);
	CHECK(freopen(in_folder("said"), "w", stdout) != NULL);
	exit(0);
}

static void of_none(void)
{
	setenv("TACH_ENABLE", "0", 1);
	CHECK(tach__output_to(take) == 0);
	CHECK(tach__output_to(NULL) == 1);
}

static void reports_go_to_their_taker(void)
{
	in_child(to_a_taker);
	CHECK(ends_with(is_taken_at_the_end) == 0);
	CHECK(strcmp(content("said"), "taken\n") == 0 && !*content("a.json"));
	in_child(of_none);
}

/* ---- another copy of the library writes it ---- */

static int gather(void *context, const char *text, size_t length)
{
	size_t *used = context;

	memcpy(got + *used, text, length);
	got[ *used += length] = '\0';
	return 0;
}

static int refuse_all(void *context, const char *text, size_t length)
{
	(void)context;
	(void)text;
	(void)length;
	return -5;
}

static void as_it_asks(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	size_t used = 0;

	CHECK(tach__beacon_json(gather, &used, &err) == TACH_ERR_STATE && used == 0);
	start(NULL);
	CHECK(tach__beacon_json(gather, &used, &err) == 0 && is_json(got));
	CHECK(tach__beacon_json(refuse_all, NULL, &err) == -5 && err.code == -5);
}

static void another_copy(void)
{
	in_child(as_it_asks);
}

/* ---- traces ---- */

static void traced(const char *name)
{
	setenv("TACH_TRACE", in_folder(name), 1);
	start(NULL);
	CHECK(tach__trace_wanted());
	/* A trace alone does not count as a report. */
	refused(TACH_ERR_STATE, "TACH_OUTPUT was not set");
	errno = 77;
	CHECK(tach__trace_write() == 0 && errno == 77);
}

static void as_json(void)
{
	traced("t.json");
	CHECK(strncmp(content("t.json"), "{\"displayTimeUnit\"", 18) == 0);
	CHECK(strstr(got, "\"name\":\"work\""));
}

static void as_stacks(void)
{
	traced("t.folded");
	CHECK(strncmp(content("t.folded"), "work ", 5) == 0, "%s", got);
}

static void suffix_alone(void)
{
	traced("folded");
	CHECK(*content("folded") == '{', "%s", got);
}

static void trace_of_a_child(void)
{
	CHECK(tach__trace_write() == 0 && !*content("t.json"));
}

static void trace_of_the_parent(void)
{
	traced("t.json");
	content("t.json");
	in_child(trace_of_a_child);
}

static void no_trace(void)
{
	setenv("TACH_TRACE", "", 1);
	start(NULL);
	CHECK(!tach__trace_wanted() && tach__trace_write() == 0);
}

static void with_a_number(void)
{
	traced("%u.json");
	CHECK(*content("0.json") == '{', "%s", got);
}

static void of_a_rank(void)
{
	setenv("OMPI_COMM_WORLD_RANK", "5", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
	traced("t.json");
	CHECK(*content("t.5.json") == '{', "%s", got);
}

static void trace_nowhere(void)
{
	setenv("TACH_TRACE", in_folder("none/t.json"), 1);
	start(NULL);
	CHECK(tach__trace_write() == -ENOENT);
}

static void traces(void)
{
	in_child(as_json);
	in_child(as_stacks);
	in_child(suffix_alone);
	in_child(trace_of_the_parent);
	in_child(with_a_number);
	in_child(of_a_rank);
	in_child(no_trace);
	in_child(trace_nowhere);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	CASE(files);
	CASE(at_the_end);
	CASE(equal_numbers);
	CASE(reports_go_to_their_taker);
	CASE(another_copy);
	CASE(traces);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}

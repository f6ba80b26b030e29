/* SPDX-License-Identifier: MIT */
/*
 * Rows of a region divided by tag, by task and by thread: each entry is in exactly one row,
 * which names its tag, task or thread in every format; the self value of an enclosing region
 * does not change; and entries beyond the limit are in one row that says so.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "tests/unit/region/regions.h"

static struct tach_error err = TACH_ERROR_INIT;

static void begin(const char *by)
{
	struct tach_regions_options opt = {.size = sizeof opt, .set = fake_set(1), .by = by};

	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

static void leaf(uint64_t n)
{
	TACH_START(leaf);
	fake_count += n;
	TACH_STOP(leaf);
}

static void outer(uint64_t tag, uint64_t n)
{
	tach_tag(tag);
	TACH_START(outer);
	fake_count += 1000;
	leaf(n);
	TACH_STOP(outer);
	tach_tag(0);
}

static double counted(const char *name)
{
	return regions_look(name, 1) ? value.value : -1;
}

static double self_of(const char *name)
{
	struct tach_value v = {.value = -1};

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, name) == 0)
			tach_snapshot_value(shot, r, 1, TACH_PART_SELF, &v);
	}
	return v.value;
}

static uint64_t calls_of(const char *of)
{
	uint64_t calls = 0;

	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.of, of) == 0)
			calls += info.calls;
	}
	return calls;
}

static void by_tag(void)
{
	begin("tag");
	for (int i = 0; i < 20; i++)
		for (uint64_t tag = 0; tag < 4; tag++)
			outer(tag, 1 + tag);
	CHECK(counted("outer") == 20 * 1001 && counted("leaf") == 20);
	CHECK(counted("outer [tag 0x3]") == 20 * 1004 && info.calls == 20, "%g", value.value);
	CHECK(strcmp(info.of, "outer") == 0 && strcmp(info.tag, "0x3") == 0 && !*info.task);
	CHECK(counted("leaf [tag 0x2]") == 20 * 3 && info.calls == 20);
	CHECK(self_of("outer [tag 0x3]") == 20 * 1000, "%g", self_of("outer [tag 0x3]"));
	CHECK(calls_of("leaf") == 80 && calls_of("outer") == 80);
	/* The tag at START applies. */
	tach_tag(1);
	{
		TACH_START(late);
		tach_tag(2);
		fake_count += 5;
		leaf(7);
		TACH_STOP(late);
	}
	tach_tag(0);
	CHECK(counted("late [tag 0x1]") == 12 && !regions_look("late [tag 0x2]", 1));
	CHECK(counted("leaf [tag 0x2]") == 67);
}

static void recursion(int n)
{
	tach_tag((uint64_t)(n & 1));
	TACH_START(recursion);
	fake_count += 10;
	if (n)
		recursion(n - 1);
	TACH_STOP(recursion);
}

/* Each row has its own outermost entries. */
static void recursive(void)
{
	begin("tag");
	recursion(5);
	tach_tag(0);
	CHECK(counted("recursion [tag 0x1]") == 60 && info.calls == 3 && info.outermost == 1,
	      "%g", value.value);
	CHECK(counted("recursion") == 50 && info.calls == 3 && info.outermost == 1);
	CHECK(self_of("recursion") == 30 && self_of("recursion [tag 0x1]") == 30);
}

static void more_tags(void)
{
	begin("tag:2");
	for (uint64_t tag = 1; tag < 10; tag++)
		outer(tag, tag);
	CHECK(counted("leaf [tag 0x1]") == 1 && counted("leaf [tag 0x2]") == 2);
	CHECK(counted("leaf [tag other]") == 3 + 4 + 5 + 6 + 7 + 8 + 9 && info.calls == 7);
	CHECK(!regions_look("leaf [tag 0x3]", 1) && calls_of("leaf") == 9);
	CHECK(strstr(tach_snapshot_missing(shot), "more than 2 tags") != NULL, "%s",
	      tach_snapshot_missing(shot));
}

/* ---- tasks ---- */

static void *piece(void *task)
{
	tach_task_resume(task);
	fake_count += 100;
	leaf(3);
	tach_task_suspend(task);
	leaf(50);
	return NULL;
}

static void by_task(void)
{
	static struct tach_task request, other;
	pthread_t thread;
	double v;

	begin("task");
	TACH_TASK_BEGIN(&request, request);
	leaf(1);
	tach_task_suspend(&request);
	TACH_TASK_BEGIN(&other, other);
	leaf(2);
	tach_task_suspend(&other);
	pthread_create(&thread, NULL, piece, &request);
	pthread_join(thread, NULL);
	piece(&request);
	piece(&other);
	/* In nested tasks, the innermost counts. */
	tach_task_resume(&request);
	piece(&other);
	leaf(1);
	tach_task_end(&request);
	tach_task_end(&other);
	CHECK(counted("request > leaf") == 1 + 3 + 3 + 50 + 1 && info.calls == 5, "%g",
	      value.value);
	CHECK(strcmp(info.task, "request") == 0 && strcmp(info.of, "leaf") == 0);
	CHECK(counted("other > leaf") == 2 + 3 + 3 && counted("leaf") == 150);
	CHECK(regions_look("request", 1) && info.calls == 1 && !*info.task);
	CHECK(!regions_look("request > request", 1) && !regions_look("request > other", 1));
	CHECK(tach_task_value(&other, 1, &v) >= 0 && v == 2 + 103 + 103, "%g", v);
}

static void by_both(void)
{
	static struct tach_task request;

	begin("tag,task");
	request.tag = 9;
	TACH_TASK_BEGIN(&request, request);
	leaf(4);
	tach_task_end(&request);
	outer(9, 5);
	CHECK(counted("request > leaf [tag 0x9]") == 4 && counted("leaf [tag 0x9]") == 5);
	CHECK(regions_look("request", 1) && info.calls == 1);
}

/* ---- threads ---- */

static void *worker(void *n)
{
	char name[16];

	leaf(1);
	sprintf(name, "worker %d", (int)(intptr_t)n);
	prctl(PR_SET_NAME, name);
	leaf((uint64_t)(intptr_t)n);
	return NULL;
}

static void threads(int from, int to)
{
	pthread_t thread;

	for (int i = from; i < to; i++) {
		pthread_create(&thread, NULL, worker, (void *)(intptr_t)i);
		pthread_join(thread, NULL);
	}
}

/*
 * Returns the number of leaf's rows for a thread with this name, and the sum of their values.
 */
static int rows_of(const char *name, double *sum)
{
	int rows = 0;

	*sum = 0;
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.of, "leaf") == 0 &&
		    strncmp(info.thread, name, strlen(name)) == 0) {
			tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &value);
			*sum += value.value;
			rows++;
		}
	}
	return rows;
}

static void by_thread(void)
{
	char mine[128];
	double sum;

	begin("thread:4");
	prctl(PR_SET_NAME, "first");
	leaf(1000);
	threads(1, 4);
	sprintf(mine, "leaf [thread first %d]", (int)getpid());
	CHECK(counted(mine) == 1000 && info.threads == 1, "%s", mine);
	CHECK(rows_of("worker 3 ", &sum) == 1 && sum == 4 && calls_of("leaf") == 7);
	/* The row has the thread's present name. */
	prctl(PR_SET_NAME, "renamed");
	sprintf(mine, "leaf [thread renamed %d]", (int)getpid());
	CHECK(counted(mine) == 1000);
	prctl(PR_SET_NAME, "region_split");
	threads(4, 6);
	CHECK(counted("leaf [thread other]") == 1 + 4 + 1 + 5 && info.threads == 2, "%g",
	      value.value);
	CHECK(strstr(tach_snapshot_missing(shot), "more than 4 threads") != NULL);
	CHECK(calls_of("leaf") == 11);
}

/* ---- around it ---- */

static char text[1 << 20];
static size_t used;

static int sink(void *context, const char *more, size_t n)
{
	(void)context;
	if (used + n < sizeof text)
		memcpy(text + used, more, n);
	used += n;
	text[used < sizeof text ? used : sizeof text - 1] = '\0';
	return 0;
}

static const char *written(enum tach_format format)
{
	struct tach_report_options opt = {.size = sizeof opt, .format = format};

	used = 0;
	CHECK(tach_report_write(shot, &opt, sink, NULL, &err) == 0);
	return text;
}

static void in_formats(void)
{
	static struct tach_task request;
	struct tach_snapshot *read = NULL, *list[2];

	begin("tag,task,thread");
	request.tag = 9;
	TACH_TASK_BEGIN(&request, request);
	leaf(4);
	tach_task_end(&request);
	CHECK(!regions_look("", 0));
	CHECK(strstr(written(TACH_FORMAT_TEXT),
		     "request > leaf [tag 0x9] [thread region_split"));
	CHECK(strstr(written(TACH_FORMAT_PROMETHEUS),
		     "{region=\"leaf\",task=\"request\",tag=\"0x9\",thread=\"region_split "));
	CHECK(strstr(written(TACH_FORMAT_CSV), ",flags,of,task,tag,thread\r\n"));
	CHECK(strstr(text, ",\"leaf\",\"request\",\"0x9\",\"region_split "));
	written(TACH_FORMAT_JSON);
	CHECK(tach_snapshot_load(text, used, &read, &err) == 0, "%s", err.text);
	list[0] = list[1] = read;
	tach_snapshot_free(shot);
	CHECK(tach_snapshot_merge((const struct tach_snapshot *const *)list, 2, &shot, &err) ==
	      0);
	tach_snapshot_free(read);
	CHECK(calls_of("leaf") == 2);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.of, "leaf") == 0)
			CHECK(strcmp(info.task, "request") == 0 &&
			      strcmp(info.tag, "0x9") == 0 &&
			      strncmp(info.thread, "region_split ", 13) == 0);
	}
}

static void handler(int number)
{
	(void)number;
	outer(77, 1);
}

static void from_handlers_and_children(void)
{
	int status = -1;
	pid_t child;

	begin("tag");
	signal(SIGUSR1, handler);
	tach_tag(5);
	raise(SIGUSR1);
	leaf(2);
	CHECK(counted("outer [tag 0x4d]") == 1001);
	child = fork();
	if (child == 0) {
		outer(6, 3);
		_exit(counted("leaf [tag 0x6]") == 3 && !regions_look("leaf [tag 0x4d]", 1)
			      ? 0
			      : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "%d", status);
}

static void refused(void)
{
	static const char *const bad[] = {"tags",   "tag:0", "tag:1001",  "tag:",      "tag:1x",
					  "task:2", ",tag",  "tag,,task", "thread: 4 "};
	struct tach_regions_options opt = {.size = sizeof opt, .events = ""};

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		opt.by = bad[i];
		CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL, "%s", bad[i]);
	}
	/* An error in the environment is in the report; all other settings work. */
	opt.by = NULL;
	setenv("TACH_BY", "colour", 1);
	CHECK(tach_regions_configure(&opt, &err) == 0);
	outer(3, 1);
	CHECK(regions_look("outer", 0));
	CHECK(strstr(tach_snapshot_missing(shot), "not by 'colour'") != NULL, "%s",
	      tach_snapshot_missing(shot));
	/* An error in another option is not attributed to this one. */
	opt.worst = "many";
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL);
	unsetenv("TACH_BY");
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL);
	opt.worst = NULL;
	opt.by = "";
	CHECK(tach_regions_configure(&opt, &err) == 0);
	outer(3, 1);
	CHECK(regions_look("outer", 0) && !regions_look("outer [tag 0x3]", 0));
}

/* Rows use the memory of later sites: the report says how many sites had no room. */
static void no_room_for_places(void)
{
	struct tach_region_mark mark;
	char name[32];

	begin("tag:1000");
	for (int i = 0; i < (int)TACH_SITES_MAX - 20; i++) {
		snprintf(name, sizeof name, "place %d", i);
		tach_tag(i < 1000 ? (uint64_t)i % 10 : 0);
		tach_region_begin(tach_site_get(name), &mark);
		tach_region_end(&mark);
	}
	tach_tag(0);
	CHECK(regions_look("place 0", 1) && !regions_find("place 29979", 1));
	CHECK(strstr(tach_snapshot_missing(shot), " regions are not measured: there is room "
						  "for 30713 regions and divided rows"),
	      "%s", tach_snapshot_missing(shot));
}

int main(void)
{
	CASE(by_tag);
	CASE(recursive);
	CASE(more_tags);
	CASE(by_task);
	CASE(by_both);
	CASE(by_thread);
	CASE(in_formats);
	CASE(from_handlers_and_children);
	CASE(refused);
	CASE(no_room_for_places);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Worst entries: all planted entries are kept, with their data; also entries of a handler;
 * through reports, ended threads, and merged snapshots. The test uses page faults, which count
 * correctly under any load: a slow entry touches a known number of pages.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/pages.h"

enum { WORST = 4, ENTRIES = 300, THREADS = 3 };

static int configure(const char *worst)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "page-faults"};

	opt.worst = worst;
	return tach_regions_configure(&opt, NULL);
}

/* The planted entries are at irregular places; the greatest is neither first nor last. */
static int planted(int i)
{
	return i == 7 ? 400 : i == 100 ? 900 : i == 101 ? 600 : i == ENTRIES - 1 ? 500 : 1;
}

/* The kernel may remove a page, which then faults once more. */
static int is_about(double faults, int pages)
{
	return faults >= pages && faults < pages + 50;
}

static void work(int i)
{
	TACH_START(request);
	tach_tag((uint64_t)1000 + (uint64_t)i);
	pages_touch(planted(i));
	TACH_STOP(request);
}

static void requests(void)
{
	TACH_START(outer);
	for (int i = 0; i < ENTRIES; i++)
		work(i);
	TACH_STOP(outer);
}

static int find(const struct tach_snapshot *s, const char *name)
{
	struct tach_region_info info = {.size = sizeof info};

	for (int r = 0; tach_snapshot_region(s, r, &info) == 0; r++)
		if (strcmp(info.name, name) == 0)
			return r;
	return -1;
}

static struct tach_worst at(const struct tach_snapshot *s, const char *region, int i)
{
	struct tach_worst w = {.size = sizeof w, .thread_name = "", .parent = ""};

	tach_snapshot_worst(s, find(s, region), i, &w);
	return w;
}

static int kept(const struct tach_snapshot *s, const char *region)
{
	struct tach_worst w = {.size = sizeof w};
	int n = 0;

	while (tach_snapshot_worst(s, find(s, region), n, &w) == 0)
		n++;
	return n;
}

static double faults(const struct tach_snapshot *s, int i)
{
	return tach_snapshot_worst_value(s, find(s, "request"), i, 1);
}

static void check_all(const struct tach_snapshot *s)
{
	static const int tags[WORST] = {100, 101, ENTRIES - 1, 7};

	CHECK(tach_snapshot_worst_by(s) == 1);
	CHECK(kept(s, "request") == WORST, "%d", kept(s, "request"));
	for (int i = 0; i < WORST; i++) {
		struct tach_worst w = at(s, "request", i);

		CHECK(w.tag == 1000 + (uint64_t)tags[i], "%d: %llu", i,
		      (unsigned long long)w.tag);
		CHECK(is_about(faults(s, i), planted(tags[i])), "%d: %f", i, faults(s, i));
		CHECK(strcmp(w.parent, "outer") == 0 && strcmp(w.thread_name, "plant") == 0,
		      "%s %s", w.parent, w.thread_name);
		CHECK(w.thread == getpid());
		CHECK(tach_snapshot_worst_value(s, find(s, "request"), i, 0) > 0);
		CHECK(w.at > 1e9);
	}
	/* These entries began in this order. */
	CHECK(at(s, "request", 3).at <= at(s, "request", 0).at);
	CHECK(at(s, "request", 0).at <= at(s, "request", 1).at);
	CHECK(at(s, "request", 1).at <= at(s, "request", 2).at);
}

static struct tach_snapshot *taken(void)
{
	struct tach_snapshot *s = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_snapshot_take(&s, &err) == 0, "%s", err.text);
	return s;
}

struct memory {
	char *at;
	size_t length;
};

static int to_memory(void *context, const char *text, size_t length)
{
	struct memory *m = context;

	m->at = realloc(m->at, m->length + length + 1);
	memcpy(m->at + m->length, text, length);
	m->length += length;
	m->at[m->length] = '\0';
	return 0;
}

static struct memory written(const struct tach_snapshot *s, enum tach_format format)
{
	struct tach_report_options opt = {.size = sizeof opt, .format = format};
	struct memory m = {0};

	CHECK(tach_report_write(s, &opt, to_memory, &m, NULL) == 0);
	return m;
}

static void planted_entries_are_kept(void)
{
	struct tach_snapshot *s, *again = NULL, *list[2], *sum = NULL;
	struct memory json, text, page_;

	prctl(PR_SET_NAME, "plant");
	CHECK(configure("4:page-faults") == 0);
	requests();
	s = taken();
	check_all(s);
	json = written(s, TACH_FORMAT_JSON);
	CHECK(tach_snapshot_load(json.at, json.length, &again, NULL) == 0);
	check_all(again);
	list[0] = again;
	list[1] = s;
	CHECK(tach_snapshot_merge((const struct tach_snapshot *const *)list, 2, &sum, NULL) ==
	      0);
	CHECK(kept(sum, "request") == WORST);
	CHECK(is_about(faults(sum, 0), 900) && is_about(faults(sum, 1), 900) &&
	      is_about(faults(sum, 2), 600));
	text = written(s, TACH_FORMAT_TEXT);
	CHECK(strstr(text.at, "request, worst entries by page-faults") != NULL);
	CHECK(strstr(text.at, "in outer, tag 0x44c") != NULL);
	page_ = written(s, TACH_FORMAT_HTML);
	CHECK(strstr(page_.at, "<td class=\"t\" data-k=\"tag\">0x44c</td>") != NULL);
	free(json.at);
	free(text.at);
	free(page_.at);
	tach_snapshot_free(s);
	tach_snapshot_free(again);
	tach_snapshot_free(sum);
}

static void worst_entries_between_two_snapshots(void)
{
	struct tach_snapshot *older, *newer, *since = NULL;

	CHECK(configure("4:page-faults") == 0);
	requests();
	older = taken();
	TACH_START(outer);
	tach_tag(0);
	for (int i = 0; i < 2; i++)
		work(100);
	TACH_STOP(outer);
	newer = taken();
	CHECK(tach_snapshot_since(newer, older, &since, NULL) == 0);
	CHECK(kept(since, "request") == 2 && is_about(faults(since, 1), 900));
	tach_snapshot_free(older);
	tach_snapshot_free(newer);
	tach_snapshot_free(since);
}

static void *thread(void *number)
{
	char name[16];

	snprintf(name, sizeof name, "worker%d", (int)(intptr_t)number);
	work(7);
	/* The row has the name that the thread had at its end. */
	prctl(PR_SET_NAME, name);
	tach_tag((uint64_t)(intptr_t)number);
	TACH_START(in_thread);
	pages_touch(2000 + 100 * (int)(intptr_t)number);
	TACH_STOP(in_thread);
	return NULL;
}

static void threads_that_ended(void)
{
	struct tach_snapshot *s;
	pthread_t t;

	CHECK(configure("4:page-faults") == 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&t, NULL, thread, (void *)(intptr_t)i);
		pthread_join(t, NULL);
	}
	s = taken();
	CHECK(kept(s, "in_thread") == THREADS);
	for (int i = 0; i < THREADS; i++) {
		char name[16];

		snprintf(name, sizeof name, "worker%d", THREADS - 1 - i);
		CHECK(strcmp(at(s, "in_thread", i).thread_name, name) == 0, "%s",
		      at(s, "in_thread", i).thread_name);
		CHECK(at(s, "in_thread", i).tag == (uint64_t)(THREADS - 1 - i));
		CHECK(*at(s, "in_thread", i).parent == '\0');
	}
	tach_snapshot_free(s);
}

static void handler(int signal)
{
	(void)signal;
	TACH_START(in_handler);
	pages_touch(3);
	TACH_STOP(in_handler);
}

static void from_handlers(void)
{
	struct sigaction action = {.sa_handler = handler};
	struct tach_snapshot *s;

	sigaction(SIGUSR1, &action, NULL);
	CHECK(configure("2:page-faults") == 0);
	for (int i = 0; i < 5; i++) {
		TACH_START(interrupted);
		raise(SIGUSR1);
		TACH_STOP(interrupted);
	}
	s = taken();
	CHECK(kept(s, "in_handler") == 2 && kept(s, "interrupted") == 2);
	CHECK(strcmp(at(s, "in_handler", 0).parent, "interrupted") == 0);
	tach_snapshot_free(s);
}

static void by_time_and_none(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "", .worst = "3"};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s;

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	requests();
	s = taken();
	CHECK(tach_snapshot_worst_by(s) == 0 && kept(s, "request") == 3);
	tach_snapshot_free(s);
	opt.worst = "3:cycles";
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_NOTFOUND);
	CHECK(strstr(err.text, "cycles") != NULL);
	opt.worst = "65";
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL);
	opt.worst = "many";
	CHECK(tach_regions_configure(&opt, &err) == TACH_ERR_INVAL);
	opt.worst = NULL;
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	requests();
	s = taken();
	CHECK(tach_snapshot_worst_by(s) == -1 && kept(s, "request") == 0);
	tach_snapshot_free(s);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	puts("a sanitizer's own page faults are counted too");
	return 77;
#endif
	CASE(planted_entries_are_kept);
	CASE(worst_entries_between_two_snapshots);
	CASE(threads_that_ended);
	CASE(from_handlers);
	CASE(by_time_and_none);
	return check_done();
}

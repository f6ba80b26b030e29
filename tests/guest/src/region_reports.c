/* SPDX-License-Identifier: MIT */
/*
 * Reports under a real kernel, compared with values from outside the library: looks at a
 * process whose threads end, differences over a new configuration and of samples, entries left
 * by longjmp in a saved report, and software events that a program turns off.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/guest/known_loop.h"
#include "tests/guest/machine.h"

static struct tach_snapshot *shot, *before;
static struct tach_region_info info;
static struct tach_value value;

static void configure(const char *events, uint32_t sparse)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .events = events, .sparse = sparse};
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
}

static int find(const struct tach_snapshot *in, const char *name)
{
	for (int r = 0; r < tach_snapshot_nregions(in); r++) {
		memset(&info, 0, sizeof info);
		tach_snapshot_region(in, r, &info);
		if (strcmp(info.name, name) != 0)
			continue;
		tach_snapshot_value(in, r, 1, TACH_PART_INCLUSIVE, &value);
		return 1;
	}
	return 0;
}

static void look(struct tach_snapshot **to)
{
	tach_snapshot_free(*to);
	*to = NULL;
	CHECK(tach_snapshot_take(to, NULL) == 0);
}

/* ---- a process whose threads end ---- */

enum { THREADS = 150, PIECES = 40 };
struct shared {
	volatile uint64_t begun, done; /* entries: begun, and completed */
	volatile int ready, enough;
};
static struct shared *shared;

static void *piece(void *unused)
{
	for (int i = 0; i < PIECES; i++) {
		__atomic_fetch_add(&shared->begun, 1, __ATOMIC_SEQ_CST);
		{
			TACH_START(piece);
			LOOP(100);
			TACH_STOP(piece);
		}
		__atomic_fetch_add(&shared->done, 1, __ATOMIC_SEQ_CST);
	}
	return unused;
}

static int churn(void)
{
	configure("instructions:u", 0);
	piece(NULL);
	shared->ready = 1;
	while (!shared->enough) {
		pthread_t thread[2];

		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, piece, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}

/*
 * The rows have at least the entries completed before the look, and at most those begun after
 * it.
 */
static void a_process_whose_threads_end(void)
{
	int looks = 0, stale = 0;
	pid_t child;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	child = fork();
	if (child == 0)
		_exit(churn());
	while (!shared->ready)
		usleep(1000);
	for (int i = 0; i < 100; i++) {
		struct tach_counts counts = {.size = sizeof counts};
		uint64_t least, most;

		usleep((useconds_t)(i % 7 * 300));
		least = shared->done;
		tach_snapshot_free(shot);
		shot = NULL;
		if (tach_snapshot_take_process(child, &shot, NULL) != 0)
			continue;
		most = shared->begun;
		tach_snapshot_counts(shot, &counts);
		looks++;
		if (counts.stale) {
			stale++;
			continue;
		}
		CHECK(find(shot, "piece"));
		CHECK(info.calls >= least && info.calls <= most,
		      "look %d: %" PRIu64 " of %" PRIu64 " to %" PRIu64, i, info.calls, least,
		      most);
		CHECK(!machine_is_exact() || info.provenance[0] ||
			      value.value == (double)info.calls * TAKES(100),
		      "%.0f of %" PRIu64, value.value, info.calls);
	}
	CHECK(looks > stale, "%d looks, %d stale", looks, stale);
	shared->enough = 1;
	waitpid(child, NULL, 0);
}

/* ---- differences ---- */

static void work(int n)
{
	for (int i = 0; i < n; i++) {
		TACH_START(work);
		LOOP(1000);
		TACH_STOP(work);
	}
}

/*
 * The same events, opened again, begin from zero, so the difference consists of the newer
 * counts only.
 */
static void since_another_configuration(void)
{
	struct tach_snapshot *since = NULL;

	configure("instructions:u", 0);
	work(100);
	look(&before);
	configure("instructions:u", 0);
	work(150);
	look(&shot);
	CHECK(tach_snapshot_since(shot, before, &since, NULL) == 0);
	CHECK(find(since, "work") && info.calls == 150, "%d", (int)info.calls);
	CHECK(!machine_is_exact() || info.provenance[0] || value.value == 150.0 * TAKES(1000),
	      "%.0f", value.value);
	tach_snapshot_free(since);
}

/* All entries are equal, so chance affects only how many are measured. */
static void since_in_samples(void)
{
	struct tach_snapshot *since = NULL;

	configure("instructions:u", 16);
	work(3000);
	look(&before);
	work(2000);
	look(&shot);
	CHECK(tach_snapshot_since(shot, before, &since, NULL) == 0);
	CHECK(find(since, "work") && info.calls + info.skipped == 2000 && info.calls < 500,
	      "%d of %d", (int)info.calls, (int)info.skipped);
	/* The longest entry of a difference is unknown, so the error may be unbounded. */
	if (machine_is_exact() && !info.provenance[0]) {
		double off = value.value - 2000.0 * TAKES(1000);

		CHECK(off <= value.error && -off <= value.error, "%.0f, stated %.0f", off,
		      value.error);
		CHECK(value.error < 2000.0 * TAKES(1000) / 20 ||
			      (value.flags & TACH_FLAG_UNBOUNDED),
		      "%.0f, flags %x", value.error, value.flags);
	}
	tach_snapshot_free(since);
}

/* ---- a saved report keeps its lost entries ---- */

static jmp_buf back;

static __attribute__((noinline)) void jumps(int leaves)
{
	TACH_START(jumps);
	LOOP(1000);
	if (leaves)
		longjmp(back, 1);
	TACH_STOP(jumps);
}

static int keep(void *to, const char *text, size_t length)
{
	char *all = to;
	size_t used = strlen(all);

	if (used + length < 1 << 20)
		memcpy(all + used, text, length);
	return 0;
}

static void are_99(const struct tach_snapshot *in, const char *what)
{
	CHECK(find(in, "jumps") && info.calls == 66 && info.lost == 33 && info.entries == 99,
	      "%s: %d calls, %d lost", what, (int)info.calls, (int)info.lost);
	/* With the test and the jump, each adds at most four instructions. */
	CHECK(!machine_is_exact() || info.provenance[0] ||
		      (value.value >= 66.0 * TAKES(1000) &&
		       value.value <= 66.0 * (TAKES(1000) + 4)),
	      "%s: %.0f", what, value.value);
}

static void left_entries_in_a_saved_report(void)
{
	static char json[1 << 20];
	struct tach_snapshot *saved = NULL, *merged = NULL;
	const struct tach_snapshot *both[2];
	struct tach_report_options opt = {.size = sizeof opt, .format = TACH_FORMAT_JSON};
	struct tach_error err = TACH_ERROR_INIT;

	configure("instructions:u", 0);
	for (volatile int i = 0; i < 99; i++)
		if (setjmp(back) == 0)
			jumps(i % 3 == 0);
	work(1); /* notices the last */
	look(&shot);
	are_99(shot, "snapshot");
	CHECK(tach_report_write(shot, &opt, keep, json, &err) == 0, "%s", err.text);
	CHECK(tach_snapshot_load(json, strlen(json), &saved, &err) == 0, "%s", err.text);
	are_99(saved, "saved");
	both[0] = both[1] = saved;
	CHECK(tach_snapshot_merge(both, 2, &merged, &err) == 0, "%s", err.text);
	CHECK(find(merged, "jumps") && info.calls == 132 && info.lost == 66, "%d, %d",
	      (int)info.calls, (int)info.lost);
	tach_snapshot_free(merged);
	tach_snapshot_free(saved);
}

/* ---- software events that the program turns off ---- */

enum { TOUCHED = 1000 };

static void touch(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at = mmap(NULL, TOUCHED * page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)at, TOUCHED * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < TOUCHED; i++)
		at[i * page] = 1;
	munmap((void *)(uintptr_t)at, TOUCHED * page);
}

static void software_events_turned_off(void)
{
	configure("page-faults:u", 0);
	{
		TACH_START(on);
		touch();
		TACH_STOP(on);
	}
	{
		TACH_START(off);
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
		touch();
		TACH_STOP(off);
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	}
	look(&shot);
	CHECK(find(shot, "on") && value.value >= TOUCHED && value.value <= TOUCHED + 20 &&
		      !(value.flags & TACH_FLAG_INCOMPLETE),
	      "%.0f, flags %x", value.value, value.flags);
	CHECK(find(shot, "off") &&
		      (value.value >= TOUCHED || (value.flags & TACH_FLAG_INCOMPLETE)),
	      "%.0f, flags %x", value.value, value.flags);
}

int main(void)
{
	if (!machine_is_exact()) {
		puts("instruction counts are not exact on this machine");
		return 77;
	}
	CASE(since_another_configuration);
	CASE(since_in_samples);
	CASE(left_entries_in_a_saved_report);
	CASE(software_events_turned_off);
	CASE(a_process_whose_threads_end);
	tach_snapshot_free(shot);
	tach_snapshot_free(before);
	return check_done();
}

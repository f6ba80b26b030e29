/* SPDX-License-Identifier: MIT */
/*
 * Memory of a thread, a region, a histogram and a snapshot, as the kernel counts it.
 * docs/limits.md states the first of these figures, and the test compares it with the
 * measurement.
 */
#include <ctype.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "tests/unit/region/regions.h"

enum { THREADS = 32, SITES = 4000 };

static struct tach_site *site[SITES];

static void enter(int sites)
{
	for (int i = 0; i < sites; i++) {
		struct tach_region_mark mark = TACH_REGION_MARK_INIT;

		tach_region_begin(site[i], &mark);
		tach_region_end(&mark);
	}
}

static pthread_barrier_t barrier;

static void *visitor(void *sites)
{
	enter((int)(intptr_t)sites);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/*
 * Threads enter this number of regions and wait: returns the growth of memory, and the growth
 * after a snapshot. Bytes in all.
 */
static void live(int threads, int sites, long *entered, long *looked)
{
	pthread_t thread[THREADS];
	pthread_attr_t attr;
	long before, after;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	before = regions_resident_kb();
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], &attr, visitor, (void *)(intptr_t)sites);
	pthread_barrier_wait(&barrier);
	after = regions_resident_kb();
	*entered = (after - before) * 1024;
	CHECK(regions_look("site 0", 0));
	tach_snapshot_free(shot);
	shot = NULL;
	*looked = (regions_resident_kb() - after) * 1024;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	pthread_attr_destroy(&attr);
}

static void begin(int members, uint32_t histograms)
{
	struct tach_regions_options opt = {.events = "", .histograms = histograms};

	if (members)
		opt.set = fake_set(members);
	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

/* The figures of README.md, rounded to pages. */
static const struct {
	int members;
	long bytes, with_histograms;
} stated[] = {{0, 328, 4424}, {1, 328, 4424}, {4, 456, 12744}};
enum { PER_THREAD_KB = 40, PER_LOCKED_THREAD_KB = 73 };

/* The C library caches stacks of ended threads, so a first round creates them. */
static long bytes_per_thread(int members)
{
	long none, one, ignored;

	begin(members, 0);
	enter(1);
	live(THREADS, 0, &none, &ignored);
	live(THREADS, 0, &none, &ignored);
	live(THREADS, 1, &one, &ignored);
	return (one - none) / THREADS;
}

/* Runs in a separate process, because new threads reuse the memory of ended ones. */
static void bytes_per_region(int members, uint32_t histograms, long *entered, long *looked)
{
	long *shared = mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		begin(members, histograms);
		enter(SITES); /* registers the sites */
		live(1, 1, &shared[0], &shared[1]);
		live(1, SITES, &shared[0], &shared[1]);
		_exit(check__failed != 0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0);
	*entered = shared[0] / SITES;
	*looked = shared[1] / SITES;
	munmap(shared, 2 * sizeof *shared);
}

/* A process locks all its memory in RAM, present and future. */
static void locked_memory_per_thread(void)
{
	int status = -1;
	pid_t child;

	if (!REGIONS_MEMORY_IS_OURS)
		SKIP("a checker's own memory is among it");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		long bytes;

		if (mlockall(MCL_FUTURE) != 0)
			_exit(77);
		bytes = bytes_per_thread(4);
		printf("# mlockall: %ld bytes per thread\n", bytes);
		CHECK(bytes <= PER_LOCKED_THREAD_KB * 1024, "%ld", bytes);
		fflush(stdout);
		_exit(check__failed != 0);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("locking memory is not permitted");
	CHECK(status == 0, "%#x", (unsigned)status);
}

static int about(long measured, long figure)
{
	return measured >= figure - figure / 20 && measured <= figure + figure / 20;
}

static void prepare(void)
{
	for (int i = 0; i < SITES; i++) {
		char name[16];

		snprintf(name, sizeof name, "site %d", i);
		site[i] = tach_site_get(name);
	}
}

static void memory_per_thread(void)
{
	if (!REGIONS_MEMORY_IS_OURS)
		SKIP("a checker's own memory is among it");
	for (int i = 0; i < 3; i += 2) {
		long bytes = bytes_per_thread(stated[i].members);

		printf("# %d counters: %ld bytes per thread\n", stated[i].members, bytes);
		CHECK(about(bytes, PER_THREAD_KB * 1024));
	}
}

static void memory_per_region(void)
{
	if (!REGIONS_MEMORY_IS_OURS)
		SKIP("a checker's own memory is among it");
	for (int i = 0; i < 3; i++) {
		long bytes, looked, with;

		bytes_per_region(stated[i].members, 1, &with, &looked);
		bytes_per_region(stated[i].members, 0, &bytes, &looked);
		printf("# %d counters: %ld bytes per region and thread, %ld with histograms, "
		       "%ld more when looked at\n",
		       stated[i].members, bytes, with, looked);
		CHECK(about(bytes, stated[i].bytes));
		CHECK(about(with, stated[i].with_histograms));
		/* Pages of slots of this thread and of the other thread have been copied. */
		CHECK(looked <= 3 * stated[i].bytes);
	}
}

static void the_limits_say_so(void)
{
	static char text[65536], sentence[256];
	FILE *f = fopen("docs/limits.md", "re");
	size_t n = 0;

	if (!f)
		SKIP("no docs/limits.md in this folder");
	/* Reads text across line breaks. */
	for (int c, blank = 0; n < sizeof text - 1 && (c = getc(f)) != EOF; blank = isspace(c))
		if (!isspace(c) || !blank)
			text[n++] = (char)(isspace(c) ? ' ' : c);
	fclose(f);
	snprintf(sentence, sizeof sentence,
		 "%d KB per thread, and per region that a thread enters %ld bytes with the "
		 "clock "
		 "alone, %ld with 1 counter, %ld with 4",
		 PER_THREAD_KB, stated[0].bytes, stated[1].bytes, stated[2].bytes);
	CHECK(strstr(text, sentence), "docs/limits.md lacks: %s", sentence);
}

int main(void)
{
	prepare();
	CASE(memory_per_region);
	CASE(locked_memory_per_thread);
	CASE(memory_per_thread);
	CASE(the_limits_say_so);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Limits reached: out of descriptors, out of memory to map. A reader that cannot be opened
 * gives the reason and leaks nothing. A reader whose pages cannot be mapped reports it and
 * counts by read(2). The victim, opened earlier, is not affected.
 */
#include <errno.h>
#include <sys/resource.h>
#include "tests/descriptors.h"
#include "tests/guest/adversary.h"

enum { HOARD_MAX = 1024 };
static int hoard[HOARD_MAX], hoarded;

static void give_back(int n)
{
	for (; n > 0 && hoarded > 0; n--)
		close(hoard[--hoarded]);
}

/* A second reader of the victim's set, which must open, and be as exact as the first. */
static void second_reader(const struct victim *v, int slow)
{
	struct victim second = {.set = v->set, .empty = v->empty};

	if (victim_open_reader(&second))
		return;
	if (slow)
		CHECK(!second.reader->fast && tach_reader_missing(second.reader)[0],
		      "does not say why it is slow");
	else
		CHECK(second.reader->fast == v->reader->fast, "slow: %s",
		      tach_reader_missing(second.reader));
	/* "alone" is not set: counting by read(2) takes longer than calibrated. */
	victim_suffer(&second, 1000);
	victim_judged(&second);
	tach_reader_close(second.reader);
}

static void no_more_descriptors(void)
{
	struct rlimit limit = {64, 64};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;
	struct victim v;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	if (victim_open(&v, 0, 0))
		return;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (uint64_t round = 0; v.reads < adversary_reads(); round++) {
		/* Let descriptors run out at each member in turn. */
		int spare = (int)(round % v.reader->count), before, bad;

		while (hoarded < HOARD_MAX && (hoard[hoarded] = dup(0)) >= 0)
			hoarded++;
		give_back(spare + 1);
		before = descriptors();
		CHECK(before > 50, "%d descriptors in use", before);
		hoard[hoarded++] = dup(0);
		bad = tach_reader_open(v.set, &reader, &err);
		CHECK(bad == -EMFILE && err.text[0], "%d: %s", bad, err.text);
		give_back(1);
		CHECK(descriptors() == before, "%d descriptors, then %d", before,
		      descriptors());
		if (round == 0)
			printf("# %s\n", err.text);
		give_back(HOARD_MAX);
		if (round % 64 == 0)
			second_reader(&v, 0);
		victim_suffer(&v, v.reads + 1000);
	}
	victim_verdict(&v, "out of descriptors", v.reads / 1000);
	victim_close(&v);
}

/* Maps pages of events until this user's limit. */
static int hoard_pages(void **page, size_t size)
{
	struct perf_event_attr attr = adversary_attr(PERF_COUNT_HW_CPU_CYCLES);

	while (hoarded < HOARD_MAX && (hoard[hoarded] = adversary_open(&attr, 0, -1)) >= 0) {
		page[hoarded] = mmap(NULL, size, PROT_READ, MAP_SHARED, hoard[hoarded], 0);
		hoarded++;
		if (page[hoarded - 1] == MAP_FAILED)
			return errno;
	}
	return 0;
}

/* Runs in a child as the user nobody: root may map any amount. */
static void as_nobody(void)
{
	struct rlimit none = {0, 0}, many = {2 * HOARD_MAX, 2 * HOARD_MAX};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	static void *page[HOARD_MAX];
	struct victim v;
	int reason;

	setrlimit(RLIMIT_NOFILE, &many);
	setrlimit(RLIMIT_MEMLOCK, &none);
	if (setgid(65534) || setuid(65534))
		_exit(1);
	if (victim_open(&v, 0, 0))
		return;
	reason = hoard_pages(page, size);
	CHECK(reason == EPERM, "%d pages and no end: %s", hoarded, strerror(reason));
	second_reader(&v, 1);
	victim_suffer(&v, adversary_reads() / 2);
	for (int i = 0; i < hoarded; i++)
		if (page[i] != MAP_FAILED)
			munmap(page[i], size);
	give_back(HOARD_MAX);
	second_reader(&v, 0);
	victim_suffer(&v, adversary_reads());
	victim_verdict(&v, "out of memory to map", 1);
	victim_close(&v);
}

static void no_more_memory_to_map(void)
{
	pid_t child;
	int status;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	adversary_write("/proc/sys/kernel/perf_event_paranoid", "2");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		as_nobody();
		fflush(stdout);
		_exit(check__failed != 0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "status %x", (unsigned)status);
}

int main(void)
{
	ADVERSARY(no_more_memory_to_map);
	ADVERSARY(no_more_descriptors);
	return check_done();
}

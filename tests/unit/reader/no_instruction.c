/* SPDX-License-Identifier: MIT */
/*
 * The inline reads, compiled for a processor that tach/arch.h does not know: they read no
 * counters in user space. Each inline read fails, so the slow path is taken. Also tests the
 * check of a word, for which other processors have special instructions.
 */
#include <stdint.h>
#include "tests/check.h"
#include <linux/perf_event.h>

#undef __x86_64__
#undef __aarch64__
#undef __riscv
#include <tach/page.h>

static struct perf_event_mmap_page page;

static void no_sum_is_there(void)
{
	const struct tach_way way = {&page, NULL};
	uint64_t sum;
	uint32_t lock;

	page.index = 1;
	page.pmc_width = 48;
	CHECK(!TACH_ARCH_FAST);
	CHECK(!tach__sum(way, TACH__AS_IT_IS, &sum, &lock));
	CHECK(!tach__sum(way, TACH__BY_WIDTH, &sum, &lock));
	CHECK(!tach__sum_since(way, 0, &sum));
}

static void every_member_takes_the_slow_exit(void)
{
	struct tach_reader reader = {.count = 2, .fast = 1, .mask = ~(uint64_t)0};
	struct tach_mark mark = {.lock = 0};
	uint64_t values[2];

	reader.way[0].page = reader.way[1].page = &page;
	for (unsigned i = 0; i < 2; i++) {
		CHECK(!tach__begin_one(&reader, &mark, i), "%u", i);
		CHECK(!tach__end_one(&reader, &mark, values, i), "%u", i);
		CHECK(!tach__read_one(&reader, values, i), "%u", i);
	}
}

static void the_test_of_a_word(void)
{
	static const uint64_t words[] = {1, 0, (uint64_t)1 << 63};
	int found = 0;

	for (int i = 0; i < 3; i++) {
		TACH_UNLESS(words[i], zero);
		continue;
	zero:
		found |= 1 << i;
	}
	CHECK(found == 2, "%#x", (unsigned)found);
}

int main(void)
{
	CASE(no_sum_is_there);
	CASE(every_member_takes_the_slow_exit);
	CASE(the_test_of_a_word);
	return check_done();
}

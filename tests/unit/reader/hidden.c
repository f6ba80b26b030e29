/* SPDX-License-Identifier: MIT */
/*
 * A counter that the kernel hides from user space reads 0 without a fault (tach/arch/x86.h):
 * such a reading is invalid. The counter instruction is replaced by code that returns the
 * test's value.
 */
#if defined(__x86_64__)
#define TACH_COUNTER_INSN "mov hidden_low(%%rip), %%eax\n\tmov hidden_high(%%rip), %%edx"
#include <tach/reader.h>
#include "tests/check.h"

extern uint32_t hidden_low, hidden_high;
uint32_t hidden_low, hidden_high;
static struct perf_event_mmap_page page = {.lock = 2, .index = 1, .offset = 1000};
static const struct tach_way way = {&page, NULL};

static int sum_as(int extend, uint64_t raw, uint64_t *value, uint32_t *lock)
{
	hidden_low = (uint32_t)raw;
	hidden_high = (uint32_t)(raw >> 32);
	return tach__sum(way, extend, value, lock);
}

static int sum(uint64_t raw, uint64_t *value, uint32_t *lock)
{
	return sum_as(TACH__AS_IT_IS, raw, value, lock);
}

static void any_count_is_taken(void)
{
	static const uint64_t counts[] = {1, 0x80000000u, UINT64_C(1) << 32, UINT64_C(1) << 47,
					  (UINT64_C(1) << 48) - 1};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		uint64_t value = 0;
		uint32_t lock = 1;

		CHECK(sum(counts[i], &value, &lock) && lock == 2, "%zu: lock %u", i, lock);
		CHECK(value == 1000 + counts[i], "%zu: %llu", i, (unsigned long long)value);
		CHECK(tach__sum_since(way, 2, &value), "%zu", i);
		CHECK(!tach__sum_since(way, 4, &value), "%zu: the page has changed", i);
	}
}

/* An odd lock makes the slow path use read(2). */
static void hidden_counters_are_not_read(void)
{
	uint64_t value;
	uint32_t lock = 2;

	CHECK(!sum(0, &value, &lock));
	CHECK(lock & 1, "lock %u", lock);
	CHECK(!tach__sum_since(way, 2, &value));
}

static void forty_eight_bits_have_a_sign(void)
{
	static const int64_t counts[] = {
		1,  0x7fffffff,	   0x80000000,		(INT64_C(1) << 47) - 1,
		-1, -0x80000000ll, -(INT64_C(1) << 47), -(INT64_C(1) << 47) + 1};
	uint64_t value;
	uint32_t lock;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		CHECK(sum_as(TACH__BY_48, (uint64_t)counts[i] & ((UINT64_C(1) << 48) - 1),
			     &value, &lock) &&
			      lock == 2,
		      "%zu", i);
		CHECK(value == (uint64_t)(1000 + counts[i]), "%zu: %lld", i, (long long)value);
	}
	CHECK(!sum_as(TACH__BY_48, 0, &value, &lock) && (lock & 1));
}

/* Counters with widths other than 48 are not read inline: the reader's mask shows the width. */
static void other_widths_are_not_read_inline(void)
{
	struct tach_reader reader = {.count = 1};

	for (unsigned width = 40; width < 64; width++) {
		reader.mask = (UINT64_C(1) << width) - 1;
		CHECK(tach__whole(&reader) == (width == 48), "%u bits", width);
	}
	reader.mask = ~UINT64_C(0);
	CHECK(!tach__whole(&reader));
}

/* From here on, the test answers CPUID: EBX of leaf 23H.0 is `ebx`, if the leaf exists. */
static unsigned ebx;
static int has_leaf;

static int cpuid(unsigned leaf, unsigned subleaf, unsigned *b)
{
	CHECK(leaf == 0x23 && subleaf == 0, "%#x, %u", leaf, subleaf);
	if (has_leaf)
		*b = ebx;
	return has_leaf;
}
#define __get_cpuid_count(leaf, subleaf, a, b, c, d)                                           \
	((void)(a), (void)(c), (void)(d), cpuid(leaf, subleaf, b))

static void processors_tell_that_they_hide(void)
{
	for (int bit = 0; bit < 32; bit++) {
		ebx = 1u << bit;
		has_leaf = 0;
		CHECK(TACH_COUNTERS_HIDE() == 0);
		has_leaf = 1;
		CHECK(TACH_COUNTERS_HIDE() == (bit == 2), "%d", bit);
		ebx = ~ebx;
		CHECK(TACH_COUNTERS_HIDE() == (bit != 2), "%d", bit);
	}
}

int main(void)
{
	CASE(processors_tell_that_they_hide);
	CASE(any_count_is_taken);
	CASE(forty_eight_bits_have_a_sign);
	CASE(other_widths_are_not_read_inline);
	CASE(hidden_counters_are_not_read);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip hidden: only x86's counters are hidden so");
	return 77;
}
#endif

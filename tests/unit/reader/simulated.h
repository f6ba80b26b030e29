/* SPDX-License-Identifier: MIT */
/*
 * Simulated perf pages: code that is compiled after this header calls sim_step() at every read
 * of a page. The behaviour is the same on every machine.
 */
#ifndef TESTS_UNIT_READER_SIMULATED_H
#define TESTS_UNIT_READER_SIMULATED_H

#include <linux/perf_event.h>
#include <tach/arch.h>

void sim_step(void);

#define TACH_PAGE_LOAD(page, field)                                                            \
	(sim_step(), *(const volatile __typeof__((page)->field) *)&(page)->field)
#define TACH_PAGE_OPERAND(page, field) TACH_PAGE_LOAD(page, field)
#undef TACH_ARCH_SIGNED
#define TACH_ARCH_SIGNED 0
#undef TACH_ARCH_FAST
#define TACH_ARCH_FAST 1
#ifndef __x86_64__
#undef TACH_NUMBER
#define TACH_NUMBER(index, number) __builtin_sub_overflow(index, 1u, &(number))
#undef TACH_ADD
#define TACH_ADD(value, operand) ((value) += (uint64_t)(operand))
#undef TACH_PAGE
#define TACH_PAGE(reader, i)                                                                   \
	((const struct perf_event_mmap_page *)((const char *)(reader) + ((i) + 1) * 4096l))
#endif

#endif

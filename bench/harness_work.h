/* SPDX-License-Identifier: MIT */
/*
 * The code that bench/harness measures with several harnesses. It is in a separate object, so
 * no harness inlines it.
 */
#ifndef TACH_BENCH_HARNESS_WORK_H
#define TACH_BENCH_HARNESS_WORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/*
 * Makes the same random numbers each time. The others copy n of them and sort the copy, or add
 * them up.
 */
void work_fill(uint64_t n);
void work_sort(uint64_t n);
uint64_t work_sum(uint64_t n);
#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The code that bench/harness measures with several harnesses; it is not inlined into any. */
#ifndef TACH_BENCH_HARNESS_WORK_H
#define TACH_BENCH_HARNESS_WORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Random numbers, the same each time; then: copies n of them and sorts the copy, adds them up.
 */
void work_fill(uint64_t n);
void work_sort(uint64_t n);
uint64_t work_sum(uint64_t n);
#ifdef __cplusplus
}
#endif

#endif

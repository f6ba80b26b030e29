/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's page faults, from another source of the kernel: a counter's difference
 * is at most the growth of this number around its two reads, under any load. If memory is
 * short, the kernel removes pages, and any access causes a page fault again.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdint.h>
#include <sys/resource.h>

static inline uint64_t thread_faults(void)
{
	struct rusage used = {0};

	getrusage(RUSAGE_THREAD, &used);
	return (uint64_t)used.ru_minflt + (uint64_t)used.ru_majflt;
}

#endif

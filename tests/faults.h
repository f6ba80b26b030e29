/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's page faults as the kernel knows them otherwise: what a counter of them
 * has is no more than this grew by around its two reads, whatever the load. Where memory is
 * short pages are taken away, and come back by faults, as often as it pleases the kernel.
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

/* SPDX-License-Identifier: MIT */
/* The clock that user space reads, and the frequencies that the system tells. */
#ifndef TACH_CORE_OS_CLOCK_H
#define TACH_CORE_OS_CLOCK_H

#include <stdint.h>

void tach__clock_start(void); /* the sooner it is called, the better the estimate */
/*
 * Ticks per second; *flags |= TACH_FLAG_CLOCK: an estimate, off by the fraction *error at most.
 * It waits until `apart` ns have gone since tach__clock_start: two looks are off by some 25 ns
 * each, 250 in a million after 200 us.
 */
struct perf_event_mmap_page;
void tach__clock_learn(
	const struct perf_event_mmap_page *page); /* the page of any open event */
#define TACH__CLOCK_SOON  200e3
#define TACH__CLOCK_EXACT 20e6
double tach__clock_hz(double apart, uint32_t *flags, double *error);

/* The values of `max_hz` and `tsc_hz`: Hz, or 0 if unknown; flags: TACH_FLAG_CLOCK. */
double tach__max_hz(uint32_t *flags);
double tach__max_hz_at(const char *root,
		       uint32_t *flags); /* the highest clock of the machine under root */
double tach__tsc_hz(uint32_t *flags);

#endif

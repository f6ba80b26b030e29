/* SPDX-License-Identifier: MIT */
/* The clock that user space reads, and the frequencies that the system reports. */
#ifndef TACH_CORE_OS_CLOCK_H
#define TACH_CORE_OS_CLOCK_H

#include <stdint.h>

void tach__clock_start(void); /* begins the estimate: call it early */
/*
 * Returns ticks per second. If this is an estimate, sets TACH_FLAG_CLOCK in *flags, and *error
 * to the largest error, as a fraction. An estimate waits until `apart` ns have passed since
 * tach__clock_start. Each of the two reads has an error of about 25 ns, which is 250 in a
 * million after 200 us.
 */
struct perf_event_mmap_page;
void tach__clock_learn(const struct perf_event_mmap_page *page); /* page of any open event */
#define TACH__CLOCK_SOON  200e3
#define TACH__CLOCK_EXACT 20e6
double tach__clock_hz(double apart, uint32_t *flags, double *error);

/* Return `max_hz` and `tsc_hz` of formulas in Hz, or 0 if unknown. flags: TACH_FLAG_CLOCK. */
double tach__max_hz(uint32_t *flags);
double tach__max_hz_at(const char *root,
		       uint32_t *flags); /* max_hz of the machine whose files are under root */
double tach__tsc_hz(uint32_t *flags);

#endif

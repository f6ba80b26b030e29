/* SPDX-License-Identifier: MIT */
/* Functions that differ between C libraries: glibc, musl. */
#ifndef TACH_CORE_BASE_LIBC_H
#define TACH_CORE_BASE_LIBC_H

/* Returns the C library's text for an errno, or NULL. No allocation. */
const char *tach__errno_words(int number);

/* "HUP" for SIGHUP; Returns NULL if the signal has no name. */
const char *tach__signal_name(int number);

/* Returns 1 if the process has one thread, and 0 also if this is unknown. */
int tach__has_one_thread(void);

#endif

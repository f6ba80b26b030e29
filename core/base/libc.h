/* SPDX-License-Identifier: MIT */
/* C libraries differ here: glibc, musl. */
#ifndef TACH_CORE_BASE_LIBC_H
#define TACH_CORE_BASE_LIBC_H

/* The C library's words for an errno, or NULL. No allocation. */
const char *tach__errno_words(int number);

/* "HUP" for SIGHUP; NULL: the signal has no name. */
const char *tach__signal_name(int number);

/* The process has one thread. 0 also where nothing can say. */
int tach__has_one_thread(void);

#endif

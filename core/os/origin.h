/* SPDX-License-Identifier: MIT */
/* Where a report comes from: a program, its command line, the machine. */
#ifndef TACH_CORE_OS_ORIGIN_H
#define TACH_CORE_OS_ORIGIN_H

#include <stdint.h>

struct tach__origin {
	char program[64], command[512], host[65]; /* printable; "": not known, or several */
	int64_t date;				  /* seconds since 1970; 0: not known */
};

/* Of the calling process, as it is when its regions are configured. */
void tach__origin_note(void);
/* What was noted, and the date now; async-signal-safe. */
void tach__origin_take(struct tach__origin *to);
/* Of another process: what /proc tells. */
void tach__origin_of(struct tach__origin *to, int process);
/* Of two that are added up: what both have, and the later date; of one that is not known,
 * nothing. */
void tach__origin_add(struct tach__origin *to, const struct tach__origin *from);

#endif

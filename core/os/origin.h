/* SPDX-License-Identifier: MIT */
/* The origin of a report: a program, its command line, the machine. */
#ifndef TACH_CORE_OS_ORIGIN_H
#define TACH_CORE_OS_ORIGIN_H

#include <stdint.h>

struct tach__origin {
	char program[64], command[512], host[65]; /* printable; "": unknown, or several */
	int64_t date;				  /* seconds since 1970; 0: unknown */
};

/* Notes the origin of the calling process. Call it when regions are configured. */
void tach__origin_note(void);
/* Copies the noted origin, with the present date. Async-signal-safe. */
void tach__origin_take(struct tach__origin *to);
/* Reads another process's origin from /proc. */
void tach__origin_of(struct tach__origin *to, int process);
/* Adds two origins: keeps equal fields, and the later date. If one is unknown, the result is
 * unknown. */
void tach__origin_add(struct tach__origin *to, const struct tach__origin *from);

#endif

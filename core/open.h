/* SPDX-License-Identifier: MIT */
/* All open readers of the process: what must be done once, in turn, or after a fork. */
#ifndef TACH_CORE_OPEN_H
#define TACH_CORE_OPEN_H

#include "core/reader.h"
#include "core/set.h"

/* Around the system calls of opening and closing; see core/readers.c. */
void tach__open_enter(struct tach__reader *r);
void tach__open_leave(struct tach__reader *r, int opened);
void tach__close_enter(struct tach__reader *r);
void tach__close_leave(void);

/* Page `page` of the reader reads as zeros from now on. Async-signal-safe. */
void tach__page_zero(struct tach__reader *r, int page);

#endif

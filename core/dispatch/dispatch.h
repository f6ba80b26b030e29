/* SPDX-License-Identifier: MIT */
/* What the files of this room share. */
#ifndef TACH_CORE_DISPATCH_H
#define TACH_CORE_DISPATCH_H

#include "core/event/event.h"

/* Public PMU number -> row number of the tables, -1 if there is none. */
int tach__dispatch_pmu(int pmu);
/*
 * Fills item->codes and counters: what the caller has encoded, or what the encoder makes of the
 * rows, levels and options.
 */
int tach__dispatch_encode(struct tach__dispatch *d, struct tach__item *item);

#endif

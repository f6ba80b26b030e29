/* SPDX-License-Identifier: MIT */
/* Functions that the files of this room share. */
#ifndef TACH_CORE_DISPATCH_H
#define TACH_CORE_DISPATCH_H

#include "core/event/event.h"

/* Converts a public PMU number to a row number of the tables, or -1 if there is no such PMU. */
int tach__dispatch_pmu(int pmu);
/* Fills item->codes and counters: the caller's encoding, or the encoder's result for the rows,
 * levels and options. */
int tach__dispatch_encode(struct tach__dispatch *d, struct tach__item *item);

#endif

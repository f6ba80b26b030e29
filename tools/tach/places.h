/* SPDX-License-Identifier: MIT */
/* Places in programs, which libtach-openmp.so names by object and offset. */
#ifndef TOOLS_TACH_PLACES_H
#define TOOLS_TACH_PLACES_H

#include <tach/snapshot.h>

/*
 * Finds the functions and lines of such regions: "parallel main (loop.c:12)". A place without
 * symbols keeps its offset. spread: as tach__snapshot_teams. Replaces and frees *snapshot.
 * Returns the number of such regions, or -1 after printing an error.
 */
int places_name(struct tach_snapshot **snapshot, int spread, const char *who);

#endif

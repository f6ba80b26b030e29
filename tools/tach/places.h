/* SPDX-License-Identifier: MIT */
/* Places in programs, which libtach-openmp.so and libtach-functions.so name by object and
 * offset. */
#ifndef TOOLS_TACH_PLACES_H
#define TOOLS_TACH_PLACES_H

#include <tach/snapshot.h>

/* How the names of regions begin, before they are named: "parallel ", "function ". sums: the
 * rows with all callers of a function, otherwise all other rows. */
struct places_kind {
	const char *name;
	int sums;
};
int places_count(const struct tach_snapshot *snapshot, const struct places_kind *kind);
/* Of these, the regions with that many calls whose self time says nothing; *calls: of all. */
int places_too_small(const struct tach_snapshot *snapshot, const struct places_kind *kind,
		     uint64_t least, uint64_t *calls);
/* Adds a row with all callers of each function; -1 after printing an error. */
int places_sum_callers(struct tach_snapshot *snapshot, const char *kind, const char *who);
/* Leaves out all regions of the kind except those with the most self time. */
void places_choose(struct tach_snapshot *snapshot, const struct places_kind *kind, int most);
/*
 * Finds the functions and lines of such regions: "parallel main (loop.c:12)", "main
 * (loop.c:12)" for a function. A place without symbols keeps its offset. spread: as
 * tach__snapshot_teams.
 * Returns the number of such regions, or -1 after printing an error.
 */
int places_name(struct tach_snapshot **snapshot, int spread, const char *who);

#endif

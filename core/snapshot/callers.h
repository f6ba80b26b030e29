/* SPDX-License-Identifier: MIT */
/*
 * Rows of functions with their callers, which libtach-functions.so names "NAME <ID", where ID
 * tells the callers apart. A function that no other measured function calls is "NAME".
 */
#ifndef TACH_CORE_SNAPSHOT_CALLERS_H
#define TACH_CORE_SNAPSHOT_CALLERS_H

#include <tach/snapshot.h>

#define TACH__ALL_CALLERS " [all callers]"

/*
 * Adds a row "NAME [all callers]" for each function to a loaded or merged snapshot: the sum of
 * its rows. kind: how the names of functions begin. 0 or a code.
 */
int tach__snapshot_sum_callers(struct tach_snapshot *snapshot, const char *kind,
			       struct tach_error *err);
/* Returns the part " <ID" of a name, or NULL. */
const char *tach__callers_id(const char *name);
/* Writes the callers as names: "NAME < CALLER" if several rows have that name, else "NAME". 0
 * or a code. */
int tach__snapshot_name_callers(struct tach_snapshot *snapshot, struct tach_error *err);

#endif

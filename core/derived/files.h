/* SPDX-License-Identifier: MIT */
/* Sources of definitions: files, the user's own places, and the CPU names in them. */
#ifndef TACH_CORE_DERIVED_FILES_H
#define TACH_CORE_DERIVED_FILES_H

#include <tach/derived.h>

int tach__derived_too_large(const char *name, struct tach_error *err);
/*
 * Reads a whole file into memory that the caller frees. Returns 0, or a negated errno with err.
 */
int tach__derived_slurp(const char *path, char **text, size_t *length, struct tach_error *err);
/*
 * Loads PAPI_CSV_EVENT_FILE, $XDG_CONFIG_HOME/tach, PAPI_USER_EVENTS_FILE and TACH_DERIVED. A
 * file that cannot be read is reported. Returns 0 or TACH_ERR_NOMEM.
 */
int tach__derived_user_files(struct tach_derived *d);
/* Finds the PMUs that a CPU line means: writes up to max, returns their number. */
int tach__derived_cpu(const char *name, size_t length, int *pmus, int max);
/* Like tach_derived_find, for a name that is not terminated; pmu is a number, -1 = unknown. */
int tach__derived_find(struct tach_derived *d, int pmu, const char *name, size_t length,
		       struct tach_derived_info *info);
/* Reports a message about a file as a whole to the registry's owner. */
void tach__derived_complain(struct tach_derived *d, const char *file, const char *text);

#endif

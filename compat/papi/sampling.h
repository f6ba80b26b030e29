/* SPDX-License-Identifier: MIT */
/* Shared by overflow.c and profiles.c. */
#ifndef COMPAT_PAPI_SAMPLING_H
#define COMPAT_PAPI_SAMPLING_H

#include "compat/papi/state.h"

enum { PP_WATCHES = 16 };

struct pp_watch {
	int code, index, member;
	int threshold;
	long long deadline;
	int fd;	       /* -1: not open */
	int profiling; /* counts in a histogram of PAPI_sprofil or PAPI_profil */
	const PAPI_sprofil_t *profiles; /* NULL: `own`, of PAPI_profil */
	PAPI_sprofil_t own;
	int nprofiles, profile_flags;
};

struct pp_sampling {
	int n, flags, running;
	int clock; /* in software mode: the event that signals; else -1 */
	PAPI_overflow_handler_t handler;
	struct pp_watch watch[PP_WATCHES];
};

struct pp_watch *pp_watch_of(const struct pp_set *set, int code);
int pp_watch_put(struct pp_set *set, int index, int threshold, int flags);
int pp_watch_remove(struct pp_set *set, int code);
/* Async-signal-safe, as the handler calls it. */
void pp_profile_add(const struct pp_watch *watch, const void *address);

#endif

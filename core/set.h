/* SPDX-License-Identifier: MIT */
/* What a set holds, as the reader and the set's own files see it. */
#ifndef TACH_CORE_SET_H
#define TACH_CORE_SET_H

#include <tach/set.h>

struct tach__member {
	struct perf_event_attr attr; /* complete but for disabled and pinned */
	enum tach_member_kind kind;
	char *name;
	char *qualified;
};

struct tach_set {
	int count;
	uint32_t flags;	   /* TACH_SET_* */
	uint8_t exclusive; /* asked for by a member or the caller; goes to the leader */
	struct tach__member member[TACH_COUNTERS_MAX];
	char missing[512];
};

#endif

/* SPDX-License-Identifier: MIT */
/* Counters of this machine, or the reason why there are no counters. */
#ifndef TESTS_HW_HARDWARE_H
#define TESTS_HW_HARDWARE_H

#include <stdio.h>
#include <tach/reader.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

struct hardware {
	struct tach_set *set;
	struct tach_reader *reader;
};

static inline void hardware_close(struct hardware *h)
{
	tach_reader_close(h->reader);
	tach_set_free(h->set);
}

static char hardware_why[256]; /* for SKIP, after hardware_open failed */

/* Returns 0 if the events are open and no read needs a system call. */
static inline int hardware_open(struct hardware *h, const char *events)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	uint64_t value[TACH_COUNTERS_MAX];

	h->set = NULL;
	h->reader = NULL;
	opt.events = events;
	if (tach_set_create(&opt, &h->set, &err) ||
	    tach_reader_open(h->set, &h->reader, &err)) {
		snprintf(hardware_why, sizeof hardware_why, "%s", err.text);
	} else if (!h->reader->fast) {
		snprintf(hardware_why, sizeof hardware_why, "%s",
			 tach_reader_missing(h->reader));
	} else if (tach_reader_read(h->reader, value) & TACH_FLAG_LOST) {
		snprintf(hardware_why, sizeof hardware_why, "others hold the counters");
	} else {
		return 0;
	}
	hardware_close(h);
	return -1;
}

#endif

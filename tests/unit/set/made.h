/* SPDX-License-Identifier: MIT */
/* Makes sets for a PMU, or returns the message if no set is made. */
#ifndef TESTS_UNIT_SET_MADE_H
#define TESTS_UNIT_SET_MADE_H

#include <string.h>
#include <tach.h>
#include "tests/check.h"

static struct tach_error err;

static inline struct tach_set *made(const char *pmu, const char *events, const char *metrics,
				    int want)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	int code;

	opt.events = events;
	opt.metrics = metrics;
	opt.pmu = tach_pmu_find(pmu);
	memset(&err, 0, sizeof err);
	code = tach_set_create(&opt, &set, &err);
	CHECK(code == want && err.line == 0, "%s: %d: %s", metrics ? metrics : "-", code,
	      err.text);
	return set;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Explains, by the first cause, why a reader is not completely read in user space. */
#include <stdio.h>
#include "core/reader/open.h"

void tach__note_slow_cause(struct tach__reader *r, enum tach__slow cause, int code)
{
	if (r->slow)
		return;
	r->slow = cause;
	r->slow_code = code;
}

const char *tach_reader_missing(const struct tach_reader *reader)
{
	struct tach__reader *r = tach__reader(reader);

	if (r->why[0])
		return r->why;
	switch (r->slow) {
	case TACH__FAST:
		break;
	case TACH__SLOW_MULTIPLEX:
		snprintf(r->why, sizeof r->why,
			 "the set may be multiplexed, which needs the times of read(2)");
		break;
	case TACH__SLOW_METRIC:
		snprintf(r->why, sizeof r->why, "%s is a metric of packed fractions",
			 r->set->member[r->slow_code].name);
		break;
	case TACH__SLOW_FIRMWARE:
		snprintf(r->why, sizeof r->why, "%s is counted by the firmware",
			 r->set->member[r->slow_code].name);
		break;
	case TACH__SLOW_BLOCKED:
		snprintf(r->why, sizeof r->why,
			 "the thread blocks SIGILL, which a counter read may raise: leave it "
			 "out of pthread_sigmask");
		break;
	case TACH__SLOW_MAP:
		tach__diagnose_map(r->slow_code, r->why, sizeof r->why);
		break;
	case TACH__SLOW_ACCESS:
		tach__diagnose_access(r->why, sizeof r->why);
		break;
	}
	return r->why;
}

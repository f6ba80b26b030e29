/* SPDX-License-Identifier: MIT */
/* The names of causes, severities and verdicts. */
#include "core/doctor/doctor.h"

static const char *const severities[] = {"ok", "note", "warn", "fail"};
static const char *const verdicts[] = {"fast", "slow", "clock"};

const char *tach_cause_name(enum tach_cause cause)
{
	return (unsigned)cause < TACH_CAUSE_COUNT ? tach__causes[cause].name : "unknown";
}

const char *tach_severity_name(enum tach_severity severity)
{
	return (unsigned)severity <= TACH_SEVERITY_FAIL ? severities[severity] : "unknown";
}

const char *tach_verdict_name(enum tach_verdict verdict)
{
	return (unsigned)verdict <= TACH_VERDICT_CLOCK ? verdicts[verdict] : "unknown";
}

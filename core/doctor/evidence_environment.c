/* SPDX-License-Identifier: MIT */
/* Gathers evidence: evaluates the environment for regions without applying it. */
#include <stdio.h>
#include <tach/set.h>
#include "core/os/environment.h"
#include "core/startup/startup.h"
#include "core/doctor/evidence.h"

static void look_at_events(struct tach__evidence *e)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;

	opt.events = tach__environment_events();
	opt.metrics = tach__environment("TACH_METRICS");
	if (!opt.events && !opt.metrics)
		return;
	if (tach_set_create(&opt, &set, &err) == 0)
		e->events_members = tach_set_count(set);
	else if (err.column)
		snprintf(e->events_error, sizeof e->events_error,
			 "TACH_EVENTS or TACH_METRICS cannot be used: column %d: %.150s",
			 err.column, err.text);
	else
		snprintf(e->events_error, sizeof e->events_error,
			 "TACH_EVENTS or TACH_METRICS cannot be used: %.160s", err.text);
	tach_set_free(set);
}

void tach__evidence_environment(struct tach__evidence *e)
{
	look_at_events(e);
	if (!e->events_error[0])
		tach__environment_odd(e->events_error, sizeof e->events_error);
	if (!e->events_error[0])
		tach__environment_useless(e->events_error, sizeof e->events_error);
	e->output = tach__environment("TACH_OUTPUT") != NULL;
	tach__environment_output(e->output_error, sizeof e->output_error);
}

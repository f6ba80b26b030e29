/* SPDX-License-Identifier: MIT */
/* Finds the groups for a set of events on a machine, and describes them in words. split.c does
 * the search. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/pmu/pmu.h"

struct text {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= t->left)
		n = t->left ? (int)t->left - 1 : 0;
	t->at += n;
	t->left -= (size_t)n;
}

/* "skl::INST_RETIRED:ANY_P:u=1" -> "INST_RETIRED:ANY_P", "cpu/event=1/:u=1" -> "cpu/event=1/":
 * the name that a user wrote. */
static int short_name(const struct tach_event *event, const char **start)
{
	const char *slash = strchr(event->name, '/'), *close = NULL;
	const char *colons = strstr(event->name, "::"), *s, *mods;

	if (slash)
		close = strchr(slash + 1, '/');
	s = !slash && colons ? colons + 2 : event->name;
	*start = s;
	if (close)
		return (int)(close - s) + 1;
	mods = strchr(s, '=');
	if (!mods)
		return (int)strlen(s);
	while (mods > s && *mods != ':')
		mods--;
	return (int)(mods - s);
}

static void say_groups(struct text *t, const struct tach_event *events, int n, int nanchors,
		       const struct tach_schedule *plan)
{
	for (int g = 0; g < plan->ngroups; g++) {
		const char *between = g ? " | " : "";

		for (int e = nanchors; e < n; e++) {
			const char *name;
			int length = short_name(&events[e], &name);

			if (plan->group[e] != g)
				continue;
			/* Appends only whole names, and leaves space for "...". */
			if (strlen(between) + (size_t)length + sizeof ", ..." > t->left) {
				say(t, ", ...");
				return;
			}
			say(t, "%s%.*s", between, length, name);
			between = ", ";
		}
	}
}

/* The `size` of the first element is the distance of the array's elements. */
static const void *event_at(const struct tach_event *events, int i)
{
	return (const char *)events +
	       (size_t)i * tach__sized(events, TACH__STRUCT(tach_event), NULL);
}

static int explain_failure(int rc, const struct tach__machine *m,
			   const struct tach__want *wants, const struct tach_event *events,
			   int n, struct tach_error *err)
{
	const char *pmu = tach__str(tach__pmu_at(m->pmu)->name);

	if (rc == TACH_ERR_FEATCOMB)
		return tach__error(
			err, rc, 0, 0,
			"topdown metric events count only together with their slots event "
			"(TOPDOWN:SLOTS): add it to the set, first");
	for (int e = 0; e < n; e++) {
		const char *name;
		int length = short_name(event_at(events, e), &name);

		if (wants[e].counters && !(wants[e].counters & m->counters))
			return tach__error(err, rc, 0, 0,
					   "%.*s fits none of the counters that %s has here",
					   length, name, pmu);
	}
	return tach__error(err, rc, 0, 0,
			   "the anchor events leave no counter for the others on %s", pmu);
}

static int prepare_machine(int n, const struct tach_schedule_options *opt,
			   struct tach__machine *m, struct tach_error *err)
{
	int rc;

	if (n > TACH_SCHEDULE_MAX)
		return tach__error(err, TACH_ERR_TOOMANY, 0, 0, "%d events; at most %d", n,
				   TACH_SCHEDULE_MAX);
	rc = tach__machine(opt, m);
	return rc ? tach__error(err, rc, 0, 0, "no table for counters of that PMU") : 0;
}

static int take_events(const struct tach_event *events, int n, const struct tach__machine *m,
		       struct tach__want *wants, struct tach_error *err)
{
	for (int e = 0; e < n; e++) {
		struct tach_event ours;
		const struct tach_event *at = event_at(events, e);
		const struct tach_event *event =
			tach__sized_in(at, &ours, TACH__STRUCT(tach_event), err);

		if (!event)
			return TACH_ERR_INVAL;
		if (at->size != events->size)
			return tach__error(err, TACH_ERR_INVAL, 0, 0,
					   "event %d has another size than the first", e);
		tach__want(m, event, &wants[e]);
	}
	return 0;
}

static int split_events(const struct tach_event *events, int n, int nanchors,
			const struct tach_schedule_options *opt, struct tach_schedule *plan,
			struct tach_error *err)
{
	struct tach__machine m;
	struct tach__want wants[TACH_SCHEDULE_MAX];
	int rc = prepare_machine(n, opt, &m, err);

	if (!rc)
		rc = take_events(events, n, &m, wants, err);
	if (rc)
		return rc;
	rc = tach__schedule(&m, wants, n, nanchors, plan);
	return rc ? explain_failure(rc, &m, wants, events, n, err) : 0;
}

int tach_schedule_split(const struct tach_event *events, int n, int nanchors,
			const struct tach_schedule_options *opt, struct tach_schedule *out,
			struct tach_error *err)
{
	static const struct tach_schedule_options defaults = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_schedule_options options;
	struct tach_schedule plan = {0};
	int rc;

	if (n < 0 || (n && !events) || nanchors < 0 || nanchors > n)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "an argument is missing");
	opt = opt ? tach__sized_in(opt, &options, TACH__STRUCT(tach_schedule_options), err)
		  : &defaults;
	if (!opt || !tach__sized(out, TACH__STRUCT(tach_schedule), err))
		return TACH_ERR_INVAL;
	rc = split_events(events, n, nanchors, opt, &plan, err);
	if (!rc)
		tach__sized_done(out, &plan, TACH__STRUCT(tach_schedule));
	return rc;
}

int tach__schedule_set(int pmu, const struct tach_event *events, int n, struct tach_error *err)
{
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_schedule plan;
	struct tach__machine m;
	struct tach__want wants[TACH_SCHEDULE_MAX];
	char list[170]; /* limited so that the whole sentence fits an error */
	struct text t = {list, sizeof list};
	int rc;

	opt.pmu = pmu;
	rc = prepare_machine(n, &opt, &m, err);
	for (int e = 0; e < n && !rc; e++)
		tach__want(&m, &events[e], &wants[e]);
	if (!rc) {
		rc = tach__schedule(&m, wants, n, 0, &plan);
		if (rc)
			explain_failure(rc, &m, wants, events, n, err);
	}
	if (rc || plan.ngroups == 1)
		return rc;
	if (m.watchdog)
		t.left -= 40;
	say_groups(&t, events, n, 0, &plan);
	return tach__error(
		err, TACH_ERR_NOCOUNTER, 0, 0,
		"%d of %d events fit one group%s; tach run --passes or --turns counts "
		"all, in %d groups: %s",
		plan.nfit, n, m.watchdog ? " (the NMI watchdog holds a counter)" : "",
		plan.ngroups, list);
}

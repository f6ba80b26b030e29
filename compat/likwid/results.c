/* SPDX-License-Identifier: MIT */
/*
 * Results by thread, region and group, and the functions of LIKWID's interface that return
 * them.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compat/likwid/state.h"

#define UNCOUNTED (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)

struct lw_thread *lw_thread_at(int number)
{
	struct lw_thread *t = lw_state.threads;

	while (t && (t->epoch != lw_state.epoch || t->number != number))
		t = t->next;
	return t;
}

const struct lw_region *lw_result_of(const struct lw_thread *thread, int group, uint32_t id)
{
	const struct lw_view *view = &thread->view[group];

	return id < view->size ? view->region[id] : NULL;
}

int lw_result_is(int group, uint32_t id)
{
	for (const struct lw_thread *t = lw_state.threads; t; t = t->next) {
		const struct lw_region *r =
			t->epoch == lw_state.epoch ? lw_result_of(t, group, id) : NULL;

		if (r && lw_calls(r))
			return 1;
	}
	return 0;
}

/* The result is at least 0: an entry may cost less than the calibrated overhead. */
static uint64_t less(uint64_t sum, uint64_t calls, uint64_t cost)
{
	uint64_t whole;

	return __builtin_mul_overflow(calls, cost, &whole) || whole > sum ? 0 : sum - whole;
}

double lw_seconds(const struct lw_thread *thread, int group, const struct lw_region *region)
{
	if (!region || lw_state.hz <= 0)
		return 0;
	return (double)less(region->ticks, lw_calls(region), thread->view[group].cost_ticks) /
	       lw_state.hz;
}

double lw_count(const struct lw_thread *thread, int group, const struct lw_region *region,
		int event)
{
	int member = lw_state.group[group].event[event].member;

	if (member < 0 || !lw_state.group[group].set)
		return NAN;
	if (!region)
		return 0;
	if (region->flags & UNCOUNTED)
		return NAN;
	return (double)less(region->sum[member], lw_calls(region),
			    thread->view[group].cost[member]);
}

double lw_metric_value(const struct lw_thread *thread, int group,
		       const struct lw_region *region, int metric)
{
	const struct lw_group *g = &lw_state.group[group];
	double seconds = lw_seconds(thread, group, region);
	uint64_t counts[TACH_COUNTERS_MAX] = {0};

	if (g->metric[metric].index < 0)
		return seconds;
	if (!region || (region->flags & UNCOUNTED))
		return NAN;
	for (int i = 0; i < tach_set_count(g->set); i++)
		counts[i] = less(region->sum[i], lw_calls(region), thread->view[group].cost[i]);
	return tach_set_eval(g->set, g->metric[metric].index, counts, NULL, seconds * 1e9,
			     NULL);
}

void likwid_markerGetRegion(const char *regionTag, int *nr_events, double *events, double *time,
			    int *count)
{
	int room = nr_events ? *nr_events : 0, group;
	const struct lw_region *region = NULL;
	const struct lw_thread *self;

	if (nr_events)
		*nr_events = 0;
	if (time)
		*time = 0;
	if (count)
		*count = 0;
	if (regionTag)
		region = lw_region_get(regionTag);
	if (!region)
		return;
	self = lw_self;
	group = self->group;
	if (time)
		*time = lw_seconds(self, group, region);
	if (count)
		*count = (int)lw_calls(region);
	if (!events)
		return;
	for (int i = 0; i < room && i < lw_state.group[group].nevents; i++)
		events[(*nr_events)++] = lw_count(self, group, region, i);
}

/* ---- groups, by number ---- */

static const struct lw_group *group_at(int id)
{
	return id >= 0 && id < lw_state.ngroups ? &lw_state.group[id] : NULL;
}

/* LIKWID's interface has no const. */
static char *text(const char *s)
{
	union {
		const char *in;
		char *out;
	} u = {s ? s : ""};

	return u.out;
}

int perfmon_getNumberOfGroups(void)
{
	return lw_state.ngroups;
}

int perfmon_getIdOfActiveGroup(void)
{
	return lw_state.active;
}

int perfmon_getNumberOfThreads(void)
{
	return lw_state.nthreads;
}

int perfmon_getNumberOfEvents(int groupId)
{
	return group_at(groupId) ? group_at(groupId)->nevents : 0;
}

int perfmon_getNumberOfMetrics(int groupId)
{
	return group_at(groupId) ? group_at(groupId)->nmetrics : 0;
}

char *perfmon_getGroupName(int groupId)
{
	return text(group_at(groupId) ? group_at(groupId)->name : NULL);
}

static int has_event(int group, int event)
{
	return event >= 0 && event < perfmon_getNumberOfEvents(group);
}

static int has_metric(int group, int metric)
{
	return metric >= 0 && metric < perfmon_getNumberOfMetrics(group);
}

char *perfmon_getEventName(int groupId, int eventId)
{
	return text(has_event(groupId, eventId) ? lw_state.group[groupId].event[eventId].name
						: NULL);
}

char *perfmon_getCounterName(int groupId, int eventId)
{
	return text(has_event(groupId, eventId) ? lw_state.group[groupId].event[eventId].counter
						: NULL);
}

char *perfmon_getMetricName(int groupId, int metricId)
{
	return text(has_metric(groupId, metricId)
			    ? lw_state.group[groupId].metric[metricId].name
			    : NULL);
}

/* The finished region that the thread started last. */
static const struct lw_region *last(const struct lw_thread *t, int group)
{
	const struct lw_region *latest = NULL;

	if (!t || t->group != group)
		return NULL;
	for (uint32_t id = 0; id < t->view[group].size; id++) {
		const struct lw_region *r = t->view[group].region[id];

		if (r && lw_calls(r) && !lw_running(r) &&
		    (!latest || r->mark.clock > latest->mark.clock))
			latest = r;
	}
	return latest;
}

double perfmon_getLastResult(int groupId, int eventId, int threadId)
{
	const struct lw_thread *t = lw_thread_at(threadId);

	const struct lw_region *r = last(t, groupId);

	return r && has_event(groupId, eventId) ? lw_count(t, groupId, r, eventId) : NAN;
}

double perfmon_getResult(int groupId, int eventId, int threadId)
{
	return perfmon_getLastResult(groupId, eventId, threadId);
}

double perfmon_getMetric(int groupId, int metricId, int threadId)
{
	const struct lw_thread *t = lw_thread_at(threadId);

	const struct lw_region *r = last(t, groupId);

	return r && has_metric(groupId, metricId) ? lw_metric_value(t, groupId, r, metricId)
						  : NAN;
}

/* ---- regions of one name and group, by number ---- */

/* Numbers the regions by the first use of their names, then by group. */
static int region_at(int number, uint32_t *id)
{
	for (*id = 0; number >= 0 && *id < lw_names_count(); ++*id)
		for (int g = 0; g < lw_state.ngroups; g++)
			if (lw_result_is(g, *id) && number-- == 0)
				return g;
	return -1;
}

int perfmon_getNumberOfRegions(void)
{
	int n = 0;

	for (uint32_t id = 0; !lw_state.open && id < lw_names_count(); id++)
		for (int g = 0; g < lw_state.ngroups; g++)
			n += lw_result_is(g, id);
	return n;
}

int perfmon_readMarkerFile(const char *filename)
{
	return filename ? perfmon_getNumberOfRegions() : -EINVAL;
}

void perfmon_destroyMarkerResults(void)
{
}

int perfmon_getGroupOfRegion(int region)
{
	uint32_t id;

	return region_at(region, &id);
}

char *perfmon_getTagOfRegion(int region)
{
	uint32_t id;

	return text(region_at(region, &id) >= 0 ? lw_name_at(id)->tag : NULL);
}

int perfmon_getEventsOfRegion(int region)
{
	return perfmon_getNumberOfEvents(perfmon_getGroupOfRegion(region));
}

int perfmon_getMetricsOfRegion(int region)
{
	return perfmon_getNumberOfMetrics(perfmon_getGroupOfRegion(region));
}

int perfmon_getThreadsOfRegion(int region)
{
	return perfmon_getGroupOfRegion(region) >= 0 ? lw_state.nthreads : 0;
}

int perfmon_getCpulistOfRegion(int region, int count, int *cpulist)
{
	int n = perfmon_getThreadsOfRegion(region);

	if (n > count)
		n = count;
	for (int i = 0; i < n; i++)
		cpulist[i] = lw_thread_at(i) ? lw_thread_at(i)->cpu : -1;
	return n > 0 ? n : 0;
}

/* Finds the thread and its result of the region. Returns the group of the region, or -1. */
static int result_at(int region, int number, const struct lw_thread **thread,
		     const struct lw_region **result)
{
	uint32_t id;
	int group = region_at(region, &id);

	*thread = lw_thread_at(number);
	*result = group >= 0 && *thread ? lw_result_of(*thread, group, id) : NULL;
	return *thread ? group : -1;
}

double perfmon_getTimeOfRegion(int region, int thread)
{
	const struct lw_thread *t;
	const struct lw_region *r;
	int group = result_at(region, thread, &t, &r);

	return group >= 0 ? lw_seconds(t, group, r) : 0;
}

int perfmon_getCountOfRegion(int region, int thread)
{
	const struct lw_thread *t;
	const struct lw_region *r;

	return result_at(region, thread, &t, &r) >= 0 && r ? (int)lw_calls(r) : 0;
}

double perfmon_getResultOfRegionThread(int region, int event, int thread)
{
	const struct lw_thread *t;
	const struct lw_region *r;
	int group = result_at(region, thread, &t, &r);

	return group >= 0 && has_event(group, event) ? lw_count(t, group, r, event) : NAN;
}

double perfmon_getMetricOfRegionThread(int region, int metricId, int threadId)
{
	const struct lw_thread *t;
	const struct lw_region *r;
	int group = result_at(region, threadId, &t, &r);

	return group >= 0 && has_metric(group, metricId)
		       ? lw_metric_value(t, group, r, metricId)
		       : NAN;
}

/* ---- where threads run ---- */

static int pin(pid_t who, int processor)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (processor < 0 || processor >= CPU_SETSIZE)
		return 0;
	CPU_SET(processor, &cpus);
	return sched_setaffinity(who, sizeof cpus, &cpus) == 0;
}

int likwid_getProcessorId(void)
{
	return sched_getcpu();
}

int likwid_pinThread(int processorId)
{
	return pin(0, processorId);
}

int likwid_pinProcess(int processorId)
{
	return pin(getpid(), processorId);
}

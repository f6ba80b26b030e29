/* SPDX-License-Identifier: MIT */
/*
 * The part of LIKWID 5's interface that a program with markers calls: the marker functions,
 * what tells of groups and results, and pinning. Errors are negated errno values.
 */
#ifndef LIKWID_H
#define LIKWID_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- markers ---- */

/*
 * Reads LIKWID_EVENTS: groups separated by '|', each the name of one (BRANCH) or a list of
 * EVENT:COUNTER; of the counter only the event's options count. Events have LIKWID's names
 * (BR_INST_RETIRED_ALL_BRANCHES) or any that libtach knows. Where it is not set, TACH_EVENTS
 * and TACH_METRICS say it, which may name a group too; else cycles, instructions, branches.
 */
void likwid_markerInit(void);
/* Opens the thread's counters now and not in its first region. */
void likwid_markerThreadInit(void);
/* The same for a region, with what it will need of memory. 0 or an error. */
int likwid_markerRegisterRegion(const char *regionTag);
/*
 * Regions of a thread may overlap in any way, not only nest; one that runs already begins anew.
 * -EFAULT: no likwid_markerInit, or a stop of what was not started.
 */
int likwid_markerStartRegion(const char *regionTag);
int likwid_markerStopRegion(const char *regionTag);
/* Sets the calling thread's results of it to 0. */
int likwid_markerResetRegion(const char *regionTag);
/*
 * The calling thread's results under the group in use. nr_events: room, then how many were
 * written; any pointer may be null. NaN: could not be counted.
 */
void likwid_markerGetRegion(const char *regionTag, int *nr_events, double *events, double *time,
			    int *count);
/* The next group for all threads; outside of all regions, while no other thread is at a marker.
 */
void likwid_markerNextGroup(void);
/*
 * Writes a table of each region and group to LIKWID_FILEPATH, as text, or as CSV if the name
 * ends in .csv; to standard error where that is not set. What follows measures nothing.
 */
void likwid_markerClose(void);

/* START and STOP of a constant string: which region it names is looked up once for each place.
 * Of what is none compilers make a tag of NULL here, which is not used. */
struct tach_likwid_site {
	const char *tag;
	unsigned id;
};
int tach_likwidStart(struct tach_likwid_site *site);
int tach_likwidStop(struct tach_likwid_site *site);
#define TACH__LIKWID_EDGE(edge, regionTag)                                                     \
	__extension__({                                                                        \
		static struct tach_likwid_site tach__likwid_site = {                           \
			__builtin_constant_p(regionTag) ? (regionTag) : 0, 0};                 \
		__builtin_constant_p(regionTag) ? tach_likwid##edge(&tach__likwid_site)        \
						: likwid_marker##edge##Region(regionTag);      \
	})

#ifndef LIKWID_MARKER_H
#include <likwid-marker.h>
#endif

/* ---- groups ---- */

int perfmon_getNumberOfGroups(void);
int perfmon_getIdOfActiveGroup(void);
int perfmon_getNumberOfThreads(void); /* that were at a marker */
int perfmon_getNumberOfEvents(int groupId);
int perfmon_getNumberOfMetrics(int groupId);
/* Strings are the library's, until the next likwid_markerInit; "" where there is no such. */
char *perfmon_getGroupName(int groupId);
char *perfmon_getEventName(int groupId, int eventId);
char *perfmon_getCounterName(int groupId, int eventId);
char *perfmon_getMetricName(int groupId, int metricId);
/* Of the region that the thread began last, of those that are over. NaN: nothing. */
double perfmon_getResult(int groupId, int eventId, int threadId);
double perfmon_getLastResult(int groupId, int eventId, int threadId);
double perfmon_getMetric(int groupId, int metricId, int threadId);

/* ---- results, after likwid_markerClose: a region is one of a name and a group ---- */

/* Results are in memory; any name will do. How many regions there are. */
int perfmon_readMarkerFile(const char *filename);
void perfmon_destroyMarkerResults(void);
int perfmon_getNumberOfRegions(void);
int perfmon_getGroupOfRegion(int region);
char *perfmon_getTagOfRegion(int region);
int perfmon_getEventsOfRegion(int region);
int perfmon_getMetricsOfRegion(int region);
int perfmon_getThreadsOfRegion(int region);
int perfmon_getCpulistOfRegion(int region, int count, int *cpulist);
double perfmon_getTimeOfRegion(int region, int thread);
int perfmon_getCountOfRegion(int region, int thread);
double perfmon_getResultOfRegionThread(int region, int event, int thread);
double perfmon_getMetricOfRegionThread(int region, int metricId, int threadId);

/* ---- where the calling thread (process: all that it will start) runs ---- */

int likwid_getProcessorId(void);
int likwid_pinThread(int processorId); /* 1: done, 0: not */
int likwid_pinProcess(int processorId);

#ifdef __cplusplus
}
#endif
#endif

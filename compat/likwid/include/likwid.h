/* SPDX-License-Identifier: MIT */
/*
 * The part of LIKWID 5's interface for programs with markers: marker functions, queries about
 * groups and results, and pinning. Errors are negated errno values.
 */
#ifndef LIKWID_H
#define LIKWID_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- markers ---- */

/*
 * Reads LIKWID_EVENTS: groups separated by '|'. Each is the name of a group (BRANCH) or a list
 * of EVENT:COUNTER; only the options of the counter are used. Events have LIKWID's names
 * (BR_INST_RETIRED_ALL_BRANCHES) or any that libtach knows. If it is not set, TACH_EVENTS and
 * TACH_METRICS are used, which may also name a group; otherwise cycles, instructions, branches.
 */
void likwid_markerInit(void);
/* Opens the thread's counters now instead of in its first region. */
void likwid_markerThreadInit(void);
/* Also prepares a region, including its memory. Returns 0 or an error. */
int likwid_markerRegisterRegion(const char *regionTag);
/*
 * A thread's regions may overlap in any way, not only nest; starting a running region restarts
 * it. -EFAULT: likwid_markerInit was not called, or the region was not started.
 */
int likwid_markerStartRegion(const char *regionTag);
int likwid_markerStopRegion(const char *regionTag);
/* Sets the calling thread's results of the region to 0. */
int likwid_markerResetRegion(const char *regionTag);
/*
 * Returns the calling thread's results under the current group. Set *nr_events to the room
 * in `events`; the function replaces it by the number that it wrote. Any pointer may be null.
 * NaN: not counted.
 */
void likwid_markerGetRegion(const char *regionTag, int *nr_events, double *events, double *time,
			    int *count);
/*
 * Switches all threads to the next group; call it outside of all regions, while no other thread
 * is at a marker.
 */
void likwid_markerNextGroup(void);
/*
 * Writes a table of each region and group to LIKWID_FILEPATH, as text, or as CSV if the name
 * ends in .csv; to standard error if it is not set. Later markers measure nothing.
 */
void likwid_markerClose(void);

/*
 * START and STOP of a constant string: each place looks up its region once. If the tag is not
 * constant, compilers store NULL, and the struct is not used.
 */
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
int perfmon_getNumberOfThreads(void); /* threads that used a marker */
int perfmon_getNumberOfEvents(int groupId);
int perfmon_getNumberOfMetrics(int groupId);
/*
 * The library owns the strings, until the next likwid_markerInit; "" if there is no such name.
 */
char *perfmon_getGroupName(int groupId);
char *perfmon_getEventName(int groupId, int eventId);
char *perfmon_getCounterName(int groupId, int eventId);
char *perfmon_getMetricName(int groupId, int metricId);
/* Result of the finished region that the thread started last. NaN: there is no such region. */
double perfmon_getResult(int groupId, int eventId, int threadId);
double perfmon_getLastResult(int groupId, int eventId, int threadId);
double perfmon_getMetric(int groupId, int metricId, int threadId);

/* ---- results, after likwid_markerClose: a region is one name and one group ---- */

/* Results are in memory, so any file name works. Returns the number of regions. */
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

/* ---- the processor of the calling thread (process: also of its future threads) ---- */

int likwid_getProcessorId(void);
int likwid_pinThread(int processorId); /* 1: done, 0: not */
int likwid_pinProcess(int processorId);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * The marker macros of LIKWID 5, over libtach: with -DLIKWID_PERFMON they measure, otherwise
 * they are empty. Each thread reads its own counters in user space. likwid-perfctr, a daemon or
 * rights to model-specific registers are not needed. LIKWID_EVENTS selects the events.
 */
#ifndef LIKWID_MARKER_H
#define LIKWID_MARKER_H

#ifdef LIKWID_PERFMON
#include <likwid.h>

#define LIKWID_MARKER_INIT		  likwid_markerInit()
#define LIKWID_MARKER_THREADINIT	  likwid_markerThreadInit()
#define LIKWID_MARKER_SWITCH		  likwid_markerNextGroup()
#define LIKWID_MARKER_REGISTER(regionTag) likwid_markerRegisterRegion(regionTag)
#define LIKWID_MARKER_START(regionTag)	  TACH__LIKWID_EDGE(Start, regionTag)
#define LIKWID_MARKER_STOP(regionTag)	  TACH__LIKWID_EDGE(Stop, regionTag)
#define LIKWID_MARKER_CLOSE		  likwid_markerClose()
#define LIKWID_MARKER_RESET(regionTag)	  likwid_markerResetRegion(regionTag)
#define LIKWID_MARKER_GET(regionTag, nevents, events, time, count)                             \
	likwid_markerGetRegion(regionTag, nevents, events, time, count)
#else
#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(regionTag)
#define LIKWID_MARKER_START(regionTag)
#define LIKWID_MARKER_STOP(regionTag)
#define LIKWID_MARKER_CLOSE
#define LIKWID_MARKER_RESET(regionTag)
#define LIKWID_MARKER_GET(regionTag, nevents, events, time, count)
#endif

/* GPUs are not supported: these macros are empty even with LIKWID_NVMON. */
#define LIKWID_NVMARKER_INIT
#define LIKWID_NVMARKER_THREADINIT
#define LIKWID_NVMARKER_SWITCH
#define LIKWID_NVMARKER_REGISTER(regionTag)
#define LIKWID_NVMARKER_START(regionTag)
#define LIKWID_NVMARKER_STOP(regionTag)
#define LIKWID_NVMARKER_CLOSE
#define LIKWID_NVMARKER_RESET(regionTag)
#define LIKWID_NVMARKER_GET(regionTag, ngpus, nevents, events, time, count)

#endif

/* SPDX-License-Identifier: MIT */
/* libpfm-4's interface to perf_event encodings; see <perfmon/pfmlib.h>. */
#ifndef __PFMLIB_PERF_EVENTS_H__
#define __PFMLIB_PERF_EVENTS_H__

#include <perfmon/perf_event.h>
#include <perfmon/pfmlib.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The argument for PFM_OS_PERF_EVENT and PFM_OS_PERF_EVENT_EXT. */
typedef struct {
	struct perf_event_attr *attr; /* only fields that the event decides are written */
	char **fstr;		      /* NULL, or receives a string that the caller frees */
	size_t size;
	int idx;
	int cpu;   /* out: the string's cpu=, or -1 */
	int flags; /* not touched */
	int pad0;
} pfm_perf_encode_arg_t;

#if __SIZEOF_LONG__ == 8
#define PFM_PERF_ENCODE_ABI0 40
#else
#define PFM_PERF_ENCODE_ABI0 28
#endif

extern pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm,
					     struct perf_event_attr *output, char **fstr,
					     int *idx);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif

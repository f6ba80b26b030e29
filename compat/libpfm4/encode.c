/* SPDX-License-Identifier: MIT */
/* Event strings to codes and to perf_event_attr, as libpfm-4's callers expect it. */
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/state.h"

/* Longer names than this are written in a second go. */
enum { NAME_ROOM = 1024 };

/* Everything up to the answer. opt must live as long as w is used. */
static pfm_err_t encode(const struct p4_state *s, struct tach__work *w, const char *str,
			const struct tach_encode_options *opt)
{
	struct tach_error err = TACH_ERROR_INIT;
	int rc;

	w->caller.search = s->active;
	w->caller.nsearch = s->nactive;
	rc = tach__encode(w, str, opt, s->verbose ? &err : NULL);
	if (rc && s->verbose)
		fprintf(s->out, "libpfm: %s: column %d: %s\n", str, err.column, err.text);
	return p4_error(rc);
}

/* The full name, to be freed; *name stays as it is where there is none. */
static pfm_err_t copy_name(const struct tach__work *w, char **name)
{
	char text[NAME_ROOM], *copy;
	size_t length = tach__fqstr(w, text, sizeof text);

	*name = NULL;
	if (!*text)
		return PFM_SUCCESS;
	copy = malloc(length + 1);
	if (!copy)
		return PFM_ERR_NOMEM;
	if (length < sizeof text)
		memcpy(copy, text, length + 1);
	else
		tach__fqstr(w, copy, length + 1);
	*name = copy;
	return PFM_SUCCESS;
}

static pfm_err_t encode_raw(const struct p4_state *s, const char *str, int plm,
			    pfm_pmu_encode_arg_t *arg)
{
	struct tach_encode_options opt = p4_options(s, PFM_OS_NONE, plm);
	struct tach__work w = {.caller = {0}};
	uint64_t *codes = arg->codes;
	char *name = NULL;
	pfm_err_t rc = p4_check_size(arg, arg->size, sizeof *arg, PFM_RAW_ENCODE_ABI0);

	if (!rc)
		rc = encode(s, &w, str, &opt);
	if (rc)
		return rc;
	if (codes && (arg->count < 0 || (unsigned)arg->count < w.ncodes))
		return PFM_ERR_TOOSMALL;
	if (arg->fstr)
		rc = copy_name(&w, &name);
	if (!rc && !codes) {
		codes = malloc(w.ncodes * sizeof *codes);
		rc = codes ? PFM_SUCCESS : PFM_ERR_NOMEM;
	}
	if (rc) {
		free(name);
		return rc;
	}
	memcpy(codes, w.codes, w.ncodes * sizeof *codes);
	arg->codes = codes;
	arg->count = (int)w.ncodes;
	arg->idx = p4_idx(w.pmu_number, w.event_number);
	if (name)
		*arg->fstr = name;
	return PFM_SUCCESS;
}

/* As much of the caller's attr as it has: size 0 is the first version. */
static size_t attr_size(const struct perf_event_attr *attr)
{
	if (!attr->size)
		return PERF_ATTR_SIZE_VER0;
	return attr->size < sizeof *attr ? attr->size : sizeof *attr;
}

static pfm_err_t encode_perf(const struct p4_state *s, const char *str, int plm, pfm_os_t os,
			     pfm_perf_encode_arg_t *arg)
{
	struct tach_encode_options opt = p4_options(s, os, plm);
	struct tach__work w = {.caller = {0}};
	struct tach_event event = {0};
	struct perf_event_attr attr;
	char *name = NULL;
	pfm_err_t rc = p4_check_size(arg, arg->size, sizeof *arg, PFM_PERF_ENCODE_ABI0);

	if (!rc && !arg->attr)
		rc = PFM_ERR_INVAL;
	if (rc)
		return rc;
	memset(&attr, 0, sizeof attr);
	memcpy(&attr, arg->attr, attr_size(arg->attr));
	w.caller.freq = attr.freq;
	w.caller.period = attr.sample_period != 0;
	rc = encode(s, &w, str, &opt);
	if (!rc && arg->fstr)
		rc = copy_name(&w, &name);
	if (rc)
		return rc;
	tach__publish(&w, &event);
	rc = p4_error(tach_event_attr(&event, &attr));
	if (rc) {
		free(name);
		return rc;
	}
	memcpy(arg->attr, &attr, attr_size(arg->attr));
	arg->idx = p4_idx(w.pmu_number, w.event_number);
	arg->cpu = event.cpu;
	if (name)
		*arg->fstr = name;
	return PFM_SUCCESS;
}

pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	const int levels = PFM_PLM0 | PFM_PLM1 | PFM_PLM2 | PFM_PLM3 | PFM_PLMH;
	const struct p4_state *s = p4_enter();
	pfm_err_t rc;

	if (!s)
		return PFM_ERR_NOINIT;
	if (!str || !args || dfl_plm & ~levels)
		rc = PFM_ERR_INVAL;
	else if (!p4_os_works(s, os))
		rc = PFM_ERR_NOTSUPP;
	else if (os == PFM_OS_NONE)
		rc = encode_raw(s, str, dfl_plm, args);
	else
		rc = encode_perf(s, str, dfl_plm, os, args);
	p4_leave();
	return rc;
}

pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx,
				 uint64_t **codes, int *count)
{
	pfm_pmu_encode_arg_t arg = {.fstr = fstr};
	pfm_err_t rc;

	if (!str || !codes || !count || (*codes && *count <= 0) || (!*codes && *count))
		return PFM_ERR_INVAL;
	arg.codes = *codes;
	arg.count = *count;
	rc = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_NONE, &arg);
	if (rc)
		return rc;
	*codes = arg.codes;
	*count = arg.count;
	if (idx)
		*idx = arg.idx;
	return PFM_SUCCESS;
}

pfm_err_t pfm_get_perf_event_encoding(const char *str, int dfl_plm,
				      struct perf_event_attr *output, char **fstr, int *idx)
{
	pfm_perf_encode_arg_t arg = {.attr = output, .fstr = fstr};
	pfm_err_t rc;

	if (!str || !output)
		return PFM_ERR_INVAL;
	rc = pfm_get_os_event_encoding(str, dfl_plm, PFM_OS_PERF_EVENT, &arg);
	if (!rc && idx)
		*idx = arg.idx;
	return rc;
}

int pfm_find_event(const char *str)
{
	const struct p4_state *s = p4_enter();
	struct tach_encode_options opt;
	struct tach__work w = {.caller = {0}};
	int rc;

	if (!s)
		return PFM_ERR_NOINIT;
	if (!str) {
		p4_leave();
		return PFM_ERR_INVAL;
	}
	opt = p4_options(s, PFM_OS_NONE, 0);
	w.caller.search = s->active;
	w.caller.nsearch = s->nactive;
	rc = p4_error(tach__lookup(&w, str, &opt));
	p4_leave();
	return rc ? rc : p4_idx(w.pmu_number, w.event_number);
}

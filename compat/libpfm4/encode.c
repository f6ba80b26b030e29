/* SPDX-License-Identifier: MIT */
/* Converts event strings to codes and to perf_event_attr, with libpfm-4's conventions. */
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/state.h"

/* A name that does not fit is written again, into memory of its full length. */
enum { NAME_ROOM = 1024 };

static struct tach__caller caller(const struct p4_state *s, const struct perf_event_attr *attr)
{
	return (struct tach__caller){
		.freq = attr ? attr->freq : 0,
		.period = attr && attr->sample_period,
		.search = s->active,
		.nsearch = s->nactive + s->nhidden,
		.boxes = s->boxes,
	};
}

static __attribute__((noinline)) int explained(const struct p4_state *s, struct tach__work *w,
					       const char *str,
					       const struct tach_encode_options *opt)
{
	struct tach_error err = TACH_ERROR_INIT;
	int rc = tach__encode(w, str, opt, &err);

	if (rc)
		fprintf(s->out, "libpfm: %s: column %d: %s\n", str, err.column, err.text);
	return rc;
}

/* Parses everything before the result is built. opt must outlive w. */
static pfm_err_t encode(const struct p4_state *s, struct tach__work *w, const char *str,
			const struct tach_encode_options *opt)
{
	int rc = s->verbose ? explained(s, w, str, opt) : tach__encode(w, str, opt, NULL);

	/* libpfm-4 takes cpu/event=.../ for the name of an event, and does not find it. */
	if (rc && w->got.generic == TACH__GENERIC_TERMS)
		return PFM_ERR_NOTFOUND;
	/* A box without a number cannot be named in this interface. */
	if (!rc && p4_number(w->got.pmu_number) < 0)
		return PFM_ERR_NOTFOUND;
	return p4_error(rc);
}

/* Copies the full name, which the caller frees. *name is NULL if there is no name. */
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
	struct tach__work w;
	uint64_t *codes = arg->codes;
	char *name = NULL;
	pfm_err_t rc = p4_check_size(arg, arg->size, sizeof *arg, PFM_RAW_ENCODE_ABI0);

	w.ask.caller = caller(s, NULL);
	if (!rc)
		rc = encode(s, &w, str, &opt);
	if (rc)
		return rc;
	if (codes && (arg->count < 0 || (unsigned)arg->count < w.out.ncodes))
		return PFM_ERR_TOOSMALL;
	if (arg->fstr)
		rc = copy_name(&w, &name);
	if (!rc && !codes) {
		codes = malloc(w.out.ncodes * sizeof *codes);
		rc = codes ? PFM_SUCCESS : PFM_ERR_NOMEM;
	}
	if (rc) {
		free(name);
		return rc;
	}
	memcpy(codes, w.out.codes, w.out.ncodes * sizeof *codes);
	arg->codes = codes;
	arg->count = (int)w.out.ncodes;
	arg->idx = p4_idx(w.got.pmu_number, w.got.event_number);
	if (name)
		*arg->fstr = name;
	return PFM_SUCCESS;
}

/* Encodes into *attr, which has at least all fields of the first version. */
static pfm_err_t encode_attr(const struct p4_state *s, const char *str, int plm, pfm_os_t os,
			     pfm_perf_encode_arg_t *arg, struct perf_event_attr *attr)
{
	struct tach_encode_options opt = p4_options(s, os, plm);
	struct tach__work w;
	struct tach_event event;
	char *name = NULL;
	pfm_err_t rc;

	w.ask.caller = caller(s, attr);
	rc = encode(s, &w, str, &opt);
	if (!rc && arg->fstr)
		rc = copy_name(&w, &name);
	if (rc)
		return rc;
	event.size = sizeof event;
	tach__publish(&w, &event);
	rc = p4_error(tach_event_attr(&event, attr));
	if (rc) {
		free(name);
		return rc;
	}
	arg->idx = p4_idx(w.got.pmu_number, w.got.event_number);
	arg->cpu = event.cpu;
	if (name)
		*arg->fstr = name;
	return PFM_SUCCESS;
}

/* If an attr claims to be smaller than the first version, only that part is written. */
static __attribute__((noinline)) pfm_err_t encode_part(const struct p4_state *s,
						       const char *str, int plm, pfm_os_t os,
						       pfm_perf_encode_arg_t *arg)
{
	struct perf_event_attr attr = {0};
	size_t size = arg->attr->size;
	pfm_err_t rc;

	memcpy(&attr, arg->attr, size);
	rc = encode_attr(s, str, plm, os, arg, &attr);
	if (!rc)
		memcpy(arg->attr, &attr, size);
	return rc;
}

static pfm_err_t encode_perf(const struct p4_state *s, const char *str, int plm, pfm_os_t os,
			     pfm_perf_encode_arg_t *arg)
{
	pfm_err_t rc = p4_check_size(arg, arg->size, sizeof *arg, PFM_PERF_ENCODE_ABI0);

	if (rc || !arg->attr)
		return rc ? rc : PFM_ERR_INVAL;
	if (arg->attr->size && arg->attr->size < PERF_ATTR_SIZE_VER0)
		return encode_part(s, str, plm, os, arg);
	return encode_attr(s, str, plm, os, arg, arg->attr);
}

/*
 * Our parser ignores text after an event's comma; libpfm-4 reports it, so this interface does
 * too.
 */
static int is_list(const char *str)
{
	return strchr(str, ',') != NULL;
}

pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args)
{
	const int levels = PFM_PLM0 | PFM_PLM1 | PFM_PLM2 | PFM_PLM3 | PFM_PLMH;
	const struct p4_state *s = p4_enter();
	pfm_err_t rc;

	if (!s)
		return PFM_ERR_NOINIT;
	if (!str || !args || dfl_plm & ~levels || is_list(str))
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
	struct tach__work w;
	int rc;

	if (!s)
		return PFM_ERR_NOINIT;
	if (!str || is_list(str)) {
		p4_leave();
		return PFM_ERR_INVAL;
	}
	opt = p4_options(s, PFM_OS_NONE, 0);
	w.ask.caller = caller(s, NULL);
	rc = p4_error(tach__lookup(&w, str, &opt));
	p4_leave();
	if (!rc && p4_number(w.got.pmu_number) < 0)
		rc = PFM_ERR_NOTFOUND;
	return rc ? rc : p4_idx(w.got.pmu_number, w.got.event_number);
}

/* SPDX-License-Identifier: MIT */
/* Codes, their texts and the version. */
#include <tach/error.h>
#include "compat/libpfm3/state.h"

pfm_err_t p3_error(int tach_code)
{
	static const struct {
		int ours;
		pfm_err_t theirs;
	} codes[] = {
		{0, PFMLIB_SUCCESS},
		{TACH_ERR_NOTSUPP, PFMLIB_ERR_NOTSUPP},
		{TACH_ERR_INVAL, PFMLIB_ERR_INVAL},
		{TACH_ERR_NOTFOUND, PFMLIB_ERR_NOTFOUND},
		{TACH_ERR_NOASSIGN, PFMLIB_ERR_NOASSIGN},
		{TACH_ERR_MAGIC, PFMLIB_ERR_MAGIC},
		{TACH_ERR_FEATCOMB, PFMLIB_ERR_FEATCOMB},
		{TACH_ERR_EVENTSET, PFMLIB_ERR_EVTSET},
		{TACH_ERR_INCOMPATIBLE, PFMLIB_ERR_EVTINCOMP},
		{TACH_ERR_TOOMANY, PFMLIB_ERR_TOOMANY},
		{TACH_ERR_CODE_TOOBIG, PFMLIB_ERR_IRRTOOBIG},
		{TACH_ERR_CODE_RANGE, PFMLIB_ERR_IRRINVAL},
		{TACH_ERR_CODE_TOOMANY, PFMLIB_ERR_IRRTOOMANY},
		{TACH_ERR_DATA_RANGE, PFMLIB_ERR_DRRINVAL},
		{TACH_ERR_DATA_TOOMANY, PFMLIB_ERR_DRRTOOMANY},
		{TACH_ERR_MODEL, PFMLIB_ERR_BADHOST},
		{TACH_ERR_CODE_ALIGN, PFMLIB_ERR_IRRALIGN},
		{TACH_ERR_CODE_FLAGS, PFMLIB_ERR_IRRFLAGS},
		{TACH_ERR_UMASK, PFMLIB_ERR_UMASK},
		{TACH_ERR_NOMEM, PFMLIB_ERR_NOMEM},
	};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].ours == tach_code)
			return codes[i].theirs;
	return PFMLIB_ERR_INVAL;
}

char *pfm_strerror(int code)
{
	static const char texts[][48] = {
		"success",
		"not supported",
		"invalid parameters",
		"pfmlib not initialized",
		"event not found",
		"cannot assign events to counters",
		"buffer is full or too small",
		"event used more than once",
		"invalid model specific magic number",
		"invalid combination of model specific features",
		"incompatible event sets",
		"incompatible events combination",
		"too many events or unit masks",
		"code range too big",
		"empty code range",
		"invalid code range",
		"too many code ranges",
		"invalid data range",
		"too many data ranges",
		"not supported by host cpu",
		"code range is not bundle-aligned",
		"code range requires some flags in rr_flags",
		"invalid or missing unit mask",
		"out of memory",
		"unknown error code",
	};
	unsigned n = code > 0 ? 24 : -(unsigned)code;

	/* The prototype has no const, but callers must not change the text. */
	return (char *)(uintptr_t)texts[n < 24 ? n : 24];
}

pfm_err_t pfm_get_version(unsigned int *version)
{
	if (!version)
		return PFMLIB_ERR_INVAL;
	*version = PFMLIB_VERSION;
	return PFMLIB_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* PAPI's error codes: their texts, the last one, and translation from other codes. */
#include <errno.h>
#include <stdio.h>
#include "compat/papi/state.h"

static __thread int last;

static const char *const texts[PAPI_NUM_ERRORS] = {
	"No error",
	"Invalid argument",
	"Insufficient memory",
	"A System/C library call failed",
	"Not supported by component",
	"Access to the counters was lost or interrupted",
	"Internal error, please send mail to the developers",
	"Event does not exist",
	"Event exists, but cannot be counted due to hardware resource limits",
	"EventSet is currently not running",
	"EventSet is currently counting",
	"No such EventSet available",
	"Event in argument is not a valid preset",
	"Hardware does not support performance counters",
	"Unknown error code",
	"Permission level does not permit operation",
	"PAPI hasn't been initialized yet",
	"Component Index isn't set",
	"Not supported",
	"Not implemented",
	"Buffer size exceeded",
	"EventSet domain is not supported for the operation",
	"Invalid or missing event attributes",
	"Too many events or attributes",
	"Bad combination of features",
	"Component containing event is disabled",
	"Delayed initialization component",
	"Event exists, but cannot be counted due to multiple passes required by hardware",
};

int pp_return(int code)
{
	if (code != PAPI_OK)
		last = code;
	return code;
}

int pp_from_errno(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return PAPI_EPERM;
	case ENODEV:
	case EOPNOTSUPP:
		return PAPI_ENOSUPP;
	case ENOENT:
		return PAPI_ENOEVNT;
	case ENOMEM:
		return PAPI_ENOMEM;
	case EMFILE:
		return PAPI_ECOUNT;
	case ESRCH:
	case ENOSYS:
	case EAGAIN:
	case EBUSY:
	case E2BIG:
	case EBADF:
		return PAPI_ESYS;
	}
	return PAPI_EINVAL;
}

int pp_from_tach(int code)
{
	switch (code) {
	case TACH_ERR_PERMISSION:
		return PAPI_EPERM;
	case TACH_ERR_NOHARDWARE:
	case TACH_ERR_NOTFOUND:
		return PAPI_ENOEVNT;
	case TACH_ERR_NOCOUNTER:
	case TACH_ERR_NOASSIGN:
	case TACH_ERR_INCOMPATIBLE:
		return PAPI_ECNFLCT;
	case TACH_ERR_TOOMANY:
		return PAPI_ECOUNT;
	}
	return code < 0 && code > -4096 ? pp_from_errno(-code) : PAPI_EINVAL;
}

char *PAPI_strerror(int code)
{
	if (code > 0 || code <= -PAPI_NUM_ERRORS)
		return NULL;
	return (char *)texts[-code];
}

void PAPI_perror(const char *msg)
{
	if (msg && *msg)
		fprintf(stderr, "%s: ", msg);
	fprintf(stderr, "%s\n", texts[-last]);
}

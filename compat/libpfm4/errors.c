/* SPDX-License-Identifier: MIT */
/* Error codes, sizes of arguments, version. */
#include "compat/libpfm4/state.h"

int pfm_get_version(void)
{
	return LIBPFM_VERSION;
}

const char *pfm_strerror(int code)
{
	switch (code) {
	case PFM_SUCCESS:
		return "success";
	case PFM_ERR_NOTSUPP:
		return "not supported";
	case PFM_ERR_INVAL:
		return "invalid parameters";
	case PFM_ERR_NOINIT:
		return "pfmlib not initialized";
	case PFM_ERR_NOTFOUND:
		return "event not found";
	case PFM_ERR_FEATCOMB:
		return "invalid combination of model specific features";
	case PFM_ERR_UMASK:
		return "invalid or missing unit mask";
	case PFM_ERR_NOMEM:
		return "out of memory";
	case PFM_ERR_ATTR:
		return "invalid event attribute";
	case PFM_ERR_ATTR_VAL:
		return "invalid event attribute value";
	case PFM_ERR_ATTR_SET:
		return "attribute value already set";
	case PFM_ERR_TOOMANY:
		return "too many parameters";
	case PFM_ERR_TOOSMALL:
		return "parameter is too small";
	}
	return "unknown error code";
}

pfm_err_t p4_error(int tach_code)
{
	switch (tach_code) {
	case TACH_OK:
		return PFM_SUCCESS;
	case TACH_ERR_NOTSUPP:
		return PFM_ERR_NOTSUPP;
	case TACH_ERR_NOTFOUND:
		return PFM_ERR_NOTFOUND;
	case TACH_ERR_ATTR:
		return PFM_ERR_ATTR;
	case TACH_ERR_ATTR_VALUE:
		return PFM_ERR_ATTR_VAL;
	case TACH_ERR_ATTR_SET:
		return PFM_ERR_ATTR_SET;
	case TACH_ERR_UMASK:
		return PFM_ERR_UMASK;
	case TACH_ERR_FEATCOMB:
		return PFM_ERR_FEATCOMB;
	case TACH_ERR_TOOMANY:
		return PFM_ERR_TOOMANY;
	case TACH_ERR_TOOSMALL:
		return PFM_ERR_TOOSMALL;
	case TACH_ERR_NOMEM:
		return PFM_ERR_NOMEM;
	}
	return PFM_ERR_INVAL;
}

pfm_err_t p4_check_size(const void *arg, size_t size, size_t ours, size_t first)
{
	const unsigned char *bytes = arg;

	if (size && size < first)
		return PFM_ERR_INVAL;
	for (size_t i = ours; i < size; i++)
		if (bytes[i])
			return PFM_ERR_INVAL;
	return PFM_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* Regions by name: not served yet; docs/compatibility.md says so. */
#include "compat/papi/state.h"

int PAPI_hl_region_begin(const char *region)
{
	return region ? PAPI_ENOSUPP : PAPI_EINVAL;
}

int PAPI_hl_read(const char *region)
{
	return region ? PAPI_ENOSUPP : PAPI_EINVAL;
}

int PAPI_hl_region_end(const char *region)
{
	return region ? PAPI_ENOSUPP : PAPI_EINVAL;
}

int PAPI_hl_stop(void)
{
	return PAPI_ENOTRUN;
}

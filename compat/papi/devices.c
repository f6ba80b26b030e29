/* SPDX-License-Identifier: MIT */
/* Devices by type: the processor alone, with the data of PAPI_get_hardware_info. */
#include <stddef.h>
#include <string.h>
#include "compat/papi/state.h"

static char processor; /* its address is the handle */

int PAPI_enum_dev_type(int enum_modifier, void **handle)
{
	static __thread int given;

	if (!handle)
		return PAPI_EINVAL;
	if (enum_modifier == PAPI_DEV_TYPE_ENUM__FIRST) {
		given = 0;
		*handle = &processor;
		return PAPI_OK;
	}
	if (!given && enum_modifier & PAPI_DEV_TYPE_ENUM__CPU) {
		given = 1;
		*handle = &processor;
		return PAPI_OK;
	}
	given = 0;
	*handle = NULL;
	return PAPI_EINVAL;
}

int PAPI_get_dev_type_attr(void *handle, PAPI_dev_type_attr_e attr, void *value)
{
	if (handle != &processor || !value)
		return PAPI_EINVAL;
	switch (attr) {
	case PAPI_DEV_TYPE_ATTR__INT_PAPI_ID:
		*(int *)value = PAPI_DEV_TYPE_ID__CPU;
		return PAPI_OK;
	case PAPI_DEV_TYPE_ATTR__INT_VENDOR_ID:
		*(int *)value = pp_hardware()->vendor;
		return PAPI_OK;
	case PAPI_DEV_TYPE_ATTR__CHAR_NAME:
		*(const char **)value = pp_hardware()->vendor_string;
		return PAPI_OK;
	case PAPI_DEV_TYPE_ATTR__INT_COUNT:
		*(int *)value = 1;
		return PAPI_OK;
	case PAPI_DEV_TYPE_ATTR__CHAR_STATUS:
		*(const char **)value = "";
		return PAPI_OK;
	}
	return PAPI_ENOSUPP;
}

/* Returns the cache of that level and type, or an empty one. */
static const PAPI_mh_cache_info_t *cache(int level, int type)
{
	static const PAPI_mh_cache_info_t none;
	const PAPI_mh_level_t *l = &pp_hardware()->mem_hierarchy.level[level - 1];

	for (int i = 0; i < PAPI_MH_MAX_LEVELS; i++)
		if (l->cache[i].type == type)
			return &l->cache[i];
	return &none;
}

static const PAPI_mh_cache_info_t *cache_of(int index)
{
	switch (index) {
	case 0:
		return cache(1, PAPI_MH_TYPE_INST);
	case 1:
		return cache(1, PAPI_MH_TYPE_DATA);
	case 2:
		return cache(2, PAPI_MH_TYPE_UNIFIED);
	}
	return cache(3, PAPI_MH_TYPE_UNIFIED);
}

/* Returns attribute n / 4 of cache n % 4, in the order of the enumeration. */
static unsigned of_cache(int n)
{
	const PAPI_mh_cache_info_t *c = cache_of(n % 4);

	switch (n / 4) {
	case 0:
		return (unsigned)c->size;
	case 1:
		return (unsigned)c->line_size;
	case 2:
		return (unsigned)c->num_lines;
	}
	return (unsigned)c->associativity;
}

int PAPI_get_dev_attr(void *handle, int id, PAPI_dev_attr_e attr, void *value)
{
	const PAPI_hw_info_t *h = pp_hardware();
	unsigned *to = value;

	(void)id;
	if (handle != &processor || !value)
		return PAPI_EINVAL;
	if (attr >= PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_SIZE &&
	    attr <= PAPI_DEV_ATTR__CPU_UINT_L3U_CACHE_ASSOC) {
		*to = of_cache((int)attr - PAPI_DEV_ATTR__CPU_UINT_L1I_CACHE_SIZE);
		return PAPI_OK;
	}
	switch (attr) {
	case PAPI_DEV_ATTR__CPU_CHAR_NAME:
		*(const char **)value = h->model_string;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_SOCKET_COUNT:
		*to = (unsigned)h->sockets;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_NUMA_COUNT:
		*to = (unsigned)h->nnodes;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_CORE_COUNT:
		*to = (unsigned)h->cores;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_THREAD_COUNT:
		*to = (unsigned)h->threads;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_FAMILY:
		*to = (unsigned)h->cpuid_family;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_MODEL:
		*to = (unsigned)h->cpuid_model;
		return PAPI_OK;
	case PAPI_DEV_ATTR__CPU_UINT_STEPPING:
		*to = (unsigned)h->cpuid_stepping;
		return PAPI_OK;
	default:
		return PAPI_ENOSUPP;
	}
}

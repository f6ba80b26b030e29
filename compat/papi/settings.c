/* SPDX-License-Identifier: MIT */
/* PAPI_get_opt, and the functions that are short forms of it. */
#include <string.h>
#include "compat/papi/state.h"

static int needs_set(int option, PAPI_option_t *ptr, struct pp_set **set)
{
	/*
	 * The set's number is the first member of each struct, except in those of domain and
	 * granularity.
	 */
	int number = option == PAPI_DOMAIN || option == PAPI_GRANUL ? ptr->domain.eventset
								    : ptr->attach.eventset;

	*set = pp_set_of(number);
	return *set ? PAPI_OK : PAPI_ENOEVST;
}

static int of_set(int option, PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = ptr ? needs_set(option, ptr, &set) : PAPI_EINVAL;

	if (code != PAPI_OK)
		return pp_return(code);
	switch (option) {
	case PAPI_DETACH:
		ptr->attach.tid = set->attached;
		return !(set->state & PAPI_ATTACHED);
	case PAPI_ATTACH:
		ptr->attach.tid = set->attached;
		return !!(set->state & PAPI_ATTACHED);
	case PAPI_CPU_ATTACH:
		ptr->cpu.cpu_num = (unsigned)set->cpu;
		return !!(set->state & PAPI_CPU_ATTACHED);
	case PAPI_MULTIPLEX:
		ptr->multiplex.ns = set->multiplex_ns;
		ptr->multiplex.flags = set->multiplex_flags;
		return !!(set->state & PAPI_MULTIPLEXING);
	case PAPI_INHERIT:
		ptr->inherit.inherit = set->inherit;
		break;
	case PAPI_GRANUL:
		ptr->granularity.granularity = set->granularity;
		break;
	case PAPI_DOMAIN:
		ptr->domain.domain = set->domain;
		break;
	}
	return PAPI_OK;
}

static int of_process(int option, PAPI_option_t *ptr)
{
	if (!ptr)
		return pp_return(PAPI_EINVAL);
	switch (option) {
	case PAPI_DEF_MPX_NS:
		ptr->multiplex.ns = pp_process.itimer_ns;
		break;
	case PAPI_DEF_ITIMER_NS:
		ptr->itimer.ns = pp_process.itimer_ns;
		break;
	case PAPI_DEF_ITIMER:
		ptr->itimer.itimer_num = pp_process.itimer_number;
		ptr->itimer.itimer_sig = pp_process.itimer_signal;
		ptr->itimer.ns = pp_process.itimer_ns;
		ptr->itimer.flags = 0;
		break;
	case PAPI_PRELOAD:
		memset(&ptr->preload, 0, sizeof ptr->preload);
		strcpy(ptr->preload.lib_preload_env, "LD_PRELOAD");
		ptr->preload.lib_preload_sep = ' ';
		strcpy(ptr->preload.lib_dir_env, "LD_LIBRARY_PATH");
		ptr->preload.lib_dir_sep = ':';
		break;
	case PAPI_DEBUG:
		ptr->debug.level = pp_process.verbosity;
		ptr->debug.handler = pp_process.handler;
		break;
	case PAPI_EXEINFO:
		ptr->exe_info = pp_executable();
		break;
	case PAPI_HWINFO:
		ptr->hw_info = pp_hardware();
		break;
	}
	return PAPI_OK;
}

int PAPI_get_cmp_opt(int option, PAPI_option_t *ptr, int cidx)
{
	const PAPI_component_info_t *c = PAPI_get_component_info(cidx);

	if (!c)
		return PAPI_ECMP;
	switch (option) {
	case PAPI_MAX_HWCTRS:
		return c->num_cntrs;
	case PAPI_MAX_MPX_CTRS:
		return c->num_mpx_cntrs;
	case PAPI_DEFDOM:
		return c->default_domain;
	case PAPI_DEFGRN:
		return c->default_granularity;
	case PAPI_SHLIBINFO:
		return pp_return(ptr ? pp_libraries(&ptr->shlib_info) : PAPI_EINVAL);
	case PAPI_COMPONENTINFO:
		if (!ptr)
			return pp_return(PAPI_EINVAL);
		ptr->cmp_info = pp_component(cidx);
		return PAPI_OK;
	}
	return pp_return(PAPI_EINVAL);
}

int PAPI_get_opt(int option, PAPI_option_t *ptr)
{
	if (option == PAPI_LIB_VERSION)
		return PAPI_VERSION;
	if (option != PAPI_DEBUG && pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	switch (option) {
	case PAPI_DETACH:
	case PAPI_ATTACH:
	case PAPI_CPU_ATTACH:
	case PAPI_MULTIPLEX:
	case PAPI_INHERIT:
	case PAPI_GRANUL:
	case PAPI_DOMAIN:
		return of_set(option, ptr);
	case PAPI_CLOCKRATE:
		return pp_hardware()->cpu_max_mhz;
	case PAPI_MAX_CPUS:
		return pp_hardware()->ncpu;
	case PAPI_MAX_HWCTRS:
	case PAPI_MAX_MPX_CTRS:
	case PAPI_DEFDOM:
	case PAPI_DEFGRN:
	case PAPI_SHLIBINFO:
	case PAPI_COMPONENTINFO:
		return PAPI_get_cmp_opt(option, ptr, PP_CORE);
	case PAPI_DEF_MPX_NS:
	case PAPI_DEF_ITIMER_NS:
	case PAPI_DEF_ITIMER:
	case PAPI_PRELOAD:
	case PAPI_DEBUG:
	case PAPI_EXEINFO:
	case PAPI_HWINFO:
		return of_process(option, ptr);
	}
	return pp_return(PAPI_EINVAL);
}

/* ---- for short ---- */

int PAPI_get_multiplex(int EventSet)
{
	PAPI_option_t option;
	int code;

	option.multiplex.eventset = EventSet;
	code = PAPI_get_opt(PAPI_MULTIPLEX, &option);
	return code < 0 ? 0 : code;
}

/* The kernel multiplexes without preparation. */
int PAPI_multiplex_init(void)
{
	return PAPI_OK;
}

int PAPI_num_cmp_hwctrs(int cidx)
{
	return PAPI_get_cmp_opt(PAPI_MAX_HWCTRS, NULL, cidx);
}

int PAPI_num_hwctrs(void)
{
	return PAPI_num_cmp_hwctrs(PP_CORE);
}

const PAPI_exe_info_t *PAPI_get_executable_info(void)
{
	PAPI_option_t option;

	return PAPI_get_opt(PAPI_EXEINFO, &option) == PAPI_OK ? option.exe_info : NULL;
}

const PAPI_shlib_info_t *PAPI_get_shared_lib_info(void)
{
	PAPI_option_t option;

	return PAPI_get_opt(PAPI_SHLIBINFO, &option) == PAPI_OK ? option.shlib_info : NULL;
}

const PAPI_hw_info_t *PAPI_get_hardware_info(void)
{
	PAPI_option_t option;

	return PAPI_get_opt(PAPI_HWINFO, &option) == PAPI_OK ? option.hw_info : NULL;
}

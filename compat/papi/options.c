/* SPDX-License-Identifier: MIT */
/* PAPI_set_opt, and the functions that are short forms of it. */
#include <sched.h>
#include <string.h>
#include "compat/papi/state.h"

/* Finds a set, which must have a component. Checks in PAPI's order, and returns PAPI's code. */
static int set_with_component(int number, struct pp_set **out)
{
	*out = pp_set_of(number);
	if (!*out)
		return PAPI_ENOEVST;
	return (*out)->component < 0 ? PAPI_ENOCMP : PAPI_OK;
}

static int is_stopped(const struct pp_set *set)
{
	return set->state & PAPI_STOPPED;
}

/* Closes the counters: the next start opens them with the new options. */
static int close_counters(struct pp_set *set)
{
	if (set->reader && set->opener != pp_self)
		return PAPI_ECMP;
	pp_close(set);
	return PAPI_OK;
}

static int pid_of(const struct pp_set *set)
{
	return set->state & PAPI_ATTACHED ? (int)set->attached : 0;
}

static int detach(const PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = set_with_component(ptr->attach.eventset, &set);

	if (code != PAPI_OK)
		return code;
	if (!pp_component(set->component)->attach || set->state & PAPI_CPU_ATTACHED)
		return PAPI_ECMP;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	if (!(set->state & PAPI_ATTACHED))
		return PAPI_EINVAL;
	set->state &= ~PAPI_ATTACHED;
	set->attached = 0;
	pp_close(set);
	return PAPI_OK;
}

static int attach(const PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = set_with_component(ptr->attach.eventset, &set);

	if (code != PAPI_OK)
		return code;
	if (!pp_component(set->component)->attach)
		return PAPI_ECMP;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	if (set->state & PAPI_ATTACHED)
		return PAPI_EINVAL;
	if (set->state & PAPI_CPU_ATTACHED)
		return PAPI_ECMP;
	code = pp_kernel_try(set, (int)ptr->attach.tid, set->cpu, set->domain, set->inherit);
	if (code == PAPI_OK)
		code = close_counters(set);
	if (code != PAPI_OK)
		return code;
	set->state |= PAPI_ATTACHED;
	set->attached = ptr->attach.tid;
	code = pp_open(set);
	if (code != PAPI_OK) {
		set->state &= ~PAPI_ATTACHED;
		set->attached = 0;
		return code;
	}
	return pp_thread_of(ptr->attach.tid, &set->master);
}

static int attach_cpu(const PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = set_with_component(ptr->cpu.eventset, &set);

	if (code != PAPI_OK)
		return code;
	if (!pp_component(set->component)->cpu)
		return PAPI_ECMP;
	if (set->state & PAPI_ATTACHED || set->inherit)
		return PAPI_EINVAL;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	code = pp_kernel_try(set, 0, (int)ptr->cpu.cpu_num, set->domain, set->inherit);
	if (code == PAPI_OK)
		code = close_counters(set);
	if (code != PAPI_OK)
		return code;
	set->cpu = (int)ptr->cpu.cpu_num;
	set->state |= PAPI_CPU_ATTACHED;
	return PAPI_OK;
}

static int set_multiplex(PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = set_with_component(ptr->multiplex.eventset, &set), before;

	if (code != PAPI_OK)
		return code;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	if (set->state & PAPI_MULTIPLEXING || ptr->multiplex.ns < 0)
		return PAPI_EINVAL;
	code = pp_kernel_try(set, pid_of(set), set->cpu, set->domain, set->inherit);
	if (code == PAPI_OK)
		code = close_counters(set);
	if (code != PAPI_OK)
		return code;
	before = set->state;
	set->state |= PAPI_MULTIPLEXING;
	code = pp_open(set);
	if (code != PAPI_OK) {
		set->state = before;
		return code;
	}
	set->multiplex_ns = ptr->multiplex.ns;
	set->multiplex_flags = ptr->multiplex.flags & PAPI_MULTIPLEX_FORCE_SW;
	return PAPI_OK;
}

static int set_debug(const PAPI_option_t *ptr)
{
	if (ptr->debug.level < PAPI_QUIET || ptr->debug.level > PAPI_VERB_ESTOP)
		return PAPI_EINVAL;
	pp_process.verbosity = ptr->debug.level;
	pp_process.handler = ptr->debug.handler;
	return PAPI_OK;
}

static int default_domain(const PAPI_option_t *ptr)
{
	int domain = ptr->defdomain.domain;
	PAPI_component_info_t *c;

	if (domain < PAPI_DOM_MIN || domain > PAPI_DOM_MAX)
		return PAPI_EINVAL;
	if (!pp_component_valid(ptr->defdomain.def_cidx))
		return PAPI_ENOCMP;
	c = pp_component(ptr->defdomain.def_cidx);
	if (domain == PAPI_DOM_ALL)
		domain = c->available_domains;
	if (domain & ~c->available_domains)
		return PAPI_ENOSUPP;
	c->default_domain = domain;
	return PAPI_OK;
}

static int set_domain(const PAPI_option_t *ptr)
{
	int domain = ptr->domain.domain, code;
	PAPI_component_info_t *c;
	struct pp_set *set;

	if (domain < PAPI_DOM_MIN || domain > PAPI_DOM_MAX)
		return PAPI_EINVAL_DOM;
	code = set_with_component(ptr->domain.eventset, &set);
	if (code != PAPI_OK)
		return code;
	c = pp_component(set->component);
	if (domain == PAPI_DOM_ALL)
		domain = c->available_domains;
	if (domain & ~c->available_domains)
		return PAPI_EINVAL_DOM;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	code = pp_kernel_try(set, pid_of(set), set->cpu, domain, set->inherit);
	if (code == PAPI_OK)
		code = close_counters(set);
	if (code == PAPI_OK)
		set->domain = domain;
	return code;
}

/* Returns 1 if the value is one bit that the component supports. */
static int granularity_fits(int granularity, const PAPI_component_info_t *c)
{
	return !(granularity & ~c->available_granularities) &&
	       !(granularity & (granularity - 1));
}

static int default_granularity(const PAPI_option_t *ptr)
{
	int granularity = ptr->defgranularity.granularity;
	PAPI_component_info_t *c;

	if (granularity < PAPI_GRN_MIN || granularity > PAPI_GRN_MAX)
		return PAPI_EINVAL;
	if (!pp_component_valid(ptr->defgranularity.def_cidx))
		return PAPI_ENOCMP;
	c = pp_component(ptr->defgranularity.def_cidx);
	if (!granularity_fits(granularity, c))
		return PAPI_EINVAL;
	c->default_granularity = granularity;
	return PAPI_OK;
}

static int set_granularity(const PAPI_option_t *ptr)
{
	int granularity = ptr->granularity.granularity, code;
	struct pp_set *set;

	if (granularity < PAPI_GRN_MIN || granularity > PAPI_GRN_MAX)
		return PAPI_EINVAL;
	code = set_with_component(ptr->granularity.eventset, &set);
	if (code != PAPI_OK)
		return code;
	if (!granularity_fits(granularity, pp_component(set->component)))
		return PAPI_EINVAL;
	if (granularity == set->granularity)
		return PAPI_OK;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	code = close_counters(set);
	if (code != PAPI_OK)
		return code;
	set->cpu = granularity == PAPI_GRN_SYS ? sched_getcpu() : set->cpu;
	set->granularity = granularity;
	return PAPI_OK;
}

static int set_inherit(const PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = set_with_component(ptr->inherit.eventset, &set);

	if (code != PAPI_OK)
		return code;
	if (!pp_component(set->component)->inherit)
		return PAPI_ECMP;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	if (set->state & PAPI_CPU_ATTACHED)
		return PAPI_ECMP;
	code = pp_kernel_try(set, pid_of(set), set->cpu, set->domain, ptr->inherit.inherit);
	if (code == PAPI_OK)
		code = close_counters(set);
	if (code == PAPI_OK)
		set->inherit = ptr->inherit.inherit;
	return code;
}

static int set_range(const PAPI_option_t *ptr)
{
	struct pp_set *set;
	int code = set_with_component(ptr->addr.eventset, &set);

	if (code != PAPI_OK)
		return code;
	if (!is_stopped(set))
		return PAPI_EISRUN;
	/* Debian's components that do not use the kernel's counters return other codes. */
	switch (set->component) {
	case PP_SDE:
	case PP_ROCM:
		return PAPI_OK;
	case PP_SYSDETECT:
		return PAPI_ECMP;
	}
	return PAPI_ENOSUPP;
}

static int set_timer(int option, const PAPI_option_t *ptr)
{
	if (ptr->itimer.ns < 0)
		return PAPI_EINVAL;
	if (option == PAPI_DEF_ITIMER) {
		pp_process.itimer_number = ptr->itimer.itimer_num;
		pp_process.itimer_signal = ptr->itimer.itimer_sig;
	}
	if (option == PAPI_DEF_ITIMER_NS || ptr->itimer.ns > 0)
		pp_process.itimer_ns = ptr->itimer.ns;
	return PAPI_OK;
}

static int set_option(int option, PAPI_option_t *ptr)
{
	switch (option) {
	case PAPI_DETACH:
		return detach(ptr);
	case PAPI_ATTACH:
		return attach(ptr);
	case PAPI_CPU_ATTACH:
		return attach_cpu(ptr);
	case PAPI_MULTIPLEX:
		return set_multiplex(ptr);
	case PAPI_DEBUG:
		return set_debug(ptr);
	case PAPI_DEFDOM:
		return default_domain(ptr);
	case PAPI_DOMAIN:
		return set_domain(ptr);
	case PAPI_DEFGRN:
		return default_granularity(ptr);
	case PAPI_GRANUL:
		return set_granularity(ptr);
	case PAPI_INHERIT:
		return set_inherit(ptr);
	case PAPI_DATA_ADDRESS:
	case PAPI_INSTR_ADDRESS:
		return set_range(ptr);
	case PAPI_DEF_MPX_NS: /* the kernel chooses the interval */
		return ptr->multiplex.ns < 0 ? PAPI_EINVAL : PAPI_ENOSUPP;
	case PAPI_DEF_ITIMER:
	case PAPI_DEF_ITIMER_NS:
		return set_timer(option, ptr);
	case PAPI_USER_EVENTS_FILE: /* as in PAPI: only the environment names it */
		return PAPI_OK;
	}
	return PAPI_EINVAL;
}

int PAPI_set_opt(int option, PAPI_option_t *ptr)
{
	if (option != PAPI_DEBUG && pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	return pp_return(ptr ? set_option(option, ptr) : PAPI_EINVAL);
}

/* ---- for short ---- */

int PAPI_attach(int EventSet, unsigned long tid)
{
	PAPI_option_t option;

	memset(&option, 0, sizeof option);
	option.attach.eventset = EventSet;
	option.attach.tid = tid;
	return PAPI_set_opt(PAPI_ATTACH, &option);
}

int PAPI_detach(int EventSet)
{
	PAPI_option_t option;

	memset(&option, 0, sizeof option);
	option.attach.eventset = EventSet;
	return PAPI_set_opt(PAPI_DETACH, &option);
}

int PAPI_set_multiplex(int EventSet)
{
	PAPI_option_t option;
	struct pp_set *set;
	int code = set_with_component(EventSet, &set);

	if (code != PAPI_OK)
		return pp_return(code);
	memset(&option, 0, sizeof option);
	option.multiplex.eventset = EventSet;
	option.multiplex.ns = pp_process.itimer_ns;
	return PAPI_set_opt(PAPI_MULTIPLEX, &option);
}

int PAPI_set_cmp_domain(int domain, int cidx)
{
	PAPI_option_t option;

	memset(&option, 0, sizeof option);
	option.defdomain.def_cidx = cidx;
	option.defdomain.domain = domain;
	return PAPI_set_opt(PAPI_DEFDOM, &option);
}

int PAPI_set_domain(int domain)
{
	return PAPI_set_cmp_domain(domain, PP_CORE);
}

int PAPI_set_cmp_granularity(int granularity, int cidx)
{
	PAPI_option_t option;

	memset(&option, 0, sizeof option);
	option.defgranularity.def_cidx = cidx;
	option.defgranularity.granularity = granularity;
	return PAPI_set_opt(PAPI_DEFGRN, &option);
}

int PAPI_set_granularity(int granularity)
{
	return PAPI_set_cmp_granularity(granularity, PP_CORE);
}

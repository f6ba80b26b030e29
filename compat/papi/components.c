/* SPDX-License-Identifier: MIT */
/* The components that Debian's PAPI has, by its numbers, and which of them this library serves.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "compat/papi/state.h"

static PAPI_component_info_t components[PP_COMPONENTS] = {
	[PP_CORE] = {.name = "perf_event",
		     .short_name = "perf",
		     .description = "Processor counters of the kernel's perf_event",
		     .version = "5.0",
		     .num_mpx_cntrs = PP_EVENTS,
		     .available_granularities = PAPI_GRN_THR | PAPI_GRN_SYS,
		     .hardware_intr = 1,
		     .kernel_profile = 1,
		     .kernel_multiplex = 1,
		     .attach = 1,
		     .attach_must_ptrace = 1,
		     .cntr_umasks = 1,
		     .cpu = 1,
		     .inherit = 1},
	[PP_UNCORE] = {.name = "perf_event_uncore",
		       .short_name = "peu",
		       .description = "Counters of the boxes that processors share",
		       .version = "5.0",
		       .num_mpx_cntrs = PP_EVENTS,
		       .available_domains =
			       PAPI_DOM_USER | PAPI_DOM_KERNEL | PAPI_DOM_SUPERVISOR,
		       .available_granularities = PAPI_GRN_SYS,
		       .attach = 1,
		       .attach_must_ptrace = 1,
		       .cntr_umasks = 1,
		       .cpu = 1,
		       .inherit = 1},
	[PP_SDE] = {.name = "sde",
		    .short_name = "sde",
		    .description = "Events that software defines",
		    .version = "1.15",
		    .available_domains = PAPI_DOM_USER,
		    .available_granularities = PAPI_GRN_THR,
		    .num_cntrs = 40,
		    .num_mpx_cntrs = 40},
	[PP_ROCM] = {.name = "rocm_smi",
		     .short_name = "rocm_smi",
		     .description = "AMD's graphics processors by rocm_smi_lib",
		     .version = "1.0",
		     .available_domains = PAPI_DOM_USER | PAPI_DOM_KERNEL,
		     .available_granularities = PAPI_GRN_THR,
		     .num_cntrs = -1,
		     .num_mpx_cntrs = -1,
		     .num_native_events = -1},
	[PP_SYSDETECT] = {.name = "sysdetect",
			  .short_name = "sysdetect",
			  .description = "What the machine is made of",
			  .version = "1.0"},
	[PP_TOPDOWN] = {.name = "topdown",
			.short_name = "topdown",
			.description = "Shares of the pipeline's slots, in percent as double",
			.version = "1.0",
			.available_domains = PAPI_DOM_USER | PAPI_DOM_KERNEL,
			.available_granularities = PAPI_GRN_THR,
			.fast_counter_read = 1},
};
static int off[PP_COMPONENTS], counted; /* off: disabled by program; counted: presets known */
static int boxes_known, topdown_known;
static int rocm_used; /* for the whole process: a new initialisation does not reset it */

int pp_component_valid(int component)
{
	return component >= 0 && component < PP_COMPONENTS;
}

static void disable_component(int component, int code, const char *reason)
{
	PAPI_component_info_t *c = &components[component];

	c->disabled = code;
	snprintf(c->disabled_reason, sizeof c->disabled_reason, "%s", reason);
}

/* Returns -1 if the file has no number. */
static int number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	int value = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

/* Fills in names and counters of a component's PMUs. Returns the number of PMUs. */
static int sum_up(int component)
{
	PAPI_component_info_t *c = &components[component];
	struct tach_pmu_info info = {.size = sizeof info};
	int n = 0, pmu;

	c->num_native_events = 0;
	c->num_cntrs = 0;
	memset(c->pmu_names, 0, sizeof c->pmu_names);
	for (; (pmu = pp_component_pmu(component, n)) >= 0; n++) {
		tach_pmu_describe(pmu, &info);
		if (n < PAPI_PMU_MAX)
			c->pmu_names[n] = (char *)info.name;
		c->num_native_events += info.nevents;
		if (component == PP_UNCORE || pmu == pp_default_pmu())
			c->num_cntrs += info.general + __builtin_popcount(info.fixed);
	}
	return n;
}

/* Returns 1 if user space may read this machine's counters. */
static int reads_in_user_space(void)
{
	struct tach_pmu_info info = {.size = sizeof info};
	char path[PAPI_2MAX_STR_LEN];

	if (pp_default_pmu() < 0 || tach_pmu_describe(pp_default_pmu(), &info) != 0)
		return 0;
	snprintf(path, sizeof path, "/sys/bus/event_source/devices/%.*s/%s",
		 (int)strcspn(info.perf, " "), info.perf,
		 strcmp(info.arch, "x86") == 0 ? "rdpmc" : "type");
	return number_in(path) > 0;
}

static void begin_core(void)
{
	PAPI_component_info_t *c = &components[PP_CORE];
	int paranoid = number_in("/proc/sys/kernel/perf_event_paranoid");

	c->available_domains = PAPI_DOM_USER | PAPI_DOM_KERNEL | PAPI_DOM_SUPERVISOR;
	if (paranoid == 2 && getuid() != 0)
		c->available_domains &= ~PAPI_DOM_KERNEL;
	c->hardware_intr_sig = SIGRTMIN + 2;
	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK) != 0)
		disable_component(PP_CORE, PAPI_ECMP, "the kernel has no perf_event");
	else if (paranoid == 3 && getuid() != 0)
		disable_component(PP_CORE, PAPI_ECMP, "kernel.perf_event_paranoid is 3");
	else if (sum_up(PP_CORE) == 0)
		disable_component(PP_CORE, PAPI_ENOSUPP, "no PMU found");
	if (c->num_cntrs > 0 && number_in("/proc/sys/kernel/nmi_watchdog") > 0)
		c->num_cntrs--; /* the watchdog uses one counter */
	c->fast_counter_read = reads_in_user_space() != 0;
}

void pp_components_begin(void)
{
	for (int i = 0; i < PP_COMPONENTS; i++) {
		PAPI_component_info_t *c = &components[i];

		c->CmpIdx = i;
		c->default_domain = PAPI_DOM_USER;
		c->default_granularity = PAPI_GRN_THR;
		if (off[i])
			continue;
		c->disabled = 0;
		c->disabled_reason[0] = '\0';
		snprintf(c->support_version, sizeof c->support_version, "libtach %s",
			 tach_version());
	}
	counted = 0;
	components[PP_UNCORE].default_domain = PAPI_DOM_ALL;
	components[PP_UNCORE].default_granularity = PAPI_GRN_SYS;
	components[PP_SYSDETECT].default_domain = components[PP_SYSDETECT].default_granularity =
		0;
	if (!off[PP_CORE])
		begin_core();
	boxes_known = off[PP_UNCORE];
	topdown_known = off[PP_TOPDOWN];
	if (!off[PP_SDE])
		disable_component(
			PP_SDE, PAPI_ECMP,
			"libtach's libpapi does not serve events that software defines");
	if (!off[PP_ROCM])
		disable_component(PP_ROCM, rocm_used ? PAPI_ENOSUPP : PAPI_EDELAY_INIT,
				  "libtach's libpapi does not serve graphics processors");
}

/* In PAPI this component loads its library at its first use. The use fails with PAPI_ENOSUPP
 * and disables the component. */
int pp_component_use_rocm(void)
{
	int expected = PAPI_EDELAY_INIT;

	if (!__atomic_compare_exchange_n(&components[PP_ROCM].disabled, &expected, PAPI_ENOSUPP,
					 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 0;
	rocm_used = 1;
	return 1;
}

static void begin_topdown(void)
{
	PAPI_component_info_t *c = &components[PP_TOPDOWN];

	c->num_native_events = c->num_cntrs = c->num_mpx_cntrs = pp_topdown_count();
	if (c->num_native_events == 0)
		disable_component(
			PP_TOPDOWN, PAPI_ENOSUPP,
			"this processor has no register of top-down metrics; Intel's P cores "
			"have it since Ice Lake");
	topdown_known = 1;
}

static PAPI_component_info_t *look_at(int component)
{
	if (component == PP_UNCORE && !boxes_known) {
		if (sum_up(PP_UNCORE) == 0)
			disable_component(PP_UNCORE, PAPI_ECMP, "no boxes of the uncore found");
		boxes_known = 1;
	}
	if (component == PP_TOPDOWN && !topdown_known)
		begin_topdown();
	return &components[component];
}

PAPI_component_info_t *pp_component(int component)
{
	return look_at(component);
}

int pp_component_disabled(int component)
{
	return look_at(component)->disabled;
}

/* ---- PAPI's ---- */

const PAPI_component_info_t *PAPI_get_component_info(int cidx)
{
	if (!pp_component_valid(cidx))
		return NULL;
	if (cidx == PP_CORE && !counted && pp_process.level != PAPI_NOT_INITED) {
		components[PP_CORE].num_preset_events = pp_presets_count();
		counted = 1;
	}
	return look_at(cidx);
}

int PAPI_num_components(void)
{
	return PP_COMPONENTS;
}

int PAPI_get_component_index(const char *name)
{
	for (int i = 0; name && i < PP_COMPONENTS; i++)
		if (strcmp(name, components[i].name) == 0)
			return i;
	return PAPI_ENOCMP;
}

int PAPI_disable_component(int cidx)
{
	if (pp_process.level != PAPI_NOT_INITED)
		return PAPI_ENOINIT;
	if (!pp_component_valid(cidx))
		return PAPI_ENOCMP;
	off[cidx] = 1;
	disable_component(cidx, 1, "disabled by PAPI_disable_component");
	return PAPI_OK;
}

int PAPI_disable_component_by_name(const char *name)
{
	if (pp_process.level != PAPI_NOT_INITED)
		return PAPI_ENOINIT;
	return PAPI_disable_component(PAPI_get_component_index(name));
}

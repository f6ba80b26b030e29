/* SPDX-License-Identifier: MIT */
/* Chooses the set that regions count, and changes it while threads run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/region/beacon.h"
#include "core/os/emulator.h"
#include "core/os/environment.h"
#include "core/base/error.h"
#include "core/base/maths.h"
#include "core/base/sized.h"
#include "core/reader/reader.h"
#include "core/region/left.h"
#include "core/region/region.h"
#include "core/set/set.h"

/* ---- publishing ---- */

/* Threads may be inside regions. Each thread keeps its old reader until its next START. */
static void publish(struct tach__config *config, const char *only)
{
	struct tach__registry *r = &tach__registry;
	struct tach__config *old;
	struct tach__site *site;
	struct tach__held held;

	tach__lock(&held);
	old = r->config;
	config->generation = r->generation + 1;
	r->numbered = 0;
	tach__config_list(config);
	snprintf(r->only, sizeof r->only, "%s", only ? only : "");
	cds_list_for_each_entry(site, &r->sites, node)
	{
		tach__site_select(site);
	}
	__atomic_store_n(&r->config, config, __ATOMIC_RELEASE);
	__atomic_store_n(&r->enabled, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&r->generation, config->generation, __ATOMIC_SEQ_CST);
	tach__threads_interrupt();
	tach__unlock(&held);
	tach__sites_rearm();
	if (old) {
		tach__lock(&held);
		tach__ring_drop(old);
		tach__config_drop(old);
		tach__unlock(&held);
		tach__configs_sweep();
	}
}

static void note_add(struct tach__config *config, const char *text)
{
	size_t used = strlen(config->note);

	snprintf(config->note + used, sizeof config->note - used, "%s%s", used ? "; " : "",
		 text);
}

static void note_invalid_values(struct tach__config *config)
{
	char odd[128];

	if (tach__environment_odd(odd, sizeof odd))
		note_add(config, odd);
}

/* Keeps the reason of a failure for reports if the environment requested regions, and returns
 * 0. */
static int note_failure(struct tach__config *config, int code, const char *value,
			const char *variable, const struct tach_error *why,
			struct tach_error *err)
{
	if (value != tach__environment(variable))
		return tach__error(err, code, 0, 0, "%s", why->text);
	note_add(config, why->text);
	return 0;
}

/* Makes the objects for the options, without using them yet. */
static int config_of(struct tach__config **out, const struct tach_regions_options *opt,
		     struct tach__plan *plan, struct tach_error *err)
{
	struct tach__config *config;
	char note[sizeof config->note] = "";
	struct tach_error why = TACH_ERROR_INIT;
	struct tach_set *set = NULL;
	int code = tach__counted_set(&set, opt, note, sizeof note, err);

	if (code)
		return code;
	tach__clock_start();
	tach__beacon_keep_loaded();
	config = tach__config_make(set, opt);
	if (!config) {
		if (!opt->set)
			tach_set_free(set);
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	memcpy(config->note, note, sizeof note);
	code = tach__worst_choose(config, opt->worst, &why);
	if (code)
		code = note_failure(config, code, opt->worst, "TACH_WORST", &why, err);
	if (!code) {
		code = tach__split_parse(&config->split, opt->by, &why);
		if (code)
			code = note_failure(config, code, opt->by, "TACH_BY", &why, err);
	}
	if (!code && plan)
		code = tach__ring_make(config, plan, opt, err);
	if (code) {
		if (!opt->set)
			tach_set_free(set);
		free(config);
		return code;
	}
	*out = config;
	return 0;
}

static int configure(const struct tach_regions_options *given, struct tach_error *err)
{
	struct tach_regions_options opt = *given;
	struct tach__config *config = NULL;
	struct tach__plan *plan = NULL;
	int code = tach__ring_plan(&plan, &opt, err);

	if (!code)
		code = config_of(&config, &opt, plan, err);
	if (code) {
		tach__ring_forget(plan);
		return code;
	}
	if (plan && *plan->note)
		note_add(config, plan->note);
	note_invalid_values(config);
	publish(config, opt.only);
	return 0;
}

/* Completes the caller's options from the environment. */
static struct tach_regions_options complete_options(const struct tach_regions_options *given)
{
	struct tach_regions_options opt = {0};

	if (given)
		opt = *given;
	if (!opt.set && !opt.events && !opt.metrics) {
		opt.events = tach__environment_events();
		opt.metrics = tach__environment("TACH_METRICS");
	}
	if (!opt.only)
		opt.only = tach__environment("TACH_REGIONS");
	if (!opt.interrupts)
		opt.interrupts = tach__environment_interrupts();
	if (!opt.sparse)
		opt.sparse = tach__environment_number("TACH_SPARSE", 0);
	if (!opt.warmup)
		opt.warmup = tach__environment_number("TACH_WARMUP", 0);
	if (!opt.worst)
		opt.worst = tach__environment("TACH_WORST");
	if (!opt.by)
		opt.by = tach__environment("TACH_BY");
	if (!opt.turns)
		opt.turns = tach__environment_number("TACH_TURNS", 0);
	if (!opt.histograms)
		opt.histograms = tach__environment_number("TACH_HISTOGRAMS", 0);
	return opt;
}

/* Returns 1 if the library owns that set already, and will free it. */
static int is_ours(const struct tach_set *set)
{
	const struct tach__config *config;
	struct tach__held held;

	tach__lock(&held);
	for (config = tach__registry.configs; config && config->set != set;)
		config = config->next;
	tach__unlock(&held);
	return config != NULL;
}

static int check_options(const struct tach_regions_options *opt, struct tach_error *err)
{
	if (opt->interrupts & ~(uint32_t)TACH__SET_WITH_INTERRUPTS)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "interrupts are TACH_SET_INTERRUPTS or TACH_SET_CORRECT");
	if (opt->only && strlen(opt->only) >= sizeof tach__registry.only)
		return tach__error(err, TACH_ERR_TOOMANY, 0, 0,
				   "the globs take more than %zu bytes",
				   sizeof tach__registry.only - 1);
	if (opt->set && is_ours(opt->set))
		return tach__error(
			err, TACH_ERR_INVAL, 0, 0,
			"the library already owns this set: make a new one for each call");
	return 0;
}

/* Returns 1 if the thread is inside a region. Regions left by longjmp do not count. */
static int is_inside(struct tach__thread *record)
{
	struct tach__held held;

	tach__hold(&held);
	tach__remove_dead_entries(record, (uintptr_t)__builtin_frame_address(0));
	tach__release(&held);
	return TACH__LEVEL(record->hot->state) != 0;
}

static int decided;

void tach__regions_freeze(void)
{
	decided = 1;
}

int tach__regions_are_frozen(void)
{
	return decided;
}

int tach__configure_here(const struct tach_regions_options *given, struct tach_error *err)
{
	struct tach__thread *record = tach__thread_record();
	struct tach_regions_options ours, opt;
	int code;

	if (given) {
		given = tach__sized_in(given, &ours, TACH__STRUCT(tach_regions_options), err);
		if (!given)
			return TACH_ERR_INVAL;
	}
	if (decided) {
		if (given && given->set)
			tach_set_free(given->set);
		return 0;
	}
	opt = complete_options(given);
	code = check_options(&opt, err);
	if (code)
		return code;
	tach__configure_once();
	if (record && is_inside(record))
		return tach__error(
			err, TACH_ERR_STATE, 0, 0,
			"this thread is inside a region, '%s'; stop it first",
			tach__site_at((*tach__stack(record->hot, record->hot->state))->id)
				->name);
	/* The old and the new set together may exceed the PMU or the limits. */
	tach__thread_close();
	return configure(&opt, err);
}

/* Only the copy of the library that made a set may free it. */
int tach_regions_configure(const struct tach_regions_options *opt, struct tach_error *err)
{
	const struct tach__beacon *owner;

	tach__configure_once();
	owner = tach__beacon_owner();
	if (tach__beacon_is_excluded() ||
	    (owner && opt && opt->set && strcmp(owner->version, TACH_VERSION_STRING) != 0))
		return tach__beacon_refuse(err);
	return owner ? owner->configure(opt, err) : tach__configure_here(opt, err);
}

static void disable(void)
{
	struct tach__held held;

	tach__lock(&held);
	__atomic_store_n(&tach__registry.enabled, 0, __ATOMIC_RELAXED);
	tach__threads_interrupt();
	tach__unlock(&held);
	tach__sites_rearm();
}

void tach__disable_here(void)
{
	if (!decided)
		disable();
}

void tach_regions_disable(void)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	if (owner)
		owner->disable();
	else
		tach__disable_here();
}

void tach__regions_end(void)
{
	disable();
	__atomic_store_n(&tach__beacon.state, TACH__BEACON_EXCLUDED, __ATOMIC_RELEASE);
}

int tach__enabled_here(void)
{
	return (int)__atomic_load_n(&tach__registry.enabled, __ATOMIC_RELAXED);
}

int tach_regions_enabled(void)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	return owner ? owner->enabled() : tach__enabled_here();
}

/* ---- from the environment ---- */

/* TACH_ENABLE disables regions. They are also disabled in a native program that an emulated
 * program started. */
static int is_disabled(void)
{
	const char *enable = tach__environment("TACH_ENABLE");

	return (enable && strcmp(enable, "0") == 0) ||
	       (tach__environment("TACH_EMULATE") && !tach__emulated_counts());
}

/* TACH_ENABLE switches regions on or off. If it is not set, a request for output switches them
 * on. */
static int regions_are_wanted(void)
{
	return !is_disabled() &&
	       (tach__environment("TACH_ENABLE") || tach__environment("TACH_OUTPUT") ||
		tach__environment("TACH_TRACE"));
}

/* A program defines this symbol if the variables are for the programs that it starts. It then
 * ignores them. */
extern const char tach__environment_is_for_others __attribute__((weak));

static void configure_from_environment(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_regions_options opt;
	int is_wanted;

	if (&tach__environment_is_for_others)
		return;
	tach__beacon_claim();
	if (tach__beacon_owner() || tach__beacon_is_excluded())
		return;
	is_wanted = regions_are_wanted();
	if (is_wanted || !is_disabled())
		tach__environment_complain(is_wanted);
	if (!is_wanted)
		return;
	tach__output_at_exit(tach__environment("TACH_OUTPUT"));
	opt = complete_options(NULL);
	if (configure(&opt, &err) == 0) {
		if (opt.events || opt.metrics)
			tach__environment_uncounted(tach__registry.config->note);
		return;
	}
	/* At this point no caller can get the error. So regions count only the clock, and
	 * reports give the reason. */
	opt.events = "";
	opt.metrics = NULL;
	opt.turns = 0;
	if (configure(&opt, NULL) == 0) {
		char why[sizeof err.text + 80];

		snprintf(why, sizeof why,
			 err.column ? "TACH_EVENTS or TACH_METRICS cannot be used: %s (column "
				      "%d)"
				    : "TACH_EVENTS or TACH_METRICS cannot be used: %s",
			 err.text, err.column);
		note_add(tach__registry.config, why);
		tach__environment_uncounted(why);
	}
}

void tach__configure_once(void)
{
	static int once;
	int none = 0;

	if (__atomic_load_n(&once, __ATOMIC_ACQUIRE) == 0 &&
	    __atomic_compare_exchange_n(&once, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		configure_from_environment();
}

/*
 * Runs before main, so that a first entry in a signal handler need not configure. It takes the
 * loader's lock. Constructors of the same object may wait for a thread, so it runs before them.
 */
__attribute__((constructor(102))) static void configure_before_main(void)
{
	tach__configure_once();
}

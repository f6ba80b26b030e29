/* SPDX-License-Identifier: MIT */
/*
 * configure.c with all functions that it calls simulated: steps are recorded in order, and one
 * of them may fail.
 */
#ifndef TESTS_UNIT_REGION_CONFIGURING_H
#define TESTS_UNIT_REGION_CONFIGURING_H

#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/region/region.h"
#include "core/set/plan.h"
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/ordered.h"
#include "tests/unit/region/locked.h"

/* The recorded steps, and the step that fails with this code. */
static char steps[400];
static const char *failing, *because = "";
static int failure, fails_once;

static int step(const char *what, struct tach_error *err)
{
	CHECK(strlen(steps) + strlen(what) + 2 < sizeof steps);
	strcat(strcat(steps, what), " ");
	if (!failing || strcmp(failing, what) != 0)
		return 0;
	if (fails_once)
		failing = NULL;
	return tach__error(err, failure, 0, strcmp(what, "set") == 0 ? 5 : 0, "%s fails%s",
			   what, because);
}

static int were(const char *what)
{
	int same = strcmp(steps, what) == 0;

	if (!same)
		printf("# steps: %s\n", steps);
	steps[0] = '\0';
	return same;
}

/* ---- the steps ---- */

static struct tach__plan the_plan;
enum { MADE_MOST = 32 };

static struct tach__config *listed, *config_made[MADE_MOST]; /* the next case frees them */
static int made, given_back;
static struct tach__site some_site = {.name = "open one"};
static struct tach__hot hot;
static struct tach__thread the_record;
static struct tach_set *const our_set = (struct tach_set *)&some_site; /* an address alone */
static struct tach_regions_options seen;
static const char *environment[32], *set_note, *odd_said;
static int planned, no_config, sets_freed, emulated, is_alone;
static int claims, healed;
static uintptr_t stack_of_case; /* an address on the stack at the call of the library */
static const struct tach__beacon *the_owner;

static int sim_ring_plan(struct tach__plan **out, struct tach_regions_options *opt,
			 struct tach_error *err)
{
	seen = *opt;
	if (planned) {
		opt->events = "first";
		*out = &the_plan;
	}
	return step("plan", err);
}

static void sim_ring_forget(struct tach__plan *p)
{
	CHECK(p == (planned ? &the_plan : NULL));
	step("forget", NULL);
}

static int sim_ring_make(struct tach__config *first, struct tach__plan *p,
			 const struct tach_regions_options *opt, struct tach_error *err)
{
	CHECK(first && p == &the_plan && strcmp(opt->events, "first") == 0);
	return step("ring", err);
}

static void sim_ring_drop(struct tach__config *first)
{
	CHECK(locks == 1 && first);
	step("undo", NULL);
}

static void sim_config_drop(struct tach__config *config)
{
	CHECK(locks == 1);
	config->refs--;
	step("drop", NULL);
}

static void sim_configs_sweep(void)
{
	CHECK(!locks);
	step("sweep", NULL);
}

static void sim_config_list(struct tach__config *first)
{
	CHECK(locks == 1 && first->generation == tach__registry.generation + 1);
	CHECK(tach__registry.numbered == 0);
	listed = first;
	step("list", NULL);
}

static int sim_counted_set(struct tach_set **out, const struct tach_regions_options *opt,
			   char *note, size_t size, struct tach_error *err)
{
	CHECK(size == sizeof listed->note && !*note);
	*out = opt->set ? opt->set : our_set;
	snprintf(note, size, "%s", set_note);
	return step("set", err);
}

static void sim_set_free(struct tach_set *set)
{
	CHECK(set == our_set);
	sets_freed++;
}

static struct tach__config *sim_config_make(struct tach_set *set,
					    const struct tach_regions_options *opt)
{
	struct tach__config *config;

	(void)opt;
	step("make", NULL);
	if (no_config)
		return NULL;
	config = calloc(1, sizeof *config);
	config->set = set;
	config->refs = 1;
	CHECK(made < MADE_MOST);
	config_made[made++] = config;
	return config;
}

static void sim_free(void *config)
{
	for (int i = 0; i < made; i++)
		given_back += config == config_made[i];
}

static int sim_worst_choose(struct tach__config *config, const char *text,
			    struct tach_error *err)
{
	CHECK(config && text == seen.worst);
	return step("worst", err);
}

static int sim_split_parse(struct tach__split *split, const char *text, struct tach_error *err)
{
	CHECK(split && text == seen.by);
	return step("split", err);
}

static void sim_clock_start(void)
{
	step("clock", NULL);
}

static void sim_beacon_stay(void)
{
	step("stay", NULL);
}

static void sim_site_select(struct tach__site *site)
{
	CHECK(locks == 1 && site == &some_site);
	step("select", NULL);
}

/* Threads that run after this find the new set, with its number. */
static void sim_threads_interrupt(void)
{
	CHECK(locks == 1);
	step("interrupt", NULL);
}

static void sim_sites_rearm(void)
{
	CHECK(!locks);
	step(tach__registry.enabled ? "rearm" : "disarm", NULL);
}

static void sim_hold(struct tach__held *held)
{
	(void)held;
	step("hold", NULL);
}

static void sim_release(const struct tach__held *held)
{
	(void)held;
	step("release", NULL);
}

static __attribute__((noinline)) void sim_heal(struct tach__thread *record, uintptr_t sp)
{
	CHECK(record == &the_record && sp > (uintptr_t)&sp && sp < stack_of_case);
	healed++;
}

static struct tach__thread *sim_thread_record(void)
{
	return hot.record;
}

static void sim_thread_close(void)
{
	step("close", NULL);
}

static struct tach__site *sim_site_at(uint32_t id)
{
	CHECK(id == 17);
	return &some_site;
}

static const char *sim_environment(const char *name)
{
	for (int i = 0; i + 1 < 32 && environment[i]; i += 2)
		if (strcmp(environment[i], name) == 0)
			return *environment[i + 1] ? environment[i + 1] : NULL;
	return NULL;
}

static const char *sim_environment_events(void)
{
	return sim_environment("TACH_EVENTS");
}

static uint32_t sim_environment_number(const char *name, uint32_t otherwise)
{
	const char *value = sim_environment(name);

	return value ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

static uint32_t sim_environment_interrupts(void)
{
	return sim_environment("TACH_INTERRUPTS") ? TACH_SET_CORRECT : 0;
}

static int sim_environment_odd(char *text, size_t size)
{
	snprintf(text, size, "%s", odd_said ? odd_said : "");
	return odd_said != NULL;
}

static const uint64_t *sim_emulated_counts(void)
{
	static const uint64_t counts[2];

	return emulated ? counts : NULL;
}

static void sim_claim(void)
{
	claims++;
}

static const struct tach__beacon *sim_owner(void)
{
	return the_owner;
}

static int sim_alone(void)
{
	return is_alone;
}

static int sim_refuse(struct tach_error *err)
{
	return tach__error(err, TACH_ERR_STATE, 0, 0, "refused");
}

static void sim_complain(int is_wanted)
{
	(void)is_wanted;
	step("complain", NULL);
}

static void sim_output_at_exit(const char *file)
{
	CHECK(file == sim_environment("TACH_OUTPUT"));
	step("output", NULL);
}

/* Data that others read without the lock are stored before the word that publishes them. */
static void ordered(const void *at, int order)
{
	CHECK(at != &tach__registry.config || order == __ATOMIC_RELEASE);
	CHECK(at != &tach__registry.generation || order == __ATOMIC_SEQ_CST);
}

#define free			     sim_free
#define tach__ring_plan		     sim_ring_plan
#define tach__ring_forget	     sim_ring_forget
#define tach__ring_make		     sim_ring_make
#define tach__ring_drop		     sim_ring_drop
#define tach__config_drop	     sim_config_drop
#define tach__configs_sweep	     sim_configs_sweep
#define tach__config_list	     sim_config_list
#define tach__counted_set	     sim_counted_set
#define tach_set_free		     sim_set_free
#define tach__config_make	     sim_config_make
#define tach__worst_choose	     sim_worst_choose
#define tach__split_parse	     sim_split_parse
#define tach__clock_start	     sim_clock_start
#define tach__beacon_keep_loaded     sim_beacon_stay
#define tach__site_select	     sim_site_select
#define tach__threads_interrupt	     sim_threads_interrupt
#define tach__sites_rearm	     sim_sites_rearm
#define tach__hold		     sim_hold
#define tach__release		     sim_release
#define tach__remove_dead_entries    sim_heal
#define tach__thread_record	     sim_thread_record
#define tach__thread_close	     sim_thread_close
#define tach__site_at		     sim_site_at
#define tach__environment	     sim_environment
#define tach__environment_events     sim_environment_events
#define tach__environment_interrupts sim_environment_interrupts
#define tach__environment_odd	     sim_environment_odd
#define tach__environment_number     sim_environment_number
#define tach__emulated_counts	     sim_emulated_counts
#define tach__beacon_claim	     sim_claim
#define tach__beacon_owner	     sim_owner
#define tach__beacon_is_excluded     sim_alone
#define tach__beacon_refuse	     sim_refuse
#define tach__environment_complain   sim_complain
#define tach__output_at_exit	     sim_output_at_exit
#include "core/region/configure.c"
#undef free

#define MADE	  "plan set clock stay make worst split "
#define PUBLISHED "list select interrupt rearm "
#define REPLACED  PUBLISHED "undo drop sweep "

static struct tach_error error;

static void begin(void)
{
	struct tach__registry *r = &tach__registry;

	memset(environment, 0, sizeof environment);
	steps[0] = '\0';
	failing = odd_said = NULL;
	set_note = because = "";
	fails_once = planned = no_config = sets_freed = emulated = is_alone = healed = 0;
	failure = TACH_ERR_NOTFOUND;
	the_owner = NULL;
	decided = 0;
	the_plan.note[0] = '\0';
	hot = (struct tach__hot){0};
	the_record.hot = &hot;
	for (int i = 0; i < made; i++)
		free(config_made[i]);
	made = given_back = 0;
	listed = r->config = r->configs = NULL;
	r->enabled = 0;
	r->generation = 41;
	r->numbered = 3;
	strcpy(r->only, "old");
	CDS_INIT_LIST_HEAD(&r->sites);
	cds_list_add(&some_site.node, &r->sites);
	error = (struct tach_error)TACH_ERROR_INIT;
}

static int choose(struct tach_regions_options opt)
{
	stack_of_case = (uintptr_t)&opt;
	opt.size = 0;
	steps[0] = '\0';
	return tach_regions_configure(&opt, &error);
}

#define SOME ((struct tach_regions_options){.events = "a"})

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Linked into a build with -finstrument-functions. For each operation it prints the addresses
 * of the functions that control passes to, by call or return, as one section of text. The hook
 * at the end of an inlined function gets the return address of the enclosing function, so a
 * stack of functions finds where control really goes.
 */
#include <stdio.h>
#include <string.h>
#include <tach.h>

#define QUIET __attribute__((no_instrument_function))

enum { EVENTS = 1 << 20, DEPTH = 1000 };
static void *event[EVENTS];
static unsigned nevents;
static void *stack[DEPTH];
static int depth;
static int on;

QUIET void __cyg_profile_func_enter(void *function, void *site);
QUIET void __cyg_profile_func_exit(void *function, void *site);

static QUIET void note(void *function)
{
	if (on && nevents < EVENTS)
		event[nevents++] = function;
}

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	if (depth < DEPTH)
		stack[depth] = function;
	depth++;
	note(function);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
	depth--;
	if (depth > 0 && depth <= DEPTH)
		note(stack[depth - 1]);
}

static QUIET void section(const char *name)
{
	on = 0;
	for (unsigned i = 0; i < nevents; i++)
		printf("%s %p\n", name, event[i]);
	nevents = 0;
	on = 1;
}

QUIET int main(void)
{
	struct tach_event event_out = {.size = sizeof event_out};
	struct tach_set_options set_options = TACH_SET_OPTIONS_INIT;
	struct tach_regions_options clock_alone = {.size = sizeof clock_alone, .events = ""};
	struct tach_set *set = NULL;
	struct tach_error err = {.size = sizeof err};

	set_options.events = "cycles, instructions";
	set_options.metrics = "ipc = instructions / cycles";
	section("");
	if (tach_event_encode("skx::INST_RETIRED:ANY_P:u", NULL, &event_out, &err) != 0)
		return 1;
	section("encode");
	if (tach_set_create(&set_options, &set, &err) != 0)
		return 1;
	section("set");
	tach_set_free(set);
	(void)tach_regions_configure(&clock_alone, &err);
	/* the first call opens counters, the third is the typical case */
	for (int i = 0; i < 3; i++) {
		section("");
		TACH_START(house);
		section(i == 0 ? "first" : i == 2 ? "start" : "");
		TACH_STOP(house);
		section(i == 2 ? "stop" : "");
	}
	on = 0;
	return 0;
}

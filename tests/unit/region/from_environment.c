/* SPDX-License-Identifier: MIT */
/* The counted events, if the environment sets them or adds to the program's settings. */
#include "tests/unit/region/configuring.h"

#define SAYS(...)                                                                              \
	memcpy(environment, ((const char *[]){__VA_ARGS__}),                                   \
	       sizeof((const char *[]){__VA_ARGS__}))

static void what_is_left_open(void)
{
	begin();
	SAYS("TACH_EVENTS", "e", "TACH_METRICS", "m", "TACH_REGIONS", "r", "TACH_INTERRUPTS",
	     "1", "TACH_SPARSE", "20", "TACH_WARMUP", "3", "TACH_WORST", "4", "TACH_BY", "tag",
	     "TACH_TURNS", "5", "TACH_HISTOGRAMS", "6");
	CHECK(tach_regions_configure(NULL, &error) == 0);
	CHECK(strcmp(seen.events, "e") == 0 && strcmp(seen.metrics, "m") == 0);
	CHECK(strcmp(tach__registry.only, "r") == 0 && seen.interrupts == TACH_SET_CORRECT);
	CHECK(seen.sparse == 20 && seen.warmup == 3 && strcmp(seen.worst, "4") == 0);
	CHECK(strcmp(seen.by, "tag") == 0 && seen.turns == 5 && seen.histograms == 6);
	/* Each of the program's settings has priority over the environment. */
	CHECK(choose((struct tach_regions_options){.events = "x",
						   .only = "y",
						   .interrupts = TACH_SET_INTERRUPTS,
						   .sparse = 12,
						   .warmup = 13,
						   .worst = "14",
						   .by = "task",
						   .turns = 15,
						   .histograms = 16}) == 0);
	CHECK(strcmp(seen.events, "x") == 0 && !seen.metrics);
	CHECK(strcmp(tach__registry.only, "y") == 0 && seen.interrupts == TACH_SET_INTERRUPTS);
	CHECK(seen.sparse == 12 && seen.warmup == 13 && strcmp(seen.worst, "14") == 0);
	CHECK(strcmp(seen.by, "task") == 0 && seen.turns == 15 && seen.histograms == 16);
	CHECK(choose((struct tach_regions_options){.metrics = "x"}) == 0);
	CHECK(!seen.events && strcmp(seen.metrics, "x") == 0 && seen.sparse == 20);
	CHECK(choose((struct tach_regions_options){.set = our_set}) == 0);
	CHECK(!seen.events && !seen.metrics);
	begin();
	CHECK(tach_regions_configure(NULL, &error) == 0);
	CHECK(!seen.events && !seen.metrics && !seen.interrupts && !seen.sparse);
	CHECK(!seen.warmup && !seen.worst && !seen.by && !seen.turns && !seen.histograms);
}

/* Regions stay off, and the report says why. */
static void refused_settings_leave_regions_off(void)
{
	begin();
	SAYS("TACH_WORST", "?", "TACH_BY", "?");
	failing = "worst";
	CHECK(choose(SOME) == 0 && strcmp(listed->note, "worst fails") == 0);
	begin();
	SAYS("TACH_WORST", "?", "TACH_BY", "?");
	failing = "split";
	set_note = "set's";
	CHECK(choose(SOME) == 0 && strcmp(listed->note, "set's; split fails") == 0);
	/* The program's own list of events is refused. */
	begin();
	SAYS("TACH_WORST", "?", "TACH_BY", "?");
	failing = "split";
	CHECK(choose((struct tach_regions_options){.by = "tag"}) == failure);
}

static int starts(void)
{
	configure_from_environment();
	return tach__registry.config != NULL;
}

static void environment_starts_regions(void)
{
	begin();
	CHECK(!starts() && were("complain ") && claims);
	SAYS("TACH_ENABLE", "1", "TACH_EVENTS", "e");
	CHECK(starts() && were("complain output " MADE PUBLISHED));
	CHECK(strcmp(seen.events, "e") == 0);
	begin();
	SAYS("TACH_ENABLE", "0", "TACH_OUTPUT", "x", "TACH_TRACE", "y");
	CHECK(!starts() && were(""));
	begin();
	SAYS("TACH_OUTPUT", "x");
	CHECK(starts());
	begin();
	SAYS("TACH_TRACE", "x");
	CHECK(starts());
	/* A program in an emulator starts this one natively. */
	begin();
	SAYS("TACH_ENABLE", "1", "TACH_EMULATE", "x");
	CHECK(!starts() && were(""));
	emulated = 1;
	CHECK(starts());
	/* Another copy of the library owns the regions, or excludes this copy. */
	begin();
	SAYS("TACH_ENABLE", "1");
	the_owner = &tach__beacon;
	CHECK(!starts());
	the_owner = NULL;
	is_alone = 1;
	CHECK(!starts() && were(""));
}

/* Only the clock counts, and the report says why, as far as the text fits. */
static void what_the_environment_cannot_have(void)
{
	static char long_reason[sizeof error.text];

	begin();
	SAYS("TACH_ENABLE", "1", "TACH_EVENTS", "e", "TACH_METRICS", "m", "TACH_TURNS", "5");
	failing = "plan";
	CHECK(!starts() && were("complain output plan forget plan forget "));
	begin();
	SAYS("TACH_ENABLE", "1", "TACH_EVENTS", "e", "TACH_METRICS", "m", "TACH_TURNS", "5");
	failing = "set";
	odd_said = "odd's";
	fails_once = 1;
	CHECK(starts());
	CHECK(were("complain output plan set forget " MADE PUBLISHED));
	CHECK(strcmp(seen.events, "") == 0 && !seen.metrics && !seen.turns);
	CHECK(strcmp(listed->note,
		     "odd's; TACH_EVENTS or TACH_METRICS cannot be used: set fails "
		     "(column 5)") == 0,
	      "%s", listed->note);
	begin();
	SAYS("TACH_ENABLE", "1");
	failing = "plan";
	fails_once = 1;
	CHECK(starts());
	CHECK(strcmp(listed->note, "TACH_EVENTS or TACH_METRICS cannot be used: plan fails") ==
		      0,
	      "%s", listed->note);
	begin();
	SAYS("TACH_ENABLE", "1");
	failing = "set";
	fails_once = 1;
	memset(long_reason, 'r', sizeof long_reason - sizeof "set fails");
	because = long_reason;
	CHECK(starts() && strstr(listed->note, "fails") && strstr(listed->note, long_reason));
	CHECK(strstr(listed->note, "(column 5)"), "%s", listed->note);
}

/* Constructors of the program may come before the library's. */
static int claimed;

static __attribute__((constructor(101))) void before_the_library(void)
{
	begin();
	claims = 0;
	CHECK(tach__configure_here(NULL, NULL) == 0);
	claimed = claims;
}

static void constructors_configure_once(void)
{
	CHECK(claimed == 1 && claims == 1);
	tach__configure_once();
	CHECK(claims == 1);
}

int main(void)
{
	CASE(constructors_configure_once);
	CASE(what_is_left_open);
	CASE(refused_settings_leave_regions_off);
	CASE(environment_starts_regions);
	CASE(what_the_environment_cannot_have);
	return check_done();
}

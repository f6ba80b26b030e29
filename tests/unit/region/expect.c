/* SPDX-License-Identifier: MIT */
/*
 * tach/expect.h: the verdict on a count, and its message. The test replaces the library and
 * standard error; expect.sh uses the real ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/region.h>
#include <tach/snapshot.h>
#include "tests/check.h"
#include "tests/stack.h"

static char *said;
static size_t said_size;
static FILE *captured;

/* The library's scripted answers, and the calls that it got. */
static struct {
	int configure, take, value, enabled;
	const char *why;
	uint64_t calls, first_calls;
	struct tach_value v;
	const char *file; /* file and line of the region "work" */
	uint32_t line;
	int disabled, taken, freed, part, region, quantity, left_open;
	char events[64];
} sim;

static int sim_configure(const struct tach_regions_options *opt, struct tach_error *err)
{
	struct tach_regions_options plain;

	memset(&plain, 0, sizeof plain);
	plain.size = sizeof plain;
	plain.events = opt->events;
	CHECK(memcmp(opt, &plain, sizeof plain) == 0);
	snprintf(sim.events, sizeof sim.events, "%s", opt->events);
	if (sim.configure)
		snprintf(err->text, sizeof err->text, "%s", sim.why);
	return sim.configure;
}

static void sim_disable(void)
{
	sim.disabled++;
	sim.enabled = 0;
}

static int sim_take(struct tach_snapshot **out, struct tach_error *err)
{
	static char somewhere;

	*out = (struct tach_snapshot *)(void *)&somewhere;
	sim.taken++;
	if (sim.take)
		snprintf(err->text, sizeof err->text, "%s", sim.why);
	return sim.take;
}

/*
 * Two regions, "first" and "work"; quantities "time" and "instructions". The compiler must not
 * see which outputs a call leaves unset.
 */
static __attribute__((noinline)) int sim_region(const struct tach_snapshot *s, int r,
						struct tach_region_info *info)
{
	static const char *const names[] = {"first", "work"};

	(void)s;
	if (r < 0 || r > 1)
		return TACH_ERR_INVAL;
	CHECK(!info->size || info->size == sizeof *info, "%u", info->size);
	info->name = names[r];
	info->file = r ? sim.file : NULL;
	info->line = r ? sim.line : 0;
	info->calls = r ? sim.calls : sim.first_calls;
	return 0;
}

static int sim_nquantities(const struct tach_snapshot *s)
{
	(void)s;
	return 2;
}

static const char *sim_quantity(const struct tach_snapshot *s, int q)
{
	(void)s;
	CHECK(q >= 0 && q < 2, "%d", q);
	return q ? "instructions" : "time";
}

static __attribute__((noinline)) int sim_value(const struct tach_snapshot *s, int r, int q,
					       enum tach_part part, struct tach_value *v)
{
	(void)s;
	sim.region = r;
	sim.quantity = q;
	sim.part = (int)part;
	CHECK(v->value <= 0 && v->value >= 0 && !v->flags, "not zeros");
	if (!sim.value)
		*v = sim.v;
	return sim.value;
}

static void sim_free(struct tach_snapshot *s)
{
	(void)s;
	sim.freed++;
}

#define tach_regions_configure	  sim_configure
#define tach_regions_disable	  sim_disable
#define tach_regions_enabled()	  sim.enabled
#define tach_snapshot_take	  sim_take
#define tach_snapshot_free	  sim_free
#define tach_snapshot_region	  sim_region
#define tach_snapshot_nquantities sim_nquantities
#define tach_snapshot_quantity	  sim_quantity
#define tach_snapshot_value	  sim_value
#undef stderr
#define stderr captured
#include <tach/expect.h>

static void begin(void)
{
	dirty_stack();
	memset(&sim, 0, sizeof sim);
	memset(tach__expect_state(), 0, sizeof *tach__expect_state());
	sim.enabled = 1;
	sim.calls = 4;
	sim.v.value = 4000;
	unsetenv("TACH_EXPECT_REQUIRED");
	rewind(captured);
}

/* Compares the output since the previous call, and clears it. */
static int says(const char *text)
{
	int same;

	fputc(0, captured);
	fflush(captured);
	same = strcmp(said, text) == 0;
	if (!same)
		printf("# said: %s", said);
	rewind(captured);
	return same;
}

static void bounds(void)
{
	begin();
	CHECK(tach_expect("work", "instructions", 1000) == TACH_EXPECT_PASSED && says(""));
	CHECK(sim.region == 1 && sim.quantity == 1 && sim.part == TACH_PART_INCLUSIVE);
	CHECK(sim.taken == 1 && sim.freed == 1);
	sim.first_calls = 8;
	CHECK(tach_expect("first", "instructions", 500) == TACH_EXPECT_PASSED && !sim.region);
	CHECK(tach_expect("work", "time", 1000.5) == TACH_EXPECT_PASSED && sim.quantity == 0);
	CHECK(tach_expect("work", "instructions", 800) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: work: worse: 1000 instructions a call, more than 800 (+25.00 "
		   "%)\n"));
	CHECK(sim.freed == 4);
	sim.v.error = 800; /* in the value's unit */
	CHECK(tach_expect("work", "instructions", 1200) == TACH_EXPECT_PASSED && says(""));
	CHECK(tach_expect("work", "instructions", 1199) == TACH_EXPECT_CANNOT_TELL);
	CHECK(says("tach_expect: work: cannot tell: 1000 instructions a call, give or "
		   "take 200, at most 1199\n"));
	CHECK(tach_expect("work", "instructions", 800) == TACH_EXPECT_CANNOT_TELL);
	CHECK(says("tach_expect: work: cannot tell: 1000 instructions a call, give or "
		   "take 200, at most 800\n"));
	CHECK(tach_expect("work", "instructions", 799) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: work: worse: 1000 instructions a call, more than 799 (+25.16 "
		   "%)\n"));
	CHECK(tach__expect_state()->passed == 4 && tach__expect_state()->failed == 2 &&
	      tach__expect_state()->unknown == 2);
}

/* The message contains file and line if they are known. */
static void places(void)
{
	begin();
	sim.file = "p.c";
	sim.line = 7;
	CHECK(tach_expect("work", "instructions", 800) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: work: worse: 1000 instructions a call, more than 800 (+25.00 "
		   "%), p.c:7\n"));
	sim.file = "";
	CHECK(tach_expect("work", "instructions", 800) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: work: worse: 1000 instructions a call, more than 800 (+25.00 "
		   "%)\n"));
}

static void what_is_not_there(void)
{
	begin();
	CHECK(tach_expect("nosuch", "instructions", 1) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: nosuch: no such region was entered and left\n"));
	CHECK(tach_expect("first", "instructions", 1) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: first: no such region was entered and left\n"));
	CHECK(tach_expect("work", "cycles", 1) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: work: cycles is not counted\n"));
	sim.take = -1;
	sim.why = "no memory";
	CHECK(tach_expect("work", "time", 1) == TACH_EXPECT_FAILED);
	CHECK(says("tach_expect: work: no memory\n") && sim.freed == 3);
	CHECK(tach__expect_state()->failed == 4);
}

/* Values whose flags mean missing counts, and a value that is not available. */
static void not_counted_all_the_time(void)
{
	static const struct {
		uint32_t flags;
		int value, verdict;
	} cases[] = {
		{TACH_FLAG_LOST, 0, TACH_EXPECT_CANNOT_TELL},
		{TACH_FLAG_INCOMPLETE, 0, TACH_EXPECT_CANNOT_TELL},
		{TACH_FLAG_INCOMPLETE | TACH_FLAG_SCALED, 0, TACH_EXPECT_CANNOT_TELL},
		{TACH_FLAG_RESCHEDULED | TACH_FLAG_SYSCALL, 0, TACH_EXPECT_PASSED},
		{0, TACH_ERR_INVAL, TACH_EXPECT_CANNOT_TELL},
		{0, 1, TACH_EXPECT_CANNOT_TELL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		sim.v.flags = cases[i].flags;
		sim.value = cases[i].value;
		CHECK(tach_expect("work", "instructions", 1000) == cases[i].verdict, "%zu", i);
		CHECK(says(cases[i].verdict
				   ? "tach_expect: work: cannot tell: instructions was not "
				     "counted all the time\n"
				   : ""));
		CHECK(tach__expect_state()->unknown == (cases[i].verdict != 0));
	}
}

/*
 * A quantity that this machine cannot count gives "cannot tell"; a quantity that no machine can
 * count is a failure.
 */
static void counting(void)
{
	static const int absent[] = {TACH_ERR_NOHARDWARE, TACH_ERR_PERMISSION, TACH_ERR_NOTSUPP,
				     TACH_ERR_NOCOUNTER};

	begin();
	tach_expect_count("instructions,branches");
	CHECK(strcmp(sim.events, "instructions,branches") == 0 && says("") && !sim.disabled);
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
		begin();
		sim.configure = absent[i];
		sim.why = "no PMU here";
		tach_expect_count("instructions");
		CHECK(sim.disabled == 1 && !tach__expect_state()->failed && says(""));
		CHECK(tach_expect("work", "instructions", 1) == TACH_EXPECT_CANNOT_TELL);
		CHECK(says("tach_expect: work: cannot tell: no PMU here\n") && !sim.taken);
		/* TACH_EVENTS is set in the environment, with or without these events */
		sim.enabled = 1;
		CHECK(tach_expect("work", "cycles", 1) == TACH_EXPECT_CANNOT_TELL &&
		      sim.taken == 1);
		CHECK(says("tach_expect: work: cannot tell: cycles is not counted: no PMU "
			   "here\n"));
		CHECK(tach_expect("work", "time", 1000) == TACH_EXPECT_PASSED);
		sim.configure = 0; /* counting begins here */
		tach_expect_count("instructions");
		CHECK(tach_expect("work", "cycles", 1) == TACH_EXPECT_FAILED);
		CHECK(says("tach_expect: work: cycles is not counted\n"));
	}
	begin();
	sim.configure = TACH_ERR_NOTFOUND;
	sim.why = "no event 'instrs'";
	tach_expect_count("instrs");
	CHECK(!sim.disabled && tach__expect_state()->failed == 1);
	CHECK(says("tach_expect_count: no event 'instrs'\n"));
}

/* TACH_EXPECT_REQUIRED: "cannot tell" is no success. */
static void required_makes_cannot_tell_a_failure(void)
{
	static const struct {
		const char *value;
		int verdict;
	} cases[] = {{"1", TACH_EXPECT_FAILED},
		     {"yes", TACH_EXPECT_FAILED},
		     {"00", TACH_EXPECT_FAILED},
		     {"0", TACH_EXPECT_CANNOT_TELL},
		     {"", TACH_EXPECT_CANNOT_TELL}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		setenv("TACH_EXPECT_REQUIRED", cases[i].value, 1);
		sim.v.flags = TACH_FLAG_LOST;
		CHECK(tach_expect("work", "time", 1) == cases[i].verdict, "'%s'",
		      cases[i].value);
		CHECK(says(
			"tach_expect: work: cannot tell: time was not counted all the time\n"));
		CHECK(tach_expect_done() == cases[i].verdict);
	}
}

/* exit statuses of main: failed, cannot tell, passed */
static void exit_status_of_the_program(void)
{
	static const int cases[][4] = {
		{1, 1, 1, TACH_EXPECT_FAILED},	    {1, 0, 0, TACH_EXPECT_FAILED},
		{0, 1, 1, TACH_EXPECT_CANNOT_TELL}, {0, 1, 0, TACH_EXPECT_CANNOT_TELL},
		{0, 0, 1, TACH_EXPECT_PASSED},	    {0, 0, 0, TACH_EXPECT_FAILED},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		tach__expect_state()->failed = cases[i][0];
		tach__expect_state()->unknown = cases[i][1];
		tach__expect_state()->passed = cases[i][2];
		CHECK(tach_expect_done() == cases[i][3], "%zu", i);
		CHECK(says(i == 5 ? "tach_expect_done: nothing was expected\n" : ""));
	}
	CHECK(TACH_EXPECT_PASSED == 0 && TACH_EXPECT_FAILED == 1 &&
	      TACH_EXPECT_CANNOT_TELL == 77 && TACH_EXPECT_SKIPPED == 77);
}

int main(void)
{
	captured = open_memstream(&said, &said_size);
	if (!captured)
		return 1;
	CASE(bounds);
	CASE(places);
	CASE(what_is_not_there);
	CASE(not_counted_all_the_time);
	CASE(counting);
	CASE(required_makes_cannot_tell_a_failure);
	CASE(exit_status_of_the_program);
	fclose(captured);
	free(said);
	return check_done();
}

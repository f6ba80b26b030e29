/* SPDX-License-Identifier: MIT */
/*
 * Choosing, making and activating the set to count: the order of the steps, and the cleanup if
 * one fails.
 */
#include "tests/unit/region/configuring.h"

/* ---- put into use ---- */

static void the_first(void)
{
	struct tach__registry *r = &tach__registry;

	begin();
	CHECK(choose(SOME) == 0 && were("close " MADE PUBLISHED));
	CHECK(r->config == listed && listed->set == our_set && listed->generation == 42);
	CHECK(r->generation == 42 && r->enabled == 1 && !*r->only && !*listed->note);
	CHECK(tach_regions_enabled() == 1 && sets_freed == 0 && !given_back);
}

/* The new configuration is activated before the previous one is freed. */
static void new_config_replaces_the_old_one(void)
{
	struct tach__config *first;

	begin();
	CHECK(choose(SOME) == 0);
	first = listed;
	CHECK(choose((struct tach_regions_options){.events = "b", .only = "x*"}) == 0);
	CHECK(were("close " MADE REPLACED) && first->refs == 0 && listed->refs == 1);
	CHECK(tach__registry.config == listed && listed != first);
	CHECK(tach__registry.generation == 43 && strcmp(tach__registry.only, "x*") == 0);
}

static void in_turns(void)
{
	begin();
	planned = 1;
	set_note = "set's";
	odd_said = "odd's";
	strcpy(the_plan.note, "plan's");
	CHECK(choose(SOME) == 0 && were("close " MADE "ring " PUBLISHED));
	CHECK(strcmp(listed->note, "set's; plan's; odd's") == 0, "%s", listed->note);
	begin();
	planned = 1;
	CHECK(choose(SOME) == 0 && !*listed->note);
	/* A note that does not fit is truncated. */
	begin();
	odd_said = "odd's";
	static char note[sizeof listed->note];
	memset(note, 'n', sizeof note);
	note[sizeof note - 1] = '\0';
	set_note = note;
	for (int room = 0; room < 10; room++) {
		CHECK(choose(SOME) == 0);
		CHECK(strlen(listed->note) == (room < 7 ? sizeof note - 1
							: sizeof note - 1 - (unsigned)room + 7),
		      "%d: %zu", room, strlen(listed->note));
		CHECK(listed->refs == 1 && listed->count == 0);
		note[sizeof note - 2 - (unsigned)room] = '\0';
	}
}

/* ---- refused ---- */

/* If a step fails, earlier steps are undone, and the counted set stays. */
static void steps_that_fail(void)
{
	static const struct {
		const char *step, *then;
		int own; /* number of sets that the library owns at that step */
	} all[] = {
		{"plan", "close plan forget ", 0},
		{"set", "close plan set forget ", 0},
		{"worst", "close plan set clock stay make worst forget ", 1},
		{"split", "close " MADE "forget ", 1},
		{"ring", "close " MADE "ring forget ", 1},
	};

	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		for (int given = 0; given < 2; given++) {
			struct tach_regions_options opt = {.worst = "w",
							   .by = "b",
							   .events = given ? NULL : "a",
							   .set = given ? our_set : NULL};

			begin();
			planned = 1;
			failing = all[i].step;
			error.column = 9;
			CHECK(choose(opt) == failure && error.code == failure);
			CHECK(were(all[i].then), "%s", all[i].step);
			CHECK(strncmp(error.text, all[i].step, strlen(all[i].step)) == 0);
			CHECK(!error.line && error.column == (i == 1 ? 5 : 0));
			CHECK(given_back == made && made == all[i].own &&
			      sets_freed == (given ? 0 : all[i].own));
			CHECK(!tach__registry.config && tach__registry.generation == 41);
		}
	for (int given = 0; given < 2; given++) {
		begin();
		no_config = 1;
		error.line = error.column = 9;
		CHECK(choose((struct tach_regions_options){.set = given ? our_set : NULL,
							   .events = given ? NULL : "a"}) ==
		      TACH_ERR_NOMEM);
		CHECK(error.code == TACH_ERR_NOMEM && !error.line && !error.column);
		CHECK(were("close plan set clock stay make forget ") && sets_freed == !given);
	}
}

static int is_refused(struct tach_regions_options opt, int code)
{
	error.line = error.column = 9;
	return choose(opt) == code && error.code == code && !error.line && !error.column &&
	       were("");
}

static void options(void)
{
	static char globs[TACH__ONLY_SIZE + 1];
	struct tach__config other = {.set = NULL}, theirs = {.set = our_set, .next = &other};

	begin();
	CHECK(is_refused((struct tach_regions_options){.interrupts = 1u << 20},
			 TACH_ERR_INVAL));
	CHECK(choose((struct tach_regions_options){.interrupts = TACH_SET_CORRECT |
								 TACH_SET_INTERRUPTS}) == 0);
	begin();
	memset(globs, 'g', TACH__ONLY_SIZE - 1);
	CHECK(choose((struct tach_regions_options){.only = globs}) == 0);
	CHECK(strcmp(tach__registry.only, globs) == 0);
	begin();
	globs[TACH__ONLY_SIZE - 1] = 'g';
	CHECK(is_refused((struct tach_regions_options){.only = globs}, TACH_ERR_TOOMANY));
	CHECK(strstr(error.text, " 1023 bytes"), "%s", error.text);
	/* The set is in use, or was used and still has references. */
	other.set = NULL;
	tach__registry.configs = &theirs;
	CHECK(is_refused((struct tach_regions_options){.set = our_set}, TACH_ERR_INVAL));
	theirs.set = NULL;
	other.set = our_set;
	CHECK(is_refused((struct tach_regions_options){.set = our_set}, TACH_ERR_INVAL));
	other.set = NULL;
	CHECK(choose((struct tach_regions_options){.set = our_set}) == 0 && !sets_freed);
	tach__registry.configs = NULL;
	begin();
	CHECK(tach_regions_configure(&(struct tach_regions_options){.size = 3}, &error) ==
		      TACH_ERR_INVAL &&
	      were(""));
}

/*
 * Inside a region the call fails; before that it looks for a region of the calling thread that
 * was left open.
 */
static void inside_a_region(void)
{
	static struct {
		struct tach__hot hot;
		char rest[TACH__STACK_AT + 64];
	} at;
	struct tach__slot slot = {.id = 17};

	begin();
	the_record.hot = &at.hot;
	hot.record = &the_record;
	at.hot.state = TACH__STATE(1, 0, 0);
	CHECK(choose(SOME) == 0 && were("hold release close " MADE PUBLISHED) && healed == 1);
	begin();
	the_record.hot = &at.hot;
	hot.record = &the_record;
	at.hot.state = TACH__STATE(1, 0, 1);
	*tach__stack(&at.hot, at.hot.state) = &slot;
	error.line = error.column = 9;
	CHECK(choose(SOME) == TACH_ERR_STATE && error.code == TACH_ERR_STATE);
	CHECK(!error.line && !error.column && strstr(error.text, "'open one'"));
	CHECK(were("hold release ") && healed == 1);
}

/* ---- switching off permanently ---- */

static void regions_are_switched_off(void)
{
	begin();
	CHECK(choose(SOME) == 0);
	steps[0] = '\0';
	tach_regions_disable();
	CHECK(were("interrupt disarm ") && !tach_regions_enabled() && tach__registry.config);
	CHECK(choose(SOME) == 0 && tach_regions_enabled() == 1);
	steps[0] = '\0';
	tach__regions_freeze();
	tach_regions_disable();
	CHECK(were("") && tach_regions_enabled() && tach__regions_are_frozen());
	CHECK(choose(SOME) == 0 && choose((struct tach_regions_options){.set = our_set}) == 0);
	CHECK(were("") && sets_freed == 1);
	CHECK(tach_regions_configure(NULL, NULL) == 0 && were("") && sets_freed == 1);
}

static void regions_are_switched_off_for_good(void)
{
	uint32_t was = tach__beacon.state;

	begin();
	CHECK(choose(SOME) == 0);
	steps[0] = '\0';
	tach__regions_freeze();
	tach__regions_end();
	CHECK(were("interrupt disarm ") && tach__beacon.state == TACH__BEACON_EXCLUDED);
	tach__beacon.state = was;
}

/* ---- another copy of the library owns the regions ---- */

static int asked;

static int owner_configure(const struct tach_regions_options *opt, struct tach_error *err)
{
	CHECK(err == &error);
	asked++;
	return opt ? 21 : 22;
}

static void owner_disable(void)
{
	asked++;
}

static int owner_enabled(void)
{
	asked++;
	return 33;
}

static void another_copy(void)
{
	struct tach__beacon theirs = {.version = TACH_VERSION_STRING,
				      .configure = owner_configure,
				      .disable = owner_disable,
				      .enabled = owner_enabled};

	begin();
	asked = 0;
	the_owner = &theirs;
	CHECK(choose(SOME) == 21 && tach_regions_configure(NULL, &error) == 22);
	CHECK(choose((struct tach_regions_options){.set = our_set}) == 21 && asked == 3);
	tach_regions_disable();
	CHECK(asked == 4 && tach_regions_enabled() == 33 && asked == 5);
	/*
	 * A set belongs to the copy that made it, because another version may have another
	 * layout.
	 */
	strcpy(theirs.version, "0");
	CHECK(choose((struct tach_regions_options){.set = our_set}) == TACH_ERR_STATE);
	CHECK(choose(SOME) == 21 && tach_regions_configure(NULL, &error) == 22 && asked == 7);
	is_alone = 1;
	CHECK(choose(SOME) == TACH_ERR_STATE && asked == 7);
	the_owner = NULL;
	CHECK(choose(SOME) == TACH_ERR_STATE && were(""));
}

/* Constructors of the program may run before the library's. */
static int claimed;

static __attribute__((constructor(101))) void before_the_library(void)
{
	struct tach__beacon theirs = {.configure = owner_configure};

	begin();
	the_owner = &theirs;
	claims = 0;
	CHECK(choose(SOME) == 21);
	claimed = claims;
}

static void it_is_known_who_has_the_regions(void)
{
	CHECK(claimed == 1 && claims == 1);
}

int main(void)
{
	CASE(it_is_known_who_has_the_regions);
	CASE(the_first);
	CASE(new_config_replaces_the_old_one);
	CASE(in_turns);
	CASE(steps_that_fail);
	CASE(options);
	CASE(inside_a_region);
	CASE(regions_are_switched_off);
	CASE(regions_are_switched_off_for_good);
	CASE(another_copy);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* The set that regions count, chosen from scripted sets: requested and automatic events. */
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/region/region.h"
#include "core/set/set.h"
#include "tests/check.h"

/* The arguments of each call that makes a set, and its scripted result. */
static struct set {
	char events[200], metrics[300], missing[300];
	uint32_t flags;
	int count, interrupts;
} sets[16];
static int made, freed, readers; /* made: since a set was chosen */

/*
 * Results by number of requested events: whether the machine counts them, and whether they
 * open.
 */
static int counted[5], opens[5], no_memory, interrupts_fit, emulated;
static const char *note_of_run;

static struct set *of(const struct tach_set *set)
{
	return (struct set *)(uintptr_t)set;
}

static int events_in(const char *events)
{
	int n = 0;

	for (; events && *events; events++)
		n += *events != ',' && (events[1] == ',' || !events[1]);
	return n;
}

static int sim_create(const struct tach_set_options *opt, struct tach_set **out,
		      struct tach_error *err)
{
	int n = events_in(opt->events);
	struct set *s = &sets[made];

	CHECK(opt->size == sizeof *opt && opt->pmu == -1 && !opt->nattrs && n <= 4);
	*out = NULL;
	if (no_memory && made == no_memory - 1)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	made++;
	snprintf(s->events, sizeof s->events, "%s", opt->events ? opt->events : "");
	snprintf(s->metrics, sizeof s->metrics, "%s", opt->metrics ? opt->metrics : "");
	s->flags = opt->flags;
	s->count = counted[n];
	s->missing[0] = '\0';
	if (counted[n] < n)
		snprintf(s->missing, sizeof s->missing, "cycles: none of %d%s", n,
			 counted[n] ? ""
			 : emulated ? "; branches likewise"
				    : "; instructions: else");
	s->interrupts = strcmp(s->events, "interrupts") == 0 ? 0 : -1;
	if (opt->flags & TACH__SET_WITH_INTERRUPTS)
		s->interrupts = s->count++;
	*out = (struct tach_set *)s;
	return 0;
}

static void sim_free(struct tach_set *set)
{
	freed += set != NULL;
}

static int sim_count(const struct tach_set *set)
{
	return of(set)->count;
}

static const char *sim_missing(const struct tach_set *set)
{
	return of(set)->missing;
}

static int sim_interrupts(const struct tach_set *set)
{
	return of(set)->interrupts;
}

static void sim_miss(struct tach_set *set, const char *name, const char *why)
{
	CHECK(strcmp(name, "interrupts") == 0);
	strcat(of(set)->missing, why);
}

static int sim_open(const struct tach_set *set, struct tach_reader **out,
		    struct tach_error *err)
{
	int n = events_in(of(set)->events);

	CHECK(of(set)->count > 0);
	if (!opens[n] || (of(set)->interrupts >= 0 && !interrupts_fit))
		return tach__error(err, TACH_ERR_NOCOUNTER, 0, 0, "no counters free for %d",
				   of(set)->count);
	*out = (struct tach_reader *)of(set);
	readers++;
	return 0;
}

static void sim_close(struct tach_reader *reader)
{
	CHECK(reader);
	readers--;
}

static const uint64_t *sim_emulated(void)
{
	static const uint64_t counts[2];

	return emulated ? counts : NULL;
}

static const char *sim_environment(const char *name)
{
	CHECK(strcmp(name, "TACH_RUN_NOTE") == 0);
	return note_of_run;
}

#define tach_set_create	      sim_create
#define tach_set_free	      sim_free
#define tach_set_count	      sim_count
#define tach_set_missing      sim_missing
#define tach_set_interrupts   sim_interrupts
#define tach__set_miss	      sim_miss
#define tach_reader_open      sim_open
#define tach_reader_close     sim_close
#define tach__emulated_counts sim_emulated
#define tach__environment     sim_environment
#include "core/region/counted.c"

static char told[512];
static struct tach_set *had;
static struct tach_error error;

static void begin(void)
{
	no_memory = emulated = 0;
	interrupts_fit = 1;
	for (int n = 0; n <= 4; n++) {
		counted[n] = n;
		opens[n] = 1;
	}
	note_of_run = NULL;
}

/* Returns the code; all sets except the chosen one, and all readers, must be freed. */
static int choose(struct tach_regions_options opt)
{
	int code;

	memset(told, 0, sizeof told);
	had = NULL;
	made = freed = 0;
	error = (struct tach_error)TACH_ERROR_INIT;
	code = tach__counted_set(&had, &opt, told, sizeof told, &error);
	CHECK(!readers);
	CHECK((code == 0) == (had != NULL) || had == opt.set);
	CHECK(freed == made - (had != NULL && had != opt.set), "%d of %d", freed, made);
	return code;
}

#define UNASKED ((struct tach_regions_options){0})

/* Each metric needs the events that it names. */
static void default_events_are_counted(void)
{
	begin();
	CHECK(choose(UNASKED) == 0 && made == 1 && !*told);
	CHECK(of(had)->flags == TACH_SET_OPTIONAL && of(had)->count == 4);
	CHECK(strstr(of(had)->events, "cycles,instructions,branch_misses=branch-misses,"
				      "cache_misses=cache-misses"));
	CHECK(strstr(of(had)->metrics, "ipc = instructions / cycles;"));
	CHECK(strstr(of(had)->metrics,
		     "branch_misses_per_1000 = 1000 * branch_misses / instructions;"));
	CHECK(strstr(of(had)->metrics,
		     "cache_misses_per_1000 = 1000 * cache_misses / instructions;"));
	begin();
	counted[4] = 3;
	CHECK(choose(UNASKED) == 0 && made == 1 && strcmp(told, "cycles: none of 4") == 0);
}

/*
 * The first events that fit are counted, with the metrics that they permit; the note gives the
 * limit's reason.
 */
static void as_many_as_fit(void)
{
	for (int fit = 1; fit <= 3; fit++) {
		char why[100];

		begin();
		for (int n = fit + 1; n <= 4; n++)
			opens[n] = 0;
		CHECK(choose(UNASKED) == 0 && made == 5 - fit && of(had)->count == fit);
		CHECK(of(had)->flags == TACH_SET_OPTIONAL);
		sprintf(why,
			"Only the first %d of the 4 usual events are counted: "
			"no counters free for %d",
			fit, fit + 1);
		CHECK(strcmp(told, why) == 0, "%s", told);
		CHECK(!strstr(of(had)->metrics, "ipc") == (fit < 2));
		CHECK(!strstr(of(had)->metrics, "branch") == (fit < 3));
		CHECK(!strstr(of(had)->metrics, "cache"));
		CHECK(error.text[0] == '\0');
	}
	begin();
	opens[4] = 0;
	counted[3] = 2;
	CHECK(choose(UNASKED) == 0 && of(had)->count == 2);
	CHECK(strncmp(told, "cycles: none of 3; Only the first 3 of the 4 ", 45) == 0, "%s",
	      told);
}

static const char *none_because(const char *why)
{
	static char text[300];

	sprintf(text, "No hardware counters: %s. Regions have the clock alone; software", why);
	return text;
}

static int starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void without_events_the_clock_runs(void)
{
	begin();
	for (int n = 1; n <= 4; n++)
		counted[n] = 0;
	/*
	 * Each list is tried once, and the first error is reported; then only the clock is
	 * counted.
	 */
	CHECK(choose(UNASKED) == 0 && made == 2 && of(had)->count == 0 && !of(had)->flags);
	CHECK(starts_with(told, none_because("none of 4")), "%s", told);
	CHECK(strstr(told, "TACH_EVENTS=page-faults,context-switches"));
	CHECK(!*of(had)->events && !*of(had)->metrics);
	/* Counters exist, but other users have them. */
	begin();
	for (int n = 1; n <= 4; n++)
		opens[n] = 0;
	CHECK(choose(UNASKED) == 0 && made == 5 && of(had)->count == 0);
	CHECK(starts_with(told, none_because("no counters free for 1")), "%s", told);
	begin();
	no_memory = 1;
	CHECK(choose(UNASKED) == TACH_ERR_NOMEM);
}

/* Found out by `tach run`. */
static void note_of_the_parent_is_kept(void)
{
	begin();
	note_of_run = "as the parent said";
	CHECK(choose(UNASKED) == 0 && made == 1 && of(had)->count == 0 && !of(had)->flags);
	CHECK(strcmp(told, note_of_run) == 0);
}

static void emulators(void)
{
	static struct set given = {.count = 1, .events = "e"};

	begin();
	emulated = 1;
	CHECK(choose(UNASKED) == 0 && of(had)->count == 2 && made == 1);
	CHECK(starts_with(of(had)->events, "instructions,branches"));
	CHECK(starts_with(told, "Counted by an emulator"));
	note_of_run = "said";
	CHECK(choose(UNASKED) == 0 && starts_with(told, "said; Counted by an emulator"));
	note_of_run = NULL;
	counted[1] = counted[2] = 0;
	CHECK(choose(UNASKED) == 0 && starts_with(told, none_because("none of 2")), "%s", told);
	opens[1] = 0;
	CHECK(choose((struct tach_regions_options){.set = (struct tach_set *)&given}) ==
	      TACH_ERR_NOCOUNTER);
	CHECK(!*told);
}

/* A note that does not fit is shortened. */
static void notes_are_cut(void)
{
	struct tach_regions_options opt = {0};

	begin();
	emulated = 1;
	note_of_run = "as the parent said";
	for (size_t room = 1; room < 40; room++) {
		made = freed = 0;
		memset(told, 'x', sizeof told);
		CHECK(tach__counted_set(&had, &opt, told, room, NULL) == 0);
		CHECK(strlen(told) == room - 1 && told[room] == 'x');
	}
}

/* ---- asked for ---- */

static void by_name(void)
{
	begin();
	CHECK(choose((struct tach_regions_options){.events = "a,b", .metrics = "m = a"}) == 0);
	CHECK(made == 1 && of(had)->count == 2 && !of(had)->flags && !*told);
	CHECK(strcmp(of(had)->events, "a,b") == 0 && strcmp(of(had)->metrics, "m = a") == 0);
	begin();
	CHECK(choose((struct tach_regions_options){.metrics = "m = a"}) == 0 && made == 1);
	CHECK(!*of(had)->events && *of(had)->metrics);
	/* Without events, nothing has to open. */
	begin();
	opens[0] = 0;
	CHECK(choose((struct tach_regions_options){.events = ""}) == 0 && made == 1);
	begin();
	counted[2] = 1;
	CHECK(choose((struct tach_regions_options){.events = "a,b"}) == 0);
	CHECK(strcmp(told, "cycles: none of 2") == 0);
	begin();
	opens[2] = 0;
	CHECK(choose((struct tach_regions_options){.events = "a,b"}) == TACH_ERR_NOCOUNTER);
	CHECK(strcmp(error.text, "no counters free for 2") == 0 && made == 1);
	begin();
	no_memory = 1;
	CHECK(choose((struct tach_regions_options){.events = "a,b"}) == TACH_ERR_NOMEM);
}

static void by_set(void)
{
	static struct set given = {.count = 1, .events = "e", .missing = "cycles: gone"};
	struct tach_regions_options opt = {.set = (struct tach_set *)&given};

	begin();
	CHECK(choose(opt) == 0 && had == opt.set && !made && strcmp(told, "cycles: gone") == 0);
	opens[1] = 0;
	CHECK(choose(opt) == TACH_ERR_NOCOUNTER && strcmp(told, "cycles: gone") == 0);
	CHECK(strcmp(error.text, "no counters free for 1") == 0);
}

/* Interrupts do not displace other events. */
static void interrupts(void)
{
	struct tach_regions_options opt = {.events = "a,b", .interrupts = TACH_SET_CORRECT};

	begin();
	CHECK(choose(opt) == 0 && made == 1 && of(had)->flags == TACH_SET_CORRECT);
	begin();
	interrupts_fit = 0;
	CHECK(choose(opt) == 0 && made == 2 && of(had)->flags == 0 && of(had)->count == 2);
	CHECK(strcmp(told, TACH__NO_ROOM_FOR_INTERRUPTS) == 0);
	/* They alone. */
	opt.events = "";
	CHECK(choose(opt) == 0 && made == 2 && of(had)->count == 0);
	/* By name. */
	opens[1] = 0;
	CHECK(choose((struct tach_regions_options){.events = "interrupts"}) ==
		      TACH_ERR_NOCOUNTER &&
	      made == 1);
	opt.events = "a,b";
	begin();
	interrupts_fit = opens[2] = 0;
	CHECK(choose(opt) == TACH_ERR_NOCOUNTER && made == 2);
	begin();
	opt.events = NULL;
	CHECK(choose(opt) == 0 && of(had)->flags == (TACH_SET_CORRECT | TACH_SET_OPTIONAL));
	begin();
	interrupts_fit = 0;
	CHECK(choose(opt) == 0 && of(had)->flags == TACH_SET_OPTIONAL && of(had)->count == 4);
	CHECK(strcmp(told, TACH__NO_ROOM_FOR_INTERRUPTS) == 0);
}

int main(void)
{
	CASE(default_events_are_counted);
	CASE(as_many_as_fit);
	CASE(without_events_the_clock_runs);
	CASE(note_of_the_parent_is_kept);
	CASE(emulators);
	CASE(notes_are_cut);
	CASE(by_name);
	CASE(by_set);
	CASE(interrupts);
	return check_done();
}

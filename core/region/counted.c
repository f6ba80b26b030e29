/* SPDX-License-Identifier: MIT */
/* The set that regions count: the events of the options, or the default events that can be
 * opened. */
#include <stdio.h>
#include <string.h>
#include "core/os/emulator.h"
#include "core/os/environment.h"
#include "core/region/region.h"
#include "core/set/set.h"

/* Checks that the calling thread can open the set, so that other threads do not try in vain. */
static int try_open(const struct tach_set *set, struct tach_error *err)
{
	struct tach_reader *reader;
	int code;

	if (tach_set_count(set) == 0)
		return 0;
	code = tach_reader_open(set, &reader, err);
	if (code == 0)
		tach_reader_close(reader);
	return code;
}

static int make_set(struct tach_set **out, const struct tach_set_options *opt,
		    struct tach_error *err)
{
	int code = tach_set_create(opt, out, err), counts_them;

	if (code || (code = try_open(*out, err)) == 0)
		return code;
	counts_them = tach_set_interrupts(*out) >= 0;
	tach_set_free(*out);
	*out = NULL;
	if (counts_them && opt->flags & TACH__SET_WITH_INTERRUPTS) {
		struct tach_set_options without = *opt;

		without.flags &= ~(uint32_t)TACH__SET_WITH_INTERRUPTS;
		code = make_set(out, &without, err);
		if (code == 0)
			tach__set_miss(*out, "interrupts", TACH__NO_ROOM_FOR_INTERRUPTS);
	}
	return code;
}

#define N_OF(array) ((int)(sizeof(array) / sizeof *(array)))

/* The default events. With n counters, the set has the first n of them. */
struct usual {
	/* metric: a formula over this event and earlier ones; "": no metric */
	const char *event, *metric;
};
static const struct usual USUAL[] = {
	{"cycles", ""},
	{"instructions", "ipc = instructions / cycles"},
	{"branch_misses=branch-misses",
	 "branch_misses_per_1000 = 1000 * branch_misses / instructions"},
	{"cache_misses=cache-misses",
	 "cache_misses_per_1000 = 1000 * cache_misses / instructions"},
};
static const struct usual EMULATED_USUAL[] = {{"instructions", ""}, {"branches", ""}};
static const char EMULATED[] = "Counted by an emulator (QEMU's user mode): what the program "
			       "executes at user level, on the "
			       "processor that the emulator shows it. Time is the emulator's, "
			       "many times the machine's.";

static int first_of(struct tach_set **out, const struct usual *usual, int n, uint32_t flags,
		    struct tach_error *err)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	char events[128] = "", metrics[256] = "";

	for (int i = 0; i < n; i++) {
		size_t e = strlen(events), m = strlen(metrics);

		snprintf(events + e, sizeof events - e, "%s,", usual[i].event);
		snprintf(metrics + m, sizeof metrics - m, "%s;", usual[i].metric);
	}
	opt.events = events;
	opt.metrics = metrics;
	opt.flags = TACH_SET_OPTIONAL | flags;
	return make_set(out, &opt, err);
}

/* Returns the reason why the first event of `usual` cannot be counted. In the list of all
 * reasons, the name of the second event comes next. */
static const char *reason_of_first(const struct tach_set *set, const struct usual *usual,
				   char *text, size_t size)
{
	char second[64], *end;

	snprintf(text, size, "%s", tach_set_missing(set));
	snprintf(second, sizeof second, "; %s", usual[1].event);
	end = strstr(text, second);
	if (end)
		*end = '\0';
	return text;
}

/* Writes, as a clause, the reason why even the first event cannot be counted. */
static void write_reason(const char *text, char *to, size_t size)
{
	if (strncmp(text, "cycles: ", 8) == 0)
		text += 8;
	snprintf(to, size,
		 "No hardware counters: %s. Regions have the clock alone; software events, "
		 "which "
		 "cost a system call at each end of a region, are counted when asked for: "
		 "TACH_EVENTS=page-faults,context-switches",
		 text);
}

/*
 * Makes the default set. It leaves out events that cannot be counted at all. If another
 * profiler or the host uses counters, the other events may not fit together; then the set has
 * fewer. Software events do not replace them: system calls at both edges would be most of a
 * small region's time, and would evict its data from the caches.
 */
static int default_set(struct tach_set **out, uint32_t flags, char *note, size_t size)
{
	const int is_emulated = tach__emulated_counts() != NULL;
	const struct usual *usual = is_emulated ? EMULATED_USUAL : USUAL;
	int all = is_emulated ? N_OF(EMULATED_USUAL) : N_OF(USUAL), code = 0;
	struct tach_set_options none = TACH_SET_OPTIONS_INIT;
	char reason[512];
	const char *told = tach__environment("TACH_RUN_NOTE");
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;

	/* `tach run` has tried this for all processes that it starts, and passes the result
	 * on. */
	if (told) {
		snprintf(note, size, "%s", told);
		return make_set(out, &none, NULL);
	}
	for (int n = all; n > 0; n = code ? n - 1 : 0) {
		code = first_of(&set, usual, n, flags, &err);
		if (code == 0 && tach_set_count(set) > 0) {
			const char *missing = tach_set_missing(set);

			if (n == all)
				snprintf(note, size, "%s", missing);
			else
				snprintf(note, size,
					 "%s%sOnly the first %d of the %d usual events are "
					 "counted: %s",
					 missing, *missing ? "; " : "", n, all, err.text);
			*out = set;
			return 0;
		}
		write_reason(code ? err.text
				  : reason_of_first(set, usual, reason, sizeof reason),
			     note, size);
		tach_set_free(set);
	}
	return make_set(out, &none, NULL);
}

static int counted_set(struct tach_set **out, const struct tach_regions_options *opt,
		       char *note, size_t size, struct tach_error *err)
{
	struct tach_set_options so = TACH_SET_OPTIONS_INIT;
	int code;

	if (opt->set) {
		*out = opt->set;
		snprintf(note, size, "%s", tach_set_missing(opt->set));
		return try_open(opt->set, err);
	}
	if (!opt->events && !opt->metrics)
		return default_set(out, opt->interrupts, note, size);
	so.events = opt->events && *opt->events ? opt->events : NULL;
	so.metrics = opt->metrics;
	so.flags = opt->interrupts;
	code = make_set(out, &so, err);
	if (code == 0)
		snprintf(note, size, "%s", tach_set_missing(*out));
	return code;
}

int tach__counted_set(struct tach_set **out, const struct tach_regions_options *opt, char *note,
		      size_t size, struct tach_error *err)
{
	int code = counted_set(out, opt, note, size, err);
	size_t used = strlen(note);

	if (code == 0 && tach__emulated_counts())
		snprintf(note + used, size - used, "%s%s", used ? "; " : "", EMULATED);
	return code;
}

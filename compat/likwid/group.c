/* SPDX-License-Identifier: MIT */
/* Groups of events, by LIKWID's names and ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/os/environment.h"
#include "compat/likwid/state.h"

void lw_group_misses(struct lw_group *group, const char *what, const char *why)
{
	size_t used = strlen(group->missing);

	snprintf(group->missing + used, sizeof group->missing - used, "%s%s%s%s",
		 used ? "; " : "", what, *why ? ": " : "", why);
}

void lw_group_free(struct lw_group *group)
{
	tach_set_free(group->set);
	free(group->text);
}

/* ---- one event ---- */

/* Returns 1 for a LIKWID counter. *of_thread: 1 if each thread has its own such counter. */
static int is_counter(const char *word, int *of_thread)
{
	static const char *const threads[] = {"FIXC", "PMC", "TMA"};
	static const char *const others[] = {"UPMC", "CPMC", "DFC",  "PWR",  "TMP",  "VTG",
					     "MBOX", "BBOX", "CBOX", "SBOX", "RBOX", "QBOX",
					     "PBOX", "UBOX", "WBOX", "IBOX", "IRP",  "EUBOX"};
	size_t n = strcspn(word, "0123456789:");

	if (word[n] < '0' || word[n] > '9')
		return 0;
	for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
		if (strlen(threads[i]) == n && strncmp(threads[i], word, n) == 0)
			return *of_thread = 1;
	*of_thread = 0;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strlen(others[i]) == n && strncmp(others[i], word, n) == 0)
			return 1;
	return 0;
}

/* Converts options to modifiers. Returns 0 if an option has no equivalent modifier. */
static int options(char *words, char *to, size_t size)
{
	static const struct {
		const char *name, *modifier;
	} known[] = {{"EDGEDETECT", "e"}, {"INVERT", "i"}, {"THRESHOLD", "c"}};
	size_t n = 0;

	*to = '\0';
	for (char *rest, *w = strtok_r(words, ":", &rest); w; w = strtok_r(NULL, ":", &rest)) {
		char *value = strchr(w, '=');
		size_t i;

		if (value)
			*value++ = '\0';
		if (strcmp(w, "KERNEL") == 0 || strcmp(w, "COUNT_KERNEL") == 0) {
			n += (size_t)snprintf(to + n, size - n, ":u:k");
			continue;
		}
		for (i = 0; i < 3 && strcmp(known[i].name, w) != 0; i++)
			;
		if (i == 3 || n >= size)
			return 0;
		n += (size_t)snprintf(to + n, size - n, ":%s=%ld", known[i].modifier,
				      value ? strtol(value, NULL, 0) : 1);
	}
	return n < size;
}

static int encodes(const char *event, struct tach_error *err)
{
	struct tach_event code = {.size = sizeof code};

	return tach_event_encode(event, NULL, &code, err) == 0;
}

/*
 * BR_INST_RETIRED_ALL_BRANCHES is an event and a umask: the table says which underscore
 * separates them.
 */
static int resolve(const char *name, const char *modifiers, char *to, size_t size,
		   struct tach_error *err)
{
	static const char *const same[][2] = {{"INSTR_RETIRED_ANY", "instructions"},
					      {"INST_RETIRED_ANY", "instructions"},
					      {"CPU_CLK_UNHALTED_CORE", "cycles"},
					      {"ACTUAL_CPU_CLOCK", "cycles"},
					      {"CPU_CLK_UNHALTED_REF", "ref-cycles"}};
	struct tach_error other = TACH_ERROR_INIT;
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (strcmp(same[i][0], name) == 0)
			name = same[i][1];
	if ((size_t)snprintf(to, size, "%s%s", name, modifiers) >= size)
		return 0;
	if (encodes(to, err))
		return 1;
	for (size_t i = length; i-- > 1;) {
		if (name[i] != '_')
			continue;
		snprintf(to, size, "%.*s:%s%s", (int)i, name, name + i + 1, modifiers);
		if (encodes(to, &other))
			return 1;
	}
	return 0;
}

/* ---- groups ---- */

/*
 * Fills in events and metrics by the names that they have in the set. A set without members and
 * metrics is freed: then only the clock is used.
 */
void lw_group_show(struct lw_group *group)
{
	int n = group->set ? tach_set_nmetrics(group->set) : 0;

	/* LIKWID shows the time of a list of events as an event, not as a metric. */
	if (!group->text)
		group->metric[group->nmetrics++] =
			(struct lw_metric){"Runtime (RDTSC) [s]", -1};
	for (int i = 0; i < n; i++) {
		if (group->nmetrics == LW_METRICS) {
			lw_group_misses(group, tach_set_metric_name(group->set, i),
					"too many metrics");
			break;
		}
		group->metric[group->nmetrics++] =
			(struct lw_metric){tach_set_metric_name(group->set, i), i};
	}
	for (int i = 0; group->nevents == 0 && group->set && i < tach_set_count(group->set);
	     i++)
		group->event[i] = (struct lw_event){tach_set_name(group->set, i), "-", i};
	if (group->nevents == 0 && group->set)
		group->nevents = tach_set_count(group->set);
	if (group->set && *tach_set_missing(group->set))
		lw_group_misses(group, tach_set_missing(group->set), "");
	if (group->set && tach_set_count(group->set) == 0 && n == 0) {
		tach_set_free(group->set);
		group->set = NULL;
	}
}

/* Splits the item into name and counter. `to` gets the event string for the set. */
static int item_event(struct lw_group *group, struct lw_event *event, char *item, char *to,
		      size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;
	char modifiers[64] = "", *colon = item;
	int of_thread = 1;

	*event = (struct lw_event){item, "-", -1};
	while ((colon = strchr(colon, ':')) && !is_counter(colon + 1, &of_thread))
		colon++;
	if (colon) {
		*colon++ = '\0';
		event->counter = colon;
		colon += strcspn(colon, ":");
		if (*colon)
			*colon++ = '\0';
		if (!options(colon, modifiers, sizeof modifiers)) {
			lw_group_misses(group, item, "an option that is not known");
			return 0;
		}
	}
	if (!of_thread) {
		lw_group_misses(group, item, "no thread has counters of its own for it");
		return 0;
	}
	if (resolve(item, modifiers, to, size, &err))
		return 1;
	lw_group_misses(group, item, err.text);
	return 0;
}

/* Uses the event's name as label if it is valid, because messages contain labels. */
static void label(const struct lw_group *group, int event, char to[64])
{
	static const char allowed[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	const char *name = group->event[event].name;
	int plain = strlen(name) < 64 && (*name < '0' || *name > '9') &&
		    !name[strspn(name, allowed)];

	for (int i = 0; i < event; i++)
		plain = plain && strcmp(group->event[i].name, name) != 0;
	if (plain)
		strcpy(to, name);
	else
		snprintf(to, 64, "event%d", event + 1);
}

/* Finds members of the set by their labels. */
static void members(struct lw_group *group)
{
	char name[64];

	for (int i = 0; i < tach_set_count(group->set); i++)
		for (int k = 0; k < group->nevents; k++) {
			label(group, k, name);
			if (strcmp(name, tach_set_name(group->set, i)) == 0)
				group->event[k].member = i;
		}
}

static void custom(struct lw_group *group)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	char events[4096] = "", one[256], name[64];
	size_t n = 0;

	group->name = "Custom";
	for (char *rest, *item = strtok_r(group->text, ", ", &rest); item;
	     item = strtok_r(NULL, ", ", &rest)) {
		struct lw_event *event = &group->event[group->nevents];

		if (group->nevents == TACH_COUNTERS_MAX) {
			lw_group_misses(group, item, "too many events");
			break;
		}
		if (item_event(group, event, item, one, sizeof one)) {
			size_t left = n < sizeof events ? sizeof events - n : 0;

			label(group, group->nevents, name);
			n += (size_t)snprintf(events + n, left, "%s=%s,", name, one);
		}
		group->nevents++;
	}
	opt.events = events;
	opt.flags = TACH_SET_OPTIONAL;
	if (n >= sizeof events)
		lw_group_misses(group, "events", "their names are too long together");
	else if (n && tach_set_create(&opt, &group->set, &err) != 0)
		lw_group_misses(group, "events", err.text);
	if (group->set)
		members(group);
	lw_group_show(group);
}

static void parse(struct lw_group *group, const char *text, size_t length)
{
	const struct lw_preset *preset = lw_preset_find(text, length);

	if (preset) {
		lw_preset_make(group, preset);
		return;
	}
	group->text = strndup(text, length);
	if (group->text)
		custom(group);
}

/* Reads TACH_EVENTS and TACH_METRICS: lists of events and metrics, or the name of a group. */
static void ours(struct lw_group *group)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	const char *events = tach__environment_events();
	const char *metrics = tach__environment("TACH_METRICS");
	const struct lw_preset *preset = NULL;

	if (!events && !metrics)
		preset = lw_preset_find("BRANCH", 6);
	if (!preset && metrics)
		preset = lw_preset_find(metrics, strlen(metrics));
	if (!preset && events)
		preset = lw_preset_find(events, strlen(events));
	if (preset) {
		lw_preset_make(group, preset);
		return;
	}
	group->name = "TACH";
	opt.events = events;
	opt.metrics = metrics;
	opt.flags = TACH_SET_OPTIONAL;
	if (tach_set_create(&opt, &group->set, &err) != 0)
		lw_group_misses(group, "events", err.text);
	lw_group_show(group);
}

int lw_groups_make(struct lw_group *group)
{
	const char *text = tach__environment("LIKWID_EVENTS");
	int n = 0;

	while (text && *text) {
		size_t length = strcspn(text, "|");

		if (length && n == LW_GROUPS) {
			lw_group_misses(&group[n - 1], text, "too many groups");
			break;
		}
		if (length)
			parse(&group[n++], text, length);
		text += length + (text[length] == '|');
	}
	if (n == 0)
		ours(&group[n++]);
	return n;
}

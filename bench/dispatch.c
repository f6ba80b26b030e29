/* SPDX-License-Identifier: MIT */
/*
 * Measures the time to dispatch 4 events on every PMU: `make bench-dispatch`. It uses the first
 * four events in table order that can be counted together. "rows" are libpfm-3's lists and
 * ia64. For current PMUs, "named" includes encoding rows and masks, and "encoded" starts from
 * results of tach_event_encode. PMUs with fewer than four counters are left out.
 *
 * `dispatch callgrind`, run by valgrind, instead dumps the instructions of each call separately
 * (tests/check/slow/dispatch_cost.sh).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tach/dispatch.h>
#include <tach/event.h>
#include <tach/pmu.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS	      abort()
#define CALLGRIND_TOGGLE_COLLECT      abort()
#define CALLGRIND_DUMP_STATS_AT(name) abort()
#endif

enum { EVENTS = 4, ROUNDS = 21, CALLS = 200, PMUS_MAX = 512, EVENTS_MAX = 10000 };

/* libpfm-3's lists are not among the current PMUs. */
static const char *const lists[] = {"core",	    "nhm",	    "wsm",	"atom",
				    "gen_ia32",	    "pentium4",	    "amd64_k7", "amd64_k8",
				    "amd64_fam10h", "amd64_fam15h", "gen_ia64", "itanium",
				    "itanium2",	    "montecito"};
enum { NLISTS = sizeof lists / sizeof *lists };

struct set {
	struct tach_dispatch in;
	struct tach_dispatch_event events[EVENTS];
};

static struct tach_dispatch_out out = {.size = sizeof out};
static int instructions; /* dump instructions instead of measuring time */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_ns(const struct tach_dispatch *in)
{
	double rounds[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		double start = now();

		for (int i = 0; i < CALLS; i++)
			(void)!tach_dispatch_compute(in, &out, NULL);
		rounds[r] = (now() - start) / CALLS;
	}
	qsort(rounds, ROUNDS, sizeof *rounds, by_size);
	return rounds[ROUNDS / 2];
}

/* Adds events in table order while all of them fit. */
static int choose(int pmu, struct set *set)
{
	memset(set, 0, sizeof *set);
	set->in.pmu = pmu;
	set->in.privilege = TACH_PRIVILEGE_USER;
	set->in.events = set->events;
	for (int e = 0; e < EVENTS_MAX && set->in.nevents < EVENTS; e++) {
		struct tach_dispatch_event *event = &set->events[set->in.nevents++];

		/* Tries the event with its first unit mask, then without a mask. */
		*event = (struct tach_dispatch_event){.event = e, .numasks = 1};
		if (tach_dispatch_compute(&set->in, &out, NULL) == 0)
			continue;
		event->numasks = 0;
		if (tach_dispatch_compute(&set->in, &out, NULL))
			set->in.nevents--;
	}
	return set->in.nevents == EVENTS;
}

static int encode(struct set *set)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_pmu_info pmu = {.size = sizeof pmu};

	opt.os = TACH_OS_NONE;
	opt.privilege = set->in.privilege;
	tach_pmu_describe(set->in.pmu, &pmu);
	for (int i = 0; i < EVENTS; i++) {
		struct tach_dispatch_event *e = &set->events[i];
		struct tach_event event = {.size = sizeof event};
		struct tach_event_info row = {.size = sizeof row};
		struct tach_umask_info mask = {.size = sizeof mask, .name = ""};
		char text[512];

		tach_pmu_event(set->in.pmu, e->event, &row);
		if (e->numasks)
			tach_pmu_umask(set->in.pmu, e->event, 0, &mask);
		snprintf(text, sizeof text, "%s::%s%s%s", pmu.name, row.name,
			 e->numasks ? ":" : "", mask.name);
		if (tach_event_encode(text, &opt, &event, NULL))
			return 0;
		tach_dispatch_from_event(&event, e);
	}
	return tach_dispatch_compute(&set->in, &out, NULL) == 0;
}

struct times {
	const char *what;
	double ns[PMUS_MAX];
	const char *name[PMUS_MAX];
	int n;
};

static void add(struct times *to, const char *name, const struct set *set)
{
	char what[64];

	to->name[to->n] = name;
	if (!instructions) {
		to->ns[to->n++] = median_ns(&set->in);
		return;
	}
	snprintf(what, sizeof what, "%s %s", to->what, name);
	CALLGRIND_ZERO_STATS;
	CALLGRIND_TOGGLE_COLLECT;
	(void)!tach_dispatch_compute(&set->in, &out, NULL);
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS_AT(what);
}

static void print(struct times *t)
{
	int worst = 0;

	for (int i = 1; i < t->n; i++)
		if (t->ns[i] > t->ns[worst])
			worst = i;
	printf("%-8s %3d PMUs, worst %.0f ns (%s)", t->what, t->n, t->ns[worst],
	       t->name[worst]);
	qsort(t->ns, (size_t)t->n, sizeof *t->ns, by_size);
	printf(", median %.0f ns\n", t->ns[t->n / 2]);
}

int main(int argc, char **argv)
{
	static struct times rows = {.what = "rows"}, named = {.what = "named"},
			    encoded = {.what = "encoded"};
	struct set set;

	instructions = argc > 1 && strcmp(argv[1], "callgrind") == 0;
	for (int i = 0; i < NLISTS; i++)
		if (choose(tach_dispatch_list(lists[i]), &set))
			add(&rows, lists[i], &set);
	for (int pmu = 0; pmu < tach_pmu_count() && named.n < PMUS_MAX; pmu++) {
		struct tach_pmu_info info = {.size = sizeof info};

		tach_pmu_describe(pmu, &info);
		if (strcmp(info.arch, "ia64") == 0 || !choose(pmu, &set))
			continue;
		add(&named, info.name, &set);
		if (encode(&set))
			add(&encoded, info.name, &set);
	}
	if (instructions)
		return 0;
	print(&rows);
	print(&encoded);
	print(&named);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Data accepted from another process's registry: sites, sets, notes, enclosing regions. */
#include "tests/unit/snapshot/registry_there.h"

static void sites_up_to(void)
{
	begin();
	link_threads(1);
	registry.nsites = TACH__CHUNKS * TACH__CHUNK_SLOTS + 1;
	end(take(0));
	CHECK(nsites_seen == TACH__CHUNKS * TACH__CHUNK_SLOTS);
	begin();
	link_threads(1);
	registry.nsites = TACH__CHUNKS * TACH__CHUNK_SLOTS;
	end(take(0));
	CHECK(nsites_seen == TACH__CHUNKS * TACH__CHUNK_SLOTS);
	/* If no region was entered, there are no rows. */
	begin();
	config.rows.limit = 0;
	tach_snapshot_free(take(0));
	end(NULL);
	/* A site that is not yet in a list has no name, and is not shown. */
	begin();
	registry.nsites = ID + 1;
	tach__rows_at(&config.rows, ID + 1)->calls = 1;
	end(take(0));
}

static void configurations(void)
{
	static const struct {
		uint32_t worst, by, is;
	} cases[] = {{TACH__WORST_MOST, 1, TACH__WORST_MOST},
		     {TACH__WORST_MOST + 1, 0, 0},
		     {3, 2, 0},
		     {3, 0, 3}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		link_threads(1);
		config.worst = cases[i].worst;
		config.worst_by = cases[i].by;
		config.next = &config;
		end(take(0));
		CHECK(config_seen.worst == cases[i].is && config_seen.next == NULL &&
			      config_seen.set != &set,
		      "%d: %u", (int)i, config_seen.worst);
	}
	begin();
	config.count = 2;
	end(take(TACH_ERR_STATE));
	/* The totals have the stated number of entries; the set has fewer. */
	begin();
	set.count = 0;
	end(take(TACH_ERR_STATE));
	begin();
	set.count = -1;
	end(take(TACH_ERR_STATE));
}

static void notes(void)
{
	static const struct {
		const char *note;
		int turns;
		uint32_t unopened;
		const char *is;
	} cases[] = {
		{"", 0, 0, ""},
		{"half", 0, 0, "half"},
		{"", 1, 0, "sets of events take turns there: this is the first one"},
		{"half", 1, 0, "half; sets of events take turns there: this is the first one"},
		{"", 0, 2, "2 threads have the clock alone: why"},
		{"half", 0, 2, "half; 2 threads have the clock alone: why"},
	};
	struct tach_snapshot *s;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		strcpy(config.note, cases[i].note);
		config.ring.next = cases[i].turns ? &config : NULL;
		registry.unopened = cases[i].unopened;
		strcpy(registry.open_error.text, "why");
		s = take(0);
		CHECK(strcmp(s->note, cases[i].is) == 0 && s->unopened == cases[i].unopened,
		      "%s", s->note);
		end(s);
	}
	/* Texts without a terminating 0 get one. */
	begin();
	memset(config.note, 'n', sizeof config.note);
	memset(registry.open_error.text, 'w', sizeof registry.open_error.text);
	registry.unopened = 1;
	s = take(0);
	CHECK(strspn(s->note, "n") == sizeof config.note - 1 &&
		      strlen(s->note) == sizeof config.note - 1 +
						 strlen("; 1 threads have the clock alone: ") +
						 sizeof registry.open_error.text - 1,
	      "%d", (int)strlen(s->note));
	end(s);
}

/* Rows are created up to this one. */
static uint32_t limit_of(uint32_t id)
{
	struct tach__rows rows;
	uint32_t limit;

	tach__rows_init(&rows, 1);
	tach__rows_at(&rows, id);
	limit = rows.limit;
	tach__rows_free(&rows);
	return limit;
}

/* Regions around the worst entries have names, even if the regions are still open. */
static void open_parents_of_worst_entries_have_names(void)
{
	uint64_t limit = limit_of(ID + 2);
	const struct {
		uint64_t parent;
		const char *is;
		uint32_t nsites;
	} cases[] = {{ID - 1, "", ID + 4},  {ID, "ended", ID + 4}, {ID + 2, "other", ID + 4},
		     {ID + 4, "", ID + 4},  {1 << 20, "", ID + 4}, {limit, "", limit + 1},
		     {20000, "", limit + 9}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach__worst *w = tach__worst_make(1, 2);
		struct tach_snapshot *s;
		struct tach_worst out = {.size = sizeof out};

		begin();
		config.worst = 1;
		registry.nsites = cases[i].nsites;
		w->n = 1;
		tach__worst_at(w, 0)->key = 5;
		tach__worst_at(w, 0)->parent = cases[i].parent;
		there(w, tach__worst_size(1, 2));
		tach__rows_at(&config.rows, ID)->calls = 0;
		tach__rows_at(&config.rows, ID + 1)->calls = 7;
		tach__rows_at(&config.rows, ID + 1)->worst = w;
		s = take(0);
		CHECK(tach_snapshot_worst(s, 0, 0, &out) == 0 &&
			      strcmp(out.parent, cases[i].is) == 0,
		      "%d: %s", (int)i, out.parent);
		end(s);
		tach__worst_free(w);
	}
}

/* Each entry has its own, not only the first. */
static void parents_of_several(void)
{
	struct tach__worst *w = tach__worst_make(2, 2);
	struct tach_snapshot *s;
	struct tach_worst out = {.size = sizeof out};

	begin();
	config.worst = 2;
	w->n = 2;
	tach__worst_at(w, 0)->key = 6;
	tach__worst_at(w, 0)->parent = ID;
	tach__worst_at(w, 1)->key = 5;
	tach__worst_at(w, 1)->parent = ID + 2;
	there(w, tach__worst_size(2, 2));
	tach__rows_at(&config.rows, ID)->worst = w;
	s = take(0);
	CHECK(tach_snapshot_worst(s, 0, 0, &out) == 0 && strcmp(out.parent, "ended") == 0);
	CHECK(tach_snapshot_worst(s, 0, 1, &out) == 0 && strcmp(out.parent, "other") == 0);
	end(s);
	tach__worst_free(w);
}

int main(void)
{
	CASE(sites_up_to);
	CASE(configurations);
	CASE(notes);
	CASE(open_parents_of_worst_entries_have_names);
	CASE(parents_of_several);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of events in our own words: arch/<arch>/descriptions.tsv has one text per name,
 * for all PMUs of an architecture. Lines "NAME <TAB> text", "EVENT.UMASK <TAB> text" and
 * "*.UMASK <TAB> text" (a umask of that name under any event); "@arch <TAB> x86" comes first.
 */
#include <stdlib.h>
#include <string.h>
#include "tools/mkevents/mk.h"

struct entry {
	struct mk_cell name, text;
	int used;
};

struct store {
	struct mk_pmu file; /* only for the file name in messages */
	struct entry *entries;
	size_t n, room;
	int arch;
};

static int by_name(const void *pa, const void *pb)
{
	return mk_order(&((const struct entry *)pa)->name, &((const struct entry *)pb)->name);
}

static struct entry *find(struct store *store, const char *text, size_t length)
{
	struct entry key = {.name = {text, length, 0, 0}};

	return store->n ? bsearch(&key, store->entries, store->n, sizeof key, by_name) : NULL;
}

static void parse_line(struct mk *mk, struct store *store, struct mk_cell rest)
{
	struct mk_cell whole = rest, name, text;

	if (rest.length == 0 || *rest.text == '#' || !mk_printable(mk, &store->file, &rest))
		return;
	if (!mk_split(&rest, '\t', &name) || !mk_split(&rest, '\t', &text) || rest.text ||
	    text.length == 0) {
		mk_fault(mk, &store->file, &whole, "expected NAME, one TAB, text");
		return;
	}
	if (mk_is(&name, "@arch")) {
		store->arch = mk_word(mk_arch_names, TACH__LINUX, &text);
		if (store->arch < 0)
			mk_fault(mk, &store->file, &text, "unknown architecture '%.*s'",
				 (int)text.length, text.text);
		return;
	}
	store->entries =
		mk_grow(store->entries, store->n, &store->room, sizeof *store->entries);
	store->entries[store->n++] = (struct entry){name, text, 0};
}

static void load_text(struct mk *mk, struct store *store, const char *text, size_t length)
{
	struct mk_cell rest = {text, length, 1, 1}, one;

	for (int n = 1; mk_split(&rest, '\n', &one); n++) {
		one.line = n;
		one.column = 1;
		parse_line(mk, store, one);
	}
	if (store->n == 0)
		return;
	qsort(store->entries, store->n, sizeof *store->entries, by_name);
	for (size_t i = 1; i < store->n; i++)
		if (by_name(&store->entries[i - 1], &store->entries[i]) == 0)
			mk_fault(mk, &store->file, &store->entries[i].name,
				 "'%.*s' is described twice",
				 (int)store->entries[i].name.length,
				 store->entries[i].name.text);
}

static void take_entry(struct mk_row *row, struct entry *entry)
{
	entry->used = 1;
	if (mk_empty(&row->description)) /* the row's own text has priority */
		row->description = entry->text;
}

static void describe_umask(struct store *store, const struct mk_row *event, struct mk_row *row)
{
	char name[256];
	int n = snprintf(name, sizeof name, "%.*s.%.*s", (int)event->name.length,
			 event->name.text, (int)row->name.length, row->name.text);
	struct entry *entry =
		n > 0 && n < (int)sizeof name ? find(store, name, (size_t)n) : NULL;

	if (!entry) {
		n = snprintf(name, sizeof name, "*.%.*s", (int)row->name.length,
			     row->name.text);
		entry = n > 0 && n < (int)sizeof name ? find(store, name, (size_t)n) : NULL;
	}
	if (entry)
		take_entry(row, entry);
}

void mk_describe(struct mk *mk, const char *file, const char *text, size_t length)
{
	struct store store = {.file = {.file = file}, .arch = -1};

	load_text(mk, &store, text, length);
	for (size_t p = 0; p < mk->npmus; p++) {
		struct mk_pmu *pmu = &mk->pmus[p];

		/* A description of a core's umask does not fit a box. */
		if (pmu->row.arch != store.arch || pmu->boxes)
			continue;
		for (size_t e = 0; e < pmu->nevents; e++) {
			struct mk_row *event = &pmu->events[e];
			struct entry *entry =
				find(&store, event->name.text, event->name.length);

			if (entry)
				take_entry(event, entry);
			for (size_t u = 0; u < event->numasks; u++)
				describe_umask(&store, event,
					       &pmu->umasks[event->first_umask + u]);
		}
	}
	for (size_t i = 0; i < store.n; i++)
		if (!store.entries[i].used)
			mk_fault(mk, &store.file, &store.entries[i].name,
				 "'%.*s' describes nothing: no PMU here has that name",
				 (int)store.entries[i].name.length, store.entries[i].name.text);
	free(store.entries);
}

/* SPDX-License-Identifier: MIT */
/* Suggests the closest known word by edit distance, first from the same PMU. */
#include <stdio.h>
#include <string.h>
#include "core/event/suggest.h"

enum { WORD_MAX = 80 };

struct best {
	int distance;
	const char *word;
	int pmu; /* PMU of an event, otherwise -1 */
};

/* Returns the number of letters that are inserted, deleted, replaced or swapped with a
 * neighbour, at most `limit`. */
static int distance(const struct tach__text *a, const char *b, int limit)
{
	int rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2];
	int n = (int)a->length, m = (int)strlen(b);

	if (n > WORD_MAX || m > WORD_MAX || n - m >= limit || m - n >= limit)
		return limit;
	for (int j = 0; j <= m; j++)
		last[j] = j;
	for (int i = 1; i <= n; i++) {
		unsigned char c = tach__fold(a->text[i - 1]);
		int least = now[0] = i, *spare = before;

		for (int j = 1; j <= m; j++) {
			unsigned char d = tach__fold(b[j - 1]);
			int cost = last[j - 1] + (c != d);

			if (last[j] + 1 < cost)
				cost = last[j] + 1;
			if (now[j - 1] + 1 < cost)
				cost = now[j - 1] + 1;
			if (i > 1 && j > 1 && c == tach__fold(b[j - 2]) &&
			    d == tach__fold(a->text[i - 2]) && before[j - 2] + 1 < cost)
				cost = before[j - 2] + 1;
			now[j] = cost;
			if (cost < least)
				least = cost;
		}
		if (least >= limit)
			return limit;
		before = last;
		last = now;
		now = spare;
	}
	return last[m] < limit ? last[m] : limit;
}

static void consider_word(struct best *best, const struct tach__text *name, const char *word,
			  int pmu)
{
	int d = distance(name, word, best->distance);

	if (d < best->distance)
		*best = (struct best){d, word, pmu};
}

/* Starts a search. A word that differs in more than a third of its letters is not suggested. */
static struct best start_suggestion(const struct tach__text *name)
{
	return (struct best){(int)(name->length / 3) + 2, NULL, -1};
}

static int shown_length(const struct tach__text *name)
{
	return name->length > 60 ? 60 : (int)name->length;
}

static int report_suggestion(struct tach__work *w, int code, const struct tach__text *name,
			     const char *what, const struct best *best)
{
	if (best->word)
		return tach__refuse(w, code, "%s '%.*s'; did you mean %s%s%s?", what,
				    shown_length(name), name->text,
				    best->pmu >= 0 ? tach__str(tach__pmu_at(best->pmu)->name)
						   : "",
				    best->pmu >= 0 ? "::" : "", best->word);
	return tach__refuse(w, code, "%s '%.*s'", what, shown_length(name), name->text);
}

/* Returns the event's name in the string: codes and terms have no row with a name. */
static struct tach__text event_name(const struct tach__work *w)
{
	const char *name = tach__str(w->got.event->name);

	if (w->got.terms.text)
		return w->got.terms;
	return w->got.system.text ? w->got.system : (struct tach__text){name, strlen(name)};
}

int tach__suggest_attr(struct tach__work *w, const struct tach__text *name)
{
	struct best best = start_suggestion(name);
	const struct tach__modifier *mods =
		w->got.pmu->flags & TACH__PMU_BOX ? tach__box_mods : tach__mods;
	struct tach__text own;
	char what[112];
	uint32_t set;

	if (!w->ask.err)
		return TACH_ERR_ATTR;
	if (w->ask.quirks->letters && w->ask.os != TACH_OS_NONE &&
	    tach__letter_refused(w, name))
		return TACH_ERR_ATTR;
	for (int i = 0; i < w->got.event->numasks; i++)
		consider_word(&best, name, tach__str(tach__umask_at(w->got.event, i)->name),
			      -1);
	if (best.word || name->length > 2) {
		for (set = w->got.mods; set; set &= set - 1)
			consider_word(&best, name, mods[__builtin_ctz(set)].name, -1);
		for (set = w->got.osmods; set; set &= set - 1)
			consider_word(&best, name, tach__osmods[__builtin_ctz(set)].name, -1);
	}
	own = event_name(w);
	snprintf(what, sizeof what, "%.*s has no umask or modifier",
		 own.length > 64 ? 64 : (int)own.length, own.text);
	return report_suggestion(w, TACH_ERR_ATTR, name, what, &best);
}

int tach__suggest_pmu(struct tach__work *w, const struct tach__text *name)
{
	struct best best = start_suggestion(name);

	if (!w->ask.err)
		return TACH_ERR_NOTFOUND;
	for (int i = 0; i < tach__npmus() + tach__nboxes(); i++)
		consider_word(&best, name, tach__str(tach__pmu_at(i)->name), -1);
	return report_suggestion(w, TACH_ERR_NOTFOUND, name, "no PMU", &best);
}

static void consider_events(struct best *best, const struct tach__text *name, int pmu)
{
	for (uint32_t i = 0; i < tach__pmu_at(pmu)->nevents; i++)
		consider_word(best, name, tach__str(tach__event_at(pmu, (int)i)->name), pmu);
}

/* Considers the boxes of the CPUs that have these PMUs. */
static void consider_boxes(struct best *best, const struct tach__text *name, const int *pmus,
			   int npmus)
{
	uint64_t boxes[TACH__BOX_WORDS] = {0};

	for (int i = 0; i < npmus; i++)
		tach__boxes_of_pmu(pmus[i], boxes);
	for (int i = 0; i < tach__nboxes(); i++)
		if (tach__box_in(boxes, tach__npmus() + i))
			consider_events(best, name, tach__npmus() + i);
}

int tach__suggest_event(struct tach__work *w, const struct tach__text *name, const int *pmus,
			int npmus)
{
	struct best best = start_suggestion(name);
	int known = 0;

	if (!w->ask.err)
		return TACH_ERR_NOTFOUND;
	for (int i = 0; i < npmus; i++) {
		known |= tach__pmu_at(pmus[i])->arch != TACH__LINUX;
		consider_events(&best, name, pmus[i]);
	}
	if (!best.word)
		consider_boxes(&best, name, pmus, npmus);
	/* If no CPU is chosen, suggests a PMU that has exactly this name. */
	if (!best.word && !known) {
		best.distance = 1;
		for (int i = 0; !best.word && i < tach__npmus() + tach__nboxes(); i++)
			if (tach__event_find(i, name->text, name->length) >= 0)
				consider_events(&best, name, i);
	}
	return report_suggestion(w, TACH_ERR_NOTFOUND, name, "no event", &best);
}

const char *tach__suggest_near(int pmu, const struct tach__event *row,
			       const struct tach__text *name)
{
	struct best best = start_suggestion(name);

	if (!row)
		consider_events(&best, name, pmu);
	for (int i = 0; row && i < row->numasks; i++)
		consider_word(&best, name, tach__str(tach__umask_at(row, i)->name), -1);
	return best.word;
}

const char *tach__suggest_word(const char *const *words, const char *name, size_t length)
{
	struct tach__text text = {.text = name, .length = length};
	struct best best = {4, NULL, -1};

	for (; *words; words++)
		consider_word(&best, &text, *words, -1);
	return best.word;
}

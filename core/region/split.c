/* SPDX-License-Identifier: MIT */
/* Rows divided by tag, task and thread: the options, tables of slots, sites of rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/os/kernel_files.h"
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"

enum { NAME = 768, DEFAULT = 64 };

static uint32_t sites; /* under the lock */

__attribute__((tls_model("initial-exec"))) static __thread uint32_t task_now;

void tach__split_over(struct tach__split *split, uint32_t which)
{
	__atomic_fetch_or(&split->over, which, __ATOMIC_RELAXED);
}

/* ---- the options ---- */

static int is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Parses one of the words. Returns 0 if it is invalid. */
static int parse_one(struct tach__split *split, const char *text, size_t length)
{
	const char *colon = memchr(text, ':', length);
	size_t word = colon ? (size_t)(colon - text) : length;
	char *end = NULL;
	unsigned long n = colon ? strtoul(colon + 1, &end, 10) : DEFAULT;

	if ((colon && end != text + length) || n < 1 || n > TACH__SPLIT_MOST)
		return 0;
	if (is_word(text, word, "tag")) {
		split->by |= TACH__SPLIT_TAG;
		split->tags = (uint32_t)n;
	} else if (is_word(text, word, "thread")) {
		split->by |= TACH__SPLIT_THREAD;
		split->threads = (uint32_t)n;
	} else if (is_word(text, length, "task")) {
		split->by |= TACH__SPLIT_TASK;
		tach__split_number_tasks();
	} else {
		return 0;
	}
	return 1;
}

int tach__split_parse(struct tach__split *split, const char *text, struct tach_error *err)
{
	*split = (struct tach__split){0};
	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (!parse_one(split, text, length))
			return tach__error(err, TACH_ERR_INVAL, 0, 0,
					   "regions are divided by tag, task, thread, tag:N or "
					   "thread:N with N of 1 to %d, not by '%.*s'",
					   TACH__SPLIT_MOST, (int)(length < 60 ? length : 60),
					   text);
		text += length + (text[length] == ',');
	}
	return 0;
}

/* ---- a thread's tables ---- */

static size_t table_size(void)
{
	return tach__pages_round(TACH__CHUNKS * TACH__CHUNK_SLOTS *
				 sizeof(struct tach__slot *));
}

static uint32_t pairs_of(const struct tach__split *split)
{
	return (TACH__SPLIT_TASKS + 2) * (split->tags + 2);
}

/* START with split rows. If the slot is not ready, it is not in the table, and START takes the
 * slow path. */
static void begin_split(struct tach_site *site, struct tach_region_mark *mark,
			struct tach__hot *self, int fenced)
{
	struct tach__slot *slot = self->split[TACH__GET(site->id)];

	if (TACH_UNLIKELY(!slot))
		slot = (struct tach__slot *)(uintptr_t)&tach__slot_unready.slot;
	self->begin_unsplit[fenced](site, mark, slot, tach__part(slot, 0, 0), self);
}

static void begin_plain(struct tach_site *site, struct tach_region_mark *mark,
			struct tach__slot *slot, struct tach__part *part,
			struct tach__hot *self)
{
	(void)slot, (void)part;
	begin_split(site, mark, self, 0);
}

static void begin_fenced(struct tach_site *site, struct tach_region_mark *mark,
			 struct tach__slot *slot, struct tach__part *part,
			 struct tach__hot *self)
{
	(void)slot, (void)part;
	begin_split(site, mark, self, 1);
}

void tach__split_open(struct tach__thread *record)
{
	const struct tach__split *split = &record->config->split;
	struct tach__hot *hot = record->hot;
	struct tach__held held;

	hot->split = tach__table(hot);
	record->splits = NULL;
	record->pair = 0;
	if (split->by & TACH__SPLIT_THREAD) {
		tach__lock(&held);
		record->number = ++tach__registry.numbered;
		tach__unlock(&held);
		tach__worst_name(record);
	}
	if (!(split->by & (TACH__SPLIT_TAG | TACH__SPLIT_TASK)))
		return;
	record->splits = tach__pages(pairs_of(split) * sizeof *record->splits);
	if (!record->splits)
		return;
	record->npairs = pairs_of(split);
	memcpy(hot->begin_unsplit, hot->begin, sizeof hot->begin_unsplit);
	hot->begin[0] = begin_plain;
	hot->begin[1] = begin_fenced;
}

/* Returns the table of the pair. Without memory it returns the table of pair 0. */
static struct tach__slot **table_of(struct tach__thread *record, uint32_t *pair)
{
	struct tach__held held;

	if (*pair && !record->splits[*pair]) {
		tach__hold(&held);
		if (!record->splits[*pair])
			record->splits[*pair] = tach__pages(table_size());
		tach__release(&held);
	}
	if (*pair && record->splits[*pair])
		return record->splits[*pair];
	*pair = 0;
	return tach__table(record->hot);
}

void tach__split_choose(struct tach__hot *self)
{
	struct tach__thread *record = self->record;
	struct tach__split *split;
	uint64_t tag;
	uint32_t task, pair;

	if (!record || !record->splits)
		return;
	split = &record->config->split;
	/* A handler may set another tag or task during this loop. */
	do {
		tag = tach__tag_now();
		task = TACH__GET(task_now);
		pair = 0;
		if (task > TACH__SPLIT_TASKS)
			tach__split_over(split, TACH__SPLIT_TASK);
		if (split->by & TACH__SPLIT_TASK)
			pair = task * (split->tags + 2);
		if (split->by & TACH__SPLIT_TAG)
			pair += tach__split_tag_number(split, tag);
		TACH__SET(self->split, table_of(record, &pair));
		TACH__SET(record->pair, pair);
		TACH__ORDER();
	} while (tag != tach__tag_now() || task != TACH__GET(task_now));
}

void tach__split_clear(struct tach__thread *record)
{
	if (!record->splits)
		return;
	for (uint32_t i = 0; i < record->npairs; i++)
		tach__pages_free(record->splits[i], record->splits[i] ? table_size() : 0);
	tach__pages_free(record->splits, record->npairs * sizeof *record->splits);
	record->splits = NULL;
}

uint32_t tach__split_task(uint32_t number)
{
	uint32_t before = TACH__GET(task_now);

	TACH__SET(task_now, number);
	return before;
}

/* ---- sites of rows ---- */

/* Call it with the lock held. */
static uint32_t site_of(struct tach__split *split, const struct tach__site *base,
			const char *name, const struct tach__parts *parts)
{
	uint32_t before = tach__registry.nsites, id = base->id;

	if (sites < TACH__SPLIT_SITES)
		id = tach__site_part(base, name, parts);
	if (id == base->id)
		tach__split_over(split, TACH__SPLIT_ROWS);
	sites += tach__registry.nsites - before;
	return id;
}

uint32_t tach__split_id(const struct tach__thread *record, uint32_t id)
{
	struct tach__split *split = &record->config->split;
	const struct tach__site *base = tach__site_at(id);
	uint32_t pair = TACH__GET(record->pair), most = split->tags;
	uint32_t task = pair / (most + 2), number = pair % (most + 2);
	struct tach__parts parts = {"", "", ""};
	char name[NAME], tag[24] = "other";
	struct tach__held held;

	/* Task sites are never split. */
	if (!pair || (base->fenced & TACH__SITE_TASK))
		return id;
	if (number && number <= most)
		snprintf(tag, sizeof tag, "0x%llx",
			 (unsigned long long)tach__split_tag(number));
	if (number)
		parts.tag = tag;
	if (task)
		parts.task =
			task <= TACH__SPLIT_TASKS ? tach__split_task_name(task) : "other tasks";
	if (snprintf(name, sizeof name, "%s%s%s%s%s%s", parts.task, task ? " > " : "",
		     base->name, number ? " [tag " : "", parts.tag, number ? "]" : "") >= NAME)
		return id;
	tach__lock(&held);
	id = site_of(split, base, name, &parts);
	tach__unlock(&held);
	return id;
}

void tach__split_set(struct tach__thread *record, uint32_t id, struct tach__slot *slot)
{
	struct tach__slot **table = TACH__GET(record->hot->split);

	if (table != tach__table(record->hot))
		TACH__SET(table[id], slot);
}

void tach__split_name(struct tach__thread *record)
{
	char path[64], *name = record->shown;

	if (!(record->config->split.by & TACH__SPLIT_THREAD))
		return;
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)record->tid);
	if (!TACH__GET(record->hot->record) ||
	    tach__file_line("", path, name, sizeof record->shown) < 0)
		memcpy(name, record->comm, sizeof record->shown);
	name[sizeof record->shown - 1] = '\0';
}

uint32_t tach__split_row(const struct tach__thread *record, uint32_t id)
{
	struct tach__split *split = &record->config->split;
	char name[NAME], thread[64] = "other";
	const struct tach__site *base;
	struct tach__parts parts;

	if (!(split->by & TACH__SPLIT_THREAD))
		return id;
	base = tach__site_at(id);
	parts = base->parts;
	if (record->number <= split->threads) {
		snprintf(thread, sizeof thread, "%s %d", record->shown, (int)record->tid);
	} else {
		tach__split_over(split, TACH__SPLIT_THREAD);
	}
	parts.thread = thread;
	if (snprintf(name, sizeof name, "%s [thread %s]", base->name, thread) >= NAME)
		return id;
	return site_of(split, base, name, &parts);
}

int tach__split_note(const struct tach__config *config, char *out, size_t size)
{
	const struct tach__split *split = &config->split;
	const struct tach__config *turn = config;
	uint32_t which = 0;
	const char *comma = "";
	size_t used = 0;

	/* Sets that take turns have the same options. */
	do {
		which |= __atomic_load_n(&turn->split.over, __ATOMIC_RELAXED);
		turn = turn->ring.next;
	} while (turn && turn != config);
	which &= split->by | TACH__SPLIT_ROWS;
	if (!which || size < 240)
		return 0;
#define MORE(bit, format, number)                                                              \
	if (which & (bit)) {                                                                   \
		used += (size_t)snprintf(out + used, size - used, "%s" format, comma, number); \
		comma = ", ";                                                                  \
	}
	MORE(TACH__SPLIT_TAG, "more than %u tags", split->tags)
	MORE(TACH__SPLIT_TASK, "more than %d regions of tasks", TACH__SPLIT_TASKS)
	MORE(TACH__SPLIT_THREAD, "more than %u threads", split->threads)
	if (used)
		used += (size_t)snprintf(out + used, size - used,
					 ": entries of the others are in rows of their own, "
					 "'other'");
	comma = used ? "; " : "";
	MORE(TACH__SPLIT_ROWS, "more than %d rows", TACH__SPLIT_SITES)
#undef MORE
	if (which & TACH__SPLIT_ROWS)
		snprintf(out + used, size - used,
			 ": further entries are in the undivided rows of their regions");
	return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Rows divided by tag, task and thread: parsed options, the table of slots that applies, and
 * names of rows.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "core/os/kernel_files.h"
#include "core/os/sys.h"
#include "core/region/beacon.h"
#include "core/region/region.h"
#include "tests/check.h"

enum { ID = TACH__SITE_FIRST, PART = ID + 1, NAMES = 1000 };

/* Pages with their size stored before them, and a guard page after them. */
/* number of allocations that still succeed; below 0: unlimited */
static int live, allowed;
static size_t asked_size, table_is = TACH__CHUNKS * TACH__CHUNK_SLOTS * sizeof(void *);
static char trap;

static void *sim_pages(size_t size)
{
	void **at;

	if (allowed == 0)
		return NULL;
	allowed -= allowed > 0;
	live++;
	asked_size = size;
	at = calloc(1, size + 3 * sizeof *at);
	at[0] = (void *)(uintptr_t)size;
	at[2 + size / sizeof *at] = &trap;
	return at + 2;
}

static void sim_free(void *at, size_t size)
{
	if (!at || at == &trap) {
		CHECK(!at && size == 0);
		return;
	}
	CHECK((uintptr_t)((void **)at)[-2] == size);
	live--;
	free((void **)at - 2);
}

static int locked, held_, holds;
static void (*at_hold)(void);

static void sim_lock(struct tach__held *held)
{
	CHECK(held && !locked++);
}

static void sim_unlock(const struct tach__held *held)
{
	CHECK(held && locked-- == 1);
}

static void sim_hold(struct tach__held *held)
{
	CHECK(held && !held_++);
	holds++;
	if (at_hold)
		at_hold();
}

static void sim_release(const struct tach__held *held)
{
	CHECK(held && held_-- == 1);
}

static int named;
static void sim_worst_name(struct tach__thread *record)
{
	CHECK(!locked && record->number);
	named++;
}

/* ---- tags and tasks, whose numbers equal their values ---- */

/* Next_tag, next_task: values that are set while a number is requested. */
static uint64_t tag_is, next_tag;
static uint32_t next_task;
static int task_changes;
static struct tach__config the_config;

static uint64_t sim_tag_now(void)
{
	return tag_is;
}

static uint32_t sim_tag_number(struct tach__split *split, uint64_t tag)
{
	CHECK(split == &the_config.split);
	if (next_tag)
		tag_is = next_tag;
	next_tag = 0;
	if (task_changes)
		tach__split_task(next_task);
	task_changes = 0;
	return (uint32_t)tag;
}

static int numbered_tasks;

static void sim_number_tasks(void)
{
	numbered_tasks = 1;
}

static uint64_t sim_tag(uint32_t number)
{
	return number + 0xabcd000000000000u;
}

static const char *sim_task_name(uint32_t number)
{
	CHECK(number == 3 || number == TACH__SPLIT_TASKS);
	return "the task";
}

/* ---- sites ---- */

static struct tach__site base_site;
static int no_part, parts_made;
static char part_name[NAMES], part_task[64], part_tag[64], part_thread[64];

static struct tach__site *sim_site_at(uint32_t id)
{
	CHECK(id == ID);
	return &base_site;
}

static uint32_t sim_part(const struct tach__site *base, const char *name,
			 const struct tach__parts *parts)
{
	CHECK(locked && base == &base_site);
	if (no_part)
		return base->id;
	parts_made++;
	tach__registry.nsites++;
	snprintf(part_name, sizeof part_name, "%s", name);
	snprintf(part_task, sizeof part_task, "%s", parts->task);
	snprintf(part_tag, sizeof part_tag, "%s", parts->tag);
	snprintf(part_thread, sizeof part_thread, "%s", parts->thread);
	return PART;
}

static int no_file;
static int sim_line(const char *root, const char *path, char *out, size_t size)
{
	CHECK(!*root && strcmp(path, "/proc/self/task/4711/comm") == 0 && size == 16);
	memcpy(out, no_file ? "---------------" : "a comm of 16 is.", 16);
	return no_file ? -1 : 0;
}

#define tach__pages		 sim_pages
#define tach__pages_free	 sim_free
#define tach__pages_round(of)	 (of)
#define tach__lock		 sim_lock
#define tach__unlock		 sim_unlock
#define tach__hold		 sim_hold
#define tach__release		 sim_release
#define tach__worst_name	 sim_worst_name
#define tach__tag_now		 sim_tag_now
#define tach__split_tag_number	 sim_tag_number
#define tach__split_number_tasks sim_number_tasks
#define tach__split_tag		 sim_tag
#define tach__split_task_name	 sim_task_name
#define tach__site_at		 sim_site_at
#define tach__site_part		 sim_part
#define tach__file_line		 sim_line
#include "core/region/split.c"

static struct tach__thread record;
static struct tach__hot *hot;
static int begun[2];
static const struct tach__slot *begun_with;
static const struct tach__part *begun_part;

static void begin_beneath(struct tach_site *of, struct tach_region_mark *mark,
			  struct tach__slot *slot, struct tach__part *part,
			  struct tach__hot *self)
{
	CHECK(of->id == ID && mark && self == hot);
	begun_with = slot;
	begun_part = part;
	begun[0]++;
}

static void begin_beneath_fenced(struct tach_site *of, struct tach_region_mark *mark,
				 struct tach__slot *slot, struct tach__part *part,
				 struct tach__hot *self)
{
	begin_beneath(of, mark, slot, part, self);
	begun[0]--;
	begun[1]++;
}

/* Makes a thread whose rows are divided in this way, with room for two tags and two threads. */
static void begin(uint32_t by)
{
	memset(&record, 0, sizeof record);
	memset(&the_config, 0, sizeof the_config);
	memset(hot, 0, sizeof *hot);
	the_config.split = (struct tach__split){.by = by, .tags = 2, .threads = 2};
	record.config = &the_config;
	record.hot = hot;
	record.tid = 4711;
	record.pair = 9;
	record.splits = (struct tach__slot ***)(uintptr_t)16;
	hot->record = &record;
	hot->begin[0] = begin_beneath;
	hot->begin[1] = begin_beneath_fenced;
	base_site = (struct tach__site){.id = ID, .name = "region"};
	base_site.parts = (struct tach__parts){"", "", ""};
	allowed = -1;
	named = holds = no_part = parts_made = no_file = begun[0] = begun[1] = 0;
	at_hold = NULL;
	tag_is = next_tag = 0;
	task_changes = 0;
	tach__split_task(0);
	tach__registry.numbered = 5;
	sites = 0;
	CHECK(live == 0 && !locked && !held_);
}

static void end(void)
{
	tach__split_clear(&record);
	CHECK(!record.splits && live == 0);
	tach__split_clear(&record);
}

/* ---- parsing ---- */

static int is_parsed(const char *text, uint32_t by, uint32_t tags, uint32_t threads)
{
	struct tach__split s = {9, 9, 9, 9};

	return tach__split_parse(&s, text, NULL) == 0 && s.by == by && s.tags == tags &&
	       s.threads == threads && s.over == 0;
}

static int is_refused(const char *text, const char *word)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__split s;

	err.line = err.column = 7;
	return tach__split_parse(&s, text, &err) == TACH_ERR_INVAL && !err.line &&
	       !err.column && err.code == TACH_ERR_INVAL && strstr(err.text, word);
}

static void options_are_parsed(void)
{
	char word[80];

	CHECK(is_parsed(NULL, 0, 0, 0) && is_parsed("", 0, 0, 0));
	CHECK(is_parsed("tag", TACH__SPLIT_TAG, 64, 0));
	CHECK(is_parsed("thread:1000", TACH__SPLIT_THREAD, 0, 1000));
	CHECK(is_parsed("task,", TACH__SPLIT_TASK, 0, 0));
	CHECK(is_parsed("task,thread,tag:1", 7, 1, 64));
	CHECK(is_parsed("tag:8,task,thread:9,tag:7", 7, 7, 9));
	CHECK(is_refused("tag:0", "1 to 1000, not by 'tag:0'"));
	CHECK(is_refused("tag:1001", "'tag:1001'") && is_refused("thread:", "'thread:'"));
	CHECK(is_refused("tag:5x", "'tag:5x'") && is_refused("task:5", "'task:5'"));
	CHECK(is_refused("ta", "'ta'") && is_refused("tags", "'tags'"));
	CHECK(is_refused("tag,core,task", "'core'") && is_refused(",tag", "''"));
	for (int n = 59; n < 62; n++) {
		char shown[80];

		snprintf(word, sizeof word, "%.*s", n,
			 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		snprintf(shown, sizeof shown, "not by '%.60s'", word);
		CHECK(is_refused(word, shown), "%d", n);
	}
}

/* ---- a thread's tables ---- */

static void undivided_rows_are_unchanged(void)
{
	begin(0);
	tach__split_open(&record);
	CHECK(!record.splits && hot->split == tach__table(hot) && !named && !record.pair);
	CHECK(record.number == 0 && hot->begin[0] == begin_beneath);
	begin(TACH__SPLIT_THREAD);
	tach__split_open(&record);
	CHECK(!record.splits && named == 1 && record.number == 6 && live == 0);
	CHECK(tach__registry.numbered == 6 && hot->begin[1] == begin_beneath_fenced);
	tach__split_clear(&record);
	begin(TACH__SPLIT_TAG);
	allowed = 0;
	tach__split_open(&record);
	CHECK(!record.splits && hot->begin[0] == begin_beneath && !record.npairs);
	tach__split_choose(hot);
	hot->record = NULL;
	tach__split_choose(hot);
	CHECK(hot->split == tach__table(hot) && !record.pair);
}

static void entries_begin_in_divided_rows(void)
{
	static struct tach__slot slot;
	struct tach_site of = {.id = ID};
	struct tach_region_mark mark;

	begin(TACH__SPLIT_TASK);
	tach__split_open(&record);
	CHECK(record.npairs == 64 * 4 && asked_size == 256 * sizeof(void *) && !named);
	/* The table of undivided slots is not used. */
	tach__table(hot)[ID] = &slot;
	hot->begin[0](&of, &mark, NULL, NULL, hot);
	CHECK(begun[0] == 1 && begun_with == &slot && begun_part == tach__part(&slot, 0, 0));
	hot->begin[1](&of, &mark, NULL, NULL, hot);
	CHECK(begun[0] == 1 && begun[1] == 1 && begun_with == &slot);
	tach__table(hot)[ID] = NULL;
	hot->begin[0](&of, &mark, NULL, NULL, hot);
	CHECK(begun[0] == 2 && begun_with == &tach__slot_unready.slot);
	end();
}

static int is_chosen(uint32_t pair)
{
	return record.pair == pair &&
	       hot->split == (pair ? record.splits[pair] : tach__table(hot));
}

static void chosen(void)
{
	begin(TACH__SPLIT_TAG);
	tach__split_open(&record);
	tag_is = 2;
	tach__split_task(3);
	tach__split_choose(hot);
	CHECK(is_chosen(2) && holds == 1 && asked_size == table_is && live == 2);
	tach__split_choose(hot);
	CHECK(is_chosen(2) && holds == 1 && live == 2);
	tag_is = 0;
	tach__split_choose(hot);
	CHECK(is_chosen(0) && holds == 1 && live == 2);
	end();
	begin(TACH__SPLIT_TASK);
	tach__split_open(&record);
	tag_is = 2;
	CHECK(tach__split_task(63) == 0);
	tach__split_choose(hot);
	CHECK(is_chosen(63 * 4) && tach__split_task(3) == 63);
	/* The last table is also given back. */
	CHECK(record.npairs == 256 && !record.splits[255]);
	record.splits[255] = sim_pages(table_is);
	end();
	begin(TACH__SPLIT_TASK | TACH__SPLIT_TAG);
	tach__split_open(&record);
	tag_is = 3;
	tach__split_task(63);
	tach__split_choose(hot);
	CHECK(is_chosen(63 * 4 + 3));
	/* A handler sets another tag, or its task. */
	next_tag = 1;
	tach__split_choose(hot);
	CHECK(is_chosen(63 * 4 + 1) && next_tag == 0);
	next_task = 5;
	task_changes = 1;
	tach__split_choose(hot);
	CHECK(is_chosen(5 * 4 + 1));
	end();
}

static void a_handler_was_first(void)
{
	record.splits[1] = sim_pages(table_is);
}

static void chosen_without_memory(void)
{
	begin(TACH__SPLIT_TAG);
	tach__split_open(&record);
	tag_is = 1;
	allowed = 0;
	tach__split_choose(hot);
	CHECK(is_chosen(0) && holds == 1);
	allowed = 1;
	at_hold = a_handler_was_first;
	tach__split_choose(hot);
	CHECK(is_chosen(1) && live == 2);
	end();
}

/* ---- sites of rows ---- */

static int is_row(uint32_t id, const char *name, const char *of_task, const char *tag)
{
	return id == PART && strcmp(part_name, name) == 0 && strcmp(part_task, of_task) == 0 &&
	       strcmp(part_tag, tag) == 0 && strcmp(part_thread, "") == 0;
}

static uint32_t row(uint32_t of_task, uint32_t tag)
{
	record.pair = of_task * 4 + tag;
	return tach__split_id(&record, ID);
}

static void rows(void)
{
	begin(TACH__SPLIT_TASK | TACH__SPLIT_TAG);
	CHECK(row(0, 0) == ID && !parts_made);
	CHECK(is_row(row(0, 1), "region [tag 0xabcd000000000001]", "", "0xabcd000000000001"));
	CHECK(is_row(row(0, 2), "region [tag 0xabcd000000000002]", "", "0xabcd000000000002"));
	CHECK(is_row(row(0, 3), "region [tag other]", "", "other"));
	CHECK(is_row(row(3, 0), "the task > region", "the task", ""));
	CHECK(is_row(row(62, 3), "the task > region [tag other]", "the task", "other"));
	CHECK(is_row(row(63, 0), "other tasks > region", "other tasks", ""));
	CHECK(parts_made == 6 && sites == 6 && the_config.split.over == 0);
	base_site.fenced = TACH__SITE_TASK | 1;
	CHECK(row(3, 1) == ID && parts_made == 6);
	base_site.fenced = (uint32_t)~TACH__SITE_TASK;
	CHECK(row(3, 1) == PART && parts_made == 7);
}

static void no_more_rows(void)
{
	static char name[NAMES];

	begin(TACH__SPLIT_TAG);
	sites = 7999;
	CHECK(row(0, 1) == PART && sites == 8000 && !the_config.split.over);
	CHECK(row(0, 1) == ID && parts_made == 1 && the_config.split.over == TACH__SPLIT_ROWS);
	begin(TACH__SPLIT_TAG);
	no_part = 1;
	CHECK(row(0, 1) == ID && sites == 0 && the_config.split.over == TACH__SPLIT_ROWS);
	/* Names are longer than the buffer. */
	begin(TACH__SPLIT_TAG);
	base_site.name = name;
	memset(name, 'x', 768 - 1 - strlen(" [tag other]"));
	CHECK(row(0, 3) == PART && strlen(part_name) == 767);
	strcat(name, "x");
	CHECK(row(0, 3) == ID && parts_made == 1 && !the_config.split.over);
	begin(TACH__SPLIT_THREAD);
	record.number = 3;
	base_site.name = name;
	name[768 - 1 - strlen(" [thread other]")] = '\0';
	sim_lock(&(struct tach__held){0});
	CHECK(tach__split_row(&record, ID) == PART && strlen(part_name) == 767);
	strcat(name, "x");
	CHECK(tach__split_row(&record, ID) == ID && parts_made == 1);
	locked = 0;
}

static void slot_is_set_in_the_current_table(void)
{
	static struct tach__slot slot, *table[ID + 1];

	begin(TACH__SPLIT_TAG);
	hot->split = tach__table(hot);
	tach__table(hot)[ID] = NULL;
	tach__split_set(&record, ID, &slot);
	CHECK(!tach__table(hot)[ID]);
	hot->split = table;
	tach__split_set(&record, ID, &slot);
	CHECK(table[ID] == &slot && !tach__table(hot)[ID]);
}

/* ---- threads ---- */

static void names(void)
{
	begin(TACH__SPLIT_TAG | TACH__SPLIT_TASK);
	memcpy(record.comm, "another of the 16", 16);
	tach__split_name(&record);
	CHECK(!record.shown[0]);
	the_config.split.by = TACH__SPLIT_THREAD;
	tach__split_name(&record);
	CHECK(strcmp(record.shown, "a comm of 16 is") == 0);
	no_file = 1;
	tach__split_name(&record);
	CHECK(strcmp(record.shown, "another of the ") == 0, "%s", record.shown);
	no_file = 0;
	hot->record = NULL;
	memset(record.shown, 0, sizeof record.shown);
	tach__split_name(&record);
	CHECK(strcmp(record.shown, "another of the ") == 0);
}

static void threads(void)
{
	begin(TACH__SPLIT_TAG | TACH__SPLIT_TASK);
	CHECK(tach__split_row(&record, ID) == ID && !parts_made);
	begin(TACH__SPLIT_THREAD);
	strcpy(record.shown, "worker");
	record.number = 2;
	base_site.parts = (struct tach__parts){"a task", "a tag", ""};
	locked = 1;
	CHECK(tach__split_row(&record, ID) == PART);
	CHECK(strcmp(part_name, "region [thread worker 4711]") == 0 && !the_config.split.over);
	CHECK(strcmp(part_thread, "worker 4711") == 0 && strcmp(part_task, "a task") == 0 &&
	      strcmp(part_tag, "a tag") == 0);
	record.number = 3;
	CHECK(tach__split_row(&record, ID) == PART && strcmp(part_thread, "other") == 0);
	CHECK(the_config.split.over == TACH__SPLIT_THREAD);
	locked = 0;
}

/* ---- entries without a place ---- */

static int is_note(const char *text, size_t size)
{
	char out[300] = "";

	return tach__split_note(&the_config, out, size) == (*text != '\0') &&
	       strcmp(out, text) == 0;
}

static void limits_are_noted(void)
{
	static const char tags_and_rows[] =
		"more than 2 tags: entries of the others are in rows of their own, 'other'; "
		"more than 8000 rows: further entries are in the undivided rows of their "
		"regions";
	static struct tach__config next;

	begin(TACH__SPLIT_TAG);
	CHECK(is_note("", 300));
	tach__split_over(&the_config.split, TACH__SPLIT_TASK | TACH__SPLIT_THREAD);
	CHECK(is_note("", 300));
	the_config.split.over |= TACH__SPLIT_ROWS;
	CHECK(is_note("more than 8000 rows: further entries are in the undivided rows of their "
		      "regions",
		      300));
	tach__split_over(&the_config.split, TACH__SPLIT_TAG);
	tach__split_over(&the_config.split, TACH__SPLIT_ROWS);
	CHECK(the_config.split.over == 15);
	CHECK(is_note(tags_and_rows, 240) && is_note("", 239));
	the_config.split.by = TACH__SPLIT_TASK | TACH__SPLIT_THREAD;
	CHECK(is_note("more than 62 regions of tasks, more than 2 threads: entries of the "
		      "others are in rows of their own, 'other'; more than 8000 rows: further "
		      "entries are in the undivided rows of their regions",
		      300));
	/* With sets that take turns, each set has a slot. */
	begin(TACH__SPLIT_TAG);
	the_config.ring.next = &next;
	next.ring.next = &the_config;
	next.split.over = TACH__SPLIT_TAG | TACH__SPLIT_ROWS;
	CHECK(is_note(tags_and_rows, 300));
}

int main(void)
{
	hot = mmap(NULL, TACH__RECORD_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	CASE(options_are_parsed);
	CASE(undivided_rows_are_unchanged);
	CASE(entries_begin_in_divided_rows);
	CASE(chosen);
	CASE(chosen_without_memory);
	CASE(rows);
	CASE(no_more_rows);
	CASE(slot_is_set_in_the_current_table);
	CASE(names);
	CASE(threads);
	CASE(limits_are_noted);
	return check_done();
}

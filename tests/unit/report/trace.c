/* SPDX-License-Identifier: MIT */
/*
 * Traces and collapsed stacks of rings whose entries are written by the test, at ticks of 1.5
 * ns: each line follows from those ticks.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "core/os/buffer.h"
#include "core/os/clock.h"
#include "core/region/region.h"
#include "core/report/report.h"
#include "tests/check.h"

static struct tach_site a = TACH_SITE_INIT("a", 0, ""), b = TACH_SITE_INIT("b;\n\x1f|", 0, "");
static struct tach__trace *ring;
static struct tach__buffer text;
static double ns; /* ns per tick, in traces */

static void *enter_both(void *unused)
{
	struct tach_region_mark outer, inner;

	tach_region_begin(&a, &outer);
	tach_region_begin(&b, &inner);
	tach_region_end(&inner);
	tach_region_end(&outer);
	return unused;
}

static struct tach__trace *next_ring(const struct tach__trace *after)
{
	struct tach__trace head;

	return (struct tach__trace *)(uintptr_t)tach__trace_next(after, &head);
}

static struct tach__traced *place(uint64_t number)
{
	uint64_t words = sizeof(struct tach__traced) / sizeof(uint64_t) + ring->sums;

	return (struct tach__traced *)(void *)(ring->word +
					       number % TACH__TRACE_ENTRIES * words);
}

/* Adds an entry to the ring; times are ticks since the traces' base. */
static struct tach__traced *add(const struct tach_site *site, uint32_t level, uint64_t begun,
				uint64_t end)
{
	struct tach__traced *e = place(ring->n);

	memset(e, 0, sizeof *e + ring->sums * sizeof *e->sum);
	e->done = ++ring->n;
	e->begun = tach__trace_base() + begun;
	e->end = tach__trace_base() + end;
	e->id = (uint32_t)site->id;
	e->level = level;
	return e;
}

static void empty(void)
{
	memset(ring->word, 0,
	       TACH__TRACE_ENTRIES * (size_t)((char *)place(1) - (char *)place(0)));
	ring->n = 0;
}

static const char *written(int folded)
{
	static struct tach__out out;

	text.length = 0;
	tach__out_open(&out, tach__buffer_sink, &text);
	if (folded)
		CHECK(tach__report_folded(&out, tach__registry.config->generation, 1.5) == 0);
	else
		CHECK(tach__report_trace(tach__buffer_sink, &text, 0) == 0);
	CHECK(tach__out_flush(&out) == 0);
	CHECK(tach__buffer_sink(&text, "", 1) == 0);
	return text.at;
}

static void nothing_is_configured(void)
{
	CHECK(tach__report_trace(tach__buffer_sink, &text, 0) == TACH_ERR_STATE);
	CHECK(tach__report_trace(tach__buffer_sink, &text, 1) == TACH_ERR_STATE);
	CHECK(text.length == 0);
}

/* ---- traces ---- */

static const char HEAD[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

static void begin_event(char *to, const char *kind, const char *name)
{
	sprintf(to + strlen(to), "\n{\"ph\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,",
		kind, name, (int)getpid(), (int)getpid());
}

/* args: the text after the time; "page-faults" is part of it only if they could be opened. */
static void format_event(char *to, const char *name, const char *times, unsigned time,
			 unsigned faults, const char *args)
{
	strcat(to, ",");
	begin_event(to, "X", name);
	sprintf(to + strlen(to), "%s,\"args\":{\"time_ns\":%u", times, time);
	if (ring->sums > 1)
		sprintf(to + strlen(to), ",\"page-faults\":%u", faults);
	sprintf(to + strlen(to), "%s}}", args);
}

static void end_trace(char *to, unsigned entries, unsigned lost)
{
	sprintf(to + strlen(to),
		"\n],\n\"otherData\":{\"tach\":\"%s\",\"entries\":%u,\"lost\":%u}}\n",
		tach_version(), entries, lost);
}

static void begin_trace(char *to)
{
	strcpy(to, HEAD);
	begin_event(to, "M", "thread_name");
	strcat(to, "\"args\":{\"name\":\"0123456789abcd\\\"f\"}}");
}

static void each_entry_is_an_event(void)
{
	char wanted[2000];
	struct tach__traced *e;

	if (ns != 1.5)
		SKIP("the clock's frequency is the machine's");
	empty();
	e = add(&b, 1, 101, 203);
	e->sum[0] = 7;
	e->tag = 0xbeef;
	if (ring->sums > 1)
		e->sum[1] = 12;
	/* Half an hour later, the time is still exact to the nanosecond. */
	e = add(&a, 0, 1200000000001, 1200000000004);
	e->flags = TACH_FLAG_SYSCALL;
	begin_trace(wanted);
	format_event(wanted, "b;\\u000a\\u001f|", "\"ts\":0.151,\"dur\":0.153", 10, 12,
		     ",\"tag\":\"0xbeef\"");
	format_event(wanted, "a", "\"ts\":1800000000.001,\"dur\":0.005", 0, 0, ",\"flags\":4");
	end_trace(wanted, 2, 0);
	CHECK(strcmp(written(0), wanted) == 0, "%s\nnot\n%s", text.at, wanted);
}

/*
 * The three oldest entries were overwritten, and three of the others are still in the ring: the
 * rest counts as lost too.
 */
static void overwritten_entries_are_counted(void)
{
	char wanted[2000];

	if (ns != 1.5)
		SKIP("the clock's frequency is the machine's");
	empty();
	ring->n = 3;
	add(&a, 0, 10, 20);
	ring->n = TACH__TRACE_ENTRIES + 1;
	add(&a, 0, 30, 40);
	add(&a, 0, 50, 60);
	begin_trace(wanted);
	format_event(wanted, "a", "\"ts\":0.015,\"dur\":0.015", 0, 0, "");
	format_event(wanted, "a", "\"ts\":0.045,\"dur\":0.015", 0, 0, "");
	format_event(wanted, "a", "\"ts\":0.075,\"dur\":0.015", 0, 0, "");
	end_trace(wanted, 3, TACH__TRACE_ENTRIES);
	CHECK(strcmp(written(0), wanted) == 0, "%s\nnot\n%s", text.at, wanted);
}

/* Rings of earlier configurations, and of threads without entries, are omitted. */
static void other_rings_are_left_out(void)
{
	char wanted[2000];

	strcpy(wanted, HEAD);
	end_trace(wanted, 0, 0);
	empty();
	CHECK(strcmp(written(0), wanted) == 0, "%s", text.at);
	add(&a, 0, 10, 20);
	ring->generation--;
	CHECK(strcmp(written(0), wanted) == 0, "%s", text.at);
	CHECK(*written(1) == '\0', "%s", text.at);
	ring->generation++;
	CHECK(strcmp(written(1), "a 15\n") == 0, "%s", text.at);
}

static int refusing(void *context, const char *piece, size_t length)
{
	(void)context;
	(void)piece;
	(void)length;
	return -5;
}

static void sinks_may_refuse(void)
{
	uint32_t refs = tach__registry.config->refs;

	empty();
	add(&a, 0, 10, 20);
	CHECK(tach__report_trace(refusing, NULL, 0) == -5);
	CHECK(tach__report_trace(refusing, NULL, 1) == -5);
	CHECK(tach__registry.config->refs == refs, "%u references, of %u",
	      tach__registry.config->refs, refs);
}

/* ---- collapsed stacks ---- */

static int lines_of(const char *t)
{
	int n = 0;

	for (; *t; t++)
		n += *t == '\n';
	return n;
}

/* Checks that the text has exactly these lines, in any order. */
static void stacks_are(const char *const *lines, int n)
{
	written(1);
	for (int i = 0; i < n; i++) {
		char whole[2000];
		const char *at;

		snprintf(whole, sizeof whole, "%s\n", lines[i]);
		at = strstr(text.at, whole);
		while (at && at != text.at && at[-1] != '\n')
			at = strstr(at + 1, whole);
		CHECK(at, "no %s in\n%s", lines[i], text.at);
	}
	CHECK(lines_of(text.at) == n, "%s", text.at);
}

/*
 * The time of nested parts is subtracted: 200 ticks minus 21, 10 and 10. Fractions of ns are
 * rounded.
 */
static void self_time_by_stack(void)
{
	static const char *const lines[] = {"a 239", "a;b:  | 39", "a;a 15", "a;b:  |;a 8"};

	empty();
	add(&a, 2, 110, 115);
	add(&b, 1, 110, 131);
	add(&b, 1, 140, 150);
	add(&a, 1, 290, 300);
	add(&a, 0, 100, 300);
	stacks_are(lines, 4);
}

/* A stack without self time has no line; an entry that begins at the same tick is nested. */
static void same_begin(void)
{
	static const char *const lines[] = {"a;b:  | 30"};

	empty();
	add(&b, 1, 100, 120);
	add(&a, 0, 100, 120);
	stacks_are(lines, 1);
}

/* A region that is still open, or was left by a jump, has no entry. */
static void without_an_outer(void)
{
	static const char *const lines[] = {"b:  | 30", "a 15", "a;b:  | 3"};

	empty();
	add(&b, 1, 10, 30);
	add(&b, 2, 42, 44);
	add(&a, 1, 41, 53);
	stacks_are(lines, 3);
}

static void of_all_rings(void)
{
	static const char *const lines[] = {"a 45"}, *const apart[] = {"a 600", "b:  | 15"};
	struct tach__trace *mine = ring;
	pthread_t thread;

	empty();
	add(&a, 0, 10, 20);
	pthread_create(&thread, NULL, enter_both, NULL);
	pthread_join(thread, NULL);
	ring = next_ring(NULL);
	CHECK(ring != mine && next_ring(ring) == mine);
	empty();
	add(&a, 0, 10, 30);
	stacks_are(lines, 1);
	/* An open region of one thread does not enclose those of another. */
	empty();
	add(&a, 0, 0, 400);
	ring = mine;
	empty();
	add(&b, 1, 20, 30);
	stacks_are(apart, 2);
	ring = next_ring(NULL);
	empty();
	ring = mine;
}

/* The last entries of a full ring; one tick of self time is enough for a line. */
static void remaining_entries_make_stacks(void)
{
	static const char *const lines[] = {"a 30", "b:  | 2"};

	empty();
	ring->n = TACH__TRACE_ENTRIES + 1;
	add(&a, 0, 30, 50);
	add(&b, 0, 60, 61);
	stacks_are(lines, 2);
}

/* 131 regions are open: the three deepest are siblings inside the 128th. */
static void deeper_than_a_stack_is(void)
{
	char path[1000] = "", line[1010];

	empty();
	for (uint32_t level = 131; level-- > 0;)
		add(level == 130 ? &b : &a, level, 1000 + 10 * level, 9000 - 10 * level);
	written(1);
	for (int level = 0; level < 131; level++) {
		/*
		 * The 128th has three nested entries of 5440, 5420 and 5400 ticks, which are
		 * the innermost.
		 */
		int ticks = level < 127 ? 20 : level == 127 ? 5460 - 5440 - 5420 - 5400 : 0;

		if (level < 128)
			strcat(path, level ? ";a" : "a");
		snprintf(line, sizeof line, "%s %d\n", path, ticks * 3 / 2);
		CHECK(level > 126 || strstr(text.at, line), "%d: %s", level, line);
	}
	snprintf(line, sizeof line, "%s;a %d\n", path, (5440 + 5420) * 3 / 2);
	CHECK(strstr(text.at, line), "%s", line);
	snprintf(line, sizeof line, "%s;b:  | %d\n", path, 5400 * 3 / 2);
	CHECK(strstr(text.at, line), "%s", line);
	CHECK(lines_of(text.at) == 127 + 2, "%d lines", lines_of(text.at));
}

/* Writes a tree with as many stacks as a ring has entries, which are sorted by their end. */
static uint64_t tree(uint32_t level, uint32_t deepest, const struct tach_site *site,
		     uint64_t now)
{
	uint64_t begun = now++;

	if (level < deepest) {
		now = tree(level + 1, deepest, &a, now);
		now = tree(level + 1, deepest, &b, now);
	}
	add(site, level, begun, now + 1);
	return now + 1;
}

/* 4096 of 8191 stacks fit: nested entries of the other stacks appear in no stack. */
static void more_stacks_than_room(void)
{
	int ticks = 0;

	empty();
	tree(0, 12, &a, 100);
	CHECK(ring->n == 8191);
	written(1);
	CHECK(lines_of(text.at) == 4096, "%d lines", lines_of(text.at));
	for (const char *at = text.at; *at; at = strchr(at, '\n') + 1) {
		const char *end = at + strcspn(at, "\n");

		while (end[-1] != ' ')
			end--;
		/* Each entry has one tick at its begin and one at its end. */
		ticks += atoi(end) == 3;
		CHECK(*at == 'a', "%.*s", (int)strcspn(at, "\n"), at);
	}
	CHECK(ticks == 4096, "%d of them are as long as each is", ticks);
}

int main(void)
{
	struct perf_event_mmap_page page = {
		.cap_user_time = 1, .time_shift = 1, .time_mult = 3};
	uint32_t flags = 0;
	double error;

	CASE(nothing_is_configured);
	CHECK(tach_regions_configure(&(struct tach_regions_options){.events = "page-faults"},
				     NULL) == 0);
	tach__registry.config->trace = 1;
	enter_both(NULL);
	tach__clock_learn(&page);
	ring = next_ring(NULL);
	ns = 1e9 / tach__clock_hz(TACH__CLOCK_SOON, &flags, &error);
	memcpy(ring->name, "0123456789abcd\"f", sizeof ring->name);
	CASE(each_entry_is_an_event);
	CASE(overwritten_entries_are_counted);
	CASE(other_rings_are_left_out);
	CASE(sinks_may_refuse);
	CASE(self_time_by_stack);
	CASE(same_begin);
	CASE(without_an_outer);
	CASE(of_all_rings);
	CASE(remaining_entries_make_stacks);
	CASE(deeper_than_a_stack_is);
	CASE(more_stacks_than_room);
	tach__buffer_free(&text);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Opening a reader of two core types: the refusals that are possible, and the descriptors that
 * stay open.
 */
#include "tests/descriptors.h"
#include "tests/unit/reader/hybrid.h"

/*
 * An event that counts alone, but not together with another: this is reported, and nothing
 * stays open.
 */
static void members_that_do_not_fit_together(void)
{
	begin("cycles instructions", NULL);
	sim.alone = 1;
	CHECK(tach_reader_open(set, &reader, &err) == TACH_ERR_NOCOUNTER, "%d %s", err.code,
	      err.text);
	CHECK(strstr(err.text, "the first 1 of 2 events fit together"), "%s", err.text);
	end();
}

/* An event that the kernel refuses as a leader is not tried as a leader again. */
static void refused_events_are_asked_for_once(void)
{
	begin("cycles", NULL);
	sim.refuses = 1;
	CHECK(tach_reader_open(set, &reader, &err) == TACH_ERR_INVAL, "%d %s", err.code,
	      err.text);
	CHECK(sim.asked == (TACH_ARCH_ASKS ? 2 : 1), "%d", sim.asked);
	end();
}

/* In a program without standard input, the first event gets descriptor 0. */
static void zero_is_a_descriptor(void)
{
	uint64_t value[TACH_COUNTERS_MAX];
	int input = dup(0);

	close(0);
	if (!opened("cycles instructions"))
		return;
	CHECK(event[0].open && !event[0].detached);
	for (int core = 0; core < CORES; core++) {
		sim_work(5);
		CHECK(tach_reader_read(reader, value) == 0);
		CHECK(value[0] == 5 * (1 + (uint64_t)core) && value[1] == 2 * value[0],
		      "%llu %llu", (unsigned long long)value[0], (unsigned long long)value[1]);
		move();
	}
	end();
	dup2(input, 0);
	close(input);
}

/* If a page cannot be mapped, its event is counted by its descriptor. */
static void pages_that_cannot_be_mapped(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	for (int nth = 1; nth <= 6; nth++) {
		begin("cycles instructions r1c2", NULL);
		sim.unmappable = nth;
		CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
		for (int core = 0; core < CORES; core++) {
			tach_reader_begin(reader, &mark);
			sim_work(5);
			CHECK((tach_reader_end(reader, &mark, delta) & ~TACH_FLAG_SYSCALL) ==
			      0);
			CHECK(strcmp(tach_reader_missing(reader), "") != 0);
			CHECK(delta[0] == 5 && delta[1] == 10, "%d: %llu %llu", nth,
			      (unsigned long long)delta[0], (unsigned long long)delta[1]);
			move();
		}
		end();
	}
}

/*
 * A page without a width is not used: its counter is not read, even if the page has an index.
 */
static void pages_without_a_width(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	for (int members = 1; members < 4; members++) {
		begin("cycles instructions", NULL);
		sim.no_width = members;
		CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
		CHECK(strcmp(tach_reader_missing(reader), "") != 0);
		for (int core = 0; core < CORES; core++) {
			sim_work(5);
			CHECK(tach_reader_read(reader, value) == TACH_FLAG_SYSCALL);
			CHECK(value[0] == 5 * (1 + (uint64_t)core) && value[1] == 2 * value[0],
			      "%d: %llu %llu", members, (unsigned long long)value[0],
			      (unsigned long long)value[1]);
			move();
		}
		end();
	}
}

/* Metrics that do not follow their slots are counted by the kernel, like any other event. */
static void metrics_without_slots(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	begin("cycles adl_grt::INST_RETIRED:ANY_P", NULL);
	set->cores->attr[1][1].config = 0x8000; /* the planner finds no place for it */
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	CHECK(strcmp(tach_reader_missing(reader),
		     "adl_grt::INST_RETIRED:ANY_P is a metric of packed fractions") == 0,
	      "%s", tach_reader_missing(reader));
	move();
	sim_work(5);
	CHECK(tach_reader_read(reader, value) == TACH_FLAG_SYSCALL && value[1] == 5, "%llu",
	      (unsigned long long)value[1]);
	end();
}

/* The leader's descriptor of each core type stays: it is read and restarted. */
static void descriptors_that_stay(void)
{
	int before = descriptors(), kept = 0;

	if (!opened("cycles instructions r1c2"))
		return;
	for (int fd = 0; fd < FDS; fd++)
		kept += event[fd].open && !event[fd].detached;
	CHECK(kept == CORES, "%d", kept);
	end();
	CHECK(descriptors() == before);
}

/*
 * In a child, pages contain zeros. The child's descriptors are copies and get closed, or belong
 * to the parent too and stay open when the child closes its reader.
 */
static void given_up_by_a_child(void)
{
	for (int shares = 0; shares < 2; shares++) {
		const struct tach__hybrid *h;
		int left = 0;

		if (!opened("cycles instructions"))
			return;
		sim.shares = shares;
		tach__readers_orphaned();
		h = tach__reader(reader)->hybrid;
		for (int i = 0; i < CORES * 2; i++)
			CHECK(!h->core[i / 2].way[i % 2].page->lock);
		tach_reader_close(reader);
		reader = NULL;
		for (int fd = 0; fd < FDS; fd++)
			if (event[fd].open) { /* or a mapping for all readers */
				left += !event[fd].detached;
				event[fd].open = 0;
				close(fd);
			}
		CHECK(left == (shares ? CORES : 0), "%d", left);
		end();
	}
}

/* If memory runs out, nothing stays mapped, and the error says so. */
static void without_memory(void)
{
	int code = TACH_ERR_NOMEM, nth;

	for (nth = 1; code; nth++) {
		struct tach_error why = TACH_ERROR_INIT;

		begin("cycles", NULL);
		sim.no_memory = nth;
		code = tach_reader_open(set, &reader, &why);
		CHECK(code == 0 || (code == TACH_ERR_NOMEM && why.code == code &&
				    why.column == 0 && why.line == 0 && sim.memory == 0),
		      "%d: %d %s, %ld bytes", nth, code, why.text, sim.memory);
		end();
	}
	CHECK(nth > 3, "%d", nth);
}

static void groups_that_cannot_be_read(void)
{
	struct tach_error why = TACH_ERROR_INIT;

	begin("cycles", NULL);
	sim.unreadable = 1;
	CHECK(tach_reader_open(set, &reader, &why) == -EIO && why.code == -EIO &&
	      why.column == 0 && why.line == 0);
	CHECK(strncmp(why.text, "cannot read a group: ", 21) == 0 &&
		      strcmp(why.text + 21, strerror(EIO)) == 0,
	      "%s", why.text);
	end();
}

/* A set that may be multiplexed never reads its pages. */
static void multiplexed(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	uint64_t value[TACH_COUNTERS_MAX];

	begin("cycles", NULL);
	tach_set_free(set);
	opt.events = "cycles instructions";
	opt.flags = TACH_SET_MULTIPLEX;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	CHECK(strstr(tach_reader_missing(reader), "may be multiplexed"), "%s",
	      tach_reader_missing(reader));
	sim_work(3);
	CHECK(tach_reader_read(reader, value) == TACH_FLAG_SYSCALL && value[0] == 3 &&
	      value[1] == 6);
	end();
}

/* If a core type lacks the event, the time on that core type counts as uncounted. */
static void events_of_the_other_core_type(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	if (!opened("adl_grt::INST_RETIRED:ANY_P"))
		return;
	sim_work(5);
	CHECK(tach_reader_read(reader, value) == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE) &&
	      value[0] == 0);
	end();
}

int main(void)
{
	setenv("TACH_PMU", "adl_glc,adl_grt", 1);
	CASE(members_that_do_not_fit_together);
	CASE(refused_events_are_asked_for_once);
	CASE(zero_is_a_descriptor);
	CASE(pages_that_cannot_be_mapped);
	CASE(pages_without_a_width);
	CASE(metrics_without_slots);
	CASE(descriptors_that_stay);
	CASE(given_up_by_a_child);
	CASE(without_memory);
	CASE(groups_that_cannot_be_read);
	CASE(multiplexed);
	CASE(events_of_the_other_core_type);
	return check_done();
}

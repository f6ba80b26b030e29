/* SPDX-License-Identifier: MIT */
/*
 * The slow paths, case by case: which flags they set, and that they write no value that was not
 * requested. This file tests sets with members of several kinds, and lost counts.
 */
#include "tests/unit/reader/slow.h"

/* ---- members of several kinds ---- */

/* Expected growth of member i after all_work(100): hardware, emulated, software. */
static uint64_t worth(int hard, int emulates, int i)
{
	if (i < hard)
		return 100 * (uint64_t)(i + 1) + (uint64_t)i;
	if (i < hard + emulates)
		return 100 + (uint64_t)(i - hard + 1);
	return 100 + 2 * (uint64_t)(i - hard - emulates);
}

static void mixed(int hard, int emulates, int soft, uint32_t flags)
{
	int all = hard + emulates + soft;

	for (unsigned n = 0; n <= (unsigned)all; n++) {
		struct tach_reader *r = open_mixed(hard, emulates, soft);
		uint32_t got;

		tach__begin_slow(r, &mark, n);
		CHECK(untouched(mark.value, (int)n), "%d %d %d: %u", hard, emulates, soft, n);
		CHECK(mark.reader == r && mark.lock & 1 && !(mark.flags & TACH_FLAG_LOST));
		all_work(100);
		got = tach__end_slow(r, &mark, delta, n);
		CHECK(untouched(delta, (int)n), "%d %d %d: %u", hard, emulates, soft, n);
		/* Without hardware members there is no page to read. */
		CHECK(got == (flags | (hard && n == 0 ? TACH_FLAG_SYSCALL : 0)),
		      "%d %d %d: %u, flags %#x", hard, emulates, soft, n, got);
		for (int i = 0; i < (int)n; i++)
			CHECK(delta[i] == worth(hard, emulates, i), "%d of %u: %llu", i, n,
			      (unsigned long long)delta[i]);
		/* Counts since the open, starting at each member in turn. */
		for (unsigned from = 0; from + n <= (unsigned)all && n; from++) {
			fill(delta);
			CHECK(tach__read_slow(r, delta, from, n) == flags);
			CHECK(untouched(delta, (int)n));
			for (int i = 0; i < (int)n; i++) {
				int m = i + (int)from;
				uint64_t was = m < hard ? 7000
					       : m < hard + emulates
						       ? 0
						       : 500 + (uint64_t)(m - hard - emulates);

				CHECK(delta[i] == was + worth(hard, emulates, m), "%d: %llu", m,
				      (unsigned long long)delta[i]);
			}
		}
	}
}

static void members_of_several_kinds(void)
{
	mixed(0, 0, 1, TACH_FLAG_SYSCALL);
	mixed(0, 0, 3, TACH_FLAG_SYSCALL);
	mixed(0, 2, 0, 0);
	mixed(0, 1, 1, 0);
	mixed(0, 2, 2, 0);
	mixed(1, 0, 1, 0);
	mixed(2, 0, 2, 0);
	mixed(1, 1, 1, 0);
	mixed(2, 2, 2, 0);
	mixed(3, 0, 0, 0);
}

/* The hardware event is not the first member, and is not requested. */
static void hardware_behind_others(void)
{
	struct tach_reader *reader = open_mixed(0, 0, 2);
	struct tach__reader *r = tach__reader(reader);

	sim.set.count = 4;
	reader->count = 4;
	sim.n = 2;
	for (int i = 0; i < 2; i++) {
		r->hard.member[i] = (uint8_t)(2 + i);
		reader->way[2 + i].page = tach__reader_page(r, 2 + i);
		sim.event[i].count = 7000;
	}
	r->hard.count = 2;
	/* The pages of members 2 and 3 show no counter, so read(2) is used. */
	for (unsigned n = 1; n <= 4; n++) {
		soil();
		tach__begin_slow(reader, &mark, n);
		CHECK(mark.flags == TACH_FLAG_SYSCALL && untouched(mark.value, (int)n), "%#x",
		      mark.flags);
		for (int i = 0; i < 2; i++)
			sim.event[i].count += 30;
		CHECK(tach__end_slow(reader, &mark, delta, n) == TACH_FLAG_SYSCALL);
		CHECK(untouched(delta, (int)n) && delta[0] == 0);
		for (unsigned i = 2; i < n; i++)
			CHECK(delta[i] == 30, "%u: %llu", i, (unsigned long long)delta[i]);
	}
	CHECK(tach__read_slow(reader, delta, 2, 2) == TACH_FLAG_SYSCALL && delta[0] == 7120 &&
	      delta[1] == 7120);
	/* By their pages. */
	for (int i = 0; i < 2; i++) {
		struct perf_event_mmap_page *page = tach__reader_page(r, 2 + i);

		sim.event[i].index = (uint32_t)i + 1;
		*page = (struct perf_event_mmap_page){
			.lock = 4, .index = (uint32_t)i + 1, .pmc_width = 48, .offset = 7120};
	}
	for (unsigned n = 1; n <= 4; n++) {
		soil();
		tach__begin_slow(reader, &mark, n);
		CHECK(mark.flags == (n > 2 ? 0 : TACH_FLAG_SYSCALL), "%u: %#x", n, mark.flags);
		CHECK(mark.lock & 1 && untouched(mark.value, (int)n));
	}
}

/* Hardware events are lost; software members of the same set are read as usual. */
static void hardware_of_another_kind(void)
{
	for (int topdown = 0; topdown < 2; topdown++)
		for (int flags = 0; flags < 2; flags++) {
			struct tach_reader *reader = open_mixed(1, 0, 1);
			struct tach__reader *r = tach__reader(reader);

			if (topdown)
				r->topdown.on = 1;
			else
				r->hybrid = (struct tach__hybrid *)&other;
			other = 0;
			tach__begin_slow(reader, &mark, 2);
			CHECK(other == "ht"[topdown] && other_got == &mark && others == 2);
			CHECK(mark.flags == 0 && mark.lock == 1 && mark.value[0] == canary);
			all_work(100);
			other_flags = flags ? TACH_FLAG_INCOMPLETE : 0;
			fill(delta);
			CHECK(tach__end_slow(reader, &mark, delta, 2) == other_flags);
			CHECK(other == "HT"[topdown] && other_got == delta && others == 2);
			CHECK(delta[0] == canary && delta[1] == 100);
			other = 0;
			CHECK(tach__read_slow(reader, delta, 0, 2) == other_flags);
			CHECK(other == "rR"[topdown] && delta[0] == 0 && delta[1] == 600);
			/* Data of the other thread are not used. */
			r->owner = &other;
			other = 0;
			CHECK(tach__read_slow(reader, delta, 0, 2) == TACH_FLAG_LOST && !other);
			other_flags = 0;
		}
}

/* ---- what is lost ---- */

static void zeros(struct tach_reader *r, unsigned n, const char *what)
{
	fill(delta);
	CHECK(tach__end_slow(r, &mark, delta, n) == TACH_FLAG_LOST, "%s", what);
	CHECK(untouched(delta, (int)n), "%s", what);
	for (unsigned i = 0; i < n; i++)
		CHECK(delta[i] == 0, "%s", what);
}

static void reads_lost(struct tach_reader *r, unsigned n, uint32_t besides, const char *what)
{
	uint32_t flags;

	fill(delta);
	flags = tach__read_slow(r, delta, 0, n);
	CHECK(flags == (TACH_FLAG_LOST | besides), "%s: %#x", what, flags);
	CHECK(untouched(delta, (int)n), "%s", what);
	for (unsigned i = 0; i < n; i++)
		CHECK(delta[i] == 0, "%s", what);
}

/* If another thread owns the reader, it reads nothing. */
static void of_another_thread(void)
{
	static const int kinds[][3] = {{0, 0, 2}, {0, 2, 0}, {2, 0, 0}, {2, 1, 1}, {0, 1, 1}};
	static char stranger;

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct tach_reader *r = open_mixed(kinds[k][0], kinds[k][1], kinds[k][2]);
		unsigned n = r->count;

		tach__reader(r)->owner = &stranger;
		tach__begin_slow(r, &mark, n);
		CHECK(mark.flags == TACH_FLAG_LOST && mark.reader == r && mark.lock & 1);
		CHECK(untouched(mark.value, 0) && soft_read == 0);
		/* The region is flagged, even if the reader's own thread ends it ... */
		tach__reader(r)->owner = tach__thread_token();
		zeros(r, n, "begun elsewhere");
		/*
		 * ... and a region that began on the right thread is flagged if another thread
		 * ends it.
		 */
		soil();
		tach__begin_slow(r, &mark, n);
		CHECK(mark.flags == 0 && mark.lock & 1);
		soft_read = 0;
		tach__reader(r)->owner = &stranger;
		zeros(r, n, "ended elsewhere");
		reads_lost(r, n, 0, "read elsewhere");
		reads_lost(r, 1, 0, "read elsewhere");
		CHECK(soft_read == 0);
	}
}

/* The same is true if begin took the fast path. */
static void ended_elsewhere_after_a_fast_begin(void)
{
	static char stranger;

	for (unsigned n = 1; n <= 2; n++) {
		struct tach_reader *r = open_sim((int)n, 48);

		tach_reader_begin(r, &mark);
		CHECK(!(mark.lock & 1));
		sim_work_all(100);
		sim_touch();
		tach__reader(r)->owner = &stranger;
		zeros(r, n, "ended elsewhere");
	}
}

/* A fast begin does not write the mark's flags, so their content is arbitrary. */
static void flags_of_a_fast_begin(void)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		struct tach_reader *r = open_sim(2, 48);
		uint32_t flags;

		mark.flags = 1u << bit;
		tach_reader_begin(r, &mark);
		sim_work_all(100);
		sim_out();
		flags = tach_reader_end(r, &mark, delta);
		CHECK(flags == (TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_RESCHEDULED) &&
			      delta[0] == 100 && delta[1] == 201,
		      "%u: %#x", bit, flags);
		mark.flags = 1u << bit;
		sim_touch();
		for (int i = 0; i < 2; i++)
			sim_put(i, (uint32_t)i + 1);
		tach_reader_begin(r, &mark);
		sim_reschedule();
		CHECK(tach_reader_end(r, &mark, delta) == TACH_FLAG_RESCHEDULED &&
			      delta[1] == 0,
		      "%u", bit);
	}
}

/* Other code disabled events by prctl: begin while disabled, end while disabled, or both. */
static void software_turned_off(void)
{
	for (int hard = 0; hard < 2; hard++)
		for (int off = 0; off < 4; off++) {
			struct tach_reader *reader = open_mixed(hard, 0, 2);
			uint32_t gone = hard ? TACH_FLAG_LOST
					     : TACH_FLAG_INCOMPLETE | TACH_FLAG_SYSCALL;
			uint32_t flags;

			soft_off = off & 1;
			tach__begin_slow(reader, &mark, 2);
			all_work(100);
			soft_off = off >> 1;
			flags = tach__end_slow(reader, &mark, delta, 2);
			CHECK(flags == (off    ? gone
					: hard ? 0
					       : TACH_FLAG_SYSCALL),
			      "%d members of hardware, off %d: flags %#x", hard, off, flags);
			CHECK(delta[0] == (off && hard ? 0 : 100), "%llu",
			      (unsigned long long)delta[0]);
			CHECK(tach_reader_flags(reader, 1, flags) ==
			      (TACH_FLAG_SYSCALL |
			       (off ? gone & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE) : 0)));
		}
}

static void software_refused(void)
{
	static const int kinds[][3] = {{0, 0, 2}, {1, 0, 1}, {0, 1, 1}};

	for (size_t k = 0; k < 3; k++)
		for (int refusal = 0; refusal < 2; refusal++) {
			struct tach_reader *r =
				open_mixed(kinds[k][0], kinds[k][1], kinds[k][2]);
			int alone = kinds[k][2] == 2;
			uint32_t flags;

			soft_refused = refusal ? -EIO : 1;
			tach__begin_slow(r, &mark, 2);
			CHECK(mark.flags == TACH_FLAG_LOST, "%#x", mark.flags);
			soft_refused = 0;
			zeros(r, 2, "refused at begin");
			soil();
			tach__begin_slow(r, &mark, 2);
			soft_refused = refusal ? -EIO : 1;
			fill(delta);
			flags = tach__end_slow(r, &mark, delta, 2);
			CHECK(flags == (TACH_FLAG_LOST | (alone ? TACH_FLAG_SYSCALL : 0)),
			      "%#x", flags);
			CHECK(delta[0] == 0 && delta[1] == 0 && untouched(delta, 2));
			reads_lost(r, 2, alone ? TACH_FLAG_SYSCALL : 0, "refused");
		}
}

/* The hardware members can be read neither by pages nor by read(2). */
static void hardware_refused(void)
{
	struct tach_reader *r = open_mixed(2, 0, 1);
	struct tach__group_read now;

	sim_out();
	hard_refused = 1;
	tach__begin_slow(r, &mark, 3);
	CHECK(mark.flags == (TACH_FLAG_LOST | TACH_FLAG_SYSCALL), "%#x", mark.flags);
	zeros(r, 3, "refused at begin");
	soft_read = 0;
	reads_lost(r, 3, TACH_FLAG_SYSCALL, "refused");
	CHECK(soft_read == 0);
	hard_refused = 0;
	soil();
	tach__begin_slow(r, &mark, 3);
	CHECK(mark.flags == TACH_FLAG_SYSCALL, "%#x", mark.flags);
	hard_refused = 1;
	zeros(r, 3, "refused at end");
	/* In error state, begin enables the group again; an end does not. */
	hard_refused = 0;
	sim_fail();
	zeros(r, 3, "failed amid");
	/* Enabling does not always help; then the value is unknown. */
	hard_dead = 1;
	tach__reader(r)->lag = 5;
	tach__reader(r)->grown_lock = 6;
	reads_lost(r, 3, TACH_FLAG_SYSCALL, "dead");
	CHECK(tach__reader(r)->lag == 5 && tach__reader(r)->grown_lock == 6);
	soil();
	sim_out(); /* no page helps */
	tach__begin_slow(r, &mark, 3);
	CHECK(mark.flags == (TACH_FLAG_LOST | TACH_FLAG_SYSCALL), "%#x", mark.flags);
	now.enabled = 7;
	CHECK(tach__turned_off(&tach__reader(r)->hard, &now) == 0);
}

int main(void)
{
	CASE(members_of_several_kinds);
	CASE(hardware_behind_others);
	CASE(hardware_of_another_kind);
	CASE(of_another_thread);
	CASE(ended_elsewhere_after_a_fast_begin);
	CASE(flags_of_a_fast_begin);
	CASE(software_turned_off);
	CASE(software_refused);
	CASE(hardware_refused);
	return check_done();
}

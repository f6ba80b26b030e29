/* SPDX-License-Identifier: MIT */
/*
 * The slow exits, case by case: which flags exactly, and that nothing is written of members
 * that were not asked for. The kernel is fakepage.h's, with a group of software events beside.
 */
#include <errno.h>
#include "tests/unit/reader/fakepage.h"

/* Where the thread's core type, or top-down metrics, make it another's: this test's. */
static unsigned others;
static char other;
static const void *other_got;
static uint32_t other_flags;

static uint32_t another(char which, const void *got, unsigned n)
{
	other = which;
	other_got = got;
	others = n;
	return other_flags;
}

void tach__hybrid_begin(struct tach__reader *r, struct tach_mark *to, unsigned n)
{
	(void)r;
	another('h', to, n);
}

void tach__topdown_begin(struct tach__reader *r, struct tach_mark *to, unsigned n)
{
	(void)r;
	another('t', to, n);
}

uint32_t tach__hybrid_end(struct tach__reader *r, const struct tach_mark *from, uint64_t *to,
			  unsigned n)
{
	(void)r, (void)from;
	return another('H', to, n);
}

uint32_t tach__topdown_end(struct tach__reader *r, const struct tach_mark *from, uint64_t *to,
			   unsigned n)
{
	(void)r, (void)from;
	return another('T', to, n);
}

uint32_t tach__hybrid_read(struct tach__reader *r, uint64_t *all)
{
	(void)r;
	return another('r', all, 0);
}

uint32_t tach__topdown_read(struct tach__reader *r, uint64_t *all)
{
	(void)r;
	return another('R', all, 0);
}

/* Told apart by its number: the hardware's descriptor is 0. */
enum { SOFT = 7 };
static const uint64_t canary = 0x5ca1ab1e5ca1ab1e;
static uint64_t soft_count[TACH_COUNTERS_MAX], emulated[TACH__EMULATED_COUNTS];
static int soft_refused, soft_read, hard_refused, hard_dead;

static long sys(long number, long a, long b, long c, long d, long e, long f)
{
	struct tach__group_read *to = (struct tach__group_read *)b;

	if (number == SYS_read && a != SOFT && hard_refused)
		return -EIO;
	if (number == SYS_read && a != SOFT && hard_dead)
		return 0;
	if (number != SYS_read || a != SOFT)
		return sim_sys(number, a, b, c, d, e, f);
	soft_read++;
	if (soft_refused)
		return soft_refused < 0 ? soft_refused : 0; /* or in error state */
	memcpy(to->value, soft_count, sizeof soft_count);
	return sizeof *to;
}

static struct tach_mark mark;
static uint64_t delta[TACH_COUNTERS_MAX + 1];

static void fill(uint64_t *with)
{
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		with[i] = canary;
}

static int untouched(const uint64_t *value, int from)
{
	for (int i = from; i < TACH_COUNTERS_MAX; i++)
		if (value[i] != canary)
			return 0;
	return 1;
}

static void soil(void)
{
	memset(&mark, 0xff, sizeof mark);
	fill(mark.value);
	fill(delta);
}

static struct tach_reader *open_sim(int n, unsigned width)
{
	struct tach_reader *r = sim_open(n, width, 7000);

	tach__sys = sys;
	soft_refused = hard_refused = hard_dead = soft_read = 0;
	soil();
	return r;
}

/*
 * HARD members of hardware, then so many that an emulator counts, then software events. Where
 * there are others, hardware's pages are not looked at by the inline reads.
 */
static struct tach_reader *open_mixed(int hard, int emulates, int soft)
{
	struct tach_reader *reader = open_sim(hard, 48);
	struct tach__reader *r = tach__reader(reader);
	int n = hard;

	for (int i = 0; i < emulates; i++, n++) {
		sim.set.member[n].kind = TACH_MEMBER_EMULATED;
		sim.set.member[n].emulated = 1 + i;
	}
	r->emulated.count = emulates;
	r->emulated.counts = emulated;
	for (int i = 0; i < TACH__EMULATED_COUNTS; i++)
		r->emulated.begun[i] = emulated[i] = 1000 + 10 * (uint64_t)i;
	r->soft.leader = SOFT;
	for (int i = 0; i < soft; i++, n++) {
		sim.set.member[n].kind = TACH_MEMBER_SOFTWARE;
		r->soft.member[r->soft.count++] = (uint8_t)n;
		soft_count[i] = 500 + (uint64_t)i;
	}
	sim.set.count = n;
	reader->count = (uint32_t)n;
	reader->fast = 0;
	return reader;
}

static void all_work(uint64_t amount)
{
	sim_work_all(amount);
	for (int i = 0; i < TACH__EMULATED_COUNTS; i++)
		emulated[i] += amount + (uint64_t)i;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		soft_count[i] += amount + 2 * (uint64_t)i;
}

/* ---- members of several kinds ---- */

/* What all_work(100) makes of member i: hardware, emulated, software. */
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
		/* Of no hardware member there is no page to read. */
		CHECK(got == (flags | (hard && n == 0 ? TACH_FLAG_SYSCALL : 0)),
		      "%d %d %d: %u, flags %#x", hard, emulates, soft, n, got);
		for (int i = 0; i < (int)n; i++)
			CHECK(delta[i] == worth(hard, emulates, i), "%d of %u: %llu", i, n,
			      (unsigned long long)delta[i]);
		/* Since open, from any member on. */
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

/* Hardware that is not the first member, and is not asked for. */
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
	/* The pages of members 2 and 3 show no counter: by read(2). */
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

/* Beside those, software members are read as ever. */
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
			/* Nothing of another thread's. */
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

/* Nothing is read for another thread. */
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
		/* Its flags say so, even where the other's thread ends it ... */
		tach__reader(r)->owner = tach__thread_token();
		zeros(r, n, "begun elsewhere");
		/* ... and an end elsewhere does so of a region that was begun well. */
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

/* Flags of a begin that was fast are whatever was there. */
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

/* Neither by pages nor by read(2). */
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
	/* In error state, begin enables it again; an end does not. */
	hard_refused = 0;
	sim_fail();
	zeros(r, 3, "failed amid");
	/* That does not help always, and then nothing is known of it. */
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

/* ---- begin's own time ---- */

/* Narrow counters are read out of line always: no news. Read twice: that is news. */
static void begun_out_of_line(void)
{
	int twice = 0;

	for (long at = -1; at < 24; at++) {
		struct tach_reader *r = open_sim(2, 32);
		uint32_t begun, flags;

		sim.act = sim_reschedule;
		sim.point = at;
		tach_reader_begin_n(r, &mark, 2);
		begun = mark.flags;
		CHECK(mark.reader == r && mark.lock & 1);
		CHECK(begun == 0 || (at >= 0 && begun == TACH_FLAG_RESCHEDULED), "%#x", begun);
		twice += begun != 0;
		sim.act = NULL;
		sim_work_all(100);
		begun = sim_page(0)->lock == mark.lock - 1 ? begun : TACH_FLAG_RESCHEDULED;
		flags = tach_reader_end_n(r, &mark, delta, 2);
		CHECK(flags == begun && delta[0] == 100 && delta[1] == 201, "%ld: %#x", at,
		      flags);
		/* Less than what else there is to say. */
		tach_reader_begin_n(r, &mark, 2);
		sim_starve();
		CHECK(tach_reader_end_n(r, &mark, delta, 2) == TACH_FLAG_INCOMPLETE);
		mark.flags = TACH_FLAG_RESCHEDULED;
		CHECK(tach_reader_end_n(r, &mark, delta, 2) == TACH_FLAG_INCOMPLETE);
	}
	CHECK(twice == 10, "%d", twice);
}

/* A begin that is inline as a rule, and was not: what it took is counted in the region. */
static void begun_out_of_line_for_once(void)
{
	for (int n = 1; n <= 2; n++)
		for (long at = 0; at < 8; at++) {
			struct tach_reader *r = open_sim(n, 48);
			uint32_t flags;

			sim.act = sim_touch;
			sim.point = at;
			tach_reader_begin(r, &mark);
			CHECK(!(mark.lock & 1) || mark.flags == TACH_FLAG_RESCHEDULED);
			sim.act = NULL;
			flags = sim_page(0)->lock == mark.lock ? 0 : TACH_FLAG_RESCHEDULED;
			sim_work_all(100);
			CHECK(tach_reader_end(r, &mark, delta) == flags && delta[0] == 100);
		}
}

/* ---- ends ---- */

static void restore(void)
{
	sim.revoked = 0;
}

static void revoke_for_a_while(void)
{
	sim.revoked = 1;
	sim.act = restore;
	sim.point = sim.steps + 6; /* the end's own counter, and the slow exit's */
}

/* The counter could not be read, and can be now: what that took is counted. */
static void faults_for_once(void)
{
	for (int n = 1; n <= 2; n++) {
		struct tach_reader *r = open_sim(n, 48);
		uint32_t flags;

		tach_reader_begin(r, &mark);
		mark.flags = n == 1 ? 0 : ~0u; /* a fast begin leaves them */
		sim_work_all(100);
		sim.act = revoke_for_a_while;
		sim.point = sim.steps;
		flags = tach_reader_end(r, &mark, delta);
		CHECK(!sim.revoked && flags == TACH_FLAG_RESCHEDULED && delta[0] == 100,
		      "%#x, %llu", flags, (unsigned long long)delta[0]);
		CHECK(n == 1 || delta[1] == 201, "%llu", (unsigned long long)delta[1]);
		/* The same of a group that was rescheduled, or starved. */
		tach_reader_begin(r, &mark);
		sim_starve();
		sim.act = revoke_for_a_while;
		sim.point = sim.steps;
		CHECK(tach_reader_end(r, &mark, delta) == TACH_FLAG_INCOMPLETE);
	}
}

/* Once, several times, or not here. */
static void sums_tell_how_often(void)
{
	struct tach_reader *r = open_sim(1, 48);
	uint64_t sum = 0;

	CHECK(tach__sum_of(r->way[0], 1, &sum) == 1 && sum == 7000);
	sim.act = sim_reschedule;
	sim.point = sim.steps + 1;
	sum = 0;
	CHECK(tach__sum_of(r->way[0], 1, &sum) == 2 && sum == 7000);
	/* Put on a counter after it was seen to have none: read again where that may fault. */
	sim_out();
	sim.act = sim_move;
	sim.event[0].index = 1;
	sim.point = sim.steps + 2;
	CHECK(tach__sum_of(r->way[0], 1, &sum) == (TACH_ARCH_FAULTS ? 2 : 0));
	sim_put(0, 1);
	sim_revoke();
	CHECK(tach__sum_of(r->way[0], 1, &sum) == 0);
}

/* Another page than the leader's changed amid the end. */
static void other_pages_change(void)
{
	int seen = 0;

	for (long at = 4; at < 10; at++) {
		struct tach_reader *r = open_sim(2, 48);
		uint32_t flags;

		tach_reader_begin_n(r, &mark, 2);
		sim_work_all(100);
		sim.act = sim_move_last;
		sim.point = sim.steps + at;
		flags = tach_reader_end_n(r, &mark, delta, 2);
		CHECK(flags == 0 || flags == TACH_FLAG_RESCHEDULED, "%ld: %#x", at, flags);
		CHECK(delta[0] == 100 && delta[1] == 201 && untouched(delta, 2));
		seen += flags != 0;
	}
	CHECK(seen == 4, "%d", seen);
}

static void works_on(void)
{
	sim.event[0].count += 1000;
}

/* What is counted after an end has read its counters again is not the region's. */
static void counted_behind_the_end(void)
{
	for (int which = 0; which < 4; which++) {
		int starves = which % 2, n = 1 + which / 2;
		struct tach_reader *r = open_sim(n, 48);
		uint32_t flags;

		tach_reader_begin(r, &mark);
		sim_work_all(100);
		if (starves)
			sim_starve();
		else
			sim_reschedule();
		sim.act = works_on;
		sim.point = sim.steps + 5 + 5 * n;
		flags = tach_reader_end(r, &mark, delta);
		CHECK(sim.event[0].count == 8100 && delta[0] == 100, "%llu",
		      (unsigned long long)delta[0]);
		CHECK(n == 1 || delta[1] == 201);
		CHECK(flags == (starves ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED), "%#x",
		      flags);
	}
}

/* By read(2) at both ends counts are whole, however long the thread ran. */
static void by_the_system_at_both_ends(void)
{
	struct tach_reader *r = open_sim(2, 48);

	sim.enabled = sim.running = UINT64_C(1) << 50;
	mark.running = UINT64_C(1) << 51;
	sim_out();
	tach_reader_begin_n(r, &mark, 2);
	CHECK(mark.flags == TACH_FLAG_SYSCALL, "%#x", mark.flags);
	for (int i = 0; i < 2; i++)
		sim.event[i].count += 77;
	CHECK(tach_reader_end_n(r, &mark, delta, 2) == TACH_FLAG_SYSCALL);
	CHECK(delta[0] == 77 && delta[1] == 77, "%llu", (unsigned long long)delta[0]);
	/* Set back is set back, of any count. */
	sim.event[0].count = UINT64_C(1) << 49;
	tach_reader_begin_n(r, &mark, 2);
	sim.event[0].count -= 5;
	CHECK(tach_reader_end_n(r, &mark, delta, 2) == (TACH_FLAG_SYSCALL | TACH_FLAG_LOST) &&
	      delta[0] == 0);
}

/* What was not asked for is not looked at: members behind it lose nothing, and get nothing. */
static void fewer_members(void)
{
	for (unsigned n = 1; n <= 3; n++)
		for (int way = 0; way < 4; way++) {
			static void (*const acts[])(void) = {sim_reschedule, sim_out, sim_fail,
							     sim_revoke};
			static const uint32_t flags[] = {
				TACH_FLAG_RESCHEDULED,
				TACH_FLAG_SYSCALL | TACH_FLAG_MIXED | TACH_FLAG_RESCHEDULED,
				TACH_FLAG_LOST, TACH_FLAG_SYSCALL | TACH_FLAG_MIXED};
			struct tach_reader *r = open_sim(4, 48);
			uint32_t got;

			tach_reader_begin_n(r, &mark, 4);
			for (unsigned i = n; i < 4; i++)
				mark.value[i] = canary;
			sim_work_all(100);
			acts[way]();
			delta[n] = ~(uint64_t)0;
			got = n == 1   ? tach_reader_end_n(r, &mark, delta, 1)
			      : n == 2 ? tach_reader_end_n(r, &mark, delta, 2)
				       : tach_reader_end_n(r, &mark, delta, 3);
			CHECK(got == flags[way], "%d of %u: %#x", way, n, got);
			CHECK(delta[n] == ~(uint64_t)0 && untouched(delta, (int)n + 1));
			for (unsigned i = 0; i < n; i++)
				CHECK(delta[i] == (way == 2 ? 0 : 100 * (i + 1) + i));
		}
}

/* ---- from modular sums to whole counts ---- */

static void whole_counts(void)
{
	static const unsigned widths[] = {40, 48, 63};
	struct perf_event_mmap_page page = {.pmc_width = 64, .time_running = ~(uint64_t)0};

	CHECK(whole(&page, 5, 100) == 5 && whole(&page, (uint64_t)-5, 100) == (uint64_t)-5);
	for (int w = 0; w < 3; w++) {
		uint64_t full = (uint64_t)1 << widths[w];

		page.pmc_width = (uint16_t)widths[w];
		page.time_running = 0;
		CHECK(whole(&page, 5, 100) == 5 && whole(&page, 0, 0) == 0);
		CHECK(whole(&page, (uint64_t)-5, 0) == full - 5);
		/* Two overflows, and time for them. */
		page.time_running = full / 64 - 1;
		CHECK(whole(&page, 5, 4) == 5);
		page.time_running = full / 64;
		CHECK(whole(&page, 5, 3) == 5 && whole(&page, 5, 4) == full + 5);
		CHECK(whole(&page, 0, 4) == full && whole(&page, 1, 5) == full + 1);
	}
}

static void set_back_by_the_count(void)
{
	static const uint64_t most = INT64_MAX;

	CHECK(set_back(5, 5) == 0 && set_back(0, 0) == 0 && set_back(4, 5) == 0);
	CHECK(set_back(6, 5) == TACH_FLAG_LOST && set_back(most, 0) == TACH_FLAG_LOST);
	CHECK(set_back(most, most) == 0 && set_back(0, most + 1) == TACH_FLAG_LOST);
	CHECK(set_back(most + 2, most + 1) == TACH_FLAG_LOST);
}

/*
 * Begun with the counter past zero, its interrupt yet to come: the difference is the count, and
 * one update does not make it 2^width more, however long the thread ran.
 */
static void begun_past_zero(void)
{
	for (int way = 0; way < 3; way++) {
		struct tach_reader *r = open_sim(1, 48);
		uint32_t flags;

		sim.enabled = sim.running = UINT64_C(1) << 50;
		sim_reschedule();
		sim_reschedule();
		sim_overflow_late();
		tach_reader_begin_n(r, &mark, 1);
		sim.event[0].count += 77;
		if (way == 1)
			sim_revoke();
		sim_reschedule();
		if (way == 2) {
			sim.act = revoke_for_a_while;
			sim.point = sim.steps;
		}
		flags = tach_reader_end_n(r, &mark, delta, 1);
		CHECK(delta[0] == 77, "%d: %llu", way, (unsigned long long)delta[0]);
		CHECK((flags & ~(TACH_FLAG_SYSCALL | TACH_FLAG_MIXED)) == TACH_FLAG_RESCHEDULED,
		      "%d: %#x", way, flags);
	}
}

/* ---- named regions, looked at later ---- */

/* What is not set on the stack is 0, and no count. */
static __attribute__((noinline)) void clear_stack(void)
{
	volatile char left[8192];

	for (size_t i = 0; i < sizeof left; i++)
		left[i] = 0;
}

static uint32_t settled(uint64_t ticks, void (*amid)(void), void (*later)(void), uint64_t *to)
{
	struct tach_reader *r = open_sim(2, 48);

	tach_reader_begin(r, &mark);
	sim_work_all(100);
	amid();
	for (unsigned i = 0; i < 2; i++)
		CHECK(tach__end_any(r, &mark, to, i));
	later();
	clear_stack();
	return tach__reader_settle(tach__reader(r), &mark, ticks, to);
}

static void not_read_later(void)
{
	hard_refused = 1;
	sim_out();
}

/* Where the counts of now cannot be had, a short one is right without, a long one is lost. */
static void settled_without_counts(void)
{
	const uint64_t bound = ((UINT64_C(1) << 48) - 1) / 64;
	static void (*const later[])(void) = {sim_fail, not_read_later};

	for (int i = 0; i < 2; i++) {
		CHECK(settled(bound - 1, sim_reschedule, later[i], delta) ==
		      TACH_FLAG_RESCHEDULED);
		CHECK(delta[0] == 100 && delta[1] == 201 && untouched(delta, 2));
		CHECK(settled(bound, sim_reschedule, later[i], delta) ==
		      (TACH_FLAG_RESCHEDULED | TACH_FLAG_LOST));
	}
	CHECK(settled(bound - 1, sim_starve, not_read_later, delta) == TACH_FLAG_INCOMPLETE);
	for (int i = 0; i < 2; i++) {
		CHECK(settled(bound - 1 + (uint64_t)i, sim_reschedule, sim_out, delta) ==
		      TACH_FLAG_RESCHEDULED);
		CHECK(delta[0] == 100 && delta[1] == 201 && untouched(delta, 2));
	}
}

/* ---- reads ---- */

static void reads_by_the_system(void)
{
	struct tach_reader *r = open_mixed(2, 1, 1);

	sim_out();
	CHECK(tach__read_slow(r, delta, 0, 4) == TACH_FLAG_SYSCALL && delta[0] == 7000);
	CHECK(delta[1] == 7000 && delta[2] == 0 && delta[3] == 500 && untouched(delta, 4));
	sim_pass(0);
	CHECK(tach__read_slow(r, delta, 0, 4) == (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
	CHECK(delta[0] == 7000 && delta[3] == 500);
}

/* ---- loss of counters ---- */

/* What a group missed before it was enabled anew is found again in no region. */
static void recovered_groups_begin_anew(void)
{
	struct tach_reader *r = open_sim(2, 48);

	sim_starve();
	sim_fail();
	tach_reader_begin(r, &mark);
	CHECK(mark.flags & TACH_FLAG_SYSCALL && !(mark.flags & TACH_FLAG_LOST), "%#x",
	      mark.flags);
	tach_reader_end(r, &mark, delta);
	tach_reader_begin(r, &mark);
	sim_reschedule();
	CHECK(tach_reader_end(r, &mark, delta) == TACH_FLAG_RESCHEDULED);
	tach_reader_begin(r, &mark);
	sim_starve();
	CHECK(tach_reader_end(r, &mark, delta) == TACH_FLAG_INCOMPLETE);
}

/* The lag of a group, as it is noted: it only grows, and the lock of then is kept. */
static void noted_lags(void)
{
	struct tach__reader *r = tach__reader(open_sim(1, 48));

	r->lag = 7;
	r->grown_lock = 4;
	CHECK(tach__note_lag(r, 6, 8, 8) == 0 && r->lag == 7 && r->grown_lock == 4);
	CHECK(tach__note_lag(r, 6, 8, 6) == TACH_FLAG_RESCHEDULED && r->lag == 7);
	r->lag = 1;
	CHECK(tach__note_lag(r, 2, 8, 6) == TACH_FLAG_INCOMPLETE);
	CHECK(r->lag == 2 && r->grown_lock == 8);
	CHECK(tach__note_lag(r, 2, 10, 8) == TACH_FLAG_RESCHEDULED && r->grown_lock == 8);
}

/* What read(2) gives: whole, nothing, too little, or a refusal. */
static long read_result;

static long reads(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_read ? read_result : sim_sys(number, a, b, c, d, e, f);
}

static void groups_read(void)
{
	struct tach__reader *r = tach__reader(open_sim(2, 48));
	const long whole_read = (long)offsetof(struct tach__group_read, value[2]);
	struct tach__group_read now;

	tach__sys = reads;
	for (read_result = 0; read_result < whole_read + 16; read_result++)
		CHECK(tach__group_read(&r->hard, &now) == (read_result == 0	      ? 0
							   : read_result < whole_read ? -EIO
										      : 1),
		      "%ld", read_result);
	read_result = -EPERM;
	CHECK(tach__group_read(&r->hard, &now) == -EPERM);
}

static void scaled_by_time(void)
{
	struct tach_reader *reader = open_sim(3, 48);
	struct tach__reader *r = tach__reader(reader);
	struct tach__group_read now = {.enabled = 1000, .running = 500};

	memset(&mark, 0, sizeof mark);
	mark.enabled = 1000;
	delta[0] = delta[1] = 10;
	CHECK(tach__scale(r, &mark, &now, 2, delta) == TACH_FLAG_INCOMPLETE);
	/* As long as it was enabled, or longer by what lies between two looks. */
	for (uint64_t more = 0; more < 2; more++) {
		mark.enabled = 200;
		mark.running = 200;
		now.running = 1000 + more;
		CHECK(tach__scale(r, &mark, &now, 2, delta) == 0 && delta[0] == 10);
	}
	now.running = 999;
	CHECK(tach__scale(r, &mark, &now, 2, delta) == TACH_FLAG_INCOMPLETE);
	now.running = 400;
	CHECK(tach__scale(r, &mark, &now, 2, delta) == TACH_FLAG_INCOMPLETE && delta[0] == 10);
	sim.set.flags = TACH_SET_MULTIPLEX;
	r->hard.count = 2;
	r->hard.member[2] = 0; /* behind the last */
	CHECK(tach__scale(r, &mark, &now, 2, delta) ==
	      (TACH_FLAG_INCOMPLETE | TACH_FLAG_SCALED));
	CHECK(delta[0] == 40 && delta[1] == 40 && untouched(delta, 2), "%llu",
	      (unsigned long long)delta[0]);
	/* Beyond 64 bits amid. */
	delta[0] = UINT64_C(1) << 60;
	CHECK(tach__scale(r, &mark, &now, 1, delta) & TACH_FLAG_SCALED &&
	      delta[0] == UINT64_C(1) << 62 && delta[1] == 40);
	now.running = 200;
	CHECK(tach__scale(r, &mark, &now, 2, delta) == (TACH_FLAG_INCOMPLETE | TACH_FLAG_LOST));
}

int main(void)
{
	CASE(members_of_several_kinds);
	CASE(hardware_behind_others);
	CASE(hardware_of_another_kind);
	CASE(of_another_thread);
	CASE(flags_of_a_fast_begin);
	CASE(software_refused);
	CASE(hardware_refused);
	CASE(begun_out_of_line);
	CASE(begun_out_of_line_for_once);
	CASE(faults_for_once);
	CASE(sums_tell_how_often);
	CASE(other_pages_change);
	CASE(counted_behind_the_end);
	CASE(by_the_system_at_both_ends);
	CASE(fewer_members);
	CASE(whole_counts);
	CASE(set_back_by_the_count);
	CASE(begun_past_zero);
	CASE(settled_without_counts);
	CASE(reads_by_the_system);
	CASE(recovered_groups_begin_anew);
	CASE(noted_lags);
	CASE(groups_read);
	CASE(scaled_by_time);
	return check_done();
}

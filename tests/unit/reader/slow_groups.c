/* SPDX-License-Identifier: MIT */
/* The slow paths' data about a group: its lag, its loss, and the time that it counted. */
#include "tests/unit/reader/slow.h"

/* ---- loss of counters ---- */

/* Counts that a group missed before it was enabled again are not found again in a region. */
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

/* The recorded lag of a group only grows; the lock value of that moment is kept with it. */
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

/* Results of read(2): complete, nothing, too short, or an error. */
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
	/* The enabled time is exact, or longer by the time between two reads. */
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
	CASE(recovered_groups_begin_anew);
	CASE(noted_lags);
	CASE(groups_read);
	CASE(scaled_by_time);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* Properties of one member's value: its error and its own flags. */
#include "core/reader/reader.h"
#include "core/reader/topdown.h"
#include "core/set/set.h"
#include "tests/check.h"

static struct tach_set set;
static struct tach__reader reader;

static void errors_of_metrics_alone(void)
{
	struct tach__topdown *t = &reader.topdown;
	const struct tach_reader *r = &reader.hot;

	t->members = 1u << 0 | 1u << 2 | 1u << (TACH_COUNTERS_MAX - 1);
	t->error = 7;
	for (int on = 0; on < 2; on++) {
		t->on = on;
		for (unsigned i = 0; i < TACH_COUNTERS_MAX + 40; i++) {
			int is = on && (i == 0 || i == 2 || i == TACH_COUNTERS_MAX - 1);

			CHECK(tach_reader_error(r, i) ==
				      (is ? 7 * tach__topdown_steps(t, (int)i) : 0),
			      "%u: %llu", i, (unsigned long long)tach_reader_error(r, i));
			CHECK(!is || tach_reader_error(r, i) > 0);
		}
	}
}

static void flags_of_each_kind(void)
{
	static const struct {
		enum tach_member_kind kind;
		uint32_t own;
	} cases[] = {{TACH_MEMBER_HARDWARE, 0},
		     {TACH_MEMBER_SOFTWARE, TACH_FLAG_SYSCALL},
		     {TACH_MEMBER_EMULATED, TACH_FLAG_EMULATED}};
	const uint32_t others = TACH_FLAG_RESCHEDULED | TACH_FLAG_SCALED | TACH_FLAG_MIXED;

	set.count = 3;
	reader.set = &set;
	for (int i = 0; i < 3; i++)
		set.member[i].kind = cases[i].kind;
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t lost = 0; lost <= TACH_FLAG_LOST; lost += TACH_FLAG_LOST) {
			uint32_t flags = tach_reader_flags(&reader.hot, i, others | lost);

			CHECK(flags == ((cases[i].own ? cases[i].own : others) | lost),
			      "%u: %#x", i, flags);
		}
}

int main(void)
{
	CASE(errors_of_metrics_alone);
	CASE(flags_of_each_kind);
	return check_done();
}

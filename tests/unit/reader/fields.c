/* SPDX-License-Identifier: MIT */
/* Slots and fields of PERF_METRICS, at any position among a set's members. */
#include "core/reader/topdown.h"
#include "core/reader/reader.h"
#include "core/set/set.h"
#include "tests/check.h"

/* The configs that Linux uses (arch/x86/events/perf_event.h); each has a letter below. */
static uint64_t config_of(char letter)
{
	switch (letter) {
	case 's':
		return 0x400;
	case 'm': /* retiring */
		return 0x8000;
	case 'b': /* back-end bound */
		return 0x8300;
	case 'l': /* the last one: memory bound */
		return 0x8700;
	default:
		return 0xc0;
	}
}

static struct tach_set set;
static struct tach__cores cores;

static void fill(struct perf_event_attr *attr, char letter)
{
	*attr = (struct perf_event_attr){.type = PERF_TYPE_RAW, .config = config_of(letter)};
}

/* The first `count` letters are the set's members. */
static void make(const char *letters, int count)
{
	set.count = count;
	set.cores = NULL;
	for (int i = 0; i < TACH_COUNTERS_MAX; i++)
		fill(&set.member[i].attr, '-');
	for (int i = 0; letters[i]; i++)
		fill(&set.member[i].attr, letters[i]);
}

static void slots_lead(void)
{
	static const struct {
		const char *letters;
		int count, leader;
		uint32_t members;
	} cases[] = {
		{"sm-", 3, 0, 7},   {"sm-", 3, 0, 3},  {"sm-", 3, -1, 5}, {"sm-", 3, -1, 6},
		{"-ms", 3, 2, 7},   {"m-s", 3, 2, 7},  {"ssm", 3, 0, 7},  {"ssm", 3, 1, 6},
		{"-sbs", 4, 1, 15}, {"s-m", 2, -1, 7}, {"-ms", 2, -1, 7}, {"s--", 3, -1, 7},
		{"smb", 3, 0, 7},   {"sm-", 0, -1, 7},
	};

	if (!TACH_MODULAR)
		SKIP("this architecture has no such events");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		make(cases[i].letters, cases[i].count);
		CHECK(tach__topdown_leader(&set, -1, cases[i].members) == cases[i].leader,
		      "%zu: %s", i, cases[i].letters);
	}
}

/* On a hybrid, each core type has its own events. */
static void of_a_core_type(void)
{
	if (!TACH_MODULAR)
		SKIP("this architecture has no such events");
	make("---", 3);
	set.cores = &cores;
	for (int core = 0; core < 3; core++)
		for (int m = 0; m < 3; m++)
			fill(&cores.attr[core][m], "ms-sm--ms"[3 * core + m]);
	CHECK(tach__topdown_leader(&set, 0, 7) == 1);
	CHECK(tach__topdown_leader(&set, 1, 7) == 0);
	CHECK(tach__topdown_leader(&set, 2, 7) == 2);
	CHECK(tach__topdown_leader(&set, -1, 7) == -1);
}

static void fields_of_a_group(void)
{
	struct tach__group group = {.count = 4, .member = {2, 0, 3, 5, 1}};
	struct tach__topdown t;

	if (!TACH_MODULAR)
		SKIP("this architecture has no such events");
	make("mbsl--", 6);
	t.members = 0x8000;
	t.group = NULL;
	CHECK(tach__topdown_find(&t, &set, -1, &group) == 1 && t.group == &group);
	CHECK(t.members == 9, "%#x", t.members);
	CHECK(t.field[0] == 0 && t.field[3] == 7, "%d, %d", t.field[0], t.field[3]);
	group.count = 5;
	CHECK(tach__topdown_find(&t, &set, -1, &group) == 1 && t.members == 11);
	CHECK(t.field[1] == 3 && tach__topdown_steps(&t, 1) == 3);
	CHECK(tach__topdown_steps(&t, 0) == 1 && tach__topdown_steps(&t, 3) == 1);
	/*
	 * Another event leads the group: it is not a top-down group, but the members are still
	 * metrics.
	 */
	t.group = NULL;
	group.member[0] = 4;
	CHECK(tach__topdown_find(&t, &set, -1, &group) == 0 && t.members == 11 && !t.group);
	/* Metrics alone. */
	group.member[0] = 0;
	group.count = 1;
	CHECK(tach__topdown_find(&t, &set, -1, &group) == 0 && t.members == 1 && !t.group);
	/* Slots alone. */
	group.member[0] = 2;
	CHECK(tach__topdown_find(&t, &set, -1, &group) == 0 && t.members == 0 && !t.group);
}

int main(void)
{
	CASE(slots_lead);
	CASE(of_a_core_type);
	CASE(fields_of_a_group);
	return check_done();
}

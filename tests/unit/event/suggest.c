/* SPDX-License-Identifier: MIT */
/*
 * Suggestions: distances compared with their definition, the limit, and the table that a
 * suggestion comes from.
 */
#include <stdlib.h>
#include <string.h>
#include "core/event/suggest.h"
#include "tests/check.h"
#include "tests/random.h"

/* The definition: letters inserted, deleted, replaced, or exchanged with a neighbour. */
static int edits(const char *a, int n, const char *b, int m)
{
	int least, other;

	if (!n || !m)
		return n + m;
	least = edits(a, n - 1, b, m - 1) + (tach__fold(a[n - 1]) != tach__fold(b[m - 1]));
	other = edits(a, n - 1, b, m) + 1;
	least = other < least ? other : least;
	other = edits(a, n, b, m - 1) + 1;
	least = other < least ? other : least;
	if (n > 1 && m > 1 && tach__fold(a[n - 1]) == tach__fold(b[m - 2]) &&
	    tach__fold(a[n - 2]) == tach__fold(b[m - 1])) {
		other = edits(a, n - 2, b, m - 2) + 1;
		least = other < least ? other : least;
	}
	return least;
}

static int edits_of(const char *a, const char *b)
{
	return edits(a, (int)strlen(a), b, (int)strlen(b));
}

static void make_word(char *to)
{
	unsigned length = random_below(7);

	for (unsigned i = 0; i < length; i++)
		*to++ = "abcA"[random_below(4)];
	*to = 0;
}

/*
 * Suggests the nearest name, the first of equally near names, and no name with four different
 * letters.
 */
static void distances(void)
{
	int none = 0;

	for (int i = 0; i < 2000; i++) {
		char name[8], one[8], two[8];
		const char *words[] = {one, two, NULL}, *want, *got;
		int d[2];

		make_word(name);
		make_word(one);
		make_word(two);
		d[0] = edits_of(name, one);
		d[1] = edits_of(name, two);
		want = d[1] < d[0] ? two : one;
		if ((d[1] < d[0] ? d[1] : d[0]) >= 4)
			want = NULL;
		got = tach__suggest_word(words, name, strlen(name));
		CHECK(got == want, "'%s' of '%s' (%d) and '%s' (%d): '%s'", name, one, d[0],
		      two, d[1], got ? got : "none");
		none += !want;
	}
	CHECK(none > 50 && none < 1000, "%d of 2000 are near none", none);
}

/* Words of more than 80 letters are near no word, not even themselves. */
static void long_words(void)
{
	static const struct {
		size_t name, word;
		int near;
	} lengths[] = {{80, 80, 1}, {80, 79, 1}, {79, 80, 1},
		       {80, 81, 0}, {81, 80, 0}, {81, 81, 0}};
	char all[82];

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		const char *words[] = {all, NULL};
		char name[82];

		memset(name, 'x', sizeof name);
		memset(all, 'x', sizeof all);
		all[lengths[i].word] = 0;
		CHECK((tach__suggest_word(words, name, lengths[i].name) != NULL) ==
			      lengths[i].near,
		      "%zu of %zu", lengths[i].name, lengths[i].word);
	}
}

/* A suggestion differs in less than a third of the letters, or in two. */
static void how_far(void)
{
	static const struct {
		const char *name, *near;
	} umasks[] = {
		{"ANY_P", "ANY_P"},    {"ANY_PX", "ANY_P"},    {"ANY_PXX", "ANY_P"},
		{"ANY_PXXX", "ANY_P"}, {"ANY_PXXXX", "ANY_P"}, {"ANY_PXXXXX", NULL},
		{"A", NULL},	       {"XNX", "ANY"},	       {"AN_P", "ANY_P"},
		{"YP_NA", NULL},
	};
	int pmu = tach__pmu_find("skl", 3);
	int number = tach__event_find(pmu, "INST_RETIRED", 12);
	const struct tach__event *row = tach__event_at(pmu, number);

	for (size_t i = 0; i < sizeof umasks / sizeof *umasks; i++) {
		struct tach__text name = {umasks[i].name, strlen(umasks[i].name)};
		const char *near = tach__suggest_near(pmu, row, &name);

		CHECK(near ? umasks[i].near && !strcmp(near, umasks[i].near) : !umasks[i].near,
		      "%s: %s", name.text, near ? near : "none");
	}
	for (int event = 0; event < (int)tach__pmu_at(pmu)->nevents; event++) {
		const char *itself = tach__str(tach__event_at(pmu, event)->name);
		const char *near = tach__suggest_near(
			pmu, NULL, &(struct tach__text){itself, strlen(itself)});

		CHECK(near && strcmp(near, itself) == 0, "%s: %s", itself,
		      near ? near : "none");
	}
}

#define LONG_EVENT "RETIRED_UNCONDITIONAL_INDIRECT_BRANCH_INSTRUCTIONS_MISPREDICTED"

#define SIXTY "NO_SUCH_EVENT_AS_THIS_ONE_THAT_HAS_SIXTY_LETTERS_AND_NO_MORE"

/* If no CPU is known, the error names a table with exactly that event. */
static void unknown_cpu_gets_a_suggestion(void)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event e = {0};

	opt.host = "";
	CHECK(tach_event_encode("SW_INCR", &opt, &e, &err) == TACH_ERR_NOTFOUND &&
		      !strcmp(err.text, "no event 'SW_INCR'; did you mean arm_ac57::SW_INCR?"),
	      "%s", err.text);
	CHECK(tach_event_encode("SW_INCX", &opt, &e, &err) == TACH_ERR_NOTFOUND &&
		      !strcmp(err.text, "no event 'SW_INCX'"),
	      "%s", err.text);
}

static void messages(void)
{
	static const struct {
		const char *string;
		int code, column;
		const char *text;
	} refused[] = {
		/* umasks and modifiers; a two-letter suggestion can only be a umask */
		{"skl::INST_RETIRED:ANY_Q", TACH_ERR_ATTR, 19,
		 "INST_RETIRED has no umask or modifier 'ANY_Q'; did you mean ANY_P?"},
		{"skl::INST_RETIRED:ANY_P:perod=5", TACH_ERR_ATTR, 25,
		 "INST_RETIRED has no umask or modifier 'perod'; did you mean period?"},
		{"skl::INST_RETIRED:ANY_P:intxpc", TACH_ERR_ATTR, 25,
		 "INST_RETIRED has no umask or modifier 'intxpc'; did you mean intxcp?"},
		{"skl::INST_RETIRED:ANY_P:xntxc", TACH_ERR_ATTR, 25,
		 "INST_RETIRED has no umask or modifier 'xntxc'; did you mean intx?"},
		{"skl::INST_RETIRED:ANY_P:cc", TACH_ERR_ATTR, 25,
		 "INST_RETIRED has no umask or modifier 'cc'"},
		{"skl::INST_RETIRED:ANY_P:mgg", TACH_ERR_ATTR, 25,
		 "INST_RETIRED has no umask or modifier 'mgg'; did you mean mg?"},
		{"skl::INST_RETIRED:ANY_P:nosuchthing", TACH_ERR_ATTR, 25,
		 "INST_RETIRED has no umask or modifier 'nosuchthing'"},
		{"amd64_fam19h_zen4::" LONG_EVENT ":nosuchthing", TACH_ERR_ATTR, 84,
		 LONG_EVENT " has no umask or modifier 'nosuchthing'"},
		/* boxes have their own modifiers */
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:dnidd=1", TACH_ERR_ATTR, 47,
		 "UNC_UPI_TXL_BASIC_HDR_MATCH has no umask or modifier 'dnidd'; did you mean "
		 "dnid?"},
		/* PMUs: the first and the last one */
		{"arm_ac57x::X", TACH_ERR_NOTFOUND, 1,
		 "no PMU 'arm_ac57x'; did you mean arm_ac57?"},
		{"tgl_unc_imc_free12::X", TACH_ERR_NOTFOUND, 1,
		 "no PMU 'tgl_unc_imc_free12'; did you mean tgl_unc_imc_free1?"},
		{"pfm3_gen_ia64::X", TACH_ERR_NOTFOUND, 1, "no PMU 'pfm3_gen_ia64'"},
		{"nothinglikeit::X", TACH_ERR_NOTFOUND, 1, "no PMU 'nothinglikeit'"},
		/* events of the chosen CPU and its boxes */
		{"arm_ac57::SW_INC", TACH_ERR_NOTFOUND, 11,
		 "no event 'SW_INC'; did you mean arm_ac57::SW_INCR?"},
		{"skl::INST_RETIREX", TACH_ERR_NOTFOUND, 6,
		 "no event 'INST_RETIREX'; did you mean skl::INST_RETIRED?"},
		{"skl::SW_INCR", TACH_ERR_NOTFOUND, 6, "no event 'SW_INCR'"},
		{"skl::L2D_CACHE_REFILL", TACH_ERR_NOTFOUND, 6, "no event 'L2D_CACHE_REFILL'"},
		{"skl::SW_INCX", TACH_ERR_NOTFOUND, 6, "no event 'SW_INCX'"},
		{"skl::UNC_UPI_TXL_BASIC_HDR_MATCH", TACH_ERR_NOTFOUND, 6,
		 "no event 'UNC_UPI_TXL_BASIC_HDR_MATCH'"},
		{"spr::UNC_CHA_TOR_OCCUPANCY", TACH_ERR_NOTFOUND, 6,
		 "no event 'UNC_CHA_TOR_OCCUPANCY'; did you mean "
		 "spr_unc_cha0::UNC_CHA_TOR_OCCUPANCY?"},
		{"emr::UNC_CHA_TOR_OCCUPANCZ", TACH_ERR_NOTFOUND, 6,
		 "no event 'UNC_CHA_TOR_OCCUPANCZ'; did you mean "
		 "spr_unc_cha0::UNC_CHA_TOR_OCCUPANCY?"},
		{"adl_grt::UNC_CHA_TOR_OCCUPANCY", TACH_ERR_NOTFOUND, 10,
		 "no event 'UNC_CHA_TOR_OCCUPANCY'; did you mean "
		 "adl_unc_arb0::UNC_ARB_TRK_OCCUPANCY?"},
		/* a message shows at most 60 letters of a word */
		{"skl::" SIXTY, TACH_ERR_NOTFOUND, 6, "no event '" SIXTY "'"},
		{"skl::" SIXTY "x", TACH_ERR_NOTFOUND, 6, "no event '" SIXTY "'"},
	};
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_PERF_EXT;
	opt.host = "skl";
	opt.sysfs = "/nonexistent";
	opt.tracefs = "/nonexistent";
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(refused[i].string, &opt, &e, &err);

		CHECK(rc == refused[i].code && err.column == refused[i].column &&
			      strcmp(err.text, refused[i].text) == 0,
		      "%s: %d, column %d: %s", refused[i].string, rc, err.column, err.text);
		CHECK(tach_event_encode(refused[i].string, &opt, &e, NULL) == rc, "%s",
		      refused[i].string);
	}
}

int main(void)
{
	CASE(distances);
	CASE(long_words);
	CASE(how_far);
	CASE(messages);
	CASE(unknown_cpu_gets_a_suggestion);
	return check_done();
}

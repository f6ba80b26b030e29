/* SPDX-License-Identifier: MIT */
/*
 * Opening events of boxes: each allocation fails once, each close frees all, and a group has at
 * most the members that fit. The test's own malloc replaces the C library's, and the test
 * simulates the kernel.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "core/uncore/uncore.h"
#include "tests/allocations.h"
#include "tests/check.h"
#include "tests/root.h"
#include "tests/unit/uncore/kernel.h"

static char root[] = "/tmp/tach-memory-XXXXXX";
static struct tach_error err;

static int open_events(const char *events, struct tach_uncore **u)
{
	struct tach_uncore_options opt = TACH_UNCORE_OPTIONS_INIT;

	opt.events = events;
	opt.sysfs = root;
	nopened = nopen = 0;
	err = (struct tach_error)TACH_ERROR_INIT;
	return tach_uncore_open(&opt, u, &err);
}

/* ---- cases ---- */

static void each_allocation(void)
{
	static const char events[] = "a=uncore_imc_*/config=4/,uncore_imc_0/config=5/,"
				     "c=uncore_pcu/config=1/";
	struct tach_uncore *u;
	int failed = 0;

	if (!WATCHED)
		SKIP("the sanitizer's malloc");
	/* These allocations are made once per process. */
	CHECK(open_events("uncore_qpi_*/config=4/", &u) == TACH_ERR_NOTFOUND && !u);
	for (fail_at = 0;; fail_at++) {
		long before = live;
		int code;

		u = (void *)&u;
		calls = 0;
		armed = 1;
		code = open_events(events, &u);
		armed = 0;
		if (!code)
			CHECK(u && tach_uncore_count(u) == 3 && nopen == 3 * 2);
		else
			/*
			 * If memory is exhausted, a folder that cannot be read counts as
			 * absent.
			 */
			CHECK(!u && !err.line && (fail_at || !err.column) &&
				      (code != TACH_ERR_NOMEM ||
				       strcmp(err.text, "out of memory") == 0),
			      "%ld: %d %s", fail_at, code, err.text);
		failed += code == TACH_ERR_NOMEM;
		tach_uncore_close(u);
		CHECK(nopen == 0, "%ld: %d left open", fail_at, nopen);
		CHECK(live == before, "%ld: %ld left", fail_at, live - before);
		if (calls <= fail_at || fail_at == 1000)
			break;
	}
	/*
	 * Allocations: the object, three for its list, a string and a name each, and each of
	 * five groups.
	 */
	CHECK(failed == 1 + 3 * 3 + 5, "%d", failed);
}

static void full_groups(void)
{
	struct tach_uncore *u = NULL;
	char events[2048] = "";
	uint64_t value[TACH_COUNTERS_MAX + 2];

	for (int i = 0; i < TACH_COUNTERS_MAX + 2; i++)
		sprintf(events + strlen(events), "uncore_pcu/config=%d/:cpu=0,", i);
	CHECK(open_events(events, &u) == 0, "%s", err.text);
	CHECK(nopened == TACH_COUNTERS_MAX + 2);
	for (int i = 0; i < nopened; i++)
		CHECK(leaders[i] == (i == 0 || i == TACH_COUNTERS_MAX ? -1
				     : i < TACH_COUNTERS_MAX	      ? FD
								      : FD + TACH_COUNTERS_MAX),
		      "%d: %ld", i, leaders[i]);
	CHECK(u && tach_uncore_count(u) == TACH_COUNTERS_MAX + 2 &&
	      (tach_uncore_read(u, value, NULL) & TACH_FLAG_LOST));
	tach_uncore_close(u);
	CHECK(nopen == 0);
}

static void refused(void)
{
	static const struct {
		const char *events;
		int code, column;
		const char *text;
	} all[] = {
		{"", TACH_ERR_INVAL, 0, "no events"},
		{" ,\n", TACH_ERR_INVAL, 0, "no events"},
		{"a=", TACH_ERR_SYNTAX, 3, "an event is missing after '='"},
		{"=UNC_M_CAS_COUNT:RD", TACH_ERR_SYNTAX, 1, "a name is missing before '='"},
		{"a=uncore_pcu/config=1/, a=uncore_pcu/config=2/", TACH_ERR_INVAL, 25,
		 "'a' names two events"},
		{"uncore_pcu/config=1/ uncore_pcu/config=1/", TACH_ERR_INVAL, 22,
		 "'uncore_pcu/config=1/' names two events"},
		{"a=uncore_pcu/config=1/,ab=uncore_pcu/config=/", TACH_ERR_ATTR_VALUE, 38,
		 "config takes a number"},
	};
	struct tach_uncore *u;
	struct tach_uncore_options opt = {.size = 7};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		CHECK(open_events(all[i].events, &u) == all[i].code && !u && !err.line &&
			      err.column == all[i].column && !strcmp(err.text, all[i].text),
		      "%s: %d:%d %s", all[i].events, err.line, err.column, err.text);
	CHECK(tach_uncore_open(&opt, NULL, &err) == TACH_ERR_INVAL && !err.line &&
		      !err.column && strcmp(err.text, "nowhere to put the counters") == 0,
	      "%d:%d %s", err.line, err.column, err.text);
	u = (void *)&u;
	CHECK(tach_uncore_open(&opt, &u, &err) == TACH_ERR_INVAL && !u);
}

static void ambient(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach__ambient a;
	long before;

	if (!WATCHED)
		SKIP("the sanitizer's malloc");
	fail_at = calls = 0;
	armed = 1;
	err = (struct tach_error)TACH_ERROR_INIT;
	CHECK(tach__ambient_open(&a, "uncore_pcu/config=1/", &err) == TACH_ERR_NOMEM &&
		      !a.set && !a.uncore && !err.line && !err.column &&
		      strcmp(err.text, "out of memory") == 0,
	      "%d:%d %s", err.line, err.column, err.text);
	armed = 0;
	opt.events = "page-faults";
	/* The first set makes allocations that stay in the process. */
	for (int i = 0; i < 2; i++) {
		before = live;
		a = (struct tach__ambient){NULL, NULL};
		CHECK(tach_set_create(&opt, &a.set, &err) == 0, "%s", err.text);
		tach__ambient_close(&a);
		CHECK(!a.set && (!i || live == before), "%ld left", live - before);
	}
}

static void refused_by_the_kernel(void)
{
	struct tach_uncore *u;

	refusal = -ENODEV;
	CHECK(open_events("uncore_imc_0/config=4/", &u) == TACH_ERR_NOTSUPP && !u &&
		      err.column == 1 &&
		      strcmp(err.text,
			     "uncore_imc_0/config=4/: processor 0 is not there, or has "
			     "no such box") == 0,
	      "%d: %s", err.column, err.text);
	CHECK(open_events("pcu=uncore_pcu/config=4/", &u) == TACH_ERR_NOTSUPP && !u &&
		      err.column == 5 &&
		      strcmp(err.text, "pcu: processor 0 is not there, or has no such box") ==
			      0,
	      "%d: %s", err.column, err.text);
	refusal = 0;
}

/* No event keeps the number of a standard stream. */
static void moved_up(void)
{
	struct tach_uncore *u = NULL;

	from_0 = 1;
	CHECK(open_events("uncore_imc_0/config=4/:pinned:excl", &u) == 0 && nopen == 1 &&
		      !from_0,
	      "%s", err.text);
	CHECK(u && u->ngroups == 1 && u->group[0].fd[0] == FD && u->group[0].id[0] == FD);
	tach_uncore_close(u);
	CHECK(nopen == 0);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	root_put(root, "uncore_imc_0/type", "20\n");
	root_put(root, "uncore_imc_0/cpumask", "0\n");
	root_put(root, "uncore_imc_1/type", "21\n");
	root_put(root, "uncore_imc_1/cpumask", "0,1\n");
	root_put(root, "uncore_pcu/type", "32\n");
	root_put(root, "uncore_pcu/cpumask", "0-1\n");
	tach__sys = kernel;
	CASE(each_allocation);
	CASE(full_groups);
	CASE(refused);
	CASE(ambient);
	CASE(refused_by_the_kernel);
	CASE(moved_up);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* Boxes counted together with a program, and metrics over them, with a simulated sysfs. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "core/uncore/uncore.h"
#include "tests/check.h"
#include "tests/moved.h"
#include "tests/root.h"
#include "tests/unit/uncore/kernel.h"

static char root[] = "/tmp/tach-beside-XXXXXX";

/* ---- files: replacements for the C library's calls ---- */

static const char *moved(const char *path, int flags, char *room, size_t size)
{
	static const char devices[] = "/sys/bus/event_source/devices";

	(void)flags;
	if (strncmp(path, devices, sizeof devices - 1) != 0)
		return path;
	snprintf(room, size, "%s%s", root, path + sizeof devices - 1);
	return room;
}

#pragma GCC visibility push(default)
DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}
#pragma GCC visibility pop

/* ---- cases ---- */

static void opened(void)
{
	static const struct {
		const char *list;
		int members, events;
	} all[] = {
		{"uncore_pcu/config=1/", 1, 2},
		{"uncore_pcu/config=1/;", 1, 2},
		{"a=uncore_pcu/config=1/,b=uncore_imc_0/config=1/;share = a / b", 2, 3},
		{" a=uncore_imc_*/config=1/;twice = 2 * a; half = a / 2", 1, 2},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__ambient a = {NULL, NULL};

		nopened = nopen = 0;
		CHECK(tach__ambient_open(&a, all[i].list, &err) == 0, "%s: %s", all[i].list,
		      err.text);
		if (!a.set)
			continue;
		CHECK(nopen == all[i].events && tach_uncore_count(a.uncore) == all[i].members &&
			      tach_set_count(a.set) == all[i].members,
		      "%s: %d open", all[i].list, nopen);
		for (int k = 0; k < tach_set_count(a.set); k++) {
			int box = tach__uncore_member(a.uncore, a.set, k);

			CHECK(box >= 0 && strcmp(tach_set_name(a.set, k),
						 tach_uncore_name(a.uncore, box)) == 0,
			      "%d: %d", k, box);
		}
		CHECK(tach_set_nmetrics(a.set) == (i < 2 ? 0 : (int)i - 1), "%s: %d",
		      all[i].list, tach_set_nmetrics(a.set));
		tach__ambient_close(&a);
		CHECK(nopen == 0 && !a.uncore && !a.set, "%d left open", nopen);
	}
}

static void refused(void)
{
	static const struct {
		const char *list;
		int code, column;
		const char *text;
	} all[] = {
		/* Metrics are after the events. */
		{"a=uncore_pcu/config=1/;m = a +", TACH_ERR_SYNTAX, 31, NULL},
		{"a=uncore_pcu/config=1/;m = (a", TACH_ERR_SYNTAX, 0, NULL},
		{"uncore_nil/config=1/;m = 1", TACH_ERR_NOTFOUND, 1, NULL},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__ambient a = {(void *)1, (void *)1};
		int code;

		nopened = nopen = 0;
		code = tach__ambient_open(&a, all[i].list, &err);
		CHECK(code == all[i].code && err.code == code && !err.line &&
			      (!all[i].column || err.column == all[i].column),
		      "%s: %d, %d:%d: %s", all[i].list, code, err.line, err.column, err.text);
		CHECK(!all[i].text || (strcmp(err.text, all[i].text) == 0 && !err.column),
		      "%d: %s", err.column, err.text);
		CHECK(!a.uncore && !a.set && nopen == 0);
	}
}

/* A set has TACH_COUNTERS_MAX members at most. */
static void members_up_to_the_maximum_are_accepted(void)
{
	for (int n = TACH_COUNTERS_MAX - 1; n < TACH_COUNTERS_MAX + 2; n++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__ambient a;
		char list[1024] = "", text[64];
		int code;

		for (int i = 0; i < n; i++)
			sprintf(list + strlen(list), "e%d=uncore_imc_0/config=%d/,", i, i);
		strcat(list, n % 2 ? ";m = e0 / e1" : "");
		nopened = nopen = 0;
		code = tach__ambient_open(&a, list, &err);
		snprintf(text, sizeof text, "%d events of boxes; at most %d", n,
			 TACH_COUNTERS_MAX);
		CHECK(code == (n <= TACH_COUNTERS_MAX ? 0 : TACH_ERR_TOOMANY), "%d: %d %s", n,
		      code, err.text);
		CHECK(!code || (strcmp(err.text, text) == 0 && !err.line && !err.column), "%s",
		      err.text);
		tach__ambient_close(&a);
		CHECK(nopen == 0);
	}
}

static void which_are_boxes(void)
{
	CHECK(tach__uncore_is_event("uncore_pcu/config=1/") &&
	      tach__uncore_is_event("uncore_imc_0/config=1/"));
	CHECK(!tach__uncore_is_event("uncore_upi_0/config=1/") &&
	      !tach__uncore_is_event("uncore_pcu/") &&
	      !tach__uncore_is_event("uncore_nil/config=1/") &&
	      !tach__uncore_is_event("cycles"));
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	root_put(root, "uncore_imc_0/type", "20\n");
	root_put(root, "uncore_imc_0/cpumask", "0\n");
	root_put(root, "uncore_imc_1/type", "21\n");
	root_put(root, "uncore_imc_1/cpumask", "0\n");
	root_put(root, "uncore_pcu/type", "32\n");
	root_put(root, "uncore_pcu/cpumask", "0-1\n");
	root_put(root, "uncore_upi_0/type", "33\n");
	setenv("TACH_PMU", "skl", 1);
	tach__sys = kernel;
	CASE(opened);
	CASE(refused);
	CASE(members_up_to_the_maximum_are_accepted);
	CASE(which_are_boxes);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

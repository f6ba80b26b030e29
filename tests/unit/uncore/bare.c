/* SPDX-License-Identifier: MIT */
/* Events without the name of a box, on a machine with the boxes that this file defines. */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "core/pmu/pmu.h"
#include "core/uncore/uncore.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-bare-XXXXXX";
static uint64_t here[TACH__BOX_WORDS];

/* Replaces the library's function. */
const uint64_t *tach__boxes(void)
{
	return here;
}

static void has(const char *name)
{
	int bit = tach__pmu_find(name, strlen(name)) - tach__npmus();

	here[bit / 64] |= 1ull << bit % 64;
}

static int sum, n;

static int take(void *context, const struct perf_event_attr *attr, int cpu,
		struct tach_error *err)
{
	(void)context, (void)err;
	n++;
	sum += (int)attr->type * 100 + cpu;
	return 0;
}

/* Without a sysfs the bits show which boxes exist; with a sysfs, its devices do. */
static void all_of_its_kind(void)
{
	static const struct {
		const char *string;
		int code, n, sum;
		const char *text;
	} all[] = {
		{"UNC_M_CAS_COUNT:RD", 0, 3, 2000 + 2100 + 2200, NULL},
		{"UNC_M_CAS_COUNT.RD:cpu=7", 0, 3, 2007 + 2107 + 2207, NULL},
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RD", 0, 1, 2000, NULL},
		/* A kind of box that is not numbered. */
		{"UNC_P_CLOCKTICKS", 0, 1, 3200, NULL},
		{"UNC_M_CAS_COUNT:RDD", TACH_ERR_ATTR, 0, 0,
		 "UNC_M_CAS_COUNT has no umask or modifier 'RDD'; did you mean RD?"},
		{"UNC_UPI_CLOCKTICKS", TACH_ERR_NOTFOUND, 0, 0,
		 "no event 'UNC_UPI_CLOCKTICKS'; did you mean "
		 "skx_unc_upi0::UNC_UPI_CLOCKTICKS?"},
		{"page-faults", TACH_ERR_NOTSUPP, 0, 0,
		 "page-faults: not an event of a box: threads count it, so use it in a set"},
	};
	struct tach__uncore_taker taker = {take, NULL};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		int code;

		n = sum = 0;
		code = tach__uncore_boxes(all[i].string, root, &taker, &err);
		CHECK(code == all[i].code && n == all[i].n && sum == all[i].sum,
		      "%s: %d, %d boxes, %d: %s", all[i].string, code, n, sum, err.text);
		CHECK(!all[i].text || strcmp(err.text, all[i].text) == 0, "%s", err.text);
	}
}

/*
 * With the kind before it, the name must fit a full name's buffer; otherwise it means one box.
 */
static void long_strings(void)
{
	static const char first[] = "UNC_M_CAS_COUNT:RD:t=0x";
	struct tach__uncore_taker taker = {take, NULL};
	size_t most = TACH_EVENT_NAME_MAX - 1 - strlen("skx_unc_imc*::");

	for (size_t length = most - 1; length < most + 3; length++) {
		struct tach_error err = TACH_ERROR_INIT;
		char string[600];

		memset(string, '0', sizeof string);
		memcpy(string, first, sizeof first - 1);
		string[length - 1] = '1';
		string[length] = 0;
		n = 0;
		CHECK(tach__uncore_boxes(string, root, &taker, &err) == 0 &&
			      n == (length <= most ? 3 : 1),
		      "%zu: %d boxes: %s", length, n, err.text);
	}
}

static void events_without_a_box_use_this_machine(void)
{
	struct tach_pmu_info info = {.size = sizeof info};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__uncore_taker taker = {take, NULL};

	CHECK(tach_pmu_describe(tach_pmu_find("skx_unc_imc1"), &info) == 0 && info.present);
	CHECK(tach_pmu_describe(tach_pmu_find("skx_unc_imc4"), &info) == 0 && !info.present);
	/*
	 * A kind without a sysfs name exists only as boxes of the CPU; this machine has none of
	 * them.
	 */
	n = 0;
	CHECK(tach__uncore_boxes("nhm_unc*::UNC_X", NULL, &taker, &err) == TACH_ERR_NOTFOUND &&
	      n == 0);
	CHECK(tach__uncore_boxes("skx_unc_cha*::UNC_CHA_CLOCKTICKS", NULL, &taker, &err) ==
			      TACH_ERR_NOTFOUND &&
		      strstr(err.text, "this machine has no box skx_unc_cha*; load "),
	      "%s", err.text);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	for (int i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof path, "uncore_imc_%d/type", i);
		root_put(root, path, "%d\n", 20 + i);
		snprintf(path, sizeof path, "uncore_imc_%d/cpumask", i);
		root_put(root, path, "0\n");
	}
	root_put(root, "uncore_pcu/type", "32\n");
	root_put(root, "uncore_pcu/cpumask", "0\n");
	has("skx_unc_imc0");
	has("skx_unc_imc1");
	has("skx_unc_imc2");
	has("skx_unc_pcu");
	setenv("TACH_PMU", "skx", 1);
	CASE(all_of_its_kind);
	CASE(long_strings);
	CASE(events_without_a_box_use_this_machine);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

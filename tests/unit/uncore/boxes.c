/* SPDX-License-Identifier: MIT */
/* The boxes and processors that a string selects, with a simulated sysfs; and refusals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/base/error.h"
#include "core/uncore/uncore.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-kinds-XXXXXX";

static void device(const char *name, const char *type, const char *cpumask)
{
	char path[128];

	snprintf(path, sizeof path, "%s/type", name);
	root_put(root, path, "%s\n", type);
	snprintf(path, sizeof path, "%s/cpumask", name);
	if (cpumask)
		root_put(root, path, "%s\n", cpumask);
	snprintf(path, sizeof path, "%s/format/event", name);
	root_put(root, path, "config:0-7\n");
}

/* ---- selected boxes, "type:config@cpu", sorted ---- */

static char taken[16][32];
static int ntaken, stop_at;

static int take(void *context, const struct perf_event_attr *attr, int cpu,
		struct tach_error *err)
{
	int at = ntaken;
	char what[32];

	CHECK(context == &ntaken && attr->size == sizeof *attr && !attr->exclude_user &&
	      !attr->exclude_kernel && !attr->exclude_hv && !attr->exclude_host &&
	      !attr->exclude_guest && ntaken < 16);
	if (stop_at && ntaken + 1 == stop_at)
		return tach__error(err, 77, 0, 0, "stopped");
	snprintf(what, sizeof what, "%u:%llx@%d", attr->type, (unsigned long long)attr->config,
		 cpu);
	for (; at > 0 && strcmp(taken[at - 1], what) > 0; at--)
		strcpy(taken[at], taken[at - 1]);
	strcpy(taken[at], what);
	ntaken++;
	return 0;
}

static int boxes(const char *string, const char *sysfs, struct tach_error *err)
{
	struct tach__uncore_taker taker = {take, &ntaken};
	int code;

	ntaken = 0;
	errno = 4711;
	code = tach__uncore_boxes(string, sysfs, &taker, err);
	CHECK(errno == 4711, "%s: %d", string, errno);
	return code;
}

static const char *joined(void)
{
	static char all[16 * 33];
	char *at = all;

	*at = 0;
	for (int i = 0; i < ntaken; i++)
		at += sprintf(at, "%s%s", i ? " " : "", taken[i]);
	return all;
}

static void strings_name_their_boxes(void)
{
	static const struct {
		const char *string, *boxes;
	} all[] = {
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RD", "20:304@0 20:304@28"},
		{"skx_unc_imc1::UNC_M_CAS_COUNT:RD", "21:304@0 21:304@28"},
		{"skx_unc_imc1::UNC_M_CAS_COUNT:RD:cpu=5", "21:304@5"},
		{"skx_unc_imc1::UNC_M_CAS_COUNT:RD:cpu=0", "21:304@0"},
		{"skx_unc_imc*::UNC_M_CAS_COUNT:RD", "20:304@0 20:304@28 21:304@0 21:304@28"},
		{"SKX_UNC_IMC*::UNC_M_CAS_COUNT:WR:cpu=3", "20:c04@3 21:c04@3"},
		{"uncore_imc_*/event=4/", "20:4@0 20:4@28 21:4@0 21:4@28"},
		{"UNCORE_IMC_*/config=0x104/:cpu=1", "20:104@1 21:104@1"},
		{"uncore_imc_1/event=4/", "21:4@0 21:4@28"},
		/*
		 * Shortened as perf's names are: without uncore_, without a number, or as a
		 * pattern.
		 */
		{"uncore_imc/event=4/", "20:4@0 20:4@28 21:4@0 21:4@28"},
		{"imc/event=4/", "20:4@0 20:4@28 21:4@0 21:4@28"},
		{"imc_1/event=4/", "21:4@0 21:4@28"},
		{"imc_*/event=4/", "20:4@0 20:4@28 21:4@0 21:4@28"},
		{"*imc_?/event=4/", "20:4@0 20:4@28 21:4@0 21:4@28"},
		{"*imc_[1]/event=4/", NULL},
		{"*pc*/config=1/", "32:1@0 32:1@1"},
		{"pcu/config=1/", "32:1@0 32:1@1"},
		{"big/event=1/", "50:1@0"},
		/* A device of this kind without the term is omitted. */
		{"*imc_*1*/only=4/", "21:4@0 21:4@28"},
		{"uncore_pcu/config=1/", "32:1@0 32:1@1"},
		{"skx_unc_pcu::UNC_P_CLOCKTICKS", "32:0@0 32:0@1"},
		/* Types from 6 on belong to devices. */
		{"odd_6/event=1/", "6:1@0"},
		/* If sysfs names no processor, the string must name one. */
		{"skx_unc_upi0::UNC_UPI_CLOCKTICKS:cpu=2", "30:1@2"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;

		if (!all[i].boxes) {
			CHECK(boxes(all[i].string, root, &err) == TACH_ERR_NOTFOUND &&
				      strstr(err.text, "no boxes are called *imc_[1];"),
			      "%s", err.text);
			continue;
		}
		CHECK(boxes(all[i].string, root, &err) == 0, "%s: %s", all[i].string, err.text);
		CHECK(strcmp(joined(), all[i].boxes) == 0, "%s: %s", all[i].string, joined());
	}
}

/* Lists of processors are not cut: each processor is counted, or the box is refused. */
static void long_lists(void)
{
	char list[20000] = "0", *to = list + 1;
	struct tach_error err = TACH_ERROR_INIT;

	for (int cpu = 1; to < list + 1100; cpu++)
		to += sprintf(to, ",%d", cpu % 10);
	device("long_0", "70", list);
	stop_at = 16;
	CHECK(boxes("long_0/event=1/", root, &err) == 77 && ntaken == 15);
	stop_at = 0;
	strcpy(to, ",z"); /* an error after 1100 characters is found */
	while (to < list + sizeof list - 4)
		to += sprintf(to, ",1");
	device("long_1", "71", list);
	CHECK(boxes("long_1/event=1/", root, &err) == TACH_ERR_TOOMANY && ntaken == 0 &&
		      strstr(err.text, "has more than 16382 characters"),
	      "%s", err.text);
}

/* A result other than 0 ends the search. */
static void nonzero_result_ends_the_search(void)
{
	static const char *const strings[] = {
		"skx_unc_imc*::UNC_M_CAS_COUNT:RD",
		"uncore_imc_*/event=4/",
		"uncore_pcu/config=1/",
	};

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		for (stop_at = 1; stop_at <= (i == 2 ? 2 : 4); stop_at++) {
			struct tach_error err = TACH_ERROR_INIT;

			CHECK(boxes(strings[i], root, &err) == 77 && ntaken == stop_at - 1 &&
				      err.code == 77 && strcmp(err.text, "stopped") == 0,
			      "%s: %d taken, %d %s", strings[i], ntaken, err.code, err.text);
		}
	stop_at = 0;
}

#define NO_THREADS ": not an event of a box: threads count it, so use it in a set"
#define NO_SAMPLES ": a box is counted, not sampled: leave period and freq out"

static void refused(void)
{
	static const struct {
		const char *string;
		int code, column;
		const char *text;
	} all[] = {
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RDD", TACH_ERR_ATTR, 31,
		 "UNC_M_CAS_COUNT has no umask or modifier 'RDD'; did you mean RD?"},
		{"skx_unc_imc*::UNC_M_CAS_COUNT:RDD", TACH_ERR_ATTR, 31,
		 "UNC_M_CAS_COUNT has no umask or modifier 'RDD'; did you mean RD?"},
		{"uncore_imc_*/event=256/", TACH_ERR_ATTR_VALUE, 14,
		 "event has the bits config:0-7 only"},
		{"big_*/event=256/", TACH_ERR_ATTR_VALUE, 7,
		 "event has the bits config:0-7 only"}, /* big_10 has one letter more */
		{"nosuch_unc*::X", TACH_ERR_NOTFOUND, 1,
		 "no boxes are called nosuch_unc*; 'tach list --uncore' has the names"},
		{"uncore_qpi_*/event=1/", TACH_ERR_NOTFOUND, 1,
		 "no boxes are called uncore_qpi_*; 'tach list --uncore' has the names"},
		{"skx_unc_cha*::UNC_CHA_CLOCKTICKS", TACH_ERR_NOTSUPP, 1, NULL},
		{"skx_unc_imc9*::UNC_M_CAS_COUNT:RD", TACH_ERR_NOTFOUND, 1,
		 "no boxes are called skx_unc_imc9*; 'tach list --uncore' has the names"},
		{"rapl::RAPL_ENERGY_PKG", TACH_ERR_NOTSUPP, 1,
		 "rapl::RAPL_ENERGY_PKG: the kernel has no such PMU"},
		{"page-faults", TACH_ERR_NOTSUPP, 1, "page-faults" NO_THREADS},
		{"skl::INST_RETIRED:ANY_P", TACH_ERR_NOTSUPP, 1,
		 "skl::INST_RETIRED:ANY_P" NO_THREADS},
		{"uncore_upi_0/config=1/", TACH_ERR_NOTSUPP, 1,
		 "uncore_upi_0/config=1/" NO_THREADS},
		{"odd_5/event=1/", TACH_ERR_NOTSUPP, 1, "odd_5/event=1/" NO_THREADS},
		{"uncore_pcu/config=1,period=9/", TACH_ERR_NOTSUPP, 1,
		 "uncore_pcu/config=1,period=9/" NO_SAMPLES},
		{"uncore_pcu/config=1/:freq=9", TACH_ERR_NOTSUPP, 1,
		 "uncore_pcu/config=1/:freq=9" NO_SAMPLES},
		/* The file cpumask names no processor. */
		{"uncore_nil/config=1/", TACH_ERR_NOTSUPP, 1,
		 "uncore_nil/config=1/:u=1:k=1:h=1:precise=0:excl=0:mg=0:mh=1: sysfs has no "
		 "file cpumask with the processors that count it; name one with "
		 ":cpu=N"},
		/* A star cannot replace the number of a kind. */
		{"skx_unc_im*c::UNC_M_CAS_COUNT:RD", TACH_ERR_NOTFOUND, 1, NULL},
		{"skx_unc_imc*:UNC_M_CAS_COUNT:RD", TACH_ERR_NOTFOUND, 1, NULL},
		{"*::UNC_M_CAS_COUNT:RD", TACH_ERR_NOTFOUND, 1, NULL},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		int code = boxes(all[i].string, root, &err);

		CHECK(code == all[i].code && err.code == code && ntaken == 0 &&
			      err.column == all[i].column && err.line == 0 &&
			      (!all[i].text || strcmp(err.text, all[i].text) == 0),
		      "%s: %d, column %d: %s", all[i].string, code, err.column, err.text);
		CHECK(boxes(all[i].string, root, NULL) == code, "%s", all[i].string);
	}
}

/*
 * A string for one box has the box's number in place of the star, and at most 511 characters.
 */
static void long_strings(void)
{
	char string[600];

	for (size_t length = 510; length < 514; length++) {
		struct tach_error err = TACH_ERROR_INIT;
		int code;

		memset(string, 'x', sizeof string);
		memcpy(string, "uncore_imc_*/event=4,name=", 26);
		string[length - 1] = '/';
		string[length] = 0;
		code = boxes(string, root, &err);
		CHECK(code == (length < 512 ? 0 : TACH_ERR_TOOMANY), "%zu: %d", length, code);
		CHECK(!code || (err.column == 1 && strstr(err.text, "an event string of 51")),
		      "%s", err.text);
	}
}

/* A device that cannot be read is not reported as absent. */
static void without_descriptors(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct rlimit had, none;
	int code;

	CHECK(getrlimit(RLIMIT_NOFILE, &had) == 0);
	none = had;
	none.rlim_cur = 0;
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	code = boxes("uncore_imc_*/event=4/", root, &err);
	CHECK(setrlimit(RLIMIT_NOFILE, &had) == 0);
	CHECK(code == -EMFILE && err.code == code && err.column == 0 && ntaken == 0, "%d",
	      code);
	CHECK(strncmp(err.text, "cannot look for boxes in /tmp/tach", 34) == 0 &&
		      strstr(err.text, strerror(EMFILE)),
	      "%s", err.text);
}

/* Boxes of another architecture, without a sysfs of this machine. */
#define CURE "; load the kernel's uncore driver, or leave the virtual machine"

static void this_machines(void)
{
#ifdef __aarch64__
	const char *string = "skx_unc_imc*::UNC_M_CAS_COUNT:RD";
	const char *text = "this machine has no box skx_unc_imc*" CURE;
#else
	const char *string = "hisi_sccl1_ddrc*::FLUX_RD";
	const char *text = "this machine has no box hisi_sccl1_ddrc*" CURE;
#endif
	struct tach_error err = TACH_ERROR_INIT;

	CHECK(boxes(string, NULL, &err) == TACH_ERR_NOTFOUND && ntaken == 0 &&
		      strcmp(err.text, text) == 0,
	      "%s", err.text);
	CHECK(tach__uncore_is_event("hisi_sccl1_ddrc*::FLUX_RD") &&
	      tach__uncore_is_event("nosuch_*/a/"));
	CHECK(!tach__uncore_is_event("cycles") && !tach__uncore_is_event("nosuch") &&
	      !tach__uncore_is_event("nosuch*") && !tach__uncore_is_event("nosuch*:a") &&
	      !tach__uncore_is_event("*::a") && !tach__uncore_is_event("*/a/"));
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	device("uncore_imc_0", "20", "0,28");
	device("uncore_imc_1", "21", "0,28");
	root_put(root, "uncore_imc_1/format/only", "config:0-7\n");
	device("uncore_imc_", "40", "0");
	device("uncore_imc_1x", "41", "0");
	device("uncore_imc_free_running", "31", "0");
	device("uncore_upi_0", "30", NULL);
	device("uncore_pcu", "32", "0-1");
	device("uncore_nil", "33", "");
	device("big_10", "50", "0");
	device("odd_5", "5", "0");
	device("odd_6", "6", "0");
	CASE(strings_name_their_boxes);
	CASE(long_lists);
	CASE(nonzero_result_ends_the_search);
	CASE(refused);
	CASE(long_strings);
	CASE(without_descriptors);
	CASE(this_machines);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

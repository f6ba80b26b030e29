/* SPDX-License-Identifier: MIT */
/*
 * Every event and every umask of every table: it encodes in all three forms, and its full name
 * encodes to the same words and attr again. If a second umask is needed, the first of each
 * group is used.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"

static long encoded, refused;

static int same(const struct tach_event *a, const struct tach_event *b)
{
	return a->ncodes == b->ncodes &&
	       memcmp(a->codes, b->codes, a->ncodes * sizeof *a->codes) == 0 &&
	       a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->period == b->period &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv && a->exclude_host == b->exclude_host &&
	       a->exclude_guest == b->exclude_guest && a->pinned == b->pinned &&
	       a->exclusive == b->exclusive && a->precise == b->precise && a->cpu == b->cpu &&
	       a->pmu == b->pmu;
}

static int try(const char *string, const struct tach_encode_options *opt)
{
	struct tach_event first = {0}, second = {0};
	struct tach_error err = TACH_ERROR_INIT;
	int rc = tach_event_encode(string, opt, &first, NULL), again;

	if (rc)
		return rc;
	encoded++;
	again = tach_event_encode(first.name, opt, &second, &err);
	CHECK(again == 0 && same(&first, &second), "%s -> %s: %s -> %s", string, first.name,
	      err.text, second.name);
	return 0;
}

/* The first umask of every group but `except`. */
static void add_others(char *string, size_t size, int pmu, int event, int numasks, int except)
{
	struct tach_umask_info umask = {.size = sizeof umask};
	unsigned done = except < 0 ? 0 : 1u << except;

	for (int u = 0; u < numasks; u++) {
		size_t length = strlen(string);

		tach_pmu_umask(pmu, event, u, &umask);
		if (done >> umask.group & 1 || umask.alias_of)
			continue;
		done |= 1u << umask.group;
		snprintf(string + length, size - length, ":%s", umask.name);
	}
}

/* Unchanged, and with missing groups filled from the others. */
static void encode(int pmu, int event, int numasks, int group, const char *string,
		   const struct tach_encode_options *opt)
{
	char filled[1024];
	int rc = try(string, opt);

	if (rc == TACH_ERR_UMASK || rc == TACH_ERR_ATTR) {
		snprintf(filled, sizeof filled, "%s", string);
		add_others(filled, sizeof filled, pmu, event, numasks, group);
		rc = try(filled, opt);
	}
	/* One event of Sandy Bridge has a group and no umask to put into it. */
	if (rc == TACH_ERR_UMASK && numasks == 0) {
		refused++;
		return;
	}
	CHECK(rc == 0, "%s: %s", string, tach_strerror(rc));
}

static void all(const struct tach_encode_options *opt)
{
	struct tach_pmu_info pmu = {.size = sizeof pmu};
	struct tach_event_info event = {.size = sizeof event};
	struct tach_umask_info umask = {.size = sizeof umask};
	char string[512];

	for (int p = 0; p < tach_pmu_count(); p++) {
		CHECK(tach_pmu_describe(p, &pmu) == 0);
		if (strcmp(pmu.arch, "ia64") == 0 && opt->os != TACH_OS_NONE)
			continue;
		for (int e = 0; e < pmu.nevents; e++) {
			tach_pmu_event(p, e, &event);
			snprintf(string, sizeof string, "%s::%s", pmu.name, event.name);
			encode(p, e, event.numasks, -1, string, opt);
			for (int u = 0; u < event.numasks; u++) {
				tach_pmu_umask(p, e, u, &umask);
				snprintf(string, sizeof string, "%s::%s:%s", pmu.name,
					 event.name, umask.name);
				encode(p, e, event.numasks, umask.group, string, opt);
			}
		}
	}
}

static struct tach_encode_options options(enum tach_os os)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = os;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = "";
	opt.sysfs = "/nonexistent";
	return opt;
}

static void words(void)
{
	struct tach_encode_options opt = options(TACH_OS_NONE);

	all(&opt);
	CHECK(refused == 1, "%ld events without a usable umask", refused);
}

static void perf(void)
{
	struct tach_encode_options opt = options(TACH_OS_PERF);

	all(&opt);
}

static void perf_ext(void)
{
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);

	all(&opt);
}

/* All modifiers of perf's at once, also where the name must hold more than libpfm-4's does. */
static void modifiers(void)
{
	static const char *const strings[] = {
		("skl::INST_RETIRED:ANY_P:u:c=3:e:i:precise=2:period=100003:pinned:excl:cpu=3:"
		 "mg"),
		"skl::BR_INST_RETIRED:CONDITIONAL:k:freq=1000:mh=1:mg=1",
		"skl::OFFCORE_RESPONSE_0:0x3fffffffff:u",
		"skl::FRONTEND_RETIRED:IDQ_4_BUBBLES:fe_thres=3",
		"skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=50:k",
		"icl::TOPDOWN_M:BACKEND_BOUND:pinned",
		"icl::INST_DECODED:DECODERS:hw_smpl",
		"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS:h:u:g:c=3",
		"netburst::uops_retired:NBOGUS:thr=3:cmpl:u",
		"arm_n1::CPU_CYCLES:h:k:period=5",
		"r12:precise=2:k:h",
		"perf::L1-DCACHE-LOADS:k:precise=1:period=7:cpu=0",
		"cpu/event=0xc0,umask=1,cmask=2/ukp",
		"cpu/config=0x1c0,config1=0x5,period=1000/u:pinned",
	};
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT);

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		CHECK(try(strings[i], &opt) == 0, "%s", strings[i]);
}

int main(void)
{
	CASE(words);
	CASE(perf);
	CASE(perf_ext);
	CASE(modifiers);
	printf("# %ld strings encoded, and encoded again from their full names\n", encoded);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Events of Linux without a PMU table: raw codes, tracepoints, privilege levels, and the core
 * type of an event.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-kernel-XXXXXX";

/* host NULL: the machine that TACH_PMU names, which has two core types. */
static struct tach_encode_options options(const char *host)
{
	static char devices[64], events[64];
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	snprintf(devices, sizeof devices, "%s/devices", root);
	snprintf(events, sizeof events, "%s/events", root);
	opt.os = TACH_OS_PERF_EXT;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = host;
	opt.sysfs = devices;
	opt.tracefs = events;
	return opt;
}

static void raw_codes(void)
{
	static const struct {
		const char *string;
		int code;
		uint64_t config;
	} all[] = {
		{"r0", 0, 0},
		{"r9", 0, 9},
		{"raF", 0, 0xaf},
		{"r0x1f", 0, 0x1f},
		{"r0X1f", 0, 0x1f},
		{"r0x0", 0, 0},
		{"rfffffffffffffffe", 0, 0xfffffffffffffffe},
		{"r00000fffffffffffffffe", 0, 0xfffffffffffffffe},
		{"r0x1000000000000000", 0, 1ull << 60},
		{"perf_raw::r1c2", 0, 0x1c2},
		{"rffffffffffffffff", TACH_ERR_NOTFOUND, 0}, /* libpfm-4 answers the same */
		{"r10000000000000000", TACH_ERR_NOTFOUND, 0},
		{"r", TACH_ERR_NOTFOUND, 0},
		{"r0x", TACH_ERR_NOTFOUND, 0},
		{"r1x1", TACH_ERR_NOTFOUND, 0},
		{"R1c2", TACH_ERR_NOTFOUND, 0},
		{"r1g", TACH_ERR_NOTFOUND, 0},
		{"r1`", TACH_ERR_NOTFOUND, 0},
		{"r1;", TACH_ERR_NOTFOUND, 0},
		{"r1-", TACH_ERR_NOTFOUND, 0},
		{"1c2", TACH_ERR_NOTFOUND, 0},
		{"s1c2", TACH_ERR_NOTFOUND, 0},
		{"perf::r1c2", TACH_ERR_NOTFOUND, 0},
	};
	struct tach_encode_options opt = options("skl");

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_event e = {0};
		int rc = tach_event_encode(all[i].string, &opt, &e, NULL);

		CHECK(rc == all[i].code, "%s: %d", all[i].string, rc);
		if (rc)
			continue;
		CHECK(e.type == PERF_TYPE_RAW && e.config == all[i].config &&
			      e.has == (TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2) &&
			      !e.config1 && !e.config2 && e.event == 0,
		      "%s: %u %llx", all[i].string, e.type, (unsigned long long)e.config);
		CHECK(e.pmu == tach_pmu_find("perf_raw") && e.ncodes == 1 &&
			      e.codes[0] == e.config,
		      "%s", all[i].string);
	}
}

static void tracepoints(void)
{
	static const struct {
		uint32_t flags;
		const char *string;
		int code;
		uint64_t config;
		const char *text;
	} all[] = {
		{0, "sched:sched_switch", 0, 316, NULL},
		{0, "sched:sched_switch:k", 0, 316, NULL},
		{0, "sched.sched_wakeup", 0, 317, NULL},
		{0, "perf::sched:sched_wakeup:u", 0, 317, NULL},
		{0, "sched:sched_switch:sched_switch", 0, 316, NULL},
		{0, "sched:sched_switch:sched_wakeup", TACH_ERR_FEATCOMB, 0,
		 "one tracepoint, not two"},
		{0, "sched", TACH_ERR_UMASK, 0, "which tracepoint of sched?"},
		{TACH_ENCODE_LIBPFM4, "sched", 0, 0, NULL},
		{0, "sched:k", TACH_ERR_UMASK, 0, "which tracepoint of sched?"},
		{0, "sched:nosuch", TACH_ERR_ATTR, 0,
		 "sched has no umask or modifier 'nosuch'"},
		{0, "sched:sched_switch=1", TACH_ERR_ATTR, 0, NULL},
		{0, "sched:wrong", TACH_ERR_ATTR, 0, NULL},
		{0, "sched:.hidden", TACH_ERR_ATTR, 0, NULL},
		{0, "hollow:any", TACH_ERR_NOTFOUND, 0, "no event 'hollow'"},
		{0, "file:any", TACH_ERR_NOTFOUND, 0, "no event 'file'"},
		{0, "nosuch:any", TACH_ERR_NOTFOUND, 0, "no event 'nosuch'"},
		{0, ".hid:any", TACH_ERR_NOTFOUND, 0, NULL},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_encode_options opt = options("skl");
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc;

		opt.flags = all[i].flags;
		rc = tach_event_encode(all[i].string, &opt, &e, &err);
		CHECK(rc == all[i].code && (!all[i].text || strcmp(err.text, all[i].text) == 0),
		      "%s: %d %s", all[i].string, rc, err.text);
		CHECK(rc || (e.type == PERF_TYPE_TRACEPOINT && e.config == all[i].config &&
			     e.codes[0] == e.config && e.ncodes == 1),
		      "%s: %u %llu", all[i].string, e.type, (unsigned long long)e.config);
	}
}

/* The longest names that fit, and one letter more. */
static void long_tracepoints(void)
{
	enum { SYSTEM = 95, POINT = 127 };
	struct tach_encode_options opt = options("skl");

	for (int more = 0; more < 2; more++) {
		char system[SYSTEM + 2] = "", point[POINT + 2] = "", string[300], path[300];
		struct tach_event e = {0};

		memset(system, 's', (size_t)(SYSTEM + more));
		snprintf(path, sizeof path, "events/%s/point/id", system);
		root_put(root, path, "5\n");
		snprintf(string, sizeof string, "%s:point", system);
		CHECK(tach_event_encode(string, &opt, &e, NULL) ==
			      (more ? TACH_ERR_NOTFOUND : 0),
		      "%s", string);
		memset(point, 'p', (size_t)(POINT + more));
		snprintf(path, sizeof path, "events/sched/%s/id", point);
		root_put(root, path, "6\n");
		snprintf(string, sizeof string, "sched:%s", point);
		CHECK(tach_event_encode(string, &opt, &e, NULL) == (more ? TACH_ERR_ATTR : 0),
		      "%s", string);
	}
}

/* The longest allowed path has 256 bytes including the terminating 0. */
static void long_tracefs(void)
{
	struct tach_encode_options opt = options("skl");
	char folder[201] = "", string[96];
	struct tach_event e = {0};

	memset(folder, 'd', sizeof folder - 1);
	memcpy(folder, root, strlen(root));
	folder[strlen(root)] = '/';
	opt.tracefs = folder;
	for (int length = 53; length < 57; length++) {
		char path[320], system[64] = "";

		memset(system, 's', (size_t)length);
		snprintf(path, sizeof path, "%s/%s/point/id", folder + strlen(root) + 1,
			 system);
		root_put(root, path, "8\n");
		snprintf(string, sizeof string, "%s:point", system);
		CHECK(tach_event_encode(string, &opt, &e, NULL) ==
			      (length <= 54 ? 0 : TACH_ERR_NOTFOUND),
		      "%d", length);
	}
}

/* File descriptor 0 is free, so it may become the folder's descriptor. */
static void without_input(void)
{
	struct tach_encode_options opt = options("skl");
	struct tach_event e = {0};
	int input = dup(0), there = input >= 0;

	if (there)
		close(0);
	CHECK(tach_event_encode("sched:sched_switch", &opt, &e, NULL) == 0 && e.config == 316);
	CHECK(dup(1) == 0, "a descriptor is left open");
	close(0);
	if (there) {
		dup2(input, 0);
		close(input);
	}
}

/* Level h exists if the core's PMU has it; libpfm-4 has it only for hardware events. */
static void levels(void)
{
	static const struct {
		uint32_t flags;
		const char *host, *string;
		int code;
	} all[] = {
		{0, "skl", "cycles:h", TACH_ERR_ATTR},
		{0, "skl", "sched:sched_switch:h", TACH_ERR_ATTR},
		{0, "skl", "r1:h", 0},
		{0, "skl", "cpu/config=1/h", 0},
		{0, "amd64_fam19h_zen3", "cycles:h", 0},
		{0, "amd64_fam19h_zen3", "L1-dcache-loads:h", 0},
		{0, "amd64_fam19h_zen3", "context-switches:h", 0},
		{0, "amd64_fam19h_zen3", "sched:sched_switch:h", 0},
		{0, "", "cycles:h", 0},
		{TACH_ENCODE_LIBPFM4, "amd64_fam19h_zen3", "perf::CYCLES:h", 0},
		{TACH_ENCODE_LIBPFM4, "amd64_fam19h_zen3", "perf::L1-DCACHE-LOADS:h", 0},
		{TACH_ENCODE_LIBPFM4, "amd64_fam19h_zen3", "perf::CONTEXT-SWITCHES:h",
		 TACH_ERR_ATTR},
		{TACH_ENCODE_LIBPFM4, "amd64_fam19h_zen3", "sched:sched_switch:h",
		 TACH_ERR_ATTR},
		/* The precision of a sample follows the same rule. */
		{0, "skl", "cycles:precise=1", 0},
		{0, "skl", "L1-dcache-loads:precise=1", 0},
		{0, "skl", "r1:precise=1", 0},
		{0, "skl", "cpu/config=1/:precise=1", 0},
		{0, "skl", "context-switches:precise=1", TACH_ERR_ATTR},
		{0, "skl", "sched:sched_switch:precise=1", TACH_ERR_ATTR},
		{0, "skl", "r1:hw_smpl", 0},
		{0, "skl", "cycles:hw_smpl", TACH_ERR_ATTR},
		{0, "skl", "cpu/config=1/:hw_smpl", TACH_ERR_ATTR},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_encode_options opt = options(all[i].host);
		struct tach_event e = {0};
		int rc;

		opt.flags = all[i].flags;
		rc = tach_event_encode(all[i].string, &opt, &e, NULL);
		CHECK(rc == all[i].code, "%s of '%s': %d", all[i].string, all[i].host, rc);
	}
}

static void operations(void)
{
	static const struct {
		const char *string;
		int code;
		uint64_t config;
	} all[] = {
		{"perf::PERF_COUNT_HW_CACHE_LL:READ:MISS", 0, 0x10002},
		{"perf::PERF_COUNT_HW_CACHE_LL:MISS:WRITE", 0, 0x10102},
		{"perf::PERF_COUNT_HW_CACHE_LL:READ:WRITE", TACH_ERR_UMASK, 0},
		{"perf::PERF_COUNT_HW_CACHE_LL:MISS:ACCESS", TACH_ERR_UMASK, 0},
		{"perf::PERF_COUNT_HW_CACHE_LL:WRITE", 0, 0x10102},
	};
	struct tach_encode_options opt = options("skl");

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_event e = {0};
		int rc = tach_event_encode(all[i].string, &opt, &e, NULL);

		CHECK(rc == all[i].code && (rc || (e.type == PERF_TYPE_HW_CACHE &&
						   e.config == all[i].config)),
		      "%s: %d %llx", all[i].string, rc, (unsigned long long)e.config);
	}
}

/* With two core types, bits 32 and up select the PMU. */
static void core_types(void)
{
	static const struct {
		uint32_t flags;
		const char *pmu, *string;
		uint32_t type;
		uint64_t config;
	} all[] = {
		{0, NULL, "cycles", 0, 0x400000000},
		{0, NULL, "instructions", 0, 0x400000001},
		{0, NULL, "L1-dcache-loads", 3, 0x400000000},
		{0, NULL, "context-switches", 1, 3},
		{0, "adl_grt", "cycles", 0, 0xa00000000},
		{0, "adl_glc", "cycles", 0, 0x400000000},
		{0, "arm_n1", "cycles", 0, 0}, /* this machine does not have that PMU */
		{0, "arm_ac57", "cycles", 0, 0},
		{TACH_ENCODE_LIBPFM4, NULL, "cycles", 0, 0},
		{0, NULL, "adl_grt::INST_RETIRED:ANY_P", 10, 0xc0},
		{0, NULL, "adl_glc::INST_RETIRED:ANY_P", 4, 0xc0},
		{0, NULL, "skl::INST_RETIRED:ANY_P", 4, 0xc0},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_encode_options opt = options(NULL);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc;

		opt.flags = all[i].flags;
		if (all[i].pmu)
			opt.pmu = tach_pmu_find(all[i].pmu);
		rc = tach_event_encode(all[i].string, &opt, &e, &err);
		CHECK(rc == 0 && e.type == all[i].type && e.config == all[i].config,
		      "%zu: %s: %u %llx %s", i, all[i].string, e.type,
		      (unsigned long long)e.config, err.text);
	}
}

/* Types of PMUs are usually higher; sysfs has priority anyway. */
static void low_types(void)
{
	struct tach_encode_options opt = options(NULL);
	struct tach_event e = {0};

	root_put(root, "devices/cpu_core/type", "0\n");
	CHECK(tach_event_encode("adl_glc::INST_RETIRED:ANY_P", &opt, &e, NULL) == 0 &&
		      e.type == 0 && e.config == 0xc0,
	      "%u", e.type);
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == 0 && e.config == 0);
	root_put(root, "devices/cpu_core/type", "1\n");
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == 0 && e.config == 0x100000000);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	setenv("TACH_PMU", "adl_glc,adl_grt", 1);
	root_put(root, "devices/cpu_core/type", "4\n");
	root_put(root, "devices/cpu_atom/type", "10\n");
	root_put(root, "events/sched/sched_switch/id", "316\n");
	root_put(root, "events/sched/sched_wakeup/id", "317\n");
	root_put(root, "events/sched/wrong/id", "none\n");
	root_put(root, "events/sched/.hidden/id", "7\n");
	root_put(root, "events/.hid/any/id", "7\n");
	root_put(root, "events/hollow/enable", "0\n");
	root_put(root, "events/file", "0\n");
	CASE(raw_codes);
	CASE(tracepoints);
	CASE(long_tracepoints);
	CASE(long_tracefs);
	CASE(without_input);
	CASE(levels);
	CASE(operations);
	CASE(core_types);
	CASE(low_types);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

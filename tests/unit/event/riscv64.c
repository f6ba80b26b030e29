/* SPDX-License-Identifier: MIT */
/* Every row of every RISC-V table, encoded on any machine. */
#include <glob.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"

static struct tach_event encode(const char *string, const char *host, int *rc)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event e = {0};
	struct tach_error err = TACH_ERROR_INIT;

	opt.os = TACH_OS_PERF_EXT;
	opt.host = host;
	opt.sysfs = opt.tracefs = "/nonexistent";
	*rc = tach_event_encode(string, &opt, &e, &err);
	return e;
}

/* perf's id of CACHE_WHAT_OPERATION_RESULT, by the names of linux/perf_event.h. */
static uint64_t cache_id(const char *name)
{
	static const struct {
		const char *name;
		uint64_t id;
	} words[] = {
		{"_L1D_", PERF_COUNT_HW_CACHE_L1D},
		{"_L1I_", PERF_COUNT_HW_CACHE_L1I},
		{"_LL_", PERF_COUNT_HW_CACHE_LL},
		{"_DTLB_", PERF_COUNT_HW_CACHE_DTLB},
		{"_ITLB_", PERF_COUNT_HW_CACHE_ITLB},
		{"_BPU_", PERF_COUNT_HW_CACHE_BPU},
		{"_NODE_", PERF_COUNT_HW_CACHE_NODE},
		{"_READ_", PERF_COUNT_HW_CACHE_OP_READ << 8},
		{"_WRITE_", PERF_COUNT_HW_CACHE_OP_WRITE << 8},
		{"_PREFETCH_", PERF_COUNT_HW_CACHE_OP_PREFETCH << 8},
		{"_ACCESS", PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16},
		{"_MISS", PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	};
	uint64_t id = 0;
	int found = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(name, words[i].name)) {
			id |= words[i].id;
			found++;
		}
	CHECK(found == 3, "%s", name);
	return id;
}

static uint64_t hardware_id(const char *name)
{
	static const char *const names[] = {
		"HW_CPU_CYCLES",
		"HW_INSTRUCTIONS",
		"HW_CACHE_REFERENCES",
		"HW_CACHE_MISSES",
		"HW_BRANCH_INSTRUCTIONS",
		"HW_BRANCH_MISSES",
		"HW_BUS_CYCLES",
		"HW_STALLED_CYCLES_FRONTEND",
		"HW_STALLED_CYCLES_BACKEND",
		"HW_REF_CPU_CYCLES",
	};

	for (uint64_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	CHECK(0, "%s", name);
	return 0;
}

static void row(const char *pmu, const char *name, uint64_t code)
{
	int rc, sbi = strcmp(pmu, "rv_sbi") == 0;
	uint32_t type = PERF_TYPE_RAW;
	uint64_t config = code;
	struct tach_event e;
	char string[160];

	if (sbi && memcmp(name, "HW_", 3) == 0) {
		type = PERF_TYPE_HARDWARE;
		config = hardware_id(name);
	} else if (sbi && memcmp(name, "CACHE_", 6) == 0) {
		type = PERF_TYPE_HW_CACHE;
		config = cache_id(name);
	} else if (sbi) {
		config = UINT64_C(1) << 63 | (code & 0xffff);
	}
	snprintf(string, sizeof string, "%s::%s", pmu, name);
	e = encode(string, pmu, &rc);
	CHECK(rc == 0 && e.type == type && e.config == config, "%s: %d, type %u config %#llx",
	      string, rc, e.type, (unsigned long long)e.config);
	CHECK(e.ncodes == 1 && e.codes[0] == code, "%s", string);
	e = encode(name, pmu, &rc);
	CHECK(rc == 0 && e.type == type && e.config == config, "%s on %s: %d", name, pmu, rc);
	/* perf selects privilege levels, the word does not contain them. */
	strcat(string, ":u");
	e = encode(string, pmu, &rc);
	CHECK(rc == 0 && e.config == config && e.codes[0] == code, "%s: %d", string, rc);
}

static void every_row(void)
{
	glob_t files;
	int rows = 0;

	CHECK(glob("arch/riscv64/events/*.tsv", 0, NULL, &files) == 0, "no tables");
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *from = fopen(files.gl_pathv[i], "r");
		char line[512], pmu[64] = "", name[128], code[32];

		while (from && fgets(line, sizeof line, from)) {
			sscanf(line, "@pmu\t%63s", pmu);
			if (sscanf(line, "E\t%127s\t%31s", name, code) == 2) {
				row(pmu, name, strtoull(code, NULL, 16));
				rows++;
			}
		}
		if (from)
			fclose(from);
	}
	globfree(&files);
	CHECK(rows > 400, "%d", rows);
}

/* Events common to all CPUs with this firmware are found together with the vendor's events. */
static void common_events(void)
{
	int rc;

	CHECK(encode("FW_SET_TIMER", "rv_c900", &rc).config == (UINT64_C(1) << 63 | 5), "%d",
	      rc);
	CHECK(encode("rv_sbi::FW_SET_TIMER", "rv_p550", &rc).config == (UINT64_C(1) << 63 | 5),
	      "%d", rc);
	encode("FW_SET_TIMER", "skl", &rc);
	CHECK(rc == TACH_ERR_NOTFOUND, "%d", rc);
}

static void terms(void)
{
	int rc;

	CHECK(encode("cpu/event=0x10001/", "rv_bullet", &rc).config == 0x10001, "%d", rc);
	CHECK(encode("cpu/event=5,firmware=2/", "rv_sbi", &rc).config ==
		      (UINT64_C(1) << 63 | 5),
	      "%d", rc);
	encode("cpu/umask=1/", "rv_bullet", &rc);
	CHECK(rc == TACH_ERR_ATTR, "%d", rc);
	CHECK(encode("cycles", "rv_bullet", &rc).type == PERF_TYPE_HARDWARE, "%d", rc);
}

/* If sysfs shows no terms of a device, the architecture's terms are used. */
static void devices_by_name(void)
{
	int rc;

	CHECK(encode("cpu/event=0x123456789ab/", "rv_p550", &rc).config == 0x123456789ab &&
	      rc == 0);
	encode("cpu/umask=1/", "rv_p550", &rc);
	CHECK(rc != 0, "RISC-V has no umask");
	CHECK(encode("cpu_core/umask=1/", "rv_p550", &rc).config == 0x100 && rc == 0);
	CHECK(encode("armv8_pmuv3_0/event=0x11/", "rv_p550", &rc).config == 0x11 && rc == 0);
	encode("foo/event=1/", "rv_p550", &rc);
	CHECK(rc == TACH_ERR_NOTFOUND, "%d", rc);
}

int main(void)
{
	CASE(every_row);
	CASE(common_events);
	CASE(terms);
	CASE(devices_by_name);
	return check_done();
}

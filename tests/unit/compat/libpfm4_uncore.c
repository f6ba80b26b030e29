/* SPDX-License-Identifier: MIT */
/*
 * libpfm-4's information about its 566 uncore PMUs (tests/vectors/uncore-introspection.tsv),
 * compared with the drop-in's. In every list, rows that only the vendor has follow libpfm-4's
 * rows, so umasks keep their positions; modifiers come last.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "compat/libpfm4/include/perfmon/pfmlib.h"
#include "tests/check.h"
#include "tests/unit/compat/dropin.h"
#include "tests/vectors.h"

static pfm_err_t (*pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
static pfm_err_t (*event_info)(int, pfm_os_t, pfm_event_info_t *);
static pfm_err_t (*attr_info)(int, int, pfm_os_t, pfm_event_attr_info_t *);
static pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);

static char pmu[64];
static int number, event, theirs[3], shift[3];
static long lines, further;

static int cells(char *line, char *cell[16])
{
	int n = 0;

	line[strcspn(line, "\n")] = 0;
	while (n < 16 && (cell[n++] = strsep(&line, "\t")) && line)
		;
	return n;
}

static int same(const char *cell, const char *ours)
{
	return strcmp(cell, ours ? ours : "-") == 0;
}

static void one_pmu(char *c[16])
{
	pfm_pmu_info_t info = {.size = sizeof info};

	snprintf(pmu, sizeof pmu, "%s", c[1]);
	number = atoi(c[2]);
	CHECK(pmu_info((pfm_pmu_t)number, &info) == PFM_SUCCESS, "%s", pmu);
	CHECK(same(pmu, info.name) && (int)info.pmu == number, "%s %s", pmu, info.name);
	CHECK((int)info.type == atoi(c[3]) && info.nevents >= atoi(c[4]), "%s: %d events", pmu,
	      info.nevents);
	further += info.nevents - atoi(c[4]);
	CHECK(info.num_cntrs == atoi(c[5]) && info.num_fixed_cntrs == atoi(c[6]) &&
		      info.max_encoding == atoi(c[7]),
	      "%s: %d %d %d", pmu, info.num_cntrs, info.num_fixed_cntrs, info.max_encoding);
	CHECK(!info.is_dfl && info.first_event == number << 21, "%s", pmu);
	CHECK(info.desc && *info.desc, "%s", pmu);
}

static void one_event(char *c[16])
{
	char flags[8];

	event = number << 21 | atoi(c[2]);
	CHECK(same(pmu, c[1]), "%s", c[1]);
	for (int os = 0; os < 3; os++) {
		pfm_event_info_t info = {.size = sizeof info};

		CHECK(event_info(event, (pfm_os_t)os, &info) == PFM_SUCCESS, "%s %s", pmu,
		      c[3]);
		CHECK(same(c[3], info.name) && info.code == strtoull(c[4], NULL, 16) &&
			      same(c[5], info.equiv),
		      "%s::%s: %s %#llx", pmu, c[3], info.name, (unsigned long long)info.code);
		theirs[os] = atoi(c[6 + os]);
		shift[os] = info.nattrs - theirs[os];
		CHECK(shift[os] >= 0 && shift[os] == shift[0], "%s::%s: %d attributes", pmu,
		      c[3], info.nattrs);
		snprintf(flags, sizeof flags, "%d%d%d", info.is_precise, info.is_speculative,
			 info.support_hw_smpl);
		CHECK(same(c[9], flags), "%s::%s: %s", pmu, c[3], flags);
		CHECK(info.desc && *info.desc, "%s::%s", pmu, c[3]);
	}
	further += shift[0];
}

static void one_attr(char *c[16])
{
	int os = atoi(c[1]), type = atoi(c[4]);
	int idx = atoi(c[2]) + (type == PFM_ATTR_UMASK ? 0 : shift[os]);
	pfm_event_attr_info_t info = {.size = sizeof info};

	CHECK(attr_info(event, idx, (pfm_os_t)os, &info) == PFM_SUCCESS, "%s %s", pmu, c[3]);
	CHECK(same(c[3], info.name) && (int)info.type == type && (int)info.ctrl == atoi(c[5]) &&
		      (int)info.idx == idx,
	      "%s %x %d: %s is %s", pmu, (unsigned)event, idx, c[3], info.name);
	CHECK(info.code == strtoull(c[6], NULL, 16) && info.is_dfl == atoi(c[7]) &&
		      same(c[8], info.equiv) && info.dfl_val64 == 0,
	      "%s %x %s: %#llx", pmu, (unsigned)event, c[3], (unsigned long long)info.code);
	CHECK(info.desc && *info.desc, "%s %s", pmu, c[3]);
}

static void introspection(void)
{
	FILE *f = vectors_open("uncore-introspection.tsv");
	static char line[1024];
	char *cell[16];

	CHECK(f != NULL, "uncore-introspection.tsv");
	while (f && fgets(line, sizeof line, f)) {
		int n = cells(line, cell);

		lines++;
		if (n < 9)
			CHECK(0, "line %ld", lines);
		else if (*cell[0] == 'P')
			one_pmu(cell);
		else if (*cell[0] == 'E')
			one_event(cell);
		else
			one_attr(cell);
	}
	if (f)
		fclose(f);
	CHECK(lines == 51360, "%ld answers", lines);
	printf("# %ld answers, %ld rows are the vendor's alone\n", lines, further);
}

/* PMUs that this machine does not have are found by prefix too; and by number. */
static void encoding(void)
{
	uint64_t codes[4] = {0};
	char *name = NULL;
	pfm_pmu_encode_arg_t arg = {.codes = codes, .count = 4, .size = sizeof arg};

	arg.fstr = &name;
	CHECK(encode("snbep_unc_cbo3::UNC_C_TOR_INSERTS:NID_ALL:nf=3", PFM_PLM3, PFM_OS_NONE,
		     &arg) == PFM_SUCCESS);
	CHECK(arg.count == 2 && codes[0] == 0x4835 && codes[1] == 0xc00, "%d %#llx %#llx",
	      arg.count, (unsigned long long)codes[0], (unsigned long long)codes[1]);
	CHECK(name && same(name, "snbep_unc_cbo3::UNC_C_TOR_INSERTS:NID_ALL:e=0:i=0:t=0:tf=0:"
				 "cf=0:nf=3"),
	      "%s", name);
	free(name);
}

int main(void)
{
	void *handle = dropin_open();

	if (!handle)
		return 1;
	*(void **)&pmu_info = dlsym(handle, "pfm_get_pmu_info");
	*(void **)&event_info = dlsym(handle, "pfm_get_event_info");
	*(void **)&attr_info = dlsym(handle, "pfm_get_event_attr_info");
	*(void **)&encode = dlsym(handle, "pfm_get_os_event_encoding");
	CHECK(((pfm_err_t(*)(void))dlsym(handle, "pfm_initialize"))() == PFM_SUCCESS);
	CASE(introspection);
	CASE(encoding);
	dlclose(handle);
	return check_done();
}

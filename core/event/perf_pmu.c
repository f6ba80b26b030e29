/* SPDX-License-Identifier: MIT */
/* The PMUs of this machine's cores, and their types in sysfs. */
#include <stdatomic.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/event/event.h"
#include "core/os/sysfs.h"

/* ---- hosts ---- */

int tach__perf_hosts(const struct tach_encode_options *opt, int *pmus, int max)
{
	int n;

	if (opt->host) {
		pmus[0] = tach__pmu_find(opt->host, __builtin_strlen(opt->host));
		return pmus[0] >= 0;
	}
	n = tach_pmu_host(pmus, max, NULL);
	return n < max ? n : max;
}

int tach__perf_cores(const struct tach_encode_options *opt, int *pmus, int max)
{
	if (opt->pmu < 0)
		return tach__perf_hosts(opt, pmus, max);
	pmus[0] = opt->pmu;
	return 1;
}

uint32_t tach__perf_host_privilege(const struct tach_encode_options *opt)
{
	int pmu;

	return tach__perf_hosts(opt, &pmu, 1) > 0 ? tach__pmu_at(pmu)->privilege
						  : TACH__PRIVILEGE_ALL;
}

int tach__perf_hybrid(const struct tach_encode_options *opt)
{
	int pmus[TACH__HOSTS_MAX];

	return tach__quirks_of(opt)->core_types &&
	       tach__perf_hosts(opt, pmus, TACH__HOSTS_MAX) > 1;
}

/* ---- the PMU in sysfs that counts a table's events ---- */

/* Searches its names in @perf, in order of preference. */
static int named_type(const char *root, const struct tach__pmu *pmu, int first_only)
{
	const char *name = tach__str(pmu->perf);
	int type = -1;

	while (type < 0 && *name) {
		size_t length = strcspn(name, " ");

		type = tach__sysfs_type(root, name, length);
		name += length + (name[length] == ' ');
		if (first_only)
			break;
	}
	return type;
}

int tach__box_type(const struct tach__work *w)
{
	const char *root = w->ask.opt->sysfs ? w->ask.opt->sysfs : TACH__SYSFS;
	int type = named_type(root, w->got.pmu, w->ask.quirks->box_slips);

	return type < 0 && w->got.pmu->flags & TACH__PMU_TYPE4 ? 4 : type;
}

/*
 * For PMUs that have numbers instead of names: finds the PMU for these cores. -1: no PMU is for
 * the cores of this table; -2: there are no such PMUs, or sysfs does not list their cores.
 */
static int numbered_type(const char *root, const struct tach__pmu *pmu, int number)
{
	char device[32];
	struct tach__cpu cpu;
	int known = 0, said, theirs;

	if (!tach__parts[pmu->arch]->numbered)
		return -2;
	for (int i = 0; (said = tach__parts[pmu->arch]->numbered(root, i, device, &cpu)) >= 0;
	     i++) {
		known |= said;
		if (said && tach__pmus_of(pmu->arch, &cpu, 1, "", &theirs, 1, NULL) == 1 &&
		    theirs == number)
			return tach__sysfs_type(root, device, strlen(device));
	}
	return known ? -1 : -2;
}

static int find_type(const char *root, const struct tach__pmu *pmu, int number)
{
	int type = numbered_type(root, pmu, number);

	return type == -2 ? named_type(root, pmu, 0) : type;
}

/* The type does not change while a PMU exists, so it is cached for the real sysfs. */
static int cached_type(const char *root, const struct tach__pmu *pmu, int number)
{
	enum { CACHED = 256 };
	static atomic_int cache[CACHED]; /* type + 2; 1: there is no such PMU; 0: not cached */
	int type, known = 0;

	if (!root && number < CACHED)
		known = atomic_load_explicit(&cache[number], memory_order_relaxed);
	if (known)
		return known - 2;
	type = find_type(root ? root : TACH__SYSFS, pmu, number);
	if (!root && number < CACHED)
		atomic_store_explicit(&cache[number], type + 2, memory_order_relaxed);
	return type;
}

int tach__perf_type(const struct tach_encode_options *opt, int number)
{
	const struct tach__pmu *pmu = tach__pmu_at(number);
	const char *name = tach__str(pmu->perf);

	/*
	 * If there is one core PMU, its type is PERF_TYPE_RAW; if there are several, each has
	 * its own number.
	 */
	if (!*name || __builtin_memcmp(name, "cpu", sizeof "cpu") == 0)
		return -1;
	if (pmu->arch == TACH__ARM64 && !tach__perf_hybrid(opt))
		return -1;
	return cached_type(opt->sysfs, pmu, number);
}

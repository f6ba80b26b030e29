/* SPDX-License-Identifier: MIT */
/* Finds the PMUs of cores, by the @match lines of the tables. */
#include <stdio.h>
#include <string.h>
#include <tach/arch.h>
#include "core/base/error.h"
#include "core/pmu/pmu.h"
#include "core/os/kernel_files.h"
#include "core/tables/tables.h"

#define DEVICES "/sys/bus/event_source/devices/"

/* The PMUs found so far. */
struct answer {
	int *pmus, n, max;
	char note[200];
};

static int is_in_range(const uint32_t range[2], uint32_t value)
{
	return range[0] <= value && value <= range[1];
}

static int matches_cpu(const struct tach__tab_match *m, enum tach__arch arch,
		       const struct tach__cpu *cpu)
{
	const char *vendor;

	if (m->arch != arch || !is_in_range(m->family, cpu->family) ||
	    !is_in_range(m->model, cpu->model) || !is_in_range(m->stepping, cpu->stepping))
		return 0;
	vendor = tach__str(m->vendor);
	if (*vendor && strcmp(vendor, cpu->vendor) != 0)
		return 0;
	if (m->pattern && !tach__pattern_fits(tach__str(m->pattern), cpu->id))
		return 0;
	return !(tach__tab_pmus[m->pmu].flags & TACH__PMU_ARCHDEFAULT) ||
	       *tach__str(m->fallback) || !cpu->noarch;
}

static void add_pmu(struct answer *to, int pmu)
{
	for (int i = 0; i < to->n; i++)
		if (to->pmus[i] == pmu)
			return;
	if (to->n < to->max)
		to->pmus[to->n++] = pmu;
}

/* Returns 1 if the kernel has a device with this PMU's first name. */
static int has_device(const char *root, int pmu)
{
	const char *names = tach__str(tach__tab_pmus[pmu].perf);
	char path[128];

	snprintf(path, sizeof path, DEVICES "%.*s", (int)strcspn(names, " "), names);
	return *names && tach__file_exists(root, path);
}

/*
 * Finds the @match lines for a hybrid, one per core type, most capable first. Performance cores
 * (40H) have a higher type than efficient cores (20H). In one machine, efficient cores have a
 * higher native model than low-power cores.
 */
static int hybrid_lines(enum tach__arch arch, const struct tach__cpu *cpu,
			const struct tach__tab_match *lines[TACH__CPU_KINDS])
{
	int n = 0;

	for (uint32_t i = 0; i < tach__tab_nmatches && n < TACH__CPU_KINDS; i++) {
		const struct tach__tab_match *m = &tach__tab_matches[i];
		int at = n;

		if (!m->core || !matches_cpu(m, arch, cpu))
			continue;
		for (; at > 0 && (lines[at - 1]->core << 8 | lines[at - 1]->native) <
					 (m->core << 8 | m->native);
		     at--)
			lines[at] = lines[at - 1];
		lines[at] = m;
		n++;
	}
	return n;
}

/*
 * Linux names one device per core type that it supports (cpu_core, cpu_atom, cpu_lowpower).
 * Without these devices (no sysfs, or a virtual machine that shows only one type), the current
 * core identifies itself. Without CPUID, the most capable type is assumed.
 */
static void identify_hybrid(enum tach__arch arch, const struct tach__cpu *cpu, const char *root,
			    struct answer *to)
{
	const struct tach__tab_match *lines[TACH__CPU_KINDS];
	int n = hybrid_lines(arch, cpu, lines);

	for (int i = 0; i < n; i++)
		if (has_device(root, lines[i]->pmu))
			add_pmu(to, lines[i]->pmu);
	for (int i = 0; i < n && to->n == 0; i++)
		if (lines[i]->core == cpu->core && lines[i]->native == cpu->native)
			add_pmu(to, lines[i]->pmu);
	for (int i = 0; i < n && to->n == 0; i++)
		if (lines[i]->core == cpu->core || cpu->core == 0) {
			add_pmu(to, lines[i]->pmu);
			snprintf(to->note, sizeof to->note,
				 "a hybrid CPU whose core types neither sysfs nor CPUID "
				 "tells: assuming %s; TACH_PMU=NAME overrides",
				 tach__str(tach__tab_pmus[lines[i]->pmu].name));
		}
}

static void say_what(enum tach__arch arch, const struct tach__cpu *cpu, char *out, size_t size)
{
	if (tach__parts[arch]->describe)
		tach__parts[arch]->describe(cpu, out, size);
	else
		snprintf(out, size, "%.15s family 0x%x model 0x%x stepping 0x%x", cpu->vendor,
			 cpu->family, cpu->model, cpu->stepping);
}

/* Identifies one kind of core. Returns 0 if no line matches. */
static int identify_core(enum tach__arch arch, const struct tach__cpu *cpu, const char *root,
			 struct answer *to)
{
	const struct tach__tab_match *m = tach__tab_matches, *end = m + tach__tab_nmatches;
	char what[64];

	while (m < end && !matches_cpu(m, arch, cpu))
		m++;
	if (m == end)
		return 0;
	if (m->core) {
		identify_hybrid(arch, cpu, root, to);
		return 1;
	}
	add_pmu(to, m->pmu);
	if (*tach__str(m->fallback)) {
		snprintf(to->note, sizeof to->note,
			 "%s has no table of its own: the architecture's common events (%s) "
			 "are used",
			 tach__str(m->fallback), tach__str(tach__tab_pmus[m->pmu].name));
	} else if (tach__tab_pmus[m->pmu].flags & TACH__PMU_ARCHDEFAULT) {
		say_what(arch, cpu, what, sizeof what);
		snprintf(to->note, sizeof to->note,
			 "unknown CPU (%s): the architecture's common events (%s) are used; "
			 "TACH_PMU=NAME overrides",
			 what, tach__str(tach__tab_pmus[m->pmu].name));
	}
	return 1;
}

int tach__pmus_of(enum tach__arch arch, const struct tach__cpu *cpus, int ncpus,
		  const char *root, int *pmus, int max, struct tach_error *err)
{
	struct answer to = {pmus, 0, max, ""};
	char what[64] = "";

	for (int i = 0; i < ncpus; i++)
		if (!identify_core(arch, &cpus[i], root, &to))
			say_what(arch, &cpus[i], what, sizeof what);
	if (to.n > 0) {
		if (*what && !*to.note)
			snprintf(to.note, sizeof to.note,
				 "some cores of this machine are unknown: %s", what);
		if (*to.note)
			tach__error(err, TACH_OK, 0, 0, "%s", to.note);
		else
			tach__error(err, TACH_OK, 0, 0, NULL);
		return to.n;
	}
	if (ncpus == 0)
		tach__error(err, TACH_ERR_NOTFOUND, 0, 0,
			    "this CPU cannot be identified (no /proc/cpuinfo?); name its "
			    "model: TACH_PMU=NAME, names by tach list --all");
	else
		tach__error(err, TACH_ERR_NOTFOUND, 0, 0,
			    "unknown CPU: %s; if it resembles a known one, name that: "
			    "TACH_PMU=NAME, names by tach list --all",
			    what);
	return 0;
}

/* Sorts by capacity as the kernel's scheduler ranks cores, most capable first. Cores without a
 * rank stay in place. */
static void by_capacity(struct tach__cpu *cpus, int n)
{
	for (int i = 1; i < n; i++) {
		struct tach__cpu moving = cpus[i];
		int at = i;

		for (; at > 0 && cpus[at - 1].capacity < moving.capacity; at--)
			cpus[at] = cpus[at - 1];
		cpus[at] = moving;
	}
}

int tach__identify(enum tach__arch arch, const char *root, int native, int *pmus, int max,
		   struct tach_error *err)
{
	struct tach__cpu cpus[TACH__CPU_KINDS];
	int n = tach__parts[arch]->cpus(root, native, cpus, TACH__CPU_KINDS);

	by_capacity(cpus, n);
	return tach__pmus_of(arch, cpus, n, root, pmus, max, err);
}

int tach__native_arch(void)
{
	for (int arch = 0; arch < TACH__NARCHS; arch++)
		if (strcmp(tach__parts[arch]->native, TACH_ARCH_NAME) == 0)
			return arch;
	return -1;
}

/* SPDX-License-Identifier: MIT */
/*
 * Processors by sysfs (Documentation/ABI/testing/sysfs-devices-system-cpu): lists of CPUs, and
 * for each CPU its package and die.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/error.h>
#include "core/os/kernel_files.h"
#include "core/os/topology.h"

#define CPUS "/sys/devices/system/cpu"

/* LIST_MOST: where every second CPU is offline a list has each by its number. */
enum { CPUS_MOST = 8192, KINDS_MOST = 1024, LIST_MOST = 4096 };

int tach__cpu_list(const char *list, void (*visit)(void *context, long cpu), void *context)
{
	char *at = (char *)list;
	int n = 0;

	while (*at >= '0' && *at <= '9') {
		long first = strtol(at, &at, 10), last = first;

		if (*at == '-')
			last = strtol(at + 1, &at, 10);
		for (long i = first; i <= last && n < CPUS_MOST; i++, n++)
			if (visit)
				visit(context, i);
		at += *at == ',';
	}
	return n;
}

/* The same of a file. */
static int list_in(const char *root, const char *path, void (*visit)(void *context, long cpu),
		   void *context)
{
	char list[LIST_MOST];

	return tach__file_line(root, path, list, sizeof list) > 0
		       ? tach__cpu_list(list, visit, context)
		       : 0;
}

int tach__cpus_online(const char *root, void (*visit)(void *context, long cpu), void *context)
{
	return list_in(root, CPUS "/online", visit, context);
}

/* The number of different values in a file of each CPU, or of pairs of two files. */
struct kinds {
	const char *root, *file, *second;
	uint64_t seen[KINDS_MOST];
	int n;
};

static uint64_t of_cpu(const char *root, long cpu, const char *file)
{
	char path[128];
	uint64_t value = 0;

	snprintf(path, sizeof path, CPUS "/cpu%ld/topology/%s", cpu, file);
	tach__file_number(root, path, &value);
	return value;
}

static void add_kind(void *context, long cpu)
{
	struct kinds *k = context;
	uint64_t value = of_cpu(k->root, cpu, k->file);

	if (k->second)
		value = value << 32 | of_cpu(k->root, cpu, k->second);
	for (int i = 0; i < k->n; i++)
		if (k->seen[i] == value)
			return;
	if (k->n < KINDS_MOST)
		k->seen[k->n++] = value;
}

static int kinds(const char *root, const char *file, const char *second)
{
	struct kinds k = {.root = root, .file = file, .second = second};

	tach__cpus_online(root, add_kind, &k);
	return k.n;
}

static int threads(const char *root)
{
	return list_in(root, CPUS "/cpu0/topology/thread_siblings_list", NULL, NULL);
}

static int cpus(const char *root)
{
	return tach__cpus_online(root, NULL, NULL);
}

static int cores(const char *root)
{
	int n = threads(root);

	return n ? cpus(root) / n : 0;
}

static int sockets(const char *root)
{
	return kinds(root, "physical_package_id", NULL);
}

static int count_dies(const char *root)
{
	return kinds(root, "physical_package_id", "die_id");
}

static int cores_per_socket(const char *root)
{
	int n = sockets(root);

	return n ? cores(root) / n : 0;
}

/* PMMIR_EL1.SLOTS, which drivers/perf/arm_pmuv3.c shows for each kind of core: the widest. */
static int slots(const char *root)
{
	char path[512];
	uint64_t value = 0, most = 0;
	struct dirent *d;
	DIR *devices;

	snprintf(path, sizeof path, "%s/sys/bus/event_source/devices", root);
	devices = opendir(path);
	while (devices && (d = readdir(devices))) {
		if (strncmp(d->d_name, "armv", 4) != 0)
			continue;
		snprintf(path, sizeof path, "/sys/bus/event_source/devices/%.128s/caps/slots",
			 d->d_name);
		if (tach__file_number(root, path, &value) == 0 && value < 1024 && value > most)
			most = value;
	}
	if (devices)
		closedir(devices);
	return (int)most;
}

/* Caching and home agents: a device of the uncore each, in every socket. */
static int chas(const char *root)
{
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof path, "%s/sys/bus/event_source/devices", root);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		n += strncmp(d->d_name, "uncore_cha_", 11) == 0;
	if (dir)
		closedir(dir);
	return n;
}

static int unknown(const char *root)
{
	(void)root;
	return 0;
}

/* 0 is no answer of any of them. */
static const struct {
	const char *name;
	int (*ask)(const char *root);
} parameters[] = {
	{"threads_per_core", threads},
	{"cpus", cpus},
	{"cores", cores},
	{"sockets", sockets},
	{"dies", count_dies},
	{"cores_per_socket", cores_per_socket},
	{"slots_per_cycle", slots},
	{"chas_per_socket", chas},
	{"has_pmem", unknown},
};

static int is_word(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(name, word, length);
}

int tach__machine_parameter_at(const char *root, const char *name, size_t length, double *value)
{
	uint64_t active = 0;

	/* Counts are one thread's. */
	if (is_word(name, length, "core_wide")) {
		*value = 0;
		return 0;
	}
	if (is_word(name, length, "smt_on")) {
		*value = tach__file_number(root, CPUS "/smt/active", &active) == 0
				 ? active != 0
				 : threads(root) > 1;
		return 0;
	}
	for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
		if (is_word(name, length, parameters[i].name)) {
			int saved = errno;

			*value = parameters[i].ask(root);
			errno = saved;
			return *value > 0 ? 0 : TACH_ERR_NOTSUPP;
		}
	return TACH_ERR_NOTFOUND;
}

int tach__machine_parameter(const char *name, size_t length, double *value)
{
	return tach__machine_parameter_at("", name, length, value);
}

/* SPDX-License-Identifier: MIT */
/* The process's memory, and the addresses of its program and libraries. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compat/papi/state.h"

static PAPI_exe_info_t program;
static PAPI_shlib_info_t libraries;

int PAPI_get_dmem_info(PAPI_dmem_info_t *dest)
{
	char line[PAPI_2MAX_STR_LEN];
	long long shared = 0;
	FILE *f;

	if (!dest)
		return PAPI_EINVAL;
	memset(dest, 0, sizeof *dest);
	f = fopen("/proc/self/status", "re");
	if (!f)
		return PAPI_ESYS;
	while (fgets(line, sizeof line, f)) {
		const struct {
			const char *name;
			long long *to;
		} fields[] = {
			{"VmPeak:", &dest->peak},    {"VmSize:", &dest->size},
			{"VmRSS:", &dest->resident}, {"VmHWM:", &dest->high_water_mark},
			{"VmExe:", &dest->text},     {"VmLib:", &dest->library},
			{"VmData:", &dest->heap},    {"VmLck:", &dest->locked},
			{"VmStk:", &dest->stack},    {"VmPTE:", &dest->pte},
		};

		for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
			if (strncmp(line, fields[i].name, strlen(fields[i].name)) == 0)
				*fields[i].to = atoll(line + strlen(fields[i].name));
	}
	fclose(f);
	f = fopen("/proc/self/statm", "re");
	if (!f)
		return PAPI_ESYS;
	if (fscanf(f, "%*d %*d %lld", &shared) != 1)
		shared = 0;
	fclose(f);
	dest->pagesize = sysconf(_SC_PAGESIZE);
	dest->shared = shared * dest->pagesize / 1024;
	return PAPI_OK;
}

/* ---- maps ---- */

struct map {
	unsigned long begin, end, inode;
	char perm[5], name[PAPI_HUGE_STR_LEN];
};

static int next_map(FILE *f, struct map *m)
{
	char line[2 * PAPI_HUGE_STR_LEN];

	if (!fgets(line, sizeof line, f))
		return 0;
	m->name[0] = '\0';
	return sscanf(line, "%lx-%lx %4s %*x %*s %lu %1023s", &m->begin, &m->end, m->perm,
		      &m->inode, m->name) >= 4;
}

/* A file's code comes first, then its data, then memory without a file. */
static void place_map(PAPI_address_map_t *at, const struct map *m)
{
	if (m->inode && m->perm[0] == 'r' && m->perm[2] == 'x') {
		at->text_start = (vptr_t)m->begin;
		at->text_end = (vptr_t)m->end;
	} else if (m->perm[0] == 'r' && m->perm[1] == 'w') {
		if (m->inode && !at->data_start) {
			at->data_start = (vptr_t)m->begin;
			at->data_end = (vptr_t)m->end;
		} else if (!m->inode && !at->bss_start) {
			at->bss_start = (vptr_t)m->begin;
			at->bss_end = (vptr_t)m->end;
		}
	}
}

static PAPI_address_map_t *grow(PAPI_shlib_info_t *list)
{
	PAPI_address_map_t *map =
		realloc(list->map, (size_t)(list->count + 1) * sizeof(*list->map));

	if (!map)
		return NULL;
	list->map = map;
	memset(&map[list->count], 0, sizeof *map);
	return &map[list->count++];
}

/* Returns -1 without memory. */
static int read_maps(PAPI_exe_info_t *exe, PAPI_shlib_info_t *list)
{
	FILE *f = fopen("/proc/self/maps", "re");
	PAPI_address_map_t *last = NULL;
	struct map m;
	int outcome = 0;

	while (f && next_map(f, &m)) {
		if (m.inode && strcmp(m.name, exe->fullname) == 0) {
			last = &exe->address_info;
		} else if (m.inode && m.perm[2] == 'x' && m.perm[0] == 'r') {
			last = grow(list);
			if (!last) {
				outcome = -1;
				break;
			}
			snprintf(last->name, sizeof last->name, "%s", m.name);
		} else if (m.inode && last && strcmp(last->name, m.name) != 0) {
			continue;
		} else if (!m.inode && m.name[0]) {
			last = NULL;
		}
		if (last)
			place_map(last, &m);
	}
	if (f)
		fclose(f);
	return outcome;
}

PAPI_exe_info_t *pp_executable(void)
{
	char path[PAPI_HUGE_STR_LEN];
	PAPI_shlib_info_t others = {NULL, 0};
	PAPI_exe_info_t fresh;
	ssize_t n;

	memset(&fresh, 0, sizeof fresh);
	n = readlink("/proc/self/exe", fresh.fullname, sizeof fresh.fullname - 1);
	fresh.fullname[n > 0 ? n : 0] = '\0';
	memcpy(path, fresh.fullname, sizeof path);
	snprintf(fresh.address_info.name, sizeof fresh.address_info.name, "%s", basename(path));
	read_maps(&fresh, &others);
	free(others.map);
	program = fresh;
	return &program;
}

int pp_libraries(PAPI_shlib_info_t **out)
{
	PAPI_shlib_info_t fresh = {NULL, 0};
	PAPI_exe_info_t exe;

	memset(&exe, 0, sizeof exe);
	memcpy(exe.fullname, pp_executable()->fullname, sizeof exe.fullname);
	if (read_maps(&exe, &fresh) != 0) {
		free(fresh.map);
		return PAPI_ENOMEM;
	}
	free(libraries.map);
	libraries = fresh;
	*out = &libraries;
	return PAPI_OK;
}

void pp_maps_forget(void)
{
	free(libraries.map);
	libraries.map = NULL;
	libraries.count = 0;
}

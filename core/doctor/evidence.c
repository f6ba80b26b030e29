/* SPDX-License-Identifier: MIT */
/* Gathers evidence: settings, PMUs in sysfs, event tables. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/doctor/evidence.h"
#include "core/os/kernel_files.h"

/* Finds the core PMUs: a core PMU has a list of CPUs ("cpus"), or is named "cpu" (x86 with one
 * core type). */
static void look_at_event_sources(struct tach__evidence *e, const char *root)
{
	static const char folder[] = "/sys/bus/event_source/devices";
	char full[256], path[400], text[64];
	struct dirent *d;
	DIR *dir;

	snprintf(full, sizeof full, "%s%s", root, folder);
	dir = opendir(full);
	while (dir && (d = readdir(dir))) {
		int32_t rdpmc;

		if (d->d_name[0] == '.' || strlen(d->d_name) > 64)
			continue;
		snprintf(path, sizeof path, "%s/%s/rdpmc", folder, d->d_name);
		rdpmc = tach__setting(root, path);
		if (rdpmc != TACH__UNREADABLE &&
		    (e->settings.rdpmc == TACH__UNREADABLE || rdpmc < e->settings.rdpmc))
			e->settings.rdpmc = rdpmc;
		snprintf(path, sizeof path, "%s/%s/cpus", folder, d->d_name);
		if (strcmp(d->d_name, "cpu") == 0 ||
		    tach__file_line(root, path, text, sizeof text) > 0)
			e->core_pmus++;
	}
	if (dir)
		closedir(dir);
}

static void look_at_tables(struct tach__evidence *e)
{
	struct tach_error err = TACH_ERROR_INIT;
	int pmus[8], n = tach_pmu_host(pmus, 8, &err);
	size_t used = 0;

	for (int i = 0; i < n && i < 8; i++) {
		struct tach_pmu_info info = {.size = sizeof info};

		if (tach_pmu_describe(pmus[i], &info) != 0)
			continue;
		used += (size_t)snprintf(e->tables + used, sizeof e->tables - used, "%s%s",
					 used ? ", " : "", info.name);
		if (used >= sizeof e->tables)
			break;
		if (i == 0) {
			e->counters_general = info.general;
			/* Intel's fixed counter 0 counts only instructions. */
			e->counters_fixed = info.fixed & 1;
		}
	}
	if (n <= 0)
		snprintf(e->tables_error, sizeof e->tables_error, "%.159s", err.text);
}

void tach__evidence_settings(struct tach__evidence *e, const char *root)
{
	memset(e, 0, sizeof *e);
	e->counters_free = -1;
	tach__settings_read(&e->settings, root);
	look_at_event_sources(e, root);
	look_at_tables(e);
}

/* SPDX-License-Identifier: MIT */
/* A plugin that contains its own copy of the library. */
#include <tach.h>

void enter(void);
int configure(void);
int calls(const char *name);

void enter(void)
{
	TACH_START(plugin);
	TACH_STOP(plugin);
}

int configure(void)
{
	struct tach_regions_options opt = {.events = ""};

	return tach_regions_configure(&opt, NULL);
}

/* returns how many regions this copy sees, or -1 */
int calls(const char *name)
{
	struct tach_snapshot *s;
	int found = -1;

	if (tach_snapshot_take(&s, NULL) != 0)
		return -1;
	for (int r = 0; r < tach_snapshot_nregions(s); r++) {
		struct tach_region_info info = {0};

		tach_snapshot_region(s, r, &info);
		if (__builtin_strcmp(info.name, name) == 0)
			found = (int)info.calls;
	}
	tach_snapshot_free(s);
	return found;
}

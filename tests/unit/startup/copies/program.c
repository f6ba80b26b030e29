/* SPDX-License-Identifier: MIT */
/*
 * program CYCLES PLUGIN...: opens every plugin, enters its region and closes it, CYCLES times.
 * "configure" in the list: the plugin before it enables regions. With OWN, this program also
 * has a region.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OWN
#include <tach.h>
#endif
#ifdef FOREIGN
#include "core/region/region.h"
/* A copy with a layout of a future version. */
struct tach__beacon tach__beacon = {TACH__BEACON_MAGIC,
				    99,
				    sizeof tach__beacon,
				    TACH__BEACON_OWNER,
				    "9.9",
				    "",
				    0,
				    0,
				    NULL,
				    {NULL},
				    NULL,
				    NULL,
				    NULL,
				    NULL,
				    NULL};
TACH__BEACON_ASM;
#endif

static void use(const char *file, int configure)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int (*switch_on)(void), (*calls)(const char *);
	void (*enter)(void);

	if (!plugin) {
		puts(dlerror());
		exit(1);
	}
	*(void **)&enter = dlsym(plugin, "enter");
	*(void **)&switch_on = dlsym(plugin, "configure");
	*(void **)&calls = dlsym(plugin, "calls");
	if (configure)
		printf("configured %d\n", switch_on());
	enter();
	printf("calls %d\n", calls("plugin"));
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		for (int p = 2; p < argc; p++) {
			int configure = p + 1 < argc && strcmp(argv[p + 1], "configure") == 0;

			use(argv[p], configure);
			p += configure;
		}
#ifdef OWN
	TACH_START(own);
	TACH_STOP(own);
#endif
#ifdef FOREIGN
	puts(tach__beacon.others);
#endif
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Loads the drop-in library of this build. Returns NULL, with a message, if it cannot be
 * loaded.
 */
#ifndef TESTS_UNIT_COMPAT_DROPIN_H
#define TESTS_UNIT_COMPAT_DROPIN_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *dropin_open(void)
{
	char path[512];
	void *handle;

	snprintf(path, sizeof path, "%s/libpfm4/libpfm.so.4",
		 getenv("B") ? getenv("B") : "build");
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	handle = dlopen(path, RTLD_NOW);
	if (!handle)
		printf("# %s\n", dlerror());
	return handle;
}

#endif

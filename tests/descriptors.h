/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DESCRIPTORS_H
#define TESTS_DESCRIPTORS_H

#include <dirent.h>
#include <string.h>
#include <unistd.h>

/*
 * Returns how many descriptors the process has open. The descriptor that reads the folder and
 * the entries . and .. are counted too.
 */
static inline int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* Returns true if an entry of a process's fd folder is a perf event. */
static inline int descriptor_is_event(DIR *dir, const char *name)
{
	char what[64] = "";

	return readlinkat(dirfd(dir), name, what, sizeof what - 1) > 0 &&
	       strstr(what, "perf_event") != NULL;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Finds the device of a type in sysfs. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include "core/os/sysfs.h"

int tach__sysfs_device(const char *root, uint32_t type, char *name, size_t size)
{
	int saved = errno, found = -1;
	DIR *dir = opendir(root);
	struct dirent *d;

	while (dir && found < 0 && (d = readdir(dir))) {
		size_t length = strlen(d->d_name);

		if (length >= size || tach__sysfs_type(root, d->d_name, length) != (int)type)
			continue;
		memcpy(name, d->d_name, length + 1);
		found = 0;
	}
	if (dir)
		closedir(dir);
	errno = saved;
	return found;
}

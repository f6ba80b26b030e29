/* SPDX-License-Identifier: MIT */
/* Finds the devices in sysfs that a name or a pattern means. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include "core/base/text.h"
#include "core/os/sysfs.h"

static int is_kind(const char *kind, size_t length, const char *name)
{
	const char *number = name + length + 1;

	if (memchr(kind, '*', length) || memchr(kind, '?', length))
		return tach__glob(kind, kind + length, name);
	if (strncmp(kind, name, length) != 0)
		return 0;
	return !name[length] ||
	       (name[length] == '_' && *number && number[strspn(number, "0123456789")] == '\0');
}

int tach__sysfs_matches(const char *kind, size_t length, const char *device)
{
	return *device != '.' &&
	       (is_kind(kind, length, device) ||
		(strncmp(device, "uncore_", 7) == 0 && is_kind(kind, length, device + 7)));
}

int tach__sysfs_first(const char *root, const char *kind, size_t length, char *name,
		      size_t size)
{
	int saved = errno;
	DIR *dir = opendir(root);
	size_t best = size;
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		size_t n = strlen(d->d_name);

		if (n > best || n >= size || !tach__sysfs_matches(kind, length, d->d_name) ||
		    (n == best && strcmp(d->d_name, name) >= 0))
			continue;
		memcpy(name, d->d_name, n + 1);
		best = n;
	}
	if (dir)
		closedir(dir);
	errno = saved;
	return best < size ? 0 : -1;
}

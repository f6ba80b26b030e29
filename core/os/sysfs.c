/* SPDX-License-Identifier: MIT */
/* Small files of sysfs and tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "core/base/text.h"
#include "core/os/sysfs.h"

static char *append(char *at, const char *end, const char *text, size_t length)
{
	if (!at || length >= (size_t)(end - at))
		return NULL;
	memcpy(at, text, length);
	at[length] = 0;
	return at + length;
}

int tach__sysfs_read(const char *root, const char *device, size_t device_length,
		     const char *file, char *out, size_t size)
{
	char path[512], *at = path, *end = path + sizeof path;
	int saved = errno, fd;
	ssize_t n = -1;

	if (!device_length || device[0] == '.' || memchr(device, '/', device_length))
		return -1;
	at = append(at, end, root, strlen(root));
	at = append(at, end, "/", 1);
	at = append(at, end, device, device_length);
	at = append(at, end, "/", 1);
	at = append(at, end, file, strlen(file));
	if (!at)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, size - 1);
		close(fd);
	}
	errno = saved;
	if (n < 0)
		return -1;
	while (n > 0 && (out[n - 1] == '\n' || out[n - 1] == ' '))
		n--;
	out[n] = 0;
	return (int)n;
}

int tach__sysfs_type(const char *root, const char *device, size_t device_length)
{
	char text[32];
	unsigned long long value;
	int n = tach__sysfs_read(root, device, device_length, "type", text, sizeof text);

	if (n <= 0 || tach__text_number(&(struct tach__text){text, (size_t)n}, &value) != 1 ||
	    value > 0x7fffffff)
		return -1;
	return (int)value;
}

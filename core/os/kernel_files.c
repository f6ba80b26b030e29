/* SPDX-License-Identifier: MIT */
/* Reading small text files of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/os/kernel_files.h"

enum { PATH_ROOM = 512, LINE_ROOM = 4096, BLOCK = 4096 };

/* Returns 0 if the room is too small. snprintf is too slow: libpfm-4's drop-in looks for each
 * box when it starts. */
static int join_path(char whole[PATH_ROOM], const char *root, const char *path)
{
	size_t before = strlen(root), after = strlen(path) + 1;

	if (before + after > PATH_ROOM)
		return 0;
	memcpy(whole, root, before);
	memcpy(whole + before, path, after);
	return 1;
}

static int open_file(const char *root, const char *path)
{
	char whole[PATH_ROOM];

	return join_path(whole, root, path) ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
}

static ssize_t read_some(int fd, char *out, size_t size)
{
	ssize_t n;

	do
		n = read(fd, out, size);
	while (n < 0 && errno == EINTR);
	return n;
}

int tach__file_exists(const char *root, const char *path)
{
	char whole[PATH_ROOM];
	int saved = errno, found = join_path(whole, root, path) && access(whole, F_OK) == 0;

	errno = saved;
	return found;
}

int tach__file_bytes(const char *root, const char *path, void *out, size_t size)
{
	int saved = errno, fd = open_file(root, path);
	size_t used = 0;
	ssize_t n = -1;

	while (fd >= 0 && used < size &&
	       (n = read_some(fd, (char *)out + used, size - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return n < 0 ? -1 : (int)used;
}

void tach__file_lines(const char *root, const char *path,
		      int (*line)(void *context, const char *text), void *context)
{
	char block[BLOCK], text[LINE_ROOM];
	int saved = errno, fd = open_file(root, path), stop = 0;
	size_t used = 0;
	ssize_t n;

	while (fd >= 0 && !stop && (n = read_some(fd, block, sizeof block)) > 0)
		for (ssize_t i = 0; i < n && !stop; i++) {
			if (block[i] != '\n') {
				if (used + 1 < sizeof text)
					text[used++] = block[i];
				continue;
			}
			text[used] = 0;
			used = 0;
			stop = line(context, text);
		}
	if (used && !stop) {
		text[used] = 0;
		line(context, text);
	}
	if (fd >= 0)
		close(fd);
	errno = saved;
}

struct first {
	char *out;
	size_t size;
	int length;
};

static int take_first(void *context, const char *text)
{
	struct first *first = context;

	first->length = snprintf(first->out, first->size, "%s", text);
	if ((size_t)first->length >= first->size)
		first->length = (int)first->size - 1;
	return 1;
}

int tach__file_line(const char *root, const char *path, char *out, size_t size)
{
	struct first first = {out, size, -1};

	tach__file_lines(root, path, take_first, &first);
	return first.length;
}

int tach__file_number(const char *root, const char *path, uint64_t *out)
{
	char text[64], *end;
	int saved = errno;

	if (tach__file_line(root, path, text, sizeof text) <= 0)
		return -1;
	*out = strtoull(text, &end, 0);
	errno = saved;
	return end == text ? -1 : 0;
}

int tach__user_namespace(const char *root)
{
	unsigned long inside, outside, count;
	char map[128];

	return tach__file_line(root, "/proc/self/uid_map", map, sizeof map) > 0 &&
	       sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
	       (inside || outside || count < UINT32_MAX);
}

const char *tach__cpuinfo_value(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return NULL;
	line += n;
	while (*line == ' ' || *line == '\t')
		line++;
	if (*line++ != ':')
		return NULL;
	while (*line == ' ' || *line == '\t')
		line++;
	return line;
}

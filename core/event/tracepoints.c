/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints: the number of SYSTEM:EVENT is in tracefs (events/SYSTEM/EVENT/id). The number is
 * read each time, because modules add and remove tracepoints at any time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/event/perf_events.h"
#include "core/os/sys.h"
#include "core/os/sysfs.h"

static const char roots[][40] = {"/sys/kernel/tracing/events",
				 "/sys/kernel/debug/tracing/events"};

/* Returns the n-th directory to search, or NULL. */
static const char *root(const struct tach__work *w, unsigned n)
{
	if (w->ask.opt->tracefs)
		return n ? NULL : w->ask.opt->tracefs;
	return n < 2 ? roots[n] : NULL;
}

static int is_component(const struct tach__text *name, size_t max)
{
	return name->length && name->length < max && name->text[0] != '.' &&
	       !memchr(name->text, '/', name->length);
}

/* Returns 1 if the directory contains a directory. The kernel's struct linux_dirent64 is libc's
 * 64-bit dirent. */
static int has_children(int fd)
{
	_Alignas(struct dirent) char buffer[4096];
	long n;

	while ((n = tach__sys(SYS_getdents64, fd, (long)buffer, sizeof buffer, 0, 0, 0)) > 0)
		for (long at = 0; at < n;) {
			struct dirent *entry = (void *)(buffer + at);

			if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
				return 1;
			at += entry->d_reclen;
		}
	return 0;
}

int tach__tracepoint_system(struct tach__work *w, const struct tach__text *name)
{
	int saved = errno, found = 0;
	char path[256];

	if (!is_component(name, 96))
		return 0;
	for (unsigned n = 0; !found && root(w, n); n++) {
		size_t length = strlen(root(w, n));
		int fd;

		if (length + name->length + 2 > sizeof path)
			continue;
		memcpy(path, root(w, n), length);
		path[length] = '/';
		memcpy(path + length + 1, name->text, name->length);
		path[length + 1 + name->length] = 0;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			found = has_children(fd);
			close(fd);
		}
	}
	errno = saved;
	if (found)
		w->got.generic = TACH__GENERIC_TRACEPOINT;
	return found;
}

int tach__tracepoint(struct tach__work *w, const struct tach__text *name)
{
	char file[136], text[32];
	unsigned long long id;
	int n = -1;

	if (!is_component(name, sizeof file - 8))
		return 0;
	memcpy(file, name->text, name->length);
	memcpy(file + name->length, "/id", 4);
	for (unsigned i = 0; n <= 0 && root(w, i); i++)
		n = tach__sysfs_read(root(w, i), w->got.system.text, w->got.system.length, file,
				     text, sizeof text);
	if (n <= 0 || tach__text_number(&(struct tach__text){text, (size_t)n}, &id) <= 0)
		return 0;
	if (w->got.point.text && w->out.config != id)
		return tach__refuse(w, TACH_ERR_FEATCOMB, "one tracepoint, not two");
	w->got.point = *name;
	w->out.config = id;
	return 1;
}

/* SPDX-License-Identifier: MIT */
/* Writes a text to a file or a descriptor without harm to the process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "core/report/deliver.h"
#include "core/os/sys.h"
#include "core/region/region.h"

enum { PATIENCE_MS = 1000, PARTS_MAX = 1000 };

/* ---- signals ---- */

/* Signals that write(2) may raise in its own thread. By default they end the process or, in the
 * background of a terminal, stop it. */
static const int raised[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
enum { NRAISED = sizeof raised / sizeof *raised };

void tach__quiet_begin(struct tach__quiet *q)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < NRAISED; i++)
		sigaddset(&set, raised[i]);
	sigpending(&q->pending);
	pthread_sigmask(SIG_BLOCK, &set, &q->before);
}

/*
 * A signal that arrived since tach__quiet_begin is from our write, and is removed. A signal
 * that was pending before belongs to the program.
 */
void tach__quiet_end(const struct tach__quiet *q)
{
	static const struct timespec at_once;
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < NRAISED; i++)
		if (!sigismember(&q->pending, raised[i]))
			sigaddset(&set, raised[i]);
	while (sigtimedwait(&set, NULL, &at_once) > 0 || errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &q->before, NULL);
}

/* ---- descriptors ---- */

/* Waits until the descriptor accepts data. If poll(2) reports room in a pipe, PIPE_BUF bytes
 * fit, so a write of at most this size does not block. */
static int write_patiently(int fd, const char *text, size_t length)
{
	while (length) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		size_t piece = length < PIPE_BUF ? length : PIPE_BUF;
		int ready = poll(&p, 1, PATIENCE_MS);
		ssize_t n;

		if (ready == 0)
			return -ETIMEDOUT;
		n = ready < 0 ? -1 : write(fd, text, piece);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n == 0)
			return -EIO; /* instead of retrying for ever */
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO; /* instead of retrying for ever */
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

int tach__deliver_fd(int fd, const struct tach__buffer *text)
{
	int saved = errno, code;
	struct tach__quiet quiet;

	tach__quiet_begin(&quiet);
	code = write_patiently(fd, text->at, text->length);
	tach__quiet_end(&quiet);
	errno = saved;
	return code;
}

/* ---- files ---- */

/* Makes the name ".FILE.PID.N" in FILE's folder. Programs that read reports ignore such
 * names. */
static int part_name(char *part, size_t size, const char *file, int number)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	int n = snprintf(part, size, "%.*s.%.200s.%d.%d", (int)(name - file), file, name,
			 (int)getpid(), number);

	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

static int part_open(char *part, size_t size, const char *file, const struct stat *old)
{
	for (int i = 0; i < PARTS_MAX; i++) {
		int code = part_name(part, size, file, i), fd;

		if (code)
			return code;
		fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		/* Keep mode and owner, so that readers of the old report have access. fchown
		 * fails unless root calls it, or the owner does not change. */
		if (old) {
			code = fchown(fd, old->st_uid, old->st_gid);
			fchmod(fd, old->st_mode & 0777);
		}
		return fd;
	}
	return -EEXIST;
}

/* Renames the part to the file. If `fresh`, it never replaces a file. A file system that
 * supports neither RENAME_NOREPLACE nor hard links then gives an error. */
static int move_file(const char *part, const char *file, int fresh)
{
	enum { NO_REPLACE = 1 }; /* RENAME_NOREPLACE, include/uapi/linux/fs.h */
	long code;

	if (!fresh)
		return rename(part, file) == 0 ? 0 : -errno;
	code = tach__sys(SYS_renameat2, AT_FDCWD, (long)part, AT_FDCWD, (long)file, NO_REPLACE,
			 0);
	if (code != -EINVAL && code != -ENOSYS)
		return (int)code;
	if (link(part, file) != 0)
		return -errno;
	unlink(part);
	return 0;
}

/* Does not call fsync: the process does not wait for the disk, but a power failure may lose the
 * report. */
static int replace_file(const char *file, int fresh, const struct stat *old,
			const struct tach__buffer *text)
{
	char part[PATH_MAX];
	int fd = part_open(part, sizeof part, file, old), code;

	if (fd < 0)
		return fd;
	code = write_all(fd, text->at, text->length);
	if (close(fd) != 0 && !code && errno != EINTR)
		code = -errno;
	if (!code)
		code = move_file(part, file, fresh);
	if (code)
		unlink(part);
	return code;
}

/* Allocates the space first, so that a full disk does not leave half of the report. */
static int overwrite_file(const char *file, const struct tach__buffer *text)
{
	int fd = open(file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), code = 0;

	if (fd < 0)
		return -errno;
	if (fallocate(fd, 0, 0, (off_t)text->length) != 0 && errno != EOPNOTSUPP &&
	    errno != ENOSYS)
		code = -errno;
	if (!code)
		code = write_all(fd, text->at, text->length);
	if (!code && ftruncate(fd, (off_t)text->length) != 0)
		code = -errno;
	close(fd);
	return code;
}

/* Writes to a pipe or device. -ENXIO: the pipe has no reader. -EACCES: the name no longer leads
 * to `old`. */
static int write_special(const char *file, const struct stat *old,
			 const struct tach__buffer *text)
{
	int fd = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), code;
	struct stat now;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) != 0 || now.st_dev != old->st_dev || now.st_ino != old->st_ino)
		code = -EACCES;
	else
		code = write_patiently(fd, text->at, text->length);
	close(fd);
	return code;
}

/*
 * Returns 1 if another user put this symbolic link into a world-writable folder. The kernel
 * does not follow such links either, unless fs.protected_symlinks is 0 (may_follow_link in
 * fs/namei.c).
 */
static int is_planted(const char *file, const struct stat *link)
{
	const char *slash = strrchr(file, '/');
	struct stat folder;
	char name[PATH_MAX];

	if (link->st_uid == geteuid())
		return 0;
	if (snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - file + 1) : 1,
		     slash ? file : ".") >= (int)sizeof name)
		return 1;
	return stat(name, &folder) != 0 ||
	       ((folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH) &&
		link->st_uid != folder.st_uid);
}

/*
 * Finds the file to which a link leads, so that a link which is made later is not followed. It
 * leaves a link to a pipe, such as /dev/stdout: a pipe has no path, and realpath would fail.
 */
static int find_real(const char *file, const struct stat *old, char real[PATH_MAX])
{
	struct stat link;

	if (lstat(file, &link) != 0)
		return -errno;
	if (S_ISLNK(link.st_mode) && is_planted(file, &link))
		return -EACCES;
	if (S_ISLNK(link.st_mode) && S_ISREG(old->st_mode))
		return realpath(file, real) ? 0 : -errno;
	return snprintf(real, PATH_MAX, "%s", file) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int deliver_file(const char *file, int fresh, const struct tach__buffer *text)
{
	char real[PATH_MAX];
	struct stat old;
	int code, exists = stat(file, &old) == 0;

	if (exists && fresh)
		return -EEXIST;
	if (exists && S_ISDIR(old.st_mode))
		return -EISDIR;
	code = exists ? find_real(file, &old, real) : 0;
	if (code)
		return code;
	if (exists && !S_ISREG(old.st_mode))
		return write_special(real, &old, text);
	if (exists && access(file, W_OK) != 0)
		return -errno;
	code = replace_file(exists ? real : file, fresh, exists ? &old : NULL, text);
	if (exists && (code == -EACCES || code == -EPERM || code == -EROFS || code == -EBUSY))
		code = overwrite_file(real, text);
	return code;
}

int tach__deliver_file(const char *file, int fresh, const struct tach__buffer *text)
{
	int saved = errno, code;
	struct tach__quiet quiet;

	tach__quiet_begin(&quiet);
	code = deliver_file(file, fresh, text);
	tach__quiet_end(&quiet);
	errno = saved;
	return code;
}

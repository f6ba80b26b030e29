/* SPDX-License-Identifier: MIT */
/*
 * Where a delivered text is written, and what remains if system calls are refused, interrupted
 * or incomplete.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tach/base.h>
#include <unistd.h>
#include "core/os/sys.h"
#include "core/report/deliver.h"
#include "tests/check.h"
#include "tests/unit/report/refused.h"

/* ---- a folder of this test ---- */

static char folder[] = "/tmp/tach-deliver-XXXXXX", file[64], other[64];
static char new_text[] = "the new text, which is longer than the old one", old_text[] = "old";

/* Only the signals that a write can raise are blocked. */
static void look_at_signals(void)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (int s = 1; s < 32; s++)
		CHECK(sigismember(&now, s) ==
			      (s == SIGUSR1 || s == SIGPIPE || s == SIGXFSZ || s == SIGTTOU),
		      "%d", s);
}

/* Fills the stack, so that unset variables are not 0 by chance. */
static void fill_stack(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = (char)0xff;
}

static int deliver(int fresh)
{
	struct tach__buffer text = {.at = new_text, .length = strlen(new_text)};
	int code, next = dup(2);
	sigset_t now;

	syscall(SYS_close, next);
	while_written = look_at_signals;
	fill_stack();
	errno = 77;
	code = tach__deliver_file(file, fresh, &text);
	CHECK(errno == 77, "errno was changed to %d", errno);
	/* The program's own signals and descriptors are unchanged. */
	CHECK(dup(2) == next && syscall(SYS_close, next) == 0);
	sigpending(&now);
	CHECK(sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGPIPE) == 0);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (int s = 1; s < 32; s++)
		CHECK(sigismember(&now, s) == (s == SIGUSR1), "%d", s);
	return code;
}

static void put(const char *path, const char *text, mode_t mode)
{
	FILE *to = fopen(path, "w");

	CHECK(to && fputs(text, to) >= 0 && fclose(to) == 0 && chmod(path, mode) == 0, "%s",
	      path);
}

static int holds(const char *path, const char *text)
{
	char is[100];
	FILE *from = fopen(path, "r");
	size_t n = from ? fread(is, 1, sizeof is - 1, from) : 0;

	is[n] = '\0';
	if (from)
		fclose(from);
	return from && strcmp(is, text) == 0;
}

static struct stat status(const char *path)
{
	struct stat s = {0};

	CHECK(lstat(path, &s) == 0, "%s", path);
	return s;
}

/* Removes the files, and returns their number. */
static int wipe(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (*e->d_name == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
			continue;
		unlinkat(dirfd(d), e->d_name, 0);
		n++;
	}
	if (d)
		closedir(d);
	refuse(NULL, 0, 0, 0);
	chunk = 0;
	return n;
}

/* ---- what is where ---- */

static void a_new_file(void)
{
	mode_t mask = umask(026);

	for (int fresh = 0; fresh < 2; fresh++) {
		chunk = fresh ? 7 : 0;
		CHECK(deliver(fresh) == 0 && holds(file, new_text));
		CHECK((status(file).st_mode & 07777) == 0640 && status(file).st_nlink == 1);
		CHECK(wipe() == 1);
	}
	umask(mask);
}

/* Its descriptor is 0. */
static void without_an_input(void)
{
	int input = dup(0);

	syscall(SYS_close, 0);
	CHECK(deliver(0) == 0 && holds(file, new_text));
	refuse("create", EACCES, 0, 1);
	CHECK(deliver(0) == 0 && holds(file, new_text) && calls_refused == 1);
	dup2(input, 0);
	syscall(SYS_close, input);
	CHECK(wipe() == 1);
}

static void an_old_one(void)
{
	ino_t was;

	put(file, old_text, 04751);
	was = status(file).st_ino;
	CHECK(deliver(1) == -EEXIST && holds(file, old_text));
	CHECK(deliver(0) == 0 && holds(file, new_text));
	CHECK((status(file).st_mode & 07777) == 0751 && status(file).st_ino != was);
	CHECK(wipe() == 1);
	/* The kernel refuses to change the owner. */
	put(file, old_text, 0604);
	refuse("fchown", EPERM, 0, 1);
	CHECK(deliver(0) == 0 && (status(file).st_mode & 07777) == 0604 && calls_refused == 1);
	CHECK(wipe() == 1);
}

static void through_links(void)
{
	put(other, old_text, 0600);
	CHECK(symlink(other, file) == 0);
	CHECK(deliver(1) == -EEXIST);
	CHECK(deliver(0) == 0 && S_ISLNK(status(file).st_mode) && holds(other, new_text));
	CHECK(wipe() == 2);
}

/* A link of another user, in a folder like /tmp, for any value of fs.protected_symlinks. */
static void links_that_were_planted(void)
{
	struct stat of = {0};

	put(other, old_text, 0600);
	CHECK(symlink(other, file) == 0 && chmod(folder, 01777) == 0);
	if (lchown(file, 12345, 12345) == 0) {
		int code = deliver(0);

		CHECK((code == 0 || code == -EACCES) && holds(other, old_text), "%d", code);
		/* A link is followed if its owner also owns the folder. */
		CHECK(chown(folder, 12345, 12345) == 0);
		unlink(file);
		CHECK(symlink(other, file) == 0 && lchown(file, 12345, 12345) == 0);
		CHECK(deliver(0) == 0 && holds(other, new_text));
		CHECK(chown(folder, 0, 0) == 0);
	}
	unlink(file);
	CHECK(symlink(other, file) == 0 && deliver(0) == 0 && holds(other, new_text));
	CHECK(lstat(file, &of) == 0 && S_ISLNK(of.st_mode));
	CHECK(chmod(folder, 0700) == 0 && wipe() == 2);
}

static void neither_folders_nor_what_is_protected(void)
{
	CHECK(mkdir(file, 0700) == 0);
	CHECK(deliver(0) == -EISDIR && rmdir(file) == 0);
	put(file, old_text, 0600);
	refuse("access", EACCES, 0, 1);
	CHECK(deliver(0) == -EACCES && holds(file, old_text));
	CHECK(wipe() == 1);
}

static void names_of_parts(void)
{
	char part[128];

	/* A part file of an ended process already exists. */
	snprintf(part, sizeof part, "%s/.file.%d.0", folder, (int)getpid());
	put(part, old_text, 0600);
	CHECK(deliver(0) == 0 && holds(file, new_text) && holds(part, old_text));
	CHECK(wipe() == 2);
	refuse("create", EEXIST, 0, INT_MAX);
	CHECK(deliver(0) == -EEXIST && calls_refused == 1000, "%d", calls_refused);
	CHECK(wipe() == 0);
	/* The file is in the working directory. */
	CHECK(chdir(folder) == 0);
	strcpy(part, file);
	strcpy(file, "file");
	CHECK(deliver(1) == 0);
	strcpy(file, part);
	CHECK(holds(file, new_text) && wipe() == 1);
	CHECK(chdir("/") == 0);
}

static void a_name_too_long(void)
{
	static char path[PATH_MAX + 10];
	struct tach__buffer text = {.at = new_text, .length = 3};

	memset(path, '/', sizeof path - 1);
	CHECK(tach__deliver_file(path, 0, &text) == -ENAMETOOLONG);
	/* The kernel limits each component of a path, so the name of a part file is short. */
	snprintf(path, sizeof path, "%s/%0255d", folder, 1);
	CHECK(tach__deliver_file(path, 0, &text) == 0);
	CHECK(wipe() == 1);
}

/* ---- system calls ---- */

/* On failure, the old file is unchanged, and no part file remains. */
static void what_is_refused_leaves_the_old(void)
{
	static const struct {
		const char *call;
		int code, skip;
	} cases[] = {{"create", EMFILE, 0},
		     {"write", ENOSPC, 0},
		     {"write", EIO, 2},
		     {"close", EIO, 0},
		     {"rename", EIO, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		put(file, old_text, 0600);
		chunk = 5;
		refuse(cases[i].call, cases[i].code, cases[i].skip, 1);
		CHECK(deliver(0) == -cases[i].code && calls_refused == 1 &&
			      holds(file, old_text),
		      "%s", cases[i].call);
		CHECK(wipe() == 1, "%s", cases[i].call);
	}
}

/* Repeated writes of 0 bytes are an error. */
static void writes_of_0_bytes_fail(void)
{
	put(file, old_text, 0600);
	refuse("write", 0, 0, 1000);
	CHECK(deliver(0) == -EIO && calls_refused == 1 && holds(file, old_text), "%d",
	      calls_refused);
	CHECK(wipe() == 1);
}

static void what_is_interrupted_goes_on(void)
{
	chunk = 5;
	refuse("write", EINTR, 1, 3);
	CHECK(deliver(0) == 0 && holds(file, new_text) && calls_refused == 3);
	CHECK(wipe() == 1);
	refuse("close", EINTR, 0, 1);
	CHECK(deliver(0) == 0 && holds(file, new_text) && calls_refused == 1);
	CHECK(wipe() == 1);
}

/* Calls the kernel's renameat2, for which musl has no function. */
static long refusing(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_renameat2 && is_refused("renameat2"))
		return -errno;
	return tach__sys_real(number, a, b, c, d, e, f);
}

/* File systems that cannot rename without replacing, cannot link, or can do neither. */
static void fresh_ones(void)
{
	static const int unknown[] = {EINVAL, ENOSYS};

	tach__sys = refusing;
	for (int i = 0; i < 2; i++) {
		refuse("renameat2", unknown[i], 0, 1);
		CHECK(deliver(1) == 0 && holds(file, new_text) && status(file).st_nlink == 1);
		CHECK(calls_refused == 1 && wipe() == 1);
	}
	refuse("renameat2", EEXIST, 0, 1);
	CHECK(deliver(1) == -EEXIST && wipe() == 0);
	refuse("renameat2", EINVAL, 0, 1);
	and_refuse("link", EPERM, 0, 1);
	CHECK(deliver(1) == -EPERM && calls_refused == 2 && wipe() == 0);
	tach__sys = tach__sys_real;
}

/* If the file cannot be replaced, it is truncated and written in place. */
static void files_are_written_in_place(void)
{
	static const struct {
		const char *call;
		int code;
	} cases[] = {
		{"create", EACCES}, {"create", EPERM}, {"create", EROFS}, {"rename", EBUSY}};
	char longer[100];

	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stat was;

		put(file, longer, 0640);
		was = status(file);
		chunk = 9;
		refuse(cases[i].call, cases[i].code, 0, 1);
		CHECK(deliver(0) == 0 && holds(file, new_text) && calls_refused == 1, "%s",
		      cases[i].call);
		CHECK(status(file).st_ino == was.st_ino);
		CHECK(wipe() == 1, "%s", cases[i].call);
		refuse(cases[i].call, cases[i].code, 0, 1);
		CHECK(deliver(0) == (*cases[i].call == 'c' ? -cases[i].code : -EBUSY),
		      "a new one");
		CHECK(wipe() == 0);
	}
}

/* Space for the new content is reserved before the first byte is overwritten. */
static void in_place_by_halves(void)
{
	static const struct {
		const char *call;
		int code;
		const char *then;
	} cases[] = {{"open", EMFILE, old_text},
		     {"fallocate", ENOSPC, old_text},
		     {"write", EIO, NULL},
		     {"ftruncate", EIO, new_text}};
	static const int unknown[] = {EOPNOTSUPP, ENOSYS};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		put(file, old_text, 0600);
		refuse("create", EACCES, 0, 1);
		and_refuse(cases[i].call, cases[i].code, 0, 1);
		CHECK(deliver(0) == -cases[i].code && calls_refused == 2, "%s", cases[i].call);
		CHECK(!cases[i].then || holds(file, cases[i].then), "%s", cases[i].call);
		CHECK(wipe() == 1);
	}
	for (int i = 0; i < 2; i++) {
		put(file, old_text, 0600);
		refuse("create", EACCES, 0, 1);
		and_refuse("fallocate", unknown[i], 0, 1);
		CHECK(deliver(0) == 0 && calls_refused == 2 && holds(file, new_text));
		CHECK(wipe() == 1);
	}
}

/* ---- pipes and devices ---- */

static void special_files(void)
{
	int end;

	CHECK(mkfifo(file, 0600) == 0);
	CHECK(deliver(1) == -EEXIST);
	CHECK(deliver(0) == -ENXIO, "without a reader");
	end = open(file, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	CHECK(deliver(0) == 0 && S_ISFIFO(status(file).st_mode));
	{
		char is[100] = "";

		CHECK(read(end, is, sizeof is - 1) == (ssize_t)strlen(new_text) &&
		      strcmp(is, new_text) == 0);
	}
	close(end);
	CHECK(wipe() == 1);
}

int main(void)
{
	sigset_t own;

	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	raise(SIGUSR1);
	if (!mkdtemp(folder))
		return 1;
	snprintf(file, sizeof file, "%s/file", folder);
	snprintf(other, sizeof other, "%s/other", folder);
	CASE(a_new_file);
	CASE(without_an_input);
	CASE(an_old_one);
	CASE(through_links);
	CASE(links_that_were_planted);
	CASE(neither_folders_nor_what_is_protected);
	CASE(names_of_parts);
	CASE(a_name_too_long);
	CASE(what_is_refused_leaves_the_old);
	CASE(writes_of_0_bytes_fail);
	CASE(what_is_interrupted_goes_on);
	CASE(fresh_ones);
	CASE(files_are_written_in_place);
	CASE(in_place_by_halves);
	CASE(special_files);
	rmdir(folder);
	return check_done();
}

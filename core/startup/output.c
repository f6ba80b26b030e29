/* SPDX-License-Identifier: MIT */
/* TACH_OUTPUT: writes a report when the process ends, or earlier. The exit status, files and
 * timing of the program do not change. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <tach/report.h>
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/report/report.h"
#include "core/base/out.h"
#include "core/os/environment.h"
#include "core/os/rank.h"
#include "core/region/region.h"
#include "core/snapshot/snapshot.h"
#include "core/startup/startup.h"

/* Runs after the program's own destructors, which may use regions, if the linker allows it. */
__attribute__((destructor(101))) static void write_output(void);

/* Programs that this process starts read in this variable for which process TACH_OUTPUT was
 * set. */
#define OWNER "TACH_OUTPUT_PID"

static char output[PATH_MAX]; /* "": nothing to write */
static pid_t owner;

/* A descriptor of the process, and its file when the process began. */
static struct {
	int fd; /* -1: output is a file */
	dev_t device;
	ino_t inode;
} stream = {.fd = -1};

/* Returns the descriptor for "-" and for names that stand for descriptors; otherwise -1. */
static int descriptor_of(const char *file)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;

	if (tach__output_is_stderr(file) || strcmp(file, "/dev/stderr") == 0)
		return STDERR_FILENO;
	if (strcmp(file, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		size_t n = strlen(folders[i]);
		long fd;

		if (strncmp(file, folders[i], n) != 0)
			continue;
		fd = strtol(file + n, &end, 10);
		if (end != file + n && !*end && fd >= 0 && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* Returns 0 if the descriptor is closed or now has another file, which may be the program's. */
static int stream_look(dev_t *device, ino_t *inode)
{
	struct stat status;

	if (fstat(stream.fd, &status) != 0)
		return 0;
	*device = status.st_dev;
	*inode = status.st_ino;
	return 1;
}

/* Makes the name absolute, because the program may change its folder later. */
void tach__output_absolute(char to[PATH_MAX], const char *file)
{
	size_t n = 0;

	if (*file != '/' && getcwd(to, PATH_MAX - 1)) {
		n = strlen(to);
		to[n++] = '/';
	}
	/* A truncated name would be another file. */
	if (strlen(file) < PATH_MAX - n)
		strcpy(to + n, file);
	else
		to[0] = '\0';
}

void tach__output_add_rank(char to[PATH_MAX])
{
	char *slash = strrchr(to, '/'), *point = strrchr(to, '.');
	struct stat status;

	if (!*to || tach__rank_count() < 2 || strstr(to, "%r") ||
	    tach__output_is_per_process(to) || strlen(to) + 4 > PATH_MAX ||
	    (stat(to, &status) == 0 && !S_ISREG(status.st_mode)))
		return;
	if (!point || (slash && point <= slash + 1))
		point = to + strlen(to);
	memmove(point + 3, point, strlen(point) + 1);
	memcpy(point, ".%r", 3);
}

/*
 * A child of vfork has the parent's memory and another process number. A child in its own PID
 * namespace may have the same number, but has other memory.
 */
static int is_owner(void)
{
	return getpid() == owner && tach__process_is_owner();
}

int tach__output_is_here(const char *file)
{
	return is_owner() || tach__output_is_per_process(file);
}

/* Returns 1 if a number in the name gives each process its own file. */
int tach__output_is_per_process(const char *file)
{
	return strstr(file, "%p") || strstr(file, "%u");
}

/* Writes "NUMBER:NAMESPACE"; the latter is 0 if /proc does not show it: pid_namespaces(7). */
static void name_process(char name[40])
{
	struct stat namespace = {0};

	if (stat("/proc/self/ns/pid", &namespace) != 0)
	namespace.st_ino = 0;
	snprintf(name, 40, "%d:%llu", (int)getpid(), (unsigned long long)namespace.st_ino);
}

/* Compares two names. A name without a namespace, or with namespace 0, matches any namespace.
 */
static int is_named(const char *other, const char *self)
{
	const char *colon = strchr(other, ':');

	if (atoi(other) != atoi(self))
		return 0;
	return !colon || strcmp(colon, ":0") == 0 || strcmp(strchr(self, ':'), ":0") == 0 ||
	       strcmp(other, self) == 0;
}

/*
 * Returns 1 if this process writes the file. A program that the owner started inherits the
 * variable.
 */
int tach__output_is_owner(const char *file)
{
	const char *other = secure_getenv(OWNER);
	char self[40];

	if (tach__output_is_per_process(file))
		return 1;
	name_process(self);
	if (other && *other && !is_named(other, self))
		return 0;
	/* Other threads may be in getenv: the library was loaded late, or by other code. */
	if (!other && tach__has_one_thread())
		setenv(OWNER, self, 1);
	return 1;
}

static void choose_stream(const char *file)
{
	stream.fd = descriptor_of(file);
	if (stream.fd >= 0) {
		if (stream_look(&stream.device, &stream.inode))
			snprintf(output, sizeof output, "%s", file);
	} else if (tach__output_is_owner(file)) {
		tach__output_absolute(output, file);
		tach__output_add_rank(output);
	}
}

void tach__output_at_exit(const char *file)
{
	int saved = errno, traced = tach__trace_choose();

	tach__rank(); /* finds the rank now, because a handler may need it later */
	if (!file && !traced)
		return;
	if (file)
		choose_stream(file);
	owner = getpid();
	tach__process_own();
	/* Under `tach run` another mechanism delivers the report, at any end of the process. */
	if ((*output || traced) && !tach__environment("TACH_RUN")) {
		tach__ambient_start();
		at_quick_exit(write_output);
		tach__deaths_watch();
		tach__interval_start(tach__output_is_per_process(output));
	}
	errno = saved;
}

/* Returns the number for the letter after a "%", or -1. */
static int place_number(char letter, int attempt)
{
	switch (letter) {
	case 'p':
		return (int)getpid();
	case 'u':
		return attempt;
	case 'r':
		return tach__rank() < 0 ? 0 : tach__rank();
	default:
		return -1;
	}
}

int tach__output_expand(char *to, size_t size, const char *from, int attempt)
{
	size_t n = 0;

	for (; *from && n + 12 < size; from++) {
		int number = *from == '%' ? place_number(from[1], attempt) : -1;

		if (number < 0) {
			to[n++] = *from;
			continue;
		}
		n += (size_t)snprintf(to + n, size - n, "%d", number);
		from++;
	}
	to[n] = '\0';
	return !*from;
}

/* "%u" becomes the smallest number for which the file does not exist. */
static int write_file(const struct tach__buffer *text)
{
	int fresh = strstr(output, "%u") != NULL, code = -EEXIST;
	char file[PATH_MAX];

	for (int n = 0; n < (fresh ? 10000 : 1) && code == -EEXIST; n++) {
		if (!tach__output_expand(file, sizeof file, output, n))
			return -ENAMETOOLONG;
		code = tach__deliver_file(file, fresh, text);
	}
	return code;
}

/* Renders the report to memory. It has the form for a terminal if the stream is one. */
static int render_report(const struct tach_snapshot *s, struct tach__buffer *text,
			 struct tach_error *err)
{
	struct tach_report_options opt = {0};

	if (stream.fd >= 0)
		tach__report_terminal(&opt, stream.fd);
	else
		opt.format = tach_report_format(output);
	return tach_report_write(s, &opt, tach__buffer_sink, text, err);
}

/* Checks that the destination is still that of the process's start. Returns 0 or an error. */
static int check_destination(struct tach_error *err)
{
	dev_t device;
	ino_t inode;

	if (!*output)
		return tach__error(err, TACH_ERR_STATE, 0, 0,
				   "TACH_OUTPUT was not set as the process began, or is "
				   "another process's");
	if (!is_owner() && !tach__output_is_per_process(output))
		return tach__error(err, TACH_ERR_STATE, 0, 0,
				   "TACH_OUTPUT belongs to process %d", (int)owner);
	if (stream.fd >= 0 &&
	    (!stream_look(&device, &inode) || device != stream.device || inode != stream.inode))
		return tach__error(err, -EBADF, 0, 0,
				   "TACH_OUTPUT, %.100s, is closed, or is now another file",
				   output);
	return 0;
}

static int deliver_report(const struct tach__buffer *text)
{
	return stream.fd >= 0 ? tach__deliver_fd(stream.fd, text) : write_file(text);
}

static int write_snapshot(int in_handler, struct tach_error *err)
{
	struct tach__buffer text = {0};
	struct tach_snapshot *s;
	char given_up[320];
	int code = tach__snapshot_take_here(&s, err);

	if (code)
		return code;
	s->in_handler = in_handler;
	tach__ambient_add(s);
	if (tach__deaths_given_up(given_up, sizeof given_up))
		tach__snapshot_note(s, given_up);
	code = render_report(s, &text, err);
	if (text.length && (code == 0 || stream.fd < 0)) {
		int undelivered = deliver_report(&text);

		if (undelivered && !err) /* a caller with `err` gets the error instead */
			tach__environment_unwritten("TACH_OUTPUT", output, undelivered);
		if (undelivered)
			code = tach__error(err, undelivered, 0, 0, "%.150s: %s", output,
					   tach_strerror(undelivered));
	}
	tach__buffer_free(&text);
	tach__snapshot_forget(s);
	return code;
}

/* ---- one report at a time ---- */

/* Returns 1 if a thread of this process writes a report. It is 0 in a child of vfork, which
 * must not wait for its parent's report. fork wipes the word. */
static int is_writing(uint64_t who)
{
	return who && who >> 32 == (uint64_t)getpid();
}

/* Returns 0 if another thread is writing, or if a signal interrupted this thread's write. */
static int writer_enter(int wait_ms)
{
	struct timespec pause = {0, 1000000};
	uint64_t self = (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
	uint64_t *writer = tach__process_writer();
	uint64_t now = __atomic_load_n(writer, __ATOMIC_RELAXED);

	for (;;) {
		if (!is_writing(now) &&
		    __atomic_compare_exchange_n(writer, &now, self, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return 1;
		if (now == self || (is_writing(now) && wait_ms-- <= 0))
			return 0;
		if (is_writing(now))
			nanosleep(&pause, NULL);
		now = __atomic_load_n(writer, __ATOMIC_RELAXED);
	}
}

/* Blocks signals until the report is complete, except signals that this code itself raises. */
int tach__output_write(int wait_ms, int in_handler, struct tach_error *err)
{
	int saved = errno, cancel, ignored, code;
	sigset_t signals = tach__deaths_others(), before;

	code = check_destination(err);
	if (code && !tach__trace_wanted()) {
		errno = saved;
		return code;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	if (writer_enter(wait_ms)) {
		if (code == 0)
			code = write_snapshot(in_handler, err);
		tach__trace_write();
		__atomic_store_n(tach__process_writer(), (uint64_t)0, __ATOMIC_RELEASE);
	} else {
		code = tach__error(err, -EBUSY, 0, 0, "another report is being written");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancel, &ignored);
	errno = saved;
	return code;
}

/* ---- the end ---- */

int tach__report_now_here(struct tach_error *err)
{
	if (tach__output_is_taken())
		return tach__error(err, TACH_ERR_STATE, 0, 0,
				   "the report is tach run's, and comes at the end");
	return tach__output_write(TACH__OUTPUT_WAIT_MS, 0, err);
}

int tach_report_now(struct tach_error *err)
{
	const struct tach__beacon *other = tach__beacon_owner();

	if (tach__beacon_is_excluded())
		return tach__beacon_refuse(err);
	return other ? other->report_now(err) : tach__report_now_here(err);
}

static void write_output(void)
{
	if (tach__output_is_taken())
		tach__output_now();
	else if (*output || tach__trace_wanted())
		tach__output_write(TACH__OUTPUT_WAIT_MS, 0, NULL);
}

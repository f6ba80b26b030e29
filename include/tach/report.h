/* SPDX-License-Identifier: MIT */
/* Reports of snapshots: text, JSON, CSV, HTML, Prometheus. */
#ifndef TACH_REPORT_H
#define TACH_REPORT_H

#include <tach/snapshot.h>

enum tach_format {
	TACH_FORMAT_TEXT, /* a table for a person */
	TACH_FORMAT_JSON, /* one object; "tach": 1 is the schema's version; see tach-report(5)
			   */
	TACH_FORMAT_CSV,  /* RFC 4180, a line per region, part and quantity */
	TACH_FORMAT_PROMETHEUS, /* Prometheus' text format 0.0.4 */
	TACH_FORMAT_HTML,	/* one page without dependencies */
};

struct tach_report_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	enum tach_format format;
	int color; /* text: ANSI colours */
	int width; /* text: columns per line, further ones continue below; 0 = 100 */
	int ascii; /* text: only ASCII, "+-" for the sign, "?" in names */
	/* text: regions below their enclosing region, indented; also TACH_OPTIONS=tree=1 */
	int tree;
	int places; /* text: the file and line of each region; also TACH_OPTIONS=places=1 */
};

TACH_BEGIN_DECLS

/* Receives the next piece of the report. A negative result ends the report: tach_report_write
 * returns it. */
typedef int (*tach_sink)(void *context, const char *text, size_t length);

/*
 * Writes a report piece by piece; opt NULL: plain text. The library itself prints nothing.
 * TACH_ERR_NOMEM: a part of the report is missing, because there was no memory for it. For a
 * snapshot of this process, only the trees of metrics in text use malloc. All other formats are
 * async-signal-safe if `sink` is.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_write(const struct tach_snapshot *snapshot,
			       const struct tach_report_options *opt, tach_sink sink,
			       void *context, struct tach_error *err);
/*
 * Writes a report to a descriptor. opt NULL: text, in ASCII if the locale is not UTF-8. If fd
 * is a terminal, the text is in colour (except with NO_COLOR or TERM=dumb) and has the width of
 * the terminal or of COLUMNS. A pipe without a reader raises SIGPIPE, as with write(2).
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_fd(const struct tach_snapshot *snapshot,
			    const struct tach_report_options *opt, int fd,
			    struct tach_error *err);
/*
 * Writes a report to a file. It writes a temporary file in the same folder, which then replaces
 * the file. So the file has its old content or the whole report at any time, even if the
 * process is killed. It follows symbolic links and keeps the mode. It writes directly to a pipe
 * or device, without waiting for a reader. If the folder accepts no new file, or the file is a
 * mount point, it overwrites the file. opt NULL: the suffix of the name decides the format.
 * There is no fsync, so the data may reach the disk later. -errno if the file cannot be
 * written. MT-safe, not for signal handlers, allocates.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_file(const struct tach_snapshot *snapshot,
			      const struct tach_report_options *opt, const char *file,
			      struct tach_error *err);
/*
 * Writes a report to the destination of TACH_OUTPUT, as at the end of the process
 * (tach-output(7)). TACH_ERR_STATE: TACH_OUTPUT was not set when the process began, the file
 * belongs to another process or to tach run, or this thread is taking a snapshot. -EBUSY:
 * another report has been in progress for two seconds. In signal handlers, use TACH_SIGNAL
 * instead.
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_now(struct tach_error *err);
/* Returns the format for a file name's suffix (.txt .json .csv .prom .html); text for
 * others. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API enum tach_format tach_report_format(const char *file);

TACH_END_DECLS
#endif

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

/* Takes the next piece of the report. A negative result ends the report and is returned. */
typedef int (*tach_sink)(void *context, const char *text, size_t length);

/*
 * Writes a report piece by piece; opt NULL: plain text. The library itself prints nothing.
 * TACH_ERR_NOMEM: no memory for a part of it, which is left out. For a snapshot of this
 * process, only the trees of metrics in text use malloc: all other formats are
 * async-signal-safe if sink is.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_write(const struct tach_snapshot *snapshot,
			       const struct tach_report_options *opt, tach_sink sink,
			       void *context, struct tach_error *err);
/*
 * The same to a descriptor. opt NULL: text; if fd is a terminal, in colour (unless NO_COLOR or
 * TERM=dumb), with the width of the terminal or of COLUMNS, and in ASCII if the locale is not
 * UTF-8. A pipe without a reader raises SIGPIPE, as with write(2).
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_fd(const struct tach_snapshot *snapshot,
			    const struct tach_report_options *opt, int fd,
			    struct tach_error *err);
/*
 * The same to a file. A temporary file in the same folder replaces it, so the file has its old
 * content or the whole report at any time, even if the process is killed. Symbolic links are
 * followed; the mode is kept. A pipe or device is written directly, without waiting for a
 * reader. If the folder accepts no file, or the file is a mount point, it is written in place.
 * opt NULL: the suffix of the name decides the format. The data may not be on disk when it
 * returns (no fsync). -errno if the file cannot be written. MT-safe, not for signal handlers,
 * allocates.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_file(const struct tach_snapshot *snapshot,
			      const struct tach_report_options *opt, const char *file,
			      struct tach_error *err);
/*
 * The same to the destination of TACH_OUTPUT, as at the end of the process (tach-output(7)).
 * TACH_ERR_STATE: TACH_OUTPUT was not set when the process began, or the file belongs to
 * another process or to tach run; or this thread is taking a snapshot. -EBUSY: another report
 * has been in progress for two seconds. In handlers use TACH_SIGNAL instead.
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_now(struct tach_error *err);
/* The format for a file name's suffix (.txt .json .csv .prom .html); text for others. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API enum tach_format tach_report_format(const char *file);

TACH_END_DECLS
#endif

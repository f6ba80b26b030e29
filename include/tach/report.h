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
	TACH_FORMAT_HTML,	/* one page that needs nothing else */
};

struct tach_report_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	enum tach_format format;
	int color; /* text: ANSI colours */
	int width; /* text: columns to fit into, the rest goes on below; 0 = 100 */
	int ascii; /* text: nothing but ASCII, "+-" for the sign, "?" in names */
	int tree; /* text: regions below the one around them, indented; also TACH_OPTIONS=tree=1
		   */
	int places; /* text: the file and line of each region; also TACH_OPTIONS=places=1 */
};

TACH_BEGIN_DECLS

/* Takes the next piece of the report. A negative result ends it and is handed on. */
typedef int (*tach_sink)(void *context, const char *text, size_t length);

/*
 * Writes a report piece by piece; opt NULL: plain text. The library itself prints nothing.
 * TACH_ERR_NOMEM: there was no memory for a part of it, which is left out.
 * Of a snapshot that was taken nothing but the trees of metrics in text is allocated by malloc:
 * any other format is async-signal-safe if sink is.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_write(const struct tach_snapshot *snapshot,
			       const struct tach_report_options *opt, tach_sink sink,
			       void *context, struct tach_error *err);
/*
 * The same to a descriptor; opt NULL: text, and if fd is a terminal in colour (not with
 * NO_COLOR or TERM=dumb), as wide as that or COLUMNS say, and in ASCII where the locale is not
 * UTF-8. A pipe without a reader raises SIGPIPE, as write(2) does.
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_fd(const struct tach_snapshot *snapshot,
			    const struct tach_report_options *opt, int fd,
			    struct tach_error *err);
/*
 * The same to a file, which has its old content or the whole report at any time, whatever ends
 * the process: a temporary file beside it takes its place. Symbolic links are followed; the
 * mode stays. A pipe or device is written as it is, and not waited for where it has no reader.
 * Where the folder takes no file, or the file is a mount point, it is written in place. opt
 * NULL: the format is what the name's suffix says. Not on the disk for sure when it returns (no
 * fsync). -errno where the file cannot be written. MT-safe, not for signal handlers, allocates.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_file(const struct tach_snapshot *snapshot,
			      const struct tach_report_options *opt, const char *file,
			      struct tach_error *err);
/*
 * The same to where TACH_OUTPUT says, as it is done when the process ends (tach-output(7)).
 * TACH_ERR_STATE: TACH_OUTPUT was not set as the process began, or the file is another
 * process's, or tach run's; or this thread is taking a snapshot. -EBUSY: another report is
 * being written, for two seconds. In handlers TACH_SIGNAL does it.
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_now(struct tach_error *err);
/* The format that a file name's suffix asks for (.txt .json .csv .prom .html); text when it
 * says nothing.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API enum tach_format tach_report_format(const char *file);

TACH_END_DECLS
#endif

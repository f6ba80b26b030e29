/* SPDX-License-Identifier: MIT */
/* Saved reports, as the subcommands read and write them; `who` begins messages on stderr. */
#ifndef TOOLS_TACH_REPORT_H
#define TOOLS_TACH_REPORT_H

#include <tach/report.h>

int report_load(struct tach_snapshot **out, const char *file, const char *who);
int report_merge(struct tach_snapshot **out, struct tach_snapshot **list, int n,
		 const char *who);
/* By the format's name or, where that is NULL, the file's suffix; -1: printed. */
int report_format(const char *name, const char *file, enum tach_format *format,
		  const char *who);
/* To the file, or where that is NULL, to fd. */
int report_write(const struct tach_snapshot *s, enum tach_format format, const char *file,
		 int fd, const char *who);
/* `tach report --diff`; the exit status. */
int report_diff(const struct tach_snapshot *before, const struct tach_snapshot *after,
		enum tach_format format, const char *file);

#endif

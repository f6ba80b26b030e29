/* SPDX-License-Identifier: MIT */
/*
 * Writes a text to a file or a descriptor without harm to the process. The process gets no
 * signal from the kernel, does not wait for a reader that does not read, and a file contains
 * either the old or the complete new text at any time.
 */
#ifndef TACH_CORE_REPORT_DELIVER_H
#define TACH_CORE_REPORT_DELIVER_H

#include <signal.h>
#include "core/os/buffer.h"

/* Between these two calls, no signal that write(2) raises in its own thread reaches the
 * program. */
struct tach__quiet {
	sigset_t before, pending;
};
void tach__quiet_begin(struct tach__quiet *q);
void tach__quiet_end(const struct tach__quiet *q);

/* Descriptor: writes pieces that a pipe takes completely, and gives up if no piece was read for
 * a second. 0 or negated errno. */
int tach__deliver_fd(int fd, const struct tach__buffer *text);
/*
 * File: a temporary file in the same folder replaces it. Symbolic links are followed; mode and,
 * where allowed, owner are kept. Pipes and devices are written like descriptors, without
 * waiting for a reader. `fresh`: -EEXIST if the file exists.
 *
 * If the folder accepts no new file, or the file cannot be replaced (a mount point), it is
 * written in place, after all space for it was allocated. In this case SIGKILL may leave a
 * mixture.
 */
int tach__deliver_file(const char *file, int fresh, const struct tach__buffer *text);

#endif

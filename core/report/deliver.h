/* SPDX-License-Identifier: MIT */
/*
 * Writes a text to a file or a descriptor without harm to the process. The process gets no
 * signal from the kernel, and does not wait for a reader that does not read. At any time, a
 * file contains either the old or the complete new text.
 */
#ifndef TACH_CORE_REPORT_DELIVER_H
#define TACH_CORE_REPORT_DELIVER_H

#include <signal.h>
#include "core/os/buffer.h"

/* Call these before and after write(2). Signals that write(2) raises in its own thread then do
 * not reach the program. */
struct tach__quiet {
	sigset_t before, pending;
};
void tach__quiet_begin(struct tach__quiet *q);
void tach__quiet_end(const struct tach__quiet *q);

/* Writes to a descriptor, in pieces that a pipe takes completely. Gives up if no piece was read
 * for a second. Returns 0 or a negated errno. */
int tach__deliver_fd(int fd, const struct tach__buffer *text);
/*
 * Writes a temporary file in the same folder and replaces the file by it. Follows symbolic
 * links. Keeps the mode and, if allowed, the owner. Pipes and devices are written as by
 * tach__deliver_fd, without waiting for a reader. If `fresh` is set and the file exists,
 * returns -EEXIST.
 *
 * If the folder accepts no new file, or if the file cannot be replaced (a mount point), it is
 * written in place, after its space was allocated. In this case SIGKILL may leave a mixture of
 * both texts.
 */
int tach__deliver_file(const char *file, int fresh, const struct tach__buffer *text);

#endif

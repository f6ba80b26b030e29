/* SPDX-License-Identifier: MIT */
/*
 * A text handed to a file or a descriptor without harm to the process: no signal of the
 * kernel's reaches it, no reader is waited for that does not read, and a file has the old text
 * or the whole new one at any time.
 */
#ifndef TACH_CORE_REPORT_DELIVER_H
#define TACH_CORE_REPORT_DELIVER_H

#include <signal.h>
#include "core/os/buffer.h"

/* Between these two, no signal that write(2) raises in its own thread reaches the program. */
struct tach__quiet {
	sigset_t before, pending;
};
void tach__quiet_begin(struct tach__quiet *q);
void tach__quiet_end(const struct tach__quiet *q);

/*
 * Descriptor: in pieces that a pipe takes whole, given up when none was read for a second.
 * 0 or negated errno.
 */
int tach__deliver_fd(int fd, const struct tach__buffer *text);
/*
 * File: a temporary one beside it takes its place; symbolic links are followed, mode and, where
 * allowed, owner stay. Pipes and devices are written like descriptors, and not waited for where
 * has no reader. `fresh`: -EEXIST where there is one already.
 *
 * Where the folder takes no new file, or the file cannot be replaced (a mount point), it is
 * written in place, room for all of it made before: there SIGKILL may leave a mixture.
 */
int tach__deliver_file(const char *file, int fresh, const struct tach__buffer *text);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of events: the only ones that the library keeps open. They are numbers in a table
 * of the program, which may close any of them at any time (closefrom(3), close_range(2), a
 * daemon's loop) and open files of its own there. So they get high numbers, away from the
 * numbers that programs count on. Before one is read or closed, the kernel is asked whether it
 * is still the same event (PERF_EVENT_IOC_ID: no other event of the machine has or had this
 * number). Other files are left alone. Between the question and the read or close, another
 * thread may close the number *and* open a file there. The kernel has no call that does both,
 * so these tens of ns remain, once in the program's life, because the next question finds it
 * out. A read then takes at most sizeof(struct tach__group_read) bytes.
 */
#ifndef TACH_CORE_OS_DESCRIPTOR_H
#define TACH_CORE_OS_DESCRIPTOR_H

#include <stdint.h>

/*
 * Moves a descriptor of an event that was just opened up, and learns what event it is. The new
 * number or a negated errno; the old number is closed in any case. -EMFILE also where the
 * program would have but a few numbers left: those are not for us.
 */
long tach__descriptor_keep(long fd, uint64_t *id);
/* Is `fd` still that event? */
int tach__descriptor_is_event(int fd, uint64_t id);
/*
 * Closes it if it is still the event. -1 is allowed. Where the question is refused, as by a
 * seccomp filter that came later, any event at that number is taken for it: the number is among
 * ours, and the event would stay open.
 */
void tach__descriptor_close(int fd, uint64_t id);

#endif

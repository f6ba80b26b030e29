/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of events: the only ones that the library keeps open.
 *
 * They are numbers in a table that belongs to the program, which may close any of them without
 * asking (closefrom(3), close_range(2), a daemon's loop) and open files of its own there. So
 * they lie high, away from the numbers that programs count on, and before one is read or closed
 * the kernel is asked whether it is the event that was opened (PERF_EVENT_IOC_ID: a number that
 * no other event of the machine has or had). What is not ours is left alone.
 *
 * Between the question and the read or close, another thread may do all of that. The kernel has
 * no call that does both, so this remains: some tens of ns in which a thread would have to
 * close the number *and* another open a file there, once in the program's life, as the next
 * question finds it out. A read then takes at most sizeof(struct tach__group_read) bytes.
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
/* Whether `fd` is still that event. */
int tach__descriptor_is(int fd, uint64_t id);
/*
 * Closes it if it is still the event. -1 is allowed. Where the question is refused, as by a
 * seccomp filter that came later, any event at that number is taken for it: the number is among
 * ours, and the event would stay open.
 */
void tach__descriptor_close(int fd, uint64_t id);

#endif

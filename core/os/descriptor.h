/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of events: the library keeps no other descriptors open. The program may close any
 * descriptor at any time (closefrom(3), close_range(2), a daemon's loop) and open files of its
 * own with the same number. So event descriptors get high numbers, which programs do not expect
 * to be free. Before reading or closing a descriptor, the library checks that it is still the
 * same event (PERF_EVENT_IOC_ID: no other event of the machine has or had this number). Other
 * files are never touched, with one exception. After the check and before the read or close,
 * another thread may close the descriptor *and* open a file with its number. The kernel has no
 * call that does both, so a window of tens of ns remains, once in the program's life: the next
 * check detects the change. A read of a wrong file takes at most sizeof(struct
 * tach__group_read) bytes.
 */
#ifndef TACH_CORE_OS_DESCRIPTOR_H
#define TACH_CORE_OS_DESCRIPTOR_H

#include <stdint.h>

/*
 * Moves the descriptor of a new event to a high number, and sets *id. Returns the new number or
 * a negated errno. Closes the old number in any case. Returns -EMFILE also if the program would
 * have only a few numbers left.
 */
long tach__descriptor_keep(long fd, uint64_t *id);
/* Returns 1 if `fd` is still the event with this id. */
int tach__descriptor_is_event(int fd, uint64_t id);
/*
 * Closes `fd` if it is still the event. -1 is allowed. If the check is refused, for example by
 * a seccomp filter that was installed later, closes any event with this number. Otherwise our
 * event might stay open.
 */
void tach__descriptor_close(int fd, uint64_t id);

#endif

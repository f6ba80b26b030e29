/* SPDX-License-Identifier: MIT */
/* Counting on boxes of the uncore: memory controllers, caches, links, energy. */
#ifndef TACH_UNCORE_H
#define TACH_UNCORE_H

#include <tach/error.h>
#include <tach/flags.h>

/*
 * Open events of boxes. A box counts the work of all its processors together, for all programs.
 * So the kernel opens its events without a process, on a processor that it chose for each box
 * (the file cpumask in the PMU's folder in sysfs,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices). This requires CAP_PERFMON, or
 * kernel.perf_event_paranoid of 0 or less. read(2) reads the counters. All events of one box on
 * one processor form a group, so they count at the same time.
 */
struct tach_uncore;

struct tach_uncore_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/*
	 * Events separated as a set's (tach/set.h), "label=event" to give one a short name:
	 *
	 *   skx_unc_imc0::UNC_M_CAS_COUNT:RD	one box, in each socket that has it
	 *   skx_unc_imc*::UNC_M_CAS_COUNT:RD	all boxes of that kind: their sum
	 *   UNC_M_CAS_COUNT:RD			the same
	 *   uncore_imc_0/event=4,umask=3/	by the kernel's name and its terms; all
	 *					such boxes with a * for the number
	 *   skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=28	the socket of processor 28 alone
	 */
	const char *events;
	/* NULL, or a replacement for /sys/bus/event_source/devices, which may have boxes of
	 * other machines. */
	const char *sysfs;
};
#define TACH_UNCORE_OPTIONS_INIT                                                               \
	{                                                                                      \
		sizeof(struct tach_uncore_options), TACH__NULL, TACH__NULL                     \
	}

TACH_BEGIN_DECLS

/*
 * Opens all events; counting begins with tach_uncore_start. The caller owns *out until
 * tach_uncore_close. Uses a descriptor for each event, box and socket. On failure *out is NULL
 * and err has the column in `events`, the cause and the cure: the errors of tach_event_encode;
 * TACH_ERR_NOTFOUND, this machine has no such box; TACH_ERR_NOTSUPP, the kernel does not
 * support the box, or the event does not belong to a box; TACH_ERR_PERMISSION; TACH_ERR_NOMEM;
 * or a negated errno.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_uncore_open(const struct tach_uncore_options *opt, struct tach_uncore **out,
			      struct tach_error *err) TACH_MUST_USE;
/* NULL is fine. */
/* MT-Safe race:uncore | AS-Unsafe heap | AC-Unsafe mem fd | no allocation */
TACH_API void tach_uncore_close(struct tach_uncore *uncore);

/* Return the number of events, 1 or more; the label or the text of an event, or NULL if no
 * event has that number. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_uncore_count(const struct tach_uncore *uncore) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_uncore_name(const struct tach_uncore *uncore, int event)
	TACH_NONNULL(1);
/* Returns the number of counters that are added up for an event: boxes times sockets. 0: no
 * such event. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_uncore_counters(const struct tach_uncore *uncore, int event) TACH_NONNULL(1);

/*
 * Start or stop all counters, one group after the other. A start does not reset the counts.
 * Return 0 or a negated errno.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_uncore_start(struct tach_uncore *uncore) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_uncore_stop(struct tach_uncore *uncore) TACH_NONNULL(1);

/*
 * Writes the counts of all events since they were opened, in the events' own units (RAPL's is
 * 2^-32 J under Linux). If flags is not NULL, writes the flags of each event, too. Returns all
 * flags combined with or: TACH_FLAG_SYSCALL; TACH_FLAG_SCALED, if the kernel had to multiplex a
 * box; TACH_FLAG_LOST, if a counter of the sum could not be read or never ran.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API uint32_t tach_uncore_read(const struct tach_uncore *uncore, uint64_t *value,
				   uint32_t *flags) TACH_NONNULL(1, 2);

TACH_END_DECLS
#endif

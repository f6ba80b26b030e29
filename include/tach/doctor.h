/* SPDX-License-Identifier: MIT */
/* Examines this machine: can counters be read, do they count correctly, and if not, why? */
#ifndef TACH_DOCTOR_H
#define TACH_DOCTOR_H

#include <tach/error.h>

/*
 * Values never change; new causes are added at the end. tach_cause_name returns the name in
 * JSON.
 */
enum tach_cause {
	TACH_CAUSE_NONE = 0,	     /* a check that found nothing wrong */
	TACH_CAUSE_NO_PERF_EVENTS,   /* kernel built without perf_event_open */
	TACH_CAUSE_SECCOMP_EPERM,    /* a seccomp filter answers EPERM (most containers) */
	TACH_CAUSE_SECCOMP_ENOSYS,   /* a seccomp filter answers ENOSYS */
	TACH_CAUSE_PARANOID,	     /* kernel.perf_event_paranoid forbids every event */
	TACH_CAUSE_PARANOID_KERNEL,  /* it forbids kernel-level counting; user level works */
	TACH_CAUSE_SECURITY_MODULE,  /* refused although paranoid level and seccomp allow it */
	TACH_CAUSE_NO_VPMU,	     /* virtual machine without a virtual PMU */
	TACH_CAUSE_NO_DRIVER,	     /* bare metal whose PMU the kernel does not drive */
	TACH_CAUSE_COUNT_ZERO,	     /* the event opens and runs, and its count stays 0 */
	TACH_CAUSE_COUNT_WRONG,	     /* a loop of known length was counted wrongly */
	TACH_CAUSE_NO_INSTRUCTIONS,  /* no event counts instructions; cycles were used */
	TACH_CAUSE_TAKEN_ALL,	     /* no counter was free during the whole examination */
	TACH_CAUSE_TAKEN_SOME,	     /* fewer counters free than this CPU has */
	TACH_CAUSE_WATCHDOG,	     /* the NMI watchdog holds a counter */
	TACH_CAUSE_RDPMC_OFF,	     /* x86: sysfs rdpmc is 0 */
	TACH_CAUSE_RDPMC_ALL,	     /* x86: sysfs rdpmc is 2 */
	TACH_CAUSE_USER_ACCESS_OFF,  /* arm64, RISC-V: kernel.perf_user_access is 0 */
	TACH_CAUSE_USER_ACCESS_NONE, /* arm64: this kernel has no perf_user_access */
	TACH_CAUSE_USER_NOT_OFFERED, /* the kernel's page offers no user-space read */
	TACH_CAUSE_USER_INDEX_ZERO,  /* the page offers it, but never shows a counter number */
	TACH_CAUSE_USER_WRONG,	     /* user-space count disagrees with read(2) */
	TACH_CAUSE_USER_UNSUPPORTED, /* this architecture has no user-space read on Linux */
	TACH_CAUSE_MLOCK,	     /* mapping refused: locked-memory limit */
	TACH_CAUSE_MMAP,	     /* mapping refused for another reason */
	TACH_CAUSE_DESCRIPTORS,	     /* file descriptor limit */
	TACH_CAUSE_OPEN_OTHER,	     /* perf_event_open failed with an errno not listed here */
	TACH_CAUSE_CPU_UNKNOWN,	     /* no event table for this CPU */
	TACH_CAUSE_CLOCK_VARIES,     /* the time-stamp counter is not invariant */
	TACH_CAUSE_CLOCK_DISTRUSTED, /* the kernel itself does not use it as clock source */
	TACH_CAUSE_USER_NAMESPACE,   /* as PARANOID; a user namespace has the capabilities */
	TACH_CAUSE_SELINUX,	     /* SELinux enforces a policy and events are refused */
	TACH_CAUSE_APPARMOR,	     /* an AppArmor profile takes the capability away */
	TACH_CAUSE_LOCKDOWN,	/* refused while the kernel is locked down to confidentiality */
	TACH_CAUSE_EVENTS,	/* TACH_EVENTS or another variable cannot be used */
	TACH_CAUSE_OUTPUT,	/* TACH_OUTPUT cannot be written */
	TACH_CAUSE_USER_LEGACY, /* RISC-V: the driver for firmware without a PMU gives no access
				 */
	TACH_CAUSE_UNDIVIDED,	/* RISC-V: no privilege level can be left out */
	TACH_CAUSE_MEDIATED,	/* virtual machines have the PMU: events do not count guests */
	TACH_CAUSE_COUNT
};

enum tach_severity {
	TACH_SEVERITY_OK = 0,	/* as it should be */
	TACH_SEVERITY_NOTE = 1, /* good to know; nothing is lost */
	TACH_SEVERITY_WARN = 2, /* works, slower or less exact than it could */
	TACH_SEVERITY_FAIL = 3, /* this does not work here */
};

/* How programs can measure on this machine. */
enum tach_verdict {
	TACH_VERDICT_FAST = 0,	/* counters are read in user space and count right */
	TACH_VERDICT_SLOW = 1,	/* counters work, by read(2) only */
	TACH_VERDICT_CLOCK = 2, /* no counters: only the clock, and named software events */
};

struct tach_finding {
	enum tach_cause cause;
	enum tach_severity severity;
	const char *check; /* "cpu", "kernel", "counters", "user read", ...; static storage */
	char text[240];	   /* one sentence: the finding */
	char cure[240];	   /* how to fix it; "" if nothing can be done */
};

#define TACH_FINDINGS_MAX 24

/* Plain data, owned by the caller. */
struct tach_examination {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	uint32_t nfindings;
	enum tach_verdict verdict;
	/* The proof: the number of instructions of a loop, and its counts. 0 = it did not
	 * run. */
	uint64_t loop_instructions;
	uint64_t loop_counted;	    /* by read(2) */
	uint64_t loop_user_counted; /* by user-space reads of the same counter */
	int32_t counters_free;	    /* number of events that can count at once; -1 = unknown */
	struct tach_finding findings[TACH_FINDINGS_MAX];
};

struct tach_doctor_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	const char
		*root; /* read /proc and /sys below this folder; NULL or "" = the real ones */
};

TACH_BEGIN_DECLS

/*
 * Reads files below /proc and /sys, opens at most 40 counters for the calling thread for some
 * milliseconds, and compares the count of a loop with its known length. Closes all counters and
 * frees all memory. Returns 0, also if counters do not work, or TACH_ERR_INVAL for a bad size.
 * opt may be NULL. Thread-safe; not for signal handlers.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_doctor_examine(const struct tach_doctor_options *opt,
				 struct tach_examination *out, struct tach_error *err);
/* Return "no-vpmu", "slow", "warn" and so on, in static storage; "unknown" for other
 * numbers. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_cause_name(enum tach_cause cause);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_verdict_name(enum tach_verdict verdict);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_severity_name(enum tach_severity severity);

TACH_END_DECLS
#endif

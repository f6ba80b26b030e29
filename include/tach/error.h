/* SPDX-License-Identifier: MIT */
/* Error codes, and the struct that explains an error. */
#ifndef TACH_ERROR_H
#define TACH_ERROR_H

#include <errno.h>
#include <tach/base.h>

/*
 * Functions return 0 (or a non-negative result) or one of these codes. -1 .. -4095 is the
 * negated errno of a system call that failed. Three of them have a name here, because kernel
 * and library mean the same by them. The other codes are the library's own. Values never
 * change.
 */
enum tach_code {
	TACH_OK = 0,
	TACH_ERR_INVAL = -EINVAL, /* an argument is NULL, out of range, or has a bad size */
	TACH_ERR_NOMEM = -ENOMEM,
	TACH_ERR_NOTSUPP = -EOPNOTSUPP, /* this PMU, OS or build cannot do it */
	TACH_ERR_SYNTAX = -5004,     /* malformed string or file; line and column tell where */
	TACH_ERR_NOTFOUND = -5005,   /* no such PMU, event, preset, metric */
	TACH_ERR_ATTR = -5006,	     /* no such umask or modifier for this event */
	TACH_ERR_ATTR_VALUE = -5007, /* modifier value malformed, missing or out of range */
	TACH_ERR_ATTR_SET = -5008,   /* given twice with different values, or wired in */
	TACH_ERR_UMASK = -5009,	     /* a umask group needs a choice */
	TACH_ERR_FEATCOMB = -5010,   /* umasks or features that exclude each other */
	TACH_ERR_TOOMANY = -5011,    /* more attributes, events or counters than possible */
	TACH_ERR_TOOSMALL = -5012,   /* the caller's array is too small */
	TACH_ERR_PERMISSION = -5013, /* the kernel's settings forbid it; text has the cure */
	TACH_ERR_NOHARDWARE = -5014, /* no PMU here (virtual machine, container) */
	TACH_ERR_NOCOUNTER =
		-5015, /* out of counters: the set does not fit, or others hold them */
	TACH_ERR_NOASSIGN = -5016, /* events' constraints conflict: no assignment exists */
	TACH_ERR_CYCLE = -5017,	   /* definitions refer to each other in a cycle */
	TACH_ERR_STATE = -5018,	   /* wrong thread, wrong order, region still open */

	/* Register dispatch only. */
	TACH_ERR_MAGIC = -5030,	       /* model-specific input of another PMU */
	TACH_ERR_EVENTSET = -5031,     /* events of sets that exclude each other (ia64) */
	TACH_ERR_INCOMPATIBLE = -5032, /* events that cannot be measured at the same time */
	TACH_ERR_MODEL = -5033,	       /* this revision of the CPU lacks it */
	TACH_ERR_CODE_RANGE = -5034,   /* code range empty, reversed, or events lack for it */
	TACH_ERR_CODE_ALIGN = -5035,   /* code range not on bundle boundaries */
	TACH_ERR_CODE_TOOMANY = -5036, /* more code ranges than can be covered */
	TACH_ERR_CODE_TOOBIG = -5037,
	TACH_ERR_CODE_FLAGS = -5038, /* the events need TACH_RANGE_DEMAND or _PREFETCH */
	TACH_ERR_DATA_RANGE = -5039,
	TACH_ERR_DATA_TOOMANY = -5040,
};

/*
 * The caller owns it. If the pointer is not NULL, an error fills it; success leaves it
 * unchanged. line and column count from 1; 0 means unknown. The rest of a longer struct is
 * unchanged, because programs often declare it without a value.
 */
struct tach_error {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	int32_t code;
	int32_t line;
	int32_t column;
	char text[256]; /* one English sentence, no newline; with the cure if there is one */
};
#define TACH_ERROR_INIT                                                                        \
	{                                                                                      \
		sizeof(struct tach_error), 0, 0, 0,                                            \
		{                                                                              \
			0                                                                      \
		}                                                                              \
	}

TACH_BEGIN_DECLS

/* A short phrase for any code this library returns. Static storage. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_strerror(int code);

/*
 * Copies text so that it can be displayed. Each byte that would control a terminal (C0 and C1
 * control characters, DEL, Unicode's bidirectional controls and line separators) and each byte
 * that is not UTF-8 becomes one '?', so that columns stay. The copy ends before the first
 * character that does not fit into size bytes, with NUL if size > 0. `to` may be `text` itself.
 * Texts of errors are already converted; names (of regions, events, files) are not. Returns the
 * length of text.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API size_t tach_printable(const char *text, char *to, size_t size) TACH_NONNULL(1);

TACH_END_DECLS
#endif

/* SPDX-License-Identifier: MIT */
/* A line of tach dispatch --batch: a question that libpfm-3 was asked. */
#ifndef TOOLS_TACH_DISPATCH_QUESTION_H
#define TOOLS_TACH_DISPATCH_QUESTION_H

#include <tach/dispatch.h>

enum { COLUMNS = 6, EVENTS_MAX = 512 };

struct question {
	char *column[COLUMNS], none[1];
	struct tach_dispatch in;
	struct tach_dispatch_event events[EVENTS_MAX];
	struct tach_dispatch_x86 x86;
	struct tach_dispatch_ia64 ia64;
	int no_input, no_output; /* model-specific structures that the caller did not pass */
	const char *malformed;	 /* what is not understood */
};

/* The columns; how many are there. Those that are not are empty. */
int question_split(struct question *l, char *text);
/* A whole column; of a 64-bit number what is too large stays too large. */
uint32_t question_number(struct question *l, char *text);
void question_unavailable(struct question *l);
/* TACH_ERR_UMASK and the like as the finder does. */
int question_events(struct question *l);
int question_input(struct question *l);
int question_is_ia64(const struct question *l);

#endif

/* SPDX-License-Identifier: MIT */
/* A line of tach dispatch --batch: a recorded question to libpfm-3. */
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
	/* the recorded caller passed no structure of the model */
	int no_input, no_output;
	const char *malformed; /* the text that could not be parsed */
};

/* Splits the columns. Returns their number. Missing fields are empty. */
int question_split(struct question *l, char *text);
/* Parses a whole column. A 64-bit number that is too large stays too large for 32 bits. */
uint32_t question_number(struct question *l, char *text);
void question_unavailable(struct question *l);
/* Returns TACH_ERR_UMASK and similar codes, as the event search does. */
int question_events(struct question *l);
int question_input(struct question *l);
int question_is_ia64(const struct question *l);

#endif

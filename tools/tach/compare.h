/* SPDX-License-Identifier: MIT */
/* Two sets of samples compared: for `tach gate`, `tach diff` and `tach run -r`. */
#ifndef TOOLS_TACH_COMPARE_H
#define TOOLS_TACH_COMPARE_H

#include <tach/change.h>
#include "tools/tach/samples.h"

/* 'QUANTITY > +X%': worse if it grew by more; with '<', if it shrank by more. */
struct compare_rule {
	char quantity[128]; /* may be a glob */
	double bound;	    /* 0.005; not negative */
	int less;	    /* less is worse */
};

enum compare_format {
	COMPARE_TEXT,
	COMPARE_JSON,
	COMPARE_CSV,
	COMPARE_JUNIT,
	COMPARE_MARKDOWN,
	COMPARE_HTML,
	COMPARE_FORMATS
};
enum { COMPARE_RULES_MAX = 32 };

/* What may be so and passes all the same. */
enum { COMPARE_ALLOW_UNKNOWN = 1, COMPARE_ALLOW_GONE = 2, COMPARE_ALLOW_NOTHING = 4 };

struct compare_options {
	const char *who; /* begins messages: "tach gate" */
	struct compare_rule rule[COMPARE_RULES_MAX];
	size_t nrules;	     /* 0: all quantities, with the usual bounds */
	const char *regions; /* only these, between commas; NULL: all */
	double alpha;
	unsigned allow;
	int in_turns; /* both sides were measured in turns */
	const char *output;
	enum compare_format format;
	int has_format;
};

enum compare_verdict {
	COMPARE_NONE = TACH_CHANGE_NONE,
	COMPARE_WORSE = TACH_CHANGE_WORSE,
	COMPARE_BETTER = TACH_CHANGE_BETTER,
	COMPARE_UNKNOWN = TACH_CHANGE_UNKNOWN,
	COMPARE_NEW,	  /* only the new side has it */
	COMPARE_GONE,	  /* only the old side has it */
	COMPARE_UNJUDGED, /* no rule says which way is worse */
	COMPARE_VERDICTS
};

struct compare_line {
	const struct series *old, *now; /* one of them may be NULL */
	int twin;			/* several places have the region's name */
	struct compare_rule rule;
	struct tach_change_result is;
	enum compare_verdict verdict;
};

struct comparison {
	struct compare_line *line;
	size_t n, count[COMPARE_VERDICTS], judged;
	const struct samples *old, *now;
	const char *old_name, *now_name;
	const struct compare_options *options;
};

/* ---- compare.c ---- */

/*
 * Compares; the sides stay the caller's. 0, or an exit status: a rule or a region that is on
 * neither side, which was printed.
 */
int compare(struct comparison *c, const struct compare_options *o, struct samples *old,
	    struct samples *now);
void compare_free(struct comparison *c);
/* 0 passed, 1 worse, 3 cannot tell. */
int compare_status(const struct comparison *c);
/* Printable: "worse", "no change larger than 2 %", "gone". */
void compare_text(const struct compare_line *l, char *to, size_t size);
/* The line's series, of the new side where both have one. */
const struct series *compare_series(const struct compare_line *l);

/* ---- compare_options.c ---- */

#define COMPARE_OPTIONS                                                                        \
	{"fail-if", required_argument, NULL, COMPARE_FAIL_IF},                                 \
		{"region", required_argument, NULL, COMPARE_REGION},                           \
		{"alpha", required_argument, NULL, COMPARE_ALPHA},                             \
		{"allow", required_argument, NULL, COMPARE_ALLOW},                             \
		{"format", required_argument, NULL, COMPARE_FORMAT},                           \
	{                                                                                      \
		"output", required_argument, NULL, 'o'                                         \
	}
enum { COMPARE_FAIL_IF = 512, COMPARE_REGION, COMPARE_ALPHA, COMPARE_ALLOW, COMPARE_FORMAT };
/* Takes one of these; 0, or an exit status: printed. -1: it is none of these. */
int compare_option(struct compare_options *o, int option, const char *argument);
extern const char compare_help[];
/* The rule for that quantity, by its name before by a glob; NULL: there is none. */
const struct compare_rule *compare_rule(const struct compare_options *o, const char *quantity);

/* ---- compare_write.c ---- */

/* Where the options say; 0, or EXIT_USAGE: printed. */
int compare_write(const struct comparison *c);
/* The cells that people read: region, quantity, old, new, change, bound, verdict. */
enum { COMPARE_CELL = 512, COMPARE_COLUMNS = 7 };
void compare_cells(const struct compare_line *l, char cell[COMPARE_COLUMNS][COMPARE_CELL]);
/* The words below a table. */
struct tach__out;
void compare_sentences(struct tach__out *out, const struct comparison *c);

/* ---- compare_ci.c ---- */

void compare_junit(struct tach__out *out, const struct comparison *c);
void compare_markdown(struct tach__out *out, const struct comparison *c);

/* ---- compare_html.c ---- */

void compare_html(struct tach__out *out, const struct comparison *c);

#endif

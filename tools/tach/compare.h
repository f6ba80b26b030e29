/* SPDX-License-Identifier: MIT */
/* Compares two sets of samples, for `tach gate`, `tach diff` and `tach run -r`. */
#ifndef TOOLS_TACH_COMPARE_H
#define TOOLS_TACH_COMPARE_H

#include <tach/change.h>
#include "tools/tach/samples.h"

/* 'QUANTITY > +X%': worse if the growth is larger; with '<', if the decrease is larger. */
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

/* Conditions that fail unless they are allowed. */
enum { COMPARE_ALLOW_UNKNOWN = 1, COMPARE_ALLOW_GONE = 2, COMPARE_ALLOW_NOTHING = 4 };

struct compare_options {
	const char *who; /* begins messages: "tach gate" */
	struct compare_rule rule[COMPARE_RULES_MAX];
	size_t nrules;	     /* 0: all quantities, with default bounds */
	const char *regions; /* only these regions, a list separated by commas; NULL: all */
	double alpha;
	unsigned allow;
	int in_turns;			     /* runs of both sides alternated */
	const char *output[COMPARE_FORMATS]; /* each in the format of its suffix */
	size_t noutputs;		     /* 0: standard output */
	enum compare_format format;
	int has_format;
};

enum compare_verdict {
	COMPARE_NONE = TACH_CHANGE_NONE,
	COMPARE_WORSE = TACH_CHANGE_WORSE,
	COMPARE_BETTER = TACH_CHANGE_BETTER,
	COMPARE_UNKNOWN = TACH_CHANGE_UNKNOWN,
	COMPARE_NEW,	  /* exists on the new side only */
	COMPARE_GONE,	  /* exists on the old side only */
	COMPARE_UNJUDGED, /* no rule says which direction is worse */
	COMPARE_VERDICTS
};

struct compare_line {
	const struct series *old, *now; /* one of the two may be NULL */
	int twin;			/* the region's name occurs at several places */
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
 * Compares; the caller keeps both sides. Returns 0, or an exit status after printing an error:
 * a rule or a region that neither side has.
 */
int compare(struct comparison *c, const struct compare_options *o, struct samples *old,
	    struct samples *now);
void compare_free(struct comparison *c);
/* Returns 0 passed, 1 worse, 3 cannot tell. */
int compare_status(const struct comparison *c);
/* Writes the verdict, printable: "worse", "no change larger than 2 %", "gone". */
void compare_text(const struct compare_line *l, char *to, size_t size);
/* One word or two, for programs: "worse", "cannot-tell", "new". */
const char *compare_name(const struct compare_line *l);
/* Returns the line's series: the new one, if both sides have it. */
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
/*
 * Handles one of the shared options. Returns 0, an exit status after printing an error, or -1
 * if it is another option.
 */
int compare_option(struct compare_options *o, int option, const char *argument);
extern const char compare_help[];
/*
 * Finds the rule for that quantity: first by exact name, then by glob. Returns NULL if no rule
 * matches.
 */
const struct compare_rule *compare_rule(const struct compare_options *o, const char *quantity);

/*
 * Returns the format that the options name, or otherwise the one that the file's suffix names.
 */
enum compare_format compare_suffix(const struct compare_options *o, const char *file);

/* ---- compare_write.c ---- */

/*
 * Writes the comparison to the file or stream that the options name. Returns 0, or EXIT_USAGE
 * after printing an error.
 */
int compare_write(const struct comparison *c);
/* The cells of the table: region, quantity, old, new, change, bound, verdict. */
enum { COMPARE_CELL = 512, COMPARE_COLUMNS = 7 };
void compare_cells(const struct compare_line *l, char cell[COMPARE_COLUMNS][COMPARE_CELL]);
/* The sentences below a table. */
struct tach__out;
void compare_sentences(struct tach__out *out, const struct comparison *c);

/* ---- compare_ci.c ---- */

void compare_junit(struct tach__out *out, const struct comparison *c);
void compare_markdown(struct tach__out *out, const struct comparison *c);

/* ---- compare_html.c ---- */

void compare_html(struct tach__out *out, const struct comparison *c);

#endif

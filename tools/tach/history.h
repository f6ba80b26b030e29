/* SPDX-License-Identifier: MIT */
/*
 * `tach history`: declarations that its files share. A history is a file of JSON lines, one
 * line per run.
 */
#ifndef TOOLS_TACH_HISTORY_H
#define TOOLS_TACH_HISTORY_H

#include <stdint.h>
#include "core/base/out.h"
#include "core/change/change.h"
#include "tools/tach/samples.h"

#define HISTORY_WHO "tach history"

struct history_run {
	char *commit, *subject, *date; /* date: "2026-11-27T13:04:05Z"; subject may be "" */
	char *machine, *counted;
	int64_t at;  /* date, in seconds since 1970 */
	size_t line; /* of the file */
	struct samples of;
};

struct history {
	struct history_run *run; /* by date */
	size_t n;
	size_t backward; /* line of a run whose date is before that of the line above; 0: there
			    is none */
};

/* ---- history_file.c ---- */

/*
 * Reads a file. Returns 0, or an exit status after printing an error. EXIT_UNKNOWN: the last
 * line is incomplete or dates go backward; the complete runs can be used.
 */
int history_read(struct history *h, const char *file);
void history_free(struct history *h);
void history_run_free(struct history_run *run);
/* Writes one line of JSON, with its LF. */
void history_write_run(struct tach__out *out, const struct history_run *run);
/*
 * Appends a run to the locked file, or creates the file. A failure changes nothing. Returns the
 * exit status after printing any refusal.
 */
int history_append(const char *file, const struct history_run *run);
/*
 * For a baseline: takes the newest run that was counted as s->how says ("": in any way), on
 * this machine unless it was emulated. Returns -1, after printing it, if no run fits.
 */
int history_newest(struct samples *s, const char *file, const char *who);

/* ---- history_origin.c ---- */

/*
 * Fills in where a run is from, unless the caller named it. Returns 0, or EXIT_USAGE after
 * printing an error.
 */
int history_origin(struct history_run *run);
/* Writes the processor and its architecture; for emulated counts only the architecture. */
void history_machine(const char *counted, char *to, size_t size);
/* Converts RFC 3339 to seconds; returns -1 if the text is malformed. */
int history_date(const char *text, int64_t *at);
void history_date_text(int64_t at, char to[32]);

/* ---- history_lines.c: the runs of one region and quantity, counted in one way on one machine
 * ---- */

struct history_value {
	size_t run, commit; /* numbers */
	size_t n;
	double median, low, high;
	const struct series *of;
	unsigned ordinal; /* number of this place among regions with the same name, from 0 */
	size_t group;
};

struct history_change {
	size_t at; /* number of the value */
	double before, after, change;
	const char *verdict; /* "worse", "better", "changed" */
};

struct history_line {
	const struct history_value *value;
	size_t n;
	struct history_change *change;
	size_t nchanges;
	char label[512]; /* of the region */
};

struct history_mark {
	const struct history_line *line;
	const struct history_change *change;
	const struct history_value *value;
};

struct history_lines {
	const struct history *of;
	struct history_mark *mark; /* all changes, the newest first */
	size_t nmarks;
	struct history_value *value;
	struct history_line *line; /* sorted by region, quantity and group */
	size_t n;
	size_t *group_run; /* one run of each group, which shows how and where it was counted */
	size_t ngroups;
	size_t *commit_run; /* the first run of each commit */
	size_t ncommits;
	size_t apart; /* number of lines that share their region and quantity with another line
		       */
};

/*
 * least: smaller changes do not count, a fraction; regions: only these, NULL: all. Returns -1
 * after printing that there is no memory.
 */
int history_lines(struct history_lines *l, const struct history *h, double least,
		  const char *regions);
void history_lines_free(struct history_lines *l);

/* ---- history_show.c, history_page.c ---- */

void history_show(struct tach__out *out, const struct history_lines *l);
/* url: the repository's address, "https://..."; NULL: commits are not links. */
void history_page(struct tach__out *out, const struct history_lines *l, const char *title,
		  const char *url);
extern const char history_style[], history_script[];

#endif

/* SPDX-License-Identifier: MIT */
/* Writes notes below a report in text. By default there is one note, about values that are
 * missing or doubtful. TACH_NOTES=1 adds notes on how to read the table. This does not call
 * malloc, because handlers call it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/utf8.h"
#include "core/os/environment.h"
#include "core/report/report.h"

enum { NOTE_MAX = 2048, WIDTH = 100 };

struct note {
	char text[NOTE_MAX];
	size_t length;
};

/* Adds a sentence. A sentence that is too long for a note is cut. */
static void add_note(struct note *n, const char *sentence)
{
	int more = snprintf(n->text + n->length, sizeof n->text - n->length, "%s%s",
			    n->length ? " " : "", sentence);

	n->length += (size_t)more;
	if (n->length >= sizeof n->text)
		n->length = sizeof n->text - 1;
}

static void add_count(struct note *n, uint64_t count, const char *words)
{
	char sentence[160];

	if (!count)
		return;
	snprintf(sentence, sizeof sentence, "%llu %s", (unsigned long long)count, words);
	add_note(n, sentence);
}

/* Writes a note, and breaks its lines between words. */
static void write_note(struct tach__out *out, const struct note *n,
		       const struct tach_report_options *opt)
{
	int most = opt->width ? opt->width : WIDTH, used = 0;
	const char *p = n->text;
	char word[NOTE_MAX];

	while (*p) {
		size_t length = strcspn(p, " ");
		int wide;

		memcpy(word, p, length);
		word[length] = '\0';
		wide = opt->ascii ? (int)length : tach__utf8_width(word);
		if (used)
			tach__out_text(out, used + 1 + wide > most ? "\n" : " ");
		used = used && used + 1 + wide <= most ? used + 1 + wide : wide;
		tach__report_line(out, word, opt->ascii);
		p += length + (p[length] == ' ');
	}
	tach__out_text(out, n->length ? "\n" : "");
}

static void explain_table(struct note *n, uint32_t flags, int ascii)
{
	char sentence[320];
	const char *error = ascii ? "+-" : "\u00b1";

	snprintf(
		sentence, sizeof sentence,
		"The cost of measuring is subtracted; %s is how uncertain that leaves a value: "
		"the spread of an empty region's cost in calibration, for every call, and at "
		"least the clock's resolution.",
		error);
	add_note(n, sentence);
	add_note(
		n,
		"Time is wall time: it includes other threads that ran on the processor. Share "
		"is self time in the time of all regions.");
	if (flags & TACH_FLAG_CORRECTED)
		add_note(n, "Each interrupt counts one instruction, which is taken out; JSON "
			    "and CSV "
			    "have the raw counts too.");
	if (flags & TACH_FLAG_UNBOUNDED) {
		snprintf(sentence, sizeof sentence,
			 "%s?: the error is not known. Too few entries were measured, few of "
			 "them make most of it, or the counters were shared in time.",
			 error);
		add_note(n, sentence);
	}
	if (flags & TACH_FLAG_SMALL)
		add_note(n, "(In parentheses): not above that uncertainty, do not trust.");
}

int tach__report_is_enabled(const char *variable)
{
	const char *value = tach__environment(variable);

	return value && strcmp(value, "0") != 0;
}

void tach__report_text_notes(struct tach__out *out, const struct tach_snapshot *s,
			     const struct tach_report_options *opt)
{
	struct tach_counts c = {.size = sizeof c};
	uint32_t flags = tach__report_flags(s);
	struct note n = {.length = 0};

	tach_snapshot_counts(s, &c);
	if (*tach_snapshot_missing(s))
		add_note(&n, tach_snapshot_missing(s));
	add_count(&n, c.missing_processes, "processes missing in this report.");
	add_count(&n, c.missing_threads, "threads missing in this report.");
	add_count(&n, c.refused,
		  "stops refused: on another thread, without a start, or after the set "
		  "changed.");
	add_count(&n, c.lost, "entries lost: thread ending or out of memory.");
	if (!n.length && !tach__report_is_enabled("TACH_NOTES") &&
	    flags & (TACH_FLAG_SMALL | TACH_FLAG_UNBOUNDED))
		add_note(&n,
			 flags & TACH_FLAG_UNBOUNDED
				 ? "An error is not known, or a value (in parentheses) not "
				   "above "
				   "its own. TACH_NOTES=1 explains the table."
				 : "(In parentheses): not above its uncertainty. TACH_NOTES=1 "
				   "explains the table.");
	if (n.length)
		tach__out_text(out, "\n");
	write_note(out, &n, opt);
	if (!tach__report_is_enabled("TACH_NOTES") || !tach_snapshot_nregions(s))
		return;
	n.length = 0;
	explain_table(&n, flags, opt->ascii);
	tach__out_text(out, "\n");
	write_note(out, &n, opt);
}

/* SPDX-License-Identifier: MIT */
/* Texts of verdicts, and the names of counts that a program repeats. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/change/change.h"

const char *tach_change_name(enum tach_change verdict)
{
	static const char *const names[] = {"no change", "worse", "better", "cannot tell"};

	return (unsigned)verdict < 4 ? names[verdict] : "cannot tell";
}

/* Rounds up to two digits, so that "no change larger than" is true. */
static double round_up(double percent)
{
	double scale = 1;

	if (!(percent > 0) || !isfinite(percent))
		return percent;
	while (percent / scale >= 100)
		scale *= 10;
	while (percent / scale < 10)
		scale /= 10;
	return ceil(percent / scale - 1e-6) * scale;
}

int tach_change_text(const struct tach_change_result *r, char *text, size_t size)
{
	double most = fabs(r->low) > fabs(r->high) ? fabs(r->low) : fabs(r->high);
	const char *name = tach_change_name(r->verdict);

	if (r->verdict == TACH_CHANGE_NONE && isinf(most))
		return snprintf(text, size, "no change for the worse");
	if (r->verdict == TACH_CHANGE_NONE && most > 1e-9)
		return snprintf(text, size, "no change larger than %.2g %%",
				round_up(100 * most));
	if (r->verdict != TACH_CHANGE_UNKNOWN)
		return snprintf(text, size, "%s", name);
	if (isnan(r->old) || isnan(r->now))
		return snprintf(text, size, "%s: there is no value", name);
	if (isinf(r->low) || isinf(r->high))
		return snprintf(text, size, "%s: too few values", name);
	/* Writes two digits, without an exponent. */
	return snprintf(text, size,
			most < 0.995 ? "%s: the change may be from %+.2g %% to %+.2g %%"
				     : "%s: the change may be from %+.0f %% to %+.0f %%",
			name, 100 * r->low, 100 * r->high);
}

/* Returns 1 if one of these words (the last is NULL) is in the name, ignoring case. */
static int has_one(const char *name, const char *const *words)
{
	for (; *words; words++)
		for (const char *at = name; *at; at++) {
			size_t n = 0;

			while ((*words)[n] && tolower((unsigned char)at[n]) == (*words)[n])
				n++;
			if (!(*words)[n])
				return 1;
		}
	return 0;
}

int tach__change_is_repeatable(const char *quantity)
{
	static const char *const retired[] = {
		"instructions", "inst_ret", "inst_retired", "inst_",	  "tot_ins",
		"ret_inst",	"branch",   "br_ins",	    "br_retired", "loads",
		"stores",	"retired_", "_retired",	    "flops",	  NULL};
	static const char *const chance[] = {
		"miss", "misp", "hit",	   "stall", "cycle", "slot", "clk", "tlb", "spec",
		"uop",	"time", "latency", "l1",    "l2",    "l3",   "llc", NULL};

	return has_one(quantity, retired) && !has_one(quantity, chance);
}

/* SPDX-License-Identifier: MIT */
/* Encodes an event string: calls the other steps. */
#include <stddef.h>
#include <string.h>
#include "core/event/event.h"

/* ---- words ---- */

static int hardware_words(struct tach__work *w)
{
	if (w->got.generic)
		return tach__perf_words(w);
	if (tach__parts[w->got.pmu->arch]->encode)
		return tach__parts[w->got.pmu->arch]->encode(w);
	return tach__refuse(w, TACH_ERR_NOTSUPP, "no encoder for this PMU");
}

static int finish(struct tach__work *w)
{
	int rc = hardware_words(w);

	if (rc)
		return rc;
	if (w->got.nrows > 1)
		tach__umask_sort(w);
	if (w->ask.os != TACH_OS_NONE)
		rc = tach__perf_encode(w);
	return rc;
}

static int try_encode(struct tach__work *w, const char *string)
{
	int rc = tach__find(w, string);

	return rc ? rc : finish(w);
}

static void start_work(struct tach__work *w, const char *string,
		       const struct tach_encode_options *opt, struct tach_error *err)
{
	/* The arrays need no clearing: counts show how far they are filled. */
	tach__clear(&w->ask, offsetof(struct tach__question, caller));
	tach__clear(&w->got, offsetof(struct tach__picks, picks));
	tach__clear(&w->out, offsetof(struct tach__answer, codes));
	w->column = w->alias = 0;
	w->ask.string = string;
	w->ask.opt = opt;
	w->ask.quirks = tach__quirks_of(opt);
	w->ask.err = err;
	w->ask.os = opt->os;
	w->ask.privilege = opt->privilege;
	w->got.groups.above = w->got.groups.only = w->got.groups.last = w->got.groups.silent =
		-1;
}

/* Handles perf's EVENT/name=x/ if EVENT is not a device. An error message costs a hundred times
 * more than encoding, so it is made only on request. */
static int __attribute__((cold))
again(struct tach__work *w, const char *string, const struct tach_encode_options *opt,
      struct tach_error *err, int rc)
{
	const char *text = string;
	int slash = (int)strcspn(string, "/") + 1;

	if ((rc == TACH_ERR_NOTFOUND || rc == TACH_ERR_ATTR) && w->ask.quirks->letters &&
	    tach__terms_respell(string, w->respelled, sizeof w->respelled)) {
		text = w->respelled;
		start_work(w, text, opt, NULL);
		rc = try_encode(w, text);
	}
	if (!rc || !err)
		return rc;
	start_work(w, text, opt, err);
	rc = try_encode(w, text);
	if (text != string && err->column > slash)
		err->column = slash;
	return rc;
}

int tach__encode(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt, struct tach_error *err)
{
	int rc;

	start_work(w, string, opt, NULL);
	rc = try_encode(w, string);
	return TACH_LIKELY(!rc) ? 0 : again(w, string, opt, err, rc);
}

int tach__encode_picks(struct tach__work *w, int pmu, int event, const struct tach__pick *picks,
		       unsigned n, const struct tach_encode_options *opt)
{
	int rc;

	start_work(w, "", opt, NULL);
	w->column = 1; /* 0 would mean that there is no conflict */
	rc = tach__find_row(w, pmu, event) ? tach__match_picks(w, picks, n) : TACH_ERR_NOTFOUND;
	return rc ? rc : finish(w);
}

int tach__lookup(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt)
{
	start_work(w, string, opt, NULL);
	return tach__find(w, string);
}

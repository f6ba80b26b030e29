/* SPDX-License-Identifier: MIT */
/*
 * Reports are read back: any bytes are refused or become a snapshot that every format can
 * write.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/report.h>
#include "core/snapshot/passes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int nowhere(void *context, const char *text, size_t length)
{
	size_t *total = context;

	(void)text;
	*total += length;
	return 0;
}

/* The snapshots are joined as passes of a program. */
static const char *const events[] = {"a", "b"};
static const struct tach__passes_metric metrics[] = {
	{"share", "N1 / N0", {.level = 1, .scale = 100, .unit = "percent of slots"}, NULL},
	{"part",
	 "elapsed_ns * N0",
	 {.level = 2, .parent = "share", .threshold = "part > 1"},
	 NULL},
};
static const struct tach__passes_whole whole = {
	.nevents = 2,
	.nmetrics = 2,
	.event = events,
	.metric = metrics,
	.repeated = "instructions",
	.repeats = -1,
	.bound = 0.01,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s, *twice;
	const struct tach_snapshot *list[2];
	size_t total = 0;

	if (tach_snapshot_load((const char *)data, size, &s, &err) != 0)
		return err.text[0] ? 0 : (abort(), 0);
	for (int format = TACH_FORMAT_TEXT; format <= TACH_FORMAT_HTML; format++) {
		struct tach_report_options opt = {.format = (enum tach_format)format,
						  .width = 60};

		if (tach_report_write(s, &opt, nowhere, &total, NULL) != 0)
			abort();
	}
	list[0] = list[1] = s;
	if (tach__snapshot_passes(list, 2, &whole, &twice, NULL) == 0) {
		struct tach_report_options opt = {.format = TACH_FORMAT_TEXT};

		tach_report_write(twice, &opt, nowhere, &total, NULL);
		tach_snapshot_free(twice);
	}
	if (tach_snapshot_merge(list, 2, &twice, NULL) == 0) {
		struct tach_report_options opt = {.format = TACH_FORMAT_JSON};

		tach_report_write(twice, &opt, nowhere, &total, NULL);
		tach_snapshot_free(twice);
	}
	tach_snapshot_free(s);
	return 0;
}

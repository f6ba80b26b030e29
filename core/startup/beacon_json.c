/* SPDX-License-Identifier: MIT */
/* A snapshot for another copy of the library: as JSON, so that versions may differ. */
#include <tach/report.h>
#include "core/region/region.h"

int tach__beacon_json(tach_sink sink, void *context, struct tach_error *err)
{
	struct tach_report_options opt = {.format = TACH_FORMAT_JSON};
	struct tach_snapshot *s;
	int code = tach__snapshot_take_here(&s, err);

	if (code)
		return code;
	code = tach_report_write(s, &opt, sink, context, err);
	tach_snapshot_free(s);
	return code;
}

/* SPDX-License-Identifier: MIT */
/*
 * The public call: event strings, and the names of presets and derived events, from the
 * process's own registry. The name must stand for one event; a formula over several events
 * needs a set. This file is not in core/event because that room may not use this one.
 */
#include "core/derived/derived.h"
#include "core/derived/files.h"
#include "core/event/event.h"

static const char *derived(int pmu, const struct tach__text *name, int *several)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d = tach_derived_default();

	if (!d)
		*several = TACH_ERR_NOMEM;
	if (!d ||
	    tach__derived_find(d, tach__derived_pmu(pmu), name->text, name->length, &info))
		return NULL;
	*several = info.type != TACH_DERIVED_TYPE_NONE;
	return *several ? NULL : info.events; /* The process never frees these strings. */
}

int tach_event_encode(const char *string, const struct tach_encode_options *opt,
		      struct tach_event *out, struct tach_error *err)
{
	static const struct tach__caller caller = {.derived = derived};

	return tach__event_encode(string, opt, &caller, out, err);
}

/* SPDX-License-Identifier: MIT */
/*
 * The public call: event strings, and the names of presets and derived events, from the
 * process's own registry. Only those that stand for one event can be encoded; a formula over
 * several events needs a set. It lies here and not in core/event because that room may not use
 * this one.
 */
#include <string.h>
#include <tach/derived.h>
#include "core/event/event.h"

enum { NAME_MAX_LENGTH = 255 };

static int find(int pmu, const struct tach__text *name, struct tach_derived_info *info)
{
	char copy[NAME_MAX_LENGTH + 1];

	if (!name->length || name->length > NAME_MAX_LENGTH)
		return TACH_ERR_NOTFOUND;
	memcpy(copy, name->text, name->length);
	copy[name->length] = 0;
	return tach_derived_find(tach_derived_default(), pmu, copy, info);
}

static const char *derived(int pmu, const struct tach__text *name, int *several)
{
	struct tach_derived_info info = {.size = sizeof info};

	if (find(pmu, name, &info))
		return NULL;
	*several = info.type != TACH_DERIVED_TYPE_NONE;
	/* Its strings live as long as the process. */
	return !*several && info.nevents == 1 ? info.events : NULL;
}

int tach_event_encode(const char *string, const struct tach_encode_options *opt,
		      struct tach_event *out, struct tach_error *err)
{
	static const struct tach__caller caller = {.derived = derived};

	return tach__event_encode(string, opt, &caller, out, err);
}

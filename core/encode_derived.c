/* SPDX-License-Identifier: MIT */
/*
 * Names of presets and derived events as event strings, from the process's own registry. Only
 * those that stand for one event can be encoded; a formula over several is a matter of sets.
 */
#include <string.h>
#include <tach/derived.h>
#include "core/encode.h"

enum { NAME_MAX_LENGTH = 255 };

const char *tach__derived_event(int pmu, const struct tach__text *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	char copy[NAME_MAX_LENGTH + 1];

	if (!name->length || name->length > NAME_MAX_LENGTH)
		return NULL;
	memcpy(copy, name->text, name->length);
	copy[name->length] = 0;
	/* Its strings live as long as the process. */
	if (tach_derived_find(tach_derived_default(), pmu, copy, &info))
		return NULL;
	return info.type == TACH_NOT_DERIVED && info.nevents == 1 ? info.events : NULL;
}

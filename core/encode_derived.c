/* SPDX-License-Identifier: MIT */
/*
 * Names of presets and derived events as event strings, from the process's own registry. Only
 * those that stand for one event can be encoded; a formula over several is a matter of sets.
 */
#include <string.h>
#include <tach/derived.h>
#include "core/encode.h"

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

const char *tach__derived_event(int pmu, const struct tach__text *name)
{
	struct tach_derived_info info = {.size = sizeof info};

	/* Its strings live as long as the process. */
	if (find(pmu, name, &info))
		return NULL;
	return info.type == TACH_NOT_DERIVED && info.nevents == 1 ? info.events : NULL;
}

int tach__derived_several(int pmu, const struct tach__text *name)
{
	struct tach_derived_info info = {.size = sizeof info};

	return !find(pmu, name, &info) && info.type != TACH_NOT_DERIVED;
}

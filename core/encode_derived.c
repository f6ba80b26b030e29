/* SPDX-License-Identifier: MIT */
/*
 * Names of presets and derived events as event strings. Only those that stand for one event can
 * be encoded; a formula over several is a matter of sets.
 */
#include "core/encode.h"
#include "core/presets.h"

const char *tach__derived_event(int pmu, const struct tach__text *name)
{
	struct tach_derived_info info = {.size = sizeof info};
	int number = tach__preset_find(pmu, name->text, name->length);

	if (number < 0)
		return NULL;
	tach__preset_at(pmu, number, &info);
	return info.type == TACH_NOT_DERIVED && info.nevents == 1 ? info.events : NULL;
}

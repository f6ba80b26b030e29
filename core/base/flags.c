/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include "core/base/flags.h"

const struct tach__flag_name tach__flag_names[] = {
	{TACH_FLAG_RESCHEDULED, "rescheduled"},
	{TACH_FLAG_INCOMPLETE, "incomplete"},
	{TACH_FLAG_SYSCALL, "syscall"},
	{TACH_FLAG_SCALED, "scaled"},
	{TACH_FLAG_MIXED, "mixed"},
	{TACH_FLAG_LOST, "lost"},
	{TACH_FLAG_CLOCK, "clock-estimate"},
	{TACH_FLAG_DIVZERO, "division-by-zero"},
	{TACH_FLAG_STALE, "stale"},
	{TACH_FLAG_SMALL, "small"},
	{TACH_FLAG_CORRECTED, "corrected"},
	{TACH_FLAG_EMULATED, "emulated"},
	{TACH_FLAG_SHARED, "shared"},
	{TACH_FLAG_UNBOUNDED, "unbounded"},
	{0, NULL},
};

void tach__json_flags(struct tach__json_out *json, uint32_t flags)
{
	tach__json_array(json, "flags");
	for (const struct tach__flag_name *f = tach__flag_names; f->name; f++)
		if (flags & f->flag)
			tach__json_string(json, NULL, f->name);
	tach__json_end(json);
}

void tach__out_flags(struct tach__out *out, uint32_t flags, const char *between)
{
	const char *before = "";

	for (const struct tach__flag_name *f = tach__flag_names; f->name; f++)
		if (flags & f->flag) {
			tach__out(out, "%s%s", before, f->name);
			before = between;
		}
}

uint32_t tach__flag_named(const char *name)
{
	for (const struct tach__flag_name *f = tach__flag_names; name && f->name; f++)
		if (strcmp(name, f->name) == 0)
			return f->flag;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include "core/base/flags.h"

const struct tach__flag_name tach__flag_names[] = {
	{TACH_RESCHEDULED, "rescheduled"},
	{TACH_INCOMPLETE, "incomplete"},
	{TACH_SYSCALL, "syscall"},
	{TACH_SCALED, "scaled"},
	{TACH_MIXED, "mixed"},
	{TACH_LOST, "lost"},
	{TACH_CLOCK, "clock-estimate"},
	{TACH_DIVZERO, "division-by-zero"},
	{TACH_STALE, "stale"},
	{TACH_SMALL, "small"},
	{TACH_CORRECTED, "corrected"},
	{0, NULL},
};

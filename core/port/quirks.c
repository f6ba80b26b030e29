/* SPDX-License-Identifier: MIT */
#include "core/port/quirks.h"
#include "core/port/modifiers.h"

#define LEVELS (1u << TACH__MOD_K | 1u << TACH__MOD_U)

_Static_assert(TACH_ENCODE_LIBPFM4 == 1, "the flag is the index");

const struct tach__quirks tach__quirks[2] = {
	{
		.compared = UINT32_MAX,
		.repeats = UINT32_MAX,
		.alias_steps = 4, /* the tables have chains of at most two aliases */
		.letters = 1,
		.respells = 1,
		.keys = UINT32_MAX,
		.default_keys = UINT32_MAX,
		.default_flags = UINT32_MAX,
		.default_locks = UINT32_MAX,
		.silent = TACH__UM_XGT,
		.precise = TACH__EV_PEBS,
		.replaced = UINT32_MAX,
		.h_types = UINT32_MAX,
		.core_types = 1,
		.nomods_shown = UINT32_MAX,
		.zeros_shown = ~(1u << TACH__MOD_LDLAT | 1u << TACH__MOD_FE_THRES),
		.os_shown = 1u << TACH__OS_PINNED | 1u << TACH__OS_CPU | 1u << TACH__OS_HW_SMPL,
		.raw_shown = UINT64_MAX,
	},
	[TACH_ENCODE_LIBPFM4] =
		{
			.repeats = 1,
			.alias_steps = 1,
			.cut_numbers = 1,
			.lone_systems = 1,
			/*
			 * Keeps the pseudo codes of fixed counters, which count nothing under
			 * Linux.
			 */
			.keys = ~(1u << TACH__A_PERF),
			/* Default aliases keep their own code, with the event's select. */
			.default_keys = ~(1u << TACH__A_EQ | 1u << TACH__A_SEL),
			/* A latency is accepted only with a named umask. */
			.default_flags = ~TACH__UM_LDLAT,
			.aliases_by_word = 1,
			.pmus_without_h = TACH__PMU_NOH,
			.precise = TACH__EV_PEBS | TACH__EV_PEBSV,
			.sticky = ~LEVELS,
			/* Accepts h only for hardware events, although the level applies to all
			 * events. */
			.h_types = 1u << PERF_TYPE_HARDWARE | 1u << PERF_TYPE_HW_CACHE,
			.named = 1,
			.box_slips = 1,
			.zeros_shown = UINT32_MAX,
			.netburst_shown = LEVELS,
			.sampling_shown = 1u << TACH__OS_PERIOD | 1u << TACH__OS_FREQ,
			.raw_shown = UINT32_MAX,
			.cut_names = 1,
		},
};

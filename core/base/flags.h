/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_BASE_FLAGS_H
#define TACH_CORE_BASE_FLAGS_H

#include <stdint.h>
#include <tach/flags.h>
#include "core/base/json_out.h"

/* Words for provenance flags in machine-readable reports; NULL after the last one. */
extern const struct tach__flag_name {
	uint32_t flag;
	const char *name;
} tach__flag_names[];

/* Returns the flag with that word; 0: NULL, or a later version may have added it. */
uint32_t tach__flag_named(const char *name);
/* Those of a value: Writes "flags": [...], or the words with `between` between them. */
void tach__json_flags(struct tach__json_out *json, uint32_t flags);
void tach__out_flags(struct tach__out *out, uint32_t flags, const char *between);

#endif

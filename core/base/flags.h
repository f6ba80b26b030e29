/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_BASE_FLAGS_H
#define TACH_CORE_BASE_FLAGS_H

#include <stdint.h>
#include <tach/flags.h>

/* The words for provenance flags in machine-readable reports; NULL after the last. */
extern const struct tach__flag_name {
	uint32_t flag;
	const char *name;
} tach__flag_names[];

#endif

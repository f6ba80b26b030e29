/* SPDX-License-Identifier: MIT */
/*
 * Strings of presets that are needed after a preset was found, packed by tools/mkpresets:
 * formulas, lists of events, descriptions. Each block of strings is packed separately, and
 * unpacked when one of its strings is first needed. A block is a sequence of steps. The upper
 * half of a step's first byte is the number of literal bytes that follow. The lower half plus
 * TACH__PACKED_LEAST is the number of earlier bytes to repeat. If a half is 15, the next byte
 * is added to it. If that byte is 255, the byte after it is added too, and so on. The literals
 * and the distance follow. The distance has two bytes, the lower first. The bytes that are
 * added to the lower half come after the distance. The last step ends with its literals.
 */
#ifndef TACH_CORE_DERIVED_PACKED_H
#define TACH_CORE_DERIVED_PACKED_H

#include <stdint.h>

enum {
	TACH__PACKED_BLOCK = 16384, /* bytes of an unpacked block */
	TACH__PACKED_LEAST = 4,	 /* minimum length of a repetition: shorter ones save nothing */
	TACH__PACKED_BLOCKS = 64 /* maximum number of blocks */
};

/* Where each block begins, and where the last one ends. */
extern const uint32_t tach__preset_block[];
extern const unsigned char tach__preset_packed[];
extern const uint32_t tach__preset_packed_size;

/*
 * Returns the string with that number, which is never freed. If there is no memory, the string
 * is "". NUL bytes follow it. May be called by any thread, also in signal handlers.
 */
const char *tach__packed(uint32_t number);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Strings of presets that are used when one was found, packed by tools/mkpresets: formulas,
 * lists of events, descriptions. They come in blocks, each packed by itself and unpacked when a
 * string of it is first asked for.
 *
 * A block is a row of steps: a byte, whose upper half is how many bytes follow as they are, and
 * whose lower half how many, less TACH__PACKED_LEAST, are then repeated from before. 15 stands
 * for that and what the next byte says, 255 of which for that and the next again; the lower
 * half's come behind the bytes and the distance: two bytes, the lower first. The last step ends
 * with its bytes.
 */
#ifndef TACH_CORE_DERIVED_PACKED_H
#define TACH_CORE_DERIVED_PACKED_H

#include <stdint.h>

enum {
	TACH__PACKED_BLOCK = 16384, /* bytes of a block, unpacked */
	TACH__PACKED_LEAST = 4,	    /* shorter repetitions are no gain */
	TACH__PACKED_BLOCKS = 64    /* room for as many */
};

/* Where each block begins, and the end of the last. */
extern const uint32_t tach__preset_block[];
extern const unsigned char tach__preset_packed[];
extern const uint32_t tach__preset_packed_size;

/*
 * The string of that number, for ever; "" where there is no memory, and NUL bytes behind it.
 * Any thread, signal handlers too.
 */
const char *tach__packed(uint32_t number);

#endif

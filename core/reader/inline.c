/* SPDX-License-Identifier: MIT */
/*
 * Exports each inline function of the API as a symbol, for callers that cannot use the header.
 */
#define TACH_API_INLINE inline __attribute__((always_inline))
#include <tach/reader.h>

const char tach__abi_1 = 1;

TACH_STATIC_ASSERT(_Alignof(struct tach_mark) <= _Alignof(uint64_t), "malloc's will do");

size_t tach_mark_size(void)
{
	return sizeof(struct tach_mark);
}

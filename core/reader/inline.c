/* SPDX-License-Identifier: MIT */
/* Every inline function of the API as a symbol, for callers that cannot use the header. */
#define TACH_API_INLINE inline __attribute__((always_inline))
#include <tach/reader.h>

const char tach__abi_1 = 1;

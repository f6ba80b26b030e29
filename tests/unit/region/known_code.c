/* SPDX-License-Identifier: MIT */
/* Edges that read counters by the remembered address of code, as on arm64. See known.h. */
#include <tach/arch.h>

#undef TACH_COUNTER_AT
#undef TACH_COUNTER_SHOWN_MEMORY
#undef TACH_COUNTER_STALE
#define TACH_COUNTER_AT(at, value, seen)                                                       \
	((value) = sim_counter((uintptr_t)(at)),                                               \
	 (seen) |= (tach__word)sim_fault((uintptr_t)(at)))
#define TACH_COUNTER_SHOWN_MEMORY 0
#define TACH_COUNTER_STALE	  0
#define TACH_MODULAR		  0
#include "tests/unit/region/known.h"

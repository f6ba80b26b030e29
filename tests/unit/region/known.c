/* SPDX-License-Identifier: MIT */
/*
 * Edges that read counters by remembered numbers; as on x86, an outdated number is harmless,
 * and a fault is reported in memory. See known.h.
 */
#include <tach/arch.h>

#undef TACH_COUNTER_AT
#undef TACH_COUNTER_SHOWN
#undef TACH_COUNTER_SHOWN_MEMORY
#undef TACH_COUNTER_STALE
#define TACH_COUNTER_SHOWN	  TACH_COUNTER
#define TACH_COUNTER_SHOWN_MEMORY 1
#define TACH_COUNTER_STALE	  1
#define TACH_MODULAR		  1
#include "tests/unit/region/known.h"

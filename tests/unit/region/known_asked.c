/* SPDX-License-Identifier: MIT */
/*
 * How edges read counters by remembered numbers, if the leader's page is checked first; sums
 * have 64 bits, and a fault shows in a register, as on riscv64. See known.h.
 */
#include <tach/arch.h>

#undef TACH_COUNTER_AT
#undef TACH_COUNTER_SHOWN
#undef TACH_COUNTER_SHOWN_MEMORY
#undef TACH_COUNTER_STALE
#define TACH_COUNTER_SHOWN	  TACH_COUNTER
#define TACH_COUNTER_SHOWN_MEMORY 0
#define TACH_COUNTER_STALE	  0
#define TACH_MODULAR		  0
#include "tests/unit/region/known.h"

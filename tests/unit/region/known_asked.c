/* SPDX-License-Identifier: MIT */
/*
 * Edges that read counters by remembered numbers after checking the leader's page; as on
 * riscv64, sums have 64 bits, and a register shows a fault. See known.h.
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

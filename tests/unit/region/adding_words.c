/* SPDX-License-Identifier: MIT */
/* The additions of a STOP as ThreadSanitizer sees them, word by word: see adding.h. */
#include <tach/arch.h>

#ifndef __SANITIZE_THREAD__
#define __SANITIZE_THREAD__ 1
#endif
#define __sync_synchronize() fence("release", __ATOMIC_RELEASE, __ATOMIC_RELEASE)

#define ADD    "set"
#define COUNT  "set"
#define NESTED "set nested[0], nested, set nested[1], "
#define SUMS   "set sum[0], set around[0], set sum[1], set around[1], "
#define LOOPED SUMS
#define SHOWN  "set shown[0], shown, set shown[1], set shown[2], set shown[3], "
#include "tests/unit/region/adding.h"

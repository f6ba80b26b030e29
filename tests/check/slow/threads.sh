#!/bin/sh
# A quarter of a million threads with counters of their own, one after the other, leave nothing behind.
TACH_TEST_FULL=1 exec "${B:-build}/tests/unit/region/region_churn"

/* SPDX-License-Identifier: MIT */
/*
 * The fast paths of START and STOP in arm64's code, which counts by addresses and reads the
 * leader's page first. Its counters are simulated; x86 runs this test outside a guest.
 */
#ifdef __aarch64__
#include "tests/unit/region/region_straight.c"
#else
#include <stdio.h>

int main(void)
{
	puts("not for this architecture");
	return 77;
}
#endif

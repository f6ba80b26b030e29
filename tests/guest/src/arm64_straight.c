/* SPDX-License-Identifier: MIT */
/*
 * The straight ways of START and STOP in arm64's code, which counts by addresses and asks the
 * leader's page beforehand. Its counters are pretended; x86 runs this test outside a guest.
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

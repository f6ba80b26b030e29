/* SPDX-License-Identifier: MIT */
/* Fills the stack, so that unset variables are not 0 by chance. */
#ifndef TESTS_STACK_H
#define TESTS_STACK_H

#include <stddef.h>

/* The variables of the next called function contain this. */
__attribute__((noinline, unused)) static void dirty_stack(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = 0x5a;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The cost of one turn of a loop. Copy tach-mini.h into this folder, then:
 *
 *	cc -O2 -o loop loop.c && ./loop
 */
#include "tach-mini.h"

enum { TURNS = 100000, ROUNDS = 5 };

int main(void)
{
	struct tach_mini m;
	uint64_t delta[TACH_MINI_COUNTERS_MAX], empty[TACH_MINI_COUNTERS_MAX];
	uint32_t x = 1, flags;

	if (tach_mini_open(&m, "cycles,instructions,branches,branch-misses") < 0) {
		fprintf(stderr, "%s\n", m.why);
		return 1;
	}
	printf("%s\n", m.why);
	tach_mini_overhead(&m, empty);
	for (int round = 0; round < ROUNDS; round++) {
		tach_mini_begin(&m);
		for (int i = 0; i < TURNS; i++)
			x = x * 1664525 + (x & 4096 ? 7 : 1013904223);
		flags = tach_mini_end(&m, delta);
		__asm__ volatile("" : : "r"(x)); /* the result is used */
		for (unsigned i = 0; i < m.count; i++)
			printf("%s %.2f  ", m.name[i],
			       (double)(int64_t)(delta[i] - empty[i]) / TURNS);
		printf("%s\n", flags & ~(TACH_MINI_FLAG_SYSCALL | TACH_MINI_FLAG_CLOCK)
				       ? "(disturbed)"
				       : "a turn");
	}
	tach_mini_close(&m);
	return 0;
}

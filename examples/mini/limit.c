/* SPDX-License-Identifier: MIT */
/*
 * A test that fails if a function exceeds its number of instructions. Copy tach-mini.h into
 * this folder, then:
 *
 * 	cc -O2 -o limit limit.c && ./limit 260000
 *
 * Status 0: within the limit. 1: above it. 77 (skipped): this machine counts no instructions.
 */
#include "tach-mini.h"

static uint32_t checksum(const unsigned char *at, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (sum << 5 | sum >> 27) ^ at[i];
	return sum;
}

int main(int argc, char **argv)
{
	static unsigned char data[64 * 1024];
	uint64_t delta[TACH_MINI_COUNTERS_MAX],
		most = argc > 1 ? strtoull(argv[1], NULL, 10) : 600000;
	uint32_t flags, sum = 0;
	struct tach_mini m;

	if (tach_mini_open(&m, "instructions") < 0 || m.how == TACH_MINI_CLOCK) {
		printf("skipped: %s\n", m.why);
		return 77;
	}
	do { /* repeat if the kernel took the counter away */
		tach_mini_begin(&m);
		sum += checksum(data, sizeof data);
		flags = tach_mini_end(&m, delta);
	} while (flags & ~TACH_MINI_FLAG_SYSCALL);
	printf("checksum (%u): %llu instructions, %llu allowed\n", sum,
	       (unsigned long long)delta[0], (unsigned long long)most);
	return delta[0] > most;
}

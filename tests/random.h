/* SPDX-License-Identifier: MIT */
/* Random-looking numbers that are the same in every run: xorshift64. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

#define RANDOM_SEED 88172645463325252u

static __thread uint64_t random_seed = RANDOM_SEED;

static inline uint64_t random_next(void)
{
	random_seed ^= random_seed << 13;
	random_seed ^= random_seed >> 7;
	random_seed ^= random_seed << 17;
	return random_seed;
}

static inline unsigned random_below(unsigned n)
{
	return (unsigned)(random_next() >> 33) % n;
}

/* 0 <= u < 1. */
static inline double random_uniform(void)
{
	return (double)(random_next() >> 11) * 0x1p-53;
}

#endif

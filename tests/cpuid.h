/* SPDX-License-Identifier: MIT */
/*
 * Simulates a processor: CPUID answers from a table in the files included after this one. As in
 * hardware: leaf 0 (and 80000000H) gives the last leaf in EAX; __get_cpuid refuses larger
 * leaves; a leaf that the table lacks is 0. Subleaves other than 0 are 0.
 */
#ifndef TESTS_CPUID_H
#define TESTS_CPUID_H

#include <cpuid.h>
#include <string.h>

enum { CPUID_LEAVES = 8 };

static struct cpuid_leaf {
	unsigned leaf, a, b, c, d;
} cpuid_leaves[CPUID_LEAVES];
static int cpuid_asked; /* how often */

/* Sets the n-th leaf of the table. */
static inline void cpuid_set(int n, unsigned leaf, unsigned a, unsigned b, unsigned c,
			     unsigned d)
{
	cpuid_leaves[n] = (struct cpuid_leaf){leaf, a, b, c, d};
}

/* Sets leaf 0 only: twelve letters of vendor, the last leaf. */
static inline void cpuid_reset(const char *vendor, unsigned last)
{
	unsigned word[3];

	memcpy(word, vendor, sizeof word);
	memset(cpuid_leaves, 0, sizeof cpuid_leaves);
	cpuid_asked = 0;
	cpuid_set(0, 0, last, word[0], word[2], word[1]);
}

static inline void cpuid_answer(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b,
				unsigned *c, unsigned *d)
{
	struct cpuid_leaf found = {leaf, 0, 0, 0, 0};

	cpuid_asked++;
	for (int i = 0; i < CPUID_LEAVES && !subleaf; i++)
		if (cpuid_leaves[i].leaf == leaf && (i == 0 || leaf))
			found = cpuid_leaves[i];
	*a = found.a;
	*b = found.b;
	*c = found.c;
	*d = found.d;
}

static inline int cpuid_get(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b,
			    unsigned *c, unsigned *d)
{
	cpuid_answer(leaf & 0x80000000u, 0, a, b, c, d);
	if (*a < leaf)
		return 0;
	cpuid_answer(leaf, subleaf, a, b, c, d);
	return 1;
}

#undef __cpuid
#undef __cpuid_count
#define __cpuid(leaf, a, b, c, d)	       cpuid_answer(leaf, 0, &(a), &(b), &(c), &(d))
#define __cpuid_count(leaf, n, a, b, c, d)     cpuid_answer(leaf, n, &(a), &(b), &(c), &(d))
#define __get_cpuid(leaf, a, b, c, d)	       cpuid_get(leaf, 0, a, b, c, d)
#define __get_cpuid_count(leaf, n, a, b, c, d) cpuid_get(leaf, n, a, b, c, d)

#endif

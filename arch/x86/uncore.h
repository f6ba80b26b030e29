/* SPDX-License-Identifier: MIT */
/* Uncore events of Intel: modifiers and words (uncore.c), umasks (uncore_umasks.c). */
#ifndef ARCH_X86_UNCORE_H
#define ARCH_X86_UNCORE_H

#include "core/port/port.h"

enum word { R, F0, F1, NWORDS };

struct field {
	uint8_t word, shift, width;
};

/* Modifiers that only some umasks accept. */
#define NODE_FILTERS (1u << TACH__BOX_MOD_NF | 1u << TACH__BOX_MOD_NF1)

struct box {
	uint64_t word[NWORDS];
	uint64_t umask, built_in;
	uint32_t have, nc; /* groups */
	uint32_t need;	   /* the string must have one of these modifiers */
	int above, last;   /* highest group so far; group of the previous umask; -1 */
	unsigned n;	   /* umasks */
	int force, occupancy, plain;
};

static inline void store(struct box *b, const struct field *f, uint64_t value)
{
	uint64_t mask = ((UINT64_C(1) << f->width) - 1) << f->shift;

	b->word[f->word] = (b->word[f->word] & ~mask) | (value << f->shift & mask);
}

/* ---- uncore_umasks.c ---- */
int tach__uncore_umask(struct tach__work *w, struct box *b, int row);
/*
 * Adds the default umasks, and reports missing or excluded ones. Call it after all given
 * umasks.
 */
int tach__uncore_umasks(struct tach__work *w, struct box *b);

#endif

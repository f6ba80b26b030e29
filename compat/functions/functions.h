/* SPDX-License-Identifier: MIT */
/*
 * libtach-functions.so: declarations that its files share. Hooks run anywhere in the program,
 * also in signal handlers that interrupted malloc or the dynamic linker. So this code calls no
 * malloc, has no lock, and does not change errno.
 */
#ifndef COMPAT_FUNCTIONS_H
#define COMPAT_FUNCTIONS_H

#include <tach.h>
#include "compat/functions/face.h"

#define FUNCTIONS __attribute__((visibility("default")))

/* A function of the program. It is not freed, because threads may use it. */
struct function {
	/* The function's address. It is 0 after an object was unloaded: then the next call
	 * checks the name. */
	uintptr_t live;
	uintptr_t at;
	struct tach_site *site; /* NULL: not measured */
};

enum { FUNCTIONS_MOST = 1 << 16 };
extern struct function *functions_table[FUNCTIONS_MOST];

TACH_INLINE unsigned functions_hash(uintptr_t at)
{
	return (unsigned)(((uint64_t)at * 0x9e3779b97f4a7c15u) >> 48);
}

/* Returns the function that begins there, or NULL if it is not known yet. */
TACH_INLINE struct function *functions_known(uintptr_t at)
{
	for (unsigned i = functions_hash(at);; i = (i + 1) % FUNCTIONS_MOST) {
		struct function *f = __atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (!f || __atomic_load_n(&f->live, __ATOMIC_RELAXED) == at)
			return f;
	}
}

/* names.c */
/* Returns the function that begins there, and makes it known. NULL: no room or no memory. */
struct function *functions_find(uintptr_t at);
/* Adds a function to functions_table. */
void functions_add(struct function *f);
/* Reads TACH_FUNCTIONS, which selects the functions to measure. */
void functions_prepare_names(void);
/* Returns memory that is not freed, or NULL. */
void *functions_take(size_t size);

/* symbols.c: writes the name of the function that begins at `offset` of that file, with the
 * namespaces and classes of C++, but without parameters. Returns 0 if no symbol has this
 * offset. */
int functions_symbol(const char *file, uintptr_t offset, char *name, size_t size);

/* hooks.c */
extern struct tach__functions tach__functions;

#endif

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

/*
 * A function of the program, or a function with its caller: the row of the report. Callers are
 * told apart by their own callers too, so these rows are a tree. It is not freed, because
 * threads may use it.
 */
struct function {
	/* The function's address. It is 0 after an object was unloaded: then the next call
	 * checks the name. */
	uintptr_t live;
	uintptr_t at;
	uint64_t caller;	/* `id` of the caller, or FUNCTIONS_NONE or FUNCTIONS_OTHERS */
	uint64_t id;		/* equal for equal names and callers, also in other processes */
	struct tach_site *site; /* NULL: not measured */
	uint32_t number;	/* of the function, with any caller */
};

/* NONE: called by no function that is measured. OTHERS: too many callers to tell them apart. */
enum { FUNCTIONS_NONE, FUNCTIONS_OTHERS, FUNCTIONS_IDS };
/* Maximum of functions, and of functions with a caller. A third of the table's elements stays
 * free, for short searches, if each function has an element for other callers too. */
enum { FUNCTIONS_ALONE = 30000, FUNCTIONS_CALLED = 20000, FUNCTIONS_MOST = 1 << 17 };
extern struct function *functions_table[FUNCTIONS_MOST];
/* The frame below all functions has this one. */
extern struct function functions_none;

TACH_INLINE unsigned functions_hash(uint64_t caller, uintptr_t at)
{
	return (unsigned)(((caller + at) * 0x9e3779b97f4a7c15u) >> 47);
}

/* Returns the function that begins there and has that caller, or NULL if it is not known yet.
 */
TACH_INLINE struct function *functions_known(uint64_t caller, uintptr_t at)
{
	for (unsigned i = functions_hash(caller, at);; i = (i + 1) % FUNCTIONS_MOST) {
		struct function *f = __atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (!f ||
		    (__atomic_load_n(&f->live, __ATOMIC_RELAXED) == at && f->caller == caller))
			return f;
	}
}

/* names.c */
/* Returns the function that begins there and is called by that one, and makes it known. NULL:
 * no room or no memory. */
struct function *functions_find(const struct function *caller, uintptr_t at);
/* Adds a function to functions_table. Returns it, or the one that another thread has added. */
struct function *functions_add(struct function *f);
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

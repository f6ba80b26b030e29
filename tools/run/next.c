/* SPDX-License-Identifier: MIT */
/*
 * The functions that ours replace. dlsym takes the loader's lock. A thread in a constructor of
 * dlopen holds this lock, and may wait for other threads. So all functions are looked up at
 * once before the program's first thread starts: when this object is loaded, or by an earlier
 * constructor that calls one of them.
 */
#include "tools/run/run.h"

static const char *const name[RUN_NEXT_COUNT] = {
#define NAME(function) #function,
	RUN_NEXT(NAME)
#undef NAME
};
static void *next[RUN_NEXT_COUNT];

__attribute__((constructor(101))) static void find_next(void)
{
	for (int i = 0; i < RUN_NEXT_COUNT; i++)
		__atomic_store_n(&next[i], dlsym(RTLD_NEXT, name[i]), __ATOMIC_RELAXED);
}

void *run_next(enum run_next function)
{
	void *found = __atomic_load_n(&next[function], __ATOMIC_RELAXED);

	if (!found) {
		find_next();
		found = next[function];
	}
	return found;
}

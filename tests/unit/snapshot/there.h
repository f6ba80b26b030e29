/* SPDX-License-Identifier: MIT */
/* Memory of another process, provided by the test: only the listed parts exist. */
#ifndef TESTS_UNIT_SNAPSHOT_THERE_H
#define TESTS_UNIT_SNAPSHOT_THERE_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include "core/snapshot/remote.h"

static struct {
	const void *at, *memory;
	size_t size;
} there_ranges[1024];
static int there_n;
static unsigned there_reads; /* so far */
static unsigned there_fails; /* number of the first read that fails; 0: no read fails */
static int there_code;	     /* its answer then */
/* actions before each read, numbered from 1; NULL: no interruption */
static void (*there_before)(unsigned nth);

static inline void there_forget(void)
{
	there_n = 0;
	there_reads = there_fails = 0;
	there_code = -ESRCH;
	there_before = NULL;
}

/* Adds a part at an address that does not exist in this process. */
static inline void there_as(const void *at, const void *memory, size_t size)
{
	there_ranges[there_n].at = at;
	there_ranges[there_n].memory = memory;
	there_ranges[there_n++].size = size;
}

static inline void there(const void *at, size_t size)
{
	there_as(at, at, size);
}

/* An address that no process can access: accessing it directly ends the test. */
#define THERE_ELSEWHERE(n) ((void *)(uintptr_t)(16384 * (1 + (n))))

static inline int there_read(void *context, const void *at, void *to, size_t size)
{
	uintptr_t from = (uintptr_t)at;

	(void)context;
	there_reads++;
	if (there_before)
		there_before(there_reads);
	if (there_fails && there_reads >= there_fails)
		return there_code;
	for (int i = 0; i < there_n; i++) {
		uintptr_t low = (uintptr_t)there_ranges[i].at;

		if (from >= low && from - low <= there_ranges[i].size &&
		    size <= there_ranges[i].size - (from - low)) {
			memcpy(to, (const char *)there_ranges[i].memory + (from - low), size);
			return 0;
		}
	}
	return -EFAULT;
}

static inline struct tach__remote there_remote(void)
{
	struct tach__remote r = {.read = there_read};

	tach__remote_begin(&r, 1e6); /* s: so that no test depends on the clock */
	return r;
}

#endif

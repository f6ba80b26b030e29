/* SPDX-License-Identifier: MIT */
/* This process's area in the shared memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/run/results.h"

static struct run_area *area;
static size_t mapped;		/* of it */
static struct run_entry *entry; /* NULL: none */

/* Also returns the size. */
static int is_it(int fd, unsigned long inode, off_t *size)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0 || status.st_ino != inode)
		return 0;
	*size = status.st_size;
	return 1;
}

/*
 * The descriptor is inherited. If the program closed it, it is opened again through tach run's
 * /proc.
 */
static int descriptor(int *is_ours, off_t *size)
{
	const char *where = getenv(RUN_RESULTS);
	unsigned long inode;
	struct stat status;
	int fd, process;
	char path[64];

	*is_ours = 0;
	if (!where || sscanf(where, "%d %lu %d", &fd, &inode, &process) != 3)
		return -1;
	if (is_it(fd, inode, size))
		return fd;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", process, fd);
	/* A file of another user is never opened. */
	if (stat(path, &status) != 0 || status.st_ino != inode || !S_ISREG(status.st_mode))
		return -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	*is_ours = fd >= 0;
	return is_it(fd, inode, size) ? fd : -1;
}

static struct run_area *area_map(int fd, off_t size)
{
	struct run_head *head =
		mmap(NULL, sizeof *head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct run_area *a = MAP_FAILED;
	off_t at;

	if (head == MAP_FAILED)
		return NULL;
	at = RUN_HEAD + (off_t)__atomic_fetch_add(&head->areas, 1, __ATOMIC_RELAXED) * RUN_AREA;
	munmap(head, sizeof *head);
	if (at + RUN_AREA <= size)
		a = mmap(NULL, RUN_BEGIN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	if (a == MAP_FAILED)
		return NULL;
	a->used = sizeof *a;
	return a;
}

/* Extends the mapping of the area to `end`; this may move it. */
static int area_grow(size_t end)
{
	size_t size = (end + RUN_BEGIN - 1) / RUN_BEGIN * RUN_BEGIN;
	ptrdiff_t number = entry - area->entry;
	struct run_area *a;

	if (size <= mapped)
		return 0;
	a = mremap(area, mapped, size, MREMAP_MAYMOVE);
	if (a == MAP_FAILED)
		return -1;
	area = a;
	entry = &a->entry[number];
	mapped = size;
	return 0;
}

static struct run_entry *entry_take(struct run_area *a)
{
	uint32_t n = a ? __atomic_fetch_add(&a->entries, 1, __ATOMIC_RELAXED) : RUN_ENTRIES;

	return n < RUN_ENTRIES ? &a->entry[n] : NULL;
}

void run_results_begin(void)
{
	int saved = errno, fd, is_ours;
	struct run_area *fresh = NULL;
	off_t size;

	/* After fork: continues in the parent's area, or takes a new one. */
	entry = entry_take(area);
	if (!entry) {
		fd = descriptor(&is_ours, &size);
		if (fd >= 0)
			fresh = area_map(fd, size);
		if (is_ours)
			close(fd);
		entry = entry_take(fresh);
		if (fresh && area)
			munmap(area, mapped);
		if (fresh) {
			area = fresh;
			mapped = RUN_BEGIN;
		}
	}
	if (entry) {
		entry->process = getpid();
		snprintf(entry->program, sizeof entry->program, "%s",
			 program_invocation_short_name);
		__atomic_store_n(&entry->state, RUN_BEGAN, __ATOMIC_RELEASE);
	}
	errno = saved;
}

int run_results_leave(const char *text, size_t length, enum run_state state)
{
	uint32_t at;

	/* A child of clone(2) or _Fork, for which no hook ran. */
	if (entry && entry->process != getpid())
		run_results_begin();
	if (!entry || length > RUN_AREA)
		return -1;
	at = __atomic_fetch_add(&area->used, (uint32_t)length, __ATOMIC_RELAXED);
	if (at > RUN_AREA || at + length > RUN_AREA) {
		__atomic_fetch_sub(&area->used, (uint32_t)length, __ATOMIC_RELAXED);
		return -1;
	}
	if (area_grow(at + length) != 0)
		return -1;
	memcpy((char *)area + at, text, length);
	entry->text = at;
	entry->length = (uint32_t)length;
	__atomic_store_n(&entry->state, state, __ATOMIC_RELEASE);
	return 0;
}

void run_results_unmeasured(enum run_unmeasured why, const char *program)
{
	if (area && __atomic_fetch_add(&area->unmeasured[why].n, 1, __ATOMIC_RELAXED) == 0)
		snprintf(area->unmeasured[why].first, RUN_NAME, "%s", program);
}

void run_results_no_memory(void)
{
	if (entry)
		__atomic_store_n(&entry->state, RUN_NO_MEMORY, __ATOMIC_RELEASE);
}

void run_results_go_on(void)
{
	if (entry)
		__atomic_store_n(&entry->state, RUN_BEGAN, __ATOMIC_RELEASE);
}

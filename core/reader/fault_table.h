/* SPDX-License-Identifier: MIT */
/* The table of counter instructions: collected from the notes of all modules, and sorted. */
#ifndef TACH_CORE_READER_FAULT_TABLE_H
#define TACH_CORE_READER_FAULT_TABLE_H

#include <link.h>
#include <stdint.h>
#include <string.h>
#include "core/os/memory.h"

struct record {
	uintptr_t at, landing;
};

struct table {
	struct table *older; /* the previous table, which is kept, because a handler may be
				reading it */
	uint64_t scan;	     /* number of the scan; a later scan has seen more modules */
	size_t size;	     /* in bytes, whole pages */
	size_t count;
	struct record record[];
};

static int collect(struct table **t, const int32_t *pair)
{
	struct record *r;

	if (sizeof **t + ((*t)->count + 1) * sizeof *r > (*t)->size) {
		size_t size = (*t)->size;
		struct table *grown = tach__pages_larger(*t, size, 2 * size);

		if (!grown)
			return -1;
		tach__pages_free(*t, size);
		grown->size = 2 * size;
		*t = grown;
	}
	r = &(*t)->record[(*t)->count++];
	r->at = (uintptr_t)&pair[0] + (uintptr_t)(intptr_t)pair[0];
	r->landing = (uintptr_t)&pair[1] + (uintptr_t)(intptr_t)pair[1];
	return 0;
}

/* Collects the tables of one segment of notes. */
static int scan_notes(struct table **t, const char *at, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		size_t name = ((size_t)note->n_namesz + 3) & ~(size_t)3;
		size_t whole =
			sizeof *note + name + (((size_t)note->n_descsz + 3) & ~(size_t)3);

		if (whole > size)
			return 0;
		if (note->n_namesz == 5 && note->n_type == 1 && note->n_descsz == 12 &&
		    memcmp(note + 1, "tach", 5) == 0 &&
		    collect(t, (const int32_t *)(at + sizeof *note + name)))
			return -1;
		at += whole;
		size -= whole;
	}
	return 0;
}

static int scan_module(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		/* Notes aligned to 8 have another layout, so they are not ours. */
		if (p->p_type == PT_NOTE && p->p_align <= 4 &&
		    scan_notes(context, (const char *)info->dlpi_addr + p->p_vaddr, p->p_memsz))
			return -1;
	}
	return 0;
}

/* Heapsort: moves the record at `root` down to its place among those below `end`. */
static void sink(struct record *record, size_t root, size_t end)
{
	struct record moved = record[root];

	for (size_t child; (child = 2 * root + 1) < end; root = child) {
		if (child + 1 < end && record[child].at < record[child + 1].at)
			child++;
		if (record[child].at <= moved.at)
			break;
		record[root] = record[child];
	}
	record[root] = moved;
}

static void sort(struct table *t)
{
	for (size_t root = t->count / 2; root-- > 0;)
		sink(t->record, root, t->count);
	for (size_t end = t->count; end > 1;) {
		struct record greatest = t->record[0];

		t->record[0] = t->record[--end];
		t->record[end] = greatest;
		sink(t->record, 0, end);
	}
}

#endif

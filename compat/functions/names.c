/* SPDX-License-Identifier: MIT */
/*
 * Functions by address. A function's name is its object and the offset in the object. Its file
 * is the object's path: `tach` finds names and lines when it writes the report. The name is
 * made at the first call, because the object may be unloaded before the report.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "compat/functions/functions.h"
#include "compat/shared/object.h"
#include "core/region/region.h"

enum { NAME = 600, PIECE = 256 * 1024 };

struct function *functions_table[FUNCTIONS_MOST];
static unsigned nfunctions;

static const char *globs = ""; /* TACH_FUNCTIONS */

/* ---- memory ---- */

struct piece {
	size_t used;
	char at[PIECE - sizeof(size_t)];
};
static struct piece *piece;

void *functions_take(size_t size)
{
	size = (size + 15) / 16 * 16;
	for (;;) {
		struct piece *now = __atomic_load_n(&piece, __ATOMIC_ACQUIRE), *more;
		size_t at = now ? __atomic_fetch_add(&now->used, size, __ATOMIC_RELAXED) : 0;

		if (now && at + size <= sizeof now->at)
			return now->at + at;
		more = size > sizeof now->at ? MAP_FAILED
					     : mmap(NULL, sizeof *more, PROT_READ | PROT_WRITE,
						    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (more == MAP_FAILED)
			return NULL;
		if (!__atomic_compare_exchange_n(&piece, &now, more, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			munmap(more, sizeof *more);
	}
}

static char *copy_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = functions_take(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- names ---- */

struct place {
	char name[NAME + 16];
	const char *file;
	uintptr_t offset;
};

static void find_place(struct place *place, uintptr_t at)
{
	static const char kind[] = "function ";
	struct object object;

	memcpy(place->name, kind, sizeof kind - 1);
	object_place(at, &object, place->name + sizeof kind - 1, NAME);
	place->file = object.path;
	place->offset = object.address;
}

static int is_selected(const struct place *place)
{
	char symbol[NAME];

	if (!*globs)
		return 1;
	return functions_symbol(place->file, place->offset, symbol, sizeof symbol) &&
	       tach__glob_list(globs, symbol);
}

/* Functions of an object that is loaded again get their old sites. */
static struct tach_site *find_site(const struct place *place)
{
	for (unsigned i = 0; i < FUNCTIONS_MOST; i++) {
		const struct function *f =
			__atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (f && f->site && strcmp(f->site->name, place->name) == 0 &&
		    strcmp(f->site->file, place->file) == 0)
			return f->site;
	}
	return NULL;
}

static struct tach_site *make_site(const struct place *place)
{
	struct tach_site *site = functions_take(sizeof *site);
	struct tach_site first = TACH_SITE_INIT(NULL, 0, "");

	if (!site)
		return NULL;
	first.name = copy_text(place->name);
	first.file = copy_text(place->file);
	first.line = 0;
	*site = first;
	return site->name && site->file ? site : NULL;
}

/* ---- the table ---- */

void functions_add(struct function *f)
{
	for (unsigned i = functions_hash(f->at);; i = (i + 1) % FUNCTIONS_MOST) {
		struct function *none = NULL;

		if (__atomic_compare_exchange_n(&functions_table[i], &none, f, 0,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

static struct function *find_unloaded(uintptr_t at)
{
	for (unsigned i = functions_hash(at);; i = (i + 1) % FUNCTIONS_MOST) {
		struct function *f = __atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (!f || f->at == at)
			return f;
	}
}

/* Two threads may make the same function twice. Both have the same name, so they count in the
 * same region. */
struct function *functions_find(uintptr_t at)
{
	struct function *f = find_unloaded(at);
	struct tach_site *site = NULL;
	struct place place;

	/* A quarter stays free, for short searches. */
	if (!f &&
	    __atomic_fetch_add(&nfunctions, 1, __ATOMIC_RELAXED) >= FUNCTIONS_MOST / 4 * 3)
		return NULL;
	find_place(&place, at);
	if (is_selected(&place)) {
		site = f ? find_site(&place) : NULL;
		if (!site)
			site = make_site(&place);
	}
	if (f) {
		__atomic_store_n(&f->site, site, __ATOMIC_RELEASE);
		__atomic_store_n(&f->live, at, __ATOMIC_RELEASE);
		return f;
	}
	f = functions_take(sizeof *f);
	if (!f)
		return NULL;
	*f = (struct function){at, at, site};
	functions_add(f);
	return f;
}

void functions_prepare_names(void)
{
	const char *value = getenv("TACH_FUNCTIONS");

	object_prepare();
	if (value && *value)
		value = copy_text(value);
	if (value)
		globs = value;
}

/* ---- unloading ---- */

static int get_unloaded(struct dl_phdr_info *info, size_t size, void *n)
{
	(void)size;
	*(unsigned long long *)n = info->dlpi_subs;
	return 1;
}

/* Other code may be mapped at the old addresses, so every function checks its name at its next
 * call. */
FUNCTIONS int dlclose(void *object);
int dlclose(void *object)
{
	static int (*next)(void *);
	unsigned long long before = 0, after = 0;
	int result;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dlclose");
	dl_iterate_phdr(get_unloaded, &before);
	result = next(object);
	dl_iterate_phdr(get_unloaded, &after);
	for (unsigned i = 0; before != after && i < FUNCTIONS_MOST; i++) {
		struct function *f = __atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (f && f->site)
			__atomic_store_n(&f->live, 0, __ATOMIC_RELAXED);
	}
	return result;
}

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

enum { NAME = 600, CALLER = sizeof " <0123456789abcdef", PIECE = 256 * 1024 };

struct function *functions_table[FUNCTIONS_MOST];
struct function functions_none;
static unsigned nfunctions, ncalled;

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
	char name[NAME + 16 + CALLER];
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

static int is_site(const struct function *f, const struct place *place)
{
	return f && f->site && strcmp(f->site->name, place->name) == 0 &&
	       strcmp(f->site->file, place->file) == 0;
}

/* Functions of an object that is loaded again get their old sites. */
static struct tach_site *find_site(const struct function *old, const struct place *place)
{
	if (is_site(old, place))
		return old->site;
	for (unsigned i = 0; i < FUNCTIONS_MOST; i++) {
		const struct function *f =
			__atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (is_site(f, place))
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

struct function *functions_add(struct function *f)
{
	for (unsigned i = functions_hash(f->caller, f->at);; i = (i + 1) % FUNCTIONS_MOST) {
		struct function *there = NULL;

		if (__atomic_compare_exchange_n(&functions_table[i], &there, f, 0,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return f;
		/* Another thread was faster. */
		if (there->at == f->at && there->caller == f->caller)
			return there;
	}
}

static struct function *find_unloaded(uint64_t caller, uintptr_t at)
{
	for (unsigned i = functions_hash(caller, at);; i = (i + 1) % FUNCTIONS_MOST) {
		struct function *f = __atomic_load_n(&functions_table[i], __ATOMIC_ACQUIRE);

		if (!f || (f->at == at && f->caller == caller))
			return f;
	}
}

static uint64_t make_id(uint64_t caller, const char *name)
{
	uint64_t h = caller ^ 14695981039346656037u; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return h < FUNCTIONS_IDS ? FUNCTIONS_IDS : h;
}

/* Makes an element with that site and that key, or gives the old one (not NULL) the site. */
static struct function *keep(struct function *old, const struct function *made)
{
	struct function *f = old;

	if (!old) {
		f = functions_take(sizeof *f);
		if (!f)
			return NULL;
		*f = *made;
		return functions_add(f);
	}
	__atomic_store_n(&f->id, made->id, __ATOMIC_RELAXED);
	__atomic_store_n(&f->site, made->site, __ATOMIC_RELEASE);
	__atomic_store_n(&f->live, made->at, __ATOMIC_RELEASE);
	return f;
}

/* Finds or makes the function without a caller. */
static struct function *find_function(uintptr_t at)
{
	struct function *f = find_unloaded(FUNCTIONS_NONE, at);
	struct function made = {.live = at, .at = at, .caller = FUNCTIONS_NONE};
	struct place place;

	if (f && f->live)
		return f;
	find_place(&place, at);
	made.number = f ? f->number : __atomic_add_fetch(&nfunctions, 1, __ATOMIC_RELAXED);
	if (made.number > FUNCTIONS_ALONE)
		return NULL;
	if (is_selected(&place)) {
		made.site = f ? find_site(f, &place) : NULL;
		if (!made.site)
			made.site = make_site(&place);
	}
	made.id = make_id(FUNCTIONS_NONE, place.name);
	return keep(f, &made);
}

/* Two threads may make the same site twice. Both have the same name, so they count in the same
 * region. */
struct function *functions_find(const struct function *caller, uintptr_t at)
{
	struct function *f = find_function(at), *old, made;
	struct place place;

	if (!f || !f->site || caller->id == FUNCTIONS_NONE)
		return f;
	made = *f;
	made.live = at;
	made.caller = caller->id;
	old = find_unloaded(made.caller, at);
	if (!old && made.caller != FUNCTIONS_OTHERS &&
	    __atomic_fetch_add(&ncalled, 1, __ATOMIC_RELAXED) >= FUNCTIONS_CALLED) {
		made.caller = FUNCTIONS_OTHERS;
		old = find_unloaded(made.caller, at);
	}
	made.id = FUNCTIONS_OTHERS;
	if (made.caller != FUNCTIONS_OTHERS)
		made.id = make_id(made.caller, f->site->name);
	snprintf(place.name, sizeof place.name, "%s <%llx", f->site->name,
		 made.id == FUNCTIONS_OTHERS ? 0 : (unsigned long long)made.caller);
	place.file = f->site->file;
	made.site = old ? find_site(old, &place) : NULL;
	if (!made.site)
		made.site = make_site(&place);
	return made.site ? keep(old, &made) : NULL;
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

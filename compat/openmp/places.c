/* SPDX-License-Identifier: MIT */
/*
 * Places by return address. A place's name is its object and the offset in the object. Its file
 * is the object's path: `tach` finds function and line when it writes the report. The name is
 * made when the place is first seen, because the object may be unloaded before the report.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/openmp/openmp.h"
#include "compat/shared/object.h"

enum { PLACES = 4096, NAME = 600 };

/* Places are never freed: threads may use them. */
static struct place *table[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct tach_site make_site(const char *kind, const char *name, const char *file)
{
	struct tach_site site = TACH_SITE_INIT(NULL, 0, "");
	char text[NAME + 16];

	snprintf(text, sizeof text, "%s %s", kind, name);
	site.name = strdup(text);
	site.file = file;
	site.line = 0;
	return site;
}

static struct place *make_place(uintptr_t at)
{
	struct place *place = calloc(1, sizeof *place);
	struct object object;
	char name[NAME];
	char *file;

	if (!place)
		return NULL;
	/* The call itself is before the address to which it returns. */
	if (!object_place(at - 1, &object, name, sizeof name))
		snprintf(name, sizeof name, "0x%llx", (unsigned long long)at);
	file = strdup(object.path);
	place->at = at;
	place->work = make_site("parallel", name, file);
	place->wait = make_site("barrier", name, file);
	place->task = make_site("task", name, file);
	if (file && place->work.name && place->wait.name && place->task.name)
		return place;
	return NULL;
}

static struct place *find_place(uintptr_t at, unsigned *where)
{
	unsigned i = (unsigned)((at >> 2) * 2654435761u) % PLACES;

	for (unsigned n = 0; n < PLACES; n++, i = (i + 1) % PLACES) {
		struct place *place = __atomic_load_n(&table[i], __ATOMIC_ACQUIRE);

		*where = i;
		if (!place || place->at == at)
			return place;
	}
	*where = PLACES;
	return NULL;
}

struct place *openmp_place(const void *address)
{
	uintptr_t at = (uintptr_t)address;
	unsigned where;
	struct place *place = find_place(at, &where);

	if (place)
		return place;
	pthread_mutex_lock(&lock);
	place = find_place(at, &where);
	if (!place && where < PLACES) {
		place = make_place(at);
		__atomic_store_n(&table[where], place, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return place;
}

void openmp_forget_places(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < PLACES; i++)
		__atomic_store_n(&table[i], NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

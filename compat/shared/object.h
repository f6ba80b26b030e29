/* SPDX-License-Identifier: MIT */
/*
 * Finds the loaded object that contains an address of code. object_of may be called anywhere,
 * also in a signal handler: it calls no malloc. It takes the lock of the dynamic linker, which
 * the thread may hold already.
 */
#ifndef COMPAT_SHARED_OBJECT_H
#define COMPAT_SHARED_OBJECT_H

#include <stddef.h>
#include <stdint.h>

struct object {
	const char *path;  /* valid until the object is unloaded */
	uintptr_t address; /* in the object's file, as its symbols have it */
};

/* Finds the program's path, before the program changes its folder. Later calls do nothing. */
void object_prepare(void);
/*
 * Finds the object of an address, and writes the name of the place: "OBJECT+0xADDRESS", with at
 * most 500 characters of the object's name. Returns 0 if no object has the address: then the
 * name is "0x" and the address, and the path is "".
 */
int object_place(uintptr_t at, struct object *object, char *name, size_t size);

#endif

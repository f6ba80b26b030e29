/* SPDX-License-Identifier: MIT */
/* The words of modifiers: the hardware's (enum tach__mod) and the operating system's. */
#ifndef TACH_CORE_MODIFIERS_H
#define TACH_CORE_MODIFIERS_H

#include "core/grammar.h"
#include "core/tables.h"

/* perf_event's own modifiers, in the order in which encoded strings spell them. */
enum tach__osmod {
	TACH__OS_U,
	TACH__OS_K,
	TACH__OS_H,
	TACH__OS_PERIOD,
	TACH__OS_FREQ,
	TACH__OS_PRECISE,
	TACH__OS_EXCL,
	TACH__OS_MG,
	TACH__OS_MH,
	TACH__OS_CPU,
	TACH__OS_PINNED,
	TACH__OS_HW_SMPL,
	TACH__NOSMODS
};

struct tach__modifier {
	char text[12]; /* ":name=", as full names hold it */
	char name[10];
	uint8_t length;	 /* of the name */
	uint8_t integer; /* 0: y, t, 1, n, f, 0 or nothing */
};
extern const struct tach__modifier tach__mods[TACH__NMODS], tach__osmods[TACH__NOSMODS];

/* Number of the modifier of that name among the bits of `set`, or -1. Case ignored. */
int tach__mod_find(uint32_t set, const struct tach__text *name);
int tach__osmod_find(uint32_t set, const struct tach__text *name);
/* The value of an attribute: 0, or TACH_ERR_ATTR_VALUE without a message. */
int tach__mod_value(const struct tach__modifier *mod, const struct tach__term *term,
		    uint64_t *value);

#endif

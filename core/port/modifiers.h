/* SPDX-License-Identifier: MIT */
/* The words of modifiers: the hardware's (enum tach__mod) and the operating system's. */
#ifndef TACH_CORE_PORT_MODIFIERS_H
#define TACH_CORE_PORT_MODIFIERS_H

#include "core/port/grammar.h"
#include "core/tables/tables.h"

/* perf_event's own modifiers, in their order in full names. */
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
#define TACH__OS_LEVELS (1u << TACH__OS_U | 1u << TACH__OS_K | 1u << TACH__OS_H)

/* This struct has 32 bytes, so that its text can be copied with a fixed size. */
struct tach__modifier {
	char text[16]; /* ":name=0", as in full names */
	union {
		struct {
			char name[14];
			uint8_t length;	 /* length of `text` */
			uint8_t integer; /* 0: a boolean, whose value is y, t, 1, n, f, 0 or
					    missing */
		};
		uint64_t word; /* the name as a word: tach__modifier_word */
	};
};
/* The hardware's modifiers, followed by the operating system's. */
__attribute__((visibility(
	"hidden"))) extern const struct tach__modifier tach__mods[TACH__NMODS + TACH__NOSMODS];
#define tach__osmods (tach__mods + TACH__NMODS)
/* Modifiers of boxes, by enum tach__box_mod. */
__attribute__((visibility(
	"hidden"))) extern const struct tach__modifier tach__box_mods[TACH__NBOX_MODS];

/*
 * Returns a name as one word in lower case, padded with zeros, or 0 if it is longer than all
 * modifiers.
 */
static inline uint64_t tach__modifier_word(const struct tach__text *name)
{
	uint64_t word = 0;

	for (size_t i = name->length; i > 0 && name->length <= sizeof word; i--)
		word = word << 8 | (unsigned char)name->text[i - 1];
	return tach__fold8(word);
}

/* The modifiers of tach__mods that begin with a letter, as bits. The index is the letter's last
 * five bits. */
__attribute__((visibility("hidden"))) extern const uint32_t tach__mods_by_letter[32];

static inline int tach__modifier_find(const struct tach__modifier *mods, uint32_t set,
				      uint64_t word)
{
	for (; set; set &= set - 1) {
		int i = __builtin_ctz(set);

		if (mods[i].word == word)
			return i;
	}
	return -1;
}

/* Returns the number of the modifier with that name in `set`, or -1. Ignores case. */
static inline int tach__mod_find(uint32_t set, uint64_t word)
{
	return tach__modifier_find(tach__mods, set, word);
}

/* As tach__mod_find, but also searches the operating system's modifiers in `os`. Their
 * numbers are returned plus TACH__NMODS. */
static inline int tach__mod_find_any(uint32_t set, uint32_t os, uint64_t word)
{
	return tach__modifier_find(
		tach__mods, (set | os << TACH__NMODS) & tach__mods_by_letter[word & 31], word);
}

/* Gets the value of an attribute. Returns 0, or TACH_ERR_ATTR_VALUE without a message. With
 * `cut`, a number of more than 64 bits becomes the largest number, as with strtoull. */
int tach__mod_value(const struct tach__modifier *mod, const struct tach__term *term, int cut,
		    uint64_t *value);

#endif

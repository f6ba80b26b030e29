/* SPDX-License-Identifier: MIT */
/*
 * The fully qualified string: PMU, event, umasks in table order, every modifier with its value.
 *
 *	skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0
 */
#include <string.h>
#include "core/event/perf_events.h"

/* Longer than all modifiers with one digit each. */
enum { ALL_MODIFIERS = 256 };

struct writer {
	char *at, *end; /* end: last position for the terminating 0 */
	size_t cut;	/* characters that did not fit */
};

static void put(struct writer *o, const char *text, size_t length)
{
	size_t room = (size_t)(o->end - o->at);

	if (length > room) {
		o->cut += length - room;
		length = room;
	}
	memcpy(o->at, text, length);
	o->at += length;
}

/* Writes a string of the tables. Reading past its end is safe, so this usually copies a fixed
 * size. */
static inline void put_text(struct writer *o, const char *text)
{
	size_t length = strlen(text);

	if (TACH_UNLIKELY(length > 32 || o->end - o->at < 32)) {
		put(o, text, length);
		return;
	}
	memcpy(o->at, text, 32);
	o->at += length;
}

static inline void put_colon(struct writer *o)
{
	if (TACH_UNLIKELY(o->at == o->end))
		o->cut++;
	else
		*o->at++ = ':';
}

static void put_number(struct writer *o, uint64_t value, unsigned base)
{
	char digits[24], *at = digits + sizeof digits;

	do
		*--at = "0123456789abcdef"[value % base];
	while (value /= base);
	put(o, at, (size_t)(digits + sizeof digits - at));
}

/* Writes a modifier with any value, in any space. Returns the next position. */
static __attribute__((noinline)) char *
put_modifier(struct writer *o, const struct tach__modifier *mod, uint64_t value, char *at)
{
	o->at = at;
	put(o, mod->text, mod->length - 1u);
	put_number(o, value, 10);
	return o->at;
}

/* Writes modifiers with their values. A value usually has one digit, and is copied with a fixed
 * size. */
static inline void put_modifiers(struct writer *o, const struct tach__modifier *mods,
				 const uint64_t *values, uint32_t set)
{
	char *at = o->at;
	uint64_t one_digit = o->end - at < ALL_MODIFIERS ? 0 : 10;

	for (; set; set &= set - 1) {
		size_t i = (size_t)__builtin_ctzll(set);
		const struct tach__modifier *mod = &mods[i];

		if (TACH_UNLIKELY(values[i] >= one_digit)) {
			at = put_modifier(o, mod, values[i], at);
			continue;
		}
		memcpy(at, mod->text, sizeof mod->text);
		at += mod->length;
		at[-1] = (char)(at[-1] + (char)values[i]);
	}
	o->at = at;
}

/* Returns hardware modifiers, and perf's from bit TACH__NMODS on. */
static uint32_t spelled_modifiers(const struct tach__work *w)
{
	uint32_t set = w->got.spelled;

	/* Register words accept the modifiers in any case: shows those in the string. */
	if (w->out.nomods && w->ask.os == TACH_OS_NONE)
		return w->got.given & w->ask.quirks->nomods_shown;
	/* perf's fields have a privilege level; it is shown if the string sets it. */
	if (w->out.nomods)
		return (w->out.osshown &
			(1u << TACH__OS_PINNED |
			 (w->ask.quirks->letters && w->out.counted != (w->ask.privilege &
								       TACH__PRIVILEGE_ALL)
				  ? TACH__OS_LEVELS
				  : 0)))
		       << TACH__NMODS;
	/* 0 means that the umask lacks the modifier, and no string may set it. */
	for (uint32_t hidden = set & ~w->ask.quirks->zeros_shown; hidden;
	     hidden &= hidden - 1) {
		int mod = __builtin_ctz(hidden);

		if (!w->out.shown[mod])
			set &= ~(1u << mod);
	}
	return set | w->out.osshown << TACH__NMODS;
}

static __attribute__((noinline)) void put_box_modifiers(struct writer *o,
							const struct tach__work *w)
{
	put_modifiers(o, tach__box_mods, w->out.box_shown, w->got.spelled);
	put_modifiers(o, tach__osmods, w->out.shown + TACH__NMODS, w->out.osshown);
}

static void put_event(struct writer *o, const struct tach__work *w)
{
	put_text(o, tach__str(w->ask.quirks->box_slips && w->got.pmu->flags & TACH__PMU_BOX &&
					      w->got.pmu->alias
				      ? w->got.pmu->alias
				      : w->got.pmu->name));
	put_colon(o);
	put_colon(o);
	if (w->got.generic == TACH__GENERIC_RAW) {
		if (w->ask.os != TACH_OS_NONE && w->ask.quirks->cut_names)
			return;
		put(o, "r", 1);
		put_number(o, w->out.config, 16);
	} else if (w->got.system.text) {
		put(o, w->got.system.text, w->got.system.length);
	} else {
		put_text(o, tach__str(w->got.event->name));
	}
}

size_t tach__fqstr(const struct tach__work *w, char *out, size_t size)
{
	struct writer o = {out, out + size - 1, 0};

	*out = 0;
	if (w->out.nomods && w->ask.os != TACH_OS_NONE && w->ask.quirks->cut_names)
		return 0;
	if (w->got.terms.text)
		put(&o, w->got.terms.text, w->got.terms.length);
	else
		put_event(&o, w);
	for (unsigned i = 0; i < w->got.nrows; i++) {
		const struct tach__umask *um = tach__umask_at(w->got.event, w->got.rows[i]);

		if (um->group == w->got.groups.silent)
			continue;
		put_colon(&o);
		put_text(&o, tach__str(um->name));
	}
	if (w->got.point.text) {
		put_colon(&o);
		put(&o, w->got.point.text, w->got.point.length);
	}
	if (w->got.has_raw) {
		put(&o, ":0x", 3);
		put_number(&o, w->got.raw & w->ask.quirks->raw_shown, 16);
	}
	if (w->got.pmu->flags & TACH__PMU_BOX)
		put_box_modifiers(&o, w);
	else
		put_modifiers(&o, tach__mods, w->out.shown, spelled_modifiers(w));
	*o.at = 0;
	return (size_t)(o.at - out) + o.cut;
}

/* SPDX-License-Identifier: MIT */
/*
 * The fully qualified string: PMU, event, umasks in table order, every modifier with its value.
 *
 *	skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0
 */
#include <string.h>
#include "core/perf_events.h"

struct writer {
	char *at, *end; /* end: where the terminating 0 still fits */
	size_t length;
};

static void put(struct writer *o, const char *text, size_t length)
{
	size_t room = (size_t)(o->end - o->at);

	o->length += length;
	if (length > room)
		length = room;
	memcpy(o->at, text, length);
	o->at += length;
}

static void put_text(struct writer *o, const char *text)
{
	put(o, text, strlen(text));
}

static void put_number(struct writer *o, uint64_t value, unsigned base)
{
	char digits[24], *at = digits + sizeof digits;

	do
		*--at = "0123456789abcdef"[value % base];
	while (value /= base);
	put(o, at, (size_t)(digits + sizeof digits - at));
}

static void put_modifier(struct writer *o, const struct tach__modifier *mod, uint64_t value)
{
	char text[16];

	/* Nearly always one digit: one copy. */
	text[0] = ':';
	memcpy(text + 1, mod->name, 8);
	text[mod->length + 1] = '=';
	text[mod->length + 2] = (char)('0' + value % 10);
	if (value < 10) {
		put(o, text, mod->length + 3u);
		return;
	}
	put(o, text, mod->length + 2u);
	put_number(o, value, 10);
}

static uint64_t os_value(const struct tach__work *w, int mod)
{
	switch (mod) {
	case TACH__OS_U:
		return w->levels & TACH_PLM_USER ? 1 : 0;
	case TACH__OS_K:
		return w->levels & TACH_PLM_KERNEL ? 1 : 0;
	case TACH__OS_H:
		return w->levels & TACH_PLM_HYPERVISOR ? 1 : 0;
	/* Period and frequency share a field; the string shows it under both names. */
	case TACH__OS_PERIOD:
	case TACH__OS_FREQ:
		return w->period;
	case TACH__OS_PRECISE:
	case TACH__OS_HW_SMPL:
		return w->precise;
	case TACH__OS_EXCL:
		return w->exclusive;
	case TACH__OS_MG:
		return w->guest;
	case TACH__OS_CPU:
		return (uint64_t)w->cpu;
	case TACH__OS_PINNED:
		return w->pinned;
	}
	return w->host;
}

size_t tach__fqstr(const struct tach__work *w, char *out, size_t size)
{
	const uint32_t optional = 1u << TACH__MOD_LDLAT | 1u << TACH__MOD_FE_THRES;
	struct writer o = {out, out + size - 1, 0};
	uint32_t mods = w->nomods ? 0 : w->spelled;

	*out = 0;
	if (w->opt->flags & TACH_ENCODE_LIBPFM4 && w->nomods && w->os != TACH_OS_NONE)
		return 0;
	if (w->terms.text) {
		put(&o, w->terms.text, w->terms.length);
	} else {
		put_text(&o, tach__str(w->pmu->name));
		put(&o, "::", 2);
		/* libpfm-4 forgets what a raw code was. */
		if (w->generic != TACH__GENERIC_RAW) {
			put(&o, w->event_name.text, w->event_name.length);
		} else if (w->os == TACH_OS_NONE || !(w->opt->flags & TACH_ENCODE_LIBPFM4)) {
			put(&o, "r", 1);
			put_number(&o, w->config, 16);
		}
	}
	for (unsigned i = 0; i < w->nrows; i++) {
		const struct tach__umask *um = tach__umask_at(w->event, w->rows[i]);

		if (um->group == w->groups.silent && !(w->opt->flags & TACH_ENCODE_LIBPFM4))
			continue;
		put(&o, ":", 1);
		put_text(&o, tach__str(um->name));
	}
	if (w->point.text) {
		put(&o, ":", 1);
		put(&o, w->point.text, w->point.length);
	}
	if (w->has_raw) {
		put(&o, ":0x", 3);
		put_number(&o, w->opt->flags & TACH_ENCODE_LIBPFM4 ? (uint32_t)w->raw : w->raw,
			   16);
	}
	for (; mods; mods &= mods - 1) {
		int mod = __builtin_ctz(mods);

		/* 0 says that the umask has no such thing, and no string may say so. */
		if (!(optional >> mod & 1) || w->shown[mod] ||
		    w->opt->flags & TACH_ENCODE_LIBPFM4)
			put_modifier(&o, &tach__mods[mod], w->shown[mod]);
	}
	mods = w->nomods ? w->osshown & 1u << TACH__OS_PINNED : w->osshown;
	for (; mods; mods &= mods - 1) {
		int mod = __builtin_ctz(mods);

		put_modifier(&o, &tach__osmods[mod], os_value(w, mod));
	}
	*o.at = 0;
	return o.length;
}

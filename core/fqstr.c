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

/* A string of the tables, behind whose end more may be read. */
static void put_text(struct writer *o, const char *text)
{
	size_t length = strlen(text);

	if (length > 32 || o->end - o->at < 32) {
		put(o, text, length);
		return;
	}
	memcpy(o->at, text, 32);
	o->at += length;
	o->length += length;
}

static void put_number(struct writer *o, uint64_t value, unsigned base)
{
	char digits[24], *at = digits + sizeof digits;

	do
		*--at = "0123456789abcdef"[value % base];
	while (value /= base);
	put(o, at, (size_t)(digits + sizeof digits - at));
}

/*
 * Modifiers with their values, nearly always of one digit. While there is room for all of them
 * each is two copies of fixed size.
 */
static void put_modifiers(struct writer *o, const struct tach__modifier *table, uint32_t set,
			  const uint64_t *values)
{
	char *at = o->at;

	for (; set; set &= set - 1) {
		int i = __builtin_ctz(set);
		const struct tach__modifier *mod = &table[i];

		if (TACH_LIKELY(values[i] < 10 && o->end - at > (ptrdiff_t)sizeof mod->text)) {
			memcpy(at, mod->text, sizeof mod->text);
			at += mod->length + 2;
			*at++ = (char)('0' + values[i]);
			continue;
		}
		o->length += (size_t)(at - o->at);
		o->at = at;
		put(o, mod->text, mod->length + 2u);
		put_number(o, values[i], 10);
		at = o->at;
	}
	o->length += (size_t)(at - o->at);
	o->at = at;
}

static void put_hardware(struct writer *o, const struct tach__work *w)
{
	const uint32_t optional = 1u << TACH__MOD_LDLAT | 1u << TACH__MOD_FE_THRES;
	uint32_t set = w->spelled;

	/* 0 says that the umask has no such thing, and no string may say so. */
	if (set & optional && !(w->opt->flags & TACH_ENCODE_LIBPFM4))
		for (int i = 0; i < TACH__NMODS; i++)
			if (optional >> i & 1 && !w->shown[i])
				set &= ~(1u << i);
	put_modifiers(o, tach__mods, set, w->shown);
}

static void put_os(struct writer *o, const struct tach__work *w, uint32_t set)
{
	const uint64_t values[TACH__NOSMODS] = {
		[TACH__OS_U] = w->levels & TACH_PLM_USER ? 1 : 0,
		[TACH__OS_K] = w->levels & TACH_PLM_KERNEL ? 1 : 0,
		[TACH__OS_H] = w->levels & TACH_PLM_HYPERVISOR ? 1 : 0,
		/* They share a field; libpfm-4 shows it under both names. */
		[TACH__OS_PERIOD] = w->period,
		[TACH__OS_FREQ] = w->period,
		[TACH__OS_PRECISE] = w->precise,
		[TACH__OS_EXCL] = w->exclusive,
		[TACH__OS_MG] = w->guest,
		[TACH__OS_MH] = w->host,
		[TACH__OS_CPU] = (uint64_t)w->cpu,
		[TACH__OS_PINNED] = w->pinned,
		[TACH__OS_HW_SMPL] = w->precise,
	};

	put_modifiers(o, tach__osmods, set, values);
}

size_t tach__fqstr(const struct tach__work *w, char *out, size_t size)
{
	struct writer o = {out, out + size - 1, 0};

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
	if (!w->nomods)
		put_hardware(&o, w);
	else if (w->os == TACH_OS_NONE && !(w->opt->flags & TACH_ENCODE_LIBPFM4))
		/* Register words take them all the same: those that the string had. */
		put_modifiers(&o, tach__mods, w->given, w->shown);
	if (w->os != TACH_OS_NONE)
		put_os(&o, w, w->nomods ? w->osshown & 1u << TACH__OS_PINNED : w->osshown);
	*o.at = 0;
	return o.length;
}

/* SPDX-License-Identifier: MIT */
/* perf's generic events and raw codes. */
#include <tach/pmu.h>
#include "core/event/event.h"
#include "core/event/perf_events.h"

/* A code in perf.tsv: perf's id, and its type from bit 24 on. */
#define TYPE_SHIFT 24
#define ID_MASK	   0xffffffu

/* Returns the PERF_TYPE_* of a row or a tracepoint. */
static uint32_t type_of(const struct tach__work *w)
{
	return w->got.generic == TACH__GENERIC_TABLE ? w->got.event->code >> TYPE_SHIFT
						     : PERF_TYPE_TRACEPOINT;
}

/*
 * Returns true for events that the core PMU counts, so that its privilege levels can filter
 * them.
 */
static int by_hardware(const struct tach__work *w)
{
	return type_of(w) == PERF_TYPE_HARDWARE || type_of(w) == PERF_TYPE_HW_CACHE;
}

int tach__perf_offers_h(const struct tach__work *w)
{
	if (w->got.generic == TACH__GENERIC_RAW || w->got.generic == TACH__GENERIC_TERMS)
		return 1;
	return w->ask.quirks->h_types >> type_of(w) & 1 &&
	       tach__perf_host_privilege(w->ask.opt) & TACH_PRIVILEGE_HYPERVISOR;
}

int tach__perf_offers_precise(const struct tach__work *w)
{
	return w->got.generic == TACH__GENERIC_RAW || w->got.generic == TACH__GENERIC_TERMS ||
	       by_hardware(w);
}

int tach__perf_words(struct tach__work *w)
{
	int rc;

	w->out.ncodes = 1;
	if (w->got.generic == TACH__GENERIC_RAW || w->got.generic == TACH__GENERIC_TERMS) {
		w->out.codes[0] = w->out.config;
		return 0;
	}
	if (w->got.generic == TACH__GENERIC_TRACEPOINT) {
		if (!w->got.point.text && !w->ask.quirks->lone_systems)
			return tach__refuse(w, TACH_ERR_UMASK, "which tracepoint of %.*s?",
					    (int)w->got.system.length, w->got.system.text);
		w->out.codes[0] = w->out.config;
		return 0;
	}
	for (unsigned i = 0; i < w->got.npicks; i++) {
		if (w->got.picks[i].kind != TACH__PICK_UMASK)
			continue;
		rc = tach__umask_take(w, &w->got.picks[i]);
		/* libpfm-4 uses another text here than for the hardware's umasks. */
		if (rc)
			return tach__refuse(w, TACH_ERR_UMASK,
					    "name one operation and one result");
	}
	rc = tach__umask_finish(w, TACH_ERR_UMASK);
	w->out.codes[0] = w->got.event->code & ID_MASK;
	for (unsigned i = 0; i < w->got.nrows; i++)
		w->out.codes[0] |= tach__umask_at(w->got.event, w->got.rows[i])->code;
	return rc;
}

int tach__perf_config(struct tach__work *w)
{
	int pmu = w->ask.opt->pmu, type;

	w->out.config = w->out.codes[0];
	switch ((enum tach__generic)w->got.generic) {
	case TACH__GENERIC_RAW:
		w->out.type = PERF_TYPE_RAW;
		w->out.config1 = w->out.config2 = 0;
		w->out.has |= TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2;
		return 0;
	case TACH__GENERIC_TRACEPOINT:
		w->out.type = PERF_TYPE_TRACEPOINT;
		return 0;
	case TACH__GENERIC_TERMS:
		return 0;
	case TACH__GENERIC_TABLE:
		break;
	}
	w->out.type = type_of(w);
	if (!by_hardware(w) || !tach__perf_hybrid(w->ask.opt))
		return 0;
	/* With several core types, bits 32 and up select the cores (Linux 5.13). */
	if (pmu < 0)
		tach__perf_hosts(w->ask.opt, &pmu, 1);
	type = tach__perf_type(w->ask.opt, pmu);
	if (type > 0)
		w->out.config |= (uint64_t)type << 32;
	return 0;
}

int tach__perf_raw(struct tach__work *w, const struct tach__text *name)
{
	uint64_t value = 0;
	size_t i = 1;

	/* Parses r, optionally 0x, and hexadecimal digits. All ones mean overflow in
	 * libpfm-4. */
	if (name->length < 2 || name->text[0] != 'r')
		return 0;
	if (name->length > 3 && name->text[1] == '0' && tach__fold(name->text[2]) == 'x')
		i = 3;
	for (; i < name->length; i++) {
		unsigned char c = tach__fold(name->text[i]);

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || value >> 60)
			return 0;
		value = value << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (value == UINT64_MAX)
		return 0;
	w->out.config = value;
	return 1;
}

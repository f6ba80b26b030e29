/* SPDX-License-Identifier: MIT */
/*
 * Boxes of the uncore: memory controllers, caches, links, power control. Intel's boxes have one
 * control register per counter and, in some boxes, two filter registers (Intel's uncore
 * performance monitoring manuals, one per generation). The "format" files of Linux's
 * arch/x86/events/intel/uncore_snbep.c have these bits:
 *
 *  0-7 event select   8-15 umask   18 edge   19 tid filter   21 event select 8
 * 23 invert   24-31 threshold   32-55 umask, channel and flow masks.
 *
 * In power control units: 14-15 core state, 30 invert and 31 edge of its occupancy. A box has
 * no privilege levels and no enable bit, because it counts for all its processors.
 */
#include "arch/x86/uncore.h"

/* The field `put` that a modifier writes. If `slipped` has a width, libpfm-4 writes that
 * instead. It shows `seen`. */
static const struct {
	uint16_t max, slip; /* max: largest value; slip: libpfm-4 accepts up to this value, and
			       cuts it to the field */
	uint8_t min;
	struct field put, slipped, seen, also;
	struct field occ; /* replaces `put` for occupancies of power control units */
	uint8_t force;	  /* the second word exists even if it is 0 */
} mods[TACH__NBOX_MODS] = {
	[TACH__BOX_MOD_E] = {.max = 1, .put = {R, 18, 1}, .occ = {R, 31, 1}},
	[TACH__BOX_MOD_I] = {.max = 1, .put = {R, 23, 1}, .occ = {R, 30, 1}},
	[TACH__BOX_MOD_T8] = {.max = 255, .put = {R, 24, 8}},
	[TACH__BOX_MOD_T5] = {.max = 31, .put = {R, 24, 5}},
	[TACH__BOX_MOD_T6] = {.max = 63, .put = {R, 24, 6}, .slipped = {R, 24, 8}},
	[TACH__BOX_MOD_T12] = {.max = 4095, .put = {R, 24, 12}},
	[TACH__BOX_MOD_C5] = {.max = 31, .put = {R, 24, 5}},
	[TACH__BOX_MOD_C6] = {.max = 63, .put = {R, 24, 6}},
	[TACH__BOX_MOD_C8] = {.max = 255, .put = {R, 24, 8}},
	[TACH__BOX_MOD_O] = {.max = 1, .put = {R, 17, 1}},
	[TACH__BOX_MOD_TF] = {.max = 1,
			      .put = {F0, 0, 1},
			      .seen = {R, 19, 1},
			      .also = {R, 19, 1},
			      .force = 1},
	[TACH__BOX_MOD_CF] =
		{.max = 7, .slip = 15, .put = {F0, 1, 3}, .also = {R, 19, 1}, .force = 1},
	[TACH__BOX_MOD_CF1] =
		{.max = 31, .slip = 63, .put = {F0, 1, 5}, .also = {R, 19, 1}, .force = 1},
	[TACH__BOX_MOD_NF] = {.max = 255, .min = 1, .put = {F0, 10, 8}},
	[TACH__BOX_MOD_NF1] = {.max = 255, .min = 1, .put = {F1, 0, 16}},
	[TACH__BOX_MOD_FF] = {.max = 255, .put = {F0, 0, 8}},
	[TACH__BOX_MOD_ISOC] = {.max = 1, .put = {F1, 31, 1}},
	[TACH__BOX_MOD_NC] = {.max = 1, .put = {F1, 30, 1}},
	[TACH__BOX_MOD_LOC] = {.max = 1, .put = {F1, 1, 1}},
	[TACH__BOX_MOD_REM] = {.max = 1, .put = {F1, 0, 1}},
	/* LMEM and RMEM are Linux's filter_nm and filter_not_nm. libpfm-4 writes filter_loc for
	 * LMEM. */
	[TACH__BOX_MOD_LMEM] = {.max = 1,
				.put = {F1, 4, 1},
				.slipped = {F1, 1, 1},
				.seen = {F1, 1, 1}},
	[TACH__BOX_MOD_RMEM] = {.max = 1, .put = {F1, 5, 1}, .seen = {F1, 0, 1}},
	[TACH__BOX_MOD_DNID] = {.max = 15, .put = {F0, 8, 4}, .also = {F0, 13, 1}},
	[TACH__BOX_MOD_RCSNID] = {.max = 15, .put = {F0, 14, 4}, .also = {F0, 18, 1}},
	[TACH__BOX_MOD_OCC_I] = {.max = 1, .put = {R, 30, 1}},
	[TACH__BOX_MOD_OCC_E] = {.max = 1, .put = {R, 31, 1}},
	[TACH__BOX_MOD_K] = {.max = 1},
	[TACH__BOX_MOD_U] = {.max = 1},
	[TACH__BOX_MOD_HV] = {.max = 1},
};

#define QUEUE_FILTERS                                                                          \
	(1u << TACH__BOX_MOD_ISOC | 1u << TACH__BOX_MOD_NC | 1u << TACH__BOX_MOD_LOC |         \
	 1u << TACH__BOX_MOD_REM | 1u << TACH__BOX_MOD_LMEM | 1u << TACH__BOX_MOD_RMEM)
#define IDLE (1u << TACH__BOX_MOD_K | 1u << TACH__BOX_MOD_U | 1u << TACH__BOX_MOD_HV)
/* Interrupt and enable bits of Nehalem's boxes and of client boxes; perf sets them itself. */
#define CLIENT_BITS (UINT64_C(1) << 20 | UINT64_C(1) << 22)
/* The first of four events for frequency bands. Each has one byte of the filter. */
enum { BAND0 = 0x0b };

static unsigned band(const struct box *b)
{
	return 8 * (((unsigned)b->word[R] & 0xff) - BAND0) & 63;
}

/* ---- modifiers and filters of the string ---- */

static int take_modifier(struct tach__work *w, struct box *b, const struct tach__pick *pick)
{
	int mod = pick->number;
	const struct field *put = &mods[mod].put;
	unsigned max = mods[mod].max;

	if (w->ask.quirks->box_slips && mods[mod].slip)
		max = mods[mod].slip;
	if (pick->value < mods[mod].min || pick->value > max)
		return tach__refuse(
			w,
			w->got.pmu->encoding == TACH__NHM_UNC && w->ask.quirks->box_slips
				? TACH_ERR_INVAL
				: TACH_ERR_ATTR_VALUE,
			"%s must be %d .. %u", tach__box_mods[mod].name, mods[mod].min, max);
	if (mod == TACH__BOX_MOD_FF) {
		b->word[F0] = pick->value << band(b);
		return 0;
	}
	if (w->ask.quirks->box_slips && mods[mod].slipped.width)
		put = &mods[mod].slipped;
	if (b->occupancy && mods[mod].occ.width)
		put = &mods[mod].occ;
	store(b, put, pick->value);
	if (mods[mod].also.width)
		store(b, &mods[mod].also, 1);
	b->force |= mods[mod].force;
	return 0;
}

static int take_box_pick(struct tach__work *w, struct box *b, const struct tach__pick *pick)
{
	w->column = pick->column;
	switch (pick->kind) {
	case TACH__PICK_UMASK:
		return tach__uncore_umask(w, b, pick->number);
	case TACH__PICK_RAW:
		if (pick->value > 0xff)
			return tach__refuse(w, TACH_ERR_ATTR, "a umask has at most 8 bits");
		w->got.has_raw = 1;
		w->got.raw = b->umask = pick->value;
		b->have = UINT32_MAX;
		b->n++;
		return 0;
	case TACH__PICK_MOD:
		return take_modifier(w, b, pick);
	}
	return 0;
}

/* ---- words ---- */

/* From SKX on, occupancies and inserts of the two queues need a filter. Without a given filter,
 * count everything. */
static void queue_filter(struct tach__work *w, struct box *b)
{
	uint64_t select = b->word[R] & 0xff;

	if ((select != 0x35 && select != 0x36) || b->word[F1])
		return;
	b->word[F1] = 0x3b;
	if (!w->ask.quirks->box_slips) /* If the full name had these filters, it would count
				      only them. */
		w->got.spelled &= ~QUEUE_FILTERS;
}

static void show(struct tach__work *w, const struct box *b)
{
	/* A full name contains node filters that have an effect, but no idle modifiers. */
	w->got.spelled &= ~((NODE_FILTERS & ~b->need) | IDLE);
	/* Omits filters that the string does not have. Shown as 0, they would count as
	 * given. */
	for (uint32_t set = w->got.spelled & ~w->got.given; set && !w->ask.quirks->box_slips;
	     set &= set - 1)
		if (mods[__builtin_ctz(set)].also.width)
			w->got.spelled &= ~(set & -set);
	for (uint32_t set = w->got.spelled; set; set &= set - 1) {
		int mod = __builtin_ctz(set);
		const struct field *f = &mods[mod].put;

		if (b->occupancy && mods[mod].occ.width)
			f = &mods[mod].occ;
		if (mods[mod].seen.width && w->ask.quirks->box_slips)
			f = &mods[mod].seen;
		w->out.box_shown[mod] =
			b->word[f->word] >> (mod == TACH__BOX_MOD_FF ? band(b) : f->shift) &
			((UINT64_C(1) << f->width) - 1);
	}
}

static void make_words(struct tach__work *w, struct box *b)
{
	b->word[R] |= (b->built_in | b->umask) << 8;
	if (b->plain)
		b->word[R] |= CLIENT_BITS;
	w->out.codes[0] = b->word[R];
	w->out.ncodes = 1;
	if (b->word[F0] || b->word[F1] || b->force)
		w->out.codes[w->out.ncodes++] = b->word[F0];
	if (b->word[F1])
		w->out.codes[w->out.ncodes++] = b->word[F1];
}

static uint64_t code_of(const struct tach__event *event)
{
	uint64_t code = event->code;

	if (event->attrs)
		tach__attr(event->attrs, TACH__A_BASE, &code, NULL);
	return code;
}

static int encode_intel(struct tach__work *w)
{
	struct box b = {.word = {code_of(w->got.event)}, .above = -1, .last = -1};
	uint64_t required;
	int rc = 0;

	b.plain = w->got.pmu->encoding != TACH__SNBEP;
	b.umask = b.built_in = b.word[R] >> 8;
	b.force = (w->got.event->flags & TACH__EV_FILT0) != 0;
	b.occupancy = w->got.pmu->flags & TACH__PMU_OCC && w->got.event->code & 0x80;
	if (w->got.event->attrs &&
	    tach__attr(w->got.event->attrs, TACH__A_REQ, &required, NULL))
		b.need = (uint32_t)required;
	for (unsigned i = 0; i < w->got.npicks && !rc; i++)
		rc = take_box_pick(w, &b, &w->got.picks[i]);
	if (!rc)
		rc = tach__uncore_umasks(w, &b);
	if (rc)
		return rc;
	if (w->got.pmu->flags & TACH__PMU_CHA)
		queue_filter(w, &b);
	make_words(w, &b);
	show(w, &b);
	return 0;
}

int tach__box_encode(struct tach__work *w)
{
	switch ((enum tach__encoding)w->got.pmu->encoding) {
	case TACH__AMD_UNC:
		return tach__amd_encode(w);
	case TACH__RAW:
		w->got.spelled = 0;
		w->out.codes[0] = code_of(w->got.event);
		w->out.ncodes = 1;
		return 0;
	default:
		return encode_intel(w);
	}
}

/* Returns 1 for events of caches for which the kernel accepts both filters as one word. */
static int joint_filters(const struct tach__work *w)
{
	uint64_t select = w->out.codes[0] & 0xff;

	return select >= 0x34 && select <= 0x36 &&
	       (w->got.pmu->flags & TACH__PMU_CHA ||
		(w->got.pmu->flags & TACH__PMU_CBO && w->out.codes[0] & 0x100));
}

void tach__box_perf(struct tach__work *w)
{
	if (w->got.pmu->encoding == TACH__AMD_UNC) {
		tach__amd_perf(w);
		return;
	}
	w->out.config = w->out.codes[0];
	if (w->got.pmu->encoding == TACH__NHM_UNC || w->got.pmu->encoding == TACH__CLIENT)
		w->out.config &= ~CLIENT_BITS;
	if (w->out.ncodes == 1)
		return;
	/* In Linux, these bits are upper bits of the umask. */
	if (w->got.pmu->flags & TACH__PMU_HEADER && !w->ask.quirks->box_slips) {
		w->out.config |= w->out.codes[1] << 32;
		return;
	}
	w->out.config1 = w->out.codes[1];
	w->out.has |= TACH_EVENT_HAS_CONFIG1;
	if (w->out.ncodes == 2)
		return;
	if (joint_filters(w)) {
		w->out.config1 |= w->out.codes[2] << 32;
	} else {
		w->out.config2 = w->out.codes[2];
		w->out.has |= TACH_EVENT_HAS_CONFIG2;
	}
}

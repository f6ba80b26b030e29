/* SPDX-License-Identifier: MIT */
/*
 * Intel core PMUs: IA32_PERFEVTSELx. Intel SDM vol. 3B, "Architectural Performance
 * Monitoring".
 *
 *	 0-7 event select   8-15 umask   16 USR	  17 OS	  18 edge   20 INT   21 any thread
 *	22 enable   23 invert	24-31 counter mask   32 in TX	33 in TX checkpointed
 *	36 equal	  40-47 second umask byte
 *
 * A second word goes to the MSR that the event needs beside: offcore response, front end
 * threshold, or load latency.
 */
#include "core/port/port.h"

#define INT_BIT	   (UINT64_C(1) << 20)
#define ENABLE_BIT (UINT64_C(1) << 22)

enum { LDLAT_DEFAULT = 3, FETHR_DEFAULT = 1, FETHR_SHIFT = 8, FETHR_MASK = 0xfff };

/* Modifiers with larger numbers are not bits of the event select register. */
#define NWIRED (TACH__MOD_INTXCP + 1)

/* The bits collected from event and umasks so far. */
struct select {
	uint64_t base;	/* bits 0-15 */
	uint64_t umask; /* umask codes, combined by OR */
	uint64_t msr;	/* second word */
	uint32_t wires; /* modifiers that are part of the event, with these values */
	uint32_t wired[NWIRED];
	uint32_t locked; /* modifiers that the user may only repeat */
	int has_msr;
	int to_msr;	      /* umasks are bits of the second word */
	int ldlat;	      /* 1: the event accepts a latency */
	uint32_t keys, flags; /* attributes and flags of the chosen umasks */
	int has_preset;	      /* 1: the umask implies this latency, even 0 */
	uint32_t ldlat_preset;
	int fethr; /* 1: the umask accepts a threshold */
};

/* Adds the modifiers that are part of a umask. */
static void wire_modifiers(struct select *s, uint32_t hw, uint32_t attrs, uint32_t keys)
{
	uint32_t locked = 0, value;
	const char *list;

	for (int mod = 0; hw && mod < NWIRED; mod++)
		if (tach__hw(hw, (enum tach__mod)mod, &value)) {
			locked |= 1u << mod;
			s->wired[mod] |= value;
		}
	s->wires |= locked;
	if (keys >> TACH__A_LOCK & 1 && tach__attr(attrs, TACH__A_LOCK, NULL, &list)) {
		locked = 0;
		while (*list) {
			struct tach__text word = {list, __builtin_strcspn(list, ",")};
			int mod = tach__mod_find((1u << TACH__NMODS) - 1,
						 tach__modifier_word(&word));

			if (mod >= 0 && mod < NWIRED)
				locked |= 1u << mod;
			list += word.length + (list[word.length] == ',');
		}
	}
	s->locked |= locked;
}

/* Checks locked fields: a string may repeat their values, but not change them. */
static inline int check_locks(struct tach__work *w, const struct select *s, uint32_t given)
{
	for (uint32_t set = s->locked & given; set; set &= set - 1) {
		int mod = __builtin_ctz(set);

		if (w->out.shown[mod] == s->wired[mod])
			continue;
		w->column = 0;
		return tach__refuse(w, TACH_ERR_ATTR_SET, "%s=%u is wired into this umask",
				    tach__mods[mod].name, s->wired[mod]);
	}
	return 0;
}

static void apply_wires(struct tach__work *w, const struct select *s)
{
	uint32_t set = s->wires & ~(w->got.given & w->ask.quirks->replaced);

	for (; set; set &= set - 1) {
		int mod = __builtin_ctz(set);

		w->out.shown[mod] |= s->wired[mod];
	}
}

/* Adds the rare attributes of a umask. */
static void take_special(struct select *s, const struct tach__umask *um, uint32_t keys)
{
	uint64_t number = 0;
	const char *text;

	if (keys >> TACH__A_BASE & 1) {
		tach__attr(um->attrs, TACH__A_BASE, &number, NULL);
		s->base = number;
	}
	if (keys >> TACH__A_PLAIN & 1)
		s->to_msr = 0;
	if (keys >> TACH__A_MSR & 1 && tach__attr(um->attrs, TACH__A_MSR, NULL, &text)) {
		struct tach__text value = {__builtin_strchr(text, ':'), 0};
		unsigned long long word;

		if (value.text) {
			value.length = __builtin_strlen(++value.text);
			if (tach__text_number(&value, &word) > 0) {
				s->msr |= word;
				s->has_msr = 1;
			}
		}
	}
	if (keys >> TACH__A_LDLAT & 1 && tach__attr(um->attrs, TACH__A_LDLAT, &number, NULL)) {
		s->ldlat_preset = (uint32_t)number;
		s->has_preset = 1;
	}
	/* Umasks with this attribute exclude each other. */
	if (keys >> TACH__A_SEL & 1 && tach__attr(um->attrs, TACH__A_SEL, &number, NULL))
		s->base = (s->base & ~UINT64_C(0xff)) | (number & 0xff);
}

static void take_umask(const struct tach__work *w, struct select *s, int row)
{
	const struct tach__umask *um = tach__umask_at(w->got.event, row);
	uint32_t keys = um->attrs ? tach__attr_keys(um->attrs) & s->keys : 0;

	s->umask |= um->code;
	if (um->flags & s->flags & TACH__UM_LDLAT)
		s->ldlat = 1;
	if (um->flags & TACH__UM_FETHR)
		s->fethr = 1;
	if (um->hw || keys >> TACH__A_LOCK & 1)
		wire_modifiers(s, um->hw, um->attrs, keys);
	if (keys & (1u << TACH__A_BASE | 1u << TACH__A_PLAIN | 1u << TACH__A_MSR |
		    1u << TACH__A_LDLAT | 1u << TACH__A_SEL))
		take_special(s, um, keys);
}

static int range(struct tach__work *w, const struct tach__pick *pick, uint64_t low,
		 uint64_t high)
{
	const char *name = tach__mods[pick->number].name;

	if (pick->value >= low && pick->value <= high)
		return 0;
	return tach__refuse(w, TACH_ERR_ATTR_VALUE, "%s must be %u .. %u", name, (unsigned)low,
			    (unsigned)high);
}

static int take_modifier(struct tach__work *w, const struct tach__pick *pick)
{
	int rc = 0;

	w->column = pick->column;
	switch (pick->number) {
	case TACH__MOD_C:
		rc = range(w, pick, 0, 255);
		break;
	case TACH__MOD_LDLAT:
		rc = range(w, pick, 1, 65535);
		break;
	case TACH__MOD_FE_THRES:
		rc = range(w, pick, 1, FETHR_MASK);
		break;
	}
	if (rc)
		return rc;
	w->out.shown[pick->number] = (uint32_t)pick->value;
	return 0;
}

/* Returns how many bits a umask may have if it is given as a number. */
static int raw_bits(const struct tach__work *w, const struct select *s)
{
	const char *pmu = tach__str(w->got.pmu->name);

	if (!(w->got.event->flags & TACH__EV_OFFCORE) || !s->to_msr)
		return 8;
	/*
	 * Westmere's MSR_OFFCORE_RSP has 16 bits. The table has no field for this, so the PMU's
	 * name decides.
	 */
	return __builtin_strncmp(pmu, "wsm", 3) == 0 ? 16 : 38;
}

static int take_picks(struct tach__work *w, struct select *s)
{
	for (unsigned i = 0; i < w->got.npicks; i++) {
		const struct tach__pick *pick = &w->got.picks[i];
		int rc;

		if (pick->kind == TACH__PICK_OSMOD)
			continue;
		if (pick->kind == TACH__PICK_RAW && pick->value >> raw_bits(w, s)) {
			w->column = pick->column;
			return tach__refuse(w, TACH_ERR_ATTR,
					    "a umask has at most %d bits here", raw_bits(w, s));
		}
		rc = pick->kind == TACH__PICK_MOD ? take_modifier(w, pick)
						  : tach__umask_take(w, pick);
		if (rc)
			return rc;
		if (pick->kind == TACH__PICK_UMASK)
			take_umask(w, s, pick->number);
	}
	return 0;
}

static int take_latency(struct tach__work *w, struct select *s)
{
	uint32_t asked = (uint32_t)w->out.shown[TACH__MOD_LDLAT]; /* 0: not given */

	w->column = 0;
	if (asked && !s->ldlat)
		return tach__refuse(w, TACH_ERR_ATTR,
				    "ldlat= needs a load latency umask beside it");
	if (!s->ldlat)
		return 0;
	if (asked && s->has_preset && asked != s->ldlat_preset)
		return tach__refuse(w, TACH_ERR_ATTR_SET, "this umask means ldlat=%u",
				    s->ldlat_preset);
	if (!asked)
		asked = s->has_preset ? s->ldlat_preset : LDLAT_DEFAULT;
	w->out.shown[TACH__MOD_LDLAT] = asked;
	s->msr = asked;
	s->has_msr = 1;
	return 0;
}

static int take_threshold(struct tach__work *w, struct select *s)
{
	uint32_t wired = s->umask >> FETHR_SHIFT & FETHR_MASK;
	uint32_t asked = (uint32_t)w->out.shown[TACH__MOD_FE_THRES]; /* 0: not given */

	if (!s->fethr)
		return 0;
	w->column = 0;
	if (wired && asked && wired != asked)
		return tach__refuse(w, TACH_ERR_ATTR_SET, "this umask means fe_thres=%u",
				    wired);
	if (!wired) {
		wired = asked ? asked : FETHR_DEFAULT;
		s->umask |= (uint64_t)wired << FETHR_SHIFT;
	}
	w->out.shown[TACH__MOD_FE_THRES] = wired;
	return 0;
}

static uint64_t register_word(const struct tach__work *w, const struct select *s)
{
	const uint64_t *v = w->out.shown;
	uint64_t umask = s->to_msr ? 0 : s->umask;

	return s->base | (umask & 0xff) << 8 | (umask >> 8 & 0xff) << 40 |
	       (v[TACH__MOD_U] & 1) << 16 | (v[TACH__MOD_K] & 1) << 17 |
	       (v[TACH__MOD_E] & 1) << 18 | INT_BIT | (v[TACH__MOD_T] & 1) << 21 | ENABLE_BIT |
	       (v[TACH__MOD_I] & 1) << 23 | v[TACH__MOD_C] << 24 |
	       (v[TACH__MOD_INTX] & 1) << 32 | (v[TACH__MOD_INTXCP] & 1) << 33 |
	       (v[TACH__MOD_EQ] & 1) << 36;
}

static void point_at(struct tach__work *w, int modifier)
{
	for (unsigned i = 0; i < w->got.npicks; i++)
		if (w->got.picks[i].kind == TACH__PICK_MOD &&
		    w->got.picks[i].number == modifier)
			w->column = w->got.picks[i].column;
}

/* Checks rules that depend on all attributes together. */
static int check_given(struct tach__work *w, struct select *s)
{
	int rc = take_latency(w, s);

	if (!rc)
		rc = take_threshold(w, s);
	if (rc)
		return rc;
	if (w->got.pmu->flags & TACH__PMU_ECMASK && w->out.shown[TACH__MOD_E] &&
	    !w->out.shown[TACH__MOD_C]) {
		point_at(w, TACH__MOD_E);
		return tach__refuse(w, TACH_ERR_ATTR,
				    "e needs c=1 or more: edges of nothing otherwise");
	}
	return 0;
}

/* Takes the umasks that are set by default: libpfm-4 omits some of their attributes. */
static int take_defaults(struct tach__work *w, struct select *s)
{
	unsigned at = w->got.nrows;
	int rc = tach__umask_finish(w, TACH_ERR_UMASK);

	s->keys = w->ask.quirks->default_keys;
	s->flags = w->ask.quirks->default_flags;
	for (; !rc && at < w->got.nrows; at++)
		take_umask(w, s, w->got.rows[at]);
	return rc;
}

int tach__intel_encode(struct tach__work *w)
{
	struct select s = {
		.base = w->got.event->code & 0xffff,
		.keys = UINT32_MAX,
		.flags = UINT32_MAX,
	};
	int rc;

	s.to_msr = (w->got.event->flags & (TACH__EV_OFFCORE | TACH__EV_FRONTEND)) != 0;
	rc = take_picks(w, &s);
	if (!rc)
		rc = check_locks(w, &s, w->got.given);
	if (rc)
		return rc;
	if (!(w->got.given & (1u << TACH__MOD_U | 1u << TACH__MOD_K))) {
		uint32_t privilege = w->ask.privilege & w->got.pmu->privilege;

		w->out.shown[TACH__MOD_K] = privilege & TACH_PRIVILEGE_KERNEL ? 1 : 0;
		w->out.shown[TACH__MOD_U] = privilege & TACH_PRIVILEGE_USER ? 1 : 0;
	}
	rc = take_defaults(w, &s);
	if (!rc)
		rc = check_locks(w, &s, w->got.given & w->ask.quirks->default_locks);
	if (rc)
		return rc;
	apply_wires(w, &s);
	if (w->got.has_raw)
		s.umask = w->got.raw;
	rc = check_given(w, &s);
	if (rc)
		return rc;
	w->out.codes[0] = register_word(w, &s);
	w->out.ncodes = 1;
	if (s.to_msr)
		s.msr |= s.umask;
	if (s.to_msr || s.has_msr)
		w->out.codes[w->out.ncodes++] = s.msr;
	return 0;
}

/*
 * Finds "perf=": the config by which Linux finds the fixed counter, if it differs from the
 * pseudo code. An event with this attribute has no umasks.
 */
static int fixed_config(const struct tach__work *w, uint64_t *config)
{
	uint32_t attrs = w->got.event->attrs;

	if (w->got.nrows == 1)
		attrs = tach__umask_at(w->got.event, w->got.rows[0])->attrs;
	return w->ask.quirks->keys >> TACH__A_PERF & 1 &&
	       tach__attr(attrs, TACH__A_PERF, config, NULL);
}

void tach__intel_perf(struct tach__work *w)
{
	uint64_t fixed;

	w->out.config = w->out.codes[0] & ~(INT_BIT | ENABLE_BIT | UINT64_C(0x30000));
	if (fixed_config(w, &fixed))
		w->out.config = (w->out.config & ~UINT64_C(0xff0000ffff)) | fixed;
	if (w->out.ncodes > 1) {
		w->out.config1 = w->out.codes[1];
		w->out.has |= TACH_EVENT_HAS_CONFIG1;
	}
}

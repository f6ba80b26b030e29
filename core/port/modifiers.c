/* SPDX-License-Identifier: MIT */
/* Names and values of modifiers. */
#include "core/port/modifiers.h"

#define BOOLEAN(word)                                                                          \
	{                                                                                      \
		":" word "=0",                                                                 \
		{                                                                              \
			{                                                                      \
				word, sizeof word + 2, 0                                       \
			}                                                                      \
		}                                                                              \
	}
#define INTEGER(word)                                                                          \
	{                                                                                      \
		":" word "=0",                                                                 \
		{                                                                              \
			{                                                                      \
				word, sizeof word + 2, 1                                       \
			}                                                                      \
		}                                                                              \
	}

const struct tach__modifier tach__mods[TACH__NMODS + TACH__NOSMODS] = {
	[TACH__MOD_K] = BOOLEAN("k"),
	[TACH__MOD_U] = BOOLEAN("u"),
	[TACH__MOD_E] = BOOLEAN("e"),
	[TACH__MOD_I] = BOOLEAN("i"),
	[TACH__MOD_C] = INTEGER("c"),
	[TACH__MOD_T] = BOOLEAN("t"),
	[TACH__MOD_LDLAT] = INTEGER("ldlat"),
	[TACH__MOD_INTX] = BOOLEAN("intx"),
	[TACH__MOD_INTXCP] = BOOLEAN("intxcp"),
	[TACH__MOD_FE_THRES] = INTEGER("fe_thres"),
	[TACH__MOD_H] = BOOLEAN("h"),
	[TACH__MOD_G] = BOOLEAN("g"),
	[TACH__MOD_HV] = BOOLEAN("hv"),
	[TACH__MOD_CMPL] = BOOLEAN("cmpl"),
	[TACH__MOD_THR] = INTEGER("thr"),
	[TACH__MOD_IRANGE] = BOOLEAN("irange"),
	[TACH__MOD_DRANGE] = BOOLEAN("drange"),
	[TACH__MOD_OPC] = BOOLEAN("opc"),
	[TACH__MOD_EQ] = BOOLEAN("eq"),

	[TACH__NMODS + TACH__OS_U] = BOOLEAN("u"),
	[TACH__NMODS + TACH__OS_K] = BOOLEAN("k"),
	[TACH__NMODS + TACH__OS_H] = BOOLEAN("h"),
	[TACH__NMODS + TACH__OS_PERIOD] = INTEGER("period"),
	[TACH__NMODS + TACH__OS_FREQ] = INTEGER("freq"),
	[TACH__NMODS + TACH__OS_PRECISE] = INTEGER("precise"),
	[TACH__NMODS + TACH__OS_EXCL] = BOOLEAN("excl"),
	[TACH__NMODS + TACH__OS_MG] = BOOLEAN("mg"),
	[TACH__NMODS + TACH__OS_MH] = BOOLEAN("mh"),
	[TACH__NMODS + TACH__OS_CPU] = INTEGER("cpu"),
	[TACH__NMODS + TACH__OS_PINNED] = BOOLEAN("pinned"),
	[TACH__NMODS + TACH__OS_HW_SMPL] = BOOLEAN("hw_smpl"),
};

#define HW(name) (1u << TACH__MOD_##name)
#define OS(name) (1u << (TACH__NMODS + TACH__OS_##name))
const uint32_t tach__mods_by_letter[32] = {
	['c' & 31] = HW(C) | HW(CMPL) | OS(CPU),
	['d' & 31] = HW(DRANGE),
	['e' & 31] = HW(E) | HW(EQ) | OS(EXCL),
	['f' & 31] = HW(FE_THRES) | OS(FREQ),
	['g' & 31] = HW(G),
	['h' & 31] = HW(H) | HW(HV) | OS(H) | OS(HW_SMPL),
	['i' & 31] = HW(I) | HW(INTX) | HW(INTXCP) | HW(IRANGE),
	['k' & 31] = HW(K) | OS(K),
	['l' & 31] = HW(LDLAT),
	['m' & 31] = OS(MG) | OS(MH),
	['o' & 31] = HW(OPC),
	['p' & 31] = OS(PERIOD) | OS(PRECISE) | OS(PINNED),
	['t' & 31] = HW(T) | HW(THR),
	['u' & 31] = HW(U) | OS(U),
};
#undef HW
#undef OS

const struct tach__modifier tach__box_mods[TACH__NBOX_MODS] = {
#define MODIFIER(number, key, NAME, word, integer)                                             \
	[number] = {":" word "=0", {{word, sizeof word + 2, integer}}},
	TACH__BOX_MODS(MODIFIER)};

int tach__mod_value(const struct tach__modifier *mod, const struct tach__term *term, int cut,
		    uint64_t *value)
{
	unsigned long long number = 0;

	if (mod->integer) {
		int fits = term->has_value ? tach__text_number(&term->value, &number) : 0;

		*value = number;
		return fits > 0 || (fits < 0 && cut) ? 0 : TACH_ERR_ATTR_VALUE;
	}
	if (!term->has_value) {
		*value = 1;
		return 0;
	}
	if (term->value.length != 1)
		return TACH_ERR_ATTR_VALUE;
	switch (tach__fold(*term->value.text)) {
	case 'y':
	case 't':
	case '1':
		*value = 1;
		return 0;
	case 'n':
	case 'f':
	case '0':
		*value = 0;
		return 0;
	}
	return TACH_ERR_ATTR_VALUE;
}

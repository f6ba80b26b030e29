/* SPDX-License-Identifier: MIT */
/* The keywords of the format and their values in the library. */
#include <string.h>
#include "tools/mkevents/mk.h"

const char *const mk_arch_names[TACH__NARCHS] = {
#define TACH__ARCH(name, NAME, cells, numbers) #name,
#include <archs.h>
};
const char *const mk_encoding_names[TACH__NENCODINGS] = {
#define TACH__ENCODING(name, NAME) #name,
#include <archs.h>
};
const struct mk_claim mk_claims[TACH__NARCHS] = {
#define TACH__ARCH(name, NAME, cells, numbers) {cells, numbers},
#include <archs.h>
};
const char *const mk_src_names[5] = {"L", "V", "LV", "LX", "LF"};

const char *const mk_mod_names[TACH__NMODS] = {
	"k", "u", "e",	"i",	"c",   "t",	 "ldlat",  "intx", "intxcp", "fe_thres",
	"h", "g", "hv", "cmpl", "thr", "irange", "drange", "opc",  "eq",
};

const struct mk_flag mk_pmu_flags[] = {
	{"rawumask", TACH__PMU_RAWUMASK},
	{"ecmask", TACH__PMU_ECMASK},
	{"extpebs", TACH__PMU_EXTPEBS},
	{"spec", TACH__PMU_SPEC},
	{"deprecated", TACH__PMU_DEPRECATED},
	{"archdefault", TACH__PMU_ARCHDEFAULT},
	{"pfm3", TACH__PMU_PFM3},
	{"perfmonv2", TACH__PMU_PERFMONV2},
	{"pebsall", TACH__PMU_PEBSALL},
	{"noh", TACH__PMU_NOH},
	{"occ", TACH__PMU_OCC},
	{"cbo", TACH__PMU_CBO},
	{"cha", TACH__PMU_CHA},
	{"type4", TACH__PMU_TYPE4},
	{"header", TACH__PMU_HEADER},
	{NULL, 0},
};

const struct mk_flag mk_event_flags[] = {
	{"offcore", TACH__EV_OFFCORE},
	{"frontend", TACH__EV_FRONTEND},
	{"grpexcl", TACH__EV_GRPEXCL},
	{"bare", TACH__EV_BARE},
	{"fixed", TACH__EV_FIXED},
	{"pebs", TACH__EV_PEBS},
	{"spec", TACH__EV_SPEC},
	{"depr", TACH__EV_DEPR},
	{"codedup", TACH__EV_CODEDUP},
	{"btb", TACH__EV_BTB},
	{"etb", TACH__EV_ETB},
	{"iear_cache", TACH__EV_IEAR_CACHE},
	{"iear_tlb", TACH__EV_IEAR_TLB},
	{"dear_cache", TACH__EV_DEAR_CACHE},
	{"dear_tlb", TACH__EV_DEAR_TLB},
	{"dear_alat", TACH__EV_DEAR_ALAT},
	{"irange", TACH__EV_IRANGE},
	{"drange", TACH__EV_DRANGE},
	{"opc", TACH__EV_OPC},
	{"mesi", TACH__EV_MESI},
	{"allthrd", TACH__EV_ALLTHRD},
	{"fallback", TACH__EV_FALLBACK},
	{"noauto", TACH__EV_NOAUTO},
	{"ibsfetch", TACH__EV_IBSFETCH},
	{"ibsop", TACH__EV_IBSOP},
	{"filt", TACH__EV_FILT},
	{"filt0", TACH__EV_FILT0},
	{"cspec", TACH__EV_CSPEC},
	{"uncore", TACH__EV_UNCORE},
	{"pebsv", TACH__EV_PEBSV},
	{"shadow", TACH__EV_SHADOW},
	{"barel", TACH__EV_BAREL},
	{NULL, 0},
};

const struct mk_flag mk_umask_flags[] = {
	{"dfl", TACH__UM_DFL},
	{"nc", TACH__UM_NC},
	{"solo", TACH__UM_SOLO},
	{"xgt", TACH__UM_XGT},
	{"xbut0", TACH__UM_XBUT0},
	{"grpnone", TACH__UM_GRPNONE},
	{"omit", TACH__UM_OMIT},
	{"ldlat", TACH__UM_LDLAT},
	{"fethr", TACH__UM_FETHR},
	{"nomods", TACH__UM_NOMODS},
	{"pebs", TACH__UM_PEBS},
	{"spec", TACH__UM_SPEC},
	{"depr", TACH__UM_DEPR},
	{"fixed", TACH__UM_FIXED},
	{"noauto", TACH__UM_NOAUTO},

	{NULL, 0},
};

static const struct {
	const char *name;
	enum mk_attr_kind kind;
} attrs[TACH__NATTRS] = {
	[TACH__A_EQ] = {"eq", MK_TEXT},
	[TACH__A_VN] = {"vn", MK_TEXT},
	[TACH__A_SEL] = {"sel", MK_NUMBER},
	[TACH__A_BASE] = {"base", MK_NUMBER},
	[TACH__A_PLAIN] = {"plain", MK_FLAG},
	[TACH__A_MSR] = {"msr", MK_TEXT},
	[TACH__A_LDLAT] = {"ldlat", MK_NUMBER},
	[TACH__A_REQ] = {"req", MK_TEXT},
	[TACH__A_LOCK] = {"lock", MK_TEXT},
	[TACH__A_F0] = {"f0", MK_TEXT},
	[TACH__A_F1] = {"f1", MK_TEXT},
	[TACH__A_SAV] = {"sav", MK_NUMBER},
	[TACH__A_ERR] = {"err", MK_TEXT},
	[TACH__A_LA] = {"la", MK_FLAG},
	[TACH__A_L1H] = {"l1h", MK_FLAG},
	[TACH__A_ALONE] = {"alone", MK_FLAG},
	[TACH__A_PEBSONLY] = {"pebsonly", MK_FLAG},
	[TACH__A_PDIST] = {"pdist", MK_TEXT},
	[TACH__A_PERF] = {"perf", MK_NUMBER},
	[TACH__A_ONLY] = {"only", MK_NUMBER},
	[TACH__A_UM] = {"um", MK_NUMBER},
	[TACH__A_ESCR] = {"escr", MK_TEXT},
	[TACH__A_ESCRSEL] = {"escrsel", MK_NUMBER},
	[TACH__A_REALMASK] = {"realmask", MK_NUMBER},
	[TACH__A_CAF] = {"caf", MK_NUMBER},
	[TACH__A_GROUP] = {"group", MK_NUMBER},
	[TACH__A_SET] = {"set", MK_NUMBER},
	[TACH__A_MAXINC] = {"maxinc", MK_NUMBER},
	[TACH__A_O] = {"o", MK_TEXT},
	[TACH__A_PFM] = {"pfm", MK_TEXT},
	[TACH__A_VC] = {"vc", MK_TEXT},
	[TACH__A_REV] = {"rev", MK_NUMBER},
};

int mk_word(const char *const *words, size_t count, const struct mk_cell *cell)
{
	for (size_t i = 0; i < count; i++)
		if (mk_is(cell, words[i]))
			return (int)i;
	return -1;
}

int mk_mod(const struct mk_cell *cell)
{
	return mk_word(mk_mod_names, TACH__NMODS, cell);
}

int mk_box_mod(const struct mk_cell *cell)
{
	static const char *const words[TACH__NBOX_MODS] = {
#define KEY(number, key, NAME, word, integer) [number] = #key,
		TACH__BOX_MODS(KEY)};

	for (int i = 0; i < TACH__NBOX_MODS; i++)
		if (words[i] && mk_is(cell, words[i]))
			return i;
	return -1;
}

int mk_only_text(const struct mk_cell *name)
{
	return mk_is(name, "fl") || mk_is(name, "doubt") || mk_is(name, "inst");
}

int mk_attr_key(const struct mk_cell *cell)
{
	for (int i = 0; i < TACH__NATTRS; i++)
		if (mk_is(cell, attrs[i].name))
			return i;
	return -1;
}

enum mk_attr_kind mk_attr_kind(enum tach__attr key)
{
	return attrs[key].kind;
}

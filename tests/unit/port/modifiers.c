/* SPDX-License-Identifier: MIT */
/* Modifiers are found by name; the search begins with the first letter. */
#include <string.h>
#include "core/port/modifiers.h"
#include "tests/check.h"

enum { ALL = TACH__NMODS + TACH__NOSMODS };

static int find(uint32_t hw, uint32_t os, const char *name)
{
	struct tach__text text = {name, strlen(name)};

	return tach__mod_find_any(hw, os, tach__modifier_word(&text));
}

static void each_is_found(void)
{
	const uint32_t all_hw = (1u << TACH__NMODS) - 1, all_os = (1u << TACH__NOSMODS) - 1;

	for (int i = 0; i < ALL; i++) {
		const char *name = tach__mods[i].name;
		uint32_t hw = i < TACH__NMODS ? 1u << i : 0;
		uint32_t os = i < TACH__NMODS ? 0 : 1u << (i - TACH__NMODS);
		int first = find(all_hw, all_os, name);

		CHECK(find(hw, os, name) == i, "%s", name);
		CHECK(find(all_hw & ~hw, all_os & ~os, name) != i, "%s", name);
		/*
		 * If hardware and perf have a modifier with this name, the hardware's comes
		 * first.
		 */
		CHECK(first >= 0 && first <= i && strcmp(tach__mods[first].name, name) == 0,
		      "%s", name);
	}
}

static void unknown_names_are_not_found(void)
{
	static const char *const names[] = {"", "x", "uu", "zz", "=", "period_", "3"};
	const uint32_t all_hw = (1u << TACH__NMODS) - 1, all_os = (1u << TACH__NOSMODS) - 1;

	CHECK(find(all_hw, 0, "U") == TACH__MOD_U);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tach__text text = {names[i], strlen(names[i])};

		CHECK(find(all_hw, all_os, names[i]) == -1, "%s", names[i]);
		CHECK(tach__mod_find(all_hw, tach__modifier_word(&text)) == -1, "%s", names[i]);
	}
}

/* The texts of modifiers in full names, and in each list. */
static void modifiers_have_their_texts(void)
{
	for (int i = 0; i < ALL + TACH__NBOX_MODS; i++) {
		const struct tach__modifier *mod =
			i < ALL ? &tach__mods[i] : &tach__box_mods[i - ALL];
		char want[24];

		/* Unused numbers. */
		if (i >= ALL && !*mod->name)
			continue;
		snprintf(want, sizeof want, ":%s=0", mod->name);
		CHECK(strncmp(mod->text, want, sizeof mod->text) == 0 &&
			      mod->length == strlen(want),
		      "%.16s", mod->text);
	}
	CHECK(strcmp(tach__mods[TACH__MOD_LDLAT].text, ":ldlat=0") == 0 &&
	      strcmp(tach__osmods[TACH__OS_HW_SMPL].text, ":hw_smpl=0") == 0 &&
	      strcmp(tach__box_mods[TACH__BOX_MOD_OCC_E].text, ":occ_e=0") == 0);
}

static void values(void)
{
	static const struct {
		int integer, cut;
		const char *value; /* NULL: none */
		int good;
		uint64_t is;
	} all[] = {
		{0, 0, NULL, 1, 1},
		{0, 0, "y", 1, 1},
		{0, 0, "Y", 1, 1},
		{0, 0, "t", 1, 1},
		{0, 0, "T", 1, 1},
		{0, 0, "1", 1, 1},
		{0, 0, "n", 1, 0},
		{0, 0, "N", 1, 0},
		{0, 0, "f", 1, 0},
		{0, 0, "F", 1, 0},
		{0, 0, "0", 1, 0},
		{0, 0, "", 0, 0},
		{0, 0, "2", 0, 0},
		{0, 0, "yy", 0, 0},
		{0, 0, "x", 0, 0},
		{1, 0, NULL, 0, 0},
		{1, 1, NULL, 0, 0},
		{1, 0, "", 0, 0},
		{1, 0, "y", 0, 0},
		{1, 1, "y", 0, 0},
		{1, 0, "0", 1, 0},
		{1, 0, "010", 1, 8},
		{1, 0, "0x1f", 1, 31},
		{1, 0, "18446744073709551615", 1, UINT64_MAX},
		{1, 0, "18446744073709551616", 0, 0},
		{1, 1, "18446744073709551616", 1, UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct tach__modifier *mod =
			&tach__mods[all[i].integer ? TACH__MOD_C : TACH__MOD_U];
		struct tach__term term = {{"m", 1}, {all[i].value, 0}, all[i].value != NULL};
		uint64_t value = 77;
		int rc;

		if (all[i].value)
			term.value.length = strlen(all[i].value);
		rc = tach__mod_value(mod, &term, all[i].cut, &value);
		CHECK(rc == (all[i].good ? 0 : TACH_ERR_ATTR_VALUE) &&
			      (rc || value == all[i].is),
		      "%s=%s: %d", mod->name, all[i].value ? all[i].value : "none", rc);
	}
	for (int i = 0; i < ALL; i++) {
		static const char *const integers[] = {"c",	 "ldlat", "fe_thres", "thr",
						       "period", "freq",  "precise",  "cpu"};
		int integer = 0;

		for (size_t k = 0; k < sizeof integers / sizeof *integers; k++)
			integer |= strcmp(tach__mods[i].name, integers[k]) == 0;
		CHECK(tach__mods[i].integer == integer, "%s", tach__mods[i].name);
	}
}

/* Modifiers of boxes: those that libpfm-4 shows, and those that have numbers. */
static void modifiers_of_boxes(void)
{
	static const struct {
		int number;
		const char *word;
		int integer;
	} of[] = {{0, "e", 0},	    {1, "i", 0},       {2, "t", 1},	{3, "t", 1},
		  {4, "tf", 1},	    {5, "cf", 1},      {6, "nf", 1},	{7, "ff", 1},
		  {9, "nf", 1},	    {10, "isoc", 0},   {11, "nc", 0},	{12, "cf", 1},
		  {15, "loc", 0},   {16, "rem", 0},    {17, "lmem", 0}, {18, "rmem", 0},
		  {19, "dnid", 1},  {20, "rcsnid", 1}, {21, "t", 1},	{22, "occ_i", 0},
		  {23, "occ_e", 0}, {24, "t", 1},      {25, "c", 1},	{26, "c", 1},
		  {27, "c", 1},	    {28, "o", 0},      {29, "k", 0},	{30, "u", 0},
		  {31, "hv", 0}};
	size_t next = 0;

	CHECK(TACH__NBOX_MODS == 32);
	for (int i = 0; i < TACH__NBOX_MODS; i++) {
		const struct tach__modifier *mod = &tach__box_mods[i];
		int there = next < sizeof of / sizeof *of && of[next].number == i;

		CHECK(strcmp(mod->name, there ? of[next].word : "") == 0, "%d", i);
		CHECK(mod->integer == (there ? of[next].integer : 0), "%d", i);
		next += (size_t)there;
	}
}

int main(void)
{
	CASE(each_is_found);
	CASE(unknown_names_are_not_found);
	CASE(modifiers_have_their_texts);
	CASE(modifiers_of_boxes);
	CASE(values);
	return check_done();
}

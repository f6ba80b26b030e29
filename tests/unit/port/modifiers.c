/* SPDX-License-Identifier: MIT */
/* Modifiers are found by their names, which are looked for by the first letter. */
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
		/* The hardware's comes first where both have one of that name. */
		CHECK(first >= 0 && first <= i && strcmp(tach__mods[first].name, name) == 0,
		      "%s", name);
	}
}

static void others_are_not(void)
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

/* As full names spell them, and each list's own. */
static void texts(void)
{
	for (int i = 0; i < ALL + TACH__NBOX_MODS; i++) {
		const struct tach__modifier *mod =
			i < ALL ? &tach__mods[i] : &tach__box_mods[i - ALL];
		char want[24];

		/* Numbers there are none of. */
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

int main(void)
{
	CASE(each_is_found);
	CASE(others_are_not);
	CASE(texts);
	CASE(values);
	return check_done();
}

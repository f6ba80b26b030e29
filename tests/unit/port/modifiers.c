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

	CHECK(find(0xffffffff >> (32 - TACH__NMODS), 0, "U") == TACH__MOD_U);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(find((1u << TACH__NMODS) - 1, (1u << TACH__NOSMODS) - 1, names[i]) == -1,
		      "%s", names[i]);
}

int main(void)
{
	CASE(each_is_found);
	CASE(others_are_not);
	return check_done();
}

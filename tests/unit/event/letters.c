/* SPDX-License-Identifier: MIT */
/* perf's letters: the modifier of each letter, and words of several letters. */
#include <string.h>
#include "core/event/event.h"
#include "tests/check.h"

#define BIT(name) (1u << TACH__OS_##name)
enum { ALL = (1 << TACH__NOSMODS) - 1, SAME = -2 };

static void each_letter_is_one_modifier(void)
{
	static const struct {
		char letter;
		int modifier;
	} known[] = {
		{'u', TACH__OS_U},
		{'k', TACH__OS_K},
		{'h', TACH__OS_H},
		{'G', TACH__OS_MG},
		{'H', TACH__OS_MH},
		{'p', TACH__OS_PRECISE},
		{'e', TACH__OS_EXCL},
		{'D', TACH__OS_PINNED},
		{'P', -1},
		{'S', -1},
		{'W', -1},
		{'I', -1},
		{'X', -1},
		{'b', -1},
	};

	for (int c = 0; c < 256; c++) {
		int want = SAME, modifier = SAME, is;

		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (known[i].letter == (char)c)
				want = known[i].modifier;
		is = tach__letter((char)c, &modifier);
		CHECK(is == (want != SAME) && modifier == want, "%c: %d", c, modifier);
	}
}

static void words(void)
{
	static const struct {
		const char *word;
		uint32_t offered;
		int is;
		uint32_t asked;
		uint64_t precise;
	} all[] = {
		{"", ALL, 1, 0, 0},
		{"u", ALL, 1, BIT(U), 0},
		{"ukhGHDe", ALL, 1,
		 BIT(U) | BIT(K) | BIT(H) | BIT(MG) | BIT(MH) | BIT(PINNED) | BIT(EXCL), 0},
		{"kk", ALL, 1, BIT(K), 0},
		{"PSWI", ALL, 1, 0, 0},
		{"kP", ALL, 1, BIT(K), 0},
		{"PSWIXb", 0, 1, 0, 0},
		/* Without a hypervisor level, only the other levels are counted. */
		{"ukh", ALL & ~BIT(H), 1, BIT(U) | BIT(K), 0},
		{"hk", ALL & ~BIT(H), 1, BIT(K), 0},
		{"h", ALL & ~BIT(H), 0, 0, 0},
		{"hp", ALL & ~BIT(H), 0, 0, 0},
		{"h", ALL, 1, BIT(H), 0},
		{"p", ALL, 1, BIT(PRECISE), 1},
		{"pkppP", ALL, 1, BIT(PRECISE) | BIT(K), 3},
		{"pppp", ALL, 0, 0, 0},
		{"pp", BIT(HW_SMPL), 1, BIT(HW_SMPL), 2},
		{"p", ALL & ~BIT(PRECISE), 1, BIT(HW_SMPL), 1},
		{"p", ALL & ~BIT(PRECISE) & ~BIT(HW_SMPL), 0, 0, 0},
		{"u", ALL & ~BIT(U), 0, 0, 0},
		{"ku", BIT(K), 0, 0, 0},
		{"k", BIT(K), 1, BIT(K), 0},
		{"D", ALL & ~BIT(PINNED), 0, 0, 0},
		{"x", ALL, 0, 0, 0},
		{"ux", ALL, 0, 0, 0},
		{"U", ALL, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach__text word = {all[i].word, strlen(all[i].word)};
		uint32_t asked = 0;
		uint64_t precise = 77;
		int is = tach__letters(&word, all[i].offered, &asked, &precise);

		CHECK(is == all[i].is &&
			      (!is || (asked == all[i].asked && precise == all[i].precise)),
		      "%s of %x: %d %x %d", all[i].word, all[i].offered, is, asked,
		      (int)precise);
	}
}

int main(void)
{
	CASE(each_letter_is_one_modifier);
	CASE(words);
	return check_done();
}

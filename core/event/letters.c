/* SPDX-License-Identifier: MIT */
/*
 * perf's modifiers, several in one word (perf-list(1)): levels, p to ppp, guest and host,
 * pinned, exclusive. P, S, W and I control sampling, grouping, and idle time, which a thread
 * that counts itself never has. X and b control how perf opens an event.
 */
#include <string.h>
#include "core/event/perf_events.h"

/* The modifier of each letter; -1: it does not affect counting. */
static const struct {
	char letter;
	int8_t modifier;
} letters[] = {
	{'u', TACH__OS_U},
	{'k', TACH__OS_K},
	{'h', TACH__OS_H},
	{'p', TACH__OS_PRECISE},
	{'P', -1},
	{'G', TACH__OS_MG},
	{'H', TACH__OS_MH},
	{'D', TACH__OS_PINNED},
	{'e', TACH__OS_EXCL},
	{'S', -1},
	{'W', -1},
	{'I', -1},
	{'X', -1},
	{'b', -1},
};

int tach__letter(char c, int *modifier)
{
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (letters[i].letter == c) {
			*modifier = letters[i].modifier;
			return 1;
		}
	return 0;
}

int tach__letters(const struct tach__text *word, uint32_t offered, uint32_t *asked,
		  uint64_t *precise)
{
	int precision = offered >> TACH__OS_PRECISE & 1 ? TACH__OS_PRECISE : TACH__OS_HW_SMPL;
	uint32_t mods = 0;

	*precise = 0;
	for (size_t i = 0; i < word->length; i++) {
		int modifier = -1, known = tach__letter(word->text[i], &modifier);

		if (modifier == TACH__OS_PRECISE) {
			modifier = precision;
			++*precise;
		}
		/* If the event does not have level h, perf's ukh means uk. */
		if (modifier == TACH__OS_H && !(offered >> modifier & 1) &&
		    (memchr(word->text, 'u', word->length) ||
		     memchr(word->text, 'k', word->length)))
			modifier = -1;
		if (!known || *precise > 3 || (modifier >= 0 && !(offered >> modifier & 1)))
			return 0;
		mods |= modifier < 0 ? 0 : 1u << modifier;
	}
	*asked = mods;
	return 1;
}

int tach__letter_refused(struct tach__work *w, const struct tach__text *word)
{
	int modifier, level = 0, latency = 0;

	if (w->got.pmu->flags & TACH__PMU_BOX)
		return 0;
	for (size_t i = 0; i < word->length; i++) {
		latency |= word->text[i] == 'R';
		level |= word->text[i] == 'h';
		/* A word that repeats a letter is probably a misspelt umask. */
		if ((word->text[i] != 'R' && !tach__letter(word->text[i], &modifier)) ||
		    (word->text[i] != 'p' && memchr(word->text, word->text[i], i)))
			return 0;
	}
	if (latency)
		return tach__refuse(w, TACH_ERR_ATTR,
				    "R asks for the latency of retirement, which only 'perf "
				    "record' measures; leave R out");
	return !level ? 0
		      : tach__refuse(
				w, TACH_ERR_ATTR,
				"h: this event cannot be counted at the hypervisor's level "
				"alone; take u, k or both");
}

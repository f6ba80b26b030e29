/* SPDX-License-Identifier: MIT */
/* The origin of a report, and its note about missing data. */
#include <stdio.h>
#include <string.h>
#include "core/base/json.h"
#include "core/snapshot/snapshot.h"

static void load_word(char *to, size_t size, const struct tach__json *from, const char *key)
{
	const struct tach__json *word = tach__json_member(from, key);

	if (word && word->type == TACH__JSON_STRING)
		snprintf(to, size, "%s", word->text);
}

/* Reports of versions before 0.2 have no origin. */
void tach__origin_load(struct tach__origin *to, const struct tach__json *from)
{
	const struct tach__json *date = from ? tach__json_member(from, "date") : NULL;

	if (!date || date->type != TACH__JSON_NUMBER || !(date->number > 0) ||
	    date->number > 253402300799.0) /* the end of the year 9999 */
		return;
	load_word(to->program, sizeof to->program, from, "program");
	load_word(to->command, sizeof to->command, from, "command");
	load_word(to->host, sizeof to->host, from, "host");
	to->date = (int64_t)date->number;
}

/* Adds each sentence once. */
void tach__snapshot_note(struct tach_snapshot *s, const char *note)
{
	size_t n = strlen(s->note);

	if (*note && !strstr(s->note, note))
		snprintf(s->note + n, sizeof s->note - n, "%s%s", n ? "; " : "", note);
}

/* SPDX-License-Identifier: MIT */
/* Parses a recorded question of libpfm-3. */
#include <stdlib.h>
#include <string.h>
#include "tools/tach/batch.h"
#include "tools/tach/dispatch_question.h"

/* Splits the columns. Returns their number. Missing fields are empty. */
int question_split(struct question *l, char *text)
{
	int n = 0;

	for (int i = 0; i < COLUMNS; i++) {
		char *column = strsep(&text, "\t");

		n += column != NULL;
		l->column[i] = column ? column : l->none;
	}
	return n;
}

/*
 * Takes the next of several numbers separated by commas. A missing number is 0; text that is
 * not a number sets `malformed`.
 */
static uint64_t next_number(struct question *l, char **at)
{
	char *end = *at + strcspn(*at, ",");
	int more = *end == ',';
	uint64_t n = 0;

	*end = 0;
	if (**at && !batch_number(*at, &n) && !l->malformed)
		l->malformed = *at;
	*at = end + more;
	return n;
}

/*
 * Parses the whole text as a number. A 64-bit number that is too large stays too large for 32
 * bits.
 */
uint32_t question_number(struct question *l, char *text)
{
	uint64_t n = next_number(l, &text);

	if (*text && !l->malformed)
		l->malformed = text;
	return n < INT32_MAX ? (uint32_t)n : INT32_MAX;
}

void question_unavailable(struct question *l)
{
	char *at = l->column[3];

	while (*at && strcmp(at, "-") != 0) {
		uint64_t n = next_number(l, &at);

		if (n < TACH_DISPATCH_PMC_MAX)
			l->in.unavailable[n / 64] |= 1ull << n % 64;
	}
}

/*
 * "NAME:MASK;plm" or "#index;plm". Returns TACH_ERR_UMASK and similar codes, as the event
 * search does.
 */
int question_events(struct question *l)
{
	char *save = NULL;

	if (strcmp(l->column[4], "-") == 0)
		return 0;
	for (char *e = strtok_r(l->column[4], " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		struct tach_dispatch_event *event = &l->events[l->in.nevents];
		char *plm = strrchr(e, ';');
		int rc = 0;

		if (!plm)
			l->malformed = e;
		if (!plm || l->in.nevents == EVENTS_MAX)
			return TACH_ERR_INVAL;
		*plm++ = 0;
		if (*e == '#')
			event->event = (int)question_number(l, e + 1);
		else
			rc = tach_dispatch_find(l->in.pmu, l->in.revision, e, event, NULL);
		if (rc)
			return rc;
		event->privilege = question_number(l, plm);
		l->in.nevents++;
	}
	return 0;
}

static void parse_ear(struct question *l, char *at, struct tach_dispatch_ear *ear)
{
	ear->used = 1;
	ear->mode = (uint32_t)next_number(l, &at);
	ear->ism = (uint32_t)next_number(l, &at);
	ear->privilege = (uint32_t)next_number(l, &at);
	ear->umask = (uint32_t)next_number(l, &at);
}

/* Three common fields, then the model's own. */
static void parse_btb(struct question *l, char *at, struct tach_dispatch_btb *btb)
{
	uint8_t own[3];

	btb->used = 1;
	btb->privilege = (uint32_t)next_number(l, &at);
	btb->tm = (uint8_t)next_number(l, &at);
	btb->ptm = (uint8_t)next_number(l, &at);
	btb->ppm = (uint8_t)next_number(l, &at);
	for (int i = 0; i < 3; i++)
		own[i] = (uint8_t)next_number(l, &at);
	if (strcmp(l->column[0], "itanium") == 0) {
		btb->tar = own[0];
		btb->tac = own[1];
		btb->bac = own[2];
	} else if (strcmp(l->column[0], "montecito") == 0) {
		btb->brt = own[0];
	} else {
		btb->ds = own[0];
		btb->brt = own[1];
	}
}

static void parse_ranges(struct question *l, char *at, struct tach_dispatch_ranges *ranges)
{
	ranges->used = 1;
	ranges->flags = (uint32_t)next_number(l, &at);
	for (int i = 0; i < TACH_DISPATCH_RANGES_MAX && *at; i++) {
		ranges->range[i].privilege = (uint32_t)next_number(l, &at);
		ranges->range[i].start = next_number(l, &at);
		ranges->range[i].end = next_number(l, &at);
	}
}

static void parse_opcode(struct question *l, char *at, struct tach_dispatch_opcode *o)
{
	o->used = 1;
	o->mask = next_number(l, &at);
	o->match = next_number(l, &at);
	o->m = (uint8_t)next_number(l, &at);
	o->i = (uint8_t)next_number(l, &at);
	o->f = (uint8_t)next_number(l, &at);
	o->b = (uint8_t)next_number(l, &at);
}

static int parse_ia64_input(struct question *l, const char *key, char *value)
{
	struct tach_dispatch_ia64 *m = &l->ia64;

	if (strcmp(key, "ir") == 0 || strcmp(key, "dr") == 0) {
		parse_ranges(l, value, *key == 'i' ? &m->code : &m->data);
	} else if (strcmp(key, "iear") == 0 || strcmp(key, "dear") == 0) {
		parse_ear(l, value, *key == 'i' ? &m->iear : &m->dear);
	} else if (strcmp(key, "pmc8") == 0 || strcmp(key, "pmc9") == 0) {
		m->opcode[key[3] - '8'].used = 1;
		m->opcode[key[3] - '8'].value = next_number(l, &value);
	} else if (strcmp(key, "opcm1") == 0 || strcmp(key, "opcm2") == 0) {
		parse_opcode(l, value, &m->opcode[key[4] - '1']);
	} else if (strcmp(key, "btb") == 0) {
		parse_btb(l, value, &m->btb);
	} else if (strcmp(key, "ipear") == 0) {
		m->ipear.used = 1;
		m->ipear.privilege = (uint32_t)next_number(l, &value);
		m->ipear.delay = (uint8_t)next_number(l, &value);
	} else {
		return 0;
	}
	return 1;
}

static int parse_x86_input(struct question *l, const char *key, char *value)
{
	struct tach_dispatch_x86 *m = &l->x86;

	if (strcmp(key, "pebs") == 0) {
		m->pebs = (uint32_t)next_number(l, &value);
		m->ldlat = (uint32_t)next_number(l, &value);
	} else if (strcmp(key, "lbr") == 0) {
		m->lbr = 1;
		m->lbr_privilege = (uint32_t)next_number(l, &value);
		m->lbr_filter = (uint32_t)next_number(l, &value);
	} else if (strcmp(key, "ibsfetch") == 0) {
		m->ibs_fetch = 1;
		m->ibs_fetch_period = (uint32_t)next_number(l, &value);
		m->ibs_fetch_random = (uint32_t)next_number(l, &value);
	} else if (strcmp(key, "ibsop") == 0) {
		m->ibs_op = 1;
		m->ibs_op_period = (uint32_t)next_number(l, &value);
		m->ibs_op_dispatched = (uint32_t)next_number(l, &value);
	} else {
		return 0;
	}
	return 1;
}

/* "cN=flags,threshold,ism"; the flag bits belong to the PMU. */
static int parse_counter(struct question *l, const char *key, char *value)
{
	unsigned long n = strtoul(key + 1, NULL, 10);
	uint32_t flags, ia64[] = {TACH_DISPATCH_NOQUALIFY, TACH_DISPATCH_ALLTHREADS};
	uint32_t amd[] = {TACH_DISPATCH_INVERT, TACH_DISPATCH_EDGE, TACH_DISPATCH_GUEST,
			  TACH_DISPATCH_HOST};
	uint32_t intel[] = {TACH_DISPATCH_INVERT, TACH_DISPATCH_EDGE, TACH_DISPATCH_ANYTHREAD,
			    TACH_DISPATCH_OCCUPANCY};

	if (*key != 'c' || n >= EVENTS_MAX)
		return 0;
	flags = (uint32_t)next_number(l, &value);
	for (int bit = 0; bit < 4; bit++) {
		uint32_t *map = l->in.ia64			       ? ia64
				: strncmp(l->column[0], "amd", 3) == 0 ? amd
								       : intel;

		if (flags >> bit & 1 && !(map == ia64 && bit > 1))
			l->events[n].flags |= map[bit];
	}
	l->events[n].threshold = (uint32_t)next_number(l, &value);
	l->events[n].ism = (uint32_t)next_number(l, &value);
	return 1;
}

int question_is_ia64(const struct question *l)
{
	return strstr(l->column[0], "itanium") || strstr(l->column[0], "montecito") ||
	       strstr(l->column[0], "ia64");
}

int question_input(struct question *l)
{
	char *save = NULL;

	l->x86.size = sizeof l->x86;
	l->ia64.size = sizeof l->ia64;
	l->ia64.fine_32 = strcmp(l->column[0], "itanium2hw") == 0;
	if (strcmp(l->column[5], "-") == 0) {
		l->no_input = l->no_output = 1;
		return 0;
	}
	if (question_is_ia64(l))
		l->in.ia64 = &l->ia64;
	else
		l->in.x86 = &l->x86;
	for (char *part = strtok_r(l->column[5], ";", &save); part;
	     part = strtok_r(NULL, ";", &save)) {
		char *value = strchr(part, '=');

		if (value)
			*value++ = 0;
		if (strcmp(part, "noin") == 0)
			l->no_input = 1;
		else if (strcmp(part, "noout") == 0)
			l->no_output = 1;
		else if (strcmp(part, ".") != 0 &&
			 (!value || !(parse_ia64_input(l, part, value) ||
				      parse_x86_input(l, part, value) ||
				      parse_counter(l, part, value)))) {
			l->malformed = part;
			return TACH_ERR_INVAL;
		}
	}
	if (l->no_output)
		l->in.flags |= TACH_DISPATCH_NOMODEL;
	if (l->no_input)
		l->in.ia64 = NULL, l->in.x86 = NULL;
	return 0;
}

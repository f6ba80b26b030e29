/* SPDX-License-Identifier: MIT */
/* @match: the CPUs for which a table is. */
#include <string.h>
#include "tools/mkevents/mk.h"

/* "a", "a..b" or "*", hexadecimal. */
static void parse_range(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
			uint32_t out[2])
{
	struct mk_cell rest = *cell, low, high;
	uint64_t a = 0, b = 0;
	const char *dots = NULL;

	out[0] = 0;
	out[1] = UINT32_MAX;
	if (mk_is(cell, "*"))
		return;
	for (size_t i = 0; i + 1 < cell->length; i++)
		if (!dots && cell->text[i] == '.' && cell->text[i + 1] == '.')
			dots = cell->text + i;
	low = high = rest;
	if (dots) {
		low.length = (size_t)(dots - cell->text);
		high.text = dots + 2;
		high.length -= low.length + 2;
		high.column += (int)low.length + 2;
	}
	if (!mk_number(&low, 16, 0xffffff, &a) || !mk_number(&high, 16, 0xffffff, &b) ||
	    a > b) {
		mk_fault(mk, pmu, cell, "'%.*s' is not a hexadecimal number, a..b or *",
			 (int)cell->length, cell->text);
		return;
	}
	out[0] = (uint32_t)a;
	out[1] = (uint32_t)b;
}

static void match_any(uint32_t out[2])
{
	out[0] = 0;
	out[1] = UINT32_MAX;
}

static void match_option(struct mk *mk, struct mk_pmu *pmu, struct mk_match *match,
			 const struct mk_cell *cell)
{
	struct mk_cell value = *cell, key;
	uint64_t n = 0;

	mk_split(&value, '=', &key);
	if (!value.text) {
		mk_fault(mk, pmu, cell, "expected core=, native= or fallback=");
	} else if (pmu->boxes && mk_is(&key, "inst")) {
		match->inst = value;
	} else if (mk_is(&key, "fallback")) {
		match->fallback = value;
	} else if (!mk_is(&key, "core") && !mk_is(&key, "native")) {
		mk_fault(mk, pmu, cell, "expected core=, native= or fallback=");
	} else if (!mk_number(&value, 10, 255, &n)) {
		mk_fault(mk, pmu, &value, "'%.*s' is not a number up to 255", (int)value.length,
			 value.text);
	} else if (mk_is(&key, "core")) {
		match->row.core = (uint8_t)n;
	} else {
		match->row.native = (uint8_t)n;
	}
}

/* Parses numbers: one per cell, or several in one cell as family-model-stepping. */
static void parse_numbers(struct mk *mk, struct mk_pmu *pmu, struct mk_match *m,
			  const struct mk_cell *value)
{
	uint32_t *to[3] = {m->row.family, m->row.model, m->row.stepping};
	const struct mk_claim *claim = &mk_claims[pmu->row.arch];
	int got = 0;

	for (int i = 0; i < claim->cells; i++) {
		struct mk_cell rest = value[i], part;

		for (; mk_split(&rest, '-', &part); got++)
			if (got < 3)
				parse_range(mk, pmu, &part, to[got]);
	}
	if (got != claim->numbers)
		mk_fault(mk, pmu, &value[0], "a CPU of this architecture is %d number%s%s",
			 claim->numbers, claim->numbers == 1 ? "" : "s",
			 claim->numbers == 3 ? ": family-model-stepping" : "");
}

/* Parses the cells as one pattern, joined by blanks. */
static void parse_patterns(struct mk *mk, struct mk_pmu *pmu, struct mk_match *m,
			   const struct mk_cell *value)
{
	size_t used = 0;

	for (int i = 0; i < mk_claims[pmu->row.arch].cells; i++) {
		const char *wild = memchr(value[i].text, '~', value[i].length);

		if (wild && wild != value[i].text + value[i].length - 1)
			mk_fault(mk, pmu, &value[i], "~ ends a pattern");
		if (used + value[i].length + 2 > sizeof m->pattern) {
			mk_fault(mk, pmu, &value[i], "the patterns are longer than %zu bytes",
				 sizeof m->pattern - 2);
			return;
		}
		if (i)
			m->pattern[used++] = ' ';
		memcpy(m->pattern + used, value[i].text, value[i].length);
		used += value[i].length;
	}
}

void mk_match(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value, int n)
{
	struct mk_match *m;
	int options;

	pmu->matches = mk_grow(pmu->matches, pmu->nmatches, &pmu->match_room, sizeof *m);
	m = &pmu->matches[pmu->nmatches++];
	memset(m, 0, sizeof *m);
	m->cell = value[0];
	m->row.arch = pmu->row.arch;
	match_any(m->row.family);
	match_any(m->row.model);
	match_any(m->row.stepping);
	options = mk_claims[pmu->row.arch].cells;
	if (n < options)
		mk_fault(mk, pmu, &value[0], "a CPU of this architecture is %d cells", options);
	else if (mk_claims[pmu->row.arch].numbers)
		parse_numbers(mk, pmu, m, value);
	else
		parse_patterns(mk, pmu, m, value);
	for (int i = options; i < n; i++)
		match_option(mk, pmu, m, &value[i]);
}

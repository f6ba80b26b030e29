/* SPDX-License-Identifier: MIT */
/* The @key lines at the head of a file. */
#include <string.h>
#include <tach/event.h>
#include "tools/mkevents/mk.h"

enum key {
	FORMAT,
	PMU,
	ARCH,
	ENCODING,
	ALIAS,
	DESCRIPTION,
	LIBPFM4,
	VENDOR,
	MATCH,
	PERF,
	GP,
	FIXED,
	GP_LIBPFM4,
	FIXED_LIBPFM4,
	ISA,
	PLM,
	MODS,
	FLAGS,
	SOURCE,
	NKEYS
};

static const struct {
	const char *name;
	int least, most; /* values */
} keys[NKEYS] = {
	[FORMAT] = {"format", 1, 1},
	[PMU] = {"pmu", 1, 1},
	[ARCH] = {"arch", 1, 1},
	[ENCODING] = {"encoding", 1, 1},
	[ALIAS] = {"alias", 1, 1},
	[DESCRIPTION] = {"description", 1, 1},
	[LIBPFM4] = {"libpfm4", 2, 2},
	[VENDOR] = {"vendor", 1, 1},
	[MATCH] = {"match", 1, 3},
	[PERF] = {"perf", 1, 4},
	[GP] = {"gp", 2, 2},
	[FIXED] = {"fixed", 2, 2},
	[GP_LIBPFM4] = {"gp_libpfm4", 1, 1},
	[FIXED_LIBPFM4] = {"fixed_libpfm4", 1, 1},
	[ISA] = {"isa", 1, 1},
	[PLM] = {"plm", 1, 1},
	[MODS] = {"mods", 1, 1},
	[FLAGS] = {"flags", 1, 1},
	[SOURCE] = {"source", 2, 4},
};
static const enum key required[] = {FORMAT, PMU, ARCH, ENCODING, PERF, PLM, MODS, FLAGS};
static const enum key repeats[] = {MATCH, SOURCE};

static uint64_t number(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
		       uint64_t max)
{
	uint64_t n = 0;

	if (!mk_number(cell, 10, max, &n))
		mk_fault(mk, pmu, cell, "'%.*s' is not a number up to %llu", (int)cell->length,
			 cell->text, (unsigned long long)max);
	return n;
}

/* "a", "a..b" or "*", hexadecimal. */
static void range(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
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

static void any(uint32_t out[2])
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

/* Numbers in cells of their own, or several in one: family-model-stepping. */
static void numbers(struct mk *mk, struct mk_pmu *pmu, struct mk_match *m,
		    const struct mk_cell *value)
{
	uint32_t *to[3] = {m->row.family, m->row.model, m->row.stepping};
	const struct mk_claim *claim = &mk_claims[pmu->row.arch];
	int got = 0;

	for (int i = 0; i < claim->cells; i++) {
		struct mk_cell rest = value[i], part;

		for (; mk_split(&rest, '-', &part); got++)
			if (got < 3)
				range(mk, pmu, &part, to[got]);
	}
	if (got != claim->numbers)
		mk_fault(mk, pmu, &value[0], "a CPU of this architecture is %d number%s%s",
			 claim->numbers, claim->numbers == 1 ? "" : "s",
			 claim->numbers == 3 ? ": family-model-stepping" : "");
}

/* The cells, joined by blanks. */
static void patterns(struct mk *mk, struct mk_pmu *pmu, struct mk_match *m,
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

static void match(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value, int n)
{
	struct mk_match *m;
	int options;

	if (!(pmu->seen & 1u << ARCH)) {
		mk_fault(mk, pmu, &value[0], "@match must follow @arch");
		return;
	}
	if (pmu->row.arch == TACH__NARCHS)
		return; /* the fault is told */
	pmu->matches = mk_grow(pmu->matches, pmu->nmatches, &pmu->match_room, sizeof *m);
	m = &pmu->matches[pmu->nmatches++];
	memset(m, 0, sizeof *m);
	m->cell = value[0];
	m->row.arch = pmu->row.arch;
	any(m->row.family);
	any(m->row.model);
	any(m->row.stepping);
	options = mk_claims[pmu->row.arch].cells;
	if (n < options)
		mk_fault(mk, pmu, &value[0], "a CPU of this architecture is %d cells", options);
	else if (mk_claims[pmu->row.arch].numbers)
		numbers(mk, pmu, m, value);
	else
		patterns(mk, pmu, m, value);
	for (int i = options; i < n; i++)
		match_option(mk, pmu, m, &value[i]);
}

static void general(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value)
{
	struct mk_cell rest = value[0], part;
	uint64_t counters = 0;

	pmu->row.general_width = (uint8_t)number(mk, pmu, &value[1], 64);
	if (mk_is(&value[0], "?"))
		return;
	mk_split(&rest, '-', &part);
	if (rest.text) { /* the counters themselves: ia64's 4-7 */
		mk_counters(mk, pmu, &value[0], &counters);
		pmu->row.general_mask = (uint32_t)counters;
	} else {
		counters = number(mk, pmu, &value[0], 32);
		pmu->row.general_mask = (uint32_t)((1ull << counters) - 1);
	}
	pmu->row.general = (uint8_t)__builtin_popcount(pmu->row.general_mask);
}

static void privilege(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value)
{
	struct mk_cell rest = *value, part;

	while (mk_split(&rest, ',', &part)) {
		if (mk_is(&part, "k"))
			pmu->row.plm |= TACH_PRIVILEGE_KERNEL;
		else if (mk_is(&part, "u"))
			pmu->row.plm |= TACH_PRIVILEGE_USER;
		else if (mk_is(&part, "h"))
			pmu->row.plm |= TACH_PRIVILEGE_HYPERVISOR;
		else
			mk_fault(mk, pmu, &part, "unknown privilege level '%.*s'",
				 (int)part.length, part.text);
	}
}

static void word(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value,
		 const char *const *words, size_t count, const char *what, uint8_t *out)
{
	int i = mk_word(words, count, value);

	if (i < 0)
		mk_fault(mk, pmu, value, "unknown %s '%.*s'", what, (int)value->length,
			 value->text);
	else
		*out = (uint8_t)i;
}

static void take(struct mk *mk, struct mk_pmu *pmu, enum key key, const struct mk_cell *value,
		 int n)
{
	uint64_t counters = 0;

	switch (key) {
	case FORMAT:
		if (!mk_is(value, "pmuevents/1"))
			mk_fault(mk, pmu, value, "this program reads pmuevents/1 only");
		break;
	case PMU:
		pmu->name = *value;
		break;
	case ARCH:
		pmu->row.arch = TACH__NARCHS;
		word(mk, pmu, value, mk_arch_names, TACH__NARCHS, "architecture",
		     &pmu->row.arch);
		break;
	case ENCODING:
		word(mk, pmu, value, mk_encoding_names, TACH__NENCODINGS, "encoding",
		     &pmu->row.encoding);
		break;
	case ALIAS:
		pmu->alias = *value;
		break;
	case DESCRIPTION:
		pmu->description = *value;
		break;
	case LIBPFM4:
		pmu->row.libpfm4_id = (int32_t)number(mk, pmu, &value[1], 0xffff);
		break;
	case VENDOR:
		pmu->vendor = *value;
		break;
	case MATCH:
		match(mk, pmu, value, n);
		break;
	case PERF:
		for (int i = 0; i < n && !mk_empty(&value[i]); i++)
			pmu->perf[pmu->nperf++] = value[i];
		break;
	case GP:
		general(mk, pmu, value);
		break;
	case FIXED:
		mk_counters(mk, pmu, value, &counters);
		if (counters & UINT32_MAX)
			mk_fault(mk, pmu, value, "fixed counters are written f0,f1,...");
		pmu->row.fixed = (uint32_t)(counters >> 32);
		pmu->row.fixed_width = (uint8_t)number(mk, pmu, &value[1], 64);
		break;
	case GP_LIBPFM4:
		pmu->row.general_libpfm4 = (uint8_t)number(mk, pmu, value, 64);
		break;
	case FIXED_LIBPFM4:
		pmu->row.fixed_libpfm4 = (uint8_t)number(mk, pmu, value, 64);
		break;
	case PLM:
		privilege(mk, pmu, value);
		break;
	case MODS:
		mk_mods(mk, pmu, value, &pmu->row.mods);
		break;
	case FLAGS:
		pmu->flags_cell = *value;
		mk_flags(mk, pmu, value, mk_pmu_flags, "PMU flag", &pmu->row.flags);
		break;
	case ISA:
	case SOURCE:
	case NKEYS:
		break;
	}
}

static int repeating(enum key key)
{
	for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
		if (repeats[i] == key)
			return 1;
	return 0;
}

void mk_header(struct mk *mk, struct mk_pmu *pmu, struct mk_cell line)
{
	struct mk_cell key, value[5];
	enum key k;
	int n = 0;

	mk_split(&line, '\t', &key);
	key.text++;
	key.length--;
	key.column++;
	for (k = 0; k < NKEYS && !mk_is(&key, keys[k].name); k++)
		;
	if (k == NKEYS) {
		mk_fault(mk, pmu, &key, "unknown header key '%.*s'", (int)key.length, key.text);
		return;
	}
	while (n < 5 && mk_split(&line, '\t', &value[n])) {
		if (value[n].length == 0) {
			mk_fault(mk, pmu, &value[n], "empty cell");
			return;
		}
		n++;
	}
	if (n < keys[k].least || n > keys[k].most) {
		mk_fault(mk, pmu, &key, "@%s takes %d to %d values", keys[k].name,
			 keys[k].least, keys[k].most);
		return;
	}
	if (pmu->seen & 1u << k && !repeating(k)) {
		mk_fault(mk, pmu, &key, "@%s given twice", keys[k].name);
		return;
	}
	take(mk, pmu, k, value, n);
	pmu->seen |= 1u << k;
}

void mk_header_done(struct mk *mk, struct mk_pmu *pmu)
{
	struct mk_cell at = {"", 0, 1, 1};

	for (size_t i = 0; i < sizeof required / sizeof *required; i++)
		if (!(pmu->seen & 1u << required[i]))
			mk_fault(mk, pmu, &at, "no @%s in this file", keys[required[i]].name);
}

/* SPDX-License-Identifier: MIT */
/* Parses the @key lines at the head of a file. */
#include <string.h>
#include <tach/event.h>
#include "tools/mkevents/mk.h"

enum { VALUES_MAX = 40 };

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
	PRIVILEGE,
	MODS,
	FLAGS,
	SOURCE,
	/* of boxes */
	INST,
	SINGLE,
	DETECT,
	PERFDROP,
	OSMODS,
	WORDS,
	BOX_LINUX,
	IDENTIFIER,
	FIELDS,
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
	[PRIVILEGE] = {"privilege", 1, 1},
	[MODS] = {"mods", 1, 1},
	[FLAGS] = {"flags", 1, 1},
	[SOURCE] = {"source", 2, 4},
	[INST] = {"inst", 5, 5},
	[SINGLE] = {"single", 1, 1},
	[DETECT] = {"detect", 1, 1},
	[PERFDROP] = {"perfdrop", 1, 1},
	[OSMODS] = {"osmods", 1, 1},
	[WORDS] = {"codes_libpfm4", 1, 1},
	[BOX_LINUX] = {"linux", 5, 5},
	[IDENTIFIER] = {"identifier", 1, 1},
	[FIELDS] = {"fields", 1, VALUES_MAX},
};
static const enum key required[] = {FORMAT,    PMU,  ARCH,  ENCODING, PERF,
				    PRIVILEGE, MODS, FLAGS, NKEYS};
static const enum key required_of_boxes[] = {FORMAT, PMU,    ARCH, ENCODING, INST,
					     DETECT, OSMODS, MODS, FLAGS,    NKEYS};
static const enum key repeats[] = {MATCH, SOURCE, INST};

static uint64_t parse_number(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
			     uint64_t max)
{
	uint64_t n = 0;

	if (!mk_number(cell, 10, max, &n))
		mk_fault(mk, pmu, cell, "'%.*s' is not a number up to %llu", (int)cell->length,
			 cell->text, (unsigned long long)max);
	return n;
}

static void parse_match(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value, int n)
{
	if (!(pmu->seen & 1u << ARCH))
		mk_fault(mk, pmu, &value[0], "@match must follow @arch");
	else if (pmu->row.arch != TACH__NARCHS) /* otherwise the error is already reported */
		mk_match(mk, pmu, value, n);
}

static void parse_general(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value)
{
	struct mk_cell rest = value[0], part;
	uint64_t counters = 0;

	pmu->row.general_width = (uint8_t)parse_number(mk, pmu, &value[1], 64);
	if (mk_is(&value[0], "?"))
		return;
	mk_split(&rest, '-', &part);
	if (rest.text) { /* the counter numbers themselves: 4-7 on ia64 */
		mk_counters(mk, pmu, &value[0], &counters);
		pmu->row.general_mask = (uint32_t)counters;
	} else {
		counters = parse_number(mk, pmu, &value[0], 32);
		pmu->row.general_mask = (uint32_t)((1ull << counters) - 1);
	}
	pmu->row.general = (uint8_t)__builtin_popcount(pmu->row.general_mask);
}

static void parse_privilege(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value)
{
	struct mk_cell rest = *value, part;

	while (mk_split(&rest, ',', &part)) {
		if (mk_is(&part, "k"))
			pmu->row.privilege |= TACH_PRIVILEGE_KERNEL;
		else if (mk_is(&part, "u"))
			pmu->row.privilege |= TACH_PRIVILEGE_USER;
		else if (mk_is(&part, "h"))
			pmu->row.privilege |= TACH_PRIVILEGE_HYPERVISOR;
		else
			mk_fault(mk, pmu, &part, "unknown privilege level '%.*s'",
				 (int)part.length, part.text);
	}
}

static void parse_word(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *value,
		       const char *const *words, size_t count, const char *what, uint8_t *out)
{
	int i = mk_word(words, count, value);

	if (i < 0)
		mk_fault(mk, pmu, value, "unknown %s '%.*s'", what, (int)value->length,
			 value->text);
	else
		*out = (uint8_t)i;
}

static void take_key(struct mk *mk, struct mk_pmu *pmu, enum key key,
		     const struct mk_cell *value, int n)
{
	uint64_t counters = 0;
	uint32_t counted = 0;

	switch (key) {
	case FORMAT:
		pmu->boxes = mk_is(value, "pmuevents-uncore/1");
		if (!pmu->boxes && !mk_is(value, "pmuevents/1"))
			mk_fault(mk, pmu, value, "this program reads pmuevents/1 only");
		break;
	case PMU:
		pmu->name = *value;
		break;
	case ARCH:
		pmu->row.arch = TACH__NARCHS;
		parse_word(mk, pmu, value, mk_arch_names, TACH__NARCHS, "architecture",
			   &pmu->row.arch);
		break;
	case ENCODING:
		parse_word(mk, pmu, value, mk_encoding_names, TACH__NENCODINGS, "encoding",
			   &pmu->row.encoding);
		break;
	case ALIAS:
		pmu->alias = *value;
		break;
	case DESCRIPTION:
		pmu->description = *value;
		break;
	case LIBPFM4:
		pmu->row.libpfm4_id = (int32_t)parse_number(mk, pmu, &value[1], 0xffff);
		break;
	case VENDOR:
		pmu->vendor = *value;
		break;
	case MATCH:
		parse_match(mk, pmu, value, n);
		break;
	case PERF:
		for (int i = 0; i < n && !mk_empty(&value[i]); i++)
			pmu->perf[pmu->nperf++] = value[i];
		break;
	case GP:
		parse_general(mk, pmu, value);
		break;
	case FIXED:
		mk_counters(mk, pmu, value, &counters);
		if (counters & UINT32_MAX)
			mk_fault(mk, pmu, value, "fixed counters are written f0,f1,...");
		pmu->row.fixed = (uint32_t)(counters >> 32);
		pmu->row.fixed_width = (uint8_t)parse_number(mk, pmu, &value[1], 64);
		break;
	case GP_LIBPFM4:
		pmu->row.general_libpfm4 = (uint8_t)parse_number(mk, pmu, value, 64);
		break;
	case FIXED_LIBPFM4:
		pmu->row.fixed_libpfm4 = (uint8_t)parse_number(mk, pmu, value, 64);
		break;
	case PRIVILEGE:
		parse_privilege(mk, pmu, value);
		break;
	case MODS:
		mk_mods(mk, pmu, value, &pmu->row.mods);
		break;
	case FLAGS:
		pmu->flags_cell = *value;
		mk_flags(mk, pmu, value, mk_pmu_flags, "PMU flag", &counted);
		pmu->row.flags |= counted;
		break;
	case INST:
		mk_inst(mk, pmu, value);
		break;
	case SINGLE:
		pmu->single = *value;
		break;
	case DETECT:
		pmu->row.flags |= TACH__PMU_BOX | (mk_is(value, "sysfs") ? TACH__PMU_SYSFS : 0);
		if (!mk_is(value, "sysfs") && !mk_is(value, "cpu"))
			mk_fault(mk, pmu, value, "@detect is cpu or sysfs");
		break;
	case PERFDROP:
		mk_mods(mk, pmu, value, &pmu->row.perfdrop);
		break;
	case OSMODS:
		mk_osmods(mk, pmu, value);
		break;
	case WORDS:
		pmu->row.words = (uint8_t)parse_number(mk, pmu, value, 4);
		break;
	case BOX_LINUX:
	case IDENTIFIER:
	case FIELDS:
	case ISA:
	case SOURCE:
	case NKEYS:
		break;
	}
}

static int may_repeat(enum key key)
{
	for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
		if (repeats[i] == key)
			return 1;
	return 0;
}

void mk_header(struct mk *mk, struct mk_pmu *pmu, struct mk_cell line)
{
	struct mk_cell key, value[VALUES_MAX];
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
	while (n < VALUES_MAX && mk_split(&line, '\t', &value[n])) {
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
	if (pmu->seen & 1u << k && !may_repeat(k)) {
		mk_fault(mk, pmu, &key, "@%s given twice", keys[k].name);
		return;
	}
	take_key(mk, pmu, k, value, n);
	pmu->seen |= 1u << k;
}

void mk_header_done(struct mk *mk, struct mk_pmu *pmu)
{
	const enum key *needed = pmu->boxes ? required_of_boxes : required;
	struct mk_cell at = {"", 0, 1, 1};

	for (; *needed != NKEYS; needed++)
		if (!(pmu->seen & 1u << *needed))
			mk_fault(mk, pmu, &at, "no @%s in this file", keys[*needed].name);
}

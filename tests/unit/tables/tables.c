/* SPDX-License-Identifier: MIT */
/*
 * Every row of every event table is found by name, and contains the same data as its line. The
 * test has its own small reader for the files, which shares no code with tools/mkevents.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tach/event.h>
#include "core/port/port.h"
#include "core/tables/tables.h"
#include "tests/check.h"

enum { CELLS = 11, MATCHED_ATTRS = 32 };
enum { NAME = 1, CODE, GROUP, COUNTERS, MODS, HW, FLAGS, SRC, ATTRS, DESC };

static const char *const mods[TACH__NMODS] = {
	"k", "u", "e",	"i",	"c",   "t",	 "ldlat",  "intx", "intxcp", "fe_thres",
	"h", "g", "hv", "cmpl", "thr", "irange", "drange", "opc",  "eq",
};
static const char *const attr_names[TACH__NATTRS] = {
	"eq",	    "vn",    "sel",  "base",   "plain", "msr",	"ldlat",   "req",
	"lock",	    "f0",    "f1",   "sav",    "err",	"la",	"l1h",	   "alone",
	"pebsonly", "pdist", "perf", "only",   "um",	"escr", "escrsel", "realmask",
	"caf",	    "group", "set",  "maxinc", "o",	"pfm",	"vc",	   "rev",
};
static const struct {
	const char *name;
	uint32_t bit;
} event_flags[] =
	{
		{"offcore", TACH__EV_OFFCORE},
		{"frontend", TACH__EV_FRONTEND},
		{"grpexcl", TACH__EV_GRPEXCL},
		{"bare", TACH__EV_BARE},
		{"fixed", TACH__EV_FIXED},
		{"pebs", TACH__EV_PEBS},
		{"pebsv", TACH__EV_PEBSV},
		{"spec", TACH__EV_SPEC},
		{"depr", TACH__EV_DEPR},
		{"codedup", TACH__EV_CODEDUP},
		{"btb", TACH__EV_BTB},
		{"etb", TACH__EV_ETB},
		{"iear_cache", TACH__EV_IEAR_CACHE},
		{"iear_tlb", TACH__EV_IEAR_TLB},
		{"dear_cache", TACH__EV_DEAR_CACHE},
		{"dear_tlb", TACH__EV_DEAR_TLB},
		{"dear_alat", TACH__EV_DEAR_ALAT},
		{"irange", TACH__EV_IRANGE},
		{"drange", TACH__EV_DRANGE},
		{"opc", TACH__EV_OPC},
		{"mesi", TACH__EV_MESI},
		{"allthrd", TACH__EV_ALLTHRD},
		{"fallback", TACH__EV_FALLBACK},
		{"noauto", TACH__EV_NOAUTO},
		{"ibsfetch", TACH__EV_IBSFETCH},
		{"ibsop", TACH__EV_IBSOP},
		{"filt", TACH__EV_FILT},
		{"filt0", TACH__EV_FILT0},
},
  umask_flags[] =
	  {
		  {"dfl", TACH__UM_DFL},       {"nc", TACH__UM_NC},
		  {"solo", TACH__UM_SOLO},     {"xgt", TACH__UM_XGT},
		  {"xbut0", TACH__UM_XBUT0},   {"grpnone", TACH__UM_GRPNONE},
		  {"omit", TACH__UM_OMIT},     {"ldlat", TACH__UM_LDLAT},
		  {"fethr", TACH__UM_FETHR},   {"nomods", TACH__UM_NOMODS},
		  {"pebs", TACH__UM_PEBS},     {"spec", TACH__UM_SPEC},
		  {"depr", TACH__UM_DEPR},     {"fixed", TACH__UM_FIXED},
		  {"noauto", TACH__UM_NOAUTO},
},
  pmu_flags[] = {
	  {"rawumask", TACH__PMU_RAWUMASK},
	  {"ecmask", TACH__PMU_ECMASK},
	  {"extpebs", TACH__PMU_EXTPEBS},
	  {"pebsall", TACH__PMU_PEBSALL},
	  {"noh", TACH__PMU_NOH},
	  {"spec", TACH__PMU_SPEC},
	  {"deprecated", TACH__PMU_DEPRECATED},
	  {"archdefault", TACH__PMU_ARCHDEFAULT},
	  {"pfm3", TACH__PMU_PFM3},
	  {"perfmonv2", TACH__PMU_PERFMONV2},
};
#define BITS(table, cell)                                                                      \
	bits_of(&table[0].name, &table[0].bit, sizeof table / sizeof *table, cell)

static uint32_t bits_of(const char *const *name, const uint32_t *bit, size_t n,
			const char *cell)
{
	char copy[512], *rest = copy, *word;
	uint32_t out = 0;

	if (strcmp(cell, "-") == 0)
		return 0;
	snprintf(copy, sizeof copy, "%s", cell);
	while ((word = strsep(&rest, ",")) != NULL) {
		size_t i = 0;

		while (i < n &&
		       strcmp(*(const char *const *)((const char *)name + i * 16), word) != 0)
			i++;
		CHECK(i < n, "%s", word);
		if (i < n)
			out |= *(const uint32_t *)((const char *)bit + i * 16);
	}
	return out;
}

static uint32_t mods_of(const char *cell, uint32_t star)
{
	char copy[512], *rest = copy, *word;
	uint32_t out = 0;

	if (strcmp(cell, "*") == 0)
		return star;
	if (strcmp(cell, "-") == 0)
		return 0;
	snprintf(copy, sizeof copy, "%s", cell);
	while ((word = strsep(&rest, ",")) != NULL)
		for (int i = 0; i < TACH__NMODS; i++)
			if (strcmp(mods[i], word) == 0)
				out |= 1u << i;
	return out;
}

static uint64_t counters_of(const char *cell)
{
	uint64_t out = 0;

	for (const char *p = cell; *p && *p != '-'; p += *p == ',') {
		int fixed = *p == 'f' ? 32 : 0;
		char *end;
		long a = strtol(p + (fixed != 0), &end, 10), b = a;

		if (*end == '-')
			b = strtol(end + 1, &end, 10);
		for (long i = a; i <= b; i++)
			out |= 1ull << (fixed + i);
		p = end;
	}
	return out;
}

static void same_hw(uint32_t hw, const char *cell, const char *where)
{
	char copy[512], *rest = copy, *word;
	uint32_t value, seen = 0;

	snprintf(copy, sizeof copy, "%s", strcmp(cell, "-") ? cell : "");
	while ((word = strsep(&rest, ",")) != NULL && *word) {
		char *number = strchr(word, '=');

		*number++ = 0;
		for (int i = 0; i < TACH__NMODS; i++)
			if (strcmp(mods[i], word) == 0) {
				seen |= 1u << i;
				CHECK(tach__hw(hw, (enum tach__mod)i, &value) &&
					      value == strtoul(number, NULL, 0),
				      "%s %s", where, cell);
			}
	}
	for (int i = 0; i < TACH__NMODS; i++)
		CHECK(tach__hw(hw, (enum tach__mod)i, &value) == (int)(seen >> i & 1), "%s %s",
		      where, mods[i]);
}

static void same_attrs(uint32_t attrs, const char *cell, const char *where)
{
	char copy[4096], *rest = copy, *word;
	uint64_t number = 0;
	const char *text = "";
	uint32_t seen = 0;

	snprintf(copy, sizeof copy, "%s", strcmp(cell, "-") ? cell : "");
	while ((word = strsep(&rest, ";")) != NULL && *word) {
		char *value = strchr(word, '='), *end;
		uint64_t want;
		int i = 0;

		if (value)
			*value++ = 0;
		while (i < TACH__NATTRS && strcmp(attr_names[i], word) != 0)
			i++;
		CHECK(i < TACH__NATTRS && tach__attr(attrs, (enum tach__attr)i, &number,
						     &text) == (i != TACH__A_VN),
		      "%s %s", where, word);
		if (i == TACH__A_VN)
			continue; /* used by vendor() alone */
		seen |= 1u << i;
		CHECK(strcmp(text, value ? value : word) == 0, "%s %s: %s", where, cell, text);
		want = value ? strtoull(value, &end, 0) : 1;
		if (!value || *end == 0)
			CHECK(number == want, "%s %s", where, cell);
	}
	for (int i = 0; i < TACH__NATTRS; i++)
		CHECK(tach__attr(attrs, (enum tach__attr)i, NULL, NULL) == (int)(seen >> i & 1),
		      "%s %s", where, attr_names[i]);
}

static int src_of(const char *cell)
{
	static const char *const names[] = {"L", "V", "LV", "LX", "LF"};

	for (int i = 0; i < 5; i++)
		if (strcmp(names[i], cell) == 0)
			return i;
	return -1;
}

static const char *text_of(const char *cell)
{
	return strcmp(cell, "-") ? cell : "";
}

/* The name in the opposite case; the result lives until the next call. */
static const char *other_case(const char *name)
{
	static char out[512];
	size_t i;

	for (i = 0; name[i] && i + 1 < sizeof out; i++)
		out[i] = (char)(name[i] >= 'a' && name[i] <= 'z'   ? name[i] - 32
				: name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32
								   : name[i]);
	out[i] = 0;
	return out;
}

/* ---- one file ---- */

static struct state {
	const char *file;
	int pmu, event, umask;
	int events, umasks; /* met so far */
	char match[64];
} at;
static int vendor_names; /* vendor spellings that find their own row */

static void header(char *cell[], int n)
{
	const struct tach__pmu *pmu;
	char perf[512] = "";

	if (strcmp(cell[0], "@pmu") == 0) {
		at.pmu = tach__pmu_find(cell[1], strlen(cell[1]));
		CHECK(at.pmu >= 0, "%s", cell[1]);
		CHECK(tach__pmu_find(other_case(cell[1]), strlen(cell[1])) == at.pmu, "%s",
		      cell[1]);
		if (at.pmu < 0)
			return;
		CHECK(strcmp(tach__str(tach__pmu_at(at.pmu)->name), cell[1]) == 0, "%s",
		      cell[1]);
	}
	if (at.pmu < 0)
		return;
	pmu = tach__pmu_at(at.pmu);
	if (strcmp(cell[0], "@arch") == 0)
		CHECK(strcmp(tach__parts[pmu->arch]->name, cell[1]) == 0, "%s", at.file);
	else if (strcmp(cell[0], "@libpfm4") == 0)
		CHECK(pmu->libpfm4_id == atoi(cell[2]), "%s", at.file);
	else if (strcmp(cell[0], "@alias") == 0)
		CHECK(strcmp(tach__str(pmu->alias), cell[1]) == 0, "%s", at.file);
	else if (strcmp(cell[0], "@mods") == 0)
		CHECK(pmu->mods == mods_of(cell[1], 0), "%s", at.file);
	else if (strcmp(cell[0], "@flags") == 0)
		CHECK(pmu->flags == BITS(pmu_flags, cell[1]), "%s", at.file);
	else if (strcmp(cell[0], "@privilege") == 0)
		CHECK(pmu->privilege ==
			      ((strchr(cell[1], 'k') ? TACH_PRIVILEGE_KERNEL : 0) |
			       (strchr(cell[1], 'u') ? TACH_PRIVILEGE_USER : 0) |
			       (strchr(cell[1], 'h') ? TACH_PRIVILEGE_HYPERVISOR : 0)),
		      "%s", at.file);
	else if (strcmp(cell[0], "@fixed") == 0)
		CHECK(pmu->fixed == counters_of(cell[1]) >> 32 &&
			      pmu->fixed_width == atoi(cell[2]),
		      "%s", at.file);
	else if (strcmp(cell[0], "@gp") == 0)
		CHECK(pmu->general_width == atoi(cell[2]) &&
			      pmu->general == __builtin_popcount(pmu->general_mask) &&
			      (strchr(cell[1], '-') ? pmu->general_mask == counters_of(cell[1])
						    : pmu->general == atoi(cell[1])),
		      "%s", at.file);
	else if (strcmp(cell[0], "@gp_libpfm4") == 0)
		CHECK(pmu->general_libpfm4 == atoi(cell[1]), "%s", at.file);
	else if (strcmp(cell[0], "@fixed_libpfm4") == 0)
		CHECK(pmu->fixed_libpfm4 == atoi(cell[1]), "%s", at.file);
	else if (strcmp(cell[0], "@perf") == 0) {
		for (int i = 1; i < n; i++)
			snprintf(perf + strlen(perf), sizeof perf - strlen(perf), "%s%s",
				 i > 1 ? " " : "", text_of(cell[i]));
		CHECK(strcmp(tach__str(pmu->perf), perf) == 0, "%s", at.file);
	}
}

/*
 * Returns true if EVENT.UMASK, perhaps with dots for underscores, is found by its names,
 * without the index.
 */
static int is_spelled(const char *vn, size_t n, int umask)
{
	const struct tach__event *e = tach__event_at(at.pmu, at.event);
	const char *event = tach__str(e->name), *name;
	size_t start = strlen(event) + 1;

	if (umask < 0)
		return 0;
	name = tach__str(tach__umask_at(e, umask)->name);
	if (n != start + strlen(name) || strncasecmp(vn, event, start - 1) != 0 ||
	    vn[start - 1] != '.')
		return 0;
	for (size_t i = start; i < n; i++)
		if (name[i - start] != (vn[i] == '.' ? '_' : vn[i]))
			return 0;
	return 1;
}

/*
 * If a later row of the event contains an umask that the spelling already has, the request is
 * the same.
 */
static int is_again(const char *vn, size_t n, int umask, int later)
{
	const struct tach__event *e = tach__event_at(at.pmu, at.event);
	const char *first = memchr(vn, '.', n);

	return first && memchr(first + 1, '.', n - (size_t)(first + 1 - vn)) &&
	       is_spelled(vn, n, umask) &&
	       tach__umask_at(e, later)->code == tach__umask_at(e, umask)->code;
}

/*
 * vn= finds the first row with that spelling. If that row's names also form a name with two
 * dots, vn= finds the row that has the spelling without this form.
 */
static void vendor(const char *attrs, int umask)
{
	const char *vn = strncmp(attrs, "vn=", 3) == 0 ? attrs : strstr(attrs, ";vn=");
	size_t n;
	int u = -2, e;

	if (!vn)
		return;
	vn = strchr(vn, '=') + 1;
	n = strcspn(vn, ";");
	if (memchr(vn, ':', n))
		return; /* cannot be part of an event string */
	e = tach__vendor_find(at.pmu, vn, n, &u);
	CHECK(e >= 0 && e <= at.event &&
		      (e < at.event || u <= umask || is_again(vn, n, umask, u)),
	      "%s %.*s: %d %d", at.file, (int)n, vn, e, u);
	vendor_names += e == at.event && u == umask;
}

/*
 * Most texts come from descriptions.tsv (tests/unit/tables/descriptions.c); a row's own text
 * has priority.
 */
static void same_description(uint32_t description, char *cell[])
{
	if (strcmp(cell[DESC], "-") != 0)
		CHECK(strcmp(tach__str(description), cell[DESC]) == 0, "%s", cell[NAME]);
}

static void event(char *cell[])
{
	const struct tach__event *e;

	at.events++;
	at.umask = -1;
	at.event = tach__event_find(at.pmu, cell[NAME], strlen(cell[NAME]));
	CHECK(at.event == at.events - 1, "%s %s: %d", at.file, cell[NAME], at.event);
	CHECK(tach__event_find(at.pmu, other_case(cell[NAME]), strlen(cell[NAME])) == at.event,
	      "%s", cell[NAME]);
	if (at.event < 0)
		return;
	e = tach__event_at(at.pmu, at.event);
	CHECK(strcmp(tach__str(e->name), cell[NAME]) == 0, "%s", cell[NAME]);
	same_description(e->description, cell);
	CHECK(e->code == strtoull(cell[CODE], NULL, 16), "%s", cell[NAME]);
	CHECK(e->ngroups == atoi(text_of(cell[GROUP])), "%s", cell[NAME]);
	CHECK(tach__counter_set(e->counter_set) == counters_of(cell[COUNTERS]), "%s",
	      cell[NAME]);
	CHECK(e->mods == mods_of(cell[MODS], tach__pmu_at(at.pmu)->mods), "%s", cell[NAME]);
	CHECK(e->flags == BITS(event_flags, cell[FLAGS]), "%s", cell[NAME]);
	CHECK(e->src == src_of(cell[SRC]), "%s", cell[NAME]);
	same_hw(e->hw, cell[HW], cell[NAME]);
	same_attrs(e->attrs, cell[ATTRS], cell[NAME]);
	vendor(cell[ATTRS], -1);
}

static void umask(char *cell[])
{
	const struct tach__event *e = tach__event_at(at.pmu, at.event);
	const struct tach__umask *u;
	int found = tach__umask_find(e, cell[NAME], strlen(cell[NAME]));
	const char *slash = strchr(cell[GROUP], '/');

	at.umasks++;
	at.umask++;
	CHECK(found == at.umask, "%s %s: %d", at.file, cell[NAME], found);
	CHECK(tach__umask_find(e, other_case(cell[NAME]), strlen(cell[NAME])) == found, "%s",
	      cell[NAME]);
	if (found < 0)
		return;
	u = tach__umask_at(e, found);
	CHECK(strcmp(tach__str(u->name), cell[NAME]) == 0, "%s", cell[NAME]);
	same_description(u->description, cell);
	CHECK(u->code == strtoull(cell[CODE], NULL, 16), "%s", cell[NAME]);
	CHECK(u->group == atoi(cell[GROUP]), "%s", cell[NAME]);
	CHECK(u->requires == (slash ? atoi(slash + 1) : 0xff), "%s", cell[NAME]);
	CHECK(tach__counter_set(u->counter_set) == counters_of(cell[COUNTERS]), "%s",
	      cell[NAME]);
	CHECK(u->mods == mods_of(cell[MODS], 0), "%s", cell[NAME]);
	CHECK(u->flags == BITS(umask_flags, cell[FLAGS]), "%s", cell[NAME]);
	CHECK(u->src == src_of(cell[SRC]), "%s", cell[NAME]);
	same_hw(u->hw, cell[HW], cell[NAME]);
	same_attrs(u->attrs, cell[ATTRS], cell[NAME]);
	vendor(cell[ATTRS], found);
}

static void file_done(void)
{
	if (at.pmu < 0)
		return;
	CHECK((int)tach__pmu_at(at.pmu)->nevents == at.events, "%s", at.file);
}

static void one_file(const char *file)
{
	char line[8192], *cell[CELLS + 1], *rest;
	FILE *from = fopen(file, "r");
	int n;

	CHECK(from != NULL, "%s", file);
	if (!from)
		return;
	at = (struct state){.file = file, .pmu = -1, .event = -1};
	while (fgets(line, sizeof line, from)) {
		line[strcspn(line, "\n")] = 0;
		rest = line;
		for (n = 0; n < CELLS + 1 && (cell[n] = strsep(&rest, "\t")) != NULL;)
			n++;
		if (cell[0][0] == '@')
			header(cell, n);
		else if (at.pmu >= 0 && strcmp(cell[0], "E") == 0)
			event(cell);
		else if (at.event >= 0 && strcmp(cell[0], "U") == 0)
			umask(cell);
		if (at.event >= 0 && cell[0][0] == 'E')
			CHECK(at.umask == -1, "%s", file);
	}
	fclose(from);
	file_done();
}

static void every_row_is_found_with_its_facts(void)
{
	glob_t files;

	CHECK(glob("arch/*/events/*.tsv", 0, NULL, &files) == 0, "no tables");
	CHECK((int)files.gl_pathc == tach__npmus(), "%d PMUs", tach__npmus());
	for (size_t i = 0; i < files.gl_pathc; i++)
		one_file(files.gl_pathv[i]);
	CHECK(vendor_names > 5000, "%d", vendor_names);
	globfree(&files);
}

/* ---- look-up ---- */

static void names_that_are_not_there(void)
{
	int umask, pmu = tach__pmu_find("skl", 3);
	const struct tach__event *e = tach__event_at(pmu, tach__event_find(pmu, "l2_rqsts", 8));

	CHECK(tach__pmu_find("", 0) == -1);
	CHECK(tach__pmu_find("skl", 2) == -1, "a prefix of a name");
	CHECK(tach__pmu_find("sklx", 4) == -1);
	CHECK(tach__event_find(pmu, "INST_RETIRE", 11) == -1);
	CHECK(tach__event_find(pmu, "INST_RETIRED\0X", 14) == -1, "a name with a NUL in it");
	CHECK(tach__event_find(pmu, "", 0) == -1);
	CHECK(tach__event_find(pmu, "zzzz", 4) == -1);
	CHECK(tach__umask_find(e, "", 0) == -1);
	CHECK(tach__umask_find(e, "zzzz", 4) == -1);
	CHECK(tach__vendor_find(pmu, "zzzz", 4, &umask) == -1);
	CHECK(tach__vendor_find(pmu, "", 0, &umask) == -1);
}

static size_t all_steps, all_places;

/*
 * A look-up takes ceil(log2(n + 1)) steps and then one name, rarely two: in each index the
 * hashes are sorted, the order is a permutation, and few hashes are equal.
 */
static void index_is_sound(const uint16_t *hashes, const uint16_t *order, size_t n,
			   const char *what)
{
	uint8_t *seen = calloc(n + 1, 1);
	size_t equal = 1, steps;

	for (size_t i = 0; i < n; i++) {
		CHECK(i == 0 || hashes[i - 1] <= hashes[i], "%s: place %zu", what, i);
		equal = i && hashes[i - 1] == hashes[i] ? equal + 1 : 1;
		CHECK(equal <= 3, "%s: %zu equal hashes", what, equal);
		/* tach__hash_bound starts there and continues step by step. */
		steps = n * hashes[i] >> 16;
		steps = steps > i ? steps - i : i - steps;
		CHECK(steps < 48, "%s: place %zu is %zu steps away", what, i, steps);
		all_steps += steps;
		all_places++;
		CHECK(!order || (order[i] < n && !seen[order[i]]++), "%s: place %zu", what, i);
	}
	free(seen);
}

static void look_up_walks_a_few_steps(void)
{
	for (int pmu = 0; pmu < tach__npmus() + tach__nboxes(); pmu++) {
		const struct tach__pmu *row = tach__pmu_at(pmu);
		const struct tach__tab_pmu *run = &tach__tab_runs[pmu];

		index_is_sound(&tach__tab_event_hash[run->events],
			       &tach__tab_event_order[run->events], row->nevents,
			       tach__str(row->name));
		index_is_sound(&tach__tab_name_hash[run->vendor], NULL, run->nvendor,
			       tach__str(row->name));
		for (uint32_t i = 0; i < row->nevents; i++) {
			const struct tach__event *e = tach__event_at(pmu, (int)i);

			index_is_sound(&tach__tab_umask_hash[e->umasks],
				       &tach__tab_umask_order[e->umasks], e->numasks,
				       tach__str(e->name));
		}
	}
	index_is_sound(&tach__tab_name_hash[tach__tab_pmu_names], NULL, tach__tab_npmu_names,
		       "PMUs");
	index_is_sound(&tach__tab_name_hash[tach__tab_box_names], NULL, tach__tab_nboxes,
		       "boxes");
	CHECK(all_steps < 3 * all_places, "%zu steps for %zu places", all_steps, all_places);
}

static void order_of_pmus(void)
{
	int last[TACH__NARCHS] = {0};

	for (int i = 0; i < tach__npmus(); i++) {
		const struct tach__pmu *p = tach__pmu_at(i);

		CHECK(i == 0 || p->arch >= tach__pmu_at(i - 1)->arch, "%d", i);
		last[p->arch] = i;
	}
	CHECK(strcmp(tach__str(tach__pmu_at(last[TACH__X86])->name), "ix86arch") == 0);
	CHECK(strcmp(tach__str(tach__pmu_at(last[TACH__ARM64])->name), "arm_armv8") == 0);
	CHECK(tach__pmu_find("adl_glc", 7) < tach__pmu_find("adl_grt", 7));
}

int main(void)
{
	CASE(every_row_is_found_with_its_facts);
	CASE(names_that_are_not_there);
	CASE(look_up_walks_a_few_steps);
	CASE(order_of_pmus);
	return check_done();
}

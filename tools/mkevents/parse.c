/* SPDX-License-Identifier: MIT */
/* One file: its lines, and the columns of E and U lines. */
#include <string.h>
#include "tools/mkevents/mk.h"

enum column { KIND, NAME, CODE, GROUP, COUNTERS, MODS, HW, FLAGS, SRC, ATTRS, DESC, NCOLUMNS };

static int split_columns(struct mk *mk, struct mk_pmu *pmu, struct mk_cell line,
			 struct mk_cell cell[NCOLUMNS])
{
	struct mk_cell start = line, extra;
	int n = 0;

	while (n < NCOLUMNS && mk_split(&line, '\t', &cell[n])) {
		if (cell[n].length == 0) {
			mk_fault(mk, pmu, &cell[n], "empty cell; write - for nothing");
			return 0;
		}
		n++;
	}
	if (n < NCOLUMNS) {
		mk_fault(mk, pmu, &start, "%d cells, expected %d", n, NCOLUMNS);
		return 0;
	}
	if (mk_split(&line, '\t', &extra)) {
		mk_fault(mk, pmu, &extra, "more than %d cells", NCOLUMNS);
		return 0;
	}
	return 1;
}

static void parse_name(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell)
{
	if (mk_empty(cell))
		mk_fault(mk, pmu, cell, "a name is needed");
	if (cell->length >= TACH__TAB_NAME_MAX)
		mk_fault(mk, pmu, cell, "a name has at most %d bytes", TACH__TAB_NAME_MAX - 1);
	for (size_t i = 0; i < cell->length; i++)
		if (strchr(" :.,;=|", cell->text[i])) {
			struct mk_cell at = *cell;

			at.column += (int)i;
			mk_fault(mk, pmu, &at, "a name cannot hold '%c'", cell->text[i]);
			return;
		}
}

static void parse_group(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
			struct mk_row *row)
{
	struct mk_cell rest = *cell, part;
	uint64_t g = 0, r = 0xff;

	mk_split(&rest, '/', &part);
	if (!mk_number(&part, 10, 7, &g) || (rest.text && !mk_number(&rest, 10, 7, &r)))
		mk_fault(mk, pmu, cell, "'%.*s' is not a group: expected g or g/r, 0 to 7",
			 (int)cell->length, cell->text);
	row->group = (uint8_t)g;
	row->requires = (uint8_t)r;
}

/* Parses the cells that E and U lines have in common. */
static void parse_common(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell,
			 uint64_t most, const struct mk_flag *flags, const char *what,
			 struct mk_row *row)
{
	int src = mk_word(mk_src_names, 5, &cell[SRC]);

	memset(row, 0, sizeof *row);
	row->box = -1;
	row->name = cell[NAME];
	row->description = cell[DESC];
	row->where = cell[COUNTERS];
	parse_name(mk, pmu, &cell[NAME]);
	if (!mk_number(&cell[CODE], 16, most, &row->code))
		mk_fault(mk, pmu, &cell[CODE], "'%.*s' is not a hexadecimal code up to %#llx",
			 (int)cell[CODE].length, cell[CODE].text, (unsigned long long)most);
	mk_counters(mk, pmu, &cell[COUNTERS], &row->counters);
	mk_hw(mk, pmu, &cell[HW], row);
	mk_flags(mk, pmu, &cell[FLAGS], flags, what, &row->flags);
	if (src < 0)
		mk_fault(mk, pmu, &cell[SRC], "unknown source '%.*s'", (int)cell[SRC].length,
			 cell[SRC].text);
	row->src = src < 0 ? 0 : (uint8_t)src;
	mk_attrs(mk, pmu, &cell[ATTRS], row);
}

/* A row stores 32 bits of a code. A wider code is stored separately, with all bits. */
static void store_wide(struct mk *mk, struct mk_row *row, const struct mk_cell *cell)
{
	mk->attrs = mk_grow(mk->attrs, mk->nattrs, &mk->attr_room, sizeof *mk->attrs);
	mk->attrs[mk->nattrs++] = (struct mk_attr){TACH__A_BASE, *cell, row->code};
	row->nattrs++;
}

static void parse_event(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell)
{
	struct mk_row *row;
	uint64_t groups = 0;

	pmu->events = mk_grow(pmu->events, pmu->nevents, &pmu->event_room, sizeof *row);
	row = &pmu->events[pmu->nevents++];
	parse_common(mk, pmu, cell, pmu->boxes ? UINT64_MAX : UINT32_MAX, mk_event_flags,
		     "event flag", row);
	if (row->code > UINT32_MAX)
		store_wide(mk, row, &cell[CODE]);
	if (!mk_empty(&cell[GROUP]) && !mk_number(&cell[GROUP], 10, 8, &groups))
		mk_fault(mk, pmu, &cell[GROUP], "'%.*s' is not a number of groups up to 8",
			 (int)cell[GROUP].length, cell[GROUP].text);
	row->group = (uint8_t)groups;
	row->first_umask = pmu->numasks;
	if (mk_is(&cell[MODS], "*"))
		row->mods = pmu->row.mods;
	else
		mk_mods(mk, pmu, &cell[MODS], &row->mods);
}

static void parse_umask(struct mk *mk, struct mk_pmu *pmu, const struct mk_cell *cell)
{
	struct mk_row *row;

	if (pmu->nevents == 0) {
		mk_fault(mk, pmu, &cell[KIND], "a umask before the first event");
		return;
	}
	pmu->umasks = mk_grow(pmu->umasks, pmu->numasks, &pmu->umask_room, sizeof *row);
	row = &pmu->umasks[pmu->numasks++];
	pmu->events[pmu->nevents - 1].numasks++;
	parse_common(mk, pmu, cell, UINT64_MAX, mk_umask_flags, "umask flag", row);
	parse_group(mk, pmu, &cell[GROUP], row);
	mk_mods(mk, pmu, &cell[MODS], &row->mods);
}

struct mk_row *mk_umasks(const struct mk_pmu *pmu, const struct mk_row *row)
{
	return row->numasks ? pmu->umasks + row->first_umask : NULL;
}

static void parse_line(struct mk *mk, struct mk_pmu *pmu, struct mk_cell text)
{
	struct mk_cell cell[NCOLUMNS], copy = text, kind;

	if (!mk_printable(mk, pmu, &text))
		return;
	if (text.length == 0 || text.text[0] == '#')
		return;
	if (text.text[0] == '@') {
		if (pmu->nevents)
			mk_fault(mk, pmu, &text, "a header line after the first event");
		else
			mk_header(mk, pmu, text);
		return;
	}
	mk_split(&copy, '\t', &kind);
	if (!mk_is(&kind, "E") && !mk_is(&kind, "U"))
		mk_fault(mk, pmu, &kind, "a line begins with @, #, E or U");
	else if (!split_columns(mk, pmu, text, cell))
		return;
	else if (mk_is(&kind, "E"))
		parse_event(mk, pmu, cell);
	else
		parse_umask(mk, pmu, cell);
}

void mk_parse(struct mk *mk, const char *file, const char *text, size_t length)
{
	struct mk_cell rest = {text, length, 1, 1}, one;
	struct mk_pmu *pmu;

	mk->pmus = mk_grow(mk->pmus, mk->npmus, &mk->pmu_room, sizeof *mk->pmus);
	pmu = &mk->pmus[mk->npmus++];
	memset(pmu, 0, sizeof *pmu);
	pmu->file = file;
	pmu->row.libpfm4_id = -1;
	while (mk_split(&rest, '\n', &one)) {
		one.column = 1;
		parse_line(mk, pmu, one);
		rest.line++;
	}
	mk_header_done(mk, pmu);
}

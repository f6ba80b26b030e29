/* SPDX-License-Identifier: MIT */
/* Cells of E and U lines that contain lists: flags, counters, modifiers, attributes. */
#include <string.h>
#include "tools/mkevents/mk.h"

void mk_flags(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	      const struct mk_flag *known, const char *what, uint32_t *out)
{
	struct mk_cell rest = *cell, part;

	*out = 0;
	if (mk_empty(cell))
		return;
	while (mk_split(&rest, ',', &part)) {
		const struct mk_flag *f = known;

		while (f->name && !mk_is(&part, f->name))
			f++;
		if (!f->name)
			mk_fault(mk, pmu, &part, "unknown %s '%.*s'", what, (int)part.length,
				 part.text);
		else if (*out & f->bit)
			mk_fault(mk, pmu, &part, "%s '%s' given twice", what, f->name);
		*out |= f->bit;
	}
}

/* "0-3,6,f0": general counters are bits 0-31, fixed counters bits 32-63. */
void mk_counters(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
		 uint64_t *out)
{
	struct mk_cell rest = *cell, part;

	*out = 0;
	if (mk_empty(cell))
		return;
	while (mk_split(&rest, ',', &part)) {
		struct mk_cell high = part, low;
		uint64_t a = 0, b = 0, bits;
		int fixed = part.length > 1 && part.text[0] == 'f';

		if (fixed) {
			high.text++;
			high.length--;
		}
		mk_split(&high, '-', &low);
		if (!high.text)
			high = low;
		if (!mk_number(&low, 10, 31, &a) || !mk_number(&high, 10, 31, &b) || a > b) {
			mk_fault(mk, pmu, &part,
				 "'%.*s' is not a counter: expected n, n-m or fn, 0 to 31",
				 (int)part.length, part.text);
			continue;
		}
		bits = ((1ull << (b - a + 1)) - 1) << a << (fixed ? 32 : 0);
		if (*out & bits)
			mk_fault(mk, pmu, &part, "counter '%.*s' given twice", (int)part.length,
				 part.text);
		*out |= bits;
	}
}

void mk_mods(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell, uint32_t *out)
{
	struct mk_cell rest = *cell, part;

	*out = 0;
	if (mk_empty(cell))
		return;
	while (mk_split(&rest, ',', &part)) {
		int mod = pmu->boxes ? mk_box_mod(&part) : mk_mod(&part);

		if (mod < 0) {
			mk_fault(mk, pmu, &part, "unknown modifier '%.*s'", (int)part.length,
				 part.text);
			continue;
		}
		if (*out & 1u << mod)
			mk_fault(mk, pmu, &part, "modifier '%.*s' given twice",
				 (int)part.length, part.text);
		*out |= 1u << mod;
	}
}

/* "c=4,i=1". Stored in modifier order, so that equal sets are equal lists. */
void mk_hw(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	   struct mk_row *row)
{
	struct mk_cell rest = *cell, part;
	uint32_t seen = 0, value[TACH__NMODS] = {0};

	row->nhw = 0;
	if (mk_empty(cell))
		return;
	while (mk_split(&rest, ',', &part)) {
		struct mk_cell number = part, name;
		uint64_t n = 0;
		int mod;

		mk_split(&number, '=', &name);
		mod = mk_mod(&name);
		if (mod < 0) {
			mk_fault(mk, pmu, &name, "unknown modifier '%.*s'", (int)name.length,
				 name.text);
		} else if (!number.text) {
			mk_fault(mk, pmu, &part, "expected %.*s=value", (int)part.length,
				 part.text);
		} else if (!mk_number(&number, 10, TACH__TAB_HW_MAX, &n)) {
			mk_fault(mk, pmu, &number, "'%.*s' is not a number up to %u",
				 (int)number.length, number.text, TACH__TAB_HW_MAX);
		} else if (seen & 1u << mod) {
			mk_fault(mk, pmu, &name, "modifier '%.*s' given twice",
				 (int)name.length, name.text);
		} else {
			seen |= 1u << mod;
			value[mod] = (uint32_t)n;
		}
	}
	for (int mod = 0; mod < TACH__NMODS; mod++)
		if (seen & 1u << mod)
			row->hw[row->nhw++] =
				TACH__TAB_HW(mod, seen >> mod >> 1 ? 1u : 0u, value[mod]);
}

/* Returns the only box of the file that has the row. */
static int find_only_box(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *name,
			 const struct mk_cell *value)
{
	uint64_t box = 0;

	if (!value->text || !mk_number(value, 10, 9999, &box)) {
		mk_fault(mk, pmu, value->text ? value : name,
			 "'inst' needs the number of a box");
		return -1;
	}
	for (size_t i = 0; i < pmu->ninsts; i++)
		if ((int)box >= pmu->insts[i].first && (int)box <= pmu->insts[i].last)
			return (int)box;
	mk_fault(mk, pmu, value, "no @inst has a box %d", (int)box);
	return -1;
}

static void parse_attr(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *part,
		       struct mk_row *row)
{
	struct mk_cell value = *part, name;
	struct mk_attr a = {0};
	uint32_t locked; /* only checked here */
	int key;

	mk_split(&value, '=', &name);
	if (pmu->boxes && mk_only_text(&name)) {
		if (mk_is(&name, "inst"))
			row->box = find_only_box(mk, pmu, &name, &value);
		return;
	}
	key = mk_attr_key(&name);
	if (key < 0) {
		mk_fault(mk, pmu, &name, "unknown attribute '%.*s'", (int)name.length,
			 name.text);
		return;
	}
	a.key = (enum tach__attr)key;
	a.cell = value.text ? value : name;
	for (size_t i = row->first_attr; i < mk->nattrs; i++)
		if (mk->attrs[i].key == a.key) {
			mk_fault(mk, pmu, &name, "attribute '%.*s' given twice",
				 (int)name.length, name.text);
			return;
		}
	switch (mk_attr_kind(a.key)) {
	case MK_FLAG:
		if (value.text)
			mk_fault(mk, pmu, &value, "'%.*s' takes no value", (int)name.length,
				 name.text);
		a.number = 1;
		break;
	case MK_NUMBER:
		if (!value.text || !mk_number(&value, 10, UINT64_MAX, &a.number))
			mk_fault(mk, pmu, value.text ? &value : &name, "'%.*s' needs a number",
				 (int)name.length, name.text);
		break;
	case MK_TEXT:
		if (!value.text || value.length == 0)
			mk_fault(mk, pmu, &name, "'%.*s' needs a value", (int)name.length,
				 name.text);
		else
			mk_number(&value, 10, UINT64_MAX, &a.number);
		break;
	}
	if (a.key == TACH__A_EQ)
		row->eq = a.cell;
	if (a.key == TACH__A_REQ && pmu->boxes) {
		mk_mods(mk, pmu, &a.cell, &locked);
		a.number = locked;
	}
	if (a.key == TACH__A_LOCK && !mk_is(&a.cell, "none"))
		mk_mods(mk, pmu, &a.cell, &locked);
	mk->attrs = mk_grow(mk->attrs, mk->nattrs, &mk->attr_room, sizeof a);
	mk->attrs[mk->nattrs++] = a;
}

void mk_attrs(struct mk *mk, const struct mk_pmu *pmu, const struct mk_cell *cell,
	      struct mk_row *row)
{
	struct mk_cell rest = *cell, part;

	row->first_attr = mk->nattrs;
	if (!mk_empty(cell))
		while (mk_split(&rest, ';', &part))
			parse_attr(mk, pmu, &part, row);
	row->nattrs = mk->nattrs - row->first_attr;
}

/* SPDX-License-Identifier: MIT */
/* Adds derived events to sets: their events become members, and their formula becomes a
 * metric. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/derived/derived.h"
#include "core/base/error.h"
#include "core/set/set.h"

int tach__set_same_attr(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel && a->exclude_hv == b->exclude_hv &&
	       a->exclude_host == b->exclude_host && a->exclude_guest == b->exclude_guest;
}

/* Returns 1 if both members count the same event. On hybrids, the core types must be the same,
 * too. */
static int is_same_member(const struct tach_set *set, int a, int b)
{
	int alike = tach__set_same_attr(&set->member[a].attr, &set->member[b].attr);

	for (int k = 0; set->cores && k < set->cores->n; k++)
		alike &= !((set->cores->members[k] >> a ^ set->cores->members[k] >> b) & 1);
	return alike;
}

int tach__set_merged(struct tach__making *m, int member)
{
	struct tach_set *set = m->set;

	for (int i = 0; i < member; i++) {
		struct tach__member *last = &set->member[member];

		if (!is_same_member(set, i, member))
			continue;
		if (m->nevents && m->member[m->nevents - 1] == member)
			m->nevents--;
		free(last->name);
		free(last->qualified);
		set->count--;
		return i;
	}
	return member;
}

static int add_members(struct tach__making *m, const struct tach_expansion *x, int *number)
{
	static const struct tach__span none;

	for (int i = 0; i < tach_expansion_count(x); i++) {
		const char *event = tach_expansion_event(x, i);
		struct tach__span text = {event, strlen(event), 1};
		int member = tach__set_find(m->set, event, text.length);

		if (member < 0 && tach__expansion_is_box(x, i))
			return tach__error(m->err, TACH_ERR_NOTSUPP, 0, 0,
					   "%s counts for the whole machine and for no thread: "
					   "tach run -m and TACH_AMBIENT count it",
					   event);
		if (member < 0)
			member = tach__set_native(m, text, none);
		if (member < 0 || member == TACH__LEFT_OUT)
			return member;
		number[i] = member == m->set->count - 1 ? tach__set_merged(m, member) : member;
	}
	return 0;
}

int tach__set_derived(struct tach__making *m, struct tach__span name,
		      struct tach_formula **formula, char *plain, size_t size)
{
	int number[TACH_FORMULA_OPERANDS_MAX], code;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_expansion *x;

	code = tach__derived_lookup(m->opt->pmu, name.at, name.length, &x, &err);
	if (code < 0)
		return tach__error(m->err, code, 0, name.column, "%s", err.text);
	if (code == 0)
		return 0;
	if (tach__expansion_plain(x) && !tach__expansion_is_box(x, 0)) {
		/* The text fits, because core/derived limits names and modifiers. */
		snprintf(plain, size, "%s", tach__expansion_plain(x));
		tach_expansion_free(x);
		return 0;
	}
	code = add_members(m, x, number);
	if (!code)
		code = tach__expansion_over(x, number, formula, m->err);
	if (code < 0 && m->err) /* the column is in a text that the caller did not write */
		m->err->column = name.column;
	tach_expansion_free(x);
	return code ? code : TACH__DERIVED;
}

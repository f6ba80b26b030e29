/* SPDX-License-Identifier: MIT */
/*
 * Makes the members of a set for each core type of a hybrid. A member that names no core PMU is
 * encoded for all core types. If only some core types have the event, it is counted on these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/event/event.h"
#include "core/os/perf_open.h"
#include "core/pmu/pmu.h"
#include "core/set/set.h"

int tach__cores_find(struct tach__making *m)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	int pmus[TACH__CORES_MAX], n;
	struct tach__cores *c;

	n = m->opt->pmu >= 0 ? 1 : tach_pmu_host(pmus, TACH__CORES_MAX, NULL);
	if (n < 2)
		return 0;
	c = calloc(1, sizeof *c);
	if (!c)
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	m->set->cores = c;
	/*
	 * For the kernel, PMUs without a number or with equal numbers are the same PMU. Skips
	 * them, because their events would be counted twice.
	 */
	for (int i = 0; i < n && i < TACH__CORES_MAX; i++) {
		int type = tach__perf_type(&opt, pmus[i]), known = type < 0;

		for (int k = 0; k < c->n; k++)
			known |= c->type[k] == type;
		if (known)
			continue;
		c->pmu[c->n] = pmus[i];
		c->type[c->n++] = type;
	}
	if (c->n < 2) {
		free(c);
		m->set->cores = NULL;
		return 0;
	}
	m->each = calloc((size_t)c->n, sizeof *m->each);
	if (!m->each)
		return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	return 0;
}

int tach__cores_have(const struct tach__cores *c, uint32_t type)
{
	for (int k = 0; c && k < c->n; k++)
		if (c->type[k] == (int)type)
			return 1;
	return 0;
}

/*
 * Returns 1 if the core type counts an event with this type and config, and replaces both by
 * the core type's own.
 */
static int take_event(const struct tach__cores *c, int core, struct perf_event_attr *attr,
		      int raw)
{
	uint64_t own = (uint64_t)c->type[core];

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		if (attr->config >> 32 == 0)
			attr->config |= own << 32;
		return attr->config >> 32 == own;
	case PERF_TYPE_RAW:
		if (raw)
			attr->type = (uint32_t)own;
		break;
	}
	return attr->type == own;
}

static void keep_attr(struct tach__making *m, int core, int member,
		      const struct perf_event_attr *attr)
{
	struct tach__cores *c = m->set->cores;

	if (m->set->flags & TACH_SET_OPTIONAL && tach__perf_try(attr))
		return;
	c->attr[core][member] = *attr;
	c->attr[core][member].pinned = c->attr[core][member].exclusive = 0;
	c->attr[core][member].inherit = 0;
	c->members[core] |= 1u << member;
}

void tach__cores_forget(struct tach__cores *c, int member)
{
	for (int k = 0; k < c->n; k++)
		c->members[k] &= ~(1u << member);
}

/* Joins the names that the core types have for a member, each name once: "adl_glc::X:u=1 +
 * adl_grt::X:u=1". */
static int qualify_member(struct tach__making *m, int member)
{
	const struct tach__cores *c = m->set->cores;
	struct tach__member *it = &m->set->member[member];
	char *whole = NULL;

	for (int k = 0; k < c->n; k++) {
		const char *name = m->each[k][member].name;
		char *more = NULL;

		if (!(c->members[k] >> member & 1) || (whole && strstr(whole, name)))
			continue;
		if (asprintf(&more, "%s%s%s", whole ? whole : "", whole ? " + " : "", name) < 0)
			more = NULL;
		free(whole);
		if (!more)
			return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
		whole = more;
	}
	if (whole) {
		free(it->qualified);
		it->qualified = whole;
	}
	return member;
}

int tach__cores_event(struct tach__making *m, int member, const char *string,
		      uint32_t privilege)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach__cores *c = m->set->cores;
	int raw = !strchr(string, '/');

	tach__cores_forget(c, member);
	opt.privilege = privilege;
	opt.any_pmu = 0;
	for (int k = 0; k < c->n; k++) {
		struct tach_event *e = &m->each[k][member];
		struct perf_event_attr attr;
		int own = 0;

		opt.pmu = c->pmu[k];
		memset(e, 0, sizeof *e);
		if (tach_event_encode(string, &opt, e, NULL))
			continue;
		memset(&attr, 0, sizeof attr);
		attr.size = sizeof attr;
		tach_event_attr(e, &attr);
		for (int j = 0; j < c->n; j++)
			own |= e->pmu == c->pmu[j];
		if (own ? e->pmu == c->pmu[k] : take_event(c, k, &attr, raw))
			keep_attr(m, k, member, &attr);
		e->type = attr.type;
		e->config = attr.config;
	}
	return qualify_member(m, member);
}

void tach__cores_attr(struct tach__making *m, int member, const struct perf_event_attr *attr)
{
	struct tach__cores *c = m->set->cores;

	tach__cores_forget(c, member);
	for (int k = 0; k < c->n; k++) {
		struct perf_event_attr own = *attr;
		struct tach_event *e = &m->each[k][member];

		if (take_event(c, k, &own, 0))
			keep_attr(m, k, member, &own);
		memset(e, 0, sizeof *e);
		e->pmu = e->event = -1;
		e->type = own.type;
		e->config = own.config;
		snprintf(e->name, sizeof e->name, "%s", m->set->member[member].name);
	}
}

int tach__cores_fit(struct tach__making *m)
{
	struct tach__cores *c = m->set->cores;
	struct tach_event events[TACH_COUNTERS_MAX];

	for (int k = 0; k < c->n; k++) {
		int n = 0, code;

		for (int i = 0; i < m->set->count; i++)
			if (c->members[k] >> i & 1)
				events[n++] = m->each[k][i];
		code = tach__schedule_set(c->pmu[k], events, n, m->err);
		if (code && code != TACH_ERR_NOHARDWARE && code != TACH_ERR_NOTSUPP)
			return code;
	}
	return 0;
}

int tach__cores_finish(struct tach__making *m)
{
	struct tach__cores *c = m->set->cores;
	uint32_t all = 0;

	/* The last member may have been merged with an earlier one. */
	for (int i = m->set->count; i < TACH_COUNTERS_MAX; i++)
		tach__cores_forget(c, i);
	for (int k = 0; k < c->n; k++)
		all |= c->members[k];
	for (int i = 0; i < m->set->count; i++)
		if (m->set->member[i].kind == TACH_MEMBER_HARDWARE && !(all >> i & 1))
			return tach__error(m->err, TACH_ERR_NOTSUPP, 0, 0,
					   "%s: none of this machine's core types counts it",
					   m->set->member[i].name);
	if (all == 0) { /* software events need no core types */
		free(c);
		m->set->cores = NULL;
	}
	return 0;
}

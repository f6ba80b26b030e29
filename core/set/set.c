/* SPDX-License-Identifier: MIT */
/* Makes a set: the events to count and the metrics to compute. A set does not change after
 * creation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/os/emulator.h"
#include "core/pmu/pmu.h"
#include "core/set/set.h"

static void free_member(struct tach__member *m)
{
	free(m->name);
	free(m->qualified);
	memset(m, 0, sizeof *m);
}

void tach_set_free(struct tach_set *set)
{
	if (!set)
		return;
	for (int i = 0; i < set->count; i++)
		free_member(&set->member[i]);
	for (int i = 0; i < set->nmetrics; i++) {
		free(set->metric[i].name);
		tach_formula_free(set->metric[i].formula);
		free(set->metric[i].text);
	}
	free(set->cores);
	free(set);
}

/* Adds callers' own attrs to the solver's events, because they need counters, too. */
static void add_attrs(struct tach__making *m)
{
	for (int i = 0; i < m->set->count; i++) {
		const struct tach__member *member = &m->set->member[i];
		struct tach_event *event = &m->event[m->nevents];
		int known = member->kind != TACH_MEMBER_HARDWARE;

		for (int e = 0; e < m->nevents; e++)
			known |= m->member[e] == i;
		if (known)
			continue;
		memset(event, 0, sizeof *event);
		event->pmu = event->event = -1;
		event->type = member->attr.type;
		event->config = member->attr.config;
		strncpy(event->name, member->name, sizeof event->name - 1);
		m->member[m->nevents++] = (uint8_t)i;
	}
}

/* Returns 1 if the hardware has counters for all members at once. Unknown members are
 * ignored. */
static int hardware_fits(struct tach__making *m)
{
	int code;

	if (m->set->cores)
		return tach__cores_fit(m);
	add_attrs(m);
	code = tach__schedule_set(m->opt->pmu, m->event, m->nevents, m->err);
	return code == TACH_ERR_NOHARDWARE || code == TACH_ERR_NOTSUPP ? 0 : code;
}

/* Returns 1 if the caller requests only the time. This needs no counters and no tables. */
static int is_empty(const struct tach_set_options *opt)
{
	return !(opt->events && *opt->events) && !(opt->metrics && *opt->metrics) &&
	       !opt->nattrs && !(opt->flags & TACH__SET_WITH_INTERRUPTS) && opt->pmu < 0;
}

static int make_members(struct tach__making *m)
{
	int code;

	if (is_empty(m->opt))
		return 0;
	code = tach__emulated_counts() ? 0 : tach__cores_find(m);
	if (!code)
		code = tach__set_events(m);
	for (int i = 0; i < m->opt->nattrs && !code; i++)
		code = tach__set_attr_add(m, &m->opt->attrs[i]);
	if (!code)
		code = tach__set_metrics(m);
	/* If the caller named no event, operands are shown, so none is marked. */
	if (!code && m->listed)
		m->set->operands = ~m->listed & ((1u << m->set->count) - 1);
	if (!code)
		code = tach__set_interrupts(m);
	if (!code && m->set->interrupts >= 0)
		m->set->operands &= ~(1u << m->set->interrupts);
	if (!code && m->set->cores)
		code = tach__cores_finish(m);
	if (!code && !(m->set->flags & TACH_SET_MULTIPLEX))
		code = hardware_fits(m);
	return code;
}

static int check_options(const struct tach_set_options *opt, struct tach_error *err)
{
	if (opt->flags & ~(TACH_SET_MULTIPLEX | TACH_SET_OPTIONAL | TACH__SET_WITH_INTERRUPTS))
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "unknown flags %#x", opt->flags);
	if (opt->nattrs < 0 || (opt->nattrs && !opt->attrs))
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nattrs without attrs");
	return 0;
}

int tach__set_make(struct tach_set **out, const struct tach_set_options *opt, uint32_t flags,
		   struct tach_error *err)
{
	struct tach__making *m = calloc(1, sizeof *m);
	int code;

	if (m)
		m->set = calloc(1, sizeof *m->set);
	if (m && m->set) {
		m->opt = opt;
		m->err = err;
		m->set->flags = flags;
		m->set->interrupts = -1;
		code = make_members(m);
	} else {
		code = tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	if (!code)
		*out = m->set;
	else if (m)
		tach_set_free(m->set);
	if (m)
		free(m->each);
	free(m);
	return code;
}

static int create_set(struct tach_set **out, const struct tach_set_options *opt, uint32_t flags,
		      struct tach_error *err)
{
	return tach__topdown_is_asked(opt->metrics) ? tach__topdown_make(out, opt, flags, err)
						    : tach__set_make(out, opt, flags, err);
}

int tach_set_create(const struct tach_set_options *opt, struct tach_set **out,
		    struct tach_error *err)
{
	struct tach_set_options ours;
	uint32_t without;
	int code, saved = errno;

	if (!out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nowhere to put the set");
	*out = NULL;
	opt = tach__sized_in(opt, &ours, TACH__STRUCT(tach_set_options), err);
	if (!opt)
		return TACH_ERR_INVAL;
	code = check_options(opt, err);
	if (code)
		return code;
	code = create_set(out, opt, opt->flags, err);
	without = opt->flags & ~(uint32_t)TACH__SET_WITH_INTERRUPTS;
	if ((code == TACH_ERR_NOCOUNTER || code == TACH_ERR_TOOMANY) && without != opt->flags) {
		/* The set has no room for interrupts. Make it without them, because requested
		 * events come first. */
		code = create_set(out, opt, without, err);
		if (!code)
			tach__set_miss(*out, "interrupts", TACH__NO_ROOM_FOR_INTERRUPTS);
	}
	errno = saved;
	return code;
}

int tach_set_count(const struct tach_set *set)
{
	return set->count;
}

static const struct tach__member *member_at(const struct tach_set *set, int member)
{
	return member >= 0 && member < set->count ? &set->member[member] : NULL;
}

const char *tach_set_name(const struct tach_set *set, int member)
{
	const struct tach__member *m = member_at(set, member);

	return m ? m->name : NULL;
}

const char *tach_set_qualified(const struct tach_set *set, int member)
{
	const struct tach__member *m = member_at(set, member);

	return m ? m->qualified : NULL;
}

enum tach_member_kind tach_set_kind(const struct tach_set *set, int member)
{
	const struct tach__member *m = member_at(set, member);

	return m ? m->kind : TACH_MEMBER_SOFTWARE;
}

uint32_t tach__software_flags(const struct tach_set *set)
{
	for (int i = 0; i < set->count; i++)
		if (set->member[i].kind == TACH_MEMBER_HARDWARE)
			return TACH_FLAG_LOST;
	return TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE;
}

const struct perf_event_attr *tach_set_attr(const struct tach_set *set, int member)
{
	const struct tach__member *m = member_at(set, member);

	return m ? &m->attr : NULL;
}

const char *tach_set_missing(const struct tach_set *set)
{
	return set->missing;
}

int tach_set_interrupts(const struct tach_set *set)
{
	return set->interrupts;
}

void tach_set_correct(const struct tach_set *set, uint64_t *deltas, uint32_t *flags)
{
	for (int i = 0; i < set->count; i++) {
		uint64_t interrupts;

		if (!(set->corrected >> i & 1))
			continue;
		interrupts = deltas[set->interrupts];
		deltas[i] = deltas[i] > interrupts ? deltas[i] - interrupts : 0;
		flags[i] |= TACH_FLAG_CORRECTED | flags[set->interrupts];
	}
}

int tach_set_nmetrics(const struct tach_set *set)
{
	return set->nmetrics;
}

const char *tach_set_metric_name(const struct tach_set *set, int metric)
{
	return metric >= 0 && metric < set->nmetrics ? set->metric[metric].name : NULL;
}

const struct tach_formula *tach_set_metric(const struct tach_set *set, int metric)
{
	return metric >= 0 && metric < set->nmetrics ? set->metric[metric].formula : NULL;
}

double tach_set_eval(const struct tach_set *set, int metric, const uint64_t *deltas,
		     const uint32_t *flags, double elapsed_ns, uint32_t *out_flags)
{
	const struct tach_formula *f = tach_set_metric(set, metric);
	uint32_t own = 0;
	double value;

	if (!f) {
		if (out_flags)
			*out_flags = TACH_FLAG_LOST;
		return 0;
	}
	value = tach_formula_eval(f, deltas, elapsed_ns, &own);
	if (out_flags)
		*out_flags = own | tach_formula_flags(f, flags);
	return value;
}

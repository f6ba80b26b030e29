/* SPDX-License-Identifier: MIT */
/*
 * Handles interrupts in a set: the member that counts them, and the members from which they are
 * subtracted.
 */
#include <stdio.h>
#include <string.h>
#include <tach/arch.h>
#include "core/pmu/pmu.h"
#include "core/derived/derived.h"
#include "core/base/error.h"
#include "core/set/set.h"
#include "core/tables/tables.h"

static const struct tach__span none;
static const struct tach__span name = {"interrupts", sizeof "interrupts" - 1, 1};

enum { ONE = 1, SEVERAL };

/*
 * Returns ONE or SEVERAL, by the number of events that count interrupts on this PMU, or 0 if no
 * event counts them. Otherwise returns a code for the reason why they cannot be counted.
 */
static int find_known(struct tach__making *m)
{
	struct tach_expansion *x = NULL;
	int found = tach__derived_lookup(m->opt->pmu, name.at, name.length, &x, NULL);

	if (found > 0) {
		found = tach__expansion_plain(x) ? ONE : SEVERAL;
		tach_expansion_free(x);
	}
	return found;
}

static int no_memory(struct tach__making *m)
{
	return tach__error(m->err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

static int leave_out(struct tach__making *m, const char *why)
{
	char text[sizeof m->set->missing];

	snprintf(text, sizeof text, "interrupts: not counted, %s", why);
	tach__set_miss(m->set, name.at, text);
	return TACH__LEFT_OUT;
}

/* Returns the member's number, TACH__LEFT_OUT after noting why, or a negative code. */
static int add_member(struct tach__making *m)
{
	struct tach_error *outer = m->err, err = TACH_ERROR_INIT;
	uint32_t flags = m->set->flags;
	struct tach_formula *formula = NULL;
	int member, found;

	if (m->set->count == TACH_COUNTERS_MAX)
		return TACH_ERR_TOOMANY;
	found = find_known(m);
	if (found == TACH_ERR_NOMEM)
		return no_memory(m);
	if (found <= 0)
		return leave_out(m, "the tables have no event for them on this PMU; name one "
				    "yourself: interrupts=EVENT");
	if (found == SEVERAL)
		return leave_out(m, "the user's own definition of them takes several events");
	/* On this machine, the member is added only if the kernel counts it. For another
	 * machine it is always added. */
	if (m->opt->pmu < 0)
		m->set->flags |= TACH_SET_OPTIONAL;
	m->err = &err;
	member = tach__set_event(m, name, none, &formula);
	m->err = outer;
	m->set->flags = flags;
	if (member == TACH_ERR_NOMEM)
		return no_memory(m);
	if (member < 0)
		return leave_out(m, err.text);
	return member < TACH_COUNTERS_MAX ? tach__set_merged(m, member) : member;
}

static int is_x86(const struct tach__making *m)
{
	int pmu = tach__derived_pmu(m->opt->pmu);

	return pmu >= 0 ? tach__pmu_at(pmu)->arch == TACH__X86
			: tach__native_arch() == TACH__X86;
}

static int user_only(const struct perf_event_attr *attr)
{
	return !attr->exclude_user && attr->exclude_kernel;
}

/*
 * Returns 1 if the attr counts that event. Use it only for events that type and config identify
 * completely.
 */
static int counts_event(const struct perf_event_attr *attr, const struct tach_event *event)
{
	return attr->type == event->type && attr->config == event->config && !attr->config1 &&
	       !attr->config2;
}

/* Returns a bit for each member that counts retired instructions, by the kernel's generic event
 * or by the PMU's own event. */
static uint32_t find_retired(const struct tach__making *m)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event own = {0};
	uint32_t bits = 0;
	int have;

	opt.pmu = m->opt->pmu;
	have = tach_event_encode("PAPI_TOT_INS", &opt, &own, NULL) == 0;
	for (int i = 0; i < m->set->count; i++) {
		const struct perf_event_attr *attr = &m->set->member[i].attr;
		int generic = attr->type == PERF_TYPE_HARDWARE &&
			      (uint32_t)attr->config == PERF_COUNT_HW_INSTRUCTIONS;

		if (user_only(attr) && (generic || (have && counts_event(attr, &own))))
			bits |= 1u << i;
	}
	return bits;
}

static void correct_members(struct tach__making *m)
{
	struct tach_set *set = m->set;

	if (!is_x86(m))
		tach__set_miss(set, name.at,
			       "interrupts: not subtracted, because they add no instruction on "
			       "this architecture");
	else if (user_only(&set->member[set->interrupts].attr))
		set->corrected = find_retired(m);
	if (is_x86(m) && !set->corrected)
		tach__set_miss(
			set, name.at,
			"interrupts: subtracted from nothing, because no member counts retired "
			"instructions at user level only");
}

int tach__set_interrupts(struct tach__making *m)
{
	struct tach_set *set = m->set;
	int member;

	if (!(set->flags & TACH__SET_WITH_INTERRUPTS))
		return 0;
	member = tach__set_find(set, name.at, name.length);
	if (member < 0)
		member = add_member(m);
	if (member < 0)
		return member;
	if (member >= TACH_COUNTERS_MAX)
		return 0;
	set->interrupts = member;
	if (set->flags & TACH_SET_CORRECT)
		correct_members(m);
	return 0;
}

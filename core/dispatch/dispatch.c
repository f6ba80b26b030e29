/* SPDX-License-Identifier: MIT */
/* The part of dispatch that all PMUs share. arch/ computes the registers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/dispatch/dispatch.h"
#include "core/base/error.h"
#include "core/base/sized.h"

static int (*const dispatchers[TACH__NARCHS])(struct tach__dispatch *d) = {
#define TACH__DISPATCHED(name, NAME) [TACH__##NAME] = tach__dispatch_##name,
#include <archs.h>
};

static int check_input(const struct tach_dispatch *in, struct tach_error *err)
{
	if (in->nevents && !in->events)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nevents without events");
	if (tach__dispatch_pmu(in->pmu) < 0)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no PMU has number %d", in->pmu);
	if (in->privilege == 0)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "the default privilege levels must not be empty");
	return 0;
}

/* Checks that model-specific input has the PMU's kind. */
static int check_magic(const struct tach__dispatch *d)
{
	const struct tach_dispatch *in = d->in;

	if ((in->x86 && d->pmu->arch != TACH__X86) || (in->ia64 && d->pmu->arch != TACH__IA64))
		return tach__dispatch_error(d, TACH_ERR_MAGIC,
					    "model-specific input is not for %s",
					    tach__str(d->pmu->name));
	return 0;
}

static int bad_umask(const struct tach__dispatch *d, const struct tach__item *item,
		     const char *what)
{
	return tach__dispatch_error(d, TACH_ERR_UMASK, "%s %s", tach__str(item->row->name),
				    what);
}

static int take_umasks(struct tach__dispatch *d, struct tach__item *item)
{
	const struct tach_dispatch_event *e = item->in;

	for (uint32_t u = 0; u < e->numasks; u++) {
		const struct tach__umask *mask;

		if (e->umasks[u] >= item->row->numasks)
			return bad_umask(d, item, "has no such unit mask");
		mask = tach__umask_at(item->row, e->umasks[u]);
		item->umask |= (uint32_t)mask->code;
		item->kinds |= mask->flags;
		if (tach__counter_set(mask->counter_set))
			item->counters = tach__counter_set(mask->counter_set);
	}
	return 0;
}

/* Checks that the caller's rows exist, and that no required umask is missing. */
static int check_rows(struct tach__dispatch *d, int i)
{
	const struct tach_dispatch_event *e = &d->in->events[i];
	struct tach__item *item = &d->item[i];
	int encoded =
		!(d->pmu->flags & TACH__PMU_PFM3) && (d->pmu->arch != TACH__IA64 || e->ncodes);
	int rc;

	if (e->event < 0 || (uint32_t)e->event >= d->pmu->nevents)
		return tach__dispatch_error(d, TACH_ERR_INVAL, "%s has no event number %d",
					    tach__str(d->pmu->name), e->event);
	if (e->numasks > TACH_DISPATCH_UMASKS_MAX || e->ncodes > TACH_EVENT_CODES_MAX)
		return tach__dispatch_error(d, TACH_ERR_INVAL, "too many unit masks or codes");
	if (e->ncodes && d->pmu->flags & TACH__PMU_PFM3)
		return tach__dispatch_error(d, TACH_ERR_INVAL,
					    "%s takes rows, not encoded events",
					    tach__str(d->pmu->name));
	*item = (struct tach__item){.in = e};
	item->row = tach__event_at(d->table, e->event);
	item->privilege = e->privilege ? e->privilege : d->in->privilege;
	item->flags = e->flags;
	item->threshold = e->threshold;
	item->ism = e->ism;
	item->code = item->row->code;
	item->counters = tach__counter_set(item->row->counter_set);
	if (!item->counters)
		item->counters = tach__any_general(d->pmu);
	rc = take_umasks(d, item);
	if (!rc && !encoded && item->row->numasks && !e->numasks)
		rc = bad_umask(d, item, "needs a unit mask");
	return rc || !encoded ? rc : tach__dispatch_encode(d, item);
}

static int run_dispatch(struct tach__dispatch *d)
{
	int rc = check_magic(d), most = tach__dispatch_counters(d->pmu);

	if (!dispatchers[d->pmu->arch])
		return tach__dispatch_error(d, TACH_ERR_NOTSUPP,
					    "the registers of %s are not the program's to set",
					    tach__str(d->pmu->name));
	if (!rc && d->in->nevents > (uint32_t)most)
		rc = tach__dispatch_error(d, TACH_ERR_TOOMANY,
					  "%u events, but %s has %d counters", d->in->nevents,
					  tach__str(d->pmu->name), most);
	d->n = rc ? 0 : (int)d->in->nevents;
	for (int i = 0; !rc && i < d->n; i++)
		rc = check_rows(d, i);
	if (rc)
		return rc;
	return dispatchers[d->pmu->arch](d);
}

/* The caller's structs, converted to this version. */
struct input {
	struct tach_dispatch in;
	struct tach_dispatch_x86 x86;
	struct tach_dispatch_ia64 ia64;
};

static const struct tach_dispatch *take_input(const struct tach_dispatch *theirs,
					      struct input *ours, struct tach_error *err)
{
	const struct tach_dispatch *in =
		tach__sized_in(theirs, &ours->in, TACH__STRUCT(tach_dispatch), err);

	if (!in)
		return NULL;
	ours->in = *in;
	if (in->x86) {
		ours->in.x86 = tach__sized_in(in->x86, &ours->x86,
					      TACH__STRUCT(tach_dispatch_x86), err);
		if (!ours->in.x86)
			return NULL;
	}
	if (in->ia64) {
		ours->in.ia64 = tach__sized_in(in->ia64, &ours->ia64,
					       TACH__STRUCT(tach_dispatch_ia64), err);
		if (!ours->in.ia64)
			return NULL;
	}
	return check_input(&ours->in, err) ? NULL : &ours->in;
}

static void clear_output(struct tach_dispatch_out *out)
{
	memset((char *)out + sizeof out->size, 0, sizeof *out - sizeof out->size);
}

static int compute_registers(const struct tach_dispatch *in, struct tach_dispatch_out *out,
			     struct tach_error *err)
{
	struct tach__dispatch d;
	int rc;

	d.in = in;
	d.out = out;
	d.err = err;
	d.table = tach__dispatch_pmu(in->pmu);
	d.pmu = tach__pmu_at(d.table);
	rc = run_dispatch(&d);
	if (rc)
		clear_output(out);
	/* Used if the error has only a code, without details. */
	if (rc && err && err->code != rc)
		tach__error(err, rc, 0, 0, "%s", tach_strerror(rc));
	return rc;
}

int tach_dispatch_compute(const struct tach_dispatch *in, struct tach_dispatch_out *out,
			  struct tach_error *err)
{
	struct tach_dispatch_out ours, *filled;
	struct input input;
	int rc = TACH_ERR_INVAL;

	filled = tach__sized_out(out, &ours, TACH__STRUCT(tach_dispatch_out), err);
	if (!filled)
		return rc;
	clear_output(filled);
	in = take_input(in, &input, err);
	if (in) {
		tach__error(err, 0, 0, 0, NULL);
		rc = compute_registers(in, filled, err);
	}
	tach__sized_done(out, filled, TACH__STRUCT(tach_dispatch_out));
	return rc;
}

int tach_dispatch_from_event(const struct tach_event *event, struct tach_dispatch_event *out)
{
	struct tach_event ours;

	event = tach__sized_in(event, &ours, TACH__STRUCT(tach_event), NULL);
	if (!event || !out)
		return TACH_ERR_INVAL;
	memset(out, 0, sizeof *out);
	out->event = event->event;
	out->ncodes = event->ncodes;
	memcpy(out->codes, event->codes, sizeof out->codes);
	out->counters = event->counters;
	return 0;
}

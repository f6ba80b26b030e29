/* SPDX-License-Identifier: MIT */
/* The public functions of encoding: checks, struct tach_event, struct perf_event_attr. */
#include <stddef.h>
#include <string.h>
#include "core/base/sized.h"
#include "core/event/perf_events.h"

/* Returns the event's counters. A umask's counters replace them; several umasks must have
 * common ones. */
uint64_t tach__counters(const struct tach__work *w)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < w->got.nrows; i++) {
		uint64_t own = tach__counter_set(
			tach__umask_at(w->got.event, w->got.rows[i])->counter_set);

		if (!own)
			own = tach__counter_set(w->got.event->counter_set);
		/*
		 * If umasks have no common counter, dispatch reports this; the counters of the
		 * first one remain.
		 */
		if (!all || all & own)
			all = all ? all & own : own;
	}
	return all ? all : tach__counter_set(w->got.event->counter_set);
}

void tach__publish(const struct tach__work *w, struct tach_event *out)
{
	uint32_t size = out->size;
	/* Levels that perf cannot filter out for this event are counted. */
	uint32_t privilege =
		w->out.counted | ~(w->got.generic ? tach__perf_host_privilege(w->ask.opt)
						  : w->got.pmu->privilege);

	tach__clear(out, offsetof(struct tach_event, name));
	out->size = size;
	out->pmu = w->got.pmu_number;
	out->event = w->got.event_number < 0 ? 0 : w->got.event_number;
	out->ncodes = w->out.ncodes;
	for (unsigned i = 0; i < w->out.ncodes; i++)
		out->codes[i] = w->out.codes[i];
	out->counters = tach__counters(w);
	out->cpu = -1;
	if (w->ask.os != TACH_OS_NONE) {
		out->type = w->out.type;
		out->has = w->out.has;
		out->config = w->out.config;
		out->config1 = w->out.config1;
		out->config2 = w->out.config2;
		out->period = w->out.period;
		out->exclude_user = !(privilege & TACH_PRIVILEGE_USER);
		out->exclude_kernel = !(privilege & TACH_PRIVILEGE_KERNEL);
		out->exclude_hv = !(privilege & TACH_PRIVILEGE_HYPERVISOR);
		out->exclude_host = !w->out.host;
		out->exclude_guest = !w->out.guest;
		out->pinned = w->out.pinned;
		out->exclusive = w->out.exclusive;
		out->precise = w->out.precise;
		out->cpu = w->out.cpu;
	}
	if (w->ask.opt->flags & TACH_ENCODE_NO_NAME)
		*out->name = 0;
	else if (tach__fqstr(w, out->name, sizeof out->name) >= sizeof out->name)
		out->has |= TACH_EVENT_HAS_CUT_NAME;
}

static int check_options(const struct tach_encode_options *opt, struct tach_error *err)
{
	const uint32_t known = TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_1 | TACH_PRIVILEGE_2 |
			       TACH_PRIVILEGE_USER | TACH_PRIVILEGE_HYPERVISOR;

	if (opt->privilege & ~known)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "unknown privilege level 0x%x",
				   opt->privilege & ~known);
	if (opt->os < TACH_OS_NONE || opt->os > TACH_OS_PERF_EXT)
		return tach__error(err, TACH_ERR_NOTSUPP, 0, 0, "no such form of encoding: %d",
				   (int)opt->os);
	if (opt->pmu < -1 || opt->pmu >= tach__npmus() + tach__nboxes())
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no PMU has number %d", opt->pmu);
	return 0;
}

int tach__event_encode(const char *string, const struct tach_encode_options *opt,
		       const struct tach__caller *caller, struct tach_event *out,
		       struct tach_error *err)
{
	static const struct tach_encode_options defaults = TACH_ENCODE_OPTIONS_INIT;
	struct tach_encode_options options;
	struct tach_event ours, *event;
	struct tach__work w;
	int rc = 0;

	if (!string)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "no string");
	event = tach__sized_out(out, &ours, TACH__STRUCT(tach_event), err);
	if (!event)
		return TACH_ERR_INVAL;
	opt = opt ? tach__sized_in(opt, &options, TACH__STRUCT(tach_encode_options), err)
		  : &defaults;
	rc = opt ? check_options(opt, err) : TACH_ERR_INVAL;
	if (rc)
		return rc;
	w.ask.caller = *caller;
	rc = tach__encode(&w, string, opt, err);
	if (rc)
		return rc;
	tach__publish(&w, event);
	tach__sized_done(out, event, TACH__STRUCT(tach_event));
	return 0;
}

int tach_event_attr(const struct tach_event *event, struct perf_event_attr *attr)
{
	struct tach_event ours;

	event = tach__sized_in(event, &ours, TACH__STRUCT(tach_event), NULL);
	if (!event || !attr)
		return TACH_ERR_INVAL;
	/*
	 * If the event gives a period and the caller a frequency, or the reverse, they
	 * conflict.
	 */
	if ((event->has & TACH_EVENT_HAS_PERIOD && attr->freq) ||
	    (event->has & TACH_EVENT_HAS_FREQ && attr->sample_period && !attr->freq))
		return TACH_ERR_ATTR_VALUE;
	attr->type = event->type;
	attr->config = event->config;
	if (event->has & TACH_EVENT_HAS_CONFIG1)
		attr->config1 = event->config1;
	/* The caller's struct may end after the 64 bytes of the first version. */
	if (event->has & TACH_EVENT_HAS_CONFIG2 && attr->size >= PERF_ATTR_SIZE_VER1)
		attr->config2 = event->config2;
	attr->exclude_user = event->exclude_user;
	attr->exclude_kernel = event->exclude_kernel;
	attr->exclude_hv = event->exclude_hv;
	attr->exclude_host = event->exclude_host;
	attr->exclude_guest = event->exclude_guest;
	attr->pinned = event->pinned;
	if (event->has & TACH_EVENT_HAS_EXCLUSIVE)
		attr->exclusive = 1;
	if (event->has & TACH_EVENT_HAS_PRECISE)
		attr->precise_ip = event->precise & 3u;
	if (event->has & TACH_EVENT_HAS_PERIOD)
		attr->sample_period = event->period;
	if (event->has & TACH_EVENT_HAS_FREQ) {
		attr->sample_freq = event->period;
		attr->freq = 1;
	}
	return 0;
}

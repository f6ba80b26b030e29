/* SPDX-License-Identifier: MIT */
/* The part of encoding for perf_event: config words, the modifiers that perf itself implements,
 * and its exclude bits (linux/perf_event.h, kernel/events/core.c). */
#include <limits.h>
#include <string.h>
#include "core/event/event.h"
#include "core/event/perf_events.h"
#include "core/pmu/pmu.h"

/* ---- modifiers ---- */

/* Returns 1 if sampling of the event can be precise. */
int tach__can_be_precise(const struct tach__work *w)
{
	return (w->got.event->flags & w->ask.quirks->precise) == TACH__EV_PEBS;
}

/* Returns the modifiers of perf that this event offers. */
uint32_t tach__perf_offer(const struct tach__work *w)
{
	uint32_t offer =
		1u << TACH__OS_U | 1u << TACH__OS_K | 1u << TACH__OS_MG | 1u << TACH__OS_MH;
	int intel = w->got.pmu->encoding == TACH__INTEL;

	if (w->got.generic ? tach__perf_offers_h(w)
			   : w->got.pmu->privilege & TACH_PRIVILEGE_HYPERVISOR &&
				     !(w->got.pmu->flags & w->ask.quirks->pmus_without_h))
		offer |= 1u << TACH__OS_H;
	if (w->ask.os == TACH_OS_PERF)
		return offer;
	offer |= 1u << TACH__OS_PERIOD | 1u << TACH__OS_FREQ | 1u << TACH__OS_EXCL |
		 1u << TACH__OS_CPU | 1u << TACH__OS_PINNED;
	if (w->got.generic ? tach__perf_offers_precise(w) : intel && tach__can_be_precise(w))
		offer |= 1u << TACH__OS_PRECISE;
	if (w->got.generic ? w->got.generic == TACH__GENERIC_RAW
			   : intel && w->got.pmu->flags & TACH__PMU_EXTPEBS &&
				     !tach__can_be_precise(w))
		offer |= 1u << TACH__OS_HW_SMPL;
	return offer;
}

static int take_sampling(struct tach__work *w, const struct tach__pick *pick)
{
	int freq = pick->number == TACH__OS_FREQ;
	/* The kernel has one field for period and frequency. A second freq= is refused, as in
	 * libpfm-4. */
	const uint32_t either = TACH_EVENT_HAS_PERIOD | TACH_EVENT_HAS_FREQ;
	int other = freq ? w->ask.caller.period || w->out.has & either
			 : w->ask.caller.freq || w->out.has & TACH_EVENT_HAS_FREQ;

	if (!pick->value)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "%s must not be 0",
				    tach__osmods[pick->number].name);
	if (other)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE,
				    "either period= or freq=, not both");
	w->out.period = pick->value;
	w->out.has |= freq ? TACH_EVENT_HAS_FREQ : TACH_EVENT_HAS_PERIOD;
	w->out.osshown |= 1u << pick->number | w->ask.quirks->sampling_shown;
	return 0;
}

/* perf writes {slots,topdown-retiring}:u; libpfm-4 has no level for these. */
static int is_level(const struct tach__work *w, unsigned osmod)
{
	return w->ask.quirks->letters && (1u << osmod & TACH__OS_LEVELS);
}

static int take_pick(struct tach__work *w, const struct tach__pick *pick, uint32_t *privilege)
{
	uint32_t on = pick->value != 0;

	w->column = pick->column;
	if (w->out.nomods && on && pick->number != TACH__OS_PINNED &&
	    !is_level(w, pick->number))
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "this umask takes no modifiers");
	switch (pick->number) {
	case TACH__OS_U:
		*privilege |= on ? TACH_PRIVILEGE_USER : 0;
		break;
	case TACH__OS_K:
		*privilege |= on ? TACH_PRIVILEGE_KERNEL : 0;
		break;
	case TACH__OS_H:
		*privilege |= on ? TACH_PRIVILEGE_HYPERVISOR : 0;
		break;
	case TACH__OS_PERIOD:
	case TACH__OS_FREQ:
		return take_sampling(w, pick);
	case TACH__OS_HW_SMPL:
	case TACH__OS_PRECISE:
		if (pick->value > 3)
			return tach__refuse(w, TACH_ERR_ATTR_VALUE, "precise must be 0 .. 3");
		w->out.precise = (uint8_t)pick->value;
		w->out.has |= TACH_EVENT_HAS_PRECISE;
		break;
	case TACH__OS_EXCL:
		w->out.exclusive |= (uint8_t)on;
		w->out.has |= on ? TACH_EVENT_HAS_EXCLUSIVE : 0;
		break;
	case TACH__OS_MG:
		w->out.guest = (uint8_t)on | w->ask.quirks->named;
		break;
	case TACH__OS_MH:
		w->out.host = (uint8_t)on | w->ask.quirks->named;
		break;
	case TACH__OS_CPU:
		if (pick->value >= INT_MAX)
			return tach__refuse(w, TACH_ERR_ATTR_VALUE, "cpu must be 0 .. %d",
					    INT_MAX - 1);
		w->out.cpu = (int32_t)pick->value;
		w->out.has |= TACH_EVENT_HAS_CPU;
		break;
	case TACH__OS_PINNED:
		w->out.pinned = (uint8_t)on;
		break;
	}
	return 0;
}

static int take_picks(struct tach__work *w)
{
	uint32_t privilege = 0, seen = 0;

	for (unsigned i = 0; i < w->got.npicks; i++) {
		int rc;

		if (w->got.picks[i].kind != TACH__PICK_OSMOD)
			continue;
		seen |= 1u << w->got.picks[i].number;
		rc = take_pick(w, &w->got.picks[i], &privilege);
		if (rc)
			return rc;
	}
	w->out.counted =
		(uint8_t)(seen & TACH__OS_LEVELS ? privilege
						 : w->ask.privilege & TACH__PRIVILEGE_ALL);
	if (!w->out.guest && !w->out.host)
		w->out.host = 1;
	return 0;
}

/* A box counts by its type in sysfs; without it, the box cannot count. */
static int set_box_type(struct tach__work *w)
{
	int type = tach__box_type(w);

	tach__parts[w->got.pmu->arch]->perf(w);
	w->column = 0;
	if (type < 0)
		return tach__refuse(w, TACH_ERR_NOTSUPP,
				    "the kernel has no PMU %s (/sys/bus/event_source/devices); "
				    "only raw words exist",
				    tach__str(w->got.pmu->perf));
	w->out.type = (uint32_t)type;
	return 0;
}

static int set_hardware_type(struct tach__work *w)
{
	int type;

	if (TACH_UNLIKELY(w->got.pmu->flags & TACH__PMU_BOX))
		return set_box_type(w);
	if (!tach__parts[w->got.pmu->arch]->perf)
		return tach__refuse(w, TACH_ERR_NOTSUPP,
				    "Linux never had perf_event for %s; only raw words exist",
				    tach__str(w->got.pmu->name));
	w->out.type = PERF_TYPE_RAW;
	tach__parts[w->got.pmu->arch]->perf(w);
	type = tach__perf_type(w->ask.opt, w->got.pmu_number);
	if (type >= 0)
		w->out.type = (uint32_t)type;
	return 0;
}

/* Sets the modifiers that the full name shows. */
static void show_modifiers(struct tach__work *w)
{
	uint64_t *shown = w->out.shown + TACH__NMODS;

	shown[TACH__OS_U] = w->out.counted & TACH_PRIVILEGE_USER ? 1 : 0;
	shown[TACH__OS_K] = w->out.counted & TACH_PRIVILEGE_KERNEL ? 1 : 0;
	shown[TACH__OS_H] = w->out.counted & TACH_PRIVILEGE_HYPERVISOR ? 1 : 0;
	/* They share a field. */
	shown[TACH__OS_PERIOD] = shown[TACH__OS_FREQ] = w->out.period;
	shown[TACH__OS_PRECISE] = shown[TACH__OS_HW_SMPL] = w->out.precise;
	shown[TACH__OS_EXCL] = w->out.exclusive;
	shown[TACH__OS_MG] = w->out.guest;
	shown[TACH__OS_MH] = w->out.host;
	shown[TACH__OS_CPU] = (uint64_t)w->out.cpu;
	shown[TACH__OS_PINNED] = w->out.pinned;
	if (w->out.pinned)
		w->out.osshown |= 1u << TACH__OS_PINNED & w->ask.quirks->os_shown;
	if (w->out.has & TACH_EVENT_HAS_CPU)
		w->out.osshown |= 1u << TACH__OS_CPU & w->ask.quirks->os_shown;
	if (w->out.osshown >> TACH__OS_PRECISE & 1)
		w->out.osshown &= ~(1u << TACH__OS_HW_SMPL & w->ask.quirks->os_shown);
}

int tach__perf_encode(struct tach__work *w)
{
	int rc;

	w->out.cpu = -1;
	w->out.osshown = w->got.osmods & ~(1u << TACH__OS_PERIOD | 1u << TACH__OS_FREQ |
					   1u << TACH__OS_CPU | 1u << TACH__OS_PINNED);
	rc = w->got.generic ? tach__perf_config(w) : set_hardware_type(w);
	if (!rc)
		rc = take_picks(w);
	/* A box cannot exclude any level. */
	if (!rc && w->got.pmu->flags & TACH__PMU_BOX) {
		w->out.counted = TACH__PRIVILEGE_ALL;
		w->out.host = w->out.guest = 1;
	}
	if (!rc)
		show_modifiers(w);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Events by name between the slashes of a core's device: rXXXX, a row of the CPU's table, or a
 * generic event of perf, which then counts only on the cores of that device. */
#include <stdio.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/event/event.h"
#include "core/event/perf_events.h"
#include "core/tables/tables.h"

/*
 * Returns true if the device is one of a table's names in sysfs, which are separated by spaces.
 */
static int has_device(int pmu, const struct tach__text *device)
{
	const char *name = tach__str(tach__pmu_at(pmu)->perf);

	while (*name) {
		size_t length = strcspn(name, " ");

		if (length == device->length && memcmp(name, device->text, length) == 0)
			return 1;
		name += length + (name[length] == ' ');
	}
	return 0;
}

/* Returns the table for a device's cores, or -1 if no possible CPU has such cores. */
static int table_of(const struct tach__work *w, const struct tach__text *device)
{
	int pmus[TACH__HOSTS_MAX], n = tach__perf_cores(w->ask.opt, pmus, TACH__HOSTS_MAX);

	for (int i = 0; i < n; i++)
		if (has_device(pmus[i], device))
			return pmus[i];
	return -1;
}

static int encode_named(const struct tach__work *w, const char *prefix, int pmu,
			const struct tach__text *name, struct tach_event *out)
{
	static const struct tach__caller no_caller;
	struct tach_encode_options opt = *w->ask.opt;
	char string[TACH_EVENT_NAME_MAX];
	int n = snprintf(string, sizeof string, "%s::%.*s", prefix, (int)name->length,
			 name->text);

	if (n < 0 || (size_t)n >= sizeof string)
		return 0;
	opt.os = TACH_OS_PERF;
	opt.flags |= TACH_ENCODE_NO_NAME;
	opt.pmu = pmu;
	memset(out, 0, sizeof *out);
	return tach__event_encode(string, &opt, &no_caller, out, NULL) == 0;
}

static void copy_config_words(struct tach__work *w, const struct tach_event *e)
{
	const uint32_t words = TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2;

	w->out.config = e->config;
	w->out.config1 = e->config1;
	w->out.config2 = e->config2;
	w->out.has |= e->has & words;
}

int tach__device_event_alone(struct tach__work *w)
{
	return tach__refuse(w, TACH_ERR_ATTR,
			    "one of perf's generic events takes no bits of the device's; name "
			    "an event of the CPU with them");
}

int tach__device_event(struct tach__work *w, const struct tach__text *device,
		       const struct tach__text *name)
{
	int pmu = table_of(w, device), own = w->out.type != PERF_TYPE_RAW;
	struct tach_event e;

	if (memchr(name->text, ':', name->length))
		return 0;
	if (tach__perf_raw(w, name))
		return 1;
	if (pmu >= 0 && encode_named(w, tach__str(tach__pmu_at(pmu)->name), pmu, name, &e)) {
		copy_config_words(w, &e);
		return 1;
	}
	if (!encode_named(w, "perf", pmu, name, &e) ||
	    (e.type != PERF_TYPE_HARDWARE && e.type != PERF_TYPE_HW_CACHE))
		return 0;
	if (w->out.config || w->out.has & (TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2))
		return tach__device_event_alone(w);
	copy_config_words(w, &e);
	/*
	 * Bits 32 and up select the cores (Linux 5.13); they are not needed with one core type.
	 */
	if (own && !(w->out.config >> 32) && device->length > 4 &&
	    memcmp(device->text, "cpu_", 4) == 0)
		w->out.config |= (uint64_t)w->out.type << 32;
	w->out.type = e.type;
	return 1;
}

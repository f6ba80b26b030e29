/* SPDX-License-Identifier: MIT */
/*
 * PERF_METRICS (Intel SDM vol. 3, 20.3.9.3): recognizes its events by Linux's numbers, and
 * finds out if this machine counts them. Many hypervisors do not offer PERF_METRICS; then bit
 * 15 of PERF_CAPABILITIES is 0. In this case the kernel refuses the events, or their group,
 * although the processor's tables contain them.
 */
#include <sys/syscall.h>
#include <tach/page.h>
#include "core/derived/derived.h"
#include "core/os/perf_open.h"
#include "core/os/sys.h"
#include "core/set/set.h"

enum { SLOTS = 0x0400, RETIRING = 0x8000 };

static int is_raw(const struct perf_event_attr *attr)
{
	return TACH_MODULAR && attr->type != PERF_TYPE_HARDWARE &&
	       attr->type != PERF_TYPE_HW_CACHE;
}

int tach__is_slots(const struct perf_event_attr *attr)
{
	return is_raw(attr) && (attr->config & 0xffff) == SLOTS;
}

/*
 * Event 0 with umasks from 0x80 (arch/x86/events/perf_event.h). Readers never map it, because
 * its page does not show a count and its index has bit 29: core/reader/topdown.h.
 */
int tach__is_metrics(const struct perf_event_attr *attr)
{
	return is_raw(attr) && (attr->config & 0x80ff) == RETIRING;
}

static long open_and_close(struct perf_event_attr attr, uint64_t config, int leader)
{
	long fd;

	attr.config = config;
	fd = tach__perf_open(&attr, leader);
	if (fd >= 0)
		tach__sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return fd;
}

int tach__perf_metrics_refused(int pmu)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	struct perf_event_attr cycles = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof cycles, .exclude_kernel = 1};
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event slots = {0};
	long leader, field;

	opt.pmu = pmu;
	if (!TACH_MODULAR || pmu < 0 ||
	    tach_event_encode("TOPDOWN:SLOTS", &opt, &slots, NULL) != 0)
		return 0;
	tach_event_attr(&slots, &attr);
	attr.disabled = 1;
	if (!tach__is_slots(&attr) || tach__perf_try(&cycles) != 0)
		return 0;
	leader = tach__perf_open(&attr, -1);
	if (leader < 0)
		return 1;
	attr.disabled = 0;
	field = open_and_close(attr, RETIRING, (int)leader);
	tach__sys(SYS_close, leader, 0, 0, 0, 0, 0);
	return field < 0;
}

int tach__perf_metrics_used(int pmu, const char *name)
{
	struct tach_derived *d = tach_derived_default();
	struct perf_event_attr attr = {.size = sizeof attr};
	struct tach_expansion *x = NULL;
	int used = 0;

	if (!d || tach_derived_expand(d, pmu, name, &x, NULL) != 0)
		return 0;
	for (int i = 0; tach_expansion_event(x, i); i++) {
		tach_event_attr(&tach_expansion_encoded(x)[i], &attr);
		used |= tach__is_metrics(&attr);
	}
	tach_expansion_free(x);
	return used;
}

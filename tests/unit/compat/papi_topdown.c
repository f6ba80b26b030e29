/* SPDX-License-Identifier: MIT */
/*
 * PAPI's topdown component: the events of each processor, their descriptions, and the shares
 * that it computes from the counts of a simulated kernel.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

/* ---- a simulated kernel that opens every event ---- */

/*
 * An event is a file, and the event's state is at offset AT in it. So the state is found from a
 * copy of the descriptor too. The event's page permits no read in user space.
 */
enum { MEMBERS = 8, MAGIC = 0x7ac4, AT = 1 << 16, SLOTS = 0x400, METRIC = 0x8000 };
struct event {
	uint64_t magic, format, count, config[MEMBERS];
};

static uint64_t now;
/*
 * Counts per moment: retiring, bad speculation, front end, back end, and a part of each: heavy
 * operations, mispredicted branches, fetch latency, memory.
 */
static uint64_t slots_rate = 1000;
static uint64_t rate[] = {400, 100, 200, 300, 150, 60, 120, 180};

static long (*real(void))(long, ...)
{
	static long (*found)(long, ...);

	if (!found)
		*(void **)&found = dlsym(RTLD_NEXT, "syscall");
	return found;
}

static int is_event(long fd, struct event *e)
{
	return pread((int)fd, e, sizeof *e, AT) == sizeof *e && e->magic == MAGIC;
}

static int store_event(long fd, const struct event *e)
{
	return pwrite((int)fd, e, sizeof *e, AT) == sizeof *e;
}

static long open_event(const struct perf_event_attr *attr, long leader)
{
	struct event e = {MAGIC, attr->read_format, 1, {attr->config}}, group;
	int fd = memfd_create("event", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 2 * AT) != 0 || !store_event(fd, &e))
		return -1;
	if (leader >= 0 && is_event(leader, &group)) {
		group.config[group.count++ % MEMBERS] = attr->config;
		store_event(leader, &group);
	}
	return fd;
}

static uint64_t count_of(uint64_t config)
{
	if (config == SLOTS)
		return now * slots_rate;
	return config >= METRIC ? now * rate[(config - METRIC) >> 8 & 7] : 0;
}

static long read_event(const struct event *e, uint64_t *out, size_t size)
{
	uint64_t word[MEMBERS * 2 + 3];
	size_t n = 0;
	int group = !!(e->format & PERF_FORMAT_GROUP);

	word[n++] = group ? e->count : count_of(e->config[0]);
	if (e->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		word[n++] = now;
	if (e->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		word[n++] = now;
	for (uint64_t i = 0; group && i < e->count && i < MEMBERS; i++) {
		word[n++] = count_of(e->config[i]);
		if (e->format & PERF_FORMAT_ID)
			word[n++] = i;
	}
	n *= sizeof *word;
	memcpy(out, word, size < n ? size : n);
	return (long)(size < n ? size : n);
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	struct event e;
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)a[0], a[3]);
	if (number == SYS_ioctl && is_event(a[0], &e))
		return 0;
	if (number == SYS_read && is_event(a[0], &e))
		return read_event(&e, (uint64_t *)a[1], (size_t)a[2]);
	return real()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- events ---- */

static const PAPI_component_info_t *component(const char *pmu)
{
	setenv("TACH_PMU", pmu, 1);
	return PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT
		       ? PAPI_get_component_info(PAPI_get_component_index("topdown"))
		       : NULL;
}

static int count_events(int topdown)
{
	char name[PAPI_MAX_STR_LEN];
	PAPI_event_info_t info;
	int code = PAPI_NATIVE_MASK, again, n = 0;
	int more = PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, topdown);

	while (more == PAPI_OK && n < 100) {
		n++;
		CHECK(PAPI_event_code_to_name(code, name) == PAPI_OK &&
		      strncmp(name, "topdown:::TOPDOWN_", 18) == 0);
		CHECK(PAPI_event_name_to_code(name, &again) == PAPI_OK && again == code);
		CHECK(PAPI_event_name_to_code(name + 10, &again) == PAPI_OK && again == code);
		CHECK(PAPI_get_event_info(code, &info) == PAPI_OK &&
		      strcmp(info.units, "%") == 0 && info.data_type == PAPI_DATATYPE_FP64 &&
		      info.long_descr[0] && PAPI_get_event_component(code) == topdown);
		more = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, topdown);
	}
	return n;
}

static void look_at_one_level(void)
{
	const PAPI_component_info_t *info = component("icx");
	int code;

	CHECK(info && !info->disabled && info->num_native_events == 4);
	CHECK(count_events(info->CmpIdx) == 4);
	CHECK(PAPI_event_name_to_code("topdown:::TOPDOWN_MEM_BOUND_PERC", &code) ==
	      PAPI_ENOEVNT);
	CHECK(PAPI_event_name_to_code("topdown:::NONSENSE", &code) == PAPI_ENOEVNT);
}

static void look_at_two_levels(void)
{
	const PAPI_component_info_t *info = component("spr");

	CHECK(info && !info->disabled && count_events(info->CmpIdx) == 12);
}

static void look_at_none(void)
{
	const PAPI_component_info_t *info = component("skl");
	int code;

	CHECK(info && info->disabled && strstr(info->disabled_reason, "Ice Lake") &&
	      info->num_native_events == 0);
	CHECK(PAPI_event_name_to_code("topdown:::TOPDOWN_RETIRING_PERC", &code) != PAPI_OK);
	CHECK(PAPI_event_name_to_code("TOPDOWN_RETIRING_PERC", &code) != PAPI_OK);
}

/* ---- values ---- */

static double share(const char *name, uint64_t moments)
{
	long long value = -1;
	double percent;
	int set = PAPI_NULL;

	CHECK(PAPI_create_eventset(&set) == PAPI_OK);
	CHECK(PAPI_add_named_event(set, name) == PAPI_OK);
	CHECK(PAPI_start(set) == PAPI_OK);
	now += moments;
	CHECK(PAPI_stop(set, &value) == PAPI_OK);
	PAPI_cleanup_eventset(set);
	PAPI_destroy_eventset(&set);
	memcpy(&percent, &value, sizeof percent);
	return percent;
}

static void check_share(const char *name, double want)
{
	double have = share(name, 1000000);

	CHECK(have > want - 0.001 && have < want + 0.001);
	if (have <= want - 0.001 || have >= want + 0.001)
		printf("# %s: %f, not %f\n", name, have, want);
}

static void compute_each_share(void)
{
	CHECK(component("spr") != NULL);
	check_share("TOPDOWN_RETIRING_PERC", 40);
	check_share("TOPDOWN_BAD_SPEC_PERC", 10);
	check_share("TOPDOWN_FE_BOUND_PERC", 20);
	check_share("TOPDOWN_BE_BOUND_PERC", 30);
	check_share("TOPDOWN_HEAVY_OPS_PERC", 15);
	check_share("TOPDOWN_BR_MISPREDICT_PERC", 6);
	check_share("TOPDOWN_FETCH_LAT_PERC", 12);
	check_share("TOPDOWN_MEM_BOUND_PERC", 18);
	check_share("TOPDOWN_LIGHT_OPS_PERC", 25);
	check_share("TOPDOWN_MACHINE_CLEARS_PERC", 4);
	check_share("TOPDOWN_FETCH_BAND_PERC", 8);
	check_share("TOPDOWN_CORE_BOUND_PERC", 12);
}

/* Metrics are rounded, so a part may be larger than the whole. */
static void compute_at_the_bounds(void)
{
	CHECK(component("spr") != NULL);
	rate[4] = rate[0] + 1;
	check_share("TOPDOWN_LIGHT_OPS_PERC", 0);
	slots_rate = 0;
	check_share("TOPDOWN_RETIRING_PERC", 0);
}

/* A process reads TACH_PMU once. */
static void in_a_child(void (*look)(void))
{
	int status, child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		look();
		fflush(stdout);
		_exit(check__failed != 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void each_processor_has_its_own(void)
{
	in_a_child(look_at_one_level);
	in_a_child(look_at_two_levels);
	in_a_child(look_at_none);
}

static void shares_are_of_the_slots(void)
{
	in_a_child(compute_each_share);
	in_a_child(compute_at_the_bounds);
}

int main(void)
{
	CASE(each_processor_has_its_own);
	CASE(shares_are_of_the_slots);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Sets on a machine with two core types: the events of each type, their type and config, and
 * the message about events that no type counts. The test simulates sysfs and the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach.h>
#include "core/os/sys.h"
#include "core/os/sysfs.h"
#include "core/set/set.h"
#include "tests/allocations.h"
#include "tests/child.h"

enum { CORE = 4, ATOM = 10 };
static int atom = ATOM; /* -type of the small cores' PMU; -1: the kernel has no such PMU */

int tach__sysfs_read(const char *root, const char *device, size_t length, const char *file,
		     char *out, size_t size)
{
	(void)root, (void)device, (void)length, (void)file, (void)out, (void)size;
	return -1;
}

int tach__sysfs_type(const char *root, const char *device, size_t length)
{
	(void)root;
	if (length == 8 && memcmp(device, "cpu_core", 8) == 0)
		return CORE;
	return length == 8 && memcmp(device, "cpu_atom", 8) == 0 ? atom : -1;
}

static struct tach_error err;

static struct tach_set *make(const char *events, const char *metrics, uint32_t flags, int want)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	int code;

	opt.events = events;
	opt.metrics = metrics;
	opt.flags = flags;
	memset(&err, 0, sizeof err);
	code = tach_set_create(&opt, &set, &err);
	CHECK(code == want, "%s: %d at %d: %s", events, code, err.column, err.text);
	return set;
}

/* Writes "TYPE:CONFIG" for each core type, or "-" if it does not count the member. */
static const char *said(const struct tach_set *set, int member)
{
	static char text[80];
	size_t n = 0;

	text[0] = '\0';
	for (int k = 0; set->cores && k < set->cores->n; k++) {
		const struct perf_event_attr *attr = &set->cores->attr[k][member];

		/* Bytes after its size are ignored. */
		CHECK(!(set->cores->members[k] >> member & 1) || attr->size == sizeof *attr,
		      "%u bytes", attr->size);
		if (set->cores->members[k] >> member & 1)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%u:%llx",
					      k ? " " : "", attr->type,
					      (unsigned long long)attr->config);
		else
			n += (size_t)snprintf(text + n, sizeof text - n, "%s-", k ? " " : "");
	}
	return text;
}

static void members_are_counted_where_they_can_be(void)
{
	static const struct {
		const char *event, *counted, *first, *second; /* PMU names before the event */
	} cases[] = {
		{"cycles", "0:400000000 0:a00000000", "perf::PERF_COUNT_HW_CPU_CYCLES:", NULL},
		{"L1-dcache-loads", "3:400000000 3:a00000000",
		 "perf::PERF_COUNT_HW_CACHE_L1D:READ:ACCESS:", NULL},
		{"r01c2", "4:1c2 10:1c2", "perf_raw::r1c2:", NULL},
		{"INST_RETIRED:ANY_P", "4:c0 10:c0",
		 "adl_glc::INST_RETIRED:ANY_P:", " + adl_grt::INST_RETIRED:ANY_P:"},
		{"adl_glc::INST_RETIRED:ANY_P", "4:c0 -", "adl_glc::INST_RETIRED:ANY_P:", NULL},
		{"adl_grt::INST_RETIRED:ANY_P", "- 10:c0",
		 "adl_grt::INST_RETIRED:ANY_P:", NULL},
		{"TOPDOWN:SLOTS", "4:400 -", "adl_glc::TOPDOWN:SLOTS:", NULL},
		{"TOPDOWN_BE_BOUND:ALL", "- 10:74", "adl_grt::TOPDOWN_BE_BOUND:ALL:", NULL},
		{"cpu_core/event=0x3c/", "4:3c -", "cpu_core/event=0x3c/:", NULL},
		{"cpu_atom/event=0x11/", "- 10:11", "cpu_atom/event=0x11/:", NULL},
		{"page-faults", "- -", "perf::PERF_COUNT_SW_PAGE_FAULTS:", NULL},
	};
	enum { N = sizeof cases / sizeof *cases };

	for (int i = 0; i < N; i++) {
		char list[80];
		struct tach_set *set;
		const char *name;

		snprintf(list, sizeof list, "%s,x=branches", cases[i].event);
		set = make(list, NULL, 0, 0);
		if (!set)
			continue;
		name = tach_set_qualified(set, 0);
		CHECK(strcmp(said(set, 0), cases[i].counted) == 0, "%s: %s", list,
		      said(set, 0));
		CHECK(strcmp(said(set, 1), "0:400000004 0:a00000004") == 0, "%s", said(set, 1));
		CHECK(strncmp(name, cases[i].first, strlen(cases[i].first)) == 0 &&
			      !strstr(name, " + ") == !cases[i].second &&
			      (!cases[i].second || strstr(name, cases[i].second)),
		      "%s: %s", list, name);
		tach_set_free(set);
	}
}

/* The flags and modifiers of a group's first event belong to the group. */
static void attrs(void)
{
	struct perf_event_attr attr[] = {
		{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS},
		{.type = ATOM, .config = 0xc0},
		{.type = PERF_TYPE_SOFTWARE},
		{.type = PERF_TYPE_HARDWARE, .config = (uint64_t)CORE << 32},
	};
	struct tach_set_member member[] = {
		{"any", &attr[0]}, {"atom", &attr[1]}, {"soft", &attr[2]}, {"core", &attr[3]}};
	static const char *const counted[] = {"0:400000001 0:a00000001", "- 10:c0", "- -",
					      "0:400000000 -"};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	attr[0].pinned = attr[0].exclusive = attr[0].inherit = 1;
	opt.attrs = member;
	opt.nattrs = 4;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	for (int i = 0; set && i < 4; i++) {
		CHECK(strcmp(said(set, i), counted[i]) == 0, "%d: %s", i, said(set, i));
		for (int k = 0; k < 2; k++) {
			const struct perf_event_attr *own = &set->cores->attr[k][i];

			CHECK(!own->pinned && !own->exclusive && !own->inherit);
		}
	}
	CHECK(set && set->exclusive == 1);
	CHECK(set && tach_set_kind(set, 1) == TACH_MEMBER_HARDWARE &&
	      tach_set_kind(set, 2) == TACH_MEMBER_SOFTWARE);
	tach_set_free(set);
}

/*
 * Attrs use the counters that their type and config permit, and no flags of an earlier member.
 */
static void attrs_take_counters(void)
{
	struct perf_event_attr attr[10];
	struct tach_set_member member[10];
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	memset(attr, 0, sizeof attr);
	for (unsigned i = 0; i < 10; i++) {
		attr[i].type = CORE;
		attr[i].config = i ? 0x00c4 | (uint64_t)i << 24 : 0xc0;
		member[i] = (struct tach_set_member){NULL, &attr[i]};
	}
	opt.attrs = member;
	opt.nattrs = 9;
	/* Retired instructions use a fixed counter in addition to the eight. */
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	tach_set_free(set);
	opt.nattrs = 10;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOCOUNTER, "%s", err.text);
	attr[0].type = ATOM;
	opt.events =
		"x=INSTRUCTION_RETIRED,y=UNHALTED_CORE_CYCLES,ipc"; /* two existing members */
	opt.nattrs = 1;
	CHECK(tach_set_create(&opt, &set, &err) == 0 && set->count == 3 &&
		      strcmp(said(set, 2), "- 10:c0") == 0,
	      "%s", err.text);
	tach_set_free(set);
}

static void attrs_of_another_core_type(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .config = 7ull << 32};
	struct tach_set_member member = {"other", &attr};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.events = "cycles";
	opt.attrs = &member;
	opt.nattrs = 1;
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOTSUPP && !set && err.line == 0 &&
		      err.column == 0 &&
		      strcmp(err.text, "other: none of this machine's core types counts it") ==
			      0,
	      "%d: %s", err.column, err.text);
}

/*
 * Two events that need the same counter do not fit the core type that has both; callers' attrs
 * do not either.
 */
static void every_core_type_has_room(void)
{
	struct tach_set *set = make("adl_glc::INST_RETIRED:PREC_DIST,"
				    "adl_grt::INST_RETIRED:ANY_P",
				    NULL, 0, 0);
	char list[400] = "";

	tach_set_free(set);
	for (int i = 0; i < 12; i++)
		sprintf(list + strlen(list), "adl_grt::INST_RETIRED:ANY_P:c=%d,", i + 1);
	make(list, NULL, 0, TACH_ERR_NOCOUNTER);
	for (char *at = list; (at = strstr(at, "grt")); at++)
		memcpy(at, "glc", 3);
	make(list, NULL, 0, TACH_ERR_NOCOUNTER);
	set = make(list, NULL, TACH_SET_MULTIPLEX, 0);
	tach_set_free(set);
}

/* A member of a derived event that is already counted, on the same core types, is used once. */
static void derived_events(void)
{
	struct tach_set *set = make("x=INSTRUCTION_RETIRED,adl_glc::UNHALTED_CORE_CYCLES,ipc",
				    "b = ipc + 1", 0, 0);

	if (!set)
		return;
	CHECK(set->count == 3 && set->nmetrics == 2, "%d members", set->count);
	CHECK(strcmp(said(set, 0), "4:c0 10:c0") == 0, "%s", said(set, 0));
	CHECK(strcmp(said(set, 1), "4:3c -") == 0, "%s", said(set, 1));
	CHECK(strcmp(said(set, 2), "4:3c 10:3c") == 0, "%s", said(set, 2));
	CHECK(strcmp(set->metric[0].text, "N0 / N2") == 0, "%s", set->metric[0].text);
	CHECK(set->cores->members[0] == 7 && set->cores->members[1] == 5);
	tach_set_free(set);
	set = make("x=INSTRUCTION_RETIRED,PAPI_TOT_INS", NULL, 0, 0);
	CHECK(set && set->count == 2 && set->cores->members[0] == 3);
	tach_set_free(set);
}

/* ---- a kernel that counts on one core type only ---- */

static long core_alone(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	uint64_t type;

	if (number != SYS_perf_event_open)
		return tach__sys_real(number, a, b, c, d, e, f);
	type = attr->type == PERF_TYPE_HARDWARE ? attr->config >> 32 : attr->type;
	return type == ATOM ? -ENOENT : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void what_is_not_counted_is_left_out(void)
{
	struct tach_set *set;

	tach__sys = core_alone;
	set = make("cycles,INST_RETIRED:ANY_P,page-faults", NULL, TACH_SET_OPTIONAL, 0);
	tach__sys = tach__sys_real;
	if (!set)
		return;
	CHECK(set->count == 3 && strcmp(said(set, 0), "0:400000000 -") == 0, "%s",
	      said(set, 0));
	CHECK(strcmp(said(set, 1), "4:c0 -") == 0 && !strstr(tach_set_qualified(set, 1), " + "),
	      "%s", said(set, 1));
	tach_set_free(set);
}

/* A set with software events only, or with a named PMU, is not a hybrid set. */
static void software_sets_are_not_hybrid(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = make("page-faults", NULL, 0, 0);

	CHECK(set && !set->cores);
	tach_set_free(set);
	opt.events = "cycles";
	opt.pmu = tach_pmu_find("adl_grt");
	CHECK(tach_set_create(&opt, &set, &err) == 0 && !set->cores);
	tach_set_free(set);
}

/* The kernel has no PMU for one core type, or one PMU for both. */
static void of_one_type(void)
{
	struct tach_set *set = make("cycles,branches", NULL, 0, 0);

	CHECK(set && !set->cores);
	tach_set_free(set);
}

/* Of three PMUs, the third is the kernel's second. */
static void of_three_pmus(void)
{
	struct tach_set *set;

	setenv("TACH_PMU", "adl_glc,adl_grt,mtl_cmt", 1);
	set = make("cycles,branches", NULL, 0, 0);
	CHECK(set && set->cores && set->cores->n == 2 && set->cores->type[0] == CORE &&
	      set->cores->type[1] == ATOM);
	tach_set_free(set);
}

static void core_types_without_a_number_of_their_own(void)
{
	for (atom = -1; atom <= CORE; atom += CORE + 1)
		in_child(of_one_type);
	atom = ATOM;
	in_child(of_three_pmus);
}

static int job(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;
	int code;

	memset(&err, 0, sizeof err);
	opt.events = " cycles,INST_RETIRED:ANY_P,PAPI_TOT_INS,page-faults";
	code = tach_set_create(&opt, &set, &err);
	CHECK(code == 0 || (code == TACH_ERR_NOMEM && err.line == 0 && err.column != 1 &&
			    strstr(err.text, "out of memory")),
	      "%d at %d: %s", code, err.column, err.text);
	tach_set_free(set);
	return code;
}

static void without_memory(void)
{
	exhaust(job);
}

static void numbers_of_core_types(void)
{
	struct tach__cores c = {.n = 2, .type = {CORE, ATOM, 12}};

	CHECK(tach__cores_have(&c, CORE) && tach__cores_have(&c, ATOM));
	CHECK(!tach__cores_have(&c, 12) && !tach__cores_have(&c, 0));
	CHECK(!tach__cores_have(NULL, CORE));
}

int main(void)
{
	setenv("TACH_PMU", "adl_glc,adl_grt", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(core_types_without_a_number_of_their_own);
	CASE(members_are_counted_where_they_can_be);
	CASE(attrs);
	CASE(attrs_take_counters);
	CASE(attrs_of_another_core_type);
	CASE(without_memory);
	CASE(every_core_type_has_room);
	CASE(derived_events);
	CASE(what_is_not_counted_is_left_out);
	CASE(software_sets_are_not_hybrid);
	CASE(numbers_of_core_types);
	return check_done();
}

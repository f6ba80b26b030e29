/* SPDX-License-Identifier: MIT */
/*
 * Members of sets: which of them are hardware events, how a caller's attr is used, the message
 * about omitted members, and members in an emulator. The test simulates sysfs, settings and
 * kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach.h>
#include "core/os/emulator.h"
#include "core/os/settings.h"
#include "core/os/sys.h"
#include "core/os/sysfs.h"
#include "core/set/set.h"
#include "tests/child.h"

/*
 * ---- the simulated sysfs and settings, which the library reads instead of the real ones ----
 */

static const char *const devices[] = {"cpu",	       "cpu_atom", "cpux",
				      "armv8_pmuv3_0", "uncore",   "cp"};
enum { FIRST_TYPE = 20, NDEVICES = sizeof devices / sizeof *devices };

int tach__sysfs_device(const char *root, uint32_t type, char *name, size_t size)
{
	CHECK(strcmp(root, TACH__SYSFS) == 0 && size >= 64);
	if (type < FIRST_TYPE || type >= FIRST_TYPE + NDEVICES)
		return -1;
	snprintf(name, size, "%s", devices[type - FIRST_TYPE]);
	return 0;
}

int tach__sysfs_read(const char *root, const char *device, size_t length, const char *file,
		     char *out, size_t size)
{
	CHECK(strcmp(root, TACH__SYSFS) == 0 && size > 0);
	if (length != 13 || memcmp(device, "armv8_pmuv3_0", 13) != 0 ||
	    strcmp(file, "cpus") != 0)
		return -1;
	*out = '\0';
	return 0;
}

static int box = -1; /* of all boxes */

int tach__sysfs_type(const char *root, const char *device, size_t length)
{
	(void)root, (void)device, (void)length;
	return box;
}

void tach__settings_read(struct tach__settings *s, const char *root)
{
	(void)root;
	memset(s, 0, sizeof *s);
	s->paranoid = 2;
	s->virtual_machine = 1;
}

int32_t tach__setting(const char *root, const char *path)
{
	(void)root, (void)path;
	return TACH__UNREADABLE;
}

/* ---- callers' attrs ---- */

static struct tach_error err;

static struct tach_set *of_attrs(const struct perf_event_attr *attr, int n, int want)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set_member member[4];
	struct tach_set *set = NULL;
	int code;

	for (int i = 0; i < n; i++)
		member[i] = (struct tach_set_member){NULL, &attr[i]};
	opt.attrs = member;
	opt.nattrs = n;
	opt.flags = TACH_SET_MULTIPLEX;
	memset(&err, 0, sizeof err);
	code = tach_set_create(&opt, &set, &err);
	CHECK(code == want && err.line == 0 && err.column == 0, "%d: %s", code, err.text);
	CHECK((set == NULL) == (want != 0));
	return set;
}

static void kind_follows_the_event_type(void)
{
	static const struct {
		uint32_t type;
		enum tach_member_kind kind;
	} cases[] = {
		{PERF_TYPE_HARDWARE, TACH_MEMBER_HARDWARE},
		{PERF_TYPE_HW_CACHE, TACH_MEMBER_HARDWARE},
		{PERF_TYPE_RAW, TACH_MEMBER_HARDWARE},
		{PERF_TYPE_SOFTWARE, TACH_MEMBER_SOFTWARE},
		{PERF_TYPE_TRACEPOINT, TACH_MEMBER_SOFTWARE},
		{PERF_TYPE_BREAKPOINT, TACH_MEMBER_SOFTWARE},
		{FIRST_TYPE, TACH_MEMBER_HARDWARE},
		{FIRST_TYPE + 1, TACH_MEMBER_HARDWARE},
		{FIRST_TYPE + 2, TACH_MEMBER_SOFTWARE},
		{FIRST_TYPE + 3, TACH_MEMBER_HARDWARE},
		{FIRST_TYPE + 4, TACH_MEMBER_SOFTWARE},
		{FIRST_TYPE + 5, TACH_MEMBER_SOFTWARE},
		{FIRST_TYPE + 6, TACH_MEMBER_SOFTWARE},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct perf_event_attr attr = {.type = cases[i].type};
		struct tach_set *set = of_attrs(&attr, 1, 0);

		if (!set)
			continue;
		CHECK(tach_set_kind(set, 0) == cases[i].kind, "type %u", cases[i].type);
		CHECK(strcmp(tach_set_name(set, 0), "attr") == 0 &&
		      strcmp(tach_set_qualified(set, 0), "attr") == 0);
		tach_set_free(set);
	}
}

/* Without a size, the attr has the first version's size, which ends before config2. */
static void sizes(void)
{
	static const struct {
		uint32_t size;
		uint64_t config2;
	} cases[] = {{0, 0}, {PERF_ATTR_SIZE_VER0, 0}, {PERF_ATTR_SIZE_VER1, 7}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_RAW,
					       .size = cases[i].size,
					       .config = 5,
					       .config1 = 6,
					       .config2 = 7};
		struct tach_set *set = of_attrs(&attr, 1, 0);
		const struct perf_event_attr *own = set ? tach_set_attr(set, 0) : &attr;

		CHECK(own->size == sizeof *own && own->config == 5 && own->config1 == 6 &&
			      own->config2 == cases[i].config2,
		      "%u: %d", cases[i].size, (int)own->config2);
		tach_set_free(set);
	}
}

static void leaders(void)
{
	static const struct {
		uint32_t first;
		int exclusive, pinned, code;
	} cases[] = {
		{PERF_TYPE_SOFTWARE, 1, 0, 0},	       {PERF_TYPE_SOFTWARE, 0, 1, 0},
		{PERF_TYPE_SOFTWARE, 1, 1, 0},	       {PERF_TYPE_RAW, 0, 0, 0},
		{PERF_TYPE_RAW, 1, 0, TACH_ERR_INVAL}, {PERF_TYPE_RAW, 0, 1, TACH_ERR_INVAL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct perf_event_attr attr[3];
		struct tach_set *set;

		memset(attr, 0, sizeof attr);
		attr[0].type = cases[i].first;
		attr[1].type = attr[2].type = PERF_TYPE_RAW;
		attr[1].exclusive = cases[i].exclusive & 1;
		attr[1].pinned = cases[i].pinned & 1;
		set = of_attrs(attr, 3, cases[i].code);
		if (cases[i].code)
			CHECK(strcmp(err.text, "attr: pinned and exclusive belong to the "
					       "group's first event") == 0,
			      "%s", err.text);
		if (!set)
			continue;
		CHECK(set->exclusive == cases[i].exclusive, "%zu: %d", i, set->exclusive);
		CHECK(!set->member[1].attr.exclusive && !set->member[1].attr.pinned);
		tach_set_free(set);
	}
}

/* Event strings follow the same rule, for any member that requests it. */
static void exclusive_strings(void)
{
	static const char *const lists[] = {"cycles:excl=1,branches", "cycles,branches"};

	for (int i = 0; i < 2; i++) {
		struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
		struct tach_set *set = NULL;

		opt.events = lists[i];
		CHECK(tach_set_create(&opt, &set, &err) == 0 && set->exclusive == !i &&
			      !set->member[0].attr.exclusive,
		      "%s: %s", lists[i], err.text);
		tach_set_free(set);
	}
}

/* Boxes cannot count a single thread. */
static void boxes(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	box = FIRST_TYPE + NDEVICES;
	opt.pmu = tach_pmu_find("skx");
	opt.events = "cycles, skx_unc_imc0::UNC_M_CAS_COUNT:RD";
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOTSUPP && !set && err.line == 0 &&
		      err.column == 9 &&
		      strncmp(err.text, "counts for all processors of a socket, not for", 46) ==
			      0,
	      "%d: %s", err.column, err.text);
	box = -1;
}

/* ---- names ---- */

static void names(void)
{
	static struct tach_set set;
	static struct tach__making m = {.set = &set};
	static char first[] = "Cycles", second[] = "cyc";

	set.member[0].name = first;
	set.member[1].name = second;
	set.count = 2;
	CHECK(tach__set_find(&set, "cYCLES", 6) == 0);
	CHECK(tach__set_find(&set, "cycles", 3) == 1);
	CHECK(tach__set_find(&set, "cycles", 5) == -1);
	CHECK(tach__set_find(&set, "cyd", 3) == -1);
	set.count = 1;
	CHECK(tach__set_find(&set, "cyc", 3) == -1);
	m.missing[0] = (struct tach__span){"x=Bogus", 7, 1};
	m.missing[1] = (struct tach__span){"other", 5, 1};
	m.nmissing = 2;
	CHECK(tach__set_was_left_out(&m, "X=bogus", 7) == 1);
	CHECK(tach__set_was_left_out(&m, "othe", 4) == 0);
	CHECK(tach__set_was_left_out(&m, "xther", 5) == 0);
	m.nmissing = 1;
	CHECK(tach__set_was_left_out(&m, "other", 5) == 0);
}

/* ---- messages about omitted members ---- */

static void sentences(void)
{
	static struct tach_set set;
	char name[16];

	tach__set_miss(&set, "a", "a: no; do it");
	tach__set_miss(&set, "bb", "bb: no; do it");
	CHECK(strcmp(set.missing, "a: no; do it; bb likewise") == 0, "%s", set.missing);
	tach__set_miss(&set, "bb", "bb: no; do it");
	CHECK(strcmp(set.missing, "a: no; do it; bb likewise") == 0, "%s", set.missing);
	tach__set_miss(&set, "bb", "bb: never");
	tach__set_miss(&set, "c", "plain");
	tach__set_miss(&set, "c", "plain");
	CHECK(strcmp(set.missing, "a: no; do it; bb likewise; bb: never; plain; c likewise") ==
		      0,
	      "%s", set.missing);
	/* A message that does not fit is cut, and no byte is written after it. */
	set.missing[0] = '\0';
	tach__set_miss(&set, "x", "x: why");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "name%d", i);
		tach__set_miss(&set, name, "y: why");
		CHECK(strlen(set.missing) < sizeof set.missing);
	}
	CHECK(strlen(set.missing) == sizeof set.missing - 1 &&
		      strncmp(set.missing, "x: why; name0 likewise; name1 likewise", 38) == 0,
	      "%s", set.missing);
}

/* ---- a kernel that does not count some events ---- */

static uint64_t refused; /* a bit for each refused generic event */
static int others;	 /* the result for all other events */
static uint64_t odd;	 /* an event that the kernel does not count */
static int opened, closed;

static long kernel_that_counts_some(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;

	closed += number == SYS_close;
	if (number != SYS_perf_event_open)
		return tach__sys_real(number, a, b, c, d, e, f);
	/* A clock is opened to find its rate. */
	CHECK((attr->disabled || attr->type == PERF_TYPE_SOFTWARE) && d == -1);
	if (attr->type == PERF_TYPE_HARDWARE && refused >> attr->config & 1)
		return -ENOENT;
	if (odd && attr->config == odd)
		return -ENOENT;
	if (attr->type != PERF_TYPE_HARDWARE && others)
		return others;
	opened++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void check_optional(const char *events, const char *metrics, int count, int nmetrics,
			   const char *missing)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.events = events;
	opt.metrics = metrics;
	opt.flags = TACH_SET_OPTIONAL;
	tach__sys = kernel_that_counts_some;
	opened = closed = 0;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s: %s", events, err.text);
	tach__sys = tach__sys_real;
	CHECK(opened == closed, "%d of %d were closed", closed, opened);
	if (!set)
		return;
	CHECK(tach_set_count(set) == count && tach_set_nmetrics(set) == nmetrics,
	      "%s: %d members, %d metrics", events, tach_set_count(set),
	      tach_set_nmetrics(set));
	CHECK(strcmp(tach_set_missing(set), missing) == 0, "%s: %s", events,
	      tach_set_missing(set));
	tach_set_free(set);
}

static void what_is_not_counted_is_left_out(void)
{
	refused = 1 << PERF_COUNT_HW_CPU_CYCLES;
	check_optional("branches,instructions", "a = branches / instructions", 2, 1, "");
	check_optional(
		"page-faults,cycles,x=cycles:k,branches",
		"a = x / branches; b = CYCLES + 1; c = branches; d = page-faults + X; cycles",
		2, 1,
		"cycles: no PMU in this virtual machine: the host gives it no performance "
		"counters; have the virtual PMU enabled on the host; x likewise");
	/* If another event is counted, the machine has a PMU. */
	check_optional("branches,cycles,x=cycles:k,page-faults", NULL, 2, 0,
		       "cycles: this machine's PMU cannot count that; x likewise");
	check_optional("page-faults,branches,cycles", NULL, 2, 0,
		       "cycles: this machine's PMU cannot count that");
	refused = 1 << PERF_COUNT_HW_BRANCH_MISSES;
	check_optional("branch-misses,cycles", NULL, 1, 0,
		       "branch-misses: this machine's PMU cannot count that");
	/*
	 * An unknown event cannot be counted and is omitted; a malformed event is still an
	 * error.
	 */
	check_optional("bogus,cycles", "a = bogus + cycles; bogus", 1, 0, "no event 'bogus'");
	refused = 0;
	others = -EINVAL;
	check_optional("branches,r01c2", NULL, 1, 0,
		       "r01c2: the kernel does not take this event (invalid argument)");
	others = -EMFILE;
	check_optional(
		"page-faults,cycles", NULL, 1, 0,
		"page-faults: the process's file descriptor limit is reached (0); raise it "
		"with "
		"ulimit -n: every thread needs one descriptor per event");
	others = 0;
	/* An omitted member uses no counter: on skl only one counter can count either event. */
	odd = 0x10001c0;
	check_optional("x=r10001c0,r01c0", NULL, 1, 0,
		       "x: this machine's PMU cannot count that");
	check_optional("r01c0,x=r10001c0", NULL, 1, 0,
		       "x: this machine's PMU cannot count that");
	odd = 0;
}

/* Parameters of the machine and clocks need no counter. */
static void numbers_are_no_events(void)
{
	refused = 1 << PERF_COUNT_HW_CPU_CYCLES;
	check_optional(NULL, "a = page-faults * cores", 1, 1, "");
	check_optional(NULL, "a = tsc; b = smt_on; c = elapsed_ns", 0, 3, "");
	check_optional(NULL, "a = (page-faults-1)", 1, 1, "");
	check_optional(NULL, "a = page-faults * nosuch", 0, 0, "no event 'nosuch'");
}

/* Members that only an omitted metric needed are removed. */
static void nothing_stays_of_metrics_left_out(void)
{
	refused = 1 << PERF_COUNT_HW_CPU_CYCLES;
	check_optional("branches", "Q = page-faults / cycles; R = page-faults / branches", 2, 1,
		       "cycles: this machine's PMU cannot count that");
	odd = 0x3c; /* the events of ipc */
	check_optional("ipc,branches", NULL, 1, 0,
		       "UNHALTED_CORE_CYCLES: this machine's PMU cannot count that");
	odd = 0;
}

/* Each name is listed, even one that is part of another. */
static void each_missing_member_is_listed(void)
{
	refused = 1 << PERF_COUNT_HW_CPU_CYCLES;
	check_optional("branches,cy2=cycles,cy=cycles:k,y=cycles:uk", NULL, 1, 0,
		       "cy2: this machine's PMU cannot count that; cy likewise; y likewise");
}

/* ---- in an emulator ---- */

static uint64_t counts[TACH__EMULATED_COUNTS];

static long emulate(long number, long a, long b, long c, long d, long e, long f)
{
	struct tach__emulator_answer *answer = (struct tach__emulator_answer *)a;

	CHECK(number != SYS_perf_event_open);
	if (number != TACH__EMULATOR_CALL)
		return tach__sys_real(number, a, b, c, d, e, f);
	*answer = (struct tach__emulator_answer){TACH__EMULATOR_VERSION, (uintptr_t)counts, 0};
	return 0;
}

#define NOTHING_ELSE                                                                           \
	"the emulator counts instructions, branches, L1-dcache-loads and L1-dcache-stores, "   \
	"and nothing else"

static void in_an_emulator(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	setenv("TACH_EMULATE", "1", 1);
	tach__sys = emulate;
	opt.events = "page-faults,instructions,branches";
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	CHECK(set && set->count == 3 && set->member[0].kind == TACH_MEMBER_SOFTWARE &&
	      set->member[1].kind == TACH_MEMBER_EMULATED && set->member[1].emulated == 0 &&
	      set->member[2].kind == TACH_MEMBER_EMULATED && set->member[2].emulated == 1);
	CHECK(set && tach__diagnose_open(-ENOENT, set, 1, 0, 0, &err) == TACH_ERR_NOHARDWARE &&
		      strcmp(err.text,
			     "instructions: the emulator has no events of the kernel, "
			     "it counts instructions, branches, loads and stores") == 0 &&
		      !err.line && !err.column,
	      "%s", err.text);
	tach_set_free(set);
	set = NULL;
	opt.events = "instructions,  cycles";
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOHARDWARE && !set &&
		      err.column == 16 && strcmp(err.text, "cycles: " NOTHING_ELSE) == 0,
	      "%d: %s", err.column, err.text);
	opt.events = "cycles,x=cycles:k,instructions";
	opt.flags = TACH_SET_OPTIONAL;
	CHECK(tach_set_create(&opt, &set, &err) == 0 && set && set->count == 1 &&
		      strcmp(set->missing, "cycles: " NOTHING_ELSE "; x likewise") == 0,
	      "%s", set ? set->missing : err.text);
	tach_set_free(set);
}

static void emulated(void)
{
	in_child(in_an_emulator);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	unsetenv("TACH_EMULATE");
	CASE(emulated);
	CASE(kind_follows_the_event_type);
	CASE(sizes);
	CASE(leaders);
	CASE(exclusive_strings);
	CASE(boxes);
	CASE(names);
	CASE(sentences);
	CASE(what_is_not_counted_is_left_out);
	CASE(numbers_are_no_events);
	CASE(nothing_stays_of_metrics_left_out);
	CASE(each_missing_member_is_listed);
	return check_done();
}

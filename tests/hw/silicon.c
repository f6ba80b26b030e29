/* SPDX-License-Identifier: MIT */
/*
 * silicon [FILE]: tests this library on the present processor, and writes one record (JSON) to
 * FILE, or as a line of its output. `make silicon` builds it as one static program for any
 * machine of that architecture; docs/silicon/README.md says where to send records. It takes
 * seconds. A fault of the library is a failed case; a missing feature of the machine is a
 * skipped case.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <tach.h>
#include "core/base/json_out.h"
#include "core/bench/context.h"
#include "tests/hw/hardware.h"

enum { TRIES = 300, ROUNDS = 20 };

/* -1: unknown. */
static struct record {
	int counters; /* some counters exist, and user space can read them */
	char why[256];
	double smallest_exact, empty;
	struct edge {
		const char *name;
		double cycles, ns;
	} edge[8];
	int nedges;
	double interrupts, too_many, corrected, instructions;
	double skid_median, skid_most, samples;
	double topdown; /* all fractions together */
	double toggles, migrations, wrapped;
	int failed;
} record = {.smallest_exact = -1,
	    .empty = -1,
	    .interrupts = -1,
	    .skid_median = -1,
	    .topdown = -1,
	    .toggles = -1,
	    .migrations = -1,
	    .wrapped = -1};

static int open_or_why(struct hardware *h, const char *events)
{
	if (hardware_open(h, events) == 0)
		return 0;
	if (!*record.why)
		snprintf(record.why, sizeof record.why, "%s", hardware_why);
	return -1;
}

/* ---- the smallest region that is counted exactly ---- */

static uint64_t loop(struct hardware *h, uint64_t n, uint32_t *flags)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	tach_reader_begin(h->reader, &mark);
	machine_loop(n);
	*flags = tach_reader_end(h->reader, &mark, delta);
	return delta[0];
}

/* Number of the library's own instructions in a region. */
static uint64_t empty_region(struct hardware *h)
{
	uint64_t least = UINT64_MAX;
	uint32_t flags;

	for (int i = 0; i < TRIES; i++) {
		uint64_t got = loop(h, 1, &flags);

		if (!flags && got < least)
			least = got;
	}
	return least - MACHINE_LOOP_INSTRUCTIONS;
}

/* Returns how many of TRIES loops show exactly n turns' instructions more than `empty`. */
static int exact(struct hardware *h, uint64_t n, uint64_t empty)
{
	int right = 0;
	uint32_t flags;

	for (int i = 0; i < TRIES; i++)
		right += loop(h, n, &flags) - empty == n * MACHINE_LOOP_INSTRUCTIONS && !flags;
	return right;
}

static void smallest_exact_region(void)
{
	struct hardware h;
	uint64_t empty;

	if (open_or_why(&h, "instructions"))
		SKIP(hardware_why);
	record.counters = 1;
	empty = empty_region(&h);
	record.empty = (double)empty;
	for (uint64_t n = 1; n <= 10000 && record.smallest_exact < 0;
	     n = n < 10 ? n + 1 : n * 10)
		if (exact(&h, n, empty) >= TRIES * 98 / 100)
			record.smallest_exact = (double)(n * MACHINE_LOOP_INSTRUCTIONS);
	printf("# smallest exact region: %.0f instructions\n", record.smallest_exact);
	CHECK(record.smallest_exact > 0, "no region of up to 20,000 instructions is exact");
	hardware_close(&h);
}

/* ---- what edges take ---- */

static struct hardware timed; /* one counter: cycles */
static uint64_t sink;

static void edge_nothing(void)
{
	__asm__ volatile("" : : : "memory");
}

static void edge_bare(void)
{
	uint32_t index = timed.reader->way[0].page->index - 1;
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	sink += low;
#elif defined(__aarch64__)
	uint64_t value;

	/* The cycle counter, if it counts cycles. */
	__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
	sink += value + index;
#else
	sink += index;
#endif
}

static void edge_read(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	tach_reader_read(timed.reader, value);
	sink += value[0];
}

static void edge_pair(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	tach_reader_begin(timed.reader, &mark);
	sink += tach_reader_end(timed.reader, &mark, delta);
}

static void edge_pair_fenced(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	tach_reader_begin_fenced(timed.reader, &mark);
	sink += tach_reader_end_fenced(timed.reader, &mark, delta);
}

static void edge_region(void)
{
	TACH_START(silicon);
	TACH_STOP(silicon);
}

static int page_fd;

static void edge_system_call(void)
{
	uint64_t value[4];

	sink += (uint64_t)read(page_fd, value, sizeof value);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double cycles_now(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	tach_reader_read(timed.reader, value);
	return (double)value[0];
}

/* The minimum of several rounds, minus the loop around it. */
static void take(const char *name, void (*edge)(void), int n)
{
	static double loop_ns, loop_cycles;
	struct edge e = {name, INFINITY, INFINITY};

	for (int round = 0; round < ROUNDS; round++) {
		double cycles = cycles_now(), ns = now();

		for (int i = 0; i < n; i++)
			edge();
		ns = (now() - ns) / n;
		cycles = (cycles_now() - cycles) / n;
		e.ns = fmin(e.ns, ns);
		e.cycles = fmin(e.cycles, cycles);
	}
	if (edge == edge_nothing) {
		loop_ns = e.ns;
		loop_cycles = e.cycles;
		return;
	}
	e.ns = fmax(0, e.ns - loop_ns);
	e.cycles = fmax(0, e.cycles - loop_cycles);
	/* Cycles in the kernel are not counted. */
	if (edge == edge_system_call)
		e.cycles = NAN;
	record.edge[record.nedges++] = e;
	printf("# %-24s %7.1f cycles %8.1f ns\n", name, e.cycles, e.ns);
}

static void edges(void)
{
	struct tach_regions_options opt = {.events = "cycles"};
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	const int n = machine_is_guest() ? 1000 : 20000;

	if (open_or_why(&timed, "cycles"))
		SKIP(hardware_why);
	take("nothing", edge_nothing, n);
#if defined(__x86_64__)
	take("bare rdpmc", edge_bare, n);
#elif defined(__aarch64__)
	if (timed.reader->way[0].page->index == 32)
		take("bare mrs", edge_bare, n);
#else
	(void)edge_bare;
#endif
	take("tach_reader_read", edge_read, n);
	take("begin, end", edge_pair, n);
	take("begin, end, fenced", edge_pair_fenced, n);
	if (tach_regions_configure(&opt, NULL) == 0)
		take("START, STOP", edge_region, n);
	page_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (page_fd >= 0)
		take("read(2)", edge_system_call, n / 10);
	close(page_fd);
	tach_regions_disable();
	CHECK(record.nedges >= 4);
	hardware_close(&timed);
}

/* ---- interrupts ---- */

static void interrupts(void)
{
	enum { TURNS = 10000000, LOOPS = 60 };
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	uint64_t delta[TACH_COUNTERS_MAX], want;
	double seen = 0, raw = 0, corrected = 0, all = 0;
	struct hardware h;

	if (machine_is_guest())
		SKIP("the emulated PMU has no event for interrupts");
	opt.events = "instructions";
	opt.flags = TACH_SET_CORRECT;
	if (open_or_why(&h, "instructions"))
		SKIP(hardware_why);
	hardware_close(&h);
	if (tach_set_create(&opt, &h.set, NULL) || tach_set_interrupts(h.set) < 0 ||
	    tach_reader_open(h.set, &h.reader, NULL))
		SKIP("the PMU counts no interrupts");
	want = empty_region(&h) + TURNS * MACHINE_LOOP_INSTRUCTIONS;
	for (int i = 0; i < LOOPS; i++) {
		uint32_t flags[TACH_COUNTERS_MAX] = {0};
		struct tach_mark mark;

		tach_reader_begin(h.reader, &mark);
		machine_loop(TURNS);
		if (tach_reader_end(h.reader, &mark, delta) & ~(uint32_t)TACH_FLAG_RESCHEDULED)
			continue;
		all += TURNS * MACHINE_LOOP_INSTRUCTIONS;
		seen += (double)delta[1];
		raw += (double)(int64_t)(delta[0] - want);
		tach_set_correct(h.set, delta, flags);
		corrected += (double)(int64_t)(delta[0] - want);
	}
	hardware_close(&h);
	record.instructions = all;
	record.interrupts = seen;
	record.too_many = raw;
	record.corrected = corrected;
	printf("# %.0f instructions, %.0f interrupts, %.0f too many, %.0f corrected\n", all,
	       seen, raw, corrected);
}

/* ---- skid ---- */

enum { NOPS = 4000 };
#if defined(__x86_64__)
enum { NOP_SIZE = 1 };
#define TURN ".rept 4000\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
#elif defined(__aarch64__)
enum { NOP_SIZE = 4 };
#define TURN ".rept 4000\n\tnop\n\t.endr\n\tsubs %0, %0, #1\n\tb.ne 1b"
#else
enum { NOP_SIZE = 4 };
#define TURN ".rept 4000\n\t.4byte 0x13\n\t.endr\n\taddi %0, %0, -1\n\tbnez %0, 1b"
#endif

/*
 * The handler jumps from the end to the beginning: measures how far after the branch a sample
 * is.
 */
static __attribute__((noinline)) uintptr_t nops(uint64_t n)
{
	uintptr_t at;

#if defined(__x86_64__)
	__asm__ volatile("lea 1f(%%rip), %1\n1:\t" TURN : "+r"(n), "=&r"(at) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("adr %1, 1f\n1:\t" TURN : "+r"(n), "=&r"(at) : : "cc");
#else
	__asm__ volatile("lla %1, 1f\n1:\t" TURN : "+r"(n), "=&r"(at));
#endif
	return at;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void skid(void)
{
	enum { PAGES = 16, PAGE = 4096, MOST = 2000 };
	struct perf_event_attr attr = {.size = sizeof attr,
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
				       .sample_period = 97,
				       .sample_type = PERF_SAMPLE_IP,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .disabled = 1};
	static double off[MOST];
	struct perf_event_mmap_page *page;
	uint64_t tail = 0;
	uintptr_t from;
	char *data;
	int n = 0, fd;

	if (!record.counters)
		SKIP(record.why);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	page = fd < 0 ? MAP_FAILED
		      : mmap(NULL, (1 + PAGES) * (size_t)sysconf(_SC_PAGESIZE),
			     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		close(fd);
		SKIP("no sampling event opens");
	}
	data = (char *)page + sysconf(_SC_PAGESIZE);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	from = nops(97 * 200);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (tail < __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) && n < MOST) {
		uint64_t size = (uint64_t)PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
		struct {
			struct perf_event_header header;
			uint64_t ip;
		} sample;

		for (size_t i = 0; i < sizeof sample; i++)
			((char *)&sample)[i] = data[(tail + i) % size];
		if (sample.header.size == 0)
			break;
		tail += sample.header.size;
		if (sample.header.type == PERF_RECORD_SAMPLE && sample.ip >= from &&
		    sample.ip < from + (NOPS + 2) * NOP_SIZE + 8)
			off[n++] = (double)(sample.ip - from) / NOP_SIZE;
	}
	munmap(page, (1 + PAGES) * (size_t)sysconf(_SC_PAGESIZE));
	close(fd);
	if (n == 0)
		SKIP("the sampling event gave no samples");
	qsort(off, (size_t)n, sizeof *off, by_size);
	record.samples = n;
	record.skid_median = off[n / 2];
	record.skid_most = off[n - 1];
	printf("# %d samples, %.0f instructions late, %.0f at most\n", n, off[n / 2],
	       off[n - 1]);
}

/* ---- top-down ---- */

static void topdown(void)
{
	static const char events[] =
		"slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound";
	struct hardware h;
	uint64_t value[TACH_COUNTERS_MAX];
	double all = 0;

	if (!record.counters)
		SKIP(record.why);
	if (hardware_open(&h, events))
		SKIP("this PMU has no top-down metrics");
	nops(20000);
	tach_reader_read(h.reader, value);
	for (uint32_t i = 1; i < h.reader->count; i++)
		all += (double)value[i];
	record.topdown = all / (double)value[0];
	printf("# top-down: %.3f of all slots\n", record.topdown);
	CHECK(record.topdown > 0.95 && record.topdown < 1.05, "%g", record.topdown);
	hardware_close(&h);
}

/* ---- permission withdrawn and granted ---- */

static const char *const switches[][2] = {
	{"/sys/bus/event_source/devices/cpu/rdpmc", "0"},
	{"/sys/bus/event_source/devices/cpu_core/rdpmc", "0"},
	{"/proc/sys/kernel/perf_user_access", "0"},
};

static int put(const char *path, const char *text)
{
	FILE *to = fopen(path, "we");
	int failed = !to || fputs(text, to) < 0;

	return (to && fclose(to) != 0) || failed;
}

static void permission(void)
{
	char before[32] = "";
	const char *path = NULL;
	struct hardware h;
	uint64_t low, high;
	uint32_t flags;
	FILE *f;

	if (open_or_why(&h, "instructions"))
		SKIP(hardware_why);
	for (size_t i = 0; i < sizeof switches / sizeof *switches && !path; i++)
		if (access(switches[i][0], W_OK) == 0)
			path = switches[i][0];
	f = path && geteuid() == 0 ? fopen(path, "re") : NULL;
	if (!f || !fgets(before, sizeof before, f)) {
		hardware_close(&h);
		SKIP("taking the permission away takes root");
	}
	fclose(f);
	CHECK(tach_fault_install(NULL) > 0);
	record.toggles = 0;
	for (int i = 0; i < 20; i++) {
		low = loop(&h, 1000, &flags);
		CHECK(put(path, i % 2 ? before : "0") == 0, "%s", path);
		high = loop(&h, 1000, &flags);
		CHECK((flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)) ||
			      (high >= 2000 && low >= 2000 && high < 100000),
		      "%" PRIu64 ", then %" PRIu64 ", flags %#x", low, high, flags);
		record.toggles++;
	}
	put(path, before);
	hardware_close(&h);
}

/* ---- moves between CPUs, also to other core types ---- */

static void migration(void)
{
	enum { TURNS = 100000 };
	cpu_set_t all, one;
	struct hardware h;
	uint64_t delta[TACH_COUNTERS_MAX];
	int wrong = 0, moved = 0;

	if (open_or_why(&h, "instructions"))
		SKIP(hardware_why);
	sched_getaffinity(0, sizeof all, &all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct tach_mark mark;
		uint32_t flags;
		int64_t off;

		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		tach_reader_begin(h.reader, &mark);
		machine_loop(TURNS);
		sched_setaffinity(0, sizeof one, &one);
		machine_loop(TURNS);
		flags = tach_reader_end(h.reader, &mark, delta);
		off = (int64_t)(delta[0] - 2 * TURNS * MACHINE_LOOP_INSTRUCTIONS);
		wrong += !(flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)) &&
			 (off < 0 || off > 2000);
		moved++;
	}
	sched_setaffinity(0, sizeof all, &all);
	record.migrations = moved;
	CHECK(wrong == 0, "%d of %d counts are wrong, and say so of nothing", wrong, moved);
	hardware_close(&h);
}

/* ---- 2^32 ---- */

static void beyond_32_bits(void)
{
	const uint64_t turns = (UINT64_C(1) << 31) + 1000003;
	struct hardware h;
	uint32_t flags;
	int64_t off;

	if (machine_is_guest())
		SKIP("4e9 instructions take long in a guest: not in a guest");
	if (open_or_why(&h, "instructions"))
		SKIP(hardware_why);
	off = (int64_t)(loop(&h, turns, &flags) - turns * MACHINE_LOOP_INSTRUCTIONS);
	record.wrapped = !(flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)) && off >= 0 &&
			 off < 10000000;
	printf("# %" PRIu64 " instructions: %+" PRId64 ", flags %#x\n",
	       turns * MACHINE_LOOP_INSTRUCTIONS, off, flags);
	CHECK(record.wrapped || (flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE)));
	hardware_close(&h);
}

/* ---- the record ---- */

static void known(struct tach__json_out *json, const char *key, double value)
{
	if (value < 0)
		tach__json_null(json, key);
	else
		tach__json_number(json, key, value);
}

static void put_machine(struct tach__json_out *json)
{
	struct tach__machine m;
	struct utsname u;
	char number[101];

	tach__machine_look(&m, "");
	if (!*m.model) { /* arm64 has numbers */
		FILE *f = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
				"re");

		if (f && fscanf(f, "%100s", number) == 1)
			snprintf(m.model, sizeof m.model, "MIDR %s", number);
		if (f)
			fclose(f);
	}
	uname(&u);
	tach__json_object(json, "machine");
	tach__json_string(json, "cpu", m.model);
	tach__json_string(json, "architecture", u.machine);
	tach__json_string(json, "kernel", u.release);
	tach__json_int(json, "processors", (int)m.processors);
	tach__json_bool(json, "guest", machine_is_guest());
	tach__json_end(json);
}

static int to_file(void *file, const char *text, size_t length)
{
	return fwrite(text, 1, length, file) == length ? 0 : -errno;
}

static void write_record(FILE *to)
{
	static struct tach__out out;
	struct tach__json_out json;

	tach__out_open(&out, to_file, to);
	tach__json_begin(&json, &out, TACH__JSON_SPACED);
	tach__json_object(&json, NULL);
	tach__json_string(&json, "tach", TACH_VERSION_STRING);
	put_machine(&json);
	tach__json_string(&json, "verdict",
			  record.failed	    ? "wrong"
			  : record.counters ? "right"
					    : "no counters");
	tach__json_string(&json, "why", record.counters ? "" : record.why);
	known(&json, "smallest_exact", record.smallest_exact);
	known(&json, "empty_instructions", record.empty);
	tach__json_object(&json, "edges");
	for (int i = 0; i < record.nedges; i++) {
		tach__json_object(&json, record.edge[i].name);
		tach__json_number(&json, "cycles", record.edge[i].cycles);
		tach__json_number(&json, "ns", record.edge[i].ns);
		tach__json_end(&json);
	}
	tach__json_end(&json);
	known(&json, "interrupts_per_million",
	      record.interrupts < 0 ? -1 : record.interrupts / record.instructions * 1e6);
	tach__json_number(&json, "too_many", record.too_many);
	tach__json_number(&json, "too_many_corrected", record.corrected);
	known(&json, "skid_median", record.skid_median);
	known(&json, "skid_most", record.skid_median < 0 ? -1 : record.skid_most);
	known(&json, "topdown_sum", record.topdown);
	known(&json, "permission_toggles", record.toggles);
	known(&json, "migrations", record.migrations);
	known(&json, "beyond_32_bits", record.wrapped);
	tach__json_end(&json);
	tach__out(&out, "\n");
	tach__out_flush(&out);
	fflush(to);
}

int main(int argc, char **argv)
{
	FILE *to = argc > 1 ? fopen(argv[1], "we") : stdout;

	if (!to) {
		fprintf(stderr, "silicon: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	CASE(smallest_exact_region);
	CASE(edges);
	CASE(interrupts);
	CASE(skid);
	CASE(topdown);
	CASE(permission);
	CASE(migration);
	CASE(beyond_32_bits);
	record.failed = check_done();
	if (to == stdout)
		fputs("record ", to);
	write_record(to);
	return check_done();
}

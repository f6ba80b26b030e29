/* SPDX-License-Identifier: MIT */
/*
 * A machine with two core types: sets are encoded for both, readers open both, and a thread
 * that is moved from one to the other at every point of a read loses and doubles nothing. The
 * kernel, its sysfs and the PMUs are pretended; as in fakepage.h, the kernel steps in between
 * any two accesses of the code under test, which is compiled here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/arch.h>

void sim_step(void);
uint64_t sim_counter(uint32_t index);

#define TACH_PAGE_LOAD(page, field)                                                            \
	(sim_step(), *(const volatile __typeof__((page)->field) *)&(page)->field)
#define TACH_PAGE_OPERAND(page, field) TACH_PAGE_LOAD(page, field)
#undef TACH_COUNTER
#define TACH_COUNTER(way, number, value, seen)                                                 \
	(sim_step(), (void)(way), (void)(seen), (value) = sim_counter((number) + 1))
#undef TACH_ARCH_SIGNED
#define TACH_ARCH_SIGNED 0
#undef TACH_ARCH_FAST
#define TACH_ARCH_FAST 1
#ifndef __x86_64__
#undef TACH_NUMBER
#define TACH_NUMBER(index, number) __builtin_sub_overflow(index, 1u, &(number))
#undef TACH_ADD
#define TACH_ADD(value, operand) ((value) += (uint64_t)(operand))
#endif

#include "core/reader/hybrid_read.c"
#include "core/reader/lag.c"
#include "core/reader/slow.c"
#include <tach.h>
#include "core/os/sysfs.h"
#include "tests/check.h"

enum { CORES = 2, FDS = 256, WIDTH = 48 };
static const uint64_t mask = ((uint64_t)1 << WIDTH) - 1;

static struct event {
	int open, core, leader;
	int detached; /* no descriptor, but a mapping */
	int tag;      /* tag: low byte of config, which event it is */
	struct perf_event_mmap_page *page;
	uint64_t count, count_in, start;
	uint32_t index;
	int enabled, error;
	uint64_t since, running, running_in;
} event[FDS];

static struct {
	int on; /* the core type that the thread runs on */
	uint64_t time, seed;
	long calls;    /* read and ioctl */
	int no_access; /* pages show no index */
	void (*act)(void);
	long point, steps;
} sim;

/* ---- the machine's sysfs, in place of the library's look at it ---- */

int tach__sysfs_read(const char *root, const char *device, size_t device_length,
		     const char *file, char *out, size_t size)
{
	(void)root, (void)device, (void)device_length, (void)file, (void)out, (void)size;
	return -1;
}

int tach__sysfs_type(const char *root, const char *device, size_t device_length)
{
	(void)root;
	if (device_length == 8 && memcmp(device, "cpu_core", 8) == 0)
		return 4;
	return device_length == 8 && memcmp(device, "cpu_atom", 8) == 0 ? 10 : -1;
}

/* ---- PMUs and kernel ---- */

static uint64_t raw(const struct event *e)
{
	return (e->start + (e->count - e->count_in)) & mask;
}

uint64_t sim_counter(uint32_t index)
{
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].index == index)
			return raw(&event[fd]);
	return 0x123456789; /* another event's */
}

static uint64_t ran(const struct event *e)
{
	return e->running + (e->index ? sim.time - e->running_in : 0);
}

static void show(struct event *e)
{
	struct perf_event_mmap_page *p = e->page;
	uint64_t start = e->start | ~mask;

	if (!p)
		return;
	p->lock += 2;
	p->pmc_width = WIDTH;
	p->cap_user_rdpmc = !sim.no_access;
	p->index = sim.no_access ? 0 : e->index;
	p->offset = e->error ? 0 : (int64_t)(p->index ? e->count_in - start : e->count);
	p->time_enabled = e->enabled && !e->error ? sim.time - e->since : 0;
	p->time_running = e->error ? 0 : ran(e);
}

static void put_on(int fd)
{
	struct event *e = &event[fd];

	sim.seed = sim.seed * 6364136223846793005u + 1442695040888963407u;
	e->index = (uint32_t)fd + 1;
	e->count_in = e->count;
	e->start = (0 - 1 - (sim.seed >> 40)) & mask;
	e->running_in = sim.time;
	show(e);
}

static void take_off(struct event *e)
{
	e->running = ran(e);
	e->index = 0;
	show(e);
}

static void sim_go(int core)
{
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].index)
			take_off(&event[fd]);
	sim.on = core;
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].enabled && !event[fd].error &&
		    event[fd].core == core)
			put_on(fd);
}

static void sim_work(uint64_t amount)
{
	sim.time += 1000;
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].index)
			event[fd].count += amount * (uint64_t)(event[fd].tag % 7 + 1);
}

static long sim_open(const struct perf_event_attr *attr, long leader)
{
	long fd = attr->type == PERF_TYPE_SOFTWARE ? -ENOENT
						   : open("/dev/null", O_RDWR | O_CLOEXEC);
	struct event *e = &event[fd < 0 ? 0 : fd];
	uint64_t type = attr->type == PERF_TYPE_HARDWARE ? attr->config >> 32 : attr->type;

	if (fd < 0)
		return fd;
	memset(e, 0, sizeof *e);
	CHECK(type == 4 || type == 10, "type %llu", (unsigned long long)type);
	CHECK(attr->pinned == (leader < 0) || attr->disabled);
	e->open = 1;
	e->core = type == 10;
	e->leader = leader < 0 ? (int)fd : (int)leader;
	e->tag = (int)(attr->config & 0xff);
	return fd;
}

static long sim_read(int leader, struct tach__group_read *to)
{
	struct event *l = &event[leader];

	if (l->error)
		return 0;
	to->count = 0;
	to->enabled = sim.time - l->since;
	to->running = ran(l);
	for (int fd = leader; fd < FDS; fd++)
		if (event[fd].open && event[fd].leader == leader)
			to->value[to->count++] = event[fd].count;
	return (long)offsetof(struct tach__group_read, value[to->count]);
}

static void sim_enable(int leader)
{
	sim.time += 300;
	for (int fd = 0; fd < FDS; fd++) {
		struct event *e = &event[fd];

		if (!e->open || e->leader != leader)
			continue;
		if (!e->enabled)
			e->since = sim.time;
		e->enabled = 1;
		e->error = 0;
		if (e->core == sim.on && !e->index)
			put_on(fd);
	}
}

/* An event without descriptors ends with its mapping. */
static void sim_unmap(long at, long size)
{
	for (int fd = 0; fd < FDS; fd++) {
		long page = (long)event[fd].page;

		if (!event[fd].open || !page || page < at || page >= at + size)
			continue;
		event[fd].page = NULL;
		if (!event[fd].detached)
			continue;
		event[fd].open = 0;
		close(fd);
	}
}

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	int ours = a >= 0 && a < FDS && event[a].open;
	long got;

	if (number == SYS_perf_event_open)
		return sim_open((const struct perf_event_attr *)a, d);
	if (number == SYS_mmap && e >= 0 && e < FDS && event[e].open) {
		got = tach__sys_real(number, a, b, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | (d & MAP_FIXED), -1, 0);
		event[e].page = (struct perf_event_mmap_page *)got;
		show(&event[e]);
		return got;
	}
	if (number == SYS_munmap || number == SYS_mmap)
		sim_unmap(a, b);
	if (number == SYS_fcntl && ours)
		return -EINVAL;
	if (number == SYS_close && ours && event[a].page) {
		event[a].detached = 1;
		return 0;
	}
	if (number == SYS_close && ours)
		event[a].open = 0;
	if (!ours || (number != SYS_read && number != SYS_ioctl))
		return tach__sys_real(number, a, b, c, d, e, f);
	if (number == SYS_ioctl && b == PERF_EVENT_IOC_ID)
		return 0;
	sim.calls++;
	sim.time += 10;
	sim_step();
	got = number == SYS_read ? sim_read((int)a, (struct tach__group_read *)b) : 0;
	if (number == SYS_ioctl && b == PERF_EVENT_IOC_ENABLE)
		sim_enable((int)a);
	sim_step();
	return got;
}

void sim_step(void)
{
	if (sim.steps++ == sim.point && sim.act)
		sim.act();
}

/* ---- what the kernel may do ---- */

static void move(void)
{
	sim.time += 500;
	sim_go(!sim.on);
}

static void there_and_back(void)
{
	move();
	sim_work(77777);
	move();
}

static void off_and_on(void)
{
	sim_go(sim.on);
}

static void starve(void)
{
	int core = sim.on;

	sim_go(-1);
	sim.time += 5000;
	sim_go(core);
}

static void fail(void)
{
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].core == sim.on) {
			take_off(&event[fd]);
			event[fd].error = 1;
			show(&event[fd]);
		}
}

static struct tach_reader *reader;

/* A handler that measures, and is moved meanwhile. */
static void handler(void)
{
	struct tach_mark mark;
	uint64_t delta[TACH_COUNTERS_MAX];

	move();
	tach_reader_begin(reader, &mark);
	sim_work(1000);
	move();
	sim_work(1000);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_RESCHEDULED);
	CHECK(delta[0] == 2000, "%llu", (unsigned long long)delta[0]);
}

/* ---- the tests ---- */

static struct tach_set *set;
static struct tach_error err;

static void begin(const char *events, const char *metrics)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	memset(&sim, 0, sizeof sim);
	memset(event, 0, sizeof event);
	sim.point = -1;
	sim.time = 1000000;
	tach__sys = sim_sys;
	opt.events = events;
	opt.metrics = metrics;
	set = NULL;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
}

static int opened(const char *events)
{
	begin(events, NULL);
	CHECK(set && tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	return reader != NULL;
}

static void end(void)
{
	tach_reader_close(reader);
	reader = NULL;
	tach_set_free(set);
	for (int fd = 0; fd < FDS; fd++)
		CHECK(!event[fd].open, "descriptor %d is open", fd);
}

/* What all core types counted of the event with that tag. */
static uint64_t truth(int tag)
{
	uint64_t sum = 0;

	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].tag == tag)
			sum += event[fd].count;
	return sum;
}

static void members_are_on_every_core_type(void)
{
	begin("cycles r1c2 INST_RETIRED:ANY_P adl_grt::INST_RETIRED:ANY_P "
	      "cpu_atom/event=0x11/ page-faults",
	      NULL);
	CHECK(set->cores && set->cores->n == 2);
	CHECK(set->cores->attr[0][0].config == 4ull << 32);
	CHECK(set->cores->attr[1][0].config == 10ull << 32);
	CHECK(set->cores->attr[0][1].type == 4 && set->cores->attr[1][1].type == 10);
	CHECK(set->cores->attr[0][2].type == 4 && set->cores->attr[1][2].type == 10);
	CHECK(set->cores->members[0] == 0x07, "%#x", set->cores->members[0]);
	CHECK(set->cores->members[1] == 0x1f, "%#x", set->cores->members[1]);
	CHECK(strstr(tach_set_qualified(set, 2), "adl_glc::INST_RETIRED:ANY_P") &&
		      strstr(tach_set_qualified(set, 2), " + adl_grt::INST_RETIRED:ANY_P"),
	      "%s", tach_set_qualified(set, 2));
	CHECK(strncmp(tach_set_qualified(set, 3), "adl_grt::", 9) == 0);
	tach_set_free(set);
	begin("page-faults", NULL);
	CHECK(!set->cores, "software events need no core type");
	tach_set_free(set);
}

/* A caller's attr belongs to the core PMU that it names, or to all. */
static void attrs_of_callers(void)
{
	struct perf_event_attr any = {.type = PERF_TYPE_HARDWARE,
				      .config = PERF_COUNT_HW_INSTRUCTIONS};
	struct perf_event_attr atom = {.type = 10, .config = 0xc0};
	struct tach_set_member attrs[] = {{"any", &any}, {"atom", &atom}};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	opt.attrs = attrs;
	opt.nattrs = 2;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	if (!set)
		return;
	CHECK(set->cores->members[0] == 1 && set->cores->members[1] == 3);
	CHECK(set->cores->attr[0][0].config == (4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS));
	CHECK(set->cores->attr[1][0].config == (10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS));
	CHECK(tach_set_kind(set, 1) == TACH_MEMBER_HARDWARE);
	tach_set_free(set);
}

static void the_steady_state_makes_no_system_call(void)
{
	uint64_t delta[TACH_COUNTERS_MAX], value[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened("cycles instructions"))
		return;
	CHECK(tach_reader_missing(reader)[0] == '\0', "%s", tach_reader_missing(reader));
	for (int core = 0; core < CORES; core++) {
		tach_reader_read(reader, value);
		sim.calls = 0;
		for (int i = 1; i < 100; i++) {
			tach_reader_begin(reader, &mark);
			sim_work((uint64_t)i);
			CHECK(tach_reader_end(reader, &mark, delta) == 0);
			CHECK(delta[0] == (uint64_t)i && delta[1] == 2 * (uint64_t)i);
			CHECK(tach_reader_read(reader, value) == 0 && value[1] == truth(1));
			CHECK(tach_reader_read_one(reader, 0, value) == 0 &&
			      value[0] == truth(0));
		}
		CHECK(sim.calls == 0, "%ld", sim.calls);
		move();
	}
	end();
}

static const struct act {
	const char *name;
	void (*act)(void);
	uint32_t middle;
} acts[] = {
	{"move", move, TACH_FLAG_RESCHEDULED},
	{"there and back", there_and_back, TACH_FLAG_RESCHEDULED},
	{"off and on", off_and_on, TACH_FLAG_RESCHEDULED},
	{"starve", starve, TACH_FLAG_INCOMPLETE},
	{"a handler", handler, TACH_FLAG_RESCHEDULED},
	{"fail", fail, TACH_FLAG_LOST},
};

/* One region with the step at `point`; how many steps there are. */
static long region(const struct act *a, long point)
{
	uint64_t before[2], begun[2], ending[2], after[2], delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;
	long middle;

	sim.steps = 0;
	sim.act = a->act;
	sim.point = point;
	before[0] = truth(0), before[1] = truth(1);
	tach_reader_begin(reader, &mark);
	begun[0] = truth(0), begun[1] = truth(1);
	sim_work(100);
	middle = sim.steps;
	sim_step();
	sim_work(100);
	ending[0] = truth(0), ending[1] = truth(1);
	flags = tach_reader_end(reader, &mark, delta);
	after[0] = truth(0), after[1] = truth(1);
	if (point < 0)
		CHECK(flags == 0, "%s: %#x", a->name, flags);
	if (point == middle)
		CHECK((flags & ~TACH_FLAG_SYSCALL) == a->middle, "%s: %#x", a->name, flags);
	CHECK(!(flags & TACH_FLAG_LOST) || a->act == fail, "%s at %ld: lost", a->name, point);
	CHECK(!(flags & TACH_FLAG_INCOMPLETE) || a->act == starve || a->act == fail,
	      "%s at %ld: incomplete", a->name, point);
	for (int i = 0; i < 2 && !(flags & TACH_FLAG_LOST); i++)
		CHECK(delta[i] >= ending[i] - begun[i] && delta[i] <= after[i] - before[i],
		      "%s at %ld: %llu, truth %llu .. %llu", a->name, point,
		      (unsigned long long)delta[i], (unsigned long long)(ending[i] - begun[i]),
		      (unsigned long long)(after[i] - before[i]));
	return sim.steps;
}

static void nothing_is_lost_or_doubled(void)
{
	uint64_t value[TACH_COUNTERS_MAX];

	for (size_t a = 0; a < sizeof acts / sizeof *acts; a++)
		for (int start = 0; start < CORES; start++)
			for (long at = -1, steps = 0; at < steps + 40; at++) {
				if (!opened("cycles instructions"))
					return;
				if (start)
					move();
				tach_reader_read(reader, value);
				if (at < 0)
					steps = region(&acts[a], -1);
				else
					region(&acts[a], at);
				/* Whatever came to pass, it goes on. */
				tach_reader_read(reader, value);
				if (!(acts[a].act == fail))
					CHECK(value[0] == truth(0) && value[1] == truth(1));
				region(&(struct act){"again", NULL, 0}, -2);
				end();
			}
}

/* A bank is true until the leader's lock changes, and is not asked for again before. */
static void banks_are_kept(void)
{
	uint64_t value[TACH_COUNTERS_MAX] = {0};

	if (!opened("cycles"))
		return;
	sim_work(10);
	move();
	sim.calls = 0;
	tach_reader_read(reader, value);
	CHECK(value[0] == 10 && sim.calls == 1, "%llu, %ld calls", (unsigned long long)value[0],
	      sim.calls);
	sim_work(5);
	tach_reader_read(reader, value);
	CHECK(value[0] == 15 && sim.calls == 1);
	there_and_back();
	tach_reader_read(reader, value);
	CHECK(value[0] == truth(0) && sim.calls == 2, "%ld calls", sim.calls);
	end();
}

/* Without user access it takes a system call for each core type, and is as right. */
static void without_access_it_reads_by_system_call(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	begin("cycles", NULL);
	sim.no_access = 1;
	CHECK(tach_reader_open(set, &reader, &err) == 0);
	CHECK(tach_reader_missing(reader)[0]);
	tach_reader_begin(reader, &mark);
	sim_work(5);
	move();
	sim_work(6);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL && delta[0] == 11);
	starve();
	tach_reader_begin(reader, &mark);
	sim_work(5);
	starve();
	CHECK(tach_reader_end(reader, &mark, delta) ==
	      (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
	end();
	/* Opened on the other core type: no group was missed before it was there. */
	begin("cycles", NULL);
	sim.no_access = 1;
	sim.on = 1;
	CHECK(tach_reader_open(set, &reader, &err) == 0);
	sim_work(5);
	CHECK(tach_reader_read(reader, delta) == TACH_FLAG_SYSCALL && delta[0] == 5);
	end();
}

static void an_event_of_one_core_type(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	if (!opened("cycles adl_grt::INST_RETIRED:ANY_P"))
		return;
	for (int core = 0; core < CORES; core++) {
		tach_reader_begin(reader, &mark);
		sim_work(10);
		CHECK(tach_reader_end(reader, &mark, delta) ==
		      (core ? 0 : TACH_FLAG_INCOMPLETE));
		CHECK(delta[0] == 10 && (delta[1] != 0) == core);
		move();
	}
	tach_reader_begin(reader, &mark);
	move();
	sim_work(10);
	CHECK(tach_reader_end(reader, &mark, delta) ==
	      (TACH_FLAG_RESCHEDULED | TACH_FLAG_INCOMPLETE));
	end();
	/* Nothing counts on the other core type at all. */
	if (!opened("adl_grt::INST_RETIRED:ANY_P"))
		return;
	tach_reader_begin(reader, &mark);
	sim_work(10);
	CHECK(tach_reader_end(reader, &mark, delta) ==
	      (TACH_FLAG_SYSCALL | TACH_FLAG_INCOMPLETE));
	CHECK(delta[0] == 0);
	move();
	tach_reader_begin(reader, &mark);
	sim_work(10);
	CHECK(tach_reader_end(reader, &mark, delta) == 0 && delta[0] == truth(0xc0));
	end();
}

/* A group in error state is started again by the next begin. */
static void error_states(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark outer, mark;

	if (!opened("cycles"))
		return;
	tach_reader_begin(reader, &outer);
	fail();
	tach_reader_begin(reader, &mark);
	sim_work(7);
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_SYSCALL && delta[0] == 7);
	CHECK(tach_reader_end(reader, &outer, delta) & TACH_FLAG_INCOMPLETE);
	tach_reader_begin(reader, &mark);
	fail();
	move();
	CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_LOST);
	end();
}

/*
 * Times are compared across core types, though their groups were enabled one after the other.
 */
static void gaps_before_the_first_move(void)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark, inner;

	for (int gap = 0; gap < 2; gap++) {
		if (!opened("cycles"))
			return;
		tach_reader_begin(reader, &mark);
		if (gap)
			starve();
		move();
		/* Looked for on the other core type, which never counted before. */
		if (gap)
			CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_INCOMPLETE);
		tach_reader_begin(reader, &inner);
		move();
		/* Of a gap, what the first bound hid may be found later still. */
		CHECK(tach_reader_end(reader, &inner, delta) == TACH_FLAG_RESCHEDULED || gap);
		CHECK(tach_reader_end(reader, &mark, delta) ==
		      (gap ? TACH_FLAG_INCOMPLETE : TACH_FLAG_RESCHEDULED));
		/* A gap that was found is not found again. */
		tach_reader_begin(reader, &mark);
		there_and_back();
		CHECK(tach_reader_end(reader, &mark, delta) == TACH_FLAG_RESCHEDULED);
		end();
	}
}

/* The child's reader counts nothing; the parent's goes on. */
static void after_a_fork(void)
{
	uint64_t value[TACH_COUNTERS_MAX];
	int status = -1;
	pid_t child;

	if (!opened("cycles"))
		return;
	sim_work(10);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		for (int fd = 0; fd < FDS; fd++)
			if (event[fd].open && !event[fd].detached)
				_exit(1);
		_exit(tach_reader_read(reader, value) == TACH_FLAG_LOST ? 0 : 2);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
	CHECK(tach_reader_read(reader, value) == 0 && value[0] == 10);
	end();
}

static void regions_on_a_hybrid(void)
{
	struct tach_regions_options opt = {0};
	struct tach_region_info info = {.size = sizeof info};
	struct tach_snapshot *shot;
	struct tach_value v;
	int found = 0;

	begin("cycles instructions", NULL);
	opt.set = set;
	CHECK(tach_regions_configure(&opt, &err) == 0, "%s", err.text);
	for (int i = 0; i < 11; i++) {
		TACH_START(moved);
		sim_work(1000);
		if (i % 3 == 1)
			move();
		sim_work(500);
		TACH_STOP(moved);
	}
	CHECK(tach_snapshot_take(&shot, &err) == 0);
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "moved"))
			continue;
		CHECK(tach_snapshot_value(shot, r, 1, TACH_PART_INCLUSIVE, &v) == 0);
		CHECK(v.value == (double)truth(0), "%g of %llu", v.value,
		      (unsigned long long)truth(0));
		found = 1;
		CHECK(v.flags & TACH_FLAG_RESCHEDULED && !(v.flags & TACH_FLAG_SYSCALL), "%#x",
		      v.flags);
	}
	CHECK(found);
	tach_snapshot_free(shot);
	tach_regions_disable();
}

int main(void)
{
	setenv("TACH_PMU", "adl_glc,adl_grt", 1);
	CASE(members_are_on_every_core_type);
	CASE(attrs_of_callers);
	CASE(the_steady_state_makes_no_system_call);
	CASE(nothing_is_lost_or_doubled);
	CASE(banks_are_kept);
	CASE(without_access_it_reads_by_system_call);
	CASE(an_event_of_one_core_type);
	CASE(error_states);
	CASE(gaps_before_the_first_move);
	CASE(after_a_fork);
	CASE(regions_on_a_hybrid);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * A simulated machine with two core types: kernel, sysfs and PMUs. Like in fakepage.h, the
 * kernel may interrupt between any two accesses of the code under test, which is compiled here.
 */
#ifndef TESTS_UNIT_READER_HYBRID_H
#define TESTS_UNIT_READER_HYBRID_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/reader/simulated.h"

uint64_t sim_counter(uint32_t index);
uint32_t sim_faults(uint32_t index);

#undef TACH_COUNTER
#undef TACH_COUNTER_48
#define TACH_COUNTER(way, number, value, seen)                                                 \
	(sim_step(), (void)(way), (seen) |= sim_faults((number) + 1),                          \
	 (value) = sim_counter((number) + 1))

/* Word by word: an interruption may happen in between. */
static inline void sim_copy(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
		((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
		if (i < 2)
			sim_step();
	}
}

#define memcpy sim_copy
#include "core/reader/hybrid_read.c"
#undef memcpy
#include "core/reader/topdown.c"
#undef GET
#undef SET
#include "core/reader/topdown_look.c"
#include "core/reader/lag.c"
#include "core/reader/slow.c"
#include <tach.h>
#include "core/os/sysfs.h"
#include "tests/check.h"

enum { CORES = 2, FDS = 256, WIDTH = TACH_WIDTH(48) ? 48 : 64, FIELDS_ALL = 8 };
/*
 * Kind of an event in a group with top-down metrics: another event, slots, or the first field.
 */
enum { PLAIN, SLOTS, FIELD };
static const uint64_t mask = UINT64_MAX >> (64 - WIDTH);

static struct event {
	int open, core, leader;
	int detached; /* the descriptor is closed, but a mapping exists */
	uint64_t id;
	int tag;     /* tag: the low byte of config, which identifies the event */
	int topdown; /* PLAIN, SLOTS, FIELD + number of the field */
	struct perf_event_mmap_page *page;
	uint64_t count, count_in, start; /* count: the truth */
	uint64_t kernel;		 /* the kernel's count of this event */
	uint32_t index;
	int enabled, error;
	uint64_t since, running, running_in, failed;
} event[FDS];

static struct {
	int on; /* the core type that the thread runs on */
	uint64_t time, seed;
	long calls;	/* read and ioctl */
	int no_access;	/* set: pages show no index */
	int no_width;	/* bits of events, by tag, whose pages show no width */
	int unreadable; /* every read(2) fails */
	int stays_dead; /* set: events stay in error state */
	int refuses;	/* set: the kernel refuses every event */
	int asked;	/* for events */
	int alone;	/* set: the kernel refuses every group member */
	int unmappable; /* number of the mmap call that fails */
	int shares;	/* set: the process shares its parent's descriptors */
	int no_memory;	/* number of the mmap or mprotect call that fails */
	long memory;	/* bytes mapped */
	int software;	/* set: software events come from the real kernel */
	void (*act)(void);
	long point, steps;
} sim;

/*
 * Fixed counter 3 and PERF_METRICS of the first core type: the counts since both were set to 0,
 * and the counts that the kernel saved when it removed the group.
 */
static struct {
	uint64_t slots, part[FIELDS_ALL];
	uint64_t kept, kept_field[FIELDS_ALL];
	unsigned share[FIELDS_ALL]; /* of 8 slots */
} registers;

/* ---- the simulated sysfs, which the library reads instead of the real one ---- */

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

static uint64_t field(int k)
{
	if (registers.slots == 0)
		return 0;
	return k == 3 ? 255 - field(0) - field(1) - field(2)
		      : 255 * registers.part[k] / registers.slots;
}

/*
 * arch/x86/events/intel/core.c, intel_update_topdown_event: adds the growth of both registers.
 */
static void metrics_update(void)
{
	for (int fd = 0; fd < FDS; fd++) {
		struct event *e = &event[fd];
		int k = e->topdown - FIELD;
		uint64_t now, kept;

		if (!e->open || e->topdown == PLAIN)
			continue;
		now = e->topdown == SLOTS ? registers.slots : registers.slots * field(k) / 255;
		kept = e->topdown == SLOTS ? registers.kept
					   : registers.kept * registers.kept_field[k] / 255;
		if (now > kept)
			e->kernel += now - kept;
	}
}

/* The work of read(2) while the group counts. */
static void metrics_read(void)
{
	metrics_update();
	registers.slots = registers.kept = 0;
	memset(registers.part, 0, sizeof registers.part);
}

static void metrics_off(void)
{
	metrics_update();
	registers.kept = registers.slots;
	for (int k = 0; k < FIELDS_ALL; k++)
		registers.kept_field[k] = field(k);
}

static void metrics_on(void)
{
	registers.slots = registers.kept;
	for (int k = 0; k < FIELDS_ALL; k++)
		registers.part[k] = registers.kept * registers.kept_field[k] / 255;
}

static uint64_t raw(const struct event *e)
{
	if (e->topdown == SLOTS)
		return registers.slots;
	return (e->start + (e->count - e->count_in)) & mask;
}

enum { INDEX_METRICS = 0x20000001 };

/* #Reading a general counter faults if the other core type has no such counter. */
uint32_t sim_faults(uint32_t index)
{
	return index == INDEX_METRICS && sim.on != 0;
}

uint64_t sim_counter(uint32_t index)
{
	uint64_t all = 0;

	for (int k = 0; k < FIELDS_ALL && index == INDEX_METRICS; k++)
		all |= field(k) << (8 * k);
	if (index == INDEX_METRICS)
		return all;
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
	p->pmc_width = sim.no_width >> (e->tag & 31) & 1 ? 0 : WIDTH;
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
	if (e->topdown == SLOTS)
		metrics_on();
	show(e);
}

static void take_off(struct event *e)
{
	if (e->topdown == SLOTS)
		metrics_off();
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

static void topdown_work(struct event *e, uint64_t amount)
{
	int k = e->topdown - FIELD;

	if (e->topdown == SLOTS) {
		e->count += 8 * amount;
		registers.slots += 8 * amount;
	} else {
		e->count += registers.share[k] * amount;
		registers.part[k] += registers.share[k] * amount;
	}
}

static void sim_work(uint64_t amount)
{
	sim.time += 1000;
	for (int fd = 0; fd < FDS; fd++) {
		struct event *e = &event[fd];

		if (!e->open || !e->index)
			continue;
		if (e->topdown == PLAIN)
			e->count += amount * (uint64_t)(e->tag % 7 + 1);
		else
			topdown_work(e, amount);
	}
}

static uint64_t ids;
static long sim_open(const struct perf_event_attr *attr, long leader)
{
	long fd = attr->type == PERF_TYPE_SOFTWARE ? -ENOENT
						   : open("/dev/null", O_RDWR | O_CLOEXEC);
	struct event *e = &event[fd < 0 ? 0 : fd];
	uint64_t type = attr->type == PERF_TYPE_HARDWARE ? attr->config >> 32 : attr->type;

	sim.asked++;
	if (fd >= 0 && (sim.refuses || (sim.alone && leader >= 0))) {
		close((int)fd);
		return -EINVAL;
	}
	if (fd < 0)
		return fd;
	memset(e, 0, sizeof *e);
	e->id = ++ids;
	CHECK(leader == -1 || (leader >= 0 && event[leader].open));
	CHECK(type == 4 || type == 10, "type %llu", (unsigned long long)type);
	CHECK(attr->pinned ? leader < 0 : leader >= 0 || attr->disabled || TACH_ARCH_ASKS);
	e->open = 1;
	e->core = type == 10;
	e->leader = leader < 0 ? (int)fd : (int)leader;
	e->tag = (int)(attr->config & 0xff);
	if (type == 4 && attr->config == 0x400)
		e->topdown = SLOTS;
	else if (type == 4 && (attr->config & 0x80ff) == 0x8000)
		e->topdown = FIELD + (int)(attr->config >> 8 & 7);
	CHECK(e->topdown < FIELD || event[e->leader].topdown == SLOTS, "metrics without slots");
	return fd;
}

static long sim_read(int leader, struct tach__group_read *to)
{
	struct event *l = &event[leader];

	if (sim.unreadable)
		return -EIO;
	if (l->error)
		return 0;
	if (l->topdown == SLOTS && l->index)
		metrics_read();
	to->count = 0;
	to->enabled = sim.time - l->since;
	to->running = ran(l);
	for (int fd = leader; fd < FDS; fd++)
		if (event[fd].open && event[fd].leader == leader)
			to->value[to->count++] =
				event[fd].topdown == PLAIN ? event[fd].count : event[fd].kernel;
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
		if (e->error) /* time stops in error state (__perf_update_times) */
			e->since += sim.time - e->failed;
		e->enabled = 1;
		e->error = 0;
		if (e->core == sim.on && !e->index)
			put_on(fd);
	}
}

/* An event without descriptors ends with its last mapping. */
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

static struct tach_reader *reader;

static long sim_sys(long number, long a, long b, long c, long d, long e, long f)
{
	int ours = a >= 0 && a < FDS && event[a].open;
	long got;

	if (number == SYS_perf_event_open && sim.software &&
	    ((const struct perf_event_attr *)a)->type == PERF_TYPE_SOFTWARE)
		return tach__sys_real(number, a, b, c, d, e, f);
	if (number == SYS_perf_event_open)
		return sim_open((const struct perf_event_attr *)a, d);
	if (number == SYS_kcmp)
		return !sim.shares;
	if (number == SYS_mmap && e >= 0 && e < FDS && event[e].open && sim.unmappable &&
	    !--sim.unmappable) { /* the old mapping may already be gone */
		tach__sys_real(SYS_munmap, a, b, 0, 0, 0, 0);
		return -EPERM;
	}
	if (number == SYS_mmap && e >= 0 && e < FDS && event[e].open) {
		CHECK(f == 0);
		got = tach__sys_real(number, a, b, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | (d & MAP_FIXED), -1, 0);
		event[e].page = (struct perf_event_mmap_page *)got;
		event[e].page->lock = 1000 * (uint32_t)e; /* each its own */
		show(&event[e]);
		return got;
	}
	if ((number == SYS_mprotect || (number == SYS_mmap && !a && e < 0)) && sim.no_memory &&
	    !--sim.no_memory)
		return -ENOMEM;
	if (number == SYS_munmap || number == SYS_mmap)
		sim_unmap(a, b);
	CHECK(number != SYS_munmap || !reader || a != (long)tach__reader(reader)->hybrid,
	      "still to be seen");
	if (number == SYS_munmap || (number == SYS_mmap && !a))
		sim.memory += number == SYS_mmap ? b : -b;
	if (number == SYS_fcntl && ours)
		return -EINVAL;
	if (number == SYS_close && ours && event[a].page) {
		event[a].detached = 1;
		return 0;
	}
	if (number == SYS_close && ours)
		event[a].open = 0;
	/* The descriptor must exist and must not be closed. */
	CHECK(number != SYS_ioctl || sim.software || (ours && !event[a].detached));
	if (!ours || (number != SYS_read && number != SYS_ioctl))
		return tach__sys_real(number, a, b, c, d, e, f);
	if (number == SYS_ioctl && b == PERF_EVENT_IOC_ID) {
		*(uint64_t *)c = event[a].id;
		return 0;
	}
	sim.calls++;
	sim.time += 10;
	sim_step();
	got = number == SYS_read ? sim_read((int)a, (struct tach__group_read *)b) : 0;
	if (number == SYS_ioctl && b == PERF_EVENT_IOC_ENABLE && sim.stays_dead)
		got = -EINVAL;
	else if (number == SYS_ioctl && b == PERF_EVENT_IOC_ENABLE)
		sim_enable((int)a);
	sim_step();
	return got;
}

void sim_step(void)
{
	if (sim.steps++ == sim.point && sim.act)
		sim.act();
}

/* ---- actions of the kernel ---- */

static inline void move(void)
{
	sim.time += 500;
	sim_go(!sim.on);
}

static inline void there_and_back(void)
{
	move();
	sim_work(77777);
	move();
}

static inline void off_and_on(void)
{
	sim_go(sim.on);
}

static inline void starve_for(uint64_t ns)
{
	int core = sim.on;

	sim_go(-1);
	sim.time += ns;
	sim_go(core);
}

static inline void starve(void)
{
	starve_for(5000);
}

static inline void fail(void)
{
	for (int fd = 0; fd < FDS; fd++)
		if (event[fd].open && event[fd].core == sim.on) {
			take_off(&event[fd]);
			event[fd].error = 1;
			event[fd].failed = sim.time;
			show(&event[fd]);
		}
}

/* ---- opening ---- */

static struct tach_set *set;
static struct tach_error err;

static void begin(const char *names, const char *formulas)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	memset(&sim, 0, sizeof sim);
	memset(event, 0, sizeof event);
	memset(&registers, 0, sizeof registers);
	sim.point = -1;
	sim.time = 1000000;
	tach__sys = sim_sys;
	opt.events = names;
	opt.metrics = formulas;
	set = NULL;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
}

static inline int opened(const char *events)
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

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Intel's top-down metrics in the emulated PMU and the kernel: contents of pages, results of
 * RDPMC for slots and metrics, and the effect of reading, moving or resetting the group. The
 * expected counts are in tests/guest/x86/README.md.
 */
#if defined(__x86_64__)
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "tests/check.h"
#include "tests/guest/counter.h"
#include "tests/guest/machine.h"

enum { METRICS = 8, EVENTS = METRICS + 1, LEVEL_1 = 4, FIELD_MAX = 255 };
/* Intel SDM volume 3, RDPMC: the value of ECX; a page's index is one more. */
enum { RDPMC_METRICS = 0x20000000, RDPMC_SLOTS = 0x40000003 };
enum { SLOTS_PER_INSTRUCTION = 8 };

static const char *const names[EVENTS] = {"slots",
					  "topdown-retiring",
					  "topdown-bad-spec",
					  "topdown-fe-bound",
					  "topdown-be-bound",
					  "topdown-heavy-ops",
					  "topdown-br-mispredict",
					  "topdown-fetch-lat",
					  "topdown-mem-bound"};
static struct counter group[EVENTS];
static int events;

static struct perf_event_attr attr_of(int k)
{
	/* Slots are event 00H, umask 4; metric k has umask 80H + k - 1. */
	return counter_attr(PERF_TYPE_RAW, k ? (uint64_t)(0x7f + k) << 8 : 0x400);
}

static void group_close(void)
{
	for (int k = EVENTS - 1; k >= 0; k--)
		counter_close(&group[k]);
}

/* Opens the first n of them; returns 0 if they cannot be opened. */
static int group_open(int n)
{
	for (int k = 0; k < n; k++) {
		struct perf_event_attr attr = attr_of(k);

		attr.read_format = PERF_FORMAT_GROUP;
		group[k] = counter_open(&attr, 0, -1, k ? group[0].fd : -1);
		CHECK(group[k].page, "%s: %s", names[k], strerror(errno));
		if (!group[k].page)
			return group_close(), 0;
	}
	return 1;
}

/* count[0] is the number of counts. */
static void group_read(uint64_t count[EVENTS + 1])
{
	CHECK(read(group[0].fd, count, (EVENTS + 1) * sizeof *count) > 0);
}

static uint64_t slots_now(void)
{
	return counter_rdpmc(RDPMC_SLOTS);
}

static unsigned field(uint64_t metrics, int k)
{
	return metrics >> (8 * k) & FIELD_MAX;
}

/* ---- regions with known instructions, branches and memory accesses ---- */

struct reading {
	uint64_t metrics, slots, first[EVENTS + 1], last[EVENTS + 1];
};

/*
 * The region calls read(2), which sets slots and metrics to 0; then n times the body; RDPMC for
 * both; read(2). Results are stored after the last read, and the red zone of the stack is not
 * used.
 */
#define REGION(name, body)                                                                     \
	static __attribute__((noinline)) void name(struct reading *r, uint64_t n, void *data)  \
	{                                                                                      \
		__asm__ volatile(                                                              \
			"sub $128, %%rsp\n\t"                                                  \
			"xor %%eax, %%eax\n\t"                                                 \
			"lea %c[first](%[r]), %%rsi\n\t"                                       \
			"mov %[size], %%edx\n\t"                                               \
			"syscall\n\t" body "\n\t"                                              \
			"mov $0x20000000, %%ecx\n\t"                                           \
			"rdpmc\n\t"                                                            \
			"mov %%eax, %%r12d\n\t"                                                \
			"mov %%edx, %%r13d\n\t"                                                \
			"mov $0x40000003, %%ecx\n\t"                                           \
			"rdpmc\n\t"                                                            \
			"mov %%eax, %%r14d\n\t"                                                \
			"mov %%edx, %%r15d\n\t"                                                \
			"xor %%eax, %%eax\n\t"                                                 \
			"lea %c[last](%[r]), %%rsi\n\t"                                        \
			"mov %[size], %%edx\n\t"                                               \
			"syscall\n\t"                                                          \
			"add $128, %%rsp\n\t"                                                  \
			"mov %%r12d, (%[r])\n\t"                                               \
			"mov %%r13d, 4(%[r])\n\t"                                              \
			"mov %%r14d, 8(%[r])\n\t"                                              \
			"mov %%r15d, 12(%[r])\n\t"                                             \
			: [n] "+r"(n)                                                          \
			: [r] "r"(r), [data] "r"(data),                                        \
			  "D"(group[0].fd), [first] "i"(offsetof(struct reading, first)),      \
			  [last] "i"(offsetof(struct reading, last)),                          \
			  [size] "i"(sizeof r->first)                                          \
			: "rax", "rcx", "rdx", "rsi", "r10", "r11", "r12", "r13", "r14",       \
			  "r15", "xmm0", "cc", "memory");                                      \
	}
/* Number of instructions after the body, up to and including each of the three reads. */
enum { TO_METRICS = 2, TO_SLOTS = 6, TO_READ = 12 };

REGION(nothing, "")
REGION(arithmetic, "1: dec %[n]\n\t jnz 1b")
REGION(straight, "1: .rept 14\n\t nop\n\t .endr\n\t dec %[n]\n\t jnz 1b")
REGION(loads, "1: mov (%[data]), %%r10\n\t mov 8(%[data]), %%r10\n\t dec %[n]\n\t jnz 1b")
REGION(updates, "1: mov %%r10, (%[data])\n\t addq $1, 8(%[data])\n\t dec %[n]\n\t jnz 1b")
REGION(vectors, "1: movdqu (%[data]), %%xmm0\n\t movdqu %%xmm0, 16(%[data])\n\t"
		"movq (%[data]), %%xmm0\n\t dec %[n]\n\t jnz 1b")
REGION(calls, "1: call 2f\n\t dec %[n]\n\t jnz 1b\n\t jmp 3f\n\t 2: ret\n\t 3:")

static const struct region {
	const char *name;
	void (*run)(struct reading *, uint64_t, void *);
	/* per iteration, and jumps after the last iteration */
	unsigned instructions, branches, memory, once;
} regions[] = {
	{"nothing", nothing, 0, 0, 0, 0},    {"arithmetic", arithmetic, 2, 1, 0, 0},
	{"straight", straight, 16, 1, 0, 0}, {"loads", loads, 4, 1, 2, 0},
	{"updates", updates, 4, 1, 2, 0},    {"vectors", vectors, 5, 1, 3, 0},
	{"calls", calls, 4, 3, 2, 1},
};

/* Slots and fields of a region with i instructions, b branches and m accesses. */
static uint64_t predict(uint64_t i, uint64_t b, uint64_t m, unsigned fields[METRICS])
{
	const uint64_t of[METRICS] = {
		4 * i - m - 2 * b, 3 * b, 2 * i - m, 0, m, 2 * b, b, 3 * m};
	const uint64_t slots = SLOTS_PER_INSTRUCTION * i;

	for (int k = 0; k < METRICS; k++)
		fields[k] = (unsigned)(of[k] * FIELD_MAX / slots);
	fields[3] = FIELD_MAX - fields[0] - fields[1] - fields[2];
	return slots;
}

/* Returns true if everything is as predicted; say: report a failed case otherwise. */
static int as_predicted(const struct region *g, uint64_t n, int say)
{
	static uint64_t data[8];
	const uint64_t i = g->instructions * n + g->once, b = g->branches * n + g->once;
	unsigned want[METRICS], wrong = 0;
	struct reading r = {0};
	uint64_t slots;

	g->run(&r, n, data);
	predict(i + TO_METRICS, b, g->memory * n, want);
	for (int k = 0; k < events - 1; k++)
		wrong += field(r.metrics, k) != want[k];
	slots = predict(i + TO_SLOTS, b, g->memory * n, want);
	wrong += r.slots != slots;
	/*
	 * The kernel adds to each metric its fraction of the slots between the two calls of
	 * read(2).
	 */
	slots = predict(i + TO_READ, b, g->memory * n, want);
	for (int k = 0; k < events; k++)
		wrong += r.last[k + 1] - r.first[k + 1] !=
			 (k ? slots * want[k - 1] / FIELD_MAX : slots);
	CHECK(!say || !wrong,
	      "%s, %" PRIu64 " times: %u wrong; metrics %#" PRIx64 ", slots %" PRIu64, g->name,
	      n, wrong, r.metrics, r.slots);
	return !wrong;
}

/*
 * If the kernel reschedules the thread during a region, it rounds the saved values: then
 * repeat.
 */
static void counts_are_as_predicted(void)
{
	if (!group_open(events))
		return;
	for (size_t g = 0; g < sizeof regions / sizeof *regions; g++) {
		as_predicted(&regions[g], 1, 0); /* touches the region's code and data first */
		for (uint64_t n = 1; n < 20000; n = 3 * n + 1) {
			int tries = 1;

			while (tries < 20 && !as_predicted(&regions[g], n, 0))
				tries++;
			if (tries == 20)
				as_predicted(&regions[g], n, 1);
		}
	}
	group_close();
}

/* ---- events that the kernel offers ---- */

static void events_have_these_codes(void)
{
	for (int k = 0; k < events; k++) {
		unsigned event = ~0u, umask = 0;
		char file[64], line[64];

		snprintf(file, sizeof file, "events/%s", names[k]);
		CHECK(sscanf(counter_setting(file, line, sizeof line), "event=%x,umask=%x",
			     &event, &umask) == 2,
		      "%s: %s", names[k], line);
		CHECK((event | umask << 8) == attr_of(k).config, "%s: %s", names[k], line);
	}
}

static void a_metric_needs_slots(void)
{
	struct perf_event_attr attr = attr_of(1);
	struct counter alone = counter_open(&attr, 0, -1, -1);

	CHECK(alone.fd < 0 && errno == EINVAL, "%d: %s", alone.fd, strerror(errno));
	counter_close(&alone);
}

static void pages_say_where(void)
{
	if (!group_open(events))
		return;
	for (int k = 0; k < events; k++) {
		CHECK(group[k].page->index == (k ? RDPMC_METRICS + 1 : RDPMC_SLOTS + 1), "%#x",
		      group[k].page->index);
		CHECK(group[k].page->cap_user_rdpmc && group[k].page->pmc_width == 48);
	}
	ioctl(group[0].fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	CHECK(group[0].page->index == 0 && group[1].page->index == 0);
	group_close();
}

static void slots_alone_are_a_counter(void)
{
	uint64_t count[EVENTS + 1], page;

	if (!group_open(1))
		return;
	machine_loop(1000);
	page = (uint64_t)(group[0].page->offset +
			  counter_extend(slots_now(), group[0].page->pmc_width));
	group_read(count);
	CHECK(page > 1000 * MACHINE_LOOP_INSTRUCTIONS * SLOTS_PER_INSTRUCTION);
	CHECK(count[1] > page && count[1] - page < 1000 * SLOTS_PER_INSTRUCTION,
	      "%" PRIu64 ", then %" PRIu64, page, count[1]);
	group_close();
}

/* ---- behaviour that differs in a group with metrics ---- */

/*
 * Returns true if the page did not change in between; it changes when the kernel reschedules.
 */
static void a_read_sets_back_and_the_page_does_not_tell(void)
{
	int told = 0, silent = 0;

	if (!group_open(events))
		return;
	for (int i = 0; i < 100; i++) {
		uint32_t lock = group[0].page->lock;
		uint64_t before, after, count[EVENTS + 1];

		machine_loop(10000);
		before = slots_now();
		group_read(count);
		after = slots_now();
		CHECK(after < before, "%" PRIu64 ", then %" PRIu64, before, after);
		if (group[0].page->lock == lock)
			silent++;
		else
			told++;
	}
	CHECK(silent > 0, "told %d times", told);
	group_close();
}

static void offset_and_counter_are_not_the_count(void)
{
	uint64_t count[EVENTS + 1], page;

	if (!group_open(events))
		return;
	machine_loop(1000);
	page = (uint64_t)(group[0].page->offset +
			  counter_extend(slots_now(), group[0].page->pmc_width));
	group_read(count);
	CHECK(page - count[1] > (uint64_t)1 << 40, "%" PRIu64 " and %" PRIu64, page, count[1]);
	group_close();
}

static void a_reset_sets_back(void)
{
	uint64_t before;

	if (!group_open(events))
		return;
	machine_loop(100000);
	before = slots_now();
	ioctl(group[0].fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	CHECK(slots_now() < before);
	group_close();
}

/* ---- the thread moves ---- */

static void counters_go_on_after_a_sleep(void)
{
	uint64_t slots, metrics, then;
	pid_t busy;

	if (!group_open(events))
		return;
	for (busy = fork(); busy == 0;)
		machine_loop(1000);
	machine_loop(100000);
	slots = slots_now();
	metrics = counter_rdpmc(RDPMC_METRICS);
	counter_sleep(30000);
	then = slots_now();
	CHECK(then > slots && then - slots < 2000 * SLOTS_PER_INSTRUCTION,
	      "%" PRIu64 ", then %" PRIu64, slots, then);
	for (int k = 0; k < LEVEL_1; k++)
		CHECK(abs((int)field(metrics, k) -
			  (int)field(counter_rdpmc(RDPMC_METRICS), k)) <= 3);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	group_close();
}

/* Slots and instructions in one group, with moves between processors, sleeps and reads. */
static void nothing_is_lost_on_the_way(void)
{
	struct perf_event_attr attr =
		counter_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t first[EVENTS + 1], last[EVENTS + 1], sum = 0;
	struct counter instructions;

	if (!group_open(LEVEL_1 + 1))
		return;
	attr.read_format = PERF_FORMAT_GROUP;
	instructions = counter_open(&attr, 0, -1, group[0].fd);
	group_read(first);
	for (unsigned i = 0; i < 400; i++) {
		counter_on_cpu((int)(i & 1)); /* fails if there is only one processor */
		if (i & 2)
			counter_sleep(1);
		machine_loop(1000 + i);
		if (i % 7 == 0)
			group_read(last);
	}
	group_read(last);
	counter_on_cpu(0);
	for (int k = 1; k <= LEVEL_1 + 2; k++)
		last[k] -= first[k];
	for (int k = 2; k <= LEVEL_1 + 1; k++)
		sum += last[k];
	CHECK(last[1] == SLOTS_PER_INSTRUCTION * last[LEVEL_1 + 2], "%" PRIu64 ", %" PRIu64,
	      last[1], last[LEVEL_1 + 2]);
	CHECK(sum <= last[1] + last[1] / 50 && sum >= last[1] - last[1] / 50,
	      "%" PRIu64 " of %" PRIu64 " slots", sum, last[1]);
	counter_close(&instructions);
	group_close();
}

/* Linux 7.0 and newer: config1 of slots makes RDPMC of the metrics set both to 0. */
static void a_reading_clears_where_asked_to(void)
{
	struct perf_event_attr attr = attr_of(0);
	char line[64];

	if (!counter_setting("format/metrics_clear", line, sizeof line)[0])
		SKIP("the PMU's metrics are not cleared by a reading");
	attr.config1 = 1;
	group[0] = counter_open(&attr, 0, -1, -1);
	attr = attr_of(1);
	group[1] = counter_open(&attr, 0, -1, group[0].fd);
	CHECK(group[0].page && group[1].page, "%s", strerror(errno));
	if (group[1].page) {
		uint64_t before;

		machine_loop(100000);
		before = slots_now();
		counter_rdpmc(RDPMC_METRICS);
		CHECK(slots_now() < before);
	}
	group_close();
}

int main(void)
{
	char file[64], line[64];

	for (int k = 0; k < EVENTS; k++) {
		group[k].fd = -1;
		snprintf(file, sizeof file, "events/%s", names[k]);
		if (counter_setting(file, line, sizeof line)[0])
			events = k + 1;
	}
	if (!counter_setting("events/slots", line, sizeof line)[0]) {
		puts("skip topdown: the PMU has no top-down metrics");
		return 0;
	}
	counter_on_cpu(0);
	CASE(events_have_these_codes);
	CASE(a_metric_needs_slots);
	CASE(pages_say_where);
	CASE(counts_are_as_predicted);
	CASE(slots_alone_are_a_counter);
	CASE(a_read_sets_back_and_the_page_does_not_tell);
	CASE(offset_and_counter_are_not_the_count);
	CASE(a_reset_sets_back);
	CASE(counters_go_on_after_a_sleep);
	CASE(nothing_is_lost_on_the_way);
	CASE(a_reading_clears_where_asked_to);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip topdown: this architecture has no top-down metrics");
	return 0;
}
#endif

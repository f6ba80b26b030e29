/* SPDX-License-Identifier: MIT */
/*
 * The library's values of top-down metrics, compared with loops of known instructions, branches
 * and memory accesses (tests/guest/x86/README.md has the PMU's rules), also under
 * interruptions.
 */
#if defined(__x86_64__)
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/time.h>
#include <ucontext.h>
#include "core/os/sys.h"
#include "tests/guest/adversary.h"
#include "tests/guest/counter.h"
#include "tests/guest/loops.h"

enum { LEVEL_1 = 4, FIELDS = 8 };
static const char *const names[] = {"slots", "retiring", "bad",	  "frontend", "backend",
				    "heavy", "branches", "fetch", "memory"};
static struct tach_set *set;
static struct tach_reader *reader;
static int metrics; /* 4 or 8; member 0 is slots, the last member is instructions */

/* ---- loops ---- */

LOOP(loop_updates, "mov %%r10, (%[data])\n\t addq $1, 8(%[data])\n\t")

static const struct character {
	const char *name;
	void (*run)(uint64_t);
	unsigned instructions, branches, memory; /* per turn */
} characters[] = {
	{"arithmetic", loop_arithmetic, 2, 1, 0},
	{"straight", loop_straight, 16, 1, 0},
	{"loads", loop_loads, 4, 1, 2},
	{"updates", loop_updates, 4, 1, 2},
};
enum { CHARACTERS = sizeof characters / sizeof *characters };

/* Slots of the k-th metric after i instructions, b branches and m accesses. */
static uint64_t truth(int k, uint64_t i, uint64_t b, uint64_t m)
{
	const uint64_t of[FIELDS] = {
		4 * i - m - 2 * b, 3 * b, 2 * i - m, 2 * i + 2 * m - b, m, 2 * b, b, 3 * m};

	return of[k];
}

/* ---- judging a region ---- */

static uint64_t judged, flagged, lost, wrong, inexact;

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/*
 * i, b and m are the numbers of the region's loops. The read itself adds to some metrics: no
 * metric may differ by more than this addition and the error.
 */
static int is_right(const uint64_t *delta, uint64_t i, uint64_t b, uint64_t m)
{
	uint64_t slots = delta[0], own = slots - SLOTS_PER_INSTRUCTION * i;

	if (slots < SLOTS_PER_INSTRUCTION * i)
		return 0;
	for (int k = 0; k < metrics; k++)
		if (distance(delta[k + 1], truth(k, i, b, m)) >
		    own + tach_reader_error(reader, (unsigned)k + 1))
			return 0;
	return 1;
}

static void judge(const char *what, uint32_t flags, const uint64_t *delta, uint64_t i,
		  uint64_t b, uint64_t m)
{
	judged++;
	flagged += flags != 0;
	lost += (flags & TACH_FLAG_LOST) != 0;
	if (flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE))
		return;
	if (!flags && delta[0] != SLOTS_PER_INSTRUCTION * delta[metrics + 1])
		inexact++;
	if (is_right(delta, i, b, m) || wrong++)
		return;
	printf("# %s, flags %#x, error %" PRIu64 ":", what, flags,
	       tach_reader_error(reader, 1));
	for (int k = 0; k <= metrics; k++)
		printf(" %s %" PRIu64 " (%" PRIu64 ")", names[k], delta[k],
		       k ? truth(k - 1, i, b, m) : SLOTS_PER_INSTRUCTION * i);
	puts("");
}

static void verdict(const char *what)
{
	printf("# %s: %" PRIu64 " regions, %" PRIu64 " flagged, %" PRIu64 " lost\n", what,
	       judged, flagged, lost);
	CHECK(wrong == 0, "%" PRIu64 " regions wrong by more than their error", wrong);
	CHECK(inexact == 0, "%" PRIu64 " regions whose slots are wrong and not flagged",
	      inexact);
	CHECK(judged > lost, "all are lost");
	judged = flagged = lost = wrong = inexact = 0;
}

static __attribute__((noinline)) uint32_t region(const struct character *c, uint64_t n,
						 struct tach_mark *mark, uint64_t *delta)
{
	tach_reader_begin(reader, mark);
	c->run(n);
	return tach_reader_end(reader, mark, delta);
}

static void one(const struct character *c, uint64_t n)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags = region(c, n, &mark, delta);

	judge(c->name, flags, delta, c->instructions * n, c->branches * n, c->memory * n);
}

/* ---- opening ---- */

static int open_reader(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[FIELDS + 2];
	struct tach_set_member member[FIELDS + 2];
	struct tach_error err = TACH_ERROR_INIT;
	char line[64];
	int n = 0;

	metrics = counter_setting("events/topdown-heavy-ops", line, sizeof line)[0] ? FIELDS
										    : LEVEL_1;
	for (; n <= metrics; n++) {
		attr[n] = counter_attr(PERF_TYPE_RAW, n ? (uint64_t)(0x7f + n) << 8 : 0x400);
		member[n] = (struct tach_set_member){names[n], &attr[n]};
	}
	attr[n] = counter_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	member[n] = (struct tach_set_member){"instructions", &attr[n]};
	opt.attrs = member;
	opt.nattrs = n + 1;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	if (!set)
		return 0;
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	if (!reader)
		tach_set_free(set);
	return reader != NULL;
}

static void close_reader(void)
{
	tach_reader_close(reader);
	tach_set_free(set);
	reader = NULL;
	set = NULL;
}

/* ---- alone ---- */

static void the_fast_way_is_open(void)
{
	if (!open_reader())
		return;
	CHECK(reader->fast && tach_reader_missing(reader)[0] == '\0', "%s",
	      tach_reader_missing(reader));
	CHECK(tach_reader_error(reader, 0) == 0);
	close_reader();
}

static void characters_show(void)
{
	if (!open_reader())
		return;
	for (int c = 0; c < CHARACTERS; c++)
		for (uint64_t n = 1; n < 300000; n = 3 * n + 1)
			one(&characters[c], n);
	verdict("alone");
	close_reader();
}

/* The error is 1/255 of the count since the last reset, at each end. */
static void errors_are_small(void)
{
	const uint64_t n = 100000, before = 1 << 18;
	uint64_t slots = SLOTS_PER_INSTRUCTION * 4 * n;

	if (!open_reader())
		return;
	loop_arithmetic(10 * n);
	for (int i = 0; i < 20; i++) {
		uint64_t error;

		one(&characters[2], n);
		error = tach_reader_error(reader, 1);
		if (flagged == 0)
			CHECK(error <= (2 * before + slots + 20000) / 255 + 10,
			      "%" PRIu64 " of %" PRIu64 " slots", error, slots);
		loop_arithmetic(n);
	}
	verdict("after others");
	close_reader();
}

static long calls;
static long (*real_sys)(long, long, long, long, long, long, long);

static long counted_sys(long number, long a, long b, long c, long d, long e, long f)
{
	calls++;
	return real_sys(number, a, b, c, d, e, f);
}

static void no_system_call(void)
{
	if (!open_reader())
		return;
	one(&characters[0], 1);
	real_sys = tach__sys;
	tach__sys = counted_sys;
	for (int tries = 0; tries < 20; tries++) {
		loop_arithmetic(20000);
		one(&characters[0], 1); /* sets back */
		calls = 0;
		one(&characters[0], 1);
		one(&characters[2], 100);
		if (calls == 0)
			break;
	}
	tach__sys = real_sys;
	CHECK(calls == 0, "%ld", calls);
	verdict("without a system call");
	close_reader();
}

static void absolute_counts_agree(void)
{
	uint64_t count[TACH_COUNTERS_MAX], before[TACH_COUNTERS_MAX] = {0}, slots;
	const struct character *c = &characters[3];

	if (!open_reader())
		return;
	for (int i = 0; i < 200; i++) {
		struct tach__group_read by_kernel;
		uint32_t flags;

		c->run(5000);
		flags = tach_reader_read(reader, count);
		CHECK(!(flags & TACH_FLAG_LOST), "%#x", flags);
		for (int k = 0; k <= metrics + 1; k++)
			CHECK(count[k] >= before[k], "%s went back", names[k]);
		memcpy(before, count, sizeof before);
		CHECK(tach_reader_read_one(reader, 0, &slots) == flags || flags, "%#x", flags);
		CHECK(slots >= count[0] && slots - count[0] < 20000, "%" PRIu64 ", %" PRIu64,
		      count[0], slots);
		if (i % 50 == 49) {
			tach__group_read(&tach__reader(reader)->hard, &by_kernel);
			CHECK(by_kernel.value[0] - count[0] < 40000,
			      "%" PRIu64 ", the kernel says %" PRIu64, count[0],
			      by_kernel.value[0]);
		}
	}
	close_reader();
}

static void nested_regions_are_right(void)
{
	const struct character *c = &characters[2], *d = &characters[0];

	if (!open_reader())
		return;
	for (int i = 0; i < 50; i++) {
		uint64_t outer[TACH_COUNTERS_MAX], n = 100000, inside = 1000;
		struct tach_mark mark;
		uint32_t flags;

		/* The inner region resets the group. */
		tach_reader_begin(reader, &mark);
		c->run(n);
		one(d, inside);
		flags = tach_reader_end(reader, &mark, outer);
		judge("outer", flags, outer, c->instructions * n + d->instructions * inside,
		      c->branches * n + d->branches * inside, c->memory * n);
		loop_arithmetic(n);
	}
	/* The outer region includes the cost of the inner region's reads, including read(2). */
	verdict("nested");
	close_reader();
}

/* ---- other code reads the group ---- */

enum { MUCH = 1000 };

/*
 * Begins with more slots than the shorter regions take, so that a repeated begin is visible: a
 * begin that finds too many reschedules resets the group itself, and then runs once more.
 */
static void begin_with_much(struct tach_mark *mark)
{
	const struct character *c = &characters[2];

	do {
		c->run(MUCH);
		tach_reader_begin(reader, mark);
	} while (tach__reader(reader)->topdown.slots <
		 MUCH * SLOTS_PER_INSTRUCTION * c->instructions);
}

static void read_by_another_descriptor(void)
{
	const struct character *c = &characters[2];
	static const uint64_t lengths[][2] = {
		{5000, 100}, {100, 50}, {100, 30000}, {60000, 60000}};
	int fd;

	if (!open_reader())
		return;
	fd = dup(tach__reader(reader)->hard.leader);
	for (size_t i = 0; i < 4 * sizeof lengths / sizeof *lengths; i++) {
		const uint64_t *n = lengths[i % 4];
		uint64_t delta[TACH_COUNTERS_MAX], all = n[0] + n[1];
		struct tach__group_read now;
		struct tach_mark mark;
		uint32_t flags;

		begin_with_much(&mark);
		c->run(n[0]);
		CHECK(read(fd, &now, sizeof now) > 0, "%s", strerror(errno));
		c->run(n[1]);
		flags = tach_reader_end(reader, &mark, delta);
		CHECK(flags & TACH_FLAG_MIXED, "%zu: flags %#x", i, flags);
		judge("read amid", flags, delta, 4 * all, all, 2 * all);
	}
	verdict("read by another descriptor");
	close(fd);
	close_reader();
}

/* ---- adversaries ---- */

static void read_again(void *fd)
{
	struct tach__group_read now;

	if (read(*(int *)fd, &now, sizeof now) <= 0)
		_exit(1);
	adversary_sleep(100);
}

static void move(void *victim)
{
	static int cpu;

	adversary_on_cpu(*(pid_t *)victim, cpu ^= 1); /* fails if there is only one processor */
	adversary_sleep(100);
}

/* Takes fixed counter 3 from all threads on a processor. */
static void take_slots(void *unused)
{
	struct perf_event_attr attr = counter_attr(PERF_TYPE_RAW, 0x400);
	int fd;

	(void)unused;
	attr.pinned = 1;
	fd = adversary_open(&attr, -1, 0);
	adversary_sleep(500);
	if (fd >= 0)
		close(fd);
	adversary_sleep(500);
}

static void suffer(const char *what, void (*strike)(void *), void *arg)
{
	struct adversary a;

	adversary_start(&a, strike, arg);
	for (uint64_t i = 0; i < 20000 || a.shared->strikes < 200; i++) {
		one(&characters[i % CHARACTERS], 1 + i % 97 * 20);
		if (i % 16 == 0) /* lets other threads run if there is one processor */
			sched_yield();
		if (i % 1024 == 0 && !adversary_lives(&a))
			break;
	}
	CHECK(adversary_stop(&a) >= 200, "the adversary ended");
	verdict(what);
}

/*
 * If another process reads the group during a region, and the region counts more than was
 * counted before it, this is not detected (tach/reader.h). So each region begins after more
 * slots than it counts. If a read happened just before and left less, the region is not
 * checked, even if something else is flagged. A region is also not checked if its begin found
 * such a read and its end did not.
 */
static void read_by_another_process(void)
{
	const struct character *c = &characters[2];
	const uint64_t n = 500;
	uint64_t unjudged = 0;
	struct adversary a;
	int fd;

	if (!open_reader())
		return;
	fd = dup(tach__reader(reader)->hard.leader);
	adversary_start(&a, read_again, &fd);
	for (uint64_t i = 0; i < 20000 || a.shared->strikes < 200; i++) {
		uint64_t delta[TACH_COUNTERS_MAX];
		struct tach_mark mark;
		uint32_t flags;

		c->run(2 * n);
		flags = region(c, n, &mark, delta);
		if (mark.flags & TACH_FLAG_SYSCALL ? flags & TACH_FLAG_MIXED
						   : mark.enabled < 8 * 4 * n / 255)
			unjudged++;
		else
			judge("read amid", flags, delta, 4 * n, n, 2 * n);
		if (i % 16 == 0)
			sched_yield();
		if (i % 1024 == 0 && !adversary_lives(&a))
			break;
	}
	CHECK(adversary_stop(&a) >= 200, "the adversary ended");
	printf("# %" PRIu64 " not judged\n", unjudged);
	verdict("read by another process");
	close(fd);
	close_reader();
}

static void moved_between_processors(void)
{
	pid_t self = getpid();

	if (!open_reader())
		return;
	suffer("moved", move, &self);
	close_reader();
}

static void slots_taken_away(void)
{
	if (!open_reader())
		return;
	suffer("slots taken", take_slots, NULL);
	close_reader();
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
	static unsigned turn;
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	(void)number;
	turn++;
	region(&characters[turn % CHARACTERS], turn % 8 ? 10 : 40000, &mark, delta);
	handled++;
}

/*
 * Regions in a handler, some so long that they reset the group; the enclosing regions are not
 * compared with expected values.
 */
static void regions_in_handlers(void)
{
	struct itimerval once = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm}, before;
	uint64_t backward = 0, apart = 0;
	sig_atomic_t sent = 0;

	if (!open_reader())
		return;
	sigaction(SIGALRM, &action, &before);
	for (uint64_t i = 0; i < 20000 || handled < 200; i++) {
		uint64_t delta[TACH_COUNTERS_MAX], sum = 0, error;
		struct tach_mark mark;
		sig_atomic_t seen = handled;

		/*
		 * The next signal is sent after the previous one arrived: a repeating timer may
		 * leave no time for the program.
		 */
		if (seen == sent) {
			once.it_value.tv_usec = 1 + sent++ % 200;
			setitimer(ITIMER_REAL, &once, NULL);
			seen = handled;
		}
		uint32_t flags = region(&characters[i % CHARACTERS], 100, &mark, delta);

		error = tach_reader_error(reader, 1);
		if (seen != handled || flags & (TACH_FLAG_LOST | TACH_FLAG_INCOMPLETE))
			continue;
		for (int k = 1; k <= LEVEL_1; k++)
			sum += delta[k];
		backward += delta[0] > (uint64_t)1 << 40;
		apart += distance(sum, delta[0]) > 4 * error + 8;
	}
	while (handled < sent) /* checks no value: its handler may run between two counters */
		loop_arithmetic(100);
	sigaction(SIGALRM, &before, NULL);
	CHECK(backward == 0, "%" PRIu64, backward);
	CHECK(apart == 0, "%" PRIu64 " regions whose metrics do not make the slots", apart);
	close_reader();
}

enum { TRAP = 0x100 }; /* EFLAGS.TF: Intel SDM vol. 3, 2.3 */
enum { LONG = 10000 }; /* iterations of loads in a region that resets the group */
static greg_t steps[5000];
static int nsteps;

static void note_step(int number, siginfo_t *info, void *context)
{
	greg_t at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	int i = 0;

	(void)number, (void)info;
	while (i < nsteps && steps[i] != at)
		i++;
	if (i == nsteps && nsteps < (int)(sizeof steps / sizeof *steps))
		steps[nsteps++] = at;
}

static __attribute__((noinline)) void begin_and_end(greg_t trap)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" ::"r"(trap) : "memory", "cc");
	region(&characters[0], 4000, &mark, delta);
	__asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq" ::"r"(~trap) : "memory", "cc");
}

static int visits = -1; /* hits of the breakpoint before the handler enters a region */

static void on_breakpoint(int number, siginfo_t *info, void *context)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	(void)number, (void)info, (void)context;
	if (visits >= 0 && visits-- == 0)
		region(&characters[2], LONG, &mark, delta);
}

static int handled_at(greg_t address, int visit, uint64_t begins_with)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
				       .size = sizeof attr,
				       .bp_type = HW_BREAKPOINT_X,
				       .bp_addr = (uint64_t)address,
				       .bp_len = sizeof(long),
				       .sample_period = 1,
				       .exclude_kernel = 1,
				       .remove_on_exec = 1,
				       .sigtrap = 1};
	int fd = adversary_open(&attr, 0, -1), fired;

	CHECK(fd >= 0, "%s", strerror(errno));
	visits = -1;
	one(&characters[2], LONG);
	loop_arithmetic(begins_with);
	visits = visit;
	begin_and_end(0);
	fired = visits < 0;
	visits = -1;
	one(&characters[address % CHARACTERS], 100);
	close(fd); /* like opening a reader: takes the counters from the group for a moment */
	return fired;
}

/* A handler may interrupt any begin or end; later regions are right. */
static void handlers_at_each_instruction(void)
{
	struct sigaction note = {.sa_sigaction = note_step, .sa_flags = SA_SIGINFO};
	struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO};
	/* With 14000 the end resets the group, with 20000 the begin does. */
	static const uint64_t begins_with[] = {14000, 20000};
	struct sigaction before;

	if (!open_reader())
		return;
	for (int i = 0; i < 2; i++) {
		nsteps = 0;
		sigaction(SIGTRAP, &note, &before);
		one(&characters[2], LONG);
		loop_arithmetic(begins_with[i]);
		begin_and_end(TRAP);
		sigaction(SIGTRAP, &action, NULL);
		for (int visit = 0; visit < 3; visit++) {
			int fired = 0;

			for (int n = 0; n < nsteps; n++)
				fired += handled_at(steps[n], visit, begins_with[i]);
			printf("# %d handlers at %d instructions\n", fired, nsteps);
			CHECK(fired > 100, "%d", fired);
		}
		sigaction(SIGTRAP, &before, NULL);
	}
	verdict("after handlers");
	close_reader();
}

int main(void)
{
	char line[64];

	if (!machine_has_pmu() || !counter_setting("events/slots", line, sizeof line)[0]) {
		puts("skip topdown_reader: the PMU has no top-down metrics");
		return 0;
	}
	CASE(the_fast_way_is_open);
	CASE(characters_show);
	CASE(errors_are_small);
	CASE(no_system_call);
	CASE(absolute_counts_agree);
	CASE(nested_regions_are_right);
	CASE(read_by_another_descriptor);
	CASE(read_by_another_process);
	CASE(moved_between_processors);
	CASE(slots_taken_away);
	CASE(regions_in_handlers);
	CASE(handlers_at_each_instruction);
	return check_done();
}
#else
#include <stdio.h>

int main(void)
{
	puts("skip topdown_reader: this architecture has no top-down metrics");
	return 0;
}
#endif

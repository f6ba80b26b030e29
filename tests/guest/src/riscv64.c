/* SPDX-License-Identifier: MIT */
/*
 * What is RISC-V's own: counts that are exact but for the kernel's ticks, which QEMU counts too
 * (tests/guest/machine.h), PMUs that cannot leave a level out, the legacy driver, firmware
 * events, threads that block SIGILL. GUEST_PMU says which the guest has: sbi, undivided or
 * legacy.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <tach/reader.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

static struct tach_error err;
static struct tach_set *set;
static struct tach_reader *reader;

static int pmu_is(const char *name)
{
	const char *pmu = getenv("GUEST_PMU");

	return pmu && strcmp(pmu, name) == 0;
}

static int open_events(const char *events)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	int code;

	reader = NULL;
	set = NULL;
	memset(&err, 0, sizeof err);
	opt.events = events;
	code = tach_set_create(&opt, &set, &err);
	return code ? code : tach_reader_open(set, &reader, &err);
}

static void close_all(void)
{
	tach_reader_close(reader);
	tach_set_free(set);
}

enum { TRIES = 200 };

/* Of member `member`; the least of many, as a tick may come amid any of them. */
static uint64_t least(int member, uint64_t turns, uint32_t *flags)
{
	uint64_t delta[TACH_COUNTERS_MAX], best = UINT64_MAX;
	struct tach_mark mark;

	*flags = 0;
	for (int i = 0; i < TRIES; i++) {
		uint32_t now;

		tach_reader_begin_n(reader, &mark, 2);
		machine_loop(turns);
		now = tach_reader_end_n(reader, &mark, delta, 2);
		*flags |= now;
		if (!(now & TACH_FLAG_LOST) && delta[member] < best)
			best = delta[member];
	}
	return best;
}

/* The legacy driver gives no access in kernels that have the sysctl's successor (7.2). */
static void loops_are_counted_exactly(void)
{
	uint32_t flags;

	CHECK(open_events("instructions,cycles") == 0, "%s", err.text);
	if (!reader)
		return;
	CHECK((reader->fast == 0) == pmu_is("legacy"), "fast %u: %s", reader->fast,
	      tach_reader_missing(reader));
	for (int member = 0; member < 2; member++) {
		uint64_t one = least(member, 1, &flags);

		for (uint64_t n = 10; n <= 100000; n *= 10) {
			uint64_t many = least(member, 1 + n, &flags) - one;

			CHECK(many == n * MACHINE_LOOP_INSTRUCTIONS,
			      "member %d, %" PRIu64 " turns: %" PRIu64, member, n, many);
			CHECK(((flags & TACH_FLAG_SYSCALL) != 0) == pmu_is("legacy"),
			      "flags %#x", flags);
		}
	}
	if (pmu_is("legacy"))
		CHECK(strstr(tach_reader_missing(reader), "SBI PMU extension"), "%s",
		      tach_reader_missing(reader));
	close_all();
}

static void levels_that_cannot_be_left_out_are_counted_and_told(void)
{
	if (pmu_is("sbi"))
		SKIP("this machine's PMU can: no event is refused");
	CHECK(open_events("instructions,cycles") == 0, "%s", err.text);
	CHECK(set && strstr(tach_set_missing(set), "in the kernel too"), "%s",
	      set ? tach_set_missing(set) : "");
	close_all();
	CHECK(open_events("instructions:u") == TACH_ERR_NOTSUPP &&
		      strstr(err.text, "privilege level"),
	      "%d: %s", err.code, err.text);
	close_all();
}

static void levels_are_left_out_without_a_word(void)
{
	if (!pmu_is("sbi"))
		SKIP("the PMU cannot");
	CHECK(open_events("instructions,cycles") == 0, "%s", err.text);
	CHECK(set && tach_set_missing(set)[0] == '\0' && tach_set_attr(set, 0)->exclude_kernel,
	      "%s", set ? tach_set_missing(set) : "");
	close_all();
}

/* Its page shows index 1, which is the counter of cycles. */
static void firmware_events_go_by_system_calls(void)
{
	static const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof attr, .config = (uint64_t)1 << 63 | 5};
	const struct tach_set_member member = {"set_timer", &attr};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	uint64_t value = 0;
	uint32_t flags;

	if (!pmu_is("sbi"))
		SKIP("the PMU has no firmware events");
	opt.attrs = &member;
	opt.nattrs = 1;
	reader = NULL;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	CHECK(tach_reader_open(set, &reader, &err) == 0, "%s", err.text);
	if (!reader)
		return;
	flags = tach_reader_read(reader, &value);
	CHECK(flags & TACH_FLAG_SYSCALL && value < 1000000, "%" PRIu64 ", flags %#x", value,
	      flags);
	CHECK(strstr(tach_reader_missing(reader), "firmware"), "%s",
	      tach_reader_missing(reader));
	close_all();
}

/* The kernel would kill it by the first read that faults. */
static void who_blocks_sigill_reads_by_system_calls(void)
{
	sigset_t ill, before;
	uint32_t flags;

	sigemptyset(&ill);
	sigaddset(&ill, SIGILL);
	pthread_sigmask(SIG_BLOCK, &ill, &before);
	CHECK(open_events("instructions,cycles") == 0, "%s", err.text);
	if (reader) {
		uint64_t few = least(0, 1, &flags);

		CHECK(least(0, 1001, &flags) > few && flags & TACH_FLAG_SYSCALL, "flags %#x",
		      flags);
		CHECK(strstr(tach_reader_missing(reader), "SIGILL"), "%s",
		      tach_reader_missing(reader));
	}
	close_all();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static struct tach_mark pair_mark;
static uint64_t pair_delta[4];

static __attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void pair1(void)
{
	struct tach_reader *r = reader;

	tach_reader_begin_n(r, &pair_mark, 1);
	tach_reader_end_n(r, &pair_mark, pair_delta, 1);
}

static __attribute__((noinline)) void pair4(void)
{
	struct tach_reader *r = reader;

	tach_reader_begin_n(r, &pair_mark, 4);
	tach_reader_end_n(r, &pair_mark, pair_delta, 4);
}

static uint64_t cost(void (*f)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before, after;

		tach_reader_read_one(reader, 0, &before);
		f();
		tach_reader_read_one(reader, 0, &after);
		if (after - before < best)
			best = after - before;
	}
	return best;
}

/* Instructions of begin and end together, stubs, call and return included: gcc 12 at -O2. */
static void pairs_cost_what_they_may(void)
{
	static const struct {
		const char *name;
		void (*pair)(void);
		uint64_t budget;
	} rows[] = {{"1 counter", pair1, 58}, {"4 counters", pair4, 202}};
	uint64_t base;

	if (!pmu_is("sbi"))
		SKIP("this machine's PMU has no counter for each of 4 events");
	CHECK(open_events("instructions,cycles,dTLB-load-misses,dTLB-store-misses") == 0, "%s",
	      err.text);
	if (!reader)
		return;
	base = cost(nothing);
	for (int i = 0; i < 2; i++) {
		uint64_t took = cost(rows[i].pair) - base;

		printf("# begin and end of %s: %" PRIu64 " instructions\n", rows[i].name, took);
		CHECK(took <= rows[i].budget, "%s: %" PRIu64 ", budget %" PRIu64, rows[i].name,
		      took, rows[i].budget);
	}
	close_all();
}

int main(void)
{
	if (!machine_is_riscv64()) {
		puts("not for this architecture");
		return 77;
	}
	CASE(loops_are_counted_exactly);
	CASE(levels_that_cannot_be_left_out_are_counted_and_told);
	CASE(levels_are_left_out_without_a_word);
	CASE(firmware_events_go_by_system_calls);
	CASE(who_blocks_sigill_reads_by_system_calls);
	CASE(pairs_cost_what_they_may);
	return check_done();
}

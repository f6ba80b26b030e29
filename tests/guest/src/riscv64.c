/* SPDX-License-Identifier: MIT */
/*
 * Features of RISC-V: counts that are exact except for the kernel's ticks, which QEMU counts
 * too (tests/guest/machine.h), PMUs that cannot exclude a level, the legacy driver, firmware
 * events, threads that block SIGILL. GUEST_PMU names the guest's PMU: sbi, undivided or legacy.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include "tests/check.h"
#include "tests/guest/machine.h"
#include "tests/guest/reader.h"

static int pmu_is(const char *name)
{
	const char *pmu = getenv("GUEST_PMU");

	return pmu && strcmp(pmu, name) == 0;
}

enum { TRIES = 200 };

/*
 * Returns the minimum of member `member` over many tries, because a tick may interrupt any of
 * them.
 */
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

/* In kernels with the sysctl's successor (7.2) the legacy driver gives no access. */
static void loops_are_counted_exactly(void)
{
	uint32_t flags;

	CHECK(open_events("instructions,cycles", 0) == 0, "%s", err.text);
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

/*
 * Reads member 0 as if its page were `copy`, which has the page's lock and index but no offset.
 */
static uint64_t raw_as(struct perf_event_mmap_page *copy, unsigned width)
{
	struct tach_way way = reader->way[0];
	uint64_t value = 0;
	uint32_t lock;

	do {
		memcpy(copy, way.page, sizeof *copy);
		copy->offset = 0;
		copy->pmc_width = (uint16_t)width;
		way.page = copy;
	} while (!tach__sum(way, 1, &value, &lock));
	return value;
}

/*
 * QEMU's counters have 64 bits. A page that declares a smaller width shows the lower bits of
 * the same counter, sign-extended: the same as a narrower counter.
 */
static void counters_are_extended_by_the_width_in_the_page(void)
{
	static const unsigned widths[] = {12, 16, 20, 32, 40, 48, 63, 64};
	static struct perf_event_mmap_page copy;
	uint64_t wrong = 0, sign[2] = {0, 0};

	if (!pmu_is("sbi"))
		SKIP("no event but those whose counters have 64 bits everywhere");
	CHECK(open_events("instructions", 0) == 0, "%s", err.text);
	if (!reader)
		return;
	CHECK(reader->way[0].page->index > 3, "index %u", reader->way[0].page->index);
	for (int turn = 0; turn < 4000; turn++) {
		unsigned width = widths[turn % 8], unused = 64 - width;
		uint64_t low = raw_as(&copy, 64), value = raw_as(&copy, width),
			 high = raw_as(&copy, 64);

		wrong += (uint64_t)((int64_t)(value << unused) >> unused) != value;
		if (unused == 0 || (high - low) >> width == 0) /* no tick between the reads */
			wrong += (value - low) << unused > (high - low) << unused;
		if (width <= 16)
			sign[value >> 63]++;
		machine_loop(100);
	}
	CHECK(wrong == 0, "%" PRIu64, wrong);
	CHECK(sign[0] > 0 && sign[1] > 0, "%" PRIu64 " and %" PRIu64, sign[0], sign[1]);
	close_all();
}

static void levels_that_cannot_be_left_out_are_counted_and_told(void)
{
	if (pmu_is("sbi"))
		SKIP("this machine's PMU can: no event is refused");
	CHECK(open_events("instructions,cycles", 0) == 0, "%s", err.text);
	CHECK(set && strstr(tach_set_missing(set), "in the kernel too"), "%s",
	      set ? tach_set_missing(set) : "");
	close_all();
	CHECK(open_events("instructions:u", 0) == TACH_ERR_NOTSUPP &&
		      strstr(err.text, "privilege level"),
	      "%d: %s", err.code, err.text);
	close_all();
}

static void levels_are_left_out_without_a_word(void)
{
	if (!pmu_is("sbi"))
		SKIP("the PMU cannot");
	CHECK(open_events("instructions,cycles", 0) == 0, "%s", err.text);
	CHECK(set && tach_set_missing(set)[0] == '\0' && tach_set_attr(set, 0)->exclude_kernel,
	      "%s", set ? tach_set_missing(set) : "");
	close_all();
}

static int open_raw(uint64_t config, uint32_t flags)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof attr, .config = config};
	const struct tach_set_member member = {"raw", &attr};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	opt.attrs = &member;
	opt.nattrs = 1;
	opt.flags = flags;
	return open_set(&opt);
}

/* Its page shows index 1, which is the counter of cycles. */
static void firmware_events_go_by_system_calls(void)
{
	uint64_t value = 0;
	uint32_t flags;

	if (!pmu_is("sbi"))
		SKIP("the PMU has no firmware events");
	CHECK(open_raw((uint64_t)1 << 63 | 5, 0) == 0, "%s", err.text);
	if (!reader)
		return;
	flags = tach_reader_read(reader, &value);
	CHECK(flags & TACH_FLAG_SYSCALL && value < 1000000, "%" PRIu64 ", flags %#x", value,
	      flags);
	CHECK(strstr(tach_reader_missing(reader), "firmware"), "%s",
	      tach_reader_missing(reader));
	close_all();
}

/*
 * The kernel opens a raw event but gives it no counter, because QEMU has no raw events. The
 * reader's open reports it. If the set may be multiplexed, which makes sets wait for counters,
 * each region reports it.
 */
static void events_that_never_count_are_reported(void)
{
	struct tach_mark mark;
	uint64_t value[TACH_COUNTERS_MAX];
	uint32_t flags;
	int code;

	code = open_raw(0x123, 0);
	CHECK(code == (pmu_is("legacy") ? TACH_ERR_NOASSIGN : TACH_ERR_NOCOUNTER) &&
		      strstr(err.text, "counters") && !reader,
	      "%d: %s", code, err.text);
	close_all();
	code = open_raw(0x123, TACH_SET_MULTIPLEX);
	CHECK(code == (pmu_is("legacy") ? TACH_ERR_NOTSUPP : 0), "%d: %s", code, err.text);
	if (reader) {
		tach_reader_begin(reader, &mark);
		machine_loop(100000);
		flags = tach_reader_end(reader, &mark, value);
		CHECK(flags & TACH_FLAG_LOST, "%#x", flags);
		CHECK(tach_reader_read(reader, value) & TACH_FLAG_INCOMPLETE);
	}
	close_all();
}

static void groups_that_are_too_large_are_refused(void)
{
	int code;

	if (!pmu_is("undivided"))
		SKIP("the PMU has more counters for cycles than a set takes, or none for two");
	code = open_events("cycles,again=cycles", 0);
	CHECK(code == TACH_ERR_NOCOUNTER && strstr(err.text, "1 of 2 events fit"), "%d: %s",
	      code, err.text);
	close_all();
}

/* Otherwise the kernel would kill the thread at the first read that faults. */
static void blocked_sigill_means_system_calls(void)
{
	sigset_t ill, before;
	uint32_t flags;

	sigemptyset(&ill);
	sigaddset(&ill, SIGILL);
	pthread_sigmask(SIG_BLOCK, &ill, &before);
	CHECK(open_events("instructions,cycles", 0) == 0, "%s", err.text);
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

int main(void)
{
	if (!machine_is_riscv64()) {
		puts("not for this architecture");
		return 77;
	}
	CASE(loops_are_counted_exactly);
	CASE(counters_are_extended_by_the_width_in_the_page);
	CASE(levels_that_cannot_be_left_out_are_counted_and_told);
	CASE(levels_are_left_out_without_a_word);
	CASE(firmware_events_go_by_system_calls);
	CASE(events_that_never_count_are_reported);
	CASE(groups_that_are_too_large_are_refused);
	CASE(blocked_sigill_means_system_calls);
	return check_done();
}

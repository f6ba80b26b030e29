/* SPDX-License-Identifier: MIT */
/*
 * Two threads on two harts, one of which opens and closes readers of the events that the other
 * reads. When a page is unmapped while its event counts, the kernel takes that counter's number
 * from all harts that run the process (drivers/perf/riscv_pmu_sbi.c, pmu_sbi_event_unmapped):
 * the other thread's reads then fault for milliseconds, until it is next switched in.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/guest/machine.h"
#include "tests/guest/reader.h"

enum { CLOSINGS = 60, CLOSINGS_LEAST = 10, READS_MOST = 20000000 };

static atomic_int closed, stop;

static void on_hart(int hart)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned)hart, &cpus);
	CHECK(sched_setaffinity(0, sizeof cpus, &cpus) == 0);
}

static void *opens_and_closes(void *arg)
{
	const struct tach_set *events = arg;
	struct tach_error error = TACH_ERROR_INIT;

	on_hart(1);
	for (int i = 0; i < CLOSINGS && !stop; i++) {
		struct tach_reader *other;
		uint64_t value[2];

		if (tach_reader_open(events, &other, &error)) {
			CHECK(0, "%s", error.text);
			break;
		}
		tach_reader_read_n(other, value, 2);
		tach_reader_close(other);
		closed++;
	}
	stop = 1;
	return NULL;
}

static void closing_leaves_other_threads_their_access(void)
{
	uint64_t reads = 0, by_call = 0, wrong = 0, last[2] = {0, 0};
	pthread_t thread;

	if (!machine_is_riscv64() || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("not for this architecture, or one processor");
	on_hart(0);
	CHECK(open_events("cycles,instructions", 0) == 0, "%s", err.text);
	if (!reader)
		return;
	CHECK(reader->fast, "%s", tach_reader_missing(reader));
	pthread_create(&thread, NULL, opens_and_closes, set);
	/* The other thread may get no processor time in this period. */
	while (!stop && (reads < READS_MOST || closed <= CLOSINGS_LEAST)) {
		uint64_t value[2];

		by_call += (tach_reader_read_n(reader, value, 2) & TACH_FLAG_SYSCALL) != 0;
		wrong += value[0] < last[0] || value[1] < last[1];
		memcpy(last, value, sizeof last);
		reads++;
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("# %" PRIu64 " reads, %" PRIu64 " by system calls, %d readers closed beside\n",
	       reads, by_call, closed);
	CHECK(wrong == 0, "%" PRIu64 " went backward", wrong);
	CHECK(closed > CLOSINGS_LEAST, "%d", closed);
	/*
	 * The thread may also lose the processor between finding a counter and reading it; that
	 * is another problem.
	 */
	CHECK(by_call <= (uint64_t)closed, "%" PRIu64, by_call);
	close_all();
}

int main(void)
{
	CASE(closing_leaves_other_threads_their_access);
	return check_done();
}

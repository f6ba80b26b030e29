/* SPDX-License-Identifier: MIT */
/*
 * Features of the guest itself, without the library: a PMU (or none), counters of the requested
 * width, readable in user space, and exact counts of instructions. If this test fails, look at
 * tests/guest/boot first.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/guest/machine.h"
#include "tests/pages.h"

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	if (machine_is_arm64())
		attr.config1 = 2; /* user access, 32-bit counters allowed */
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

enum { PAGES = 8, OPENED = 300 };

static uint64_t count(int fd)
{
	uint64_t value = 0;

	return read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

static void pmu_is_as_asked_for(void)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	if (machine_has_pmu())
		CHECK(fd >= 0, "%s", strerror(errno));
	else
		CHECK(fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP), "descriptor %d, %s",
		      fd, strerror(errno));
	close(fd);
}

static void counters_are_readable_and_as_wide(void)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED, "%s", strerror(errno));
	if (page == MAP_FAILED)
		return;
	CHECK(page->cap_user_rdpmc);
	CHECK(page->index != 0);
	if (machine_width())
		CHECK(page->pmc_width == machine_width(), "%u bits", page->pmc_width);
	munmap(page, size);
	close(fd);
}

/*
 * Counts of two loops that differ only in length: the difference is exactly that of the
 * lengths.
 */
static void instructions_are_exact(void)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	CHECK(fd >= 0, "%s", strerror(errno));
	for (uint64_t n = 10; n <= 1000000; n *= 10) {
		uint64_t length[2] = {1, 1 + n}, delta[2];

		for (int i = 0; i < 2; i++) {
			uint64_t before = count(fd);

			machine_loop(length[i]);
			delta[i] = count(fd) - before;
		}
		CHECK(delta[1] - delta[0] == n * MACHINE_LOOP_INSTRUCTIONS,
		      "n %llu: %llu, %llu", (unsigned long long)n, (unsigned long long)delta[0],
		      (unsigned long long)delta[1]);
	}
	close(fd);
}

/* Changes memory on the last processor until it is killed. */
static pid_t fault_beside(void)
{
	pid_t pid = fork();
	cpu_set_t last;

	if (pid != 0)
		return pid;
	CPU_ZERO(&last);
	CPU_SET((unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	sched_setaffinity(0, sizeof last, &last);
	for (;;)
		pages_touch(PAGES);
}

/* Of process 1. */
static int events_kept_open(void)
{
	DIR *dir = opendir("/proc/1/fd");
	int n = 0;

	for (struct dirent *e; dir && (e = readdir(dir));)
		n += descriptor_is_event(dir, e->d_name);
	if (dir)
		closedir(dir);
	return n;
}

/*
 * The kernel would switch the code that counts page faults on with the first event and off with
 * the last one, while another processor executes it, and QEMU might continue with the old code
 * (init.c).
 */
static void each_event_counts(void)
{
	int short_of = 0;
	pid_t beside = fault_beside();

	for (int i = 0; i < OPENED; i++) {
		int fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

		pages_touch(PAGES);
		short_of += count(fd) < PAGES;
		close(fd);
	}
	kill(beside, SIGKILL);
	waitpid(beside, NULL, 0);
	CHECK(short_of == 0, "%d of %d", short_of, OPENED);
	CHECK(events_kept_open() > 0);
}

int main(void)
{
	CASE(pmu_is_as_asked_for);
	CASE(counters_are_readable_and_as_wide);
	CASE(instructions_are_exact);
	/* On x86 the guest x86-rewritten tests more of this. */
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1 && !machine_is("x86"))
		CASE(each_event_counts);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Defects planted in the reader must be noticed against the real kernel too. They are planted
 * through the names by which the reader accesses a page. There are more events than counters.
 * At the same places the test makes the kernel turn the event off and on, or reassign its
 * counters, so that offsets and indices change between any two accesses, independently of a
 * timer. Counts are compared with read(2) before and after. The reader without a defect passes
 * the same test.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/arch.h>
#include <tach/fault.h>
#include "tests/guest/machine.h"

enum defect {
	NONE,
	NO_LOCK_CHECK,
	NO_OFFSET,
	OFFSET_EARLY,
	INDEX_CACHED,
	INDEX_OFF_BY_ONE,
	WIDTH_IGNORED,
	SIGN_IGNORED,
	DEFECTS
};
static const char *const names[DEFECTS] = {
	"none",		"no lock check",    "offset forgotten", "offset read before the lock",
	"index cached", "index off by one", "width ignored",	"no sign extension"};
static enum defect planted;

/* State of the defective accesses; each page has its own copy. */
static struct memory {
	const void *page;
	uint32_t lock, index;
	int64_t offset;
} memory[16];

static struct memory *remember(const void *page)
{
	int i = 0;

	while (i < 15 && memory[i].page && memory[i].page != page)
		i++;
	memory[i].page = page;
	return &memory[i];
}

static int due(void);
static void deal_anew(const void *page);
static void turn(const void *page, unsigned long how);

/*
 * This is not static, because the reader's inline functions have external linkage and may not
 * call static ones.
 */
uint32_t seam_lock(const struct perf_event_mmap_page *page, int first);
uint32_t seam_index(const struct perf_event_mmap_page *page);
int64_t seam_offset(const struct perf_event_mmap_page *page);
unsigned seam_width(const struct perf_event_mmap_page *page);

uint32_t seam_lock(const struct perf_event_mmap_page *page, int first)
{
	uint32_t lock = *(const volatile uint32_t *)&page->lock;
	struct memory *m = remember(page);

	if (first) {
		/* An event that is off has another offset than an event with a counter. */
		if (due())
			turn(page, PERF_EVENT_IOC_DISABLE);
		m->offset = *(const volatile __s64 *)&page->offset;
		turn(page, PERF_EVENT_IOC_ENABLE);
		m->lock = lock = *(const volatile uint32_t *)&page->lock;
	}
	return planted == NO_LOCK_CHECK ? m->lock : lock;
}

uint32_t seam_index(const struct perf_event_mmap_page *page)
{
	uint32_t index = *(const volatile uint32_t *)&page->index;
	struct memory *m = remember(page);

	if (due()) /* after the index, before the counter */
		deal_anew(page);
	if (planted == INDEX_CACHED) {
		if (!m->index)
			m->index = index;
		return m->index;
	}
	/* An index one higher or lower, which has a counter on every machine. */
	if (planted == INDEX_OFF_BY_ONE && index)
		return index == 32 ? 1 : index % 2 ? index + 1 : index - 1;
	return index;
}

int64_t seam_offset(const struct perf_event_mmap_page *page)
{
	if (due()) /* after the counter, before the offset; the next look turns the event on */
		turn(page, PERF_EVENT_IOC_DISABLE);
	if (planted == NO_OFFSET)
		return 0;
	if (planted == OFFSET_EARLY)
		return remember(page)->offset;
	return *(const volatile __s64 *)&page->offset;
}

unsigned seam_width(const struct perf_event_mmap_page *page)
{
	return planted == WIDTH_IGNORED ? 64 : page->pmc_width;
}

/* arm64 extends the sign in the stub: use the stub without extension, and extend here. */
#if TACH_ARCH_SIGNED
#undef TACH_ARCH_SIGNED
#define TACH_ARCH_SIGNED 0
#define WIDE_STUBS	 1
#else
#define WIDE_STUBS 0
#endif
#define TACH_MODULAR 0

#define seam_first_lock(page)	       seam_lock(page, 1)
#define seam_first_index(page)	       seam_index(page)
#define seam_again_lock(page)	       seam_lock(page, 0)
#define seam_again_offset(page)	       seam_offset(page)
#define seam_first_pmc_width(page)     seam_width(page)
#define TACH_PAGE_LOAD(page, field)    seam_first_##field(page)
#define TACH_PAGE_OPERAND(page, field) seam_again_##field(page)
#include <tach/reader.h>
#include "core/reader/reader.h"
#include "tests/check.h"

enum { EVENTS_MAX = 12 };
static struct {
	int fd;
	int off;
	struct tach_way way;
	uint64_t last;
} event[EVENTS_MAX];

/*
 * QEMU's RISC-V has five events, and counts each of them only once at a time
 * (tests/guest/README.md): four are read, the fifth comes and goes.
 */
enum { RISCV_EVENTS = 4 };
static const struct {
	uint32_t type;
	uint64_t config;
} riscv_event[RISCV_EVENTS + 1] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
				     PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
				     PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	{PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
				     PERF_COUNT_HW_CACHE_RESULT_MISS << 16}};

static int events(void)
{
	return machine_is_riscv64() ? RISCV_EVENTS : EVENTS_MAX;
}

static int open_event(int i, int pinned)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_RAW;
	if (machine_is_riscv64()) {
		attr.type = riscv_event[i].type;
		attr.config = riscv_event[i].config;
	} else if (machine_is_arm64()) {
		attr.config = machine_is_exact() ? 0x08 : 0x11;
		attr.config1 = 2;
	} else {
		attr.config = 0xc0;
	}
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.pinned = pinned != 0;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int other = -1;
static void *other_page;
static unsigned strikes;

/* Returns true about once in eight calls, at the same calls in every run. */
static int due(void)
{
	static uint32_t random = 1;

	random = random * 1664525 + 1013904223;
	return random >> 29 == 0;
}

static void close_other(void)
{
	if (other_page)
		munmap(other_page, (size_t)sysconf(_SC_PAGESIZE));
	if (other >= 0)
		close(other);
	other_page = NULL;
	other = -1;
}

/*
 * A pinned event comes or goes. If there are enough counters for all events, it takes the
 * counter of the event that is being read. If the pinned event is mapped (every second time), a
 * wrong reader reads it; otherwise the read faults.
 */
static void deal_anew(const void *page)
{
	strikes++;
	if (machine_is_riscv64())
		turn(page, PERF_EVENT_IOC_DISABLE);
	if (other >= 0) {
		close_other();
	} else {
		other = open_event(events(), 1);
		if (strikes % 2) {
			other_page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
					  MAP_SHARED, other, 0);
			if (other_page == MAP_FAILED)
				other_page = NULL;
		}
	}
	if (machine_is_riscv64())
		turn(page, PERF_EVENT_IOC_ENABLE);
}

static void turn(const void *page, unsigned long how)
{
	for (int i = 0; i < events(); i++) {
		if (event[i].way.page != page ||
		    event[i].off == (how == PERF_EVENT_IOC_DISABLE))
			continue;
		event[i].off = !event[i].off;
		strikes++;
		ioctl(event[i].fd, how, 0);
	}
}

static uint64_t wrong, reads;

static int count(int i, uint64_t *value)
{
	uint32_t lock;

	for (int tries = 0; tries < 1000; tries++)
		if (tach__sum(event[i].way, planted != SIGN_IGNORED, value, &lock))
			return 1;
		else if (lock & 1)
			return 0;
	return 0;
}

static uint64_t by_system_call(int i)
{
	uint64_t value = 0;

	return read(event[i].fd, &value, sizeof value) == sizeof value ? value : 0;
}

/*
 * Makes this number of reads, or stops at the first wrong one. Reads only events that have a
 * counter; at least one has.
 */
static void judge(uint64_t enough)
{
	for (uint64_t turn = 0; turn < enough * EVENTS_MAX * 2 && reads < enough && wrong < 3;
	     turn++) {
		int i = (int)(turn % (uint64_t)events());
		uint64_t low = by_system_call(i), value, high;
		int got = count(i, &value);

		high = by_system_call(i);
		if (!got)
			continue;
		reads++;
		wrong += value < low || value > high || value < event[i].last;
		event[i].last = value;
	}
}

/*
 * Returns true if this machine's counters hold their sign in all 64 bits. Then there is no
 * width to ignore, and nothing to extend: in PMUv3p5, Linux starts counters with the upper half
 * set.
 */
static int counters_are_whole(void)
{
	uint64_t extended, plain;
	uint32_t lock;

	for (int i = 0; i < events(); i++)
		if (tach__sum(event[i].way, 1, &extended, &lock) &&
		    tach__sum(event[i].way, 0, &plain, &lock))
			return plain - extended < (uint64_t)1 << 31;
	return 0;
}

static int open_all(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < events(); i++) {
		void *page;

		event[i].fd = open_event(i, 0);
		page = mmap(NULL, size, PROT_READ, MAP_SHARED, event[i].fd, 0);
		if (page == MAP_FAILED)
			return -1;
		event[i].way.page = page;
		event[i].way.stubs = TACH_STUBS(64);
		event[i].last = 0;
		event[i].off = 0;
	}
	return 0;
}

static void close_all(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < events(); i++) {
		munmap((void *)event[i].way.page, size);
		close(event[i].fd);
	}
	close_other();
}

static void suffer(enum defect defect)
{
	unsigned width;

	memset(memory, 0, sizeof memory);
	wrong = reads = strikes = 0;
	if (open_all()) {
		CHECK(0, "cannot open or map");
		return;
	}
	width = event[0].way.page->pmc_width;
	if ((defect == WIDTH_IGNORED || defect == SIGN_IGNORED) && counters_are_whole()) {
		close_all();
		SKIP("counters are wider than any defect of theirs shows in");
	}
	planted = defect;
	judge(4000);
	planted = NONE;
	printf("# %s: %" PRIu64 " reads, %u strikes, %" PRIu64 " wrong, %u bits\n",
	       names[defect], reads, strikes, wrong, width);
	if (defect == NONE)
		CHECK(wrong == 0 && reads == 4000, "%" PRIu64 " of %" PRIu64 " wrong", wrong,
		      reads);
	else
		CHECK(wrong > 0, "nothing noticed it");
	close_all();
}

/*
 * If a counter is taken between reading its index and its value, and the thread may not read it
 * then, the read faults (tach/arch/riscv64.h): without the handler, the program dies.
 */
static void without_the_handler_of_faults(void)
{
	int status = 0;
	pid_t child;

	if (!machine_is_riscv64())
		SKIP("counters do not fault here while the thread has some");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		tach_fault_remove();
		suffer(NONE);
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL, "status %#x", status);
}

#define PLANT(name, defect)                                                                    \
	static void name(void)                                                                 \
	{                                                                                      \
		if (!machine_has_pmu())                                                        \
			SKIP("the machine has no PMU");                                        \
		suffer(defect);                                                                \
	}
PLANT(without_a_defect, NONE)
PLANT(no_lock_check, NO_LOCK_CHECK)
PLANT(offset_forgotten, NO_OFFSET)
PLANT(offset_read_before_the_lock, OFFSET_EARLY)
PLANT(index_cached, INDEX_CACHED)
PLANT(index_off_by_one, INDEX_OFF_BY_ONE)
PLANT(width_ignored, WIDTH_IGNORED)
PLANT(no_sign_extension, SIGN_IGNORED)

int main(void)
{
	/*
	 * A correct read of a counter may fault, so readers install the handler when they open.
	 */
	if (machine_is_riscv64())
		CHECK(tach_fault_install(NULL) > 0, "no handler");
	CASE(without_a_defect);
	CASE(no_lock_check);
	CASE(offset_forgotten);
	CASE(offset_read_before_the_lock);
	CASE(index_cached);
	CASE(index_off_by_one);
	CASE(width_ignored);
	CASE(no_sign_extension);
	CASE(without_the_handler_of_faults);
	return check_done();
}

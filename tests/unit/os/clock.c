/* SPDX-License-Identifier: MIT */
/*
 * The clock's frequency from each possible source, with a simulated counter and a simulated
 * time: two ticks of the counter are a nanosecond.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/flags.h>
#include <tach/reader.h>
#include "core/os/clock.h"
#include "core/os/memory.h"
#include "core/os/sys.h"
#include "tests/check.h"

/* ---- the test's own counter and time; 2 ticks are 1 ns ---- */

static uint64_t passed; /* ticks until now */
/* ticks that a reading takes: until: before the time is read; behind: after it */
static uint64_t until, behind;
static int looks;	    /* at the time */
static uint64_t longer[64]; /* additional ticks of each reading */
static double slept;	    /* ns */
/* Ns in total, in which the counter continues and the time does not. */
static uint64_t suspended;

static uint64_t counter(void)
{
	return passed;
}

static int time_now(clockid_t which, struct timespec *out)
{
	uint64_t ns;

	if (which != CLOCK_MONOTONIC_RAW) {
		CHECK(which == CLOCK_MONOTONIC || which == CLOCK_BOOTTIME);
		ns = passed / 2 - (which == CLOCK_BOOTTIME ? 0 : suspended);
		out->tv_sec = (time_t)(ns / 1000000000);
		out->tv_nsec = (long)(ns % 1000000000);
		return 0;
	}
	passed += until;
	ns = passed / 2 - suspended;
	out->tv_sec = (time_t)(ns / 1000000000);
	out->tv_nsec = (long)(ns % 1000000000);
	passed += behind + (looks < 64 ? longer[looks] : 0);
	looks++;
	return 0;
}

static int sleep_for(const struct timespec *rest, void *none)
{
	CHECK(rest->tv_sec == 0 && !none);
	slept += (double)rest->tv_nsec;
	passed += (uint64_t)rest->tv_nsec * 2;
	return 0;
}

#define tach_clock()		 counter()
#define clock_gettime(which, to) time_now(which, to)
#define nanosleep(rest, left)	 sleep_for(rest, left)
#undef TACH_CLOCK_HZ
#define TACH_CLOCK_HZ() told
static double told; /* by the architecture */
#include "core/os/clock.c"

static void machine(uint64_t now)
{
	memset(longer, 0, sizeof longer);
	passed = now;
	until = 20;
	behind = 20;
	looks = 0;
	slept = told = known = 0;
	state = 0;
	suspended = 0;
	unsetenv("TACH_CLOCK");
}

/* ---- a kernel that gives the rate, or does not ---- */

static struct perf_event_mmap_page page;
static long opened, mapped; /* the kernel's results; mapped 0: the page is mapped */
static char did[100];

static long answer(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	size_t used = strlen(did);

	switch (number) {
	case SYS_perf_event_open:
		CHECK(attr->type == PERF_TYPE_SOFTWARE && attr->size == sizeof *attr &&
		      attr->config == PERF_COUNT_SW_DUMMY && attr->exclude_kernel &&
		      attr->exclude_hv && !attr->exclude_user && d == -1);
		strcpy(did + used, "open ");
		return opened;
	case SYS_mmap:
		CHECK(a == 0 && b == (long)tach__pages_round(1) && c == PROT_READ &&
		      d == MAP_SHARED && e == opened && f == 0);
		strcpy(did + used, "map ");
		return mapped ? mapped : (long)&page;
	case SYS_munmap:
		CHECK(a == (long)&page && b == (long)tach__pages_round(1));
		strcpy(did + used, "unmap ");
		return 0;
	case SYS_close:
		CHECK(a == opened);
		strcpy(did + used, "close ");
		return 0;
	default:
		CHECK(0, "system call %ld", number);
		return -ENOSYS;
	}
}

static void kernel(long open, long map, int says, uint16_t shift, uint32_t mult)
{
	memset(&page, 0, sizeof page);
	opened = open;
	mapped = map;
	page.cap_user_time = says != 0;
	page.time_shift = shift;
	page.time_mult = mult;
	did[0] = '\0';
	tach__sys = answer;
}

/* ---- who tells ---- */

static void the_architecture_first(void)
{
	uint32_t flags = TACH_FLAG_LOST;
	double error = 1;

	machine(1000);
	kernel(7, 0, 1, 10, 512);
	told = 24e6;
	CHECK(tach__clock_hz(TACH__CLOCK_EXACT, &flags, &error) == 24e6);
	CHECK(flags == TACH_FLAG_LOST && error == 0 && looks == 0 && !*did);
}

/* A tick is mult / 2^shift ns. Asked once. */
static void kernel_states_the_rate(void)
{
	static const struct {
		long open, map;
		int says;
		uint16_t shift;
		uint32_t mult;
		double hz; /* 0: the kernel does not give it */
		const char *did;
	} of[] = {
		{7, 0, 1, 10, 512, 2e9, "open map unmap close "},
		{7, 0, 1, 0, 40, 25e6, "open map unmap close "},
		{0, 0, 1, 10, 512, 2e9, "open map unmap close "},
		{7, 0, 1, 31, 1u << 31, 1e9, "open map unmap close "},
		{7, 0, 0, 10, 512, 0, "open map unmap close "},
		{7, 0, 1, 10, 0, 0, "open map unmap close "},
		{7, -EPERM, 1, 10, 512, 0, "open map close "},
		{7, -1, 1, 10, 512, 0, "open map close "},
		{7, -4095, 1, 10, 512, 0, "open map close "},
		{-EACCES, 0, 1, 10, 512, 0, "open "},
		{-1, 0, 1, 10, 512, 0, "open "},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		uint32_t flags = TACH_FLAG_LOST;
		double error = 1, hz;

		machine(1000);
		kernel(of[i].open, of[i].map, of[i].says, of[i].shift, of[i].mult);
		hz = tach__clock_hz(TACH__CLOCK_EXACT, &flags, &error);
		CHECK(strcmp(did, of[i].did) == 0, "%zu: %s", i, did);
		if (of[i].hz)
			CHECK(hz == of[i].hz && error == 0 && flags == TACH_FLAG_LOST && !looks,
			      "%zu: %g", i, hz);
		else
			CHECK(fabs(hz / 2e9 - 1) <= error && error < 1e-5 &&
				      flags == (TACH_FLAG_LOST | TACH_FLAG_CLOCK),
			      "%zu: %g, %g", i, hz, error);
		did[0] = '\0';
		flags = 0;
		hz = tach__clock_hz(TACH__CLOCK_EXACT, &flags, &error);
		CHECK(!*did && (hz == of[i].hz) == (of[i].hz > 0) &&
			      flags == (of[i].hz ? 0 : TACH_FLAG_CLOCK),
		      "%zu: asked again: %s", i, did);
	}
}

/* At process exit the kernel is not asked; data read from a page are still used. */
static void at_exit_the_kernel_is_not_asked(void)
{
	struct perf_event_mmap_page of = {0};
	uint32_t flags = 0;
	double error;

	machine(1000);
	kernel(7, 0, 1, 10, 512);
	tach__clock_hz(TACH__CLOCK_SOON, &flags, &error);
	CHECK(!*did && flags == TACH_FLAG_CLOCK && error > 0);
	tach__clock_learn(&of); /* says nothing */
	flags = 0;
	tach__clock_hz(TACH__CLOCK_SOON, &flags, &error);
	CHECK(!*did && flags == TACH_FLAG_CLOCK);
	of.cap_user_time = 1;
	of.time_shift = 3;
	of.time_mult = 4;
	tach__clock_learn(&of);
	flags = 0;
	CHECK(tach__clock_hz(TACH__CLOCK_SOON, &flags, &error) == 2e9);
	CHECK(!*did && !flags && error == 0);
	of.cap_user_time = 0;
	tach__clock_learn(&of);
	CHECK(tach__clock_hz(TACH__CLOCK_EXACT, &flags, &error) == 2e9 && !*did);
}

/* ---- measured ---- */

static double measure(double apart, double *error)
{
	uint32_t flags = 0;
	double hz;

	kernel(-ENOSYS, 0, 0, 0, 0);
	hz = tach__clock_hz(apart, &flags, error);
	CHECK(flags == TACH_FLAG_CLOCK);
	return hz;
}

/* 20 ticks before the time and 20 after it: the middle is exact, with a stated error of 20. */
static void exact_where_the_time_is_in_the_middle(void)
{
	double error, hz;

	machine(1000);
	tach__clock_start();
	CHECK(looks == 8 && slept == 0, "%d looks", looks);
	/* Of equally good readings, the first is used. */
	CHECK(first.ticks == 1020 && first.ns == 510);
	passed += 2 * 1000000000ull * 3 - 8 * 40;
	hz = measure(TACH__CLOCK_SOON, &error);
	CHECK(hz == 2e9 && looks == 16 && slept == 0, "%.17g", hz);
	CHECK(error == 40.0 / 6e9, "%g", error);
	tach__clock_start(); /* the first reading is kept */
	CHECK(looks == 16 && slept == 0);
}

/* A disturbed reading is not used, at any position among the others. */
static void the_closest_look_is_taken(void)
{
	for (int good = 0; good < 8; good++) {
		double error;

		machine(1000);
		for (int i = 0; i < 8; i++)
			longer[i] = i == good ? 0 : 1000 + 10 * (uint64_t)i;
		tach__clock_start();
		CHECK(first.width == 40 && first.ticks == (uint64_t)first.ns * 2,
		      "%d: %llu, width %llu", good, (unsigned long long)first.ticks,
		      (unsigned long long)first.width);
		passed += 2000000000;
		CHECK(measure(TACH__CLOCK_SOON, &error) == 2e9, "%d", good);
	}
}

/*
 * The true error is at most the stated one, even if the time is read at either end of the
 * reading.
 */
static void the_error_is_what_it_may_be(void)
{
	double error, hz;

	machine(1000);
	until = 0;
	behind = 100;
	tach__clock_start();
	passed += 400000;
	until = 100;
	behind = 0;
	hz = measure(TACH__CLOCK_SOON, &error);
	CHECK(hz < 2e9 && fabs((2e9 - hz) / hz - error) < 1e-9, "%.17g, %g", hz, error);
}

/* A call that comes too early sleeps for the rest of the interval and then reads again. */
static void a_rest_is_slept(void)
{
	double error, hz;

	machine(1000);
	tach__clock_start();
	/* the second reading is 150 us later, minus its own duration */
	passed += 2 * 150000 - 8 * 40;
	hz = measure(TACH__CLOCK_SOON, &error);
	CHECK(slept == 50000 && looks == 24, "%g slept, %d looks", slept, looks);
	CHECK(hz == 2e9);
	machine(1000);
	tach__clock_start();
	passed += 2 * 200000 - 8 * 40;
	measure(TACH__CLOCK_SOON, &error);
	CHECK(slept == 0 && looks == 16, "%g slept", slept);
	machine(1000);
	measure(TACH__CLOCK_EXACT, &error); /* this call makes the first reading itself */
	CHECK(slept > 19e6 && slept <= 20e6 && looks == 24, "%g slept", slept);
	measure(TACH__CLOCK_EXACT, &error); /* now the first reading is long ago */
	CHECK(slept <= 20e6 && looks == 32, "%g slept, %d looks", slept, looks);
}

/*
 * During a suspend the counter continued and the time did not: both readings are made again,
 * and then used.
 */
static void a_suspend(void)
{
	double error, hz;

	machine(1000);
	tach__clock_start();
	passed += 2000000000ull * 10;
	suspended = 9000000000;
	hz = measure(TACH__CLOCK_SOON, &error);
	CHECK(fabs(hz / 2e9 - 1) <= error + 1e-12 && slept > 0, "%.17g, %g", hz, error);
	passed += 2000000000ull;
	slept = 0;
	hz = measure(TACH__CLOCK_SOON, &error);
	CHECK(fabs(hz / 2e9 - 1) <= error + 1e-12 && error < 1e-6 && slept == 0, "%.17g, %g",
	      hz, error);
}

/* If a thread is taking the reading, or was at a fork, other threads do not wait for it. */
static void a_first_look_that_is_not_there_yet(void)
{
	double error, hz;

	machine(1000);
	state = 1;
	first = (struct look){5, 5, 5, 0};
	tach__clock_start();
	CHECK(looks == 0 && state == 1);
	hz = measure(TACH__CLOCK_SOON, &error);
	CHECK(hz == 2e9 && looks == 24, "%.17g, %d looks", hz, looks);
}

/* ---- values from a process before this one ---- */

static void first_look_is_inherited(void)
{
	static const struct {
		const char *text;
		uint64_t ticks, width; /* 0: not taken */
		double ns;
	} of[] = {
		{"4000000000:2.0:50:0", 4000000000, 50, 2e9},
		{"4000000000:2.5:50:0", 4000000000, 50, 2e9 + 5},
		{"19999999999:9.999999999:7:0", 19999999999, 7, 9999999999.0},
		{"20000000000:9.0:50:0", 0, 0, 0}, /* from another boot */
		{"20000000001:9.0:50:0", 0, 0, 0},
		{"4000000000:10.0:50:0", 0, 0, 0},
		{"4000000000:11.0:50:0", 0, 0, 0},
		{"4000000000:2.0", 0, 0, 0},
		{"4000000000:2.0:50", 0, 0, 0},
		{"x", 0, 0, 0},
		{"", 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		machine(20000000000);
		until = 0; /* it is 10 s now */
		setenv("TACH_CLOCK", of[i].text, 1);
		tach__clock_start();
		CHECK(state == 2 && (looks < 8) == (of[i].ticks > 0), "%s: %d looks",
		      of[i].text, looks);
		if (of[i].ticks)
			CHECK(first.ticks == of[i].ticks && first.width == of[i].width &&
				      first.ns == of[i].ns,
			      "%s", of[i].text);
		else
			CHECK(first.width == 20 && first.ticks >= 20000000000, "%s",
			      of[i].text);
	}
	unsetenv("TACH_CLOCK");
}

/* ---- the names in formulas ---- */

static void tsc_hz(void)
{
	uint32_t flags = 0;

	machine(1000);
	kernel(7, 0, 1, 10, 256);
	CHECK(tach__tsc_hz(&flags) == 4e9 && flags == 0);
	CHECK(strcmp(did, "open map unmap close ") == 0, "%s", did);
}

int main(void)
{
	CASE(the_architecture_first);
	CASE(kernel_states_the_rate);
	CASE(at_exit_the_kernel_is_not_asked);
	CASE(exact_where_the_time_is_in_the_middle);
	CASE(the_closest_look_is_taken);
	CASE(the_error_is_what_it_may_be);
	CASE(a_rest_is_slept);
	CASE(a_suspend);
	CASE(a_first_look_that_is_not_there_yet);
	CASE(first_look_is_inherited);
	CASE(tsc_hz);
	return check_done();
}

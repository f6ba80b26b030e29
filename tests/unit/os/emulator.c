/* SPDX-License-Identifier: MIT */
/*
 * An emulator that answers, and one that does not; the events that it counts, and how they are
 * read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/os/emulator.h"
#include "core/os/sys.h"
#include "tests/check.h"

static const uint64_t counts[TACH__EMULATED_COUNTS] = {11, 22, 33, 44};
static struct tach__emulator_answer says;
static int asked;

static long answer(long number, long a, long b, long c, long d, long e, long f)
{
	static const struct tach__emulator_answer none;

	if (number != TACH__EMULATOR_CALL)
		return tach__sys_real(number, a, b, c, d, e, f);
	CHECK(b == sizeof says && !c && !d && !e && !f);
	CHECK(memcmp((const void *)a, &none, sizeof none) == 0, "it is not cleared");
	asked++;
	memcpy((void *)a, &says, sizeof says);
	return 0;
}

/*
 * ---- whether an emulator answers The library asks once per process, so each case runs in a
 * child ----
 */

static const char *none_without_the_variable(void)
{
	says.version = TACH__EMULATOR_VERSION;
	if (tach__emulated_counts() || asked)
		return "asked without TACH_EMULATE";
	setenv("TACH_EMULATE", "1", 1);
	return tach__emulated_counts() || asked ? "asked after it was known" : NULL;
}

static const char *of_each_thread(void)
{
	setenv("TACH_EMULATE", "1", 1);
	says.version = TACH__EMULATOR_VERSION;
	says.counts = (uintptr_t)counts;
	if (tach__emulated_counts() != counts || asked != 1)
		return "no counts";
	unsetenv("TACH_EMULATE");
	says.counts = (uintptr_t)(counts + 1);
	if (tach__emulated_counts() != counts + 1 || asked != 2)
		return "not asked again";
	says.version = 0; /* the emulator has no counts for this thread */
	return tach__emulated_counts() ? "counts without an answer" : NULL;
}

static const char *not_asked_again(uint64_t version)
{
	setenv("TACH_EMULATE", "1", 1);
	says.version = version;
	says.counts = (uintptr_t)counts;
	if (tach__emulated_counts() || asked != 1)
		return "counts of another version";
	says.version = TACH__EMULATOR_VERSION;
	return tach__emulated_counts() || asked != 1 ? "asked again" : NULL;
}

static const char *no_answer(void)
{
	return not_asked_again(0);
}

static const char *another_version(void)
{
	return not_asked_again(TACH__EMULATOR_VERSION + 1);
}

static void emulator_is_detected(void)
{
	static const char *(*const in[])(void) = {none_without_the_variable, of_each_thread,
						  no_answer, another_version};

	for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			const char *wrong;

			unsetenv("TACH_EMULATE");
			wrong = in[i]();
			if (wrong)
				fprintf(stderr, "# %s\n", wrong);
			_exit(wrong || check__failed);
		}
		waitpid(pid, &status, 0);
		CHECK(status == 0, "case %zu: %#x", i, (unsigned)status);
	}
}

/* ---- which events ---- */

#define CACHE(cache, op, result) (cache | op << 8 | result << 16)

static void events_that_it_counts(void)
{
	enum { L1D = PERF_COUNT_HW_CACHE_L1D, LL = PERF_COUNT_HW_CACHE_LL, READ = 0, WRITE };
	enum { FLAG = TACH__EMULATOR_MEMORY, USER = 2, ALL = 0, KERNEL = 1 };
	static const struct {
		uint32_t type;
		uint64_t config;
		int levels; /* USER, ALL, KERNEL */
		uint64_t flags;
		int is;
		const char *why; /* a word of it */
	} of[] = {
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER, 0,
		 TACH__EMULATED_INSTRUCTIONS, ""},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, USER, 0,
		 TACH__EMULATED_BRANCHES, ""},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS | 4ull << 32, USER, 0,
		 TACH__EMULATED_INSTRUCTIONS, ""},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, ALL, FLAG, -1, "nothing else"},
		{PERF_TYPE_HARDWARE, CACHE(L1D, WRITE, 0), USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_RAW, PERF_COUNT_HW_INSTRUCTIONS, USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_RAW, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, USER, FLAG, -1,
		 "nothing else"},
		{PERF_TYPE_RAW, CACHE(L1D, READ, 0), USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_RAW, CACHE(L1D, WRITE, 0), USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, ALL, 0, -1, "user level"},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, KERNEL, 0, -1, "user level"},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, KERNEL | USER, 0, -1,
		 "user level"},
		{PERF_TYPE_HW_CACHE, CACHE(L1D, READ, 0), USER, FLAG, TACH__EMULATED_LOADS, ""},
		{PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, 0), USER, FLAG, TACH__EMULATED_STORES,
		 ""},
		{PERF_TYPE_HW_CACHE, CACHE(L1D, READ, 0), USER, 2, -1, "--events"},
		{PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, 0), USER, 0, -1, "--events"},
		{PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, 0), ALL, FLAG, -1, "user level"},
		{PERF_TYPE_HW_CACHE, CACHE(L1D, READ, 1), USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_HW_CACHE, CACHE(LL, READ, 0), USER, FLAG, -1, "nothing else"},
		{PERF_TYPE_HW_CACHE, CACHE(LL, WRITE, 0), USER, FLAG, -1, "nothing else"},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct perf_event_attr attr = {.type = of[i].type, .config = of[i].config};
		const char *why = NULL;
		int is;

		attr.exclude_kernel = (of[i].levels & USER) != 0;
		attr.exclude_user = (of[i].levels & KERNEL) != 0;
		says.version = TACH__EMULATOR_VERSION;
		says.flags = of[i].flags;
		asked = 0;
		is = tach__emulated_event(&attr, &why);
		CHECK(is == of[i].is && (is >= 0 || (why && strstr(why, of[i].why))),
		      "%zu: %d, %s", i, is, why);
		/* The library asks the emulator only about optional events. */
		CHECK(asked == (is >= TACH__EMULATED_LOADS ||
				strcmp(of[i].why, "--events") == 0),
		      "%zu: asked %d times", i, asked);
	}
}

static void all_of_them_are_read(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	uint64_t to[TACH__EMULATED_COUNTS + 1] = {0, 0, 0, 0, 4711};

	tach__emulated_read(counts, to);
	CHECK(to[TACH__EMULATED_INSTRUCTIONS] == 11 && to[TACH__EMULATED_BRANCHES] == 22);
	CHECK(to[TACH__EMULATED_LOADS] == 33 && to[TACH__EMULATED_STORES] == 44);
	CHECK(to[TACH__EMULATED_COUNTS] == 4711);
#else
	SKIP("no emulator counts for this architecture");
#endif
}

/* Plugins of other versions were compiled with these numbers. */
static void protocol_numbers_do_not_change(void)
{
	CHECK(TACH__EMULATOR_CALL == 0x7ac4 && TACH__EMULATOR_VERSION == 1 &&
	      TACH__EMULATOR_MEMORY == 1);
	CHECK(TACH__EMULATED_INSTRUCTIONS == 0 && TACH__EMULATED_BRANCHES == 1 &&
	      TACH__EMULATED_LOADS == 2 && TACH__EMULATED_STORES == 3);
	CHECK(sizeof says == 24, "%zu", sizeof says);
}

int main(void)
{
	tach__sys = answer;
	CASE(emulator_is_detected);
	CASE(events_that_it_counts);
	CASE(all_of_them_are_read);
	CASE(protocol_numbers_do_not_change);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Intel's architectural events as a processor has them: versions, absent events, hypervisors
 * without a PMU, other vendors. The test replaces CPUID (Intel SDM volume 2, leaf 0AH).
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/child.h"

#ifdef __x86_64__
#include "tests/cpuid.h"
#include "arch/x86/archperfmon.c"

/* Leaf 0AH: EAX: 7-0 version, 15-8 general counters, 31-24 number of bits in EBX. */
#define EAX(version, general, bits) ((unsigned)(version) | (general) << 8 | (bits) << 24)

/* In the order of EBX's bits. */
static const char *const events[] = {
	"UNHALTED_CORE_CYCLES",
	"INSTRUCTION_RETIRED",
	"UNHALTED_REFERENCE_CYCLES",
	"LLC_REFERENCES",
	"LLC_MISSES",
	"BRANCH_INSTRUCTIONS_RETIRED",
	"MISPREDICTED_BRANCH_RETIRED",
};
static const unsigned configs[] = {0x3c, 0xc0, 0x13c, 0x4f2e, 0x412e, 0xc4, 0xc5};

enum { EVENTS = sizeof events / sizeof *events, ALL = (1 << EVENTS) - 1 };

static struct tach_encode_options options;

static int encodes(const char *name, const char *modifier)
{
	struct tach_event event = {.size = sizeof event};
	char string[64];
	int rc;

	snprintf(string, sizeof string, "ix86arch::%s%s", name, modifier);
	rc = tach_event_encode(string, &options, &event, NULL);
	CHECK(rc == 0 || rc == TACH_ERR_NOTFOUND || rc == TACH_ERR_ATTR, "%s: %d", string, rc);
	return rc == 0;
}

/* Bit n is set if the n-th event exists. */
static int there(void)
{
	int found = 0;

	for (int i = 0; i < EVENTS; i++)
		found |= encodes(events[i], "") << i;
	return found;
}

/* Bit 0: any thread; bits 1 and 2: transactions. */
static int modifiers(void)
{
	return encodes(events[0], ":t=1") | encodes(events[0], ":intx=1") << 1 |
	       encodes(events[0], ":intxcp=1") << 2;
}

static void intel(unsigned eax, unsigned ebx)
{
	cpuid_reset("GenuineIntel", 0xb);
	cpuid_set(1, 0xa, eax, ebx, 0, 4);
}

static unsigned version;
static const int modifiers_of[] = {[1] = 0, [2] = 0, [3] = 1, [4] = 7, [5] = 6, [6] = 6};

static void one_version(void)
{
	int general = -1, fixed = -1;

	intel(EAX(version, 8, 7), 0);
	CHECK(modifiers() == modifiers_of[version], "version %u: %#x", version, modifiers());
	CHECK(there() == ALL, "version %u: %#x", version, there());
	CHECK(tach__archperfmon_counters(&general, &fixed) == (int)version && general == 8 &&
		      fixed == 4,
	      "%d general, %d fixed", general, fixed);
}

static void versions(void)
{
	for (version = 1; version <= 6; version++)
		in_child(one_version);
}

static void codes(void)
{
	struct tach_event event = {.size = sizeof event};

	options.host = "skl";
	options.os = TACH_OS_PERF_EXT;
	for (int i = 0; i < EVENTS; i++) {
		char string[64];

		snprintf(string, sizeof string, "ix86arch::%s", events[i]);
		CHECK(tach_event_encode(string, &options, &event, NULL) == 0 &&
			      event.config == configs[i],
		      "%s: %#llx", string, (unsigned long long)event.config);
	}
	options.host = NULL;
	options.os = TACH_OS_NONE;
}

static unsigned bit;

static void one_absent(void)
{
	intel(EAX(3, 4, 7), 1u << bit);
	CHECK(there() == (ALL & ~(1 << bit)), "bit %u: %#x", bit, there());
}

/* EBX has fewer bits than there are events, or more. */
static void fewer_bits(void)
{
	intel(EAX(3, 4, bit), 0);
	CHECK(there() == ((1 << bit) - 1), "%u bits: %#x", bit, there());
}

static void more_bits(void)
{
	intel(EAX(3, 4, 13), 0x1f80 | 1);
	CHECK(there() == (ALL & ~1), "%#x", there());
	CHECK(modifiers_of[3] == encodes(events[1], ":t=1"));
}

/*
 * The error says what the processor lacks; a name that no processor has is reported as
 * misspelled.
 */
static void told_as_absent(void)
{
	struct tach_event event = {.size = sizeof event};
	struct tach_error error = TACH_ERROR_INIT;

	intel(EAX(3, 4, 7), 1 << 4);
	CHECK(tach_event_encode("ix86arch::LLC_MISSES:u", &options, &event, &error) ==
		      TACH_ERR_NOTFOUND,
	      "%s", error.text);
	CHECK(strcmp(error.text, "this processor does not have the architectural event "
				 "LLC_MISSES (CPUID leaf 0AH)") == 0 &&
		      error.column == 11,
	      "%s, column %d", error.text, error.column);
	CHECK(tach_event_encode("ix86arch::LLC_MISSE", &options, &event, &error) ==
			      TACH_ERR_NOTFOUND &&
		      strstr(error.text, "did you mean"),
	      "%s", error.text);
}

static void absent_events(void)
{
	for (bit = 0; bit < EVENTS; bit++)
		in_child(one_absent);
	for (bit = 0; bit <= EVENTS; bit++)
		in_child(fewer_bits);
	in_child(more_bits);
	in_child(told_as_absent);
}

/* On an unknown processor, version 3 with all its events is assumed. */
static void stands_in(void)
{
	int general = -1, fixed = -1;

	CHECK(tach__archperfmon_counters(&general, &fixed) == 0 && general == -1 && fixed == -1,
	      "%d general, %d fixed", general, fixed);
	CHECK(there() == ALL && modifiers() == 1, "%#x %#x", there(), modifiers());
}

/*
 * Events after the first seven, which belong to version 3: a CPU that is chosen by name may
 * lack them.
 */
static void later_events(void)
{
	static const char *const later[] = {
		"TOPDOWN_SLOTS",	  "TOPDOWN_BACKEND_BOUND", "TOPDOWN_BAD_SPECULATION",
		"TOPDOWN_FRONTEND_BOUND", "TOPDOWN_RETIRING",	   "LBR_INSERTS",
	};
	static const char *const hosts[] = {"", "skl", "ix86arch"};
	struct tach_event event = {.size = sizeof event};

	for (size_t host = 0; host < 3; host++)
		for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
			int rc;

			options.host = hosts[host];
			CHECK(encodes(later[i], ""), "%s of %s", later[i], options.host);
			rc = tach_event_encode(later[i], &options, &event, NULL);
			CHECK((rc == 0) == (host == 2), "%s on %s: %d", later[i], options.host,
			      rc);
		}
	options.host = NULL;
	intel(EAX(5, 8, 13), 0x1f80);
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		CHECK(!encodes(later[i], ""), "%s, which CPUID denies", later[i]);
}

/* A hypervisor's leaf without a PMU is all 0. */
static void no_pmu(void)
{
	intel(0, 0);
	stands_in();
}

static void other_vendor(void)
{
	intel(EAX(5, 8, 7), 0x7f);
	memcpy(&cpuid_leaves[0].b, "Auth", 4);
	stands_in();
}

static void too_old(void)
{
	cpuid_reset("GenuineIntel", 0x9);
	cpuid_set(1, 0xa, EAX(5, 8, 7), 0x7f, 0, 4);
	stands_in();
}

/* TACH_PMU chooses another machine; an empty TACH_PMU is ignored. */
static void another_is_meant(void)
{
	intel(EAX(5, 8, 7), 0x7f);
	setenv("TACH_PMU", "skl", 1);
	stands_in();
}

static void none_is_meant(void)
{
	int general, fixed;

	intel(EAX(5, 8, 7), 0x7e);
	setenv("TACH_PMU", "", 1);
	CHECK(tach__archperfmon_counters(&general, &fixed) == 5);
	CHECK(there() == 1, "%#x", there());
}

static void no_such_processor(void)
{
	in_child(no_pmu);
	in_child(other_vendor);
	in_child(too_old);
	in_child(another_is_meant);
	in_child(none_is_meant);
}

/* If the caller names a host, CPUID is not used. */
static void named_host(void)
{
	intel(EAX(1, 2, 7), 0x7f);
	for (int again = 0; again < 2; again++) {
		options.host = "hsw";
		CHECK(there() == ALL && modifiers() == 1, "%#x %#x", there(), modifiers());
		CHECK(again || cpuid_asked == 0, "CPUID %d times", cpuid_asked);
		options.host = NULL;
		CHECK(there() == 0, "%#x", there());
	}
}

/*
 * The library asks CPUID only once: in a virtual machine CPUID traps, and many virtual machines
 * have no PMU.
 */
static void asked_once(void)
{
	int asked;

	intel(EAX(0, 0, 7), 0);
	CHECK(there() == ALL);
	asked = cpuid_asked;
	CHECK(there() == ALL && modifiers() == 1 && cpuid_asked == asked && asked, "%d, %d",
	      asked, cpuid_asked);
}

static void hosts(void)
{
	in_child(later_events);
	in_child(named_host);
	in_child(asked_once);
}

int main(void)
{
	options = (struct tach_encode_options)TACH_ENCODE_OPTIONS_INIT;
	options.sysfs = options.tracefs = "/nonexistent";
	options.os = TACH_OS_NONE;
	unsetenv("TACH_PMU");
	CASE(codes);
	CASE(versions);
	CASE(absent_events);
	CASE(no_such_processor);
	CASE(hosts);
	return check_done();
}
#else
static void codes(void)
{
	SKIP("another architecture");
}

int main(void)
{
	CASE(codes);
	return check_done();
}
#endif

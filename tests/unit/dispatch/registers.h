/* SPDX-License-Identifier: MIT */
/* Dispatches encoded events and rows, and checks the resulting registers. */
#ifndef TESTS_DISPATCH_REGISTERS_H
#define TESTS_DISPATCH_REGISTERS_H

#include <string.h>
#include <tach/dispatch.h>
#include <tach/event.h>
#include <tach/pmu.h>
#include "tests/check.h"
#include "tests/stack.h"

static struct tach_dispatch_event events[TACH_DISPATCH_EVENTS_MAX];
static struct tach_dispatch_x86 x86;
static struct tach_dispatch in;
static struct tach_dispatch_out out;
static struct tach_error err;

/* Begins with a list of libpfm-3, or with a PMU. */
static inline void begin_at(int pmu)
{
	memset(&in, 0, sizeof in);
	memset(events, 0, sizeof events);
	memset(&x86, 0, sizeof x86);
	x86.size = sizeof x86;
	in.size = sizeof in;
	in.pmu = pmu;
	CHECK(pmu >= 0);
	in.privilege = TACH_PRIVILEGE_USER;
	in.events = events;
}

static inline void begin(const char *pmu)
{
	begin_at(tach_pmu_find(pmu));
}

/* Adds "pmu::EVENT..." in encoded form, at user level by default. */
static inline void add(const char *string)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event = {.size = sizeof event};

	opt.os = TACH_OS_NONE;
	opt.privilege = TACH_PRIVILEGE_USER;
	CHECK(tach_event_encode(string, &opt, &event, &err) == 0, "%s: %s", string, err.text);
	tach_dispatch_from_event(&event, &events[in.nevents++]);
}

/* Adds an event that a fixed counter can count too. */
static inline void add_fixed(const char *string, int fixed)
{
	add(string);
	events[in.nevents - 1].counters |= 1ull << (32 + fixed);
}

/* By its rows. */
static inline void row(const char *string)
{
	CHECK(tach_dispatch_find(in.pmu, 0, string, &events[in.nevents++], &err) == 0, "%s: %s",
	      string, err.text);
}

static inline int run(void)
{
	dirty_stack();
	memset(&out, 0, sizeof out);
	out.size = sizeof out;
	return tach_dispatch_compute(&in, &out, &err);
}

static inline void take_away(int pmc)
{
	in.unavailable[pmc / 64] |= 1ull << pmc % 64;
}

static inline void dispatched(int line)
{
	CHECK(run() == 0, "line %d: %s", line, err.text);
}

static inline void refused(int code, const char *why, int line)
{
	int rc = run();

	CHECK(rc == code && strstr(err.text, why), "line %d: %d: %s", line, rc, err.text);
}

static inline const struct tach_register *find(const struct tach_register *regs, uint32_t n,
					       uint32_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (regs[i].number == number)
			return &regs[i];
	return NULL;
}

static inline void pmc(uint32_t number, uint64_t value, uint64_t address, int line)
{
	const struct tach_register *r = find(out.pmcs, out.npmcs, number);

	CHECK(r && r->value == value && r->address == address && r->alternative == address,
	      "line %d: PMC%u: %#llx @ %#llx", line, number,
	      r ? (unsigned long long)r->value : 0, r ? (unsigned long long)r->address : 0);
}

/* The data register of the i-th event. */
static inline void pmd(uint32_t i, uint32_t number, uint64_t address, uint64_t alternative,
		       int line)
{
	const struct tach_register *r = &out.pmds[i];

	CHECK(i < out.npmds && r->number == number && r->address == address &&
		      r->alternative == alternative && r->value == 0,
	      "line %d: PMD%u @ %#llx / %#llx", line, r->number, (unsigned long long)r->address,
	      (unsigned long long)r->alternative);
}

static inline void lacks(uint32_t number, int line)
{
	CHECK(!find(out.pmcs, out.npmcs, number), "line %d: PMC%u", line, number);
}

#define DISPATCHED()	     dispatched(__LINE__)
#define REFUSED(code, why)   refused(code, why, __LINE__)
#define PMC(n, value, msr)   pmc(n, value, msr, __LINE__)
#define PMD(i, n, msr, read) pmd(i, n, msr, read, __LINE__)
#define LACKS(n)	     lacks(n, __LINE__)

#endif

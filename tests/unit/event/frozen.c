/* SPDX-License-Identifier: MIT */
/*
 * Values that compiled programs contain and that must not change: codes and flags,
 * initialisers, lengths of arrays in structs.
 */
#include <string.h>
#include <tach.h>
#include <tach/dispatch.h>
#include <tach/schedule.h>
#include "tests/check.h"

#define IS(name, value)                                                                        \
	CHECK((long long)(name) == (value), "%s: %lld", #name, (long long)(name))

static void codes(void)
{
	static const struct {
		int code, value;
	} codes[] = {
		{TACH_OK, 0},
		{TACH_ERR_INVAL, -22},
		{TACH_ERR_NOMEM, -12},
		{TACH_ERR_NOTSUPP, -95},
		{TACH_ERR_SYNTAX, -5004},
		{TACH_ERR_NOTFOUND, -5005},
		{TACH_ERR_ATTR, -5006},
		{TACH_ERR_ATTR_VALUE, -5007},
		{TACH_ERR_ATTR_SET, -5008},
		{TACH_ERR_UMASK, -5009},
		{TACH_ERR_FEATCOMB, -5010},
		{TACH_ERR_TOOMANY, -5011},
		{TACH_ERR_TOOSMALL, -5012},
		{TACH_ERR_PERMISSION, -5013},
		{TACH_ERR_NOHARDWARE, -5014},
		{TACH_ERR_NOCOUNTER, -5015},
		{TACH_ERR_NOASSIGN, -5016},
		{TACH_ERR_CYCLE, -5017},
		{TACH_ERR_STATE, -5018},
		{TACH_ERR_MAGIC, -5030},
		{TACH_ERR_EVENTSET, -5031},
		{TACH_ERR_INCOMPATIBLE, -5032},
		{TACH_ERR_MODEL, -5033},
		{TACH_ERR_CODE_RANGE, -5034},
		{TACH_ERR_CODE_ALIGN, -5035},
		{TACH_ERR_CODE_TOOMANY, -5036},
		{TACH_ERR_CODE_TOOBIG, -5037},
		{TACH_ERR_CODE_FLAGS, -5038},
		{TACH_ERR_DATA_RANGE, -5039},
		{TACH_ERR_DATA_TOOMANY, -5040},
	};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		CHECK(codes[i].code == codes[i].value, "%d, not %d", codes[i].code,
		      codes[i].value);
}

static void choices(void)
{
	IS(TACH_OS_NONE, 0);
	IS(TACH_OS_PERF, 1);
	IS(TACH_OS_PERF_EXT, 2);
	IS(TACH_CAUSE_NONE, 0);
	IS(TACH_CAUSE_RDPMC_ALL, 16);
	IS(TACH_SEVERITY_OK, 0);
	IS(TACH_SEVERITY_NOTE, 1);
	IS(TACH_SEVERITY_WARN, 2);
	IS(TACH_SEVERITY_FAIL, 3);
	IS(TACH_VERDICT_FAST, 0);
	IS(TACH_VERDICT_SLOW, 1);
	IS(TACH_VERDICT_CLOCK, 2);
	IS(TACH_DISPATCH_NOQUALIFY, 0x40);
	IS(TACH_FLAG_RESCHEDULED, 1);
}

static void arrays(void)
{
#define LENGTH(type, member)                                                                   \
	(sizeof((struct type *)0)->member / sizeof *((struct type *)0)->member)
	IS(LENGTH(tach_error, text), 256);
	IS(LENGTH(tach_finding, text), 240);
	IS(LENGTH(tach_finding, cure), 240);
	IS(LENGTH(tach_dispatch_ia64, opcode), 2);
	IS(LENGTH(tach_dispatch, unavailable), 8);
	IS(LENGTH(tach_ranges_used, registers), 8);
	IS(LENGTH(tach_region_info, provenance), 6);
	IS(LENGTH(tach_region_mark, pairs), 2);
	IS(LENGTH(tach_task, word), 64);
}

/* Only the size is set, unless stated otherwise. */
static void initialisers(void)
{
	struct tach_error error = TACH_ERROR_INIT;
	struct tach_encode_options encode = TACH_ENCODE_OPTIONS_INIT;
	struct tach_formula_options formula = TACH_FORMULA_OPTIONS_INIT;
	struct tach_schedule_options schedule = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_set_options set = TACH_SET_OPTIONS_INIT;
	struct tach_region_mark mark = TACH_REGION_MARK_INIT, empty;

	CHECK(error.size == sizeof error && !error.code && !error.line && !error.column &&
	      !error.text[0]);
	CHECK(encode.size == sizeof encode && encode.os == TACH_OS_PERF_EXT &&
	      encode.privilege == TACH_PRIVILEGE_USER && encode.pmu == -1 &&
	      encode.any_pmu == 1 && !encode.flags && !encode.host && !encode.sysfs &&
	      !encode.tracefs);
	CHECK(formula.size == sizeof formula && formula.kind == TACH_FORMULA_INFIX &&
	      formula.noperands == -1 && !formula.resolve && !formula.context &&
	      formula.max_hz <= 0 && formula.max_hz >= 0 && formula.tsc_hz <= 0 &&
	      formula.tsc_hz >= 0 && !formula.part && !formula.parameter);
	CHECK(schedule.size == sizeof schedule && schedule.pmu == -1 && !schedule.general &&
	      !schedule.fixed && !schedule.flags);
	CHECK(set.size == sizeof set && !set.events && !set.metrics && !set.attrs &&
	      !set.nattrs && set.pmu == -1 && !set.privilege && !set.flags);
	memset(&empty, 0, sizeof empty);
	CHECK(memcmp(&mark, &empty, sizeof mark) == 0);
}

int main(void)
{
	CASE(codes);
	CASE(choices);
	CASE(arrays);
	CASE(initialisers);
	return check_done();
}

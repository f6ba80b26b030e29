/* SPDX-License-Identifier: MIT */
/*
 * Content of struct tach_event, the part of it that goes to perf_event_attr, and refused
 * options.
 */
#include <stddef.h>
#include <string.h>
#include "core/event/event.h"
#include "tests/check.h"

static struct tach_encode_options options(int os, uint32_t privilege)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = (enum tach_os)os;
	opt.privilege = privilege;
	opt.host = "skl";
	opt.sysfs = "/nonexistent";
	opt.tracefs = "/nonexistent";
	return opt;
}

enum {
	U = TACH_PRIVILEGE_USER,
	K = TACH_PRIVILEGE_KERNEL,
	H = TACH_PRIVILEGE_HYPERVISOR,
};

/* ---- privilege levels, guests, and perf's own fields ---- */

static void perfs_fields(void)
{
	static const struct {
		const char *string;
		uint32_t privilege;
		const char *excluded; /* for u k h H G: the letter if the level is excluded,
					 else - - */
		uint32_t has;
		int precise, pinned, exclusive, cpu;
		uint64_t period;
	} all[] = {
		/* Levels that perf cannot exclude are counted: skl has no hypervisor level. */
		{"skl::INST_RETIRED:ANY_P", U, "-k--G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P", K, "u---G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P", U | K | H, "----G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P", 0, "uk--G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:k", U, "u---G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:u=0", U, "uk--G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:mg", U, "-k-H-", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:mh", U, "-k--G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:mg:mh", U, "-k---", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:mg=0:mh=0", U, "-k--G", 0, 0, 0, 0, -1, 0},
		{"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS", U, "-kh-G", 0, 0, 0, 0, -1, 0},
		{"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS", H, "uk--G", 0, 0, 0, 0, -1, 0},
		{"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS:u:h", K, "-k--G", 0, 0, 0, 0, -1, 0},
		/* Generic events are filtered like the host's events. */
		{"cycles", U, "-k--G", 0, 0, 0, 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:precise=3", U, "-k--G", TACH_EVENT_HAS_PRECISE, 3, 0,
		 0, -1, 0},
		{"skl::INST_RETIRED:ANY_P:precise=0", U, "-k--G", TACH_EVENT_HAS_PRECISE, 0, 0,
		 0, -1, 0},
		{"r1:hw_smpl", U, "-k--G",
		 TACH_EVENT_HAS_PRECISE | TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2, 1, 0,
		 0, -1, 0},
		{"cycles:pinned", U, "-k--G", 0, 0, 1, 0, -1, 0},
		{"cycles:pinned=0", U, "-k--G", 0, 0, 0, 0, -1, 0},
		{"cycles:excl", U, "-k--G", TACH_EVENT_HAS_EXCLUSIVE, 0, 0, 1, -1, 0},
		{"cycles:excl=0", U, "-k--G", 0, 0, 0, 0, -1, 0},
		{"cycles:cpu=0", U, "-k--G", TACH_EVENT_HAS_CPU, 0, 0, 0, 0, 0},
		{"cycles:cpu=2147483646", U, "-k--G", TACH_EVENT_HAS_CPU, 0, 0, 0, 2147483646,
		 0},
		{"cycles:period=1", U, "-k--G", TACH_EVENT_HAS_PERIOD, 0, 0, 0, -1, 1},
		{"cycles:freq=99", U, "-k--G", TACH_EVENT_HAS_FREQ, 0, 0, 0, -1, 99},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_encode_options opt = options(TACH_OS_PERF_EXT, all[i].privilege);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(all[i].string, &opt, &e, &err);
		char excluded[6] = {e.exclude_user ? 'u' : '-',	 e.exclude_kernel ? 'k' : '-',
				    e.exclude_hv ? 'h' : '-',	 e.exclude_host ? 'H' : '-',
				    e.exclude_guest ? 'G' : '-', 0};

		CHECK(rc == 0 && strcmp(excluded, all[i].excluded) == 0, "%s %x: %s%s",
		      all[i].string, all[i].privilege, excluded, err.text);
		CHECK(e.has == all[i].has && e.precise == all[i].precise &&
			      e.pinned == all[i].pinned && e.exclusive == all[i].exclusive &&
			      e.cpu == all[i].cpu && e.period == all[i].period,
		      "%s: has %x precise %d", all[i].string, e.has, e.precise);
		/* Raw words contain no such field. */
		opt.os = TACH_OS_NONE;
		memset(&e, 0, sizeof e);
		if (tach_event_encode(all[i].string, &opt, &e, NULL) == 0)
			CHECK(!e.type && !e.has && !e.config && e.cpu == -1 && !e.exclude_user,
			      "%s", all[i].string);
	}
}

static void refused_values(void)
{
	static const struct {
		const char *string;
		int column;
		const char *text;
	} all[] = {
		{"skl::INST_RETIRED:ANY_P:precise=4", 25, "precise must be 0 .. 3"},
		{"cycles:cpu=2147483647", 8, "cpu must be 0 .. 2147483646"},
		{"cycles:period=0", 8, "period must not be 0"},
		{"cycles:freq=0", 8, "freq must not be 0"},
		{"cycles:period=5:freq=5", 17, "either period= or freq=, not both"},
		{"cycles:freq=5:period=5", 15, "either period= or freq=, not both"},
		{"icl::TOPDOWN_M:BACKEND_BOUND:excl", 30, "this umask takes no modifiers"},
	};
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT, U);

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};

		CHECK(tach_event_encode(all[i].string, &opt, &e, &err) == TACH_ERR_ATTR_VALUE &&
			      err.column == all[i].column && !strcmp(err.text, all[i].text),
		      "%s: column %d: %s", all[i].string, err.column, err.text);
	}
}

/* The caller's attr already samples. */
static void callers_sampling(void)
{
	static const struct {
		int freq, period;
		const char *string;
		int code;
	} all[] = {
		{0, 1, "cycles:period=5", 0},
		{0, 1, "cycles:freq=5", TACH_ERR_ATTR_VALUE},
		{1, 0, "cycles:period=5", TACH_ERR_ATTR_VALUE},
		{1, 0, "cycles:freq=5", 0},
		{0, 1, "cycles", 0},
		{1, 0, "cycles", 0},
	};
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT, U);

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach__caller caller = {.freq = all[i].freq, .period = all[i].period};
		struct tach_event e = {0};
		int rc = tach__event_encode(all[i].string, &opt, &caller, &e, NULL);

		CHECK(rc == all[i].code, "%s beside freq %d period %d: %d", all[i].string,
		      all[i].freq, all[i].period, rc);
	}
}

/* ---- the counters that may count the event ---- */

static void counters(void)
{
	static const struct {
		const char *pmu, *event, *umasks[3];
		uint64_t counters;
	} all[] = {
		{"snb", "RESOURCE_STALLS", {NULL}, 0xff},
		{"snb", "RESOURCE_STALLS", {"LB"}, 0xf},
		{"snb", "RESOURCE_STALLS", {"FCSW"}, 0xff},
		{"snb", "RESOURCE_STALLS", {"LB", "FCSW"}, 0xf},
		{"snb", "RESOURCE_STALLS", {"FCSW", "LB"}, 0xf},
		/*
		 * If two umasks share no counter, the first umask's counters stay; dispatch
		 * reports the conflict.
		 */
		{"snb", "CPU_CLK_UNHALTED", {"REF_TSC", "THREAD"}, 0x400000000},
		{"snb", "CPU_CLK_UNHALTED", {"THREAD", "REF_TSC", "THREAD_ANY"}, 0x200000000},
		{"snb", "CPU_CLK_UNHALTED", {"REF_P", "THREAD", "REF_XCLK"}, 0xf},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int pmu = tach__pmu_find(all[i].pmu, strlen(all[i].pmu));
		struct tach__work w = {0};

		w.got.event = tach__event_at(
			pmu, tach__event_find(pmu, all[i].event, strlen(all[i].event)));
		for (; w.got.nrows < 3 && all[i].umasks[w.got.nrows]; w.got.nrows++)
			w.got.rows[w.got.nrows] = (uint16_t)tach__umask_find(
				w.got.event, all[i].umasks[w.got.nrows],
				strlen(all[i].umasks[w.got.nrows]));
		CHECK(tach__counters(&w) == all[i].counters, "%zu: %llx", i,
		      (unsigned long long)tach__counters(&w));
	}
}

/* ---- perf_event_attr ---- */

static void attr_by_size(void)
{
	static const uint32_t sizes[] = {0, PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1 - 1,
					 PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2};
	struct tach_event e = {.size = sizeof e,
			       .type = 7,
			       .config = 1,
			       .config1 = 2,
			       .config2 = 3,
			       .precise = 3};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (uint32_t has = 0; has < 4; has++) {
			struct perf_event_attr attr = {.size = sizes[i]};
			int third = sizes[i] >= PERF_ATTR_SIZE_VER1 && has & 2;

			e.has = has;
			CHECK(tach_event_attr(&e, &attr) == 0);
			CHECK(attr.type == 7 && attr.config == 1 && !attr.precise_ip &&
				      attr.config1 == (has & 1 ? 2 : 0) &&
				      attr.config2 == (third ? 3 : 0),
			      "%u %x: %llu %llu", sizes[i], has,
			      (unsigned long long)attr.config1,
			      (unsigned long long)attr.config2);
		}
}

static void attr_bits(void)
{
	struct tach_event e = {.size = sizeof e};
	struct perf_event_attr attr, expected;

	e.has = TACH_EVENT_HAS_PRECISE | TACH_EVENT_HAS_EXCLUSIVE | TACH_EVENT_HAS_PERIOD;
	e.precise = 2;
	e.period = 1234;
	for (int bit = 0; bit < 6; bit++) {
		memset(&attr, 0, sizeof attr);
		expected = attr;
		e.exclude_user = bit == 0;
		e.exclude_kernel = bit == 1;
		e.exclude_hv = bit == 2;
		e.exclude_host = bit == 3;
		e.exclude_guest = bit == 4;
		e.pinned = bit == 5;
		expected.exclude_user = bit == 0;
		expected.exclude_kernel = bit == 1;
		expected.exclude_hv = bit == 2;
		expected.exclude_host = bit == 3;
		expected.exclude_guest = bit == 4;
		expected.pinned = bit == 5;
		expected.precise_ip = 2;
		expected.exclusive = 1;
		expected.sample_period = 1234;
		CHECK(tach_event_attr(&e, &attr) == 0 &&
			      memcmp(&attr, &expected, sizeof attr) == 0,
		      "bit %d", bit);
	}
	/* The caller's attr samples by frequency; the event may also sample by frequency. */
	memset(&attr, 0, sizeof attr);
	attr.freq = 1;
	attr.sample_freq = 50;
	CHECK(tach_event_attr(&e, &attr) == TACH_ERR_ATTR_VALUE);
	e.has = TACH_EVENT_HAS_FREQ;
	CHECK(tach_event_attr(&e, &attr) == 0 && attr.freq && attr.sample_freq == 1234);
	attr.freq = 0;
	attr.sample_period = 9;
	CHECK(tach_event_attr(&e, &attr) == TACH_ERR_ATTR_VALUE);
	e.has = TACH_EVENT_HAS_PERIOD;
	CHECK(tach_event_attr(&e, &attr) == 0 && !attr.freq && attr.sample_period == 1234);
}

/* ---- names that are cut, arguments that are invalid ---- */

static void cut_names(void)
{
	static const char behind[] = "/:u=1:k=0:h=0:precise=0:excl=0:mg=0:mh=1";
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT, U);

	for (size_t length = TACH_EVENT_NAME_MAX - 2; length < TACH_EVENT_NAME_MAX + 2;
	     length++) {
		char string[TACH_EVENT_NAME_MAX + 8] = "cpu/config=1,name=";
		size_t in_front = length - strlen(behind);
		struct tach_event e = {0};

		memset(string + strlen(string), 'x', in_front - strlen(string));
		string[in_front] = '/';
		CHECK(tach_event_encode(string, &opt, &e, NULL) == 0);
		CHECK((e.has & TACH_EVENT_HAS_CUT_NAME) ==
			      (length < TACH_EVENT_NAME_MAX ? 0 : TACH_EVENT_HAS_CUT_NAME),
		      "%zu: %x", length, e.has);
		CHECK(strlen(e.name) ==
			      (length < TACH_EVENT_NAME_MAX ? length : TACH_EVENT_NAME_MAX - 1),
		      "%zu: %zu", length, strlen(e.name));
	}
}

static void wrong_options(void)
{
	static const struct {
		const char *string;
		uint32_t privilege;
		int os, pmu, code;
		const char *text;
	} all[] = {
		{NULL, U, 2, -1, TACH_ERR_INVAL, "no string"},
		{"cycles", U | 0x60, 2, -1, TACH_ERR_INVAL, "unknown privilege level 0x60"},
		{"cycles", 0x1f, 2, -1, 0, ""},
		{"cycles", U, -1, -1, TACH_ERR_NOTSUPP, "no such form of encoding: -1"},
		{"cycles", U, 3, -1, TACH_ERR_NOTSUPP, "no such form of encoding: 3"},
		{"cycles", U, 0, -1, 0, ""},
		{"cycles", U, 2, -2, TACH_ERR_INVAL, "no PMU has number -2"},
		{"cycles", U, 2, 0, 0, ""},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_encode_options opt = options(all[i].os, all[i].privilege);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc;

		opt.pmu = all[i].pmu;
		rc = tach_event_encode(all[i].string, &opt, &e, &err);
		CHECK(rc == all[i].code && err.line == 0 && err.column == 0 &&
			      strcmp(err.text, all[i].text) == 0,
		      "%zu: %d, %d:%d: %s", i, rc, err.line, err.column, err.text);
	}
}

/*
 * A later version's struct: fields that this version does not know become 0, and so do codes
 * that are not there.
 */
static void larger_struct(void)
{
	struct {
		struct tach_event event;
		char more[16];
	} larger, zero;
	struct tach_encode_options opt = options(TACH_OS_PERF_EXT, U);
	struct tach_event e = {0};
	struct tach__work w;

	memset(&zero, 0, sizeof zero);
	memset(&larger, 0x5a, sizeof larger);
	larger.event.size = sizeof larger;
	CHECK(tach_event_encode("cycles", &opt, &larger.event, NULL) == 0);
	e.size = sizeof e;
	CHECK(tach_event_encode("cycles", &opt, &e, NULL) == 0 && e.size == sizeof e);
	CHECK(larger.event.size == sizeof larger &&
	      memcmp(&larger.event.pmu, &e.pmu, sizeof e - sizeof e.size) == 0 &&
	      memcmp(larger.more, zero.more, sizeof larger.more) == 0);
	memset(&w, 0x5a, sizeof w);
	memset(&w.ask.caller, 0, sizeof w.ask.caller);
	CHECK(tach__encode(&w, "skl::INST_RETIRED:ANY_P", &opt, NULL) == 0);
	tach__publish(&w, &e);
	CHECK(e.ncodes == 1 && e.codes[0] == w.out.codes[0]);
	for (int i = 1; i < TACH_EVENT_CODES_MAX; i++)
		CHECK(e.codes[i] == 0, "%d", i);
}

int main(void)
{
	CASE(perfs_fields);
	CASE(refused_values);
	CASE(callers_sampling);
	CASE(counters);
	CASE(attr_by_size);
	CASE(attr_bits);
	CASE(cut_names);
	CASE(wrong_options);
	CASE(larger_struct);
	return check_done();
}

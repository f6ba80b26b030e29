/* SPDX-License-Identifier: MIT */
/* DEVICE/TERM,.../: formats and events of sysfs and the built-in ones, letters, refusals. */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-terms-XXXXXX";

static struct tach_encode_options options(const char *host)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_PERF_EXT;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = host;
	opt.sysfs = root;
	opt.tracefs = root;
	return opt;
}

#define TEN "abcdefghij"
/* With "format/" before it, this is the longest allowed path. */
#define LONGEST TEN TEN TEN TEN TEN TEN TEN TEN "abcdefgh"

static const struct {
	const char *term, *holds;
} formats[] = {
	{"low", "config:0-7"},	   {"split", "config:0-3,60-63"},
	{"bit", "config:9"},	   {"bits", "config:12,14,16-17"},
	{"one", "config1:0-63"},   {"two", "config2:8-15"},
	{"three", "config3:0-7"},  {"other", "konfig:0-7"},
	{"nothing", ""},	   {"bare", "config"},
	{"single", "c"},	   {"beyond", "config:0-64"},
	{"last", "config:63"},	   {"turned", "config:3-2"},
	{"junk", "config:0-7;"},   {"umask", "config:8-15"},
	{".hidden", "config:0-7"}, {"sub/slash", "config:0-7"},
	{LONGEST, "config:0-7"},   {LONGEST "x", "config:0-7"},
};
static const struct {
	const char *event, *holds;
} events[] = {
	{"plain", "low=0x12,bit=1"},
	{"deep", "plain,umask=3"},
	{"deeper", "deep"},
	{"flag", "bit"},
	{"sample", "low=1,period=77,name=x"},
	{"path", "sub/slash=1"},
	{"hollow", ""},
	{"wrong", "low=1,nosuch=1"},
};

static void make_devices(void)
{
	char path[256];

	root_put(root, "box/type", "0\n");
	root_put(root, "odd/type", "35\n");
	root_put(root, "cpu_core/type", "7\n");
	root_put(root, "cpu_core/events/mem-loads", "event=0xcd,umask=0x1\n");
	root_put(root, "cpu_atom/type", "8\n");
	for (int i = 9; i < 11; i++) {
		snprintf(path, sizeof path, "uncore_kind_%d/type", i);
		root_put(root, path, "%d\n", i + 52);
		snprintf(path, sizeof path, "uncore_kind_%d/format/low", i);
		root_put(root, path, "config:0-7\n");
	}
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		snprintf(path, sizeof path, "odd/format/%s", formats[i].term);
		root_put(root, path, "%s\n", formats[i].holds);
	}
	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		snprintf(path, sizeof path, "odd/events/%s", events[i].event);
		root_put(root, path, "%s\n", events[i].holds);
	}
}

enum {
	HAS1 = TACH_EVENT_HAS_CONFIG1,
	HAS2 = TACH_EVENT_HAS_CONFIG2,
	PERIOD = TACH_EVENT_HAS_PERIOD,
	FREQ = TACH_EVENT_HAS_FREQ,
};
#define ALL UINT64_MAX

static void device_terms_are_encoded(void)
{
	static const struct {
		const char *host, *string;
		uint32_t type, has;
		uint64_t config, config1, config2, period;
	} good[] = {
		{"skl", "odd/low=0x12/", 35, 0, 0x12, 0, 0, 0},
		{"skl", "odd/low=255,bit/", 35, 0, 0x2ff, 0, 0, 0},
		{"skl", "odd/split=0xab/", 35, 0, 0xa00000000000000b, 0, 0, 0},
		{"skl", "odd/bits=0xf/", 35, 0, 0x35000, 0, 0, 0},
		{"skl", "odd/bits=0x6/", 35, 0, 0x14000, 0, 0, 0},
		{"skl", "odd/last/", 35, 0, 1ull << 63, 0, 0, 0},
		{"skl", "odd/config=0xffff,low=0,bit=0/", 35, 0, 0xfd00, 0, 0, 0},
		{"skl", "odd/one=0xffffffffffffffff/", 35, HAS1, 0, ALL, 0, 0},
		{"skl", "odd/two=0x81/", 35, HAS2, 0, 0, 0x8100, 0},
		{"skl", "odd/low=1,one=2,two=3/", 35, HAS1 | HAS2, 1, 2, 0x300, 0},
		{"skl", "odd/CONFIG=5,config1=6,config2=7/", 35, HAS1 | HAS2, 5, 6, 7, 0},
		{"skl", "odd/config1=0/", 35, HAS1, 0, 0, 0, 0},
		{"skl", "odd/low=1,/", 35, 0, 1, 0, 0, 0},
		{"skl", "odd//", 35, 0, 0, 0, 0, 0},
		{"skl", "odd/" LONGEST "=7/", 35, 0, 7, 0, 0, 0},
		{"skl", "odd/name=low=3,bit/", 35, 0, 0x200, 0, 0, 0},
		{"skl", "odd/name='low=3,low=4',bit/", 35, 0, 0x200, 0, 0, 0},
		{"skl", "odd/name='low=3,bit/", 35, 0, 0x200, 0, 0, 0},
		{"skl", "odd/name='/", 35, 0, 0, 0, 0, 0},
		{"skl", "odd/period=1000/", 35, PERIOD, 0, 0, 0, 1000},
		{"skl", "odd/freq=99,low=1/", 35, FREQ, 1, 0, 0, 99},
		{"skl", "odd/plain/", 35, 0, 0x212, 0, 0, 0},
		{"skl", "odd/plain,low=1/", 35, 0, 0x201, 0, 0, 0},
		{"skl", "odd/deep/", 35, 0, 0x312, 0, 0, 0},
		{"skl", "odd/flag/", 35, 0, 0x200, 0, 0, 0},
		{"skl", "odd/sample/", 35, PERIOD, 1, 0, 0, 77},
		/* A device has its own type, even if that is 0; a core's PMU may have none. */
		{"skl", "box/config=3/", 0, 0, 3, 0, 0, 0},
		{"skl", "cpu/config=3/", 4, 0, 3, 0, 0, 0},
		/* The machine that TACH_PMU names has built-in formats. */
		{"skl", "cpu/event=0xc0,umask=0x1,inv,edge/", 4, 0, 0x8401c0, 0, 0, 0},
		{"skl", "cpu/event=0xc0,umask=0x1ff/", 4, 0, 0x1000000ffc0, 0, 0, 0},
		{"skl", "cpu/event=0xb7,offcore_rsp=0x10003/", 4, HAS1, 0xb7, 0x10003, 0, 0},
		{"amd64_fam19h_zen3", "cpu/event=0xfff/", 4, 0, 0xf000000ff, 0, 0, 0},
		{"arm_n1", "armv8_pmuv3_0/event=0x11/", 4, 0, 0x11, 0, 0, 0},
		{"arm_n1", "armv8/event=0x11/", 4, 0, 0x11, 0, 0, 0},
		{"", "cpu_lowpower/event=0x11/", 4, 0, 0x11, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct tach_encode_options opt = options(good[i].host);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(good[i].string, &opt, &e, &err);

		CHECK(rc == 0 && e.type == good[i].type && e.has == good[i].has, "%s: %s%u %x",
		      good[i].string, err.text, e.type, e.has);
		CHECK(e.config == good[i].config && e.config1 == good[i].config1 &&
			      e.config2 == good[i].config2 && e.period == good[i].period,
		      "%s: %llx %llx %llx", good[i].string, (unsigned long long)e.config,
		      (unsigned long long)e.config1, (unsigned long long)e.config2);
		opt.os = TACH_OS_NONE;
		rc = tach_event_encode(good[i].string, &opt, &e, &err);
		CHECK(rc == 0 && e.ncodes == 1 && e.codes[0] == good[i].config, "%s",
		      good[i].string);
	}
}

#define NO_TERM(term)                                                                          \
	"odd has no term '" term                                                               \
	"'; expected event=, umask=, config=, or a name from its sysfs folders format and "    \
	"events"
#define LONG	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"
#define LETTERS "expected letters out of u k h G H p P D e S W I X b, or :"

static void refused(void)
{
	static const struct {
		const char *string;
		int code, column;
		const char *text;
	} bad[] = {
		{"odd/low=256/", TACH_ERR_ATTR_VALUE, 5, "low has the bits config:0-7 only"},
		{"odd/bit,low=256/", TACH_ERR_ATTR_VALUE, 9,
		 "low has the bits config:0-7 only"},
		{"odd/bit=2/", TACH_ERR_ATTR_VALUE, 5, "bit has the bits config:9 only"},
		{"odd/three=1/", TACH_ERR_NOTSUPP, 5,
		 "three lies in the word config3, which only sampling uses: leave it out"},
		{"odd/other=1/", TACH_ERR_ATTR_VALUE, 5, "other has the bits konfig:0-7 only"},
		{"odd/bare=1/", TACH_ERR_ATTR_VALUE, 5, "bare has the bits config only"},
		{"odd/single=1/", TACH_ERR_ATTR_VALUE, 5, "single has the bits c only"},
		{"odd/beyond=1/", TACH_ERR_ATTR_VALUE, 5,
		 "beyond has the bits config:0-64 only"},
		{"odd/turned=0/", TACH_ERR_ATTR_VALUE, 5,
		 "turned has the bits config:3-2 only"},
		{"odd/junk=1/", TACH_ERR_ATTR_VALUE, 5, "junk has the bits config:0-7; only"},
		{"odd/low=0x1z/", TACH_ERR_ATTR_VALUE, 5, "'0x1z' is not a number"},
		{"odd/low=/", TACH_ERR_ATTR_VALUE, 5, "'' is not a number"},
		{"odd/low=18446744073709551616/", TACH_ERR_ATTR_VALUE, 5,
		 "'18446744073709551616' is not a number"},
		{"odd/config/", TACH_ERR_ATTR_VALUE, 5, "config takes a number"},
		{"odd/config1=x/", TACH_ERR_ATTR_VALUE, 5, "config1 takes a number"},
		{"odd/config2/", TACH_ERR_ATTR_VALUE, 5, "config2 takes a number"},
		{"odd/period/", TACH_ERR_ATTR_VALUE, 5, "period takes a number above 0"},
		{"odd/period=0/", TACH_ERR_ATTR_VALUE, 5, "period takes a number above 0"},
		{"odd/freq=x/", TACH_ERR_ATTR_VALUE, 5, "freq takes a number above 0"},
		{"odd/,low=1/", TACH_ERR_SYNTAX, 5, "a term is expected: NAME=VALUE"},
		{"odd/=1/", TACH_ERR_SYNTAX, 5, "a term is expected: NAME=VALUE"},
		{"odd/nosuch=1/", TACH_ERR_ATTR, 5, NO_TERM("nosuch")},
		{"odd/" LONG "=1/", TACH_ERR_ATTR, 5,
		 NO_TERM("abcdefghijklmnopqrstuvwxyzabcdefgh"
			 "ijklmnopqrstuvwxyzabcdefgh")},
		{"odd/low=1/:c=1", TACH_ERR_ATTR, 12,
		 "odd/low=1/ has no umask or modifier 'c'"},
		{"r1:c=1", TACH_ERR_ATTR, 4, "r1 has no umask or modifier 'c'"},
		{"odd/plain=1/", TACH_ERR_ATTR, 5, NO_TERM("plain")},
		{"odd/nothing=1/", TACH_ERR_ATTR, 5, NO_TERM("nothing")},
		{"odd/hollow/", TACH_ERR_ATTR, 5, NO_TERM("hollow")},
		{"odd/bit,wrong/", TACH_ERR_ATTR, 9, NO_TERM("nosuch")},
		{"odd/bit,deeper/", TACH_ERR_ATTR, 9, NO_TERM("plain")},
		{"odd/path/", TACH_ERR_ATTR, 5, NO_TERM("sub/slash")},
		{"odd/.hidden=1/", TACH_ERR_ATTR, 5, NO_TERM(".hidden")},
		{"box/low=1/", TACH_ERR_ATTR, 5, NULL},
		{"armv/event=1/", TACH_ERR_NOTFOUND, 1,
		 "no device 'armv' in /sys/bus/event_source/devices"},
		{"cpux/event=1/", TACH_ERR_NOTFOUND, 1,
		 "no device 'cpux' in /sys/bus/event_source/devices"},
		{"odd/low=1", TACH_ERR_SYNTAX, 10, "the closing '/' is missing"},
		{"odd/low=1/q", TACH_ERR_ATTR, 11, LETTERS},
		{"odd/low=1/uq", TACH_ERR_ATTR, 12, LETTERS},
		{"odd/low=1/pppp", TACH_ERR_ATTR_VALUE, 14, "precise must be 0 .. 3"},
		{"odd/low=1/u:q", TACH_ERR_ATTR, 13, NULL},
		{"odd/low=1,period=5/:freq=5", TACH_ERR_ATTR_VALUE, 21,
		 "either period= or freq=, not both"},
	};
	struct tach_encode_options opt = options("skl");
	struct tach_event e = {0};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		int rc = tach_event_encode(bad[i].string, &opt, &e, &err);

		CHECK(rc == bad[i].code && err.column == bad[i].column &&
			      (!bad[i].text || strcmp(err.text, bad[i].text) == 0),
		      "%s: %d, column %d: %s", bad[i].string, rc, err.column, err.text);
	}
	/* If the path is too long, no file is read. */
	CHECK(tach_event_encode("odd/" LONGEST "x=7/", &opt, &e, NULL) == TACH_ERR_ATTR);
}

/* Letters and modifiers follow the last slash. */
static void letters(void)
{
	static const struct {
		const char *letters, *spelled;
	} good[] = {
		{"", "u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1"},
		{"u", "u=1:k=0:h=0:precise=0:excl=0:mg=0:mh=1"},
		{"k", "u=0:k=1:h=0:precise=0:excl=0:mg=0:mh=1"},
		{"hu", "u=1:k=0:h=1:precise=0:excl=0:mg=0:mh=1"},
		{"G", "u=1:k=1:h=0:precise=0:excl=0:mg=1:mh=0"},
		{"H", "u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1"},
		{"HG", "u=1:k=1:h=0:precise=0:excl=0:mg=1:mh=1"},
		{"p", "u=1:k=1:h=0:precise=1:excl=0:mg=0:mh=1"},
		{"pup", "u=1:k=0:h=0:precise=2:excl=0:mg=0:mh=1"},
		{"ppp", "u=1:k=1:h=0:precise=3:excl=0:mg=0:mh=1"},
		{"PSWI", "u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1"},
		{"De", "u=1:k=1:h=0:precise=0:excl=1:mg=0:mh=1:pinned=1"},
		{":k", "u=0:k=1:h=0:precise=0:excl=0:mg=0:mh=1"},
		{"u:k:cpu=3", "u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1:cpu=3"},
		{"p:u", "u=1:k=0:h=0:precise=1:excl=0:mg=0:mh=1"},
		{"u,cycles", "u=1:k=0:h=0:precise=0:excl=0:mg=0:mh=1"},
	};
	struct tach_encode_options opt = options("skl");
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event e = {0};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		char string[64], name[128];

		snprintf(string, sizeof string, "odd/low=1/%s", good[i].letters);
		snprintf(name, sizeof name, "odd/low=1/:%s", good[i].spelled);
		CHECK(tach_event_encode(string, &opt, &e, &err) == 0 && !strcmp(e.name, name),
		      "%s: %s%s", string, err.text, e.name);
	}
	/*
	 * Raw words have no privilege levels; they accept attributes that do not change the
	 * counted event.
	 */
	opt.os = TACH_OS_NONE;
	CHECK(tach_event_encode("odd/low=1/S", &opt, &e, NULL) == 0);
	CHECK(tach_event_encode("odd/low=1/u", &opt, &e, &err) == TACH_ERR_ATTR &&
		      err.column == 11,
	      "%d", err.column);
}

/* At most 64 attributes are allowed; each letter counts as one. */
static void many_letters(void)
{
	static const struct {
		const char *first, *then;
		int times, code;
	} strings[] = {
		{"", "u", 64, 0},   {"", "u", 65, TACH_ERR_ATTR},
		{"p", "u", 63, 0},  {"p", "u", 64, TACH_ERR_ATTR},
		{"", ":u", 64, 0},  {"", ":u", 65, TACH_ERR_TOOMANY},
		{"u", ":u", 63, 0}, {"u", ":u", 64, TACH_ERR_TOOMANY},
		{"p", ":u", 63, 0}, {"p", ":u", 64, TACH_ERR_TOOMANY},
	};
	struct tach_encode_options opt = options("skl");

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		char string[256] = "odd/low=1/";
		struct tach_event e = {0};
		int rc;

		strcat(string, strings[i].first);
		for (int n = 0; n < strings[i].times; n++)
			strcat(string, strings[i].then);
		rc = tach_event_encode(string, &opt, &e, NULL);
		CHECK(rc == strings[i].code, "%s: %d", string, rc);
		CHECK(rc || (e.exclude_kernel && e.precise == (*strings[i].first == 'p')), "%s",
		      string);
	}
}

/* perf's forms between the slashes of a core's device: codes, rows, generic events. */
static void events_by_name(void)
{
	static const struct {
		const char *host, *string;
		uint32_t type, has;
		uint64_t config, config1;
	} good[] = {
		{"skl", "cpu/r1a8/", 4, 0, 0x1a8, 0},
		{"skl", "cpu/r0x1a8/k", 4, 0, 0x1a8, 0},
		{"skl", "cpu/cycles/", 0, 0, 0, 0},
		{"skl", "cpu/instructions,name=x/u", 0, 0, 1, 0},
		{"skl", "cpu/L1-dcache-load-misses/", 3, 0, 0x10000, 0},
		{"skl", "cpu/INST_RETIRED.ANY/", 4, 0, 0xc0, 0},
		{"skl", "cpu/uops_issued.any,cmask=1,inv/", 4, 0, 0x180010e, 0},
		{"skl", "cpu/OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE/", 4, HAS1, 0x1b7,
		 0x10001},
		{"skl", "cpu/period=9,cycles/", 0, PERIOD, 0, 0},
		/* A machine with two core types: the device's number selects one. */
		{"adl_glc", "cpu_core/cycles/", 0, 0, 7ull << 32, 0},
		{"adl_glc", "cpu_core/r1a/", 7, 0, 0x1a, 0},
		{"adl_glc", "cpu_core/INST_RETIRED.ANY/", 7, 0, 0xc0, 0},
		{"adl_glc", "cpu_atom/L1-icache-loads/", 3, 0, 8ull << 32 | 1, 0},
		{"adl_grt", "cpu_atom/TOPDOWN_RETIRING.ALL/", 8, 0, 0xc2, 0},
		/* A name in sysfs comes first. */
		{"adl_glc", "cpu_core/mem-loads/", 7, 0, 0x1cd, 0},
		{"apple_avalanche", "apple_avalanche_pmu/r90/u", 4, 0, 0x90, 0},
		{"arm_n1", "armv8_pmuv3_0/CPU_CYCLES/", 4, 0, 0x11, 0},
		/* perf's names of boxes: an indexed name means the first box. */
		{"skl", "kind/low=3/", 61, 0, 3, 0},
		{"skl", "*kind_?/low=3/", 61, 0, 3, 0},
		{"skl", "kind_10/low=3/", 62, 0, 3, 0},
	};
	static const struct {
		const char *string;
		int column;
		const char *text;
	} bad[] = {
		{"cpu/cycles,cmask=1/", 12, "one of perf's generic events takes no bits"},
		{"cpu/cmask=1,cycles/", 13, "one of perf's generic events takes no bits"},
		{"cpu/cycles,config1=1/", 12, "one of perf's generic events takes no bits"},
		{"cpu/cycles=1/", 5, "cpu has no term 'cycles'"},
		{"cpu/page-faults/", 5, "cpu has no term 'page-faults'"},
		{"cpu/INST_RETIRED:ANY/", 5, "cpu has no term 'INST_RETIRED:ANY'"},
		{"cpu/rxyz/", 5, "cpu has no term 'rxyz'"},
		{"cpu_core/INST_RETIRED.ANY/", 10, "cpu_core has no term 'INST_RETIRED.ANY'"},
		{"odd/cycles/", 5, "odd has no term 'cycles'"},
		{"kin/low=3/", 1, "no device 'kin'"},
		{"cycles:R", 8, "R asks for the latency of retirement"},
		{"INST_RETIRED.ANY:uR", 18, "R asks for the latency of retirement"},
		{"cpu/cycles/R", 12, "R asks for the latency of retirement"},
		{"cycles:h", 8, "h: this event cannot be counted at the hypervisor's level"},
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct tach_encode_options opt = options(good[i].host);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0}, again = {0};
		int rc = tach_event_encode(good[i].string, &opt, &e, &err);

		CHECK(rc == 0 && e.type == good[i].type && e.has == good[i].has &&
			      e.config == good[i].config && e.config1 == good[i].config1,
		      "%s: %s%u %x %llx %llx", good[i].string, err.text, e.type, e.has,
		      (unsigned long long)e.config, (unsigned long long)e.config1);
		CHECK(tach_event_encode(e.name, &opt, &again, NULL) == 0 &&
			      strcmp(e.name, again.name) == 0 && e.type == again.type &&
			      e.config == again.config && e.config1 == again.config1,
		      "%s: %s", e.name, again.name);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_encode_options opt = options("skl");
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(bad[i].string, &opt, &e, &err);

		CHECK(rc && err.column == bad[i].column &&
			      strncmp(err.text, bad[i].text, strlen(bad[i].text)) == 0,
		      "%s: %d, column %d: %s", bad[i].string, rc, err.column, err.text);
	}
}

/* EVENT/name=x/ means EVENT, unless a device has this name. */
static void name_term_is_dropped(void)
{
	static const char *const same[][2] = {
		{"cycles/name=x/", "cycles"},
		{"cycles/name=x/u", "cycles:u"},
		{"cycles/name=x/:u", "cycles:u"},
		{"cycles/period=5,name=x/k", "cycles:k:period=5"},
		{"cycles/name=x,freq=7/", "cycles:freq=7"},
		{"cycles/name='a,b'/", "cycles"},
		{"cycles//u", "cycles:u"},
	};
	static const char *const bad[] = {
		"cycles/",
		"cycles/u",
		"/name=x/u",
		"cycles/name/",
		"cycles/low=1/",
		"cycles/period/",
		"cycles/freq=5,low=1/",
		"cycles/perio=5/",
	};
	struct tach_encode_options opt = options("skl");
	struct tach_event e = {0}, other = {0};

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		CHECK(tach_event_encode(same[i][0], &opt, &e, NULL) == 0 &&
			      tach_event_encode(same[i][1], &opt, &other, NULL) == 0 &&
			      memcmp(&e, &other, sizeof e) == 0,
		      "%s: %s", same[i][0], e.name);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(tach_event_encode(bad[i], &opt, &e, NULL) != 0, "%s: %s", bad[i], e.name);
	/* The longest full name. */
	for (size_t length = TACH_EVENT_NAME_MAX - 4; length < TACH_EVENT_NAME_MAX; length++) {
		char string[TACH_EVENT_NAME_MAX + 1] = "cycles/name=";
		int fits = length <= TACH_EVENT_NAME_MAX - 2;

		memset(string + 12, 'x', length - 13);
		string[length - 1] = '/';
		CHECK(strlen(string) == length);
		CHECK((tach_event_encode(string, &opt, &e, NULL) == 0) == fits, "%zu", length);
	}
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	make_devices();
	CASE(device_terms_are_encoded);
	CASE(refused);
	CASE(letters);
	CASE(many_letters);
	CASE(events_by_name);
	CASE(name_term_is_dropped);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

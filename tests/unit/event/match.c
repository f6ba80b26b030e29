/* SPDX-License-Identifier: MIT */
/* Attributes become picks: aliases, umasks as numbers, values, and picks without a text. */
#include <string.h>
#include "core/event/event.h"
#include "tests/check.h"

static struct tach_encode_options options(int os, uint32_t flags)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = (enum tach_os)os;
	opt.flags = flags;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = "skl";
	opt.sysfs = "/nonexistent";
	opt.tracefs = "/nonexistent";
	return opt;
}

static void named(void)
{
	static const struct {
		uint32_t flags;
		const char *string, *name;
		uint64_t code;
	} good[] = {
		/* Only umasks with modifiers are listed twice. */
		{0, "core::L2_LD:MESI",
		 "core::L2_LD:SELF:ANY:I_STATE:S_STATE:E_STATE:M_STATE:k=1:u=1:e=0:i=0:c=0",
		 0x537f29},
		{0, "core::L2_LD:MESI:SELF:M_STATE",
		 "core::L2_LD:SELF:ANY:I_STATE:S_STATE:E_STATE:M_STATE:k=1:u=1:e=0:i=0:c=0",
		 0x537f29},
		{0, "core::BRANCH_INSTRUCTIONS_RETIRED",
		 "core::BR_INST_RETIRED:ANY:k=1:u=1:e=0:i=0:c=0", 0x5300c4},
		{0, "core::RS_UOPS_DISPATCHED_NONE",
		 "core::RS_UOPS_DISPATCHED:k=1:u=1:e=0:i=1:c=1", 0x1d300a0},
		{0, "core::RS_UOPS_DISPATCHED_NONE:k",
		 "core::RS_UOPS_DISPATCHED:k=1:u=0:e=0:i=1:c=1", 0x1d200a0},
		/*
		 * A word that is both a umask and a modifier: with a value it is the modifier.
		 */
		{0, "p6::L2_LD:M:I", "p6::L2_LD:I:M:k=1:u=1:e=0:i=0:c=0", 0x530929},
		{0, "p6::L2_LD:M:I=1", "p6::L2_LD:M:k=1:u=1:e=0:i=1:c=0", 0xd30829},
		/*
		 * For boxes, a modifier has priority over a umask of the same name; for cores,
		 * the umask has.
		 */
		{TACH_ENCODE_LIBPFM4, "srf::L2_LINES_IN:E",
		 "srf::L2_LINES_IN:E:k=1:u=1:e=0:i=0:c=0", 0x530425},
		{TACH_ENCODE_LIBPFM4, "tgl::LOCK_CYCLES:CACHE_LOCK_DURATION",
		 "tgl::LOCK_CYCLES:CACHE_LOCK_DURATION:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0",
		 0x530263},
		{0, "skl::BR_INST_RETIRED:0X2",
		 "skl::BR_INST_RETIRED:0x2:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0", 0x5302c4},
		/* A modifier given twice with one value; libpfm-4 ignores one of the two. */
		{0, "itanium2::CPU_CYCLES:thr=2:u:u=1:thr=2",
		 "itanium2::CPU_CYCLES:k=0:u=1:thr=2", 0x201228},
		{TACH_ENCODE_LIBPFM4, "itanium2::CPU_CYCLES:thr=2:u:u=1:thr=2",
		 "itanium2::CPU_CYCLES:k=0:u=1:thr=2", 0x201228},
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct tach_encode_options opt = options(0, good[i].flags);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(good[i].string, &opt, &e, &err);

		CHECK(rc == 0 && strcmp(e.name, good[i].name) == 0 &&
			      e.codes[0] == good[i].code,
		      "%s: %s%s %llx", good[i].string, err.text, e.name,
		      (unsigned long long)e.codes[0]);
	}
}

#define FORTY	  "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
#define TWO_KINDS "use one numeric umask, without named umasks"

static void refused(void)
{
	static const struct {
		uint32_t flags;
		const char *string;
		int code, column;
		const char *text;
	} bad[] = {
		{0, "skl::INST_RETIRED:ANY_P:u=" FORTY, TACH_ERR_ATTR_VALUE, 25,
		 "u takes one of y t 1 n f 0, not '" FORTY "'"},
		{0, "skl::INST_RETIRED:ANY_P:u=" FORTY "z", TACH_ERR_ATTR_VALUE, 25,
		 "u takes one of y t 1 n f 0, not '" FORTY "'"},
		{0, "skl::INST_RETIRED:ANY_P:c:e", TACH_ERR_ATTR_VALUE, 25,
		 "c takes a number: c=N, decimal, 0x... or 0..."},
		{0, "netburst::uops_retired:0x1", TACH_ERR_ATTR, 24,
		 "netburst takes no umasks as numbers"},
		{0, "skl::INST_RETIRED:0xzz", TACH_ERR_ATTR, 19, "malformed hexadecimal umask"},
		{0, "skl::INST_RETIRED:0x0=1", TACH_ERR_ATTR_VALUE, 19,
		 "a umask takes no value"},
		{0, "skl::INST_RETIRED:0", TACH_ERR_ATTR, 19,
		 "INST_RETIRED has no umask or modifier '0'"},
		{0, "skl::INST_RETIRED:x0", TACH_ERR_ATTR, 19,
		 "INST_RETIRED has no umask or modifier 'x0'"},
		{0, "skl::BR_INST_RETIRED:0x2:NEAR_CALL", TACH_ERR_ATTR, 26, TWO_KINDS},
		{0, "skl::BR_INST_RETIRED:NEAR_CALL:0x2", TACH_ERR_ATTR, 32, TWO_KINDS},
		{0, "skl::BR_INST_RETIRED:0x2:0x2", TACH_ERR_ATTR, 26, TWO_KINDS},
		{0, "skl::INST_RETIRED::u", TACH_ERR_ATTR, 19,
		 "a umask or modifier is expected here"},
		{0, "skl::INST_RETIRED:ANY_P:c=1:e:c=2", TACH_ERR_ATTR_SET, 31,
		 "given before with another value"},
		{0, "skl::INST_RETIRED:ANY_P:c=1:c=2:c=3", TACH_ERR_ATTR_SET, 29,
		 "given before with another value"},
		{TACH_ENCODE_LIBPFM4, "skl::INST_RETIRED:ANY_P:c=1:c=2", TACH_ERR_ATTR_SET, 29,
		 "given before with another value"},
		/* An alias already contains its modifiers. */
		{0, "core::RS_UOPS_DISPATCHED_NONE:c=2", TACH_ERR_ATTR_SET, 31,
		 "given before with another value"},
		/* An unknown name is reported first. */
		{0, "skl::INST_RETIRED:ANY_P:c=1:c=2:nosuchthing", TACH_ERR_ATTR, 33,
		 "INST_RETIRED has no umask or modifier 'nosuchthing'"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_encode_options opt = options(0, bad[i].flags);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(bad[i].string, &opt, &e, &err);

		CHECK(rc == bad[i].code && err.column == bad[i].column &&
			      strcmp(err.text, bad[i].text) == 0,
		      "%s: %d, column %d: %s", bad[i].string, rc, err.column, err.text);
	}
}

/*
 * Address ranges and opcodes of Itanium are arguments of dispatch; an event string cannot
 * contain them.
 */
static void no_ranges(void)
{
	static const char *const words[] = {"irange", "drange", "opc"};
	const uint32_t all =
		1u << TACH__MOD_IRANGE | 1u << TACH__MOD_DRANGE | 1u << TACH__MOD_OPC;
	struct tach_encode_options opt = options(0, 0);
	uint32_t have = 0;

	for (int pmu = 0; pmu < tach__npmus(); pmu++) {
		if (tach__pmu_at(pmu)->encoding != TACH__IA64_PMC)
			continue;
		for (uint32_t i = 0; i < tach__pmu_at(pmu)->nevents; i++) {
			const struct tach__event *row = tach__event_at(pmu, (int)i);

			if (!(row->mods & all) || row->numasks)
				continue;
			have |= row->mods & all;
			for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
				char string[160];
				struct tach_event e = {0};

				snprintf(string, sizeof string, "%s::%s:%s",
					 tach__str(tach__pmu_at(pmu)->name),
					 tach__str(row->name), words[k]);
				CHECK(tach_event_encode(string, &opt, &e, NULL) ==
					      TACH_ERR_ATTR,
				      "%s", string);
			}
		}
	}
	CHECK(have == all, "%x", have);
}

struct picked {
	const char *pmu, *event;
	struct tach__pick picks[4]; /* number of umasks; their names are in picks */
	unsigned n;
	const char *umask[4];
	int code;
	const char *same; /* the string with the same meaning */
};

#define UMASK                                                                                  \
	{                                                                                      \
		0, 0, 1, TACH__PICK_UMASK                                                      \
	}
#define MODIFIER(name, value)                                                                  \
	{                                                                                      \
		value, TACH__MOD_##name, 1, TACH__PICK_MOD                                     \
	}

/* Rows and modifiers that are given directly encode like the equivalent string. */
static void picked(void)
{
	static const struct picked all[] = {
		{"skl",
		 "BR_INST_RETIRED",
		 {UMASK, MODIFIER(C, 3), MODIFIER(E, 1)},
		 3,
		 {"NEAR_CALL"},
		 0,
		 "skl::BR_INST_RETIRED:NEAR_CALL:c=3:e=1"},
		{"skl",
		 "BR_INST_RETIRED",
		 {MODIFIER(U, 1), UMASK},
		 2,
		 {NULL, "NEAR_CALL"},
		 0,
		 "skl::BR_INST_RETIRED:NEAR_CALL:u"},
		{"skl",
		 "BR_INST_RETIRED",
		 {UMASK, MODIFIER(C, 3), MODIFIER(C, 3)},
		 3,
		 {"NEAR_CALL"},
		 0,
		 "skl::BR_INST_RETIRED:NEAR_CALL:c=3"},
		{"skl",
		 "BR_INST_RETIRED",
		 {UMASK, MODIFIER(C, 3), MODIFIER(C, 4)},
		 3,
		 {"NEAR_CALL"},
		 TACH_ERR_ATTR_SET,
		 NULL},
		{"skl",
		 "BR_INST_RETIRED",
		 {UMASK, MODIFIER(LDLAT, 3)},
		 2,
		 {"NEAR_CALL"},
		 TACH_ERR_ATTR,
		 NULL},
		{"skl",
		 "BR_INST_RETIRED",
		 {MODIFIER(LDLAT, 3), MODIFIER(C, 1)},
		 2,
		 {NULL},
		 TACH_ERR_ATTR,
		 NULL},
		{"skl",
		 "BR_INST_RETIRED",
		 {UMASK, UMASK},
		 2,
		 {"NEAR_CALL", "NEAR_TAKEN"},
		 TACH_ERR_FEATCOMB,
		 NULL},
		/* A umask's alias replaces the umask; an event's alias has other umasks. */
		{"core", "L2_LD", {UMASK}, 1, {"MESI"}, 0, "core::L2_LD:MESI"},
		{"core",
		 "RS_UOPS_DISPATCHED_NONE",
		 {MODIFIER(U, 1)},
		 1,
		 {NULL},
		 0,
		 "core::RS_UOPS_DISPATCHED_NONE:u"},
		{"core",
		 "RS_UOPS_DISPATCHED_NONE",
		 {MODIFIER(C, 2)},
		 1,
		 {NULL},
		 TACH_ERR_ATTR_SET,
		 NULL},
		{"core",
		 "BRANCH_INSTRUCTIONS_RETIRED",
		 {UMASK},
		 1,
		 {NULL},
		 TACH_ERR_UMASK,
		 NULL},
		{"core",
		 "BRANCH_INSTRUCTIONS_RETIRED",
		 {{0}},
		 0,
		 {NULL},
		 0,
		 "core::BR_INST_RETIRED:ANY"},
	};
	struct tach_encode_options opt = options(0, 0);

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct picked *p = &all[i];
		int pmu = tach__pmu_find(p->pmu, strlen(p->pmu));
		int event = tach__event_find(pmu, p->event, strlen(p->event)), rc;
		struct tach__pick picks[4];
		struct tach__work w, other;

		memset(&w, 0, sizeof w);
		memset(&other, 0, sizeof other);
		memcpy(picks, p->picks, sizeof picks);
		for (int k = 0; k < 4; k++)
			if (p->umask[k])
				picks[k].number = (uint16_t)tach__umask_find(
					tach__event_at(pmu, event), p->umask[k],
					strlen(p->umask[k]));
		rc = tach__encode_picks(&w, pmu, event, picks, p->n, &opt);
		CHECK(rc == p->code, "%zu: %s::%s: %d", i, p->pmu, p->event, rc);
		if (rc || !p->same)
			continue;
		CHECK(tach__encode(&other, p->same, &opt, NULL) == 0, "%s", p->same);
		CHECK(w.out.ncodes == 1 && w.out.codes[0] == other.out.codes[0] &&
			      w.got.given == other.got.given &&
			      w.got.event == other.got.event && w.got.nrows == other.got.nrows,
		      "%s: %llx", p->same, (unsigned long long)w.out.codes[0]);
	}
}

int main(void)
{
	CASE(named);
	CASE(refused);
	CASE(no_ranges);
	CASE(picked);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Derived events are expanded: the native events and the formula of each, their names, and the
 * limits. The test replaces the definitions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/derived/derived.h"
#include "tests/check.h"

static struct tach_derived *d;
static struct tach_error err;

static int parameter_value(void *context, const char *name, size_t length, double *value)
{
	*value = *(const double *)context;
	return length == 4 && memcmp(name, "told", 4) == 0 ? 0 : TACH_ERR_NOTFOUND;
}

static double tell = 7;

static void registry(const char *records)
{
	struct tach_derived_options opt = {.size = sizeof opt,
					   .context = &tell,
					   .max_hz = 3e9,
					   .tsc_hz = 2e9,
					   .parameter = parameter_value};

	tach_derived_free(d);
	d = NULL;
	CHECK(tach_derived_create(&opt, &d, NULL) == 0);
	CHECK(tach_derived_load_text(d, "text", records, strlen(records), NULL) > 0, "%s",
	      records);
}

/* "EVENT EVENT: FORMULA" */
static const char *said(const struct tach_expansion *x)
{
	static char text[2000];
	size_t n = 0;

	for (int i = 0; i < tach_expansion_count(x); i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "",
				      tach_expansion_event(x, i));
	n += (size_t)snprintf(text + n, sizeof text - n, ": ");
	tach_formula_print(tach_expansion_formula(x), TACH_FORMULA_INFIX, text + n,
			   sizeof text - n);
	CHECK(!tach_expansion_event(x, -1) &&
	      !tach_expansion_event(x, tach_expansion_count(x)));
	return text;
}

static void becomes(const char *pmu, const char *name, const char *want)
{
	struct tach_expansion *x = NULL;
	int code;

	memset(&err, 0, sizeof err);
	code = tach_derived_expand(d, pmu ? tach_pmu_find(pmu) : -1, name, &x, &err);
	CHECK(code == 0 && !err.text[0], "%s: %s", name, err.text);
	if (code)
		return;
	CHECK(strcmp(said(x), want) == 0, "%s: %s, want %s", name, said(x), want);
	tach_expansion_free(x);
}

static void fails(const char *pmu, const char *name, int want, const char *text)
{
	struct tach_expansion *x = NULL;
	int code;

	memset(&err, 0, sizeof err);
	code = tach_derived_expand(d, pmu ? tach_pmu_find(pmu) : -1, name, &x, &err);
	CHECK(code == want && err.code == want && err.line == 0 && err.column == 0 && !x,
	      "%s: %d at %d:%d", name, code, err.line, err.column);
	CHECK(strncmp(err.text, text, strlen(text)) == 0, "%s: %s", name, err.text);
}

/* Returns the number of events, or an error code. */
static int events_of(const char *formula)
{
	struct tach_expansion *x = NULL;
	int n = tach_derived_expand_formula(d, tach_pmu_find("skl"), formula, &x, &err);

	CHECK((n == 0) == (x != NULL));
	if (x)
		n = tach_expansion_count(x);
	tach_expansion_free(x);
	return n;
}

static void events_and_formulas(void)
{
	registry("EVENT,one,NOT_DERIVED,INST_RETIRED:ANY_P\n"
		 "EVENT,sum,DERIVED_ADD,one,BR_INST_RETIRED:ALL_BRANCHES,one\n"
		 "EVENT,less,DERIVED_SUB,sum,one,one\n"
		 "EVENT,first,DERIVED_CMPD,one,BR_INST_RETIRED:ALL_BRANCHES\n"
		 "EVENT,alone,DERIVED_ADD,one\n"
		 "EVENT,PAPI_TOT_CYC,NOT_DERIVED,CPU_CLK_UNHALTED:THREAD_P\n"
		 "EVENT,ps,DERIVED_PS,PAPI_TOT_CYC,one\n"
		 "EVENT,aps,DERIVED_ADD_PS,PAPI_TOT_CYC,one,sum\n"
		 "EVENT,post,DERIVED_POSTFIX,N1|N0|2|*|-|,one,sum\n"
		 "EVENT,in,DERIVED_INFIX,N1 / (one + told + N0 + one),one,sum\n"
		 "EVENT,clocks,DERIVED_INFIX,max_hz / tsc_hz * elapsed_ns\n");
	becomes("skl", "one", "INST_RETIRED:ANY_P: N0");
	becomes("skl", "sum", "INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES: N0 + N1 + N0");
	becomes("skl", "alone", "INST_RETIRED:ANY_P: N0");
	becomes("skl", "less",
		"INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES: N0 + N1 + N0 - N0 - N0");
	becomes("skl", "first", "INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES: N0");
	becomes("skl", "ps", "INST_RETIRED:ANY_P CPU_CLK_UNHALTED:THREAD_P: N0 * max_hz / N1");
	becomes("skl", "aps",
		"INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES CPU_CLK_UNHALTED:THREAD_P: "
		"(N0 + (N0 + N1 + N0)) * max_hz / N2");
	becomes("skl", "post",
		"INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES: N0 + N1 + N0 - N0 * 2");
	becomes("skl", "in",
		"INST_RETIRED:ANY_P BR_INST_RETIRED:ALL_BRANCHES: "
		"(N0 + N1 + N0) / (N0 + 7 + N0 + N0)");
	becomes("skl", "clocks", ": max_hz / tsc_hz * elapsed_ns");
	becomes(NULL, "one", "INST_RETIRED:ANY_P: N0");
}

static void modifiers(void)
{
	struct tach_pmu_info first = {.size = sizeof first};
	char text[300], want[400];

	registry("EVENT,one,NOT_DERIVED,INST_RETIRED:ANY_P\n"
		 "EVENT,sum,DERIVED_ADD,one:c=2,BR_INST_RETIRED:ALL_BRANCHES\n"
		 "EVENT,cycles,DERIVED_ADD,one,one:i=1\n"
		 "EVENT,over,DERIVED_ADD,sum:u,cycles:u\n"
		 "EVENT,shorter,DERIVED_ADD,one:c=2,one:u\n"
		 "EVENT,colons,NOT_DERIVED,one::k\n");
	becomes("skl", "one:k", "INST_RETIRED:ANY_P:k: N0");
	becomes("skl", "ONE:u:k:c=3", "INST_RETIRED:ANY_P:u:k:c=3: N0");
	becomes("skl", "sum:k",
		"INST_RETIRED:ANY_P:k:c=2 BR_INST_RETIRED:ALL_BRANCHES:k: N0 + N1");
	becomes("skl", "skl::sum",
		"skl::INST_RETIRED:ANY_P:c=2 skl::BR_INST_RETIRED:ALL_BRANCHES: N0 + N1");
	becomes("icl", "SKL::sum:u:k",
		"SKL::INST_RETIRED:ANY_P:u:k:c=2 SKL::BR_INST_RETIRED:ALL_BRANCHES:u:k: N0 + "
		"N1");
	/* With modifiers, the literal event comes first. */
	becomes("skl", "over",
		"INST_RETIRED:ANY_P:u:c=2 BR_INST_RETIRED:ALL_BRANCHES:u cycles:u: "
		"N0 + N1 + N2");
	becomes("skl", "shorter", "INST_RETIRED:ANY_P:c=2 INST_RETIRED:ANY_P:u: N0 + N1");
	fails("skl", "one:nosuch", TACH_ERR_ATTR,
	      "one cannot count 'INST_RETIRED:ANY_P:nosuch': ");
	fails("skl", "one:", TACH_ERR_NOTFOUND, "no derived event 'one:'");
	fails("skl", "one::k", TACH_ERR_NOTFOUND,
	      "no derived event 'one::k' for a CPU that is not "
	      "known");
	fails("skl", "colons", TACH_ERR_NOTFOUND, "colons cannot count 'one::k': ");
	/* The first PMU of the table works like any other. */
	CHECK(tach_pmu_describe(0, &first) == 0);
	snprintf(text, sizeof text, "%s::one", first.name);
	fails("skl", text, TACH_ERR_ATTR, "one cannot count 'INST_RETIRED:ANY_P': ");
	fails(first.name, "nosuch", TACH_ERR_NOTFOUND, "no derived event 'nosuch'");
	CHECK(!strstr(err.text, "not known"), "%s", err.text);
	fails("skl", ":k", TACH_ERR_NOTFOUND, "no derived event ':k'");
	fails("skl", "nosuch::one", TACH_ERR_NOTFOUND,
	      "no derived event 'nosuch::one' for a CPU that is not known");
	/* A CPU's name has 61 bytes at most. */
	for (int more = 0; more < 2; more++) {
		snprintf(text, sizeof text, "%0*d::one", 61 + more, 0);
		snprintf(want, sizeof want, "no derived event '%s'%s", text,
			 more ? "" : " for a CPU that is not known");
		fails("skl", text, TACH_ERR_NOTFOUND, want);
		CHECK(strcmp(err.text, want) == 0, "%s", err.text);
	}
	/* Modifiers have 127 bytes at most. */
	for (int more = 0; more < 2; more++) {
		snprintf(text, sizeof text, "one:c=%0*d", 124 + more, 1);
		if (more)
			fails("skl", text, TACH_ERR_TOOMANY,
			      "more than 127 bytes of modifiers");
		snprintf(want, sizeof want, "INST_RETIRED:ANY_P%s: N0", text + 3);
		if (!more)
			becomes("skl", text, want);
	}
}

/* Events of other PMUs, which files for libpfm-4 may name. */
/* Uses a registry's own definition, with modifiers too, not that of the process's registry. */
static void own_definitions(void)
{
	registry("EVENT,PAPI_TOT_INS,DERIVED_ADD,r01c2,r02c2\n"
		 "EVENT,twice,DERIVED_INFIX,2 * PAPI_TOT_INS:u\n"
		 "EVENT,all,DERIVED_ADD,PAPI_TOT_INS:k,PAPI_TOT_CYC:k\n");
	becomes("skl", "twice", "r01c2:u r02c2:u: 2 * (N0 + N1)");
	becomes("skl", "all", "r01c2:k r02c2:k PAPI_TOT_CYC:k: N0 + N1 + N2");
	becomes("skl", "PAPI_TOT_INS:u", "r01c2:u r02c2:u: N0 + N1");
}

static void names_of_other_pmus(void)
{
	registry("EVENT,generic,DERIVED_SUB,cycles,branches\n"
		 "EVENT,arch,NOT_DERIVED,MISPREDICTED_BRANCH_RETIRED\n"
		 "EVENT,own,NOT_DERIVED,perf::cycles\n"
		 "EVENT,none,NOT_DERIVED,NO_SUCH\n"
		 "EVENT,bad,NOT_DERIVED,INST_RETIRED:nosuch\n");
	becomes("skl", "generic", "cycles branches: N0 - N1");
	becomes("skl", "own", "perf::cycles: N0");
	becomes("skl", "skl::own", "perf::cycles: N0");
	becomes("adl_grt", "arch", "MISPREDICTED_BRANCH_RETIRED: N0");
	fails("amd64_fam19h_zen4", "arch", TACH_ERR_NOTFOUND,
	      "arch cannot count 'MISPREDICTED_BRANCH_RETIRED': ");
	fails("arm_n2", "arch", TACH_ERR_NOTFOUND, "arch cannot count");
	fails("skl", "none", TACH_ERR_NOTFOUND,
	      "none cannot count 'NO_SUCH': no event 'NO_SUCH'");
	fails("skl", "bad", TACH_ERR_ATTR, "bad cannot count 'INST_RETIRED:nosuch': ");
}

/* Equal events count once, in any spelling. */
static void equal_events(void)
{
	registry("EVENT,a,DERIVED_ADD,INST_RETIRED:ANY_P,skl::INST_RETIRED:ANY_P:c=0,r00c0\n"
		 "EVENT,b,DERIVED_ADD,INST_RETIRED:ANY_P:u,INST_RETIRED:ANY_P:k,"
		 "INST_RETIRED:ANY_P:u:k,INST_RETIRED:ANY_P:c=1,INST_RETIRED:ANY_P:c=1:i,"
		 "INST_RETIRED:ANY_P:c=1\n"
		 "EVENT,c,DERIVED_ADD,OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE,"
		 "OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE\n");
	becomes("skl", "a", "INST_RETIRED:ANY_P r00c0: N0 + N0 + N1");
	becomes("skl", "b",
		"INST_RETIRED:ANY_P:u INST_RETIRED:ANY_P:k INST_RETIRED:ANY_P:u:k "
		"INST_RETIRED:ANY_P:c=1 INST_RETIRED:ANY_P:c=1:i: N0 + N1 + N2 + N3 + N4 + N3");
	becomes("skl", "c",
		"OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE "
		"OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE: N0 + N1");
}

static void depth(void)
{
	char text[80 * 64], *at = text;

	at += sprintf(at, "EVENT,e0,NOT_DERIVED,cycles\n");
	for (int i = 1; i <= 64; i++)
		at += sprintf(at, "EVENT,e%d,NOT_DERIVED,e%d\n", i, i - 1);
	registry(text);
	becomes("skl", "e63", "cycles: N0");
	fails("skl", "e64", TACH_ERR_TOOMANY, "e64 is defined through more than 64 levels");
}

/* Each of two formulas has the maximum nesting, but if one contains the other, it has more. */
static void nesting_is_limited_across_formulas(void)
{
	char text[4000], *at = text;

	for (int k = 0; k < 2; k++) {
		at += sprintf(at, "EVENT,%s,DERIVED_INFIX,", k ? "outer" : "inner");
		for (int i = 0; i < 120; i++)
			at += sprintf(at, "N0-(");
		at += sprintf(at, "N0%0*d", 120, 0);
		memset(at - 120, ')', 120);
		at += sprintf(at, ",%s\n", k ? "inner" : "cycles");
	}
	registry(text);
	CHECK(events_of("inner") == 1, "%s", err.text);
	fails("skl", "outer", TACH_ERR_TOOMANY, "outer cannot be computed: ");
}

static void width(void)
{
	for (int more = 0; more < 2; more++) {
		char text[4000], *at = text;
		struct tach_expansion *x = NULL;

		at += sprintf(at, "EVENT,a,DERIVED_ADD");
		for (int i = 0; i < TACH_FORMULA_OPERANDS_MAX - 1; i++)
			at += sprintf(at, ",r%04x", 0x101 + i);
		at += sprintf(at, "\nEVENT,b,DERIVED_ADD,a,r0201%s\n",
			      more ? ",r0202" : ",r0101");
		registry(text);
		if (more)
			fails("skl", "b", TACH_ERR_TOOMANY,
			      "b rests on more than 192 different events");
		else
			CHECK(tach_derived_expand(d, tach_pmu_find("skl"), "b", &x, &err) ==
					      0 &&
				      tach_expansion_count(x) == TACH_FORMULA_OPERANDS_MAX,
			      "%s", err.text);
		if (x)
			CHECK(tach_expansion_event(x, TACH_FORMULA_OPERANDS_MAX - 1) &&
			      !tach_expansion_event(x, TACH_FORMULA_OPERANDS_MAX));
		tach_expansion_free(x);
	}
}

/* A message about a cycle cuts long names, and a long cycle too. */
static void messages_about_cycles_are_cut(void)
{
	char text[2000], want[400];

	snprintf(text, sizeof text,
		 "EVENT,%070d,NOT_DERIVED,b\nEVENT,b,NOT_DERIVED,%070d\n"
		 "EVENT,c,DERIVED_ADD,d,cycles\nEVENT,d,NOT_DERIVED,c\n"
		 "EVENT,%050d1,NOT_DERIVED,%050d2\nEVENT,%050d2,NOT_DERIVED,%050d3\n"
		 "EVENT,%050d3,NOT_DERIVED,%050d4\nEVENT,%050d4,NOT_DERIVED,%050d1\n",
		 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	/* A native event's name means the native event only in the definition of that name. */
	registry("EVENT,INST_RETIRED,NOT_DERIVED,b\nEVENT,b,NOT_DERIVED,INST_RETIRED\n");
	fails("skl", "INST_RETIRED", TACH_ERR_CYCLE,
	      "the definition refers to itself: INST_RETIRED -> b -> INST_RETIRED");
	registry(text);
	fails("skl", "d", TACH_ERR_CYCLE, "the definition refers to itself: d -> c -> d");
	snprintf(want, sizeof want, "the definition refers to itself: b -> %060d -> b", 0);
	fails("skl", "b", TACH_ERR_CYCLE, want);
	CHECK(strcmp(err.text, want) == 0, "%s", err.text);
	snprintf(want, sizeof want,
		 "the definition refers to itself: %050d1 -> %050d2 -> %050d3 -> %034d", 0, 0,
		 0, 0);
	snprintf(text, sizeof text, "%050d1", 0);
	fails("skl", text, TACH_ERR_CYCLE, want);
	CHECK(strcmp(err.text, want) == 0, "%s", err.text);
}

static void formulas(void)
{
	struct tach_expansion *x = NULL;
	const uint64_t n[] = {10, 4};
	static const int number[] = {3, 1};
	const uint64_t all[] = {0, 4, 0, 10};
	struct tach_formula *f = NULL;
	int skl = tach_pmu_find("skl");

	registry("EVENT,one,NOT_DERIVED,INST_RETIRED:ANY_P\n"
		 "EVENT,half,DERIVED_INFIX,one / 2\n"
		 "EVENT,clocks,DERIVED_INFIX,max_hz / tsc_hz * elapsed_ns\n"
		 "EVENT,wrong,DERIVED_INFIX,nosuch + 1\n");
	CHECK(tach_derived_expand_formula(
		      d, skl, "half + told * BR_INST_RETIRED:ALL_BRANCHES - ONE + #/1e9", &x,
		      &err) == 0,
	      "%s", err.text);
	CHECK(x && tach_formula_eval(tach_expansion_formula(x), n, 0, NULL) ==
			      10 / 2 + 7 * 4 - 10 + 3,
	      "%g", x ? tach_formula_eval(tach_expansion_formula(x), n, 0, NULL) : 0);
	CHECK(x && tach_expansion_count(x) == 2 && !tach__expansion_plain(x));
	/* The same with a set's members. */
	CHECK(x && tach__expansion_over(x, number, &f, &err) == 0 &&
		      tach_formula_eval(f, all, 0, NULL) == 10 / 2 + 7 * 4 - 10 + 3,
	      "%s", err.text);
	tach_formula_free(f);
	tach_expansion_free(x);
	x = NULL;
	f = NULL;
	CHECK(tach_derived_expand(d, skl, "clocks", &x, &err) == 0 &&
	      tach__expansion_over(x, number, &f, &err) == 0 &&
	      tach_formula_eval(f, all, 100, NULL) == 150);
	tach_formula_free(f);
	tach_expansion_free(x);
	x = NULL;
	CHECK(tach_derived_expand(d, skl, "one", &x, &err) == 0 &&
	      strcmp(tach__expansion_plain(x), "INST_RETIRED:ANY_P") == 0);
	tach_expansion_free(x);
	x = NULL;
	CHECK(tach_derived_expand(d, skl, "half", &x, &err) == 0 && !tach__expansion_plain(x));
	tach_expansion_free(x);
	x = NULL;
	CHECK(tach_derived_expand_formula(d, skl, "1 +", &x, &err) < 0 && !x &&
		      strncmp(err.text, "the formula cannot be computed: ", 32) == 0,
	      "%s", err.text);
	fails("skl", "wrong", TACH_ERR_NOTFOUND,
	      "wrong cannot be computed: unknown name 'nosuch'");
	CHECK(tach_derived_expand_formula(d, skl, NULL, &x, &err) == TACH_ERR_INVAL &&
	      tach_derived_expand_formula(NULL, skl, "1", &x, &err) == TACH_ERR_INVAL &&
	      tach_derived_expand_formula(d, skl, "1", NULL, &err) == TACH_ERR_INVAL &&
	      err.line == 0 && err.column == 0);
	CHECK(tach_derived_expand(d, skl, NULL, &x, &err) == TACH_ERR_INVAL &&
	      tach_derived_expand(NULL, skl, "one", &x, &err) == TACH_ERR_INVAL &&
	      tach_derived_expand(d, skl, "one", NULL, &err) == TACH_ERR_INVAL &&
	      err.line == 0 && err.column == 0);
}

static void names_in_formulas(void)
{
	char text[4000], name[300], *at;

	snprintf(name, sizeof name, "e%0*d", 254, 0);
	snprintf(text, sizeof text, "EVENT,%s,NOT_DERIVED,cycles\n", name);
	registry(text);
	/* Base events exist only inside a definition; numbers are not names. */
	CHECK(events_of("N0 + 1") == TACH_ERR_SYNTAX && strstr(err.text, "there is no N0 here"),
	      "%s", err.text);
	CHECK(events_of("cycles + N0") == TACH_ERR_SYNTAX &&
		      strstr(err.text, "there is no N0 here"),
	      "%s", err.text);
	/* A formula may contain a name any number of times. */
	at = text;
	for (int i = 0; i < 300; i++)
		at += sprintf(at, "%s%scycles", i ? "+" : "", i == 150 ? "(" : "");
	strcpy(at, ")");
	CHECK(events_of(text) == 1, "%s", err.text);
	/* Different events, up to the maximum number of operands. */
	at = text + sprintf(text, "r0101");
	for (int i = 1; i < TACH_FORMULA_OPERANDS_MAX; i++)
		at += sprintf(at, "+r%04x", 0x101 + i);
	CHECK(events_of(text) == TACH_FORMULA_OPERANDS_MAX, "%s", err.text);
	strcpy(at, "+r0101*told");
	CHECK(events_of(text) == TACH_FORMULA_OPERANDS_MAX, "%s", err.text);
	strcpy(at, "+nosuch");
	CHECK(events_of(text) == TACH_ERR_NOTFOUND && strstr(err.text, "'nosuch'"), "%s",
	      err.text);
	strcpy(at, "+r0001");
	CHECK(events_of(text) == TACH_ERR_TOOMANY && !err.line && !err.column, "%s", err.text);
	/* The maximum length of a definition's formula. */
	CHECK(events_of(name) == 1, "%s", err.text);
	snprintf(text, sizeof text, "%s + r0101", name);
	CHECK(events_of(text) == 2, "%s", err.text);
	strcat(name, "0");
	CHECK(events_of(name) == TACH_ERR_NOTFOUND, "%s", err.text);
}

/*
 * A set looks up a name in the process's registry: 1, 0 if it is not a derived event, or an
 * error code.
 */
static void set_finds_derived_names(void)
{
	static const char text[] = "EVENT,branches,DERIVED_ADD,cycles,INST_RETIRED:ANY_P\n"
				   "EVENT,lost,NOT_DERIVED,NO_SUCH\n";
	static const struct {
		const char *name;
		int code;
	} cases[] = {
		{"branches", 1},     {"branches:u", 0}, {"skl::branches", 1},
		{"ipc:k", 1},	     {"ipc", 1},	{"lost", TACH_ERR_NOTFOUND},
		{"INST_RETIRED", 0}, {"nosuch", 0},	{"ipc:nosuch", TACH_ERR_ATTR},
	};
	struct tach_expansion *none = NULL;
	char wide[600];

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, sizeof text - 1,
				     NULL) == 2);
	snprintf(wide, sizeof wide, "ipc:c=%0590d", 1);
	CHECK(tach__derived_lookup(tach_pmu_find("skl"), wide, strlen(wide), &none, &err) ==
	      TACH_ERR_TOOMANY);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_expansion *x = NULL;
		char longer[40];
		int code;

		/* The given length decides where a name ends. */
		snprintf(longer, sizeof longer, "%sx", cases[i].name);
		code = tach__derived_lookup(tach_pmu_find("skl"), longer, strlen(cases[i].name),
					    &x, &err);
		CHECK(code == cases[i].code && (code == 1) == (x != NULL), "%s: %d",
		      cases[i].name, code);
		if (x)
			tach_expansion_free(x);
	}
}

/* NAME-NAME-...: each part may be a name, and is searched once. */
static void parts_between_minuses_are_searched_once(void)
{
	static const char *const events[] = {"page-faults", "cycles", "instructions"};
	static char formula[20000];
	uint32_t random = 1;
	size_t n = 0;

	registry("EVENT,a-b,NOT_DERIVED,INST_RETIRED:ANY_P\n");
	for (int i = 0; i < 1000; i++)
		n += (size_t)snprintf(formula + n, sizeof formula - n, "%s%s", i ? "-" : "",
				      i % 2 ? "cycles" : "a-b");
	CHECK(events_of(formula) == 2, "%s", err.text);
	n = 0;
	for (int i = 0; i < 64; i++)
		n += (size_t)snprintf(formula + n, sizeof formula - n, "%sINST_RETIRED:c=%d",
				      i ? "-" : "", i + 1);
	CHECK(events_of(formula) == 64, "%s", err.text);
	n = 0;
	for (int i = 0; i < 1000; i++) {
		random = random * 1103515245 + 12345;
		n += (size_t)snprintf(formula + n, sizeof formula - n, "%s%s", i ? "-" : "",
				      events[(random >> 16) % 3]);
	}
	CHECK(events_of(formula) == TACH_ERR_TOOMANY && err.line == 0 && err.column == 0);
	CHECK(strstr(err.text, "2560 parts of its formula up to column ") &&
		      strstr(err.text, "put blanks around '-'"),
	      "%s", err.text);
	for (size_t i = 0; i < n; i++)
		if (formula[i] == '-' && strncmp(formula + i, "-faults", 7) != 0)
			formula[i] = '+';
	CHECK(events_of(formula) == 3, "%s", err.text);
}

int main(void)
{
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	CASE(events_and_formulas);
	CASE(modifiers);
	CASE(own_definitions);
	CASE(names_of_other_pmus);
	CASE(equal_events);
	CASE(depth);
	CASE(nesting_is_limited_across_formulas);
	CASE(width);
	CASE(messages_about_cycles_are_cut);
	CASE(formulas);
	CASE(names_in_formulas);
	CASE(set_finds_derived_names);
	CASE(parts_between_minuses_are_searched_once);
	tach_derived_free(d);
	return check_done();
}

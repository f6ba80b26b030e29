/* SPDX-License-Identifier: MIT */
/*
 * Definition files: messages for each kind of broken file
 * (tests/unit/derived/derived/NAME.derived with NAME.expected), names, types, nesting, cycles,
 * and the man page's example.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include "tests/check.h"

#define FOLDER "tests/unit/derived/derived"

static char said[1 << 16];
static size_t length;

static void report(void *context, const struct tach_diagnostic *d)
{
	static const char *const words[] = {"note", "warning", "error"};

	(void)context;
	length += (size_t)snprintf(said + length, sizeof said - length, "%d:%d: %s: %s\n",
				   d->line, d->column, words[d->level], d->text);
}

static struct tach_derived *registry(uint32_t flags, double max_hz)
{
	struct tach_derived_options opt = {
		.size = sizeof opt, .flags = flags, .report = report, .max_hz = max_hz};
	struct tach_derived *d = NULL;

	length = 0;
	said[0] = 0;
	CHECK(tach_derived_create(&opt, &d, NULL) == 0, "create");
	return d;
}

static int load(struct tach_derived *d, const char *text)
{
	return tach_derived_load_text(d, "text", text, strlen(text), NULL);
}

static char *slurp(const char *path, size_t *size)
{
	FILE *in = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	*size = in ? fread(text, 1, (1 << 16) - 1, in) : 0;
	if (in)
		fclose(in);
	return text;
}

static int is_case(const struct dirent *entry)
{
	return strstr(entry->d_name, ".derived") != NULL;
}

/* TACH_TEST_WRITE=1 writes the messages to NAME.expected, for a person to check and commit. */
static void broken_files(void)
{
	struct dirent **names;
	int n = scandir(FOLDER, &names, is_case, alphasort);

	CHECK(n >= 40, "%d kinds of broken file", n);
	for (int i = 0; i < n; i++) {
		struct tach_derived *d = registry(0, 0);
		char path[512];
		size_t size, expected;
		char *text, *want;
		int taken;

		snprintf(path, sizeof path, FOLDER "/%s", names[i]->d_name);
		text = slurp(path, &size);
		taken = tach_derived_load_text(d, names[i]->d_name, text, size, NULL);
		length += (size_t)snprintf(said + length, sizeof said - length, "%d taken\n",
					   taken);
		snprintf(strrchr(path, '.'), 16, ".expected");
		if (getenv("TACH_TEST_WRITE")) {
			FILE *out = fopen(path, "w");

			fputs(said, out);
			fclose(out);
		}
		want = slurp(path, &expected);
		CHECK(!strcmp(said, want), "%s:\n%s", names[i]->d_name, said);
		free(text);
		free(want);
		free(names[i]);
		tach_derived_free(d);
	}
	free(names);
}

/* Every prefix of a file, and the file with each byte replaced, is loaded or gives an error. */
static void any_bytes(void)
{
	static const char replacements[] = {0, '\n', ',', '"', '|', '(', '\x80', 'N', '#'};
	size_t size;
	char *text = slurp(FOLDER "/sound.derived", &size), *copy = malloc(size + 1);
	struct tach_derived *d = registry(0, 0);

	for (size_t i = 0; i <= size; i++) {
		length = 0;
		tach_derived_load_text(d, "prefix", text, i, NULL);
	}
	for (size_t i = 0; i < size; i++)
		for (size_t r = 0; r < sizeof replacements; r++) {
			length = 0;
			memcpy(copy, text, size);
			copy[i] = replacements[r];
			tach_derived_load_text(d, "replaced", copy, size, NULL);
		}
	free(text);
	free(copy);
	tach_derived_free(d);
}

/*
 * Evaluates `name` of the registry, with counts 1000, 100, 10, ... in the order of its events.
 */
static double value(struct tach_derived *d, int pmu, const char *name)
{
	static const uint64_t counts[] = {1000, 100, 10, 1};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_expansion *x = NULL;
	double v;

	if (tach_derived_expand(d, pmu, name, &x, &err) < 0) {
		CHECK(0, "%s: %s", name, err.text);
		return NAN;
	}
	v = tach_formula_eval(tach_expansion_formula(x), counts, 0, NULL);
	tach_expansion_free(x);
	return v;
}

static void types(void)
{
	static const struct {
		const char *record;
		double value;
	} cases[] = {
		{"NOT_DERIVED,INST_RETIRED", 1000},
		{"DERIVED_ADD,INST_RETIRED,BR_INST_RETIRED,BR_MISP_RETIRED", 1110},
		{"DERIVED_ADD,INST_RETIRED,INST_RETIRED", 2000},
		{"DERIVED_SUB,INST_RETIRED,BR_INST_RETIRED,BR_MISP_RETIRED", 890},
		{"DERIVED_CMPD,INST_RETIRED,BR_INST_RETIRED", 1000},
		{"DERIVED_PS,PAPI_TOT_CYC,BR_INST_RETIRED", 1000 * 2e9 / 100},
		{"DERIVED_ADD_PS,PAPI_TOT_CYC,BR_INST_RETIRED,BR_MISP_RETIRED",
		 1100 * 2e9 / 10},
		{"DERIVED_POSTFIX,N1|N0|4|*|+|,INST_RETIRED,BR_INST_RETIRED", 1000 + 400},
		{"DERIVED_INFIX,N0-(N1*5),INST_RETIRED,BR_INST_RETIRED", 500},
		{"DERIVED_INFIX,N0/N1*#,INST_RETIRED,BR_INST_RETIRED", 2e10},
		{"DERIVED_INFIX,max(N0,N1)+min(N0,N1),INST_RETIRED,BR_INST_RETIRED", 1100},
	};
	int skl = tach_pmu_find("skl");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_derived *d = registry(0, 2e9);
		char text[300];
		double v;

		snprintf(text, sizeof text,
			 "CPU,skl\nPRESET,PAPI_TOT_CYC,NOT_DERIVED,UNHALTED_CORE_CYCLES\n"
			 "PRESET,A,%s\n",
			 cases[i].record);
		CHECK(load(d, text) == 2, "%s", said);
		v = value(d, skl, "a");
		CHECK(v == cases[i].value, "%s = %.17g", cases[i].record, v);
		tach_derived_free(d);
	}
}

static int parameter_value(void *context, const char *name, size_t size, double *value)
{
	(void)context;
	*value = 3;
	return size == 7 && !memcmp(name, "machine", 7) ? 0 : TACH_ERR_NOTFOUND;
}

/* Names in formulas, and the conditions for a metric. */
static void metrics(void)
{
	static const char text[] =
		"CPU,skl|skx\n"
		"EVENT,share,DERIVED_INFIX,INST_RETIRED:ANY_P / (INST_RETIRED:ANY_P + half * "
		"2),"
		"UNIT,percent,SCALE,100,THRESHOLD,share > 0.5 & half < 9,LEVEL,2,PARENT,top,"
		"GROUP,a;b,SDESC,a share\n"
		"EVENT,half,DERIVED_INFIX,BR_INST_RETIRED.ALL_BRANCHES/2\n"
		"EVENT,retlat@X.Y,DERIVED_INFIX,12.5\n"
		"EVENT,wide,DERIVED_INFIX,retlat@X.Y * machine + N0-N0,INST_RETIRED:ANY_P\n"
		"EVENT,lost,DERIVED_INFIX,uncore@X / half\n";
	struct tach_derived_options opt = {.size = sizeof opt, .parameter = parameter_value};
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d;
	struct tach_expansion *x = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	static const uint64_t n[2] = {60, 40};
	int skx = tach_pmu_find("skx");

	CHECK(tach_derived_create(&opt, &d, &err) == 0, "%s", err.text);
	CHECK(tach_derived_load_text(d, "t", text, sizeof text - 1, &err) == 5, "%s", err.text);
	CHECK(tach_derived_find(d, tach_pmu_find("skl"), "share", &info) == 0, "skl");
	CHECK(tach_derived_find(d, skx, "share", &info) == 0, "skx");
	CHECK(!strcmp(info.unit, "percent") && info.scale == 100 && info.level == 2 &&
		      !strcmp(info.threshold, "share > 0.5 & half < 9") &&
		      !strcmp(info.parent, "top") && !strcmp(info.groups, "a;b") &&
		      !strcmp(info.short_description, "a share"),
	      "fields");
	CHECK(tach_derived_expand(d, skx, "share", &x, &err) == 0, "%s", err.text);
	CHECK(x && tach_expansion_count(x) == 2 &&
		      tach_formula_eval(tach_expansion_formula(x), n, 0, NULL) == 0.6,
	      "share");
	tach_expansion_free(x);
	x = NULL;
	CHECK(tach_derived_expand_formula(d, skx, info.threshold, &x, &err) == 0, "%s",
	      err.text);
	CHECK(x && tach_formula_eval(tach_expansion_formula(x), n, 0, NULL) == 0, "half is 20");
	tach_expansion_free(x);
	x = NULL;
	CHECK(tach_derived_find(d, skx, "half", &info) == 0 && info.scale == 1 && !info.level &&
		      !*info.unit && !*info.parent,
	      "a plain one");
	CHECK(tach_derived_expand(d, skx, "wide", &x, &err) == 0, "%s", err.text);
	CHECK(x && tach_formula_eval(tach_expansion_formula(x), n, 0, NULL) == 37.5, "wide");
	tach_expansion_free(x);
	x = NULL;
	CHECK(tach_derived_expand(d, skx, "lost", &x, &err) == TACH_ERR_NOTFOUND &&
		      strstr(err.text, "uncore@X"),
	      "%s", err.text);
	tach_derived_free(d);
}

static void nesting(void)
{
	struct tach_derived *d = registry(0, 0);
	struct tach_expansion *x = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int skl = tach_pmu_find("skl");

	/* The same event in two ways, a definition before its base, and one for every CPU. */
	CHECK(load(d, "EVENT,ANY,DERIVED_INFIX,N0*2,TOP\n"
		      "CPU,skl\n"
		      "EVENT,TOP,DERIVED_SUB,LEFT,RIGHT\n"
		      "EVENT,LEFT,DERIVED_ADD,INST_RETIRED:ANY_P,BR_INST_RETIRED\n"
		      "EVENT,RIGHT,DERIVED_POSTFIX,N0|3|*|,LEAF\n"
		      "EVENT,LEAF,NOT_DERIVED,INST_RETIRED\n") == 5,
	      "%s", said);
	CHECK(tach_derived_expand(d, skl, "ANY", &x, &err) == 0, "%s", err.text);
	CHECK(x && tach_expansion_count(x) == 2, "equal events are one");
	CHECK(x && !strcmp(tach_expansion_event(x, 0), "INST_RETIRED:ANY_P"), "as written");
	CHECK(x && tach_formula_shape(tach_expansion_formula(x)) == TACH_SHAPE_LINEAR, "shape");
	tach_expansion_free(x);
	CHECK(value(d, skl, "any") == 2 * (1000 + 100 - 3 * 1000), "value");
	tach_derived_free(d);
}

static void cycles(void)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{"EVENT,A,NOT_DERIVED,A\n", "A -> A"},
		{"EVENT,A,NOT_DERIVED,B\nEVENT,B,DERIVED_ADD,INST_RETIRED,A\n", "A -> B -> A"},
		{"EVENT,A,NOT_DERIVED,B\nEVENT,B,NOT_DERIVED,C\nEVENT,C,NOT_DERIVED,B\n",
		 "B -> C -> B"},
		{"EVENT,A,NOT_DERIVED,A:u\n", "A -> A"},
		{"EVENT,A,DERIVED_ADD,B:k,cycles\nEVENT,B,DERIVED_SUB,A:u,cycles\n",
		 "A -> B -> A"},
	};
	int skl = tach_pmu_find("skl");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_derived *d = registry(0, 0);
		struct tach_expansion *x = NULL;
		struct tach_error err = TACH_ERROR_INIT;

		load(d, cases[i].text);
		CHECK(tach_derived_expand(d, skl, "A", &x, &err) == TACH_ERR_CYCLE, "cycle %zu",
		      i);
		CHECK(strstr(err.text, cases[i].part), "%s", err.text);
		tach_derived_free(d);
	}
	/* The definition has the name of the native event that it uses: this is not a cycle. */
	{
		struct tach_derived *d = registry(0, 0);

		load(d, "EVENT,INST_RETIRED,DERIVED_INFIX,N0+N1,INST_RETIRED,INST_RETIRED\n");
		CHECK(value(d, skl, "INST_RETIRED") == 2000, "native");
		tach_derived_free(d);
	}
}

/* 2^n operands from n lines must end in an error, without much memory and without 2^n steps. */
static void exponential_definitions_end_in_an_error(void)
{
	static const char *const types[] = {"DERIVED_ADD", "DERIVED_CMPD"};

	for (int t = 0; t < 2; t++) {
		struct tach_derived *d = registry(0, 0);
		struct tach_expansion *x = NULL;
		struct tach_error err = TACH_ERROR_INIT;
		char text[64];

		load(d, "EVENT,E0,NOT_DERIVED,INST_RETIRED\n");
		for (int i = 1; i < 60; i++) {
			snprintf(text, sizeof text, "EVENT,E%d,%s,E%d,E%d\n", i, types[t],
				 i - 1, i - 1);
			load(d, text);
		}
		CHECK(tach_derived_expand(d, tach_pmu_find("skl"), "E59", &x, &err) ==
			      TACH_ERR_TOOMANY,
		      "%s", err.text);
		CHECK(!err.line && !err.column);
		tach_derived_free(d);
	}
}

static void unknown_flags(void)
{
	struct tach_derived_options opt = {.flags = 0x4};
	struct tach_derived *d;

	CHECK(tach_derived_create(&opt, &d, NULL) == TACH_ERR_INVAL);
}

static void lookup(void)
{
	struct tach_derived *d = registry(TACH_DERIVED_PRESETS, 0);
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_expansion *x = NULL;
	struct tach_error err = TACH_ERROR_INIT;
	int skl = tach_pmu_find("skl"), tgl = tach_pmu_find("tgl"),
	    p4 = tach_pmu_find("netburst_p");
	int presets = tach_derived_count(d, skl);

	CHECK(presets > 60, "%d presets", presets);
	CHECK(load(d,
		   "CPU,skl\nEVENT,MINE,DERIVED_ADD,NO_SUCH_EVENT\n"
		   "EVENT,PAPI_TOT_CYC,NOT_DERIVED,INSTRUCTION_RETIRED\n"
		   "CPU,icl\nCPU,Intel Pentium4\nEVENT,HERE,NOT_DERIVED,INST_RETIRED\n") == 3,
	      "%s", said);
	CHECK(strstr(said, "replaces the library's own"), "%s", said);
	CHECK(tach_derived_count(d, skl) == presets + 1, "one more");
	CHECK(tach_derived_find(d, skl, "mine", &info) == 0 && info.line == 2 &&
		      info.nevents == 1,
	      "by name");
	CHECK(tach_derived_expand(d, skl, "MINE", &x, &err) < 0 &&
		      strstr(err.text, "NO_SUCH_EVENT"),
	      "%s", err.text);
	CHECK(value(d, skl, "ipc") == 1, "presets rest on what replaced them");
	/*
	 * An alias PMU accepts the strings of its model, and a CPU name may select several
	 * PMUs.
	 */
	CHECK(tach_derived_find(d, tgl, "HERE", &info) == 0, "tgl as icl");
	CHECK(tach_derived_find(d, p4, "HERE", &info) == 0, "by PAPI's name");
	CHECK(tach_derived_find(d, skl, "HERE", &info) == TACH_ERR_NOTFOUND, "not for skl");
	for (int i = 1, n = tach_derived_count(d, skl); i < n; i++) {
		struct tach_derived_info next = {.size = sizeof next};

		tach_derived_at(d, skl, i - 1, &info);
		tach_derived_at(d, skl, i, &next);
		CHECK(strcasecmp(info.name, next.name) < 0, "%s %s", info.name, next.name);
	}
	CHECK(tach_derived_at(d, skl, 10000, &info) == TACH_ERR_INVAL, "outside");
	tach_derived_free(d);
}

static void user_files(void)
{
	char folder[] = "/tmp/tach-derived.XXXXXX", path[64], list[200];
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d;
	FILE *out;

	if (!mkdtemp(folder))
		SKIP("no temporary folder");
	snprintf(path, sizeof path, "%s/a.derived", folder);
	out = fopen(path, "w");
	fputs("EVENT,USER_A,NOT_DERIVED,X\nEVENT,USER_B,BAD,X\n", out);
	fclose(out);
	snprintf(list, sizeof list, ":%s:/nonexistent/file", path);
	setenv("TACH_DERIVED", list, 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	d = registry(TACH_DERIVED_USER, 0);
	CHECK(tach_derived_find(d, tach_pmu_find("skl"), "USER_A", &info) == 0, "loaded");
	CHECK(!strcmp(info.file, path), "%s", info.file);
	/* registry() cleared `said` before create. */
	CHECK(strstr(said, "2:14: error: unknown derived type"), "%s", said);
	CHECK(strstr(said, "cannot read /nonexistent/file"), "%s", said);
	tach_derived_free(d);
	unsetenv("TACH_DERIVED");
	unlink(path);
	rmdir(folder);
}

/* The example of the format's manual page, with its three spellings of one definition. */
static void manual_example(void)
{
	struct tach_derived *d = registry(0, 0);
	int nhm = tach_pmu_find("nhm_ex");

	CHECK(load(d, "# shared by two PMUs\n"
		      "CPU nhm\n"
		      "CPU nhm-ex\n"
		      "# for either\n"
		      "PRESET,PAPI_TOT_CYC,NOT_DERIVED,UNHALTED_CORE_CYCLES\n"
		      "PRESET,PAPI_REF_CYC,NOT_DERIVED,UNHALTED_REFERENCE_CYCLES\n"
		      "PRESET,PAPI_SP_OPS,DERIVED_POSTFIX,N0|N1|3|*|+|,"
		      "FP_COMP_OPS_EXE:SSE_SINGLE_PRECISION,FP_COMP_OPS_EXE:SSE_FP_PACKED,"
		      "NOTE,'postfix'\n"
		      "EVENT,USER_SP_OPS,DERIVED_INFIX,N0+(N1*3),"
		      "FP_COMP_OPS_EXE:SSE_SINGLE_PRECISION,FP_COMP_OPS_EXE:SSE_FP_PACKED,"
		      "NOTE,'infix'\n"
		      "EVENT,ALIAS_SP_OPS,NOT_DERIVED,PAPI_SP_OPS,LDESC,'alias'\n"
		      "# the next section\n"
		      "CPU snb\n") == 5,
	      "%s", said);
	CHECK(said[0] == 0, "%s", said);
	CHECK(value(d, nhm, "PAPI_SP_OPS") == 1300, "postfix");
	CHECK(value(d, nhm, "USER_SP_OPS") == 1300, "infix");
	CHECK(value(d, nhm, "ALIAS_SP_OPS") == 1300, "alias");
	CHECK(value(d, nhm, "PAPI_REF_CYC") == 1000, "reference cycles");
	tach_derived_free(d);
}

int main(void)
{
	CASE(broken_files);
	CASE(any_bytes);
	CASE(types);
	CASE(metrics);
	CASE(nesting);
	CASE(cycles);
	CASE(exponential_definitions_end_in_an_error);
	CASE(lookup);
	CASE(unknown_flags);
	CASE(user_files);
	CASE(manual_example);
	return check_done();
}

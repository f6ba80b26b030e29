/* SPDX-License-Identifier: MIT */
/* Registries of derived events while an allocation fails: no memory leaks. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tach.h>
#include "core/derived/derived.h"
#include "tests/allocations.h"

static const char definitions[] =
	"EVENT,any,NOT_DERIVED,cycles\n"
	"CPU,skl|icl\nCPU,Intel Nehalem\n"
	"PRESET,A,NOT_DERIVED,INST_RETIRED:ANY_P,SDESC,\"instructions\"\n"
	"EVENT,ipc,DERIVED_INFIX,N0 / N1,A,CPU_CLK_UNHALTED:THREAD_P,LDESC,'a, b',LEVEL,2\n"
	"EVENT,sum,DERIVED_ADD,A,ipc\n"
	"EVENT,named,DERIVED_INFIX,sum * 2 + A:k\n"
	"EVENT,ring,DERIVED_ADD,ring2,A\nEVENT,ring2,NOT_DERIVED,ring\n"
	"EVENT,lost,DERIVED_SUB,A,NO_SUCH_EVENT\n"
	"EVENT,branches,DERIVED_ADD,A,cycles\nEVENT,over,NOT_DERIVED,branches:u\n"
	"EVENT,bad,DERIVED_INFIX,N0 +,A\n";

static int skl, reports;
static struct tach_error err;

/* Expects that the error has no position. */
static int starved(int code)
{
	CHECK(code != TACH_ERR_NOMEM || (err.code == code && !err.line && !err.column &&
					 strstr(err.text, "out of memory")),
	      "%d at %d:%d: %s", err.code, err.line, err.column, err.text);
	return code == TACH_ERR_NOMEM;
}

static void report(void *context, const struct tach_diagnostic *d)
{
	(void)context, (void)d;
	reports++;
}

static struct tach_derived *loaded(int *code)
{
	struct tach_derived_options opt = {
		.size = sizeof opt, .flags = TACH_DERIVED_PRESETS, .report = report};
	struct tach_derived *d = NULL;

	*code = tach_derived_create(&opt, &d, &err);
	if (*code == 0)
		*code = tach_derived_load_text(d, "text", definitions, strlen(definitions),
					       &err);
	starved(*code);
	if (*code == 10)
		*code = 0;
	return d;
}

static int listing_job(void)
{
	struct tach_derived_info info = {.size = sizeof info};
	int code, n = 0;
	struct tach_derived *d = loaded(&code);

	for (int pmu = skl; code == 0 && pmu >= -1; pmu = pmu == skl ? skl - 1 : pmu - skl) {
		n = tach_derived_count(d, pmu);
		code = n < 0 ? n : tach_derived_at(d, pmu, 0, &info);
	}
	/* A later load creates another registry. */
	if (code == 0)
		code = tach_derived_load_text(d, "text", definitions, strlen(definitions),
					      NULL);
	tach_derived_free(d);
	return code < 0 ? code : 0;
}

static void listings(void)
{
	exhaust(listing_job);
}

/*
 * The job tests memory only: other errors count as success. A native event before a definition
 * is still accepted then.
 */
static int expanding_job(void)
{
	static const struct {
		const char *name;
		int code, events;
	} cases[] = {{"named", 0, 3},
		     {"skl::sum:k", 0, 2},
		     {"over", 0, 1},
		     {"ring", TACH_ERR_CYCLE, 0},
		     {"lost", TACH_ERR_NOTFOUND, 0},
		     {"nowhere", TACH_ERR_NOTFOUND, 0},
		     {"ipc:nosuch", TACH_ERR_ATTR, 0}};
	int code;
	struct tach_derived *d = loaded(&code);

	for (size_t i = 0; code == 0 && i < sizeof cases / sizeof *cases; i++) {
		struct tach_expansion *x = NULL;

		code = tach_derived_expand(d, skl, cases[i].name, &x, &err);
		CHECK(code == cases[i].code || code == TACH_ERR_NOMEM, "%s: %d", cases[i].name,
		      code);
		CHECK(!x || tach_expansion_count(x) == cases[i].events, "%s", cases[i].name);
		if (!starved(code))
			code = 0;
		tach_expansion_free(x);
	}
	tach_derived_free(d);
	return code;
}

static void expansions(void)
{
	exhaust(expanding_job);
}

static int formula_job(void)
{
	static const int number[2] = {5, 3};
	struct tach_formula *f = NULL;
	struct tach_expansion *x = NULL;
	int code =
		tach_derived_expand_formula(tach_derived_default(), skl, "ipc + 1", &x, NULL);

	if (code == 0) {
		code = tach__expansion_over(x, number, &f, &err);
		CHECK(!code || (err.code == code && !err.line), "%d in %d", err.code, err.line);
	}
	tach_formula_free(f);
	tach_expansion_free(x);
	x = NULL;
	if (code == 0) {
		code = tach__derived_lookup(skl, "ipc:k", 5, &x, NULL);
		CHECK(code < 0 || code == 1, "%d", code);
		code = code == 1 ? 0 : code;
	}
	tach_expansion_free(x);
	return code;
}

static void formulas(void)
{
	exhaust(formula_job);
}

/* The text of the formula over a set's members is the first allocation, and it fails. */
static void text(void)
{
#if WATCHED
	static const int number[2] = {5, 3};
	struct tach_formula *f = NULL;
	struct tach_expansion *x = NULL;
	int code;

	CHECK(tach_derived_expand_formula(tach_derived_default(), skl, "ipc + 1", &x, &err) ==
	      0);
	if (!x)
		return;
	calls = fail_at = 0;
	armed = 1;
	code = tach__expansion_over(x, number, &f, &err);
	armed = 0;
	CHECK(starved(code) && !f);
	tach_expansion_free(x);
#else
	SKIP("a sanitizer's malloc cannot be made to fail");
#endif
}

/* A registry that cannot grow keeps its definitions. */
static int growing_job(void)
{
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_derived *d = NULL;
	char text[40];
	int code = tach_derived_create(NULL, &d, NULL), n = 0;

	for (; code == 0 && n < 130; n++) {
		snprintf(text, sizeof text, "EVENT,e%d,NOT_DERIVED,cycles\n", n);
		code = tach_derived_load_text(d, "text", text, strlen(text), NULL);
		code = code == 1 ? 0 : code;
		if (code)
			break;
	}
	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof text, "e%d", i);
		CHECK(tach_derived_find(d, skl, text, &info) == 0, "%s of %d", text, n);
	}
	tach_derived_free(d);
	return code;
}

static void growth(void)
{
	exhaust(growing_job);
}

static int missing_job(void)
{
	struct tach_derived *d = NULL;
	int code = tach_derived_create(NULL, &d, NULL);

	if (code == 0) {
		code = tach_derived_load(d, "tests/check.h/none", NULL);
		CHECK(code < 0);
		code = code == TACH_ERR_NOMEM ? code : 0;
	}
	if (code == 0) {
		/* A folder: it can be opened, but not read. */
		code = tach_derived_load(d, "tests", NULL);
		CHECK(code < 0);
		code = code == TACH_ERR_NOMEM ? code : 0;
	}
	if (code == 0)
		code = tach_derived_load(d, "tests/unit/derived/derived/sound.derived", NULL);
	tach_derived_free(d);
	return code < 0 ? code : 0;
}

static void files(void)
{
	exhaust(missing_job);
}

/* If memory is too short to read definitions, this is reported. */
static int user_job(void)
{
	struct tach_derived_options opt = {
		.size = sizeof opt, .flags = TACH_DERIVED_USER, .report = report};
	struct tach_derived *d = NULL;
	int code = tach_derived_create(&opt, &d, NULL);

	tach_derived_free(d);
	return code;
}

static void user_files(void)
{
	char folder[] = "/tmp/tach-memory.XXXXXX", path[80];
	static const char *const names[] = {"a.derived", "b.derived", "c.other"};

	if (!mkdtemp(folder))
		SKIP("no temporary folder");
	setenv("XDG_CONFIG_HOME", folder, 1);
	snprintf(path, sizeof path, "%s/tach", folder);
	mkdir(path, 0700);
	for (int i = 0; i < 3; i++) {
		FILE *out;

		snprintf(path, sizeof path, "%s/tach/%s", folder, names[i]);
		out = fopen(path, "w");
		fputs(definitions, out);
		fclose(out);
	}
	exhaust(user_job);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/tach/%s", folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/tach", folder);
	rmdir(path);
	rmdir(folder);
}

/*
 * The process's own registry is created when there is memory, even if there was none at first.
 */
static void at_the_first_use(void)
{
#if WATCHED
	struct tach_derived_info info = {.size = sizeof info};
	struct tach_expansion *x = NULL;
	struct tach_event event = {0};

	fail_at = calls = 0;
	armed = 1;
	CHECK(tach_derived_default() == NULL);
	calls = 0;
	CHECK(tach__derived_lookup(skl, "ipc", 3, &x, &err) == TACH_ERR_NOMEM &&
	      strcmp(err.text, "out of memory") == 0);
	calls = 0;
	CHECK(tach_event_encode("skl::PAPI_TOT_INS", NULL, &event, NULL) == TACH_ERR_NOMEM);
	armed = 0;
	fail_at = -1;
	CHECK(tach_derived_default() &&
	      tach_derived_find(tach_derived_default(), skl, "ipc", &info) == 0);
#endif
}

#if WATCHED
/* Returns the number of allocations for a formula that names one event many times. */
static long allocations(int mentions)
{
	static char formula[20 * 1100];
	struct tach_expansion *x = NULL;
	size_t n = 0;

	for (int i = 0; i < mentions; i++)
		n += (size_t)snprintf(formula + n, sizeof formula - n, "%sINST_RETIRED:ANY_P",
				      i ? "+" : "");
	mallocs = 0;
	fail_at = -1;
	armed = 1;
	CHECK(tach_derived_expand_formula(tach_derived_default(), skl, formula, &x, &err) == 0,
	      "%s", err.text);
	armed = 0;
	CHECK(x && tach_expansion_count(x) == 1);
	tach_expansion_free(x);
	return mallocs;
}
#endif

/* Encoding takes an allocation: an event is encoded once, not at each mention. */
static void mentions(void)
{
#if !WATCHED
	SKIP("a sanitizer brings its own malloc");
#else
	long few, many;

	allocations(1);
	few = allocations(10);
	many = allocations(1000);
	CHECK(many < few + 40, "%ld, %ld", few, many);
#endif
}

int main(void)
{
	unsetenv("TACH_DERIVED");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	skl = tach_pmu_find("skl");
	CASE(at_the_first_use);
	CASE(listings);
	CASE(expansions);
	CASE(mentions);
	CASE(formulas);
	CASE(text);
	CASE(growth);
	CASE(files);
	CASE(user_files);
	return check_done();
}

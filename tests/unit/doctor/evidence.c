/* SPDX-License-Identifier: MIT */
/* Evidence from files, tables and the environment. */
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <unistd.h>
#include "core/doctor/evidence.h"
#include "tests/allocations.h"
#include "tests/child.h"
#include "tests/descriptors.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-evidence-XXXXXX";

static struct tach__evidence settings(void)
{
	struct tach__evidence e;
	int before = descriptors();

	memset(&e, 0xee, sizeof e);
	tach__evidence_settings(&e, root);
	CHECK(descriptors() == before);
	CHECK(e.counters_free == -1 && e.loop == 0 && !e.output_error[0]);
	return e;
}

static void put(const char *device, const char *file, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, "sys/bus/event_source/devices/%s/%s", device, file);
	root_put(root, path, "%s\n", text);
}

static void event_sources(void)
{
	char name[66];

	CHECK(settings().core_pmus == 0 && settings().settings.rdpmc == TACH__UNREADABLE);
	put("cpu", "rdpmc", "2");
	CHECK(settings().core_pmus == 1 && settings().settings.rdpmc == 2);
	put("cpu_core", "cpus", "0-3");
	put("cpu_core", "rdpmc", "1");
	put("cpu_atom", "cpus", "4-7");
	put("cpu_atom", "rdpmc", "2");
	put("uncore_imc", "type", "20");
	put("empty", "cpus", "");
	put(".hidden", "cpus", "8");
	put(".hidden", "rdpmc", "0");
	CHECK(settings().core_pmus == 3 && settings().settings.rdpmc == 1, "%d, %d",
	      settings().core_pmus, settings().settings.rdpmc);
	/* The longest name, and a name that is longer. */
	memset(name, 'n', 65);
	name[64] = '\0';
	put(name, "cpus", "9");
	CHECK(settings().core_pmus == 4);
	name[64] = 'n';
	name[65] = '\0';
	put(name, "cpus", "10");
	CHECK(settings().core_pmus == 4);
	root_wipe(root);
}

/* A process looks once. */
static void known(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_pmu_info info = {.size = sizeof info};
	struct tach__evidence e;
	int pmu;

	setenv("TACH_PMU", "skl", 1);
	e = settings();
	CHECK(tach_pmu_host(&pmu, 1, &err) == 1 && tach_pmu_describe(pmu, &info) == 0, "%s",
	      err.text);
	CHECK(strcmp(e.tables, "skl") == 0 && !e.tables_error[0], "%s, %s", e.tables,
	      e.tables_error);
	CHECK(e.counters_general == info.general && e.counters_general > 1);
	CHECK(e.counters_fixed == 1);
}

static void unknown(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__evidence e;
	int pmu;

	setenv("TACH_PMU", "nosuch", 1);
	e = settings();
	CHECK(tach_pmu_host(&pmu, 1, &err) <= 0);
	CHECK(!e.tables[0] && *err.text && strcmp(e.tables_error, err.text) == 0, "%s",
	      e.tables_error);
	CHECK(e.counters_general == 0 && e.counters_fixed == 0);
}

static void several(void)
{
	struct tach__evidence e;

	setenv("TACH_PMU", "adl_glc,skl", 1);
	e = settings();
	CHECK(strcmp(e.tables, "adl_glc, skl") == 0, "%s", e.tables);
}

/* Fills the space for names completely, and writes nothing after it. */
static void many(void)
{
	static const char names[] =
		"amd64_fam15h_interlagos,amd64_fam10h_barcelona,amd64_fam10h_shanghai,"
		"amd64_fam10h_istanbul,amd64_fam14h_bobcat,amd64_fam12h_llano,skl,icl";
	static const char wanted[] =
		"amd64_fam15h_interlagos, amd64_fam10h_barcelona, amd64_fam10h_shanghai, "
		"amd64_fam10h_istanbul";
	struct tach__evidence e;

	setenv("TACH_PMU", names, 1);
	e = settings();
	CHECK(strlen(e.tables) == sizeof e.tables - 1 &&
		      strncmp(e.tables, wanted, sizeof wanted - 1) == 0,
	      "%s", e.tables);
	CHECK(!e.tables_error[0], "%s", e.tables_error);
}

static void tables(void)
{
#if !defined(__x86_64__)
	SKIP("the tables that it names are of x86");
#endif
	in_child(known);
	in_child(unknown);
	in_child(several);
	in_child(many);
}

static struct tach__evidence with(const char *name, const char *value)
{
	struct tach__evidence e;
	long before = 0;

	setenv(name, value, 1);
	/* Allocations that are made once are not freed. */
	for (int again = 0; again < 2; again++) {
		memset(&e, 0, sizeof e);
		before = live;
		tach__evidence_environment(&e);
	}
	CHECK(live == before, "%s=%s: %ld", name, value, live - before);
	unsetenv(name);
	return e;
}

static int begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void environment(void)
{
	static const char cannot[] = "TACH_EVENTS or TACH_METRICS cannot be used: ";
	struct tach__evidence e = with("TACH_EVENTS", "page-faults,context-switches");

	CHECK(e.events_members == 2 && !e.events_error[0], "%s", e.events_error);
	CHECK(!e.output && !e.output_error[0]);
	e = with("TACH_EVENTS", "");
	CHECK(e.events_members == 0 && !e.events_error[0]);
	e = with("TACH_EVENTS", "page-faults,nosuch-event");
	CHECK(begins(e.events_error, cannot) && strstr(e.events_error, ": column 13: "), "%s",
	      e.events_error);
	e = with("TACH_METRICS", "a = nosuch / 2");
	CHECK(begins(e.events_error, cannot), "%s", e.events_error);
	e = with("TACH_SPARSE", "x");
	CHECK(strcmp(e.events_error, "TACH_SPARSE is a number, not 'x'") == 0, "%s",
	      e.events_error);
	e = with("TACH_OUTPU", "x");
	CHECK(begins(e.events_error, "TACH_OUTPU is not looked at"), "%s", e.events_error);
	e = with("TACH_OUTPUT", "-");
	CHECK(e.output == 1 && !e.output_error[0] && !e.events_error[0]);
	e = with("TACH_OUTPUT", "/nowhere/a");
	CHECK(e.output == 1 && begins(e.output_error, "the folder /nowhere: "), "%s",
	      e.output_error);
	/* The first invalid setting is reported. */
	setenv("TACH_SPARSE", "x", 1);
	e = with("TACH_EVENTS", "nosuch-event");
	CHECK(begins(e.events_error, cannot), "%s", e.events_error);
	e = with("TACH_OUTPU", "x");
	CHECK(begins(e.events_error, "TACH_SPARSE"), "%s", e.events_error);
	unsetenv("TACH_SPARSE");
}

int main(void)
{
	static const char *const names[] = {"TACH_EVENTS", "TACH_METRICS", "TACH_OUTPUT",
					    "TACH_PMU"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	if (!mkdtemp(root))
		return 1;
	CASE(tables);
	CASE(event_sources);
	CASE(environment);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

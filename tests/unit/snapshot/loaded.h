/* SPDX-License-Identifier: MIT */
/* A report in which each number is different, and variants with one part replaced. */
#ifndef TESTS_UNIT_SNAPSHOT_LOADED_H
#define TESTS_UNIT_SNAPSHOT_LOADED_H

#include <string.h>
#include <tach.h>
#include "core/snapshot/snapshot.h"
#include "tests/check.h"

/* Each member is on its own line: the report begins at 2:2, its member "tach" at 3:1. */
#define HEAD                                                                                   \
	"\n {\n\"tach\":1,\n\"note\":\"missing\",\n\"rank\":3,\n\"reports\":6,\n"              \
	"\"clock\":{\"hz\":1000,\"estimate\":true},\n\"threads\":1,\n\"refused\":2,\n"         \
	"\"lost\":30,\n\"stale\":4,\n\"unopened\":5,\n\"worst_by\":\"x\",\n"
#define NAMES                                                                                  \
	"\"quantities\":[{\"name\":\"time\"},{\"name\":\"x\"}],\n"                             \
	"\"metrics\":[{\"name\":\"m\",\"formula\":\"2 * N0\",\"level\":2,\"scale\":100,"       \
	"\"unit\":\"u\",\"parent\":\"p\",\"threshold\":\"t\",\"description\":\"d\"},"          \
	"{\"name\":\"n\"}],\n"
#define COUNTS                                                                                 \
	"{\"name\":\"r\",\"file\":\"f\",\"function\":\"g\",\"of\":\"o\",\"task\":\"k\","       \
	"\"tag\":\"a\",\"thread\":\"h\",\"fenced\":true,\"line\":11,\"entries\":12,"           \
	"\"calls\":13,\"outermost\":14,\"skipped\":15,\"excluded\":16,\n\"lost\":17,"          \
	"\"nested\":18,\"threads\":19,\"rank\":5,\n\"provenance\":{\"rescheduled\":21,"        \
	"\"incomplete\":22,\"syscall\":23,\"scaled\":24,\"mixed\":25,\"lost\":26},\n"
#define VALUE(name, value, flags)                                                              \
	"\"" name "\":{\"value\":" #value ",\"raw\":1" #value ",\"overhead\":2" #value         \
	",\"error\":3" #value ",\"flags\":[" flags "]}"
#define VALUES                                                                                                  \
	"\"inclusive\":{\n" VALUE("time", 1, "\"lost\",\"scaled\"") ",\n" VALUE("x", 2, "") ",\n" VALUE(        \
		"m", 3,                                                                                         \
		"\"later\",7,\"shared\"") ",\n" VALUE("n", 4,                                                   \
						      "") "},\n"                                                \
							  "\"self\":{\n" VALUE("time", 5, "") ",\n" VALUE(      \
								  "x", 6,                                       \
								  "\"small\"") ",\n" VALUE("m",                 \
											   7,                   \
											   "") ",\n" VALUE("n", \
													   8,   \
													   "") "},\n"
#define HISTOGRAMS "\"histograms\":{\"x\":[[0,0,0],[1,2,3]]},\n"
#define WORST                                                                                  \
	"\"worst\":[{\"at\":1.5,\"tag\":\"0x1f\",\"thread\":77,\"thread_name\":\"w\","         \
	"\"parent\":\"q\",\"flags\":[\"lost\",\"mixed\"],\"values\":{\"time\":9,\"x\":null}}," \
	"\n"                                                                                   \
	"{\"at\":2.5,\"tag\":\"10\",\"thread\":2147483653,\"thread_name\":\"\","               \
	"\"parent\":\"\",\"flags\":[],\"values\":{\"time\":8,\"x\":7}}]"
static const char whole[] = HEAD NAMES "\"regions\":[\n" COUNTS VALUES HISTOGRAMS WORST "}\n]}";

static char text_of[1 << 17];

/* Returns the report, with `to` in place of the first `from`. */
static const char *with(const char *from, const char *to)
{
	const char *at = strstr(whole, from);

	CHECK(at != NULL, "%s", from);
	snprintf(text_of, sizeof text_of, "%.*s%s%s", (int)(at ? at - whole : 0), whole, to,
		 at ? at + strlen(from) : "");
	return text_of;
}

static struct tach_error err;

static struct tach_snapshot *load(const char *json)
{
	struct tach_snapshot *s = NULL;
	int code;

	err = (struct tach_error)TACH_ERROR_INIT;
	code = tach_snapshot_load(json, strlen(json), &s, &err);
	CHECK((code == 0) == (s != NULL) && code == err.code, "%d: %s", code, err.text);
	return s;
}

static struct tach_snapshot *taken(const char *from, const char *to)
{
	struct tach_snapshot *s = load(with(from, to));

	CHECK(s != NULL, "%s: %d:%d: %s", to, err.line, err.column, err.text);
	return s;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Boxes counted together with a program: members of a set, the report's note, errors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/uncore/uncore.h"
#include "tests/check.h"

static struct tach__uncore_event events[] = {
	{(char *)"reads", 2}, {(char *)"writes", 2}, {(char *)"power", 1}};
static const struct tach_uncore three = {.nevents = 3, .event = events};

/* Each member is found again, whatever other members the set has. */
static void box_events_are_found_among_members(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set_member member[TACH_COUNTERS_MAX];
	struct perf_event_attr attr[TACH_COUNTERS_MAX];
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;
	static const struct {
		const char *name;
		int box;
	} want[] = {{"reads", 0}, {"writes", 1}, {"power", 2}, {"page-faults", -1}};

	tach__uncore_members(&three, &opt, member, attr);
	CHECK(opt.nattrs == 3 && opt.attrs == member);
	for (int k = 0; k < 3; k++)
		CHECK(member[k].name == events[k].name && member[k].attr == &attr[k] &&
			      attr[k].type == PERF_TYPE_SOFTWARE &&
			      attr[k].config == PERF_COUNT_SW_DUMMY &&
			      attr[k].size == sizeof *attr,
		      "%d", k);
	opt.events = "page-faults,other=dummy";
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	for (int i = 0; set && i < tach_set_count(set); i++) {
		int box = -1;

		for (size_t k = 0; k < sizeof want / sizeof *want; k++)
			if (strcmp(tach_set_name(set, i), want[k].name) == 0)
				box = want[k].box;
		CHECK(tach__uncore_member(&three, set, i) == box, "%s: %d",
		      tach_set_name(set, i), tach__uncore_member(&three, set, i));
		CHECK(tach__uncore_member(NULL, set, i) == -1);
	}
	CHECK(set && tach_set_count(set) == 5);
	tach_set_free(set);
	tach__uncore_members(NULL, &opt, member, attr);
	CHECK(opt.nattrs == 0);
}

static void notes(void)
{
	static const struct {
		const char *before;
		int n;
		size_t size;
		const char *note;
	} all[] = {
		{"", 1, 200, "reads: of the whole machine, all programs together"},
		{"", 3, 200,
		 "reads, writes, power: of the whole machine, all programs together"},
		{"a note", 2, 200,
		 "a note; reads, writes: of the whole machine, all programs together"},
		{"", 3, 12, "reads, writ"},
		{"a note", 2, 7, "a note"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_uncore u = {.nevents = all[i].n, .event = events};
		char note[256];

		memset(note, '#', sizeof note);
		strcpy(note, all[i].before);
		tach__ambient_note(&u, note, all[i].size);
		CHECK(strcmp(note, all[i].note) == 0, "%s", note);
		CHECK(note[all[i].size] == '#');
	}
}

static void refused_lists(void)
{
	static const struct {
		const char *list;
		int code, column;
		const char *text;
	} all[] = {
		{"", TACH_ERR_INVAL, 0, "the list names no events"},
		{";IPC", TACH_ERR_INVAL, 0, "the list names no events"},
		{" ,\t\n;IPC", TACH_ERR_INVAL, 0, "the list names no events"},
		{"page-faults", TACH_ERR_NOTSUPP, 1,
		 "page-faults: not an event of a box: threads count it, so use it in a set"},
		{" x=page-faults;IPC", TACH_ERR_NOTSUPP, 4,
		 "page-faults: not an event of a box: threads count it, so use it in a set"},
		{"x=;IPC", TACH_ERR_SYNTAX, 3, "an event is missing after '='"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach__ambient a = {(void *)1, (void *)1};
		int code = tach__ambient_open(&a, all[i].list, &err);

		CHECK(code == all[i].code && !a.uncore && !a.set, "%s: %d", all[i].list, code);
		CHECK(err.code == code && err.line == 0 && err.column == all[i].column &&
			      strcmp(err.text, all[i].text) == 0,
		      "%s: column %d: %s", all[i].list, err.column, err.text);
		CHECK(tach__ambient_open(&a, all[i].list, NULL) == code);
	}
}

/* Errors from the kernel as messages; uncore.c tests privileges. */
static void refused_opens(void)
{
	static const struct {
		int answer, code;
		const char *text;
	} all[] = {
		{-ENODEV, TACH_ERR_NOTSUPP,
		 "energy: processor 3 is not there, or has no such box"},
		{-ENXIO, TACH_ERR_NOTSUPP,
		 "energy: processor 3 is not there, or has no such box"},
		{-EINVAL, TACH_ERR_NOTSUPP, NULL},
		{-ENOENT, TACH_ERR_NOTSUPP, NULL},
		{-EOPNOTSUPP, TACH_ERR_NOTSUPP, NULL},
		{-EBUSY, -EBUSY, NULL},
		{-ENFILE, -ENFILE, NULL},
		{-EMFILE, -EMFILE, NULL},
		{-ENOSYS, TACH_ERR_PERMISSION, NULL},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach__settings s = {.paranoid = 0};
		struct tach_error err = TACH_ERROR_INIT;
		int answer = all[i].answer, taken;
		char text[256];

		CHECK(tach__uncore_refused(answer, "energy", 3, &s, &err) == all[i].code &&
			      err.line == 0 && err.column == 0,
		      "%d: %d:%d", answer, err.line, err.column);
		taken = answer == -EINVAL || answer == -ENOENT || answer == -EOPNOTSUPP;
		snprintf(text, sizeof text,
			 taken ? "energy: the kernel's driver does not take this event (%s)"
			       : "energy: %s",
			 tach_strerror(answer));
		CHECK(all[i].text ? strcmp(err.text, all[i].text) == 0
				  : strncmp(err.text, "energy: ", 8) == 0,
		      "%s", err.text);
		CHECK((!taken && answer != -EBUSY) || strcmp(err.text, text) == 0, "%s",
		      err.text);
	}
}

static void privileges(void)
{
	static const struct {
		struct tach__settings s;
		const char *text; /* NULL: another error is the cause */
	} all[] = {
		{{.paranoid = 1},
		 "energy: a box counts for all programs, which takes CAP_PERFMON "
		 "(kernel.perf_event_paranoid is 1); run as root, sudo setcap cap_perfmon+ep "
		 "PROGRAM, or sudo sysctl kernel.perf_event_paranoid=0"},
		{{.paranoid = 2, .capable = 1, .user_namespace = 1},
		 "energy: a box counts for all programs, which takes CAP_PERFMON "
		 "(kernel.perf_event_paranoid is 2), of the host's root, not a container's; "
		 "run as root, sudo setcap cap_perfmon+ep PROGRAM, or sudo sysctl "
		 "kernel.perf_event_paranoid=0"},
		{{.paranoid = 0}, NULL},
		{{.paranoid = 0, .user_namespace = 1}, NULL},
		{{.paranoid = 2, .capable = 1}, NULL},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;

		CHECK(tach__uncore_refused(-EACCES, "energy", 0, &all[i].s, &err) ==
			      TACH_ERR_PERMISSION &&
		      !err.line && !err.column);
		CHECK(all[i].text ? strcmp(err.text, all[i].text) == 0
				  : !strstr(err.text, "a box counts for all programs"),
		      "%zu: %s", i, err.text);
		CHECK(tach__uncore_refused(-EPERM, "energy", 0, &all[i].s, &err) ==
				      TACH_ERR_PERMISSION &&
			      !strstr(err.text, "a box counts for all programs") && !err.line &&
			      !err.column,
		      "%s", err.text);
	}
}

int main(void)
{
	CASE(box_events_are_found_among_members);
	CASE(notes);
	CASE(refused_lists);
	CASE(refused_opens);
	CASE(privileges);
	return check_done();
}

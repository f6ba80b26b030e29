/* SPDX-License-Identifier: MIT */
/* The objects of another process that are searched, and the error if there are no objects. */
#include "tests/unit/snapshot/objects_there.h"

/* Writes a first line with this number of extra bytes, and without an end. */
static void long_line(const void *at, const char *rest, char more, size_t n)
{
	size_t length;

	lines[0] = '\0';
	map(at, rest);
	length = strlen(lines) - 1;
	memset(lines + length, more, n);
	lines[length + n] = '\0';
}

static void which_maps(void)
{
	static const struct {
		const char *rest;
		int is;
	} cases[] = {{"r--p 00000000 08:01 12 /lib/a.so", 1},
		     {"r-xp 00000000 08:01 12 /lib/a.so (deleted)", 1},
		     {"--xp 00000000 08:01 12 /lib/a.so", 0},
		     {"r--p 00001000 08:01 12 /lib/a.so", 0},
		     {"rw-p 00000000 00:00 0", 0},
		     {"r-xp 00000000 00:00 0 [vdso]", 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		one();
		lines[0] = '\0';
		map(image[0], cases[i].rest);
		CHECK(cases[i].is ? finds(&beacon[0]) : none(TACH_ERR_NOTFOUND, NO_LIBRARY),
		      "%s", cases[i].rest);
		CHECK(there_reads == (cases[i].is ? 5 : 1));
	}
	/* Lines of any length; a long line is ignored. */
	for (int other = 0; other < 2; other++) {
		one();
		long_line(image[1], "r--p 00000000 08:01 12 /", 'x', 1200);
		/* The part of the line that is read ends here. */
		if (other)
			lines[511 + sprintf(lines + 511, "%lx-0 r--p 0 0 0 /x",
					    (unsigned long)(uintptr_t)image[0])] = 'x';
		strcat(lines, "\n");
		if (!other)
			map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
		CHECK(other ? none(TACH_ERR_NOTFOUND, NO_LIBRARY) : finds(&beacon[0]));
	}
	/* The rest of this long line is one piece. */
	one();
	long_line(image[1], "r--p 00000000 08:01 12 /", 'x', 600);
	strcat(lines, "\n");
	map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
	CHECK(finds(&beacon[0]));
	/* 511 bytes of a line are read. */
	for (int more = 0; more < 2; more++) {
		one();
		long_line(image[0], "r--p 00000000 08:01 12 ", ' ', 512);
		strcpy(lines + 510 + more, "/\n");
		CHECK(more ? none(TACH_ERR_NOTFOUND, NO_LIBRARY) : finds(&beacon[0]));
	}
	/* The last line may end at the end of the file. */
	one();
	lines[strlen(lines) - 1] = '\0';
	CHECK(finds(&beacon[0]));
}

/* Two objects: the first owner is used, in any order. */
static void first_owner_is_used(void)
{
	for (int owner = 0; owner < 3; owner++) {
		one();
		memcpy(image[1], image[0], NOTES);
		there(image[1], sizeof *elf + HEADERS * sizeof *header);
		notes = 0;
		note(1, TACH__BEACON_NOTE, "tach", 8, &beacon[1]);
		there(image[1] + NOTES, notes);
		there(&beacon[1], sizeof *beacon);
		map(image[1], "r--p 00000000 08:01 12 /lib/b.so");
		beacon[0].state = owner == 1 ? TACH__BEACON_EXCLUDED : TACH__BEACON_OWNER;
		beacon[1].state = owner == 2 ? TACH__BEACON_ASLEEP : TACH__BEACON_OWNER;
		CHECK(finds(&beacon[owner == 1]), "%d", owner);
		CHECK(there_reads == (owner == 1 ? 4 + 5 : 5));
	}
}

/* ---- why not ---- */

static void refusals(void)
{
	static const char *const yamas[] = {
		"", "; kernel.yama.ptrace_scope is 1: as root, or with 0 there",
		"; kernel.yama.ptrace_scope is 2: as root only",
		"; kernel.yama.ptrace_scope is 3: no process may"};
	char why[300];

	begin();
	open_fails = ENOENT;
	CHECK(none(-ESRCH, "there is no process 4321") && there_reads == 0);
	open_fails = ESRCH;
	CHECK(none(-ESRCH, "there is no process 4321"));
	open_fails = EMFILE;
	snprintf(why, sizeof why, "process 4321 cannot be read: %s", tach_strerror(-EMFILE));
	CHECK(none(-EMFILE, why));
	for (yama_scope = -1; yama_scope < 5; yama_scope++) {
		snprintf(why, sizeof why,
			 "process 4321 may not be read: that needs its user and all "
			 "its capabilities, or CAP_SYS_PTRACE%s",
			 yamas[yama_scope < 0 || yama_scope > 3 ? 0 : yama_scope]);
		open_fails = EACCES;
		CHECK(none(TACH_ERR_PERMISSION, why));
		open_fails = EPERM;
		CHECK(none(TACH_ERR_PERMISSION, why));
		/* The list of objects can be read, but no byte of memory. */
		open_fails = 0;
		strcpy(lines, "x\n");
		there_fails = 1;
		there_code = -EPERM;
		CHECK(none(TACH_ERR_PERMISSION, why));
	}
	there_code = -ESRCH;
	CHECK(none(-ESRCH, "there is no process 4321"));
	there_code = -EFAULT;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	/* If anything could be read, the process permits reading. */
	one();
	beacon[0].state = TACH__BEACON_JOINED;
	there_fails = 5;
	there_code = -EPERM;
	CHECK(none(TACH_ERR_NOTFOUND, NOT_BEGUN) && there_reads == 4);
}

static void reads_are_complete_or_fail(void)
{
	struct tach_snapshot *s = (struct tach_snapshot *)(void *)lines,
			     **volatile nowhere = NULL;
	__typeof__(tach__sys) kernel = tach__sys;
	int process = PROCESS;

	tach__sys = sim_sys;
	moved = 5;
	CHECK(read_process(&process, moved_from, moved_to, 5) == 0);
	moved = 4;
	CHECK(read_process(&process, moved_from, moved_to, 5) == -EFAULT);
	moved = 0;
	CHECK(read_process(&process, moved_from, moved_to, 5) == -EFAULT);
	moved = -EPERM;
	CHECK(read_process(&process, moved_from, moved_to, 5) == -EPERM);
	errno = ENOTTY;
	CHECK(tach_snapshot_take_process(PROCESS, nowhere, &err) == TACH_ERR_INVAL &&
	      err.line == 0 && err.column == 0);
	CHECK(tach_snapshot_take_process(0, &s, &err) == TACH_ERR_INVAL);
	CHECK(tach_snapshot_take_process(-1, &s, &err) == TACH_ERR_INVAL);
	one();
	tach__sys = sim_process;
	CHECK(tach_snapshot_take_process(PROCESS, &s, &err) == TACH_ERR_STATE && !s &&
	      errno == ENOTTY && took == &beacon[0]);
	tach__sys = kernel;
	took = NULL;
	open_fails = ENOENT;
	CHECK(tach_snapshot_take_process(PROCESS, &s, &err) == -ESRCH && !s &&
	      errno == ENOTTY && !took);
	maps_path = "/proc/1/maps";
	CHECK(tach_snapshot_take_process(1, &s, &err) == -ESRCH);
}

int main(void)
{
	CASE(which_maps);
	CASE(first_owner_is_used);
	CASE(refusals);
	CASE(reads_are_complete_or_fail);
	return check_done();
}

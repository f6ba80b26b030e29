/* SPDX-License-Identifier: MIT */
/*
 * Several copies of the library in one process: the copy that each one finds, with simulated
 * objects.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "core/region/beacon.h"
#include "core/region/layout.h"
#include "tests/check.h"

enum { OBJECTS = 2, SEGMENTS = 4, LONG = 3000 };

static ElfW(Phdr) segment[OBJECTS][SEGMENTS];
static struct dl_phdr_info object[OBJECTS];
static int objects;

static int sim_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *context)
{
	for (int i = 0; i < objects; i++)
		CHECK(each(&object[i], sizeof object[i], context) == 0);
	return 0;
}

static int opens, no_dlopen;
static char opened[LONG + 1];

static void *open_file(const char *file, int how)
{
	CHECK(how == (RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
	opens++;
	snprintf(opened, sizeof opened, "%s", file);
	errno = ENOENT;
	return NULL;
}

static void *sim_symbol(void *where, const char *name)
{
	void *(*f)(const char *, int) = open_file;
	void *found;

	CHECK(where == RTLD_DEFAULT && strcmp(name, "dlopen") == 0);
	memcpy(&found, &f, sizeof found);
	errno = ENOMEM;
	return no_dlopen ? NULL : found;
}

#define dl_iterate_phdr sim_iterate
#define dlsym		sim_symbol
#include "core/region/beacon.c"

/* ---- notes ---- */

static _Alignas(8) char notes[512];
static size_t used, align;
static struct tach__beacon other;

static void begin(void)
{
	memset(notes, 0, sizeof notes);
	memset(segment, 0, sizeof segment);
	memset(object, 0, sizeof object);
	memset(&other, 0, sizeof other);
	other.magic = TACH__BEACON_MAGIC;
	other.layout = TACH__BEACON_LAYOUT;
	other.abi = 1;
	other.state = TACH__BEACON_OWNER;
	strcpy(other.version, "7.8.9");
	used = 0;
	align = 4;
	objects = 1;
	opens = no_dlopen = 0;
	owner = NULL;
	own_file[0] = '\0';
	tach__beacon.state = TACH__BEACON_ASLEEP;
	for (int i = 0; i < OBJECTS; i++) {
		object[i].dlpi_phdr = segment[i];
		object[i].dlpi_addr = (uintptr_t)notes - 64;
		object[i].dlpi_name = i ? "/lib/other.so" : "/lib/one.so";
	}
}

/* Writes a note that leads to a beacon, with all fields correct. */
static void note(uint32_t type, const char *name, size_t length, size_t size,
		 const struct tach__beacon *to)
{
	ElfW(Nhdr) head = {(ElfW(Word))length, (ElfW(Word))size, type};
	size_t desc = used + (sizeof head + length + align - 1) / align * align;
	int64_t offset = (const char *)to - (notes + desc);

	memcpy(notes + used, &head, sizeof head);
	memcpy(notes + used + sizeof head, name, length);
	memcpy(notes + desc, &offset, sizeof offset);
	used = desc + (size + align - 1) / align * align;
}

static void segment_is(int of, int i, uint32_t type, size_t from, size_t to)
{
	segment[of][i] = (ElfW(Phdr)){
		.p_type = type, .p_vaddr = 64 + from, .p_memsz = to - from, .p_align = align};
	object[of].dlpi_phnum = (ElfW(Half))(i + 1);
}

static int is_found(void)
{
	struct search s = {.owner = NULL};

	dl_iterate_phdr(check_object, &s);
	CHECK(!s.owner || (s.owner == &other && strcmp(s.owner_file, "/lib/one.so") == 0));
	return s.owner != NULL;
}

static void beacon_is_found_among_notes(void)
{
	for (size_t each = 4; each <= 16; each *= 2)
		for (size_t odd = 0; odd < 10; odd++) {
			begin();
			align = each == 8 ? 8 : 4;
			note(3, "tach", 5, odd, &other);
			note(1, "libtach.so", odd, 8, &other);
			note(2, "tach", 5, 8, &other);
			align = each;
			segment_is(0, 0, PT_NOTE, 0, used);
			CHECK(is_found(), "%zu %zu", each, odd);
		}
}

static void other_notes(void)
{
	begin();
	note(3, "tach", 5, 8, &other);
	note(2, "tach", 4, 8, &other);
	note(2, "tach\0", 6, 8, &other);
	note(2, "tach", 5, 7, &other);
	note(2, "tach", 5, 9, &other);
	note(2, "tacx", 5, 8, &other);
	note(2, "tachx", 5, 8, &other);
	segment_is(0, 0, PT_NOTE, 0, used);
	CHECK(!is_found());
	/* The search ends at the segment's end. */
	begin();
	note(2, "tach", 5, 8, &other);
	for (size_t end = 0; end <= used; end++) {
		segment_is(0, 0, PT_NOTE, 0, end);
		CHECK(is_found() == (end == used), "%zu", end);
	}
	/* The search skips other segments, and ends at the last one. */
	segment_is(0, 0, PT_LOAD, 0, used);
	segment_is(0, 1, PT_NOTE, 0, used);
	CHECK(is_found());
	object[0].dlpi_phnum = 1;
	CHECK(!is_found());
}

/* ---- the owner of the regions ---- */

static void is_beacon(int of, const struct tach__beacon *b)
{
	size_t from = used;

	note(2, "tach", 5, 8, b);
	segment_is(of, 0, PT_NOTE, from, used);
}

static void beacon_describes_this_copy(void)
{
	CHECK(tach__beacon.magic == 0x68636174u && tach__beacon.layout == 1);
	CHECK(tach__beacon.size == sizeof tach__beacon && tach__beacon.abi == 1);
	CHECK(strcmp(tach__beacon.version, TACH_VERSION_STRING) == 0);
	CHECK(tach__beacon.registry == &tach__registry);
	CHECK(tach__beacon.registry_layout == TACH__REGISTRY_LAYOUT);
}

static void the_only_copy_is_the_owner(void)
{
	begin();
	objects = OBJECTS;
	is_beacon(0, &tach__beacon);
	is_beacon(1, &other);
	other.state = TACH__BEACON_JOINED;
	tach__beacon_claim();
	CHECK(tach__beacon.state == TACH__BEACON_OWNER && !opens && !owner);
	CHECK(!tach__beacon_owner() && !tach__beacon_is_excluded());
	CHECK(strcmp(own_file, "/lib/one.so") == 0);
	other.state = TACH__BEACON_OWNER;
	other.magic++;
	tach__beacon_claim();
	CHECK(tach__beacon.state == TACH__BEACON_OWNER && !opens && !owner);
	/* The object is never unloaded after that; errno keeps the program's value. */
	errno = EXDEV;
	tach__beacon_keep_loaded();
	CHECK(opens == 1 && strcmp(opened, "/lib/one.so") == 0 && errno == EXDEV);
	no_dlopen = 1;
	tach__beacon_keep_loaded();
	CHECK(opens == 1 && errno == EXDEV);
	no_dlopen = 0;
	object[0].dlpi_name = "";
	tach__beacon_claim();
	tach__beacon_keep_loaded();
	CHECK(opens == 1 && errno == EXDEV);
}

static void copy_joins_the_owner(void)
{
	begin();
	objects = OBJECTS;
	is_beacon(0, &tach__beacon);
	is_beacon(1, &other);
	tach__beacon_claim();
	CHECK(tach__beacon.state == TACH__BEACON_JOINED && !tach__beacon_is_excluded());
	CHECK(tach__beacon_owner() == &other && !other.others[0]);
	CHECK(opens == 1 && strcmp(opened, "/lib/other.so") == 0);
	/* The copy that it joined no longer owns the regions. */
	tach__beacon.state = TACH__BEACON_OWNER;
	CHECK(!tach__beacon_owner());
}

static void does_not_fit(void)
{
	static const char says[] = "the regions of %s are left out: its libtach, version %s, "
				   "does not fit version 7.8.9";
	char text[256];

	for (int i = 0; i < 4; i++) {
		begin();
		objects = OBJECTS;
		is_beacon(0, &tach__beacon);
		is_beacon(1, &other);
		other.layout += i % 2 ? 0 : 1;
		other.abi += i ? 1 : 0;
		if (i > 1)
			object[0].dlpi_name = "";
		tach__beacon_claim();
		CHECK(tach__beacon.state == TACH__BEACON_EXCLUDED &&
		      tach__beacon_is_excluded() == 1);
		CHECK(!tach__beacon_owner() && opens == 1);
		snprintf(text, sizeof text, says, i > 1 ? "the program" : "/lib/one.so",
			 TACH_VERSION_STRING);
		CHECK(strcmp(other.others, text) == 0, "%s", other.others);
	}
}

static void long_names(void)
{
	static char name[LONG + 1];

	memset(name, 'x', LONG);
	begin();
	objects = OBJECTS;
	is_beacon(0, &tach__beacon);
	is_beacon(1, &other);
	object[0].dlpi_name = object[1].dlpi_name = name;
	tach__beacon_claim();
	CHECK(strlen(opened) == 1023);
	/* The copy's whole file name is stored, with its terminating 0. */
	CHECK(sizeof own_file == sizeof((struct search *)0)->own_file);
	tach__beacon_keep_loaded();
	CHECK(opens == 2 && strlen(opened) == 1023);
}

static void refused(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	begin();
	err.line = err.column = 7;
	CHECK(tach__beacon_refuse(&err) == TACH_ERR_STATE && strstr(err.text, "version ?;"));
	CHECK(err.code == TACH_ERR_STATE && !err.line && !err.column);
	owner = &other;
	CHECK(tach__beacon_refuse(&err) == TACH_ERR_STATE);
	CHECK(strstr(err.text, "version 7.8.9; this is version " TACH_VERSION_STRING));
}

int main(void)
{
	CASE(beacon_describes_this_copy);
	CASE(beacon_is_found_among_notes);
	CASE(other_notes);
	CASE(the_only_copy_is_the_owner);
	CASE(copy_joins_the_owner);
	CASE(does_not_fit);
	CASE(long_names);
	CASE(refused);
	return check_done();
}

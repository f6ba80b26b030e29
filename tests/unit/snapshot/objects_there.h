/* SPDX-License-Identifier: MIT */
/* Simulated objects of another process, with their notes and beacons, and its memory map. */
#ifndef TESTS_UNIT_SNAPSHOT_OBJECTS_THERE_H
#define TESTS_UNIT_SNAPSHOT_OBJECTS_THERE_H

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <tach.h>
#include "core/base/error.h"
#include "core/os/kernel_files.h"
#include "core/os/sys.h"
#include "core/snapshot/snapshot.h"
#include "tests/check.h"
#include "tests/unit/snapshot/there.h"

enum { PROCESS = 4321 };
static char lines[4096];
static const char *maps_path;
static int open_fails, opened;

static inline FILE *sim_open(const char *path, const char *mode)
{
	CHECK(strcmp(path, maps_path) == 0 && strcmp(mode, "re") == 0);
	errno = open_fails;
	if (open_fails)
		return NULL;
	opened++;
	return fmemopen(lines, strlen(lines), "r");
}

static inline int sim_close(FILE *f)
{
	opened--;
	return fclose(f);
}

static int yama_scope; /* value of ptrace_scope; -1: the file does not exist */

static inline int sim_number(const char *root, const char *path, uint64_t *out)
{
	CHECK(!*root && strcmp(path, "/proc/sys/kernel/yama/ptrace_scope") == 0);
	*out = yama_scope < 0 ? 3 : (uint64_t)yama_scope;
	return yama_scope < 0 ? -1 : 0;
}

static long moved; /* result of process_vm_readv */
static char moved_from[8], moved_to[8];

static inline long sim_sys(long number, long process, long here, long nhere, long from,
			   long nfrom, long flags)
{
	const struct iovec *to_at = (const struct iovec *)here;
	const struct iovec *from_at = (const struct iovec *)from;

	CHECK(number == SYS_process_vm_readv && process == PROCESS && nhere == 1 &&
	      nfrom == 1 && flags == 0);
	CHECK(to_at->iov_base == moved_to && from_at->iov_base == moved_from &&
	      to_at->iov_len == 5 && from_at->iov_len == 5);
	return moved;
}

/* Calls the real function, unless the test sets a result. */
static inline long sim_process(long number, long process, long here, long nhere, long from,
			       long nfrom, long flags)
{
	const struct iovec *to_at = (const struct iovec *)here;
	const struct iovec *from_at = (const struct iovec *)from;
	int code = there_read(NULL, from_at->iov_base, to_at->iov_base, to_at->iov_len);

	CHECK(number == SYS_process_vm_readv && process == PROCESS && nhere == 1 &&
	      nfrom == 1 && flags == 0);
	return code ? code : (long)to_at->iov_len;
}

static const struct tach__beacon *took;

static inline int sim_take(struct tach__remote *r, const struct tach__beacon *beacon,
			   struct tach_snapshot **out, struct tach_error *err)
{
	(void)err;
	CHECK(r->left <= TACH__REMOTE_BYTES && *(const int *)r->context == PROCESS && !*out);
	took = beacon;
	errno = EBADF;
	return TACH_ERR_STATE;
}

#define fopen		  sim_open
#define fclose		  sim_close
#define tach__file_number sim_number
#define tach__remote_take sim_take
#include "core/snapshot/remote_find.c"
#undef fopen
#undef fclose

enum { AT = 0x10000, IMAGE = 3 * 4096, NOTES = 4096, HEADERS = 3 };

/* The notes of an object begin at its second page. */
static char image[2][IMAGE] __attribute__((aligned(4096)));
static Elf64_Ehdr *elf;
static Elf64_Phdr *header;
static size_t notes; /* bytes of them */
static struct tach__beacon beacon[2];
static struct tach__remote remote;
static struct tach_error err = TACH_ERROR_INIT;

/* Bytes after the requested ones, which the reader must not use. */
static const char *behind_of;
static size_t behind;

static inline int sim_read(void *context, const void *at, void *to, size_t size)
{
	int code = there_read(context, at, to, size);

	CHECK(at || size == 1);
	if (code == 0 && at == behind_of)
		memcpy((char *)to + size, behind_of + size, behind);
	return code;
}

static inline void map(const void *at, const char *rest)
{
	sprintf(lines + strlen(lines), "%lx-%lx %s\n", (unsigned long)(uintptr_t)at,
		(unsigned long)(uintptr_t)at + 4096, rest);
}

static inline void begin(void)
{
	there_forget();
	remote = there_remote();
	remote.read = sim_read;
	behind_of = NULL;
	lines[0] = '\0';
	maps_path = "/proc/4321/maps";
	open_fails = opened = yama_scope = 0;
	memset(image, 0, sizeof image);
	elf = (Elf64_Ehdr *)(void *)image[0];
	memcpy(elf->e_ident, ELFMAG, SELFMAG);
	elf->e_ident[EI_CLASS] = ELFCLASS64;
	elf->e_phentsize = sizeof *header;
	elf->e_phoff = sizeof *elf;
	elf->e_phnum = HEADERS;
	header = (Elf64_Phdr *)(void *)(image[0] + elf->e_phoff);
	header[0].p_type = PT_PHDR;
	header[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = AT};
	header[2] = (Elf64_Phdr){.p_type = PT_NOTE, .p_vaddr = AT + NOTES};
	notes = 0;
	for (int i = 0; i < 2; i++) {
		beacon[i] = tach__beacon;
		beacon[i].magic = TACH__BEACON_MAGIC;
		beacon[i].layout = TACH__BEACON_LAYOUT;
		beacon[i].size = sizeof *beacon;
		beacon[i].state = TACH__BEACON_OWNER;
		memset(beacon[i].version, '7', sizeof beacon[i].version);
	}
}

/* Adds a note to an object; it points to `to`. */
static inline void note(int of, uint32_t type, const char *name, uint32_t size, const void *to)
{
	char *at = image[of] + NOTES + notes;
	Elf64_Nhdr head = {(uint32_t)strlen(name) + 1, size, type};
	size_t named = (head.n_namesz + 3u) & ~3u;
	int64_t offset;

	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, name, head.n_namesz);
	at += sizeof head + named;
	offset = (int64_t)((uintptr_t)to - (uintptr_t)at);
	if (size == sizeof offset)
		memcpy(at, &offset, sizeof offset);
	notes += sizeof head + named + ((size + 3u) & ~3u);
}

/* Only the bytes of the object that it uses are readable. */
static inline void there_object(int of)
{
	const Elf64_Ehdr *e = (const void *)image[of];

	header[2].p_memsz = notes;
	there(image[of], sizeof *e);
	there(image[of] + e->e_phoff, (size_t)e->e_phnum * sizeof *header);
	there(image[of] + NOTES, notes);
}

static inline int find(const struct tach__beacon **found)
{
	int code;

	*found = NULL;
	code = tach__remote_find(&remote, PROCESS, found, &err);
	CHECK((code == 0) == (*found != NULL) && opened == 0 &&
	      (code == 0 || err.code == code));
	CHECK(code == 0 || (err.line == 0 && err.column == 0));
	return code;
}

static inline int finds(const struct tach__beacon *it)
{
	const struct tach__beacon *found;

	return find(&found) == 0 && found == it;
}

static inline int none(int code, const char *why)
{
	const struct tach__beacon *found;
	int is = find(&found);

	if (is == code && strcmp(err.text, why) == 0)
		return 1;
	printf("# %d: %s\n", is, err.text);
	return 0;
}

#define NO_LIBRARY "there is no libtach in process 4321"
#define NOT_BEGUN  "the regions of process 4321 have not begun yet"
#define ANOTHER                                                                                \
	"the regions of process 4321 are those of libtach 7777777777777777777777777777777, "   \
	"which " TACH_VERSION_STRING " cannot read; the tach of that version can"

/* The first object has the notes made before, and the beacon; it exists and is mapped. */
static inline void one_is_there(void)
{
	there_object(0);
	there(&beacon[0], sizeof *beacon);
	map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
}

/*
 * Makes one object with one note of that beacon; one_behind: after another note of this size.
 */
static inline void one(void)
{
	begin();
	note(0, TACH__BEACON_NOTE, "tach", 8, &beacon[0]);
	one_is_there();
}

static inline void one_behind(uint32_t bytes)
{
	begin();
	note(0, 3, "abc", bytes, NULL);
	note(0, TACH__BEACON_NOTE, "tach", 8, &beacon[0]);
	one_is_there();
}

#endif

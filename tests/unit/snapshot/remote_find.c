/* SPDX-License-Identifier: MIT */
/* Which copy of the library has another process's regions: objects, their notes and beacons as
 * a test has them, and what is said where there is none. */
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
static int open_fails, opened;

static FILE *sim_open(const char *path, const char *mode)
{
	CHECK(strcmp(path, "/proc/4321/maps") == 0 && strcmp(mode, "re") == 0);
	errno = open_fails;
	if (open_fails)
		return NULL;
	opened++;
	return fmemopen(lines, strlen(lines), "r");
}

static int sim_close(FILE *f)
{
	opened--;
	return fclose(f);
}

static int yama_scope; /* of Yama; -1: there is no such file */

static int sim_number(const char *root, const char *path, uint64_t *out)
{
	CHECK(!*root && strcmp(path, "/proc/sys/kernel/yama/ptrace_scope") == 0);
	if (yama_scope < 0)
		return -1;
	*out = (uint64_t)yama_scope;
	return 0;
}

static long moved; /* what process_vm_readv says */
static char moved_from[8], moved_to[8];

static long sim_sys(long number, long process, long here, long nhere, long from, long nfrom,
		    long flags)
{
	const struct iovec *to_at = (const struct iovec *)here;
	const struct iovec *from_at = (const struct iovec *)from;

	CHECK(number == SYS_process_vm_readv && process == PROCESS && nhere == 1 &&
	      nfrom == 1 && flags == 0);
	CHECK(to_at->iov_base == moved_to && from_at->iov_base == moved_from &&
	      to_at->iov_len == 5 && from_at->iov_len == 5);
	return moved;
}

/* The same of what is there. */
static long sim_process(long number, long process, long here, long nhere, long from, long nfrom,
			long flags)
{
	const struct iovec *to_at = (const struct iovec *)here;
	const struct iovec *from_at = (const struct iovec *)from;
	int code = there_read(NULL, from_at->iov_base, to_at->iov_base, to_at->iov_len);

	CHECK(number == SYS_process_vm_readv && process == PROCESS && nhere == 1 &&
	      nfrom == 1 && flags == 0);
	return code ? code : (long)to_at->iov_len;
}

static const struct tach__beacon *took;

static int sim_take(struct tach__remote *r, const struct tach__beacon *beacon,
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

/* An object whose notes begin with its second page. */
static char image[2][IMAGE] __attribute__((aligned(4096)));
static Elf64_Ehdr *elf;
static Elf64_Phdr *header;
static size_t notes; /* bytes of them */
static struct tach__beacon beacon[2];
static struct tach__remote remote;
static struct tach_error err = TACH_ERROR_INIT;

static void map(const void *at, const char *rest)
{
	sprintf(lines + strlen(lines), "%lx-%lx %s\n", (unsigned long)(uintptr_t)at,
		(unsigned long)(uintptr_t)at + 4096, rest);
}

static void begin(void)
{
	there_forget();
	remote = there_remote();
	lines[0] = '\0';
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

/* Of an object's notes the next one; it points to `to`. */
static void note(int of, uint32_t type, const char *name, uint32_t size, const void *to)
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

/* What it takes of the object, and not a byte more, can be read. */
static void there_object(int of)
{
	const Elf64_Ehdr *e = (const void *)image[of];

	header[2].p_memsz = notes;
	there(image[of], sizeof *e);
	there(image[of] + e->e_phoff, (size_t)e->e_phnum * sizeof *header);
	there(image[of] + NOTES, notes);
}

static int find(const struct tach__beacon **found)
{
	int code;

	*found = NULL;
	code = tach__remote_find(&remote, PROCESS, found, &err);
	CHECK((code == 0) == (*found != NULL) && opened == 0 &&
	      (code == 0 || err.code == code));
	CHECK(code == 0 || (err.line == 0 && err.column == 0));
	return code;
}

static int finds(const struct tach__beacon *it)
{
	const struct tach__beacon *found;

	return find(&found) == 0 && found == it;
}

static int none(int code, const char *why)
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

/* One object with one note, of that beacon. */
static void one(void)
{
	begin();
	note(0, TACH__BEACON_NOTE, "tach", 8, &beacon[0]);
	there_object(0);
	there(&beacon[0], sizeof *beacon);
	map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
}

/* ---- beacons ---- */

static void beacons(void)
{
	one();
	CHECK(finds(&beacon[0]) && there_reads == 5, "%u", there_reads);
	one();
	beacon[0].magic++;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	one();
	beacon[0].state = TACH__BEACON_JOINED;
	CHECK(none(TACH_ERR_NOTFOUND, NOT_BEGUN));
	one();
	there_n--;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	/* Of another layout what never changes is looked at, and no more. */
	for (int i = 0; i < 2; i++) {
		one();
		beacon[0].layout += i == 0;
		beacon[0].size -= i == 1;
		there_n--;
		there(&beacon[0], offsetof(struct tach__beacon, others));
		CHECK(none(TACH_ERR_NOTSUPP, ANOTHER), "%d", i);
		CHECK(there_reads == 4);
	}
	one();
	beacon[0].size++;
	CHECK(finds(&beacon[0]));
	one();
	beacon[0].registry_layout++;
	CHECK(none(TACH_ERR_NOTSUPP, ANOTHER));
	/* Found by itself its layout says nothing. */
	one();
	beacon[0].layout++;
	beacon[0].registry_layout = tach__beacon.registry_layout;
	CHECK(none(TACH_ERR_NOTSUPP, ANOTHER));
}

/* ---- notes ---- */

static void other_notes(void)
{
	static const struct {
		uint32_t type;
		const char *name;
		uint32_t size;
		int is;
	} cases[] = {{TACH__BEACON_NOTE, "tach", 8, 1},	 {TACH__BEACON_NOTE + 1, "tach", 8, 0},
		     {TACH__BEACON_NOTE, "tacg", 8, 0},	 {TACH__BEACON_NOTE, "tac", 8, 0},
		     {TACH__BEACON_NOTE, "tachy", 8, 0}, {TACH__BEACON_NOTE, "tach", 4, 0},
		     {TACH__BEACON_NOTE, "tach", 16, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		note(0, cases[i].type, cases[i].name, cases[i].size, &beacon[0]);
		there_object(0);
		there(&beacon[0], sizeof *beacon);
		map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
		CHECK(cases[i].is ? finds(&beacon[0]) : none(TACH_ERR_NOTFOUND, NO_LIBRARY),
		      "%d", (int)i);
	}
	/* Cut off by the end of the segment. */
	one();
	header[2].p_memsz--;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	one();
	header[2].p_memsz = sizeof(Elf64_Nhdr) - 1;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2 + 1);
}

/* Notes of all sizes before it, in windows of 4096 bytes. */
static void many_notes(void)
{
	for (uint32_t before = 0; before < 5000; before += 4) {
		static const char *const names[] = {"", "a", "abc", "abcd", "stapsdt"};
		uint32_t i = 0;

		begin();
		while (notes + 64 <= before) {
			note(0, 3, names[i % 5], i * 7 % 30, NULL);
			i++;
		}
		/* One that makes up what is left. */
		if (before > notes + 16)
			note(0, 3, "abc", before - (uint32_t)notes - 16, NULL);
		note(0, TACH__BEACON_NOTE, "tach", 8, &beacon[0]);
		note(0, 3, "a", 9, NULL);
		there_object(0);
		there(&beacon[0], sizeof *beacon);
		map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
		CHECK(finds(&beacon[0]), "behind %u bytes", before);
	}
	/* One that is longer than a window, or than what there is. */
	begin();
	note(0, 3, "abc", 4500, NULL);
	note(0, TACH__BEACON_NOTE, "tach", 8, &beacon[0]);
	there_object(0);
	there(&beacon[0], sizeof *beacon);
	map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
	CHECK(finds(&beacon[0]));
	begin();
	note(0, 3, "abc", 100, NULL);
	note(0, 3, "abc", 8, NULL);
	there_object(0);
	((Elf64_Nhdr *)(void *)(image[0] + NOTES + notes - 24))->n_descsz = ~0u - 64;
	map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 5, "%u", there_reads);
	/* Of what says that it is endless no more than 64 MiB are gone through. */
	for (uint32_t less = 0; less <= 64; less += 64) {
		begin();
		note(0, 3, "abc", 100, NULL);
		there_object(0);
		header[2].p_memsz = 1ull << 40;
		there_n--;
		there(image[0] + NOTES, 4096);
		((Elf64_Nhdr *)(void *)(image[0] + NOTES))->n_descsz = (1u << 26) - 16 - less;
		map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
		CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 3 + (less > 0) + 1,
		      "%u", there_reads);
	}
}

/* ---- objects ---- */

static void objects(void)
{
	one();
	image[0][1] = 'F';
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	one();
	elf->e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	one();
	elf->e_phentsize--;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	one();
	there_n = 0;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	/* Headers up to 4096 bytes away, and 64 of them. */
	for (int far = 0; far < 2; far++) {
		one();
		elf->e_phoff = 4096 + (far ? 8 : 0);
		memmove(image[0] + IMAGE - notes, image[0] + NOTES, notes);
		memcpy(image[0] + elf->e_phoff, header, HEADERS * sizeof *header);
		header = (Elf64_Phdr *)(void *)(image[0] + elf->e_phoff);
		header[2].p_vaddr = AT + IMAGE - notes;
		there_n = 0;
		there(image[0], IMAGE);
		there(&beacon[0], sizeof *beacon);
		*(int64_t *)(void *)(image[0] + IMAGE - 8) =
			(int64_t)((uintptr_t)&beacon[0] - (uintptr_t)(image[0] + IMAGE - 8));
		CHECK(far ? none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2
			  : finds(&beacon[0]));
	}
	for (int n = 63; n <= 66; n++) {
		one();
		elf->e_phnum = (uint16_t)n;
		header[n - 1] = header[2];
		header[2].p_type = PT_NULL;
		there_n = 0;
		there(image[0], sizeof *elf + (size_t)(n < 64 ? n : 64) * sizeof *header);
		there(image[0] + NOTES, notes);
		there(&beacon[0], sizeof *beacon);
		CHECK(n <= 64 ? finds(&beacon[0]) : none(TACH_ERR_NOTFOUND, NO_LIBRARY), "%d",
		      n);
	}
	one();
	elf->e_phnum = 2;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
}

/* From where its addresses are reckoned. */
static void biases(void)
{
	one();
	header[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = 4096, .p_vaddr = 7};
	CHECK(finds(&beacon[0]));
	one();
	header[0] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = 0, .p_vaddr = 7};
	CHECK(finds(&beacon[0]));
	one();
	header[1].p_offset = 4096;
	header[2].p_vaddr = NOTES;
	CHECK(finds(&beacon[0]));
	/* The first of the notes that has one. */
	one();
	elf->e_phnum = HEADERS + 1;
	header[HEADERS] = header[2];
	header[2].p_vaddr = AT;
	header[2].p_memsz = 0;
	there(image[0], sizeof *elf + (HEADERS + 1) * sizeof *header);
	CHECK(finds(&beacon[0]));
}

/* ---- maps ---- */

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
	size_t length;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		one();
		lines[0] = '\0';
		map(image[0], cases[i].rest);
		CHECK(cases[i].is ? finds(&beacon[0]) : none(TACH_ERR_NOTFOUND, NO_LIBRARY),
		      "%s", cases[i].rest);
		CHECK(there_reads == (cases[i].is ? 5 : 1));
	}
	/* Lines of any length; what stands in a long one is none. */
	for (int other = 0; other < 2; other++) {
		one();
		lines[0] = '\0';
		map(image[1], "r--p 00000000 08:01 12 /");
		length = strlen(lines) - 1;
		memset(lines + length, 'x', 1200);
		lines[length + 1200] = '\0';
		/* Where what is read of a line ends. */
		if (other)
			length = (size_t)sprintf(lines + 511, "%lx-0 r--p 0 0 0 /x",
						 (unsigned long)(uintptr_t)image[0]);
		if (other)
			lines[511 + length] = 'x';
		strcat(lines, "\n");
		if (!other)
			map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
		CHECK(other ? none(TACH_ERR_NOTFOUND, NO_LIBRARY) : finds(&beacon[0]));
	}
	/* The last line may end with the file. */
	one();
	lines[strlen(lines) - 1] = '\0';
	CHECK(finds(&beacon[0]));
}

/* Two objects: of the first owner, and of no other, whichever comes first. */
static void which_owner(void)
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
		beacon[0].state = owner == 1 ? TACH__BEACON_ALONE : TACH__BEACON_OWNER;
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
	snprintf(why, sizeof why, "process 4321 cannot be looked into: %s",
		 tach_strerror(-EMFILE));
	CHECK(none(-EMFILE, why));
	for (yama_scope = -1; yama_scope < 5; yama_scope++) {
		snprintf(why, sizeof why,
			 "process 4321 may not be looked into: that takes its user and no "
			 "capability that you lack, or CAP_SYS_PTRACE%s",
			 yamas[yama_scope < 0 || yama_scope > 3 ? 0 : yama_scope]);
		open_fails = EACCES;
		CHECK(none(TACH_ERR_PERMISSION, why));
		open_fails = EPERM;
		CHECK(none(TACH_ERR_PERMISSION, why));
		/* The file may be read, but no byte of its memory. */
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
	/* Where something was read it may be. */
	one();
	beacon[0].state = TACH__BEACON_JOINED;
	there_fails = 5;
	there_code = -EPERM;
	CHECK(none(TACH_ERR_NOTFOUND, NOT_BEGUN) && there_reads == 4);
}

static void the_door(void)
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
}

int main(void)
{
	CASE(beacons);
	CASE(other_notes);
	CASE(many_notes);
	CASE(objects);
	CASE(biases);
	CASE(which_maps);
	CASE(which_owner);
	CASE(refusals);
	CASE(the_door);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Finds the copy of the library that owns another process's regions, by its beacon. It checks
 * each object whose beginning is mapped. Reads the process's memory instead of the object's
 * file, which may have been replaced, or may be in another mount namespace.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "core/base/error.h"
#include "core/os/kernel_files.h"
#include "core/os/sys.h"
#include "core/snapshot/remote.h"
#include "core/snapshot/snapshot.h"

enum { PHDRS_MAX = 64, WINDOW = 4096, NOTES_MAX = 1 << 26, LINES_A_LOOK_AT_THE_CLOCK = 256 };

struct find {
	struct tach__remote *remote;
	/* results: the owner's beacon, and the beacon of a copy that is not the owner */
	const struct tach__beacon *owner, *other;
	struct tach__beacon beacon; /* the last beacon that was read */
};

/* ---- beacons ---- */

static void check_beacon(struct find *f, const struct tach__beacon *at)
{
	struct tach__beacon b;

	/* The fields before `others` are the same in all versions. */
	if (tach__remote_get(f->remote, at, &b, offsetof(struct tach__beacon, others)) != 0 ||
	    b.magic != TACH__BEACON_MAGIC)
		return;
	if (b.state != TACH__BEACON_OWNER) {
		f->other = at;
		return;
	}
	b.registry_layout = 0; /* unknown, unless the next read succeeds */
	if (b.layout == TACH__BEACON_LAYOUT && b.size >= sizeof b)
		tach__remote_get(f->remote, at, &b, sizeof b);
	f->beacon = b;
	f->owner = at;
}

static size_t pad_note(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Checks the note at the beginning of `bytes`, which was read from `at`. Returns its length. */
static size_t look_at_note(struct find *f, const char *at, const char *bytes, size_t size)
{
	Elf64_Nhdr note;
	size_t desc, length;
	int64_t offset;

	memcpy(&note, bytes, sizeof note);
	desc = sizeof note + pad_note(note.n_namesz);
	length = desc + pad_note(note.n_descsz);
	if (length <= size && note.n_type == TACH__BEACON_NOTE && note.n_namesz == 5 &&
	    note.n_descsz == sizeof offset && memcmp(bytes + sizeof note, "tach", 5) == 0) {
		memcpy(&offset, bytes + desc, sizeof offset);
		check_beacon(f, (const void *)((uintptr_t)at + desc + (uintptr_t)offset));
	}
	return length;
}

/* Looks through a segment of notes. There may be many, because modules with counter
 * instructions have notes, too. */
static void look_through(struct find *f, const char *at, size_t size)
{
	char window[WINDOW];

	while (size >= sizeof(Elf64_Nhdr) && !f->owner) {
		size_t n = size < sizeof window ? size : sizeof window, used = 0;

		if (tach__remote_get(f->remote, at, window, n) != 0)
			return;
		while (used <= n - sizeof(Elf64_Nhdr)) {
			size_t length = look_at_note(f, tach__remote_at(at, used),
						     window + used, n - used);

			if (used && length > n - used)
				break;
			used += length;
		}
		used = used < size ? used : size;
		at = tach__remote_at(at, used);
		size -= used;
	}
}

/* ---- objects ---- */

/* Returns the difference between addresses in memory and in the headers. It is 0 for an object
 * that is linked for a fixed address. */
static uintptr_t load_bias(const Elf64_Phdr *h, int n, const char *at)
{
	for (int i = 0; i < n; i++)
		if (h[i].p_type == PT_LOAD && h[i].p_offset == 0)
			return (uintptr_t)at - h[i].p_vaddr;
	return (uintptr_t)at;
}

static void check_object(struct find *f, const char *at)
{
	Elf64_Phdr header[PHDRS_MAX];
	Elf64_Ehdr elf;
	int n;

	if (tach__remote_get(f->remote, at, &elf, sizeof elf) != 0 ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_phentsize != sizeof *header || elf.e_phoff > WINDOW)
		return;
	n = elf.e_phnum < PHDRS_MAX ? elf.e_phnum : PHDRS_MAX;
	if (tach__remote_get(f->remote, tach__remote_at(at, elf.e_phoff), header,
			     (size_t)n * sizeof *header) != 0)
		return;
	for (int i = 0; i < n && !f->owner; i++)
		if (header[i].p_type == PT_NOTE)
			look_through(
				f, (const char *)(load_bias(header, n, at) + header[i].p_vaddr),
				header[i].p_memsz < NOTES_MAX ? header[i].p_memsz : NOTES_MAX);
}

/*
 * A process may have 65,530 mappings (vm.max_map_count). Reading their list takes time, so the
 * limits apply here, too.
 */
static int look_at_maps(struct find *f, FILE *maps)
{
	unsigned long long begin, offset;
	char line[512], access[8];
	unsigned n = 0;

	while (!f->owner && fgets(line, sizeof line, maps)) {
		int whole = strchr(line, '\n') != NULL;

		if (sscanf(line, "%llx-%*x %7s %llx", &begin, access, &offset) == 3 &&
		    access[0] == 'r' && offset == 0 && strchr(line, '/'))
			check_object(f, (const char *)(uintptr_t)begin);
		while (!whole && fgets(line, sizeof line, maps))
			whole = strchr(line, '\n') != NULL;
		if (++n % LINES_A_LOOK_AT_THE_CLOCK == 0 && tach__remote_left(f->remote) < 0)
			return TACH_ERR_TOOMANY;
	}
	return 0;
}

/* ---- rights ---- */

static const char *yama_hint(void)
{
	static const char *const says[] = {
		"",
		"; kernel.yama.ptrace_scope is 1: as root, or with 0 there",
		"; kernel.yama.ptrace_scope is 2: as root only",
		"; kernel.yama.ptrace_scope is 3: no process may",
	};
	uint64_t scope;

	if (tach__file_number("", "/proc/sys/kernel/yama/ptrace_scope", &scope) != 0)
		scope = 0;
	return says[scope < 4 ? scope : 0];
}

/* Returns an error for a process that cannot be read. ptrace(2), "Ptrace access mode checking",
 * has the rules. */
static int refuse(int process, int code, struct tach_error *err)
{
	if (code == -ESRCH || code == -ENOENT)
		return tach__error(err, -ESRCH, 0, 0, "there is no process %d", process);
	if (code == -EPERM || code == -EACCES)
		return tach__error(err, TACH_ERR_PERMISSION, 0, 0,
				   "process %d may not be read: that needs its user and all "
				   "its capabilities, or CAP_SYS_PTRACE%s",
				   process, yama_hint());
	if (code == TACH_ERR_TOOMANY)
		return tach__error(err, code, 0, 0,
				   "process %d takes too long to search, or is damaged",
				   process);
	return tach__error(err, code, 0, 0, "process %d cannot be read: %s", process,
			   tach_strerror(code));
}

static int explain_not_found(const struct find *f, int process, struct tach_error *err)
{
	if (!f->owner)
		return tach__error(err, TACH_ERR_NOTFOUND, 0, 0,
				   f->other ? "the regions of process %d have not begun yet"
					    : "there is no libtach in process %d",
				   process);
	/* Its version may not be terminated. */
	return tach__error(
		err, TACH_ERR_NOTSUPP, 0, 0,
		"the regions of process %d are those of libtach %.31s, which %s cannot "
		"read; the tach of that version can",
		process, f->beacon.version, TACH_VERSION_STRING);
}

int tach__remote_find(struct tach__remote *r, int process, const struct tach__beacon **out,
		      struct tach_error *err)
{
	struct find f = {.remote = r};
	char path[64], byte;
	FILE *maps;
	int code;

	snprintf(path, sizeof path, "/proc/%d/maps", process);
	maps = fopen(path, "re");
	code = maps ? look_at_maps(&f, maps) : -errno;
	if (maps) {
		/*
		 * No copy was found. Read address 0, where no program has memory: an error
		 * other than EFAULT shows that memory cannot be read, and why.
		 */
		if (!f.owner && !f.other && !code)
			code = r->read(r->context, NULL, &byte, 1);
		fclose(maps);
	}
	if (code && code != -EFAULT)
		return refuse(process, code, err);
	if (!f.owner || f.beacon.layout != TACH__BEACON_LAYOUT ||
	    f.beacon.registry_layout != tach__beacon.registry_layout)
		return explain_not_found(&f, process, err);
	*out = f.owner;
	return 0;
}

/* ---- the door ---- */

static int read_process(void *context, const void *at, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};
	long n = tach__sys(SYS_process_vm_readv, *(const int *)context, (long)&here, 1,
			   (long)&there, 1, 0);

	return n < 0 ? (int)n : (size_t)n == size ? 0 : -EFAULT;
}

int tach__snapshot_take_within(int process, double *cpu, struct tach_snapshot **out,
			       struct tach_error *err)
{
	struct tach__remote r = {.read = read_process, .context = &process};
	const struct tach__beacon *beacon;
	int saved = errno, code;

	*out = NULL;
	tach__remote_begin(&r, *cpu);
	code = tach__remote_find(&r, process, &beacon, err);
	if (!code)
		code = tach__remote_take(&r, beacon, out, err);
	if (!code)
		tach__origin_of(&(*out)->origin, process);
	*cpu = tach__remote_left(&r);
	errno = saved;
	return code;
}

int tach_snapshot_take_process(int process, struct tach_snapshot **out, struct tach_error *err)
{
	double cpu = TACH__REMOTE_CPU;

	if (!out || process <= 0)
		return tach__error(err, TACH_ERR_INVAL, 0, 0,
				   "no process, or nowhere to put the snapshot");
	return tach__snapshot_take_within(process, &cpu, out, err);
}

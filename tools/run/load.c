/* SPDX-License-Identifier: MIT */
/*
 * Checks if a program that is about to start can load this object. The dynamic linker of
 * another C library, or in another root directory, would print errors or refuse to start the
 * program. Such a program gets an environment without the object, and the report names the
 * program.
 *
 * Async-signal-safe, because a child of fork or vfork may start it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include "tools/run/load.h"
#include "tools/run/results.h"
#include "tools/run/run.h"

enum { SCRIPTS_MOST = 5 }; /* BINPRM_MAX_RECURSION of older kernels, plus one */

static const char object_name[] = "libtach-run.so";
/* The object for musl is in this subfolder of the folder with glibc's object. */
static const char musl_folder[] = "musl/";
#ifdef __GLIBC__
static const char other_linker[] = "ld-musl-";
#else
static const char other_linker[] = "ld-linux";
#endif

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static struct {
	char object[PATH_MAX]; /* "": not known */
	char other[PATH_MAX];  /* for the other C library */
	char interpreter[PATH_MAX];
	struct stat status; /* of the interpreter */
} own;

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Length of one entry in a list like LD_PRELOAD. */
static size_t entry_length(const char *at)
{
	return strcspn(at, ": ");
}

static int is_object(const char *entry, size_t length)
{
	size_t name = sizeof object_name - 1;

	return length >= name && memcmp(entry + length - name, object_name, name) == 0;
}

static const char *own_interpreter(void)
{
	const ElfW(Phdr) *segment = (const void *)getauxval(AT_PHDR);
	unsigned long n = getauxval(AT_PHNUM);
	uintptr_t base = 0;

	for (unsigned long i = 0; segment && i < n; i++)
		if (segment[i].p_type == PT_PHDR)
			base = (uintptr_t)segment - segment[i].p_vaddr;
	for (unsigned long i = 0; segment && i < n; i++)
		if (segment[i].p_type == PT_INTERP)
			return (const char *)(base + segment[i].p_vaddr);
	return NULL;
}

static void find_other(void)
{
	size_t folder = (size_t)(last_part(own.object) - own.object),
	       musl = sizeof musl_folder - 1;

#ifdef __GLIBC__
	if (folder + musl + sizeof object_name <= sizeof own.other) {
		memcpy(own.other, own.object, folder);
		memcpy(own.other + folder, musl_folder, musl);
		memcpy(own.other + folder + musl, object_name, sizeof object_name);
	}
#else
	if (folder > musl && memcmp(own.object + folder - musl, musl_folder, musl) == 0) {
		memcpy(own.other, own.object, folder - musl);
		memcpy(own.other + folder - musl, object_name, sizeof object_name);
	}
#endif
}

/* ---- the program ---- */

/*
 * If the interpreter has another path, it is compatible if the C library in its folder is at
 * least as new as ours.
 */
static int has_libc(const char *interpreter)
{
#ifdef __GLIBC__
	char path[PATH_MAX], version[32];
	struct stat status;
	int fd, found = 0;
	void *text;

	if (!realpath(interpreter, path))
		return 0;
	snprintf(path + (last_part(path) - path),
		 sizeof path - (size_t)(last_part(path) - path), "libc.so.6");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	snprintf(version, sizeof version, "GLIBC_%s", gnu_get_libc_version());
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text != MAP_FAILED) {
			found = memmem(text, (size_t)status.st_size, version,
				       strlen(version) + 1) != NULL;
			munmap(text, (size_t)status.st_size);
		}
	}
	close(fd);
	return found;
#else
	/* musl's interpreter is the C library, and its symbols have no versions. */
	(void)interpreter;
	return 1;
#endif
}

static int is_own_interpreter(const char *interpreter)
{
	struct stat status;

	if (strcmp(last_part(interpreter), last_part(own.interpreter)) != 0 ||
	    stat(interpreter, &status) != 0)
		return 0;
	return (status.st_dev == own.status.st_dev && status.st_ino == own.status.st_ino) ||
	       has_libc(interpreter);
}

enum { LOADS_NONE, LOADS_OWN, LOADS_OTHER };

static int loads_interpreter(const char *interpreter)
{
	if (is_own_interpreter(interpreter))
		return LOADS_OWN;
	return *own.other &&
			       strncmp(last_part(interpreter), other_linker,
				       sizeof other_linker - 1) == 0 &&
			       access(own.other, R_OK) == 0
		       ? LOADS_OTHER
		       : LOADS_NONE;
}

/* A statically linked program ignores the list and passes it to its children. */
static int loads_elf(int fd, const ElfW(Ehdr) * head)
{
	char interpreter[PATH_MAX];
	ElfW(Phdr) segment;

	if (memcmp(head->e_ident, __ehdr_start.e_ident, EI_DATA + 1) != 0 ||
	    head->e_machine != __ehdr_start.e_machine)
		return 0;
	for (int i = 0; i < head->e_phnum; i++) {
		off_t at = (off_t)(head->e_phoff + (ElfW(Off))i * head->e_phentsize);
		ssize_t n;

		if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
			return 1;
		if (segment.p_type != PT_INTERP)
			continue;
		n = pread(fd, interpreter, sizeof interpreter - 1, (off_t)segment.p_offset);
		if (n <= 0)
			return 1;
		interpreter[n] = '\0';
		return loads_interpreter(interpreter);
	}
	return 1;
}

/*
 * Replaces the script's text by the path of its interpreter. Returns 0 if it names no
 * interpreter.
 */
static int find_script(char *text)
{
	char *at = text + 2 + strspn(text + 2, " \t");
	size_t length = strcspn(at, " \t\n");

	if (text[0] != '#' || text[1] != '!' || length == 0)
		return 0;
	memmove(text, at, length);
	text[length] = '\0';
	return 1;
}

/* Unreadable files are not changed: exec reports the error. */
static int loads(int folder, const char *file)
{
	union {
		ElfW(Ehdr) head;
		char text[256];
	} begin = {.text = ""};

	for (int scripts = 0; scripts < SCRIPTS_MOST; scripts++) {
		int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = 1;
		ssize_t n = read(fd, begin.text, sizeof begin.text - 1);

		if (n >= 0)
			begin.text[n] = '\0';
		if (n >= (ssize_t)sizeof begin.head && memcmp(begin.text, ELFMAG, SELFMAG) == 0)
			result = loads_elf(fd, &begin.head);
		else if (n > 2 && find_script(begin.text))
			result = -1;
		if (fd >= 0)
			close(fd);
		if (result >= 0)
			return result;
		file = begin.text;
	}
	return 1;
}

/* ---- its environment ---- */

/*
 * Copies the list with the object replaced by `other`, or removed if that is "". Returns 0 if
 * it does not fit.
 */
static int replace_object(char *to, size_t size, const char *list, const char *other)
{
	size_t n = (size_t)snprintf(to, size, "LD_PRELOAD=");

	while (*list) {
		size_t length = entry_length(list), whole = length + (list[length] != '\0');
		const char *entry = is_object(list, length) ? other : list;
		size_t put = entry == list ? length : strlen(other);

		if (n + put + 1 >= size)
			return 0;
		memcpy(to + n, entry, put);
		n += put;
		if (put && whole > length)
			to[n++] = list[length];
		list += whole;
	}
	to[n] = '\0';
	return 1;
}

static int find_list(char *const envp[])
{
	for (int n = 0; envp && envp[n]; n++)
		if (strncmp(envp[n], "LD_PRELOAD=", 11) == 0 && strstr(envp[n], object_name))
			return n;
	return -1;
}

/* Returns the object for the program's C library, or "" if there is no such object. */
static const char *object_for(int folder, const char *file)
{
	int how = access(own.object, R_OK) == 0 ? loads(folder, file) : LOADS_NONE;

	/* In another root directory the object may not exist. */
	return how == LOADS_OWN ? own.object : how == LOADS_OTHER ? own.other : "";
}

static int has_entry(const char *list, const char *object)
{
	while (*list) {
		size_t length = entry_length(list);

		if (length == strlen(object) && memcmp(list, object, length) == 0)
			return 1;
		list += length + (list[length] != '\0');
	}
	return 0;
}

#ifndef __GLIBC__
/*
 * musl's system and popen start /bin/sh by internal calls, with the current environment. A
 * shell of glibc would refuse to start with musl's object, so the environment gets the list
 * that the shell needs.
 */
static void list_for_shell(void)
{
	const char *list = getenv("LD_PRELOAD"), *object;
	char text[PATH_MAX];

	if (!list || !*own.object || !*own.interpreter)
		return;
	object = object_for(AT_FDCWD, "/bin/sh");
	if (object != own.object && replace_object(text, sizeof text, list, object))
		setenv("LD_PRELOAD", text + 11, 1);
}
#endif

void run_load_begin(void)
{
	const char *list = getenv("LD_PRELOAD"), *interpreter = own_interpreter();

	while (list && *list) {
		size_t length = entry_length(list);

		if (is_object(list, length) && length < sizeof own.object && !*own.object)
			memcpy(own.object, list, length);
		list += length + (list[length] != '\0');
	}
	if (*own.object)
		find_other();
	if (interpreter && stat(interpreter, &own.status) == 0)
		snprintf(own.interpreter, sizeof own.interpreter, "%s", interpreter);
#ifndef __GLIBC__
	list_for_shell();
#endif
}

void run_load(struct run_load *l, int folder, const char *file, char *const envp[])
{
	int saved = errno, at = find_list(envp);
	const char *object;
	size_t n = 0;
	char **copy;

	l->envp = envp;
	l->size = 0;
	if (at < 0 && *own.object && !run_is_confined())
		run_results_unmeasured(RUN_CLEARED, last_part(file));
	if (at < 0 || !*own.object || !*own.interpreter || run_is_confined())
		return;
	object = object_for(folder, file);
	if (*object && has_entry(envp[at] + 11, object)) {
		errno = saved;
		return;
	}
	while (envp[n])
		n++;
	if (replace_object(l->list, sizeof l->list, envp[at] + 11, object)) {
		l->size = (n + 1) * sizeof *envp;
		copy = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (copy != MAP_FAILED) {
			memcpy(copy, envp, l->size);
			copy[at] = l->list;
			l->envp = copy;
			if (!*object)
				run_results_unmeasured(RUN_APART, last_part(file));
		} else {
			l->size = 0;
		}
	}
	errno = saved;
}

void run_load_shell(void)
{
	if (find_list(environ) < 0 && *own.object && !run_is_confined())
		run_results_unmeasured(RUN_CLEARED, "sh");
}

void run_load_end(const struct run_load *l)
{
	int saved = errno;

	if (l->size)
		munmap((void *)l->envp, l->size);
	errno = saved;
}

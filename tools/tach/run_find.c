/* SPDX-License-Identifier: MIT */
/* `tach run` examines the program before it starts it. */
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/tach/run.h"

int run_find_file(char *path, size_t size, const char *name)
{
	/*
	 * The folders: of the build; after installation; in Debian, where libraries are one
	 * folder deeper.
	 */
	static const char *const places[] = {"", "/../lib/tach", "/../lib64/tach",
					     "/../lib/*/tach"};
	char self[3000], pattern[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int found = -1;

	if (n <= 0)
		return -1;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places && found; i++) {
		glob_t list;

		snprintf(pattern, sizeof pattern, "%s%s/%s", self, places[i], name);
		if (glob(pattern, 0, NULL, &list) == 0) {
			snprintf(path, size, "%s", list.gl_pathv[0]);
			found = 0;
		}
		globfree(&list);
	}
	return found;
}

int run_find_object(char *path, size_t size)
{
	return run_find_file(path, size, RUN_OBJECT);
}

static int is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int run_find_program(char *path, size_t size, const char *name)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return is_program(path) ? 0 : -1;
	}
	for (; at && *at; at += *at == ':') {
		size_t n = strcspn(at, ":");

		snprintf(path, size, "%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
		if (is_program(path))
			return 0;
		at += n;
	}
	return -1;
}

static int begins_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Finds the C library of a dynamic linker by the linker's name. */
static enum run_loading judge_linker(const char *linker)
{
	const char *name = strrchr(linker, '/') ? strrchr(linker, '/') + 1 : linker;

#ifdef __GLIBC__
	if (begins_with(name, "ld-linux") || begins_with(name, "ld64") ||
	    begins_with(name, "ld.so") || begins_with(name, "ld-2."))
		return RUN_LOADABLE;
	return begins_with(name, "ld-musl-") ? RUN_MUSL : RUN_FOREIGN;
#else
	return begins_with(name, "ld-musl-") ? RUN_LOADABLE : RUN_FOREIGN;
#endif
}

/* Elf64_Ehdr and Elf64_Phdr, elf(5). */
static enum run_loading judge_elf(int fd)
{
	enum run_loading loading = RUN_STATIC;
	Elf64_Phdr segment;
	Elf64_Ehdr head;

	if (read(fd, &head, sizeof head) < (ssize_t)EI_NIDENT ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return RUN_LOADABLE; /* a script */
	if (head.e_ident[EI_CLASS] != ELFCLASS64)
		return RUN_FOREIGN;
	for (int i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + (Elf64_Off)i * head.e_phentsize);
		char linker[256] = "";

		if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
			return RUN_LOADABLE;
		if (segment.p_type != PT_INTERP)
			continue;
		loading = RUN_LOADABLE;
		if (pread(fd, linker, sizeof linker - 1, (off_t)segment.p_offset) > 0)
			loading = judge_linker(linker);
		break;
	}
	return loading;
}

static enum run_loading judge_program(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	enum run_loading loading;
	int fd;

	/* A dynamic linker that is executed with a program as its argument also preloads. */
	if (begins_with(base, "ld-linux") || begins_with(base, "ld.so") ||
	    begins_with(base, "ld-musl-"))
		return judge_linker(base);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return RUN_LOADABLE;
	loading = judge_elf(fd);
	close(fd);
	return loading;
}

/* Selects the object for the program's C library. */
static void find_loading(struct run_found *found)
{
	found->loading = judge_program(found->program);
	if (found->loading == RUN_MUSL)
		found->loading =
			run_find_file(found->object, sizeof found->object, RUN_OBJECT_MUSL) == 0
				? RUN_LOADABLE
				: RUN_FOREIGN;
}

int run_find(const struct run_arguments *a, struct run_found *found)
{
	*found = (struct run_found){.loading = RUN_LOADABLE};
	if (a->outside)
		return 0;
	if (run_find_object(found->object, sizeof found->object) != 0) {
		fprintf(stderr,
			"tach run: %s is neither in the folder of this program nor in "
			"../lib/tach\n",
			RUN_OBJECT);
		return RUN_FAILED;
	}
	if (run_find_program(found->program, sizeof found->program, a->program[0]) == 0)
		find_loading(found);
	else
		*found->program = '\0';
	return 0;
}

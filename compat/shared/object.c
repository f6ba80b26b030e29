/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "compat/shared/object.h"

static char program[PATH_MAX]; /* its path, or "" */

static int is_linker(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && strncmp(base, "/ld-", 4) == 0;
}

__attribute__((constructor(101))) void object_prepare(void)
{
	ssize_t n;
	Dl_info info;
	char *end;

	if (*program)
		return;
	n = readlink("/proc/self/exe", program, sizeof program - 1);
	program[n > 0 ? n : 0] = '\0';
	/* A dynamic linker that was started as a command is the executable. It knows the
	 * program's path as given. */
	if (!is_linker(program) || !dladdr((const void *)getauxval(AT_PHDR), &info) ||
	    is_linker(info.dli_fname))
		return;
	end = program;
	if (*info.dli_fname != '/' && getcwd(program, sizeof program - 1)) {
		end += strlen(program);
		*end++ = '/';
	}
	strncpy(end, info.dli_fname, (size_t)(program + sizeof program - end) - 1);
	program[sizeof program - 1] = '\0';
}

struct search {
	uintptr_t at;
	struct object *found;
	int seen; /* number of objects before; the program is object 0 */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD ||
		    search->at - info->dlpi_addr - part->p_vaddr >= part->p_memsz)
			continue;
		search->found->path = search->seen ? info->dlpi_name : program;
		search->found->address = search->at - info->dlpi_addr;
		return 1;
	}
	search->seen++;
	return 0;
}

int object_place(uintptr_t at, struct object *object, char *name, size_t size)
{
	struct search search = {.at = at, .found = object};
	const char *base;

	*object = (struct object){.path = ""};
	if (!dl_iterate_phdr(look_at, &search)) {
		snprintf(name, size, "0x%llx", (unsigned long long)at);
		return 0;
	}
	base = strrchr(object->path, '/');
	snprintf(name, size, "%.500s+0x%llx", base ? base + 1 : object->path,
		 (unsigned long long)object->address);
	return 1;
}

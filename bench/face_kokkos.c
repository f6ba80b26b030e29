/* SPDX-License-Identifier: MIT */
/*
 * face.c as a Kokkos program that has loaded libtach-kokkos.so, for bench/faces. Kokkos has
 * only regions.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*begin_fn)(const char *name, uint32_t device, uint64_t *number);
typedef void (*end_fn)(uint64_t number);

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "no %s: %s\n", name, dlerror());
		exit(1);
	}
	return found;
}

static __attribute__((noinline)) void regions(begin_fn begin, end_fn end, long n)
{
	uint64_t number;

	for (long i = 0; i < n; i++) {
		begin("face", 0, &number);
		end(number);
	}
}

static __attribute__((noinline)) void nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("");
}

int main(int argc, char **argv)
{
	void (*init)(int sequence, uint64_t version, uint32_t devices, void *device);
	long n = argc > 2 ? atol(argv[2]) : 0;
	void *library;

	setenv("TACH_EVENTS", "instructions", 1);
	setenv("TACH_OUTPUT", "/dev/null", 1);
	library = dlopen("libtach-kokkos.so", RTLD_NOW);
	*(void **)&init = function(library, "kokkosp_init_library");
	init(0, 20211015, 0, NULL);
	if (argc > 2 && strcmp(argv[1], "region") == 0)
		regions((begin_fn)function(library, "kokkosp_begin_parallel_for"),
			(end_fn)function(library, "kokkosp_end_parallel_for"), n);
	else
		nothing(n);
	return 0;
}

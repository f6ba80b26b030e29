/* SPDX-License-Identifier: MIT */
/*
 * Kokkos' tools interface: each kernel, region, fence and copy of a program becomes a region
 * with its name. Kokkos loads this object itself (KOKKOS_TOOLS_LIBS) and calls the functions
 * that it finds; a function that is missing costs the program nothing. The environment selects
 * the events and the output, as for every program. If no output file is set, the report is
 * printed as text to standard error when Kokkos ends.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tach.h>

enum { DEPTH = 64, CACHE = 256, NAME = 400 };

#define KOKKOS __attribute__((visibility("default")))

struct cached {
	uint32_t hash;
	struct tach_site *site;
	char name[NAME]; /* as Kokkos gave it */
};

/* Stack of one thread; regions below this depth are counted, but not measured. */
struct stack {
	unsigned depth;
	struct tach_region_mark mark[DEPTH];
	struct cached cache[CACHE];
};

static __thread struct stack *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void stack_free(void *stack)
{
	free(stack);
	own = NULL;
}

static void make_key(void)
{
	pthread_key_create(&key, stack_free);
}

static struct stack *stack_get(void)
{
	if (!own) {
		pthread_once(&once, make_key);
		own = calloc(1, sizeof *own);
		if (own)
			pthread_setspecific(key, own);
	}
	return own;
}

/* ---- names ---- */

/*
 * A kernel without a label is named by its functor's type, mangled. A label that looks like a
 * mangled name is safe: if it cannot be demangled, it stays unchanged.
 */
static struct tach_site *site_make(const char *kind, const char *name)
{
	char *(*demangle)(const char *, char *, size_t *, int *);
	char text[NAME], *plain = NULL;
	int status = 0;

	if ((name[0] == 'Z' || name[0] == 'N') && name[1] >= '0' && name[1] <= '9') {
		*(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
		plain = demangle ? demangle(name, NULL, NULL, &status) : NULL;
	}
	snprintf(text, sizeof text, "%s%s", kind, plain ? plain : name);
	free(plain);
	return tach_site_get(text);
}

/*
 * Compares contents, because Kokkos' strings are temporary. A name that is too long for the
 * cache is looked up each time.
 */
static struct tach_site *site_of(struct stack *stack, const char *kind, const char *name)
{
	uint32_t hash = 2166136261u ^ (unsigned char)*kind;
	struct cached *c;
	size_t n = 0;

	for (; name[n]; n++)
		hash = (hash ^ (unsigned char)name[n]) * 16777619u; /* FNV-1a */
	c = &stack->cache[(hash >> 8) % CACHE];
	if (c->site && c->hash == hash && strcmp(c->name, name) == 0)
		return c->site;
	if (n >= sizeof c->name)
		return site_make(kind, name);
	c->site = site_make(kind, name);
	c->hash = hash;
	memcpy(c->name, name, n + 1);
	return c->site;
}

/* ---- begin and end ---- */

/* Returns the region's number, which is its depth. */
static uint64_t begin_region(const char *kind, const char *name)
{
	struct stack *stack = stack_get();
	struct tach_site *site;
	unsigned depth;

	if (!stack)
		return 0;
	depth = stack->depth++;
	if (depth >= DEPTH)
		return depth;
	site = site_of(stack, kind, name ? name : "");
	tach_region_begin(site, &stack->mark[depth]);
	return depth;
}

/* Ends the region and all open regions inside it. Does nothing if the region is not open. */
static void end_region(uint64_t number)
{
	struct stack *stack = own;

	if (!stack)
		return;
	while (stack->depth > number) {
		unsigned depth = --stack->depth;

		if (depth < DEPTH)
			tach_region_end(&stack->mark[depth]);
	}
}

/* ---- what Kokkos calls ---- */

struct kokkos_space {
	char name[64];
};

KOKKOS void kokkosp_init_library(const int sequence, const uint64_t version,
				 const uint32_t ndevices, void *devices);
KOKKOS void kokkosp_finalize_library(void);
KOKKOS void kokkosp_push_profile_region(const char *name);
KOKKOS void kokkosp_pop_profile_region(void);
KOKKOS void kokkosp_begin_deep_copy(struct kokkos_space to, const char *to_name, const void *at,
				    struct kokkos_space from, const char *from_name,
				    const void *from_at, uint64_t size);
KOKKOS void kokkosp_end_deep_copy(void);

static int silent; /* the environment or the program itself chose another output */

void kokkosp_init_library(const int sequence, const uint64_t version, const uint32_t ndevices,
			  void *devices)
{
	const char *output = secure_getenv("TACH_OUTPUT");
	struct tach_error err = TACH_ERROR_INIT;

	(void)sequence, (void)version, (void)ndevices, (void)devices;
	silent = tach_regions_enabled() || (output && *output);
	if (!tach_regions_enabled() && tach_regions_configure(NULL, &err) != 0)
		fprintf(stderr, "libtach-kokkos: %s\n", err.text);
}

void kokkosp_finalize_library(void)
{
	struct tach_snapshot *shot;

	end_region(0);
	if (silent || tach_snapshot_take(&shot, NULL) != 0)
		return;
	tach_report_fd(shot, NULL, STDERR_FILENO, NULL);
	tach_snapshot_free(shot);
}

#define KERNEL(kind)                                                                           \
	KOKKOS void kokkosp_begin_##kind(const char *name, const uint32_t device,              \
					 uint64_t *number);                                    \
	KOKKOS void kokkosp_end_##kind(const uint64_t number);                                 \
	void kokkosp_begin_##kind(const char *name, const uint32_t device, uint64_t *number)   \
	{                                                                                      \
		(void)device;                                                                  \
		*number = begin_region(KIND_##kind, name);                                     \
	}                                                                                      \
	void kokkosp_end_##kind(const uint64_t number)                                         \
	{                                                                                      \
		end_region(number);                                                            \
	}
#define KIND_parallel_for    ""
#define KIND_parallel_reduce ""
#define KIND_parallel_scan   ""
#define KIND_fence	     "fence "
KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)
KERNEL(fence)

void kokkosp_push_profile_region(const char *name)
{
	begin_region("", name);
}

static void pop_region(void)
{
	if (own && own->depth)
		end_region(own->depth - 1);
}

void kokkosp_pop_profile_region(void)
{
	pop_region();
}

void kokkosp_begin_deep_copy(struct kokkos_space to, const char *to_name, const void *at,
			     struct kokkos_space from, const char *from_name,
			     const void *from_at, uint64_t size)
{
	char name[NAME];

	(void)to, (void)at, (void)from, (void)from_at, (void)size;
	snprintf(name, sizeof name, "%s = %s", to_name ? to_name : "",
		 from_name ? from_name : "");
	begin_region("copy ", name);
}

void kokkosp_end_deep_copy(void)
{
	pop_region();
}

/* SPDX-License-Identifier: MIT */
/* Regions by name: memory of a thread's log, clocks, and messages. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include "compat/papi/regions.h"

enum { FIRST_BLOCK = 64 * 1024, BLOCK = 256 * 1024 };

void pp_regions_say(const char *format, ...)
{
	va_list list;

	if (!pp_regions.verbose)
		return;
	va_start(list, format);
	fputs("PAPI-HL ", stdout);
	vfprintf(stdout, format, list);
	va_end(list);
}

long long pp_regions_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Intel SDM 18.17.4, AMD APM 3 E.4.6: the TSC runs at one rate in all states. A virtual machine
 * may hide this flag. Then the rate is constant if the TSC is the kernel's clock source. */
int pp_clock_is_constant(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d = 0;
	char source[8] = "";
	FILE *f;

	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8)
		return 1;
	f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (f) {
		if (!fgets(source, sizeof source, f))
			source[0] = '\0';
		fclose(f);
	}
	return strcmp(source, "tsc\n") == 0;
#elif defined(__aarch64__) || defined(__riscv)
	return 1;
#else
	return 0;
#endif
}

/* Page faults in a block would be a third of a region's instructions, so the kernel provides
 * all memory of a thread's later blocks in one call. */
static void *map_block(void)
{
	void *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return block == MAP_FAILED ? NULL : block;
}

TACH_COLD int pp_log_add_block(struct pp_log *log)
{
	struct pp_block *block = log->last ? map_block() : malloc(FIRST_BLOCK);

	if (!block)
		return 0;
	block->next = NULL;
	log->end = (char *)block + (log->last ? BLOCK : FIRST_BLOCK);
	if (log->last) {
		log->last->end = log->free;
		log->last->next = block;
	} else {
		log->first = block;
	}
	log->last = block;
	log->free = block->record;
	return 1;
}

TACH_COLD const char *pp_log_copy_name(struct pp_log *log, const char *text)
{
	unsigned hash = 2166136261u, slot = pp_name_slot(text);
	struct pp_name *name, **list;
	size_t size = strlen(text) + 1;

	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	list = &log->name[hash % PP_NAMES];
	for (name = *list; name && strcmp(name->text, text) != 0;)
		name = name->next;
	if (!name) {
		name = malloc(sizeof *name + size);
		if (!name)
			return NULL;
		memcpy(name->text, text, size);
		name->next = *list;
		*list = name;
	}
	log->known[slot].given = text;
	log->known[slot].text = name->text;
	return name->text;
}

/* SPDX-License-Identifier: MIT */
/* The caches of the first processor, as sysfs shows them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compat/papi/state.h"

static int read_field(int index, const char *name, char *to, size_t size)
{
	char path[PAPI_MAX_STR_LEN];
	FILE *f;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
		 name);
	f = fopen(path, "re");
	to[0] = '\0';
	if (!f)
		return 0;
	if (!fgets(to, (int)size, f))
		to[0] = '\0';
	fclose(f);
	return to[0] != '\0';
}

static int cache_number(int index, const char *name)
{
	char text[64];

	return read_field(index, name, text, sizeof text) ? atoi(text) : 0;
}

static int type_of(const char *text)
{
	switch (text[0]) {
	case 'I':
		return PAPI_MH_TYPE_INST;
	case 'D':
		return PAPI_MH_TYPE_DATA;
	}
	return PAPI_MH_TYPE_UNIFIED;
}

static void put_cache(PAPI_mh_info_t *info, int level, const PAPI_mh_cache_info_t *cache)
{
	PAPI_mh_cache_info_t *c;
	int at = 0;

	if (level < 1 || level > PAPI_MAX_MEM_HIERARCHY_LEVELS)
		return;
	c = info->level[level - 1].cache;
	while (at < PAPI_MH_MAX_LEVELS && c[at].type != PAPI_MH_TYPE_EMPTY)
		at++;
	if (at == PAPI_MH_MAX_LEVELS)
		return;
	c[at] = *cache;
	if (cache->line_size)
		c[at].num_lines = cache->size / cache->line_size;
	if (level > info->levels)
		info->levels = level;
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/*
 * Virtual machines show no caches in sysfs: leaf 4 of Intel's CPUID, and 0x8000001d of AMD's,
 * which has the same fields (AMD64 Architecture Programmer's Manual, volume 3, appendix E).
 */
static void read_cpuid_leaf(PAPI_mh_info_t *info, unsigned leaf)
{
	static const int types[] = {PAPI_MH_TYPE_EMPTY, PAPI_MH_TYPE_DATA, PAPI_MH_TYPE_INST,
				    PAPI_MH_TYPE_UNIFIED};
	unsigned a, b, c, d;

	for (unsigned i = 0;
	     __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31) > 0 && (a & 31) < 4; i++) {
		PAPI_mh_cache_info_t cache = {.type = types[a & 31]};

		cache.line_size = (int)(b & 0xfff) + 1;
		cache.associativity = (int)(b >> 22) + 1;
		cache.size = cache.line_size * cache.associativity *
			     ((int)(b >> 12 & 0x3ff) + 1) * ((int)c + 1);
		put_cache(info, (int)(a >> 5 & 7), &cache);
	}
}

/* AMD's older leaves 0x80000005 and 0x80000006, with sizes in KiB, the third level's in 512
 * KiB. */
static void read_amd_leaves(PAPI_mh_info_t *info)
{
	static const int ways[16] = {0,	 1, 2,	3,  4,	6,  8,	 0,
				     16, 0, 32, 48, 64, 96, 128, SHRT_MAX};
	PAPI_mh_cache_info_t cache = {.type = PAPI_MH_TYPE_DATA};
	unsigned a, b, c, d;

	if (!__get_cpuid(0x80000005, &a, &b, &c, &d) || c == 0)
		return;
	for (int i = 0; i < 2; i++, c = d, cache.type = PAPI_MH_TYPE_INST) {
		cache.size = (int)(c >> 24) * 1024;
		cache.associativity = (int)(c >> 16 & 0xff);
		cache.line_size = (int)(c & 0xff);
		put_cache(info, 1, &cache);
	}
	if (!__get_cpuid(0x80000006, &a, &b, &c, &d))
		return;
	cache.type = PAPI_MH_TYPE_UNIFIED;
	for (int level = 2; level < 4; level++, c = d) {
		cache.size = level == 2 ? (int)(c >> 16) * 1024 : (int)(c >> 18) * 512 * 1024;
		cache.associativity = ways[c >> 12 & 0xf];
		cache.line_size = (int)(c & 0xff);
		if (cache.size)
			put_cache(info, level, &cache);
	}
}

static void without_sysfs(PAPI_mh_info_t *info)
{
	read_cpuid_leaf(info, 4);
	if (info->levels == 0)
		read_cpuid_leaf(info, 0x8000001d);
	if (info->levels == 0)
		read_amd_leaves(info);
}
#else
static void without_sysfs(PAPI_mh_info_t *info)
{
	(void)info;
}
#endif

void pp_hierarchy(PAPI_mh_info_t *info)
{
	char type[64];

	for (int i = 0; read_field(i, "type", type, sizeof type); i++) {
		PAPI_mh_cache_info_t cache = {.type = type_of(type)};

		cache.size = cache_number(i, "size") * 1024;
		cache.line_size = cache_number(i, "coherency_line_size");
		cache.associativity = cache_number(i, "ways_of_associativity");
		put_cache(info, cache_number(i, "level"), &cache);
	}
	if (info->levels == 0)
		without_sysfs(info);
}

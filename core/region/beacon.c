/* SPDX-License-Identifier: MIT */
/* One registry per process: see beacon.h. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include "core/region/beacon.h"
#include "core/base/error.h"
#include "core/region/layout.h"
#include "core/region/region.h"

struct tach__beacon tach__beacon = {
	.magic = TACH__BEACON_MAGIC,
	.layout = TACH__BEACON_LAYOUT,
	.size = sizeof(struct tach__beacon),
	.state = TACH__BEACON_BORN,
	.version = TACH_VERSION_STRING,
	.abi = 1,
	.registry_layout = TACH__REGISTRY_LAYOUT,
	.registry = &tach__registry,
	.begin = {tach__begin_here, tach__begin_fenced_here},
	.configure = tach__configure_here,
	.disable = tach__disable_here,
	.enabled = tach__enabled_here,
	.site_get = tach__site_get_here,
	.json = tach__beacon_json,
	.report_now = tach__report_now_here,
	.tag = tach__tag_here,
	.task_resuming = tach__task_resuming_here,
	.task_suspended = tach__task_suspended_here,
	.task_ended = tach__task_ended_here,
	.read = tach__region_read_here,
	.team_take = tach__team_take_here,
	.team_join = tach__team_join_here,
};

TACH__BEACON_ASM;

/* A search for other loaded copies of the library, and for the copy that owns the regions. */
struct search {
	struct tach__beacon *owner;
	char owner_file[1024], own_file[1024];
};

static char own_file[1024]; /* "": the program itself */

static void check_beacon(struct search *s, struct tach__beacon *b, const char *file)
{
	if (b == &tach__beacon) {
		snprintf(s->own_file, sizeof s->own_file, "%s", file);
	} else if (b->magic == TACH__BEACON_MAGIC &&
		   __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == TACH__BEACON_OWNER) {
		s->owner = b;
		snprintf(s->owner_file, sizeof s->owner_file, "%s", file);
	}
}

static size_t round_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static int check_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + h->p_vaddr);
		const char *end = at + h->p_memsz;
		size_t align = h->p_align == 8 ? 8 : 4;

		while (h->p_type == PT_NOTE && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			const char *name = at + sizeof *note;
			const char *desc = at + round_up(sizeof *note + note->n_namesz, align);
			int64_t offset;

			at = desc + round_up(note->n_descsz, align);
			if (at > end)
				break;
			if (note->n_type != TACH__BEACON_NOTE || note->n_namesz != 5 ||
			    note->n_descsz != sizeof offset || memcmp(name, "tach", 5) != 0)
				continue;
			memcpy(&offset, desc, sizeof offset);
			check_beacon(context, (void *)((intptr_t)desc + offset),
				     info->dlpi_name);
		}
	}
	return 0;
}

/* Makes sure that the file is never unloaded. The program itself is never unloaded. */
static void keep_loaded(const char *file)
{
	void *(*open)(const char *, int);
	int saved = errno;

	if (!*file)
		return;
	/* dlopen is looked up by name. A call would cause a warning in a static program, which
	 * does not need dlopen. */
	*(void **)&open = dlsym(RTLD_DEFAULT, "dlopen");
	if (open)
		open(file, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	errno = saved;
}

static struct tach__beacon *owner;

void tach__beacon_claim(void)
{
	struct search s = {.owner = NULL};
	uint32_t state = TACH__BEACON_OWNER;

	dl_iterate_phdr(check_object, &s);
	memcpy(own_file, s.own_file, sizeof own_file);
	if (s.owner) {
		keep_loaded(s.owner_file);
		owner = s.owner;
		state = owner->layout == TACH__BEACON_LAYOUT && owner->abi == tach__beacon.abi
				? TACH__BEACON_JOINED
				: TACH__BEACON_EXCLUDED;
	}
	if (state == TACH__BEACON_EXCLUDED)
		snprintf(
			owner->others, sizeof owner->others,
			"the regions of %.100s are left out: its libtach, version %s, does not "
			"fit version %.31s",
			*own_file ? own_file : "the program", TACH_VERSION_STRING,
			owner->version);
	__atomic_store_n(&tach__beacon.state, state, __ATOMIC_RELEASE);
}

const struct tach__beacon *tach__beacon_owner(void)
{
	return __atomic_load_n(&tach__beacon.state, __ATOMIC_ACQUIRE) == TACH__BEACON_JOINED
		       ? owner
		       : NULL;
}

int tach__beacon_is_excluded(void)
{
	return __atomic_load_n(&tach__beacon.state, __ATOMIC_ACQUIRE) == TACH__BEACON_EXCLUDED;
}

void tach__beacon_keep_loaded(void)
{
	keep_loaded(own_file);
}

int tach__beacon_refuse(struct tach_error *err)
{
	return tach__error(err, TACH_ERR_STATE, 0, 0,
			   "the regions of this process belong to another copy of libtach, "
			   "version %.31s; this is version %s",
			   owner ? owner->version : "?", TACH_VERSION_STRING);
}

/* SPDX-License-Identifier: MIT */
/*
 * Tells sites that regions were switched on or off. A `struct tach_site` is in the program or
 * in a library. If the library was unloaded, other data may be at that address. So the id is
 * written under three conditions. The loader cannot unload a module (dl_iterate_phdr holds its
 * lock). The address is in a writable segment that is mapped now. The data there still
 * describes the site.
 */
#include <link.h>
#include <string.h>
#include "core/region/region.h"

static int is_in_segment(const struct dl_phdr_info *info, const void *p, size_t size)
{
	uintptr_t at = (uintptr_t)p;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_LOAD && at >= begin && at + size <= begin + h->p_memsz)
			return (h->p_flags & PF_W) ? 2 : 1;
	}
	return 0;
}

/* Returns 1 if the data at the address still describes the site. It reads strings only if they
 * are in the same module. */
static int is_own_site(const struct dl_phdr_info *info, const struct tach_site *home,
		       const struct tach__site *site)
{
	return home->line == site->line && home->fenced == site->fenced &&
	       is_in_segment(info, home->name, strlen(site->name) + 1) &&
	       strcmp(home->name, site->name) == 0 &&
	       is_in_segment(info, home->file, strlen(site->file) + 1) &&
	       strcmp(home->file, site->file) == 0;
}

/* Takes the registry's lock with the loader's lock held. Constructors use the same order. */
static int rearm_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct tach__registry *r = &tach__registry;
	struct tach__site *site;
	struct tach__home *home;
	struct tach__held held;

	(void)size, (void)context;
	tach__lock(&held);
	cds_list_for_each_entry(site, &r->sites, node)
	{
		uint32_t id = r->enabled && site->selected ? site->id : TACH_SITE_OFF;

		for (home = site->homes; home; home = home->next)
			if (home->owned ||
			    (is_in_segment(info, home->at, sizeof *home->at) == 2 &&
			     is_own_site(info, home->at, site)))
				__atomic_store_n(&home->at->id, (uint64_t)id, __ATOMIC_RELEASE);
	}
	tach__unlock(&held);
	return 0;
}

/* Returns 1 if there are sites now. A site that is registered later sees the new state. */
static int has_sites(void)
{
	struct tach__held held;
	int some;

	tach__lock(&held);
	some = !cds_list_empty(&tach__registry.sites);
	tach__unlock(&held);
	return some;
}

/* At process start there are no sites, so this does not iterate over modules. */
void tach__sites_rearm(void)
{
	if (has_sites())
		dl_iterate_phdr(rearm_module, NULL);
}

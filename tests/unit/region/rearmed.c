/* SPDX-License-Identifier: MIT */
/* Switching sites on and off, in a simulated module; no other memory is written. */
#include <link.h>
#include <string.h>
#include "core/region/region.h"
#include "tests/check.h"

/* ---- a simulated module with these segments ---- */

enum { TEXT, DATA, SEGMENTS };
static struct {
	char before[8], name[8], file[8], behind[8];
} text;
static struct {
	uint64_t before;
	struct tach_site site;
	uint64_t behind;
} data;

static ElfW(Phdr) segment[SEGMENTS + 1];
static struct dl_phdr_info module;
static int locked, modules;

static int sim_iterate(int (*each)(struct dl_phdr_info *, size_t, void *), void *context)
{
	CHECK(!locked);
	modules++;
	CHECK(each(&module, sizeof module, context) == 0);
	return 0;
}

static void sim_lock(struct tach__held *held)
{
	CHECK(held && !locked++);
}

static void sim_unlock(const struct tach__held *held)
{
	CHECK(held && locked-- == 1);
}

#define dl_iterate_phdr sim_iterate
#define tach__lock	sim_lock
#define tach__unlock	sim_unlock
#include "core/region/rearm.c"

enum { ID = 77, WAS = 5 };

static struct tach__site known;
static struct tach__home home;

static void segment_is(int i, const void *from, size_t size, uint32_t flags)
{
	segment[i] = (ElfW(Phdr)){.p_type = PT_LOAD,
				  .p_vaddr = (uintptr_t)from - module.dlpi_addr,
				  .p_memsz = size,
				  .p_flags = flags};
}

/* Starts with an enabled site of the module. */
static void begin(void)
{
	memset(&text, 0, sizeof text);
	strcpy(text.name, "region7");
	strcpy(text.file, "file.c7");
	data.before = data.behind = 0;
	data.site = (struct tach_site){
		.id = WAS, .line = 12, .fenced = 1, .name = text.name, .file = text.file};
	known = (struct tach__site){.id = ID,
				    .line = 12,
				    .fenced = 1,
				    .selected = 1,
				    .name = "region7",
				    .file = "file.c7",
				    .homes = &home};
	home = (struct tach__home){.at = &data.site};
	module = (struct dl_phdr_info){
		.dlpi_addr = 4096, .dlpi_phdr = segment, .dlpi_phnum = SEGMENTS};
	segment_is(TEXT, text.name, sizeof text.name + sizeof text.file, PF_R);
	segment_is(DATA, &data.site, sizeof data.site, PF_R | PF_W);
	memset(&tach__registry, 0, sizeof tach__registry);
	CDS_INIT_LIST_HEAD(&tach__registry.sites);
	cds_list_add(&known.node, &tach__registry.sites);
	tach__registry.enabled = 1;
	modules = 0;
}

static uint64_t id_after_rearm(void)
{
	data.site.id = WAS;
	tach__sites_rearm();
	CHECK(!locked);
	return data.site.id;
}

static void rearm_writes_the_ids(void)
{
	begin();
	CHECK(id_after_rearm() == ID && modules == 1);
	known.selected = 0;
	CHECK(id_after_rearm() == TACH_SITE_OFF);
	known.selected = 1;
	tach__registry.enabled = 0;
	CHECK(id_after_rearm() == TACH_SITE_OFF && modules == 3);
	/* Without sites, no module is searched. */
	CDS_INIT_LIST_HEAD(&tach__registry.sites);
	CHECK(id_after_rearm() == WAS && modules == 3);
}

static void all_of_them(void)
{
	struct tach__site second;
	struct tach_site made = {.id = WAS};
	struct tach__home homes[2] = {{.next = &homes[1], .at = &made, .owned = 1},
				      {.at = &data.site}};

	begin();
	known.homes = homes;
	CHECK(id_after_rearm() == ID && made.id == ID);
	second = known;
	second.id = ID + 1;
	second.line++;
	data.site.line++;
	cds_list_add_tail(&second.node, &tach__registry.sites);
	CHECK(id_after_rearm() == ID + 1 && made.id == ID + 1);
}

/* The word must lie in a writable segment. */
static void another_place(void)
{
	for (int i = 0; i < 6; i++) {
		const char *from = (const char *)&data.site;

		begin();
		if (i == 0)
			segment_is(DATA, from, sizeof data.site, PF_R | PF_X);
		if (i == 1)
			segment_is(DATA, from + 1, sizeof data.site, PF_R | PF_W);
		if (i == 2)
			segment_is(DATA, from, sizeof data.site - 1, PF_R | PF_W);
		if (i == 3)
			segment[DATA].p_type = PT_NOTE;
		if (i == 4)
			module.dlpi_phnum--;
		if (i == 5)
			module.dlpi_addr += 8;
		CHECK(id_after_rearm() == WAS, "%d", i);
	}
	/* A lone site may lie in the first segment too. */
	begin();
	segment[SEGMENTS] = segment[TEXT];
	segment[TEXT] = segment[DATA];
	segment[DATA] = segment[SEGMENTS];
	CHECK(id_after_rearm() == ID);
}

/* The site at the address must still be the same. */
static void another_site(void)
{
	static char others_name[] = "region7", others_file[] = "file.c7";

	for (int i = 0; i < 9; i++) {
		begin();
		if (i == 0)
			data.site.line++;
		if (i == 1)
			data.site.fenced = 0;
		if (i == 2)
			text.name[6] = '8';
		if (i == 3)
			text.file[6] = '8';
		if (i == 4)
			data.site.name = others_name;
		if (i == 5)
			data.site.file = others_file;
		if (i == 6)
			segment_is(TEXT, text.name + 1, 15, PF_R);
		if (i == 7)
			segment_is(TEXT, text.name, 15, PF_R);
		if (i == 8)
			segment_is(TEXT, text.file, 8, PF_R);
		CHECK(id_after_rearm() == WAS, "%d", i);
	}
	/* A name must end inside its segment. */
	begin();
	segment_is(TEXT, text.name, 8, PF_R);
	data.site.file = text.name;
	known.file = "region7";
	CHECK(id_after_rearm() == ID);
	segment_is(TEXT, text.name, 7, PF_R);
	CHECK(id_after_rearm() == WAS);
	known.name = "region8";
	segment_is(TEXT, text.name, 8, PF_R);
	CHECK(id_after_rearm() == WAS);
	/* The name may follow the file name in memory. */
	begin();
	data.site.name = text.file;
	data.site.file = text.name;
	known.name = text.file;
	known.file = text.name;
	CHECK(id_after_rearm() == ID);
	segment_is(TEXT, text.name, 15, PF_R);
	CHECK(id_after_rearm() == WAS);
}

int main(void)
{
	CASE(rearm_writes_the_ids);
	CASE(all_of_them);
	CASE(another_place);
	CASE(another_site);
	return check_done();
}

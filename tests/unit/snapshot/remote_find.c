/* SPDX-License-Identifier: MIT */
/*
 * Finds the copy of the library that owns another process's regions, by the notes of its
 * objects.
 */
#include "tests/unit/snapshot/objects_there.h"

/* ---- beacons ---- */

static void another_layout(unsigned nth)
{
	if (nth == 5)
		beacon[0].layout++;
}

static void beacons(void)
{
	uint32_t ours = tach__beacon.registry_layout;

	one();
	CHECK(finds(&beacon[0]) && there_reads == 5, "%u", there_reads);
	one();
	beacon[0].magic++;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	one();
	beacon[0].state = TACH__BEACON_JOINED;
	CHECK(none(TACH_ERR_NOTFOUND, NOT_BEGUN));
	one();
	there_n--;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	/*
	 * With another layout, only the constant part is used, because the registry's layout is
	 * unknown.
	 */
	tach__beacon.registry_layout = 1;
	for (int i = 0; i < 2; i++) {
		one();
		beacon[0].layout += i == 0;
		beacon[0].size -= i == 1;
		there_n--;
		there(&beacon[0], offsetof(struct tach__beacon, others));
		behind_of = (const char *)&beacon[0];
		behind = sizeof *beacon - offsetof(struct tach__beacon, others);
		CHECK(none(TACH_ERR_NOTSUPP, ANOTHER), "%d", i);
		CHECK(there_reads == 4);
	}
	tach__beacon.registry_layout = ours;
	/* The copy becomes the owner during the search. */
	one();
	there_before = another_layout;
	CHECK(none(TACH_ERR_NOTSUPP, ANOTHER) && there_reads == 5);
	one();
	beacon[0].size++;
	CHECK(finds(&beacon[0]));
	one();
	beacon[0].registry_layout++;
	CHECK(none(TACH_ERR_NOTSUPP, ANOTHER));
	/* The copy's own layout version does not matter. */
	one();
	beacon[0].layout++;
	beacon[0].registry_layout = tach__beacon.registry_layout;
	CHECK(none(TACH_ERR_NOTSUPP, ANOTHER));
}

/* ---- notes ---- */

static void other_notes(void)
{
	static const struct {
		uint32_t type;
		const char *name;
		uint32_t size;
		int is;
	} cases[] = {{TACH__BEACON_NOTE, "tach", 8, 1},	 {TACH__BEACON_NOTE + 1, "tach", 8, 0},
		     {TACH__BEACON_NOTE, "tacg", 8, 0},	 {TACH__BEACON_NOTE, "tac", 8, 0},
		     {TACH__BEACON_NOTE, "tachy", 8, 0}, {TACH__BEACON_NOTE, "tach", 4, 0},
		     {TACH__BEACON_NOTE, "tach", 16, 0}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		note(0, cases[i].type, cases[i].name, cases[i].size, &beacon[0]);
		one_is_there();
		CHECK(cases[i].is ? finds(&beacon[0]) : none(TACH_ERR_NOTFOUND, NO_LIBRARY),
		      "%d", (int)i);
	}
	/* The note is cut off by the end of the segment. */
	one();
	header[2].p_memsz--;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	one();
	header[2].p_memsz = sizeof(Elf64_Nhdr) - 1;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2 + 1);
	one();
	header[2].p_memsz = sizeof(Elf64_Nhdr);
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 3 + 1);
	/* A note that ends together with the segment is read once. */
	one_behind(8);
	beacon[0].state = TACH__BEACON_JOINED;
	CHECK(none(TACH_ERR_NOTFOUND, NOT_BEGUN) && there_reads == 4);
}

static void old_buffer_content_is_not_used(void)
{
	for (size_t less = 8; less <= 32; less += 24) {
		one_behind(8);
		header[2].p_memsz = notes - less;
		behind_of = image[0] + NOTES;
		behind = less;
		/* The second note is cut off, so it is read again; then the first one. */
		CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 3 + (less == 8) + 1,
		      "%u", there_reads);
	}
}

/* Notes of all sizes before the library's note, read in windows of 4096 bytes. */
static void many_notes(void)
{
	for (uint32_t before = 0; before < 5000; before += 4) {
		static const char *const names[] = {"", "a", "abc", "abcd", "stapsdt"};
		uint32_t i = 0;

		begin();
		while (notes + 64 <= before) {
			note(0, 3, names[i % 5], i * 7 % 30, NULL);
			i++;
		}
		/* The first note fills the rest of the window. */
		if (before > notes + 16)
			note(0, 3, "abc", before - (uint32_t)notes - 16, NULL);
		note(0, TACH__BEACON_NOTE, "tach", 8, &beacon[0]);
		note(0, 3, "a", 9, NULL);
		one_is_there();
		CHECK(finds(&beacon[0]), "behind %u bytes", before);
	}
	/* A note that is longer than a window, or than the segment. */
	one_behind(4500);
	CHECK(finds(&beacon[0]));
	begin();
	note(0, 3, "abc", 100, NULL);
	note(0, 3, "abc", 8, NULL);
	there_object(0);
	((Elf64_Nhdr *)(void *)(image[0] + NOTES + notes - 24))->n_descsz = ~0u - 64;
	map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 5, "%u", there_reads);
	/* At most 64 MiB of an endless segment are searched. */
	for (uint32_t less = 0; less <= 64; less += 64) {
		begin();
		note(0, 3, "abc", 100, NULL);
		there_object(0);
		header[2].p_memsz = 1ull << 40;
		there_n--;
		there(image[0] + NOTES, 4096);
		((Elf64_Nhdr *)(void *)(image[0] + NOTES))->n_descsz = (1u << 26) - 16 - less;
		map(image[0], "r--p 00000000 08:01 12 /lib/a.so");
		CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 3 + (less > 0) + 1,
		      "%u", there_reads);
	}
}

/* ---- objects ---- */

static void objects(void)
{
	one();
	image[0][1] = 'F';
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	one();
	elf->e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	one();
	elf->e_phentsize--;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	one();
	there_n = 0;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2);
	/* Program headers up to 4096 bytes away, and up to 64 of them. */
	for (int far = 0; far < 2; far++) {
		one();
		header[2].p_vaddr = AT + IMAGE - notes;
		elf->e_phoff = 4096 + (Elf64_Off)far;
		memmove(image[0] + IMAGE - notes, image[0] + NOTES, notes);
		memcpy(image[0] + elf->e_phoff, header, HEADERS * sizeof *header);
		there_n = 0;
		there(image[0], IMAGE);
		there(&beacon[0], sizeof *beacon);
		*(int64_t *)(void *)(image[0] + IMAGE - 8) =
			(int64_t)((uintptr_t)&beacon[0] - (uintptr_t)(image[0] + IMAGE - 8));
		CHECK(far ? none(TACH_ERR_NOTFOUND, NO_LIBRARY) && there_reads == 2
			  : finds(&beacon[0]));
	}
	for (int n = 63; n <= 66; n++) {
		one();
		elf->e_phnum = (uint16_t)n;
		header[n - 1] = header[2];
		header[2].p_type = PT_NULL;
		there_n = 0;
		there(image[0], sizeof *elf + (size_t)n * sizeof *header);
		there(image[0] + NOTES, notes);
		there(&beacon[0], sizeof *beacon);
		CHECK(n <= 64 ? finds(&beacon[0]) : none(TACH_ERR_NOTFOUND, NO_LIBRARY), "%d",
		      n);
	}
	one();
	elf->e_phnum = 2;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	/* Data after the last header is not used. */
	one();
	elf->e_phnum = 2;
	behind_of = (const char *)header;
	behind = sizeof *header;
	CHECK(none(TACH_ERR_NOTFOUND, NO_LIBRARY));
	/* The owner may be in the first object. */
	one();
	header[0] = header[2];
	header[2].p_type = PT_NULL;
	CHECK(finds(&beacon[0]));
}

/* The base of the object's addresses. */
static void biases(void)
{
	one();
	header[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = 4096, .p_vaddr = 7};
	CHECK(finds(&beacon[0]));
	one();
	header[0] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = 0, .p_vaddr = 7};
	CHECK(finds(&beacon[0]));
	one();
	header[1].p_offset = 4096;
	header[2].p_vaddr = NOTES;
	header[HEADERS] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 7};
	behind_of = (const char *)header;
	behind = sizeof *header;
	CHECK(finds(&beacon[0]));
	one();
	header[0] = header[1];
	header[1].p_type = PT_NULL;
	CHECK(finds(&beacon[0]));
	/* The first note with a beacon is used. */
	one();
	elf->e_phnum = HEADERS + 1;
	header[HEADERS] = header[2];
	header[2].p_vaddr = AT;
	header[2].p_memsz = 0;
	there(image[0], sizeof *elf + (HEADERS + 1) * sizeof *header);
	CHECK(finds(&beacon[0]));
}

int main(void)
{
	CASE(beacons);
	CASE(other_notes);
	CASE(old_buffer_content_is_not_used);
	CASE(many_notes);
	CASE(objects);
	CASE(biases);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * The last store of STOP marks the region as ended. The mark's page is read-only at that time,
 * so this store faults and runs a handler: all steps that the handler checks must be complete.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

static struct tach_region_mark *mark; /* alone in its memory page */
static struct tach__slot *slot;
static struct tach__part *part;
static int stores;
static uint64_t state, calls;

static void writable(int is)
{
	CHECK(mprotect(mark, (size_t)getpagesize(), PROT_READ | (is ? PROT_WRITE : 0)) == 0);
}

/* The entry is counted, the thread is no longer in it, and the part is free. */
static void handler(int number, siginfo_t *what, void *context)
{
	(void)number, (void)context;
	stores++;
	CHECK(what->si_addr == &mark->end && mark->end);
	CHECK(part->calls + slot->flat == calls + 1 && slot->seq % 2 == 0);
	CHECK(tach__self->state == state);
	CHECK(part->outer == TACH__OUTER_NONE && part->ceiling == TACH__CEILING_OPEN);
	writable(1);
}

static void is_over_last(struct tach_site *site)
{
	for (int i = 0; i < 3; i++) { /* the first entries take the slow path */
		tach_region_begin(site, mark);
		tach_region_end(mark);
	}
	slot = tach__slot_at(tach__self->record, (uint32_t)site->id);
	part = tach__part(slot, tach__self->count, 0);
	calls = part->calls + slot->flat;
	state = tach__self->state;
	tach_region_begin(site, mark);
	CHECK(part->outer == (uintptr_t)mark && tach__self->state != state);
	stores = 0;
	writable(0);
	tach_region_end(mark);
	CHECK(stores == 1 && !mark->end);
}

static void plain_regions(void)
{
	static struct tach_site site = TACH_SITE_INIT("plain", 0, "");

	is_over_last(&site);
}

static void fenced_regions(void)
{
	static struct tach_site site = TACH_SITE_INIT("fenced", 1, "");

	is_over_last(&site);
}

static void flat_regions(void)
{
	static struct tach_site site = TACH_SITE_INIT("flat", TACH_SITE_FLAT, "");
	uint64_t flat;

	is_over_last(&site);
	flat = slot->flat;
	tach_region_begin(&site, mark);
	tach_region_end(mark);
	CHECK(slot->flat == flat + 1, "not by the flat way");
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	mark = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mark != MAP_FAILED && sigaction(SIGSEGV, &action, NULL) == 0);
	regions_begin(0);
	CASE(plain_regions);
	CASE(fenced_regions);
	CASE(flat_regions);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Pages, and texts in pages: the calls to the kernel, the result, and the state after a
 * refusal.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/os/buffer.h"
#include "tests/check.h"

/* ---- the kernel's own calls are recorded, or refused ---- */

static int failing; /* the error; 0: done */
static char did[200];
static const char *unlocked;

static int note(const char *what, const void *at, size_t size)
{
	size_t used = strlen(did), page = (size_t)sysconf(_SC_PAGESIZE);

	CHECK((uintptr_t)at % page == 0);
	snprintf(did + used, sizeof did - used, size % page ? "%s %zu.%zu; " : "%s %zu; ", what,
		 size / page, size % page);
	if (failing)
		errno = failing;
	return failing ? -1 : 0;
}

static void *map_noted(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
	CHECK(flags == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
	CHECK(!at && fd == -1 && offset == 0);
	if (note(access == PROT_NONE		      ? "reserve"
		 : access == (PROT_READ | PROT_WRITE) ? "map"
						      : "?",
		 at, size))
		return MAP_FAILED;
	return mmap(at, size, access, flags, fd, offset);
}

#define mmap		      map_noted
#define munmap(at, size)      (note("unmap", at, size) ? -1 : munmap(at, size))
#define munlock(p, size)      (unlocked = (p), note("unlock", p, size))
#define madvise(at, size, as) ((as) == MADV_WIPEONFORK ? note("wipe", at, size) : 1)
#define mprotect(at, size, as)                                                                 \
	(note((as) == (PROT_READ | PROT_WRITE) ? "open" : "?", at, size)                       \
		 ? -1                                                                          \
		 : mprotect(at, size, as))
#include "core/os/memory.c"
#undef munmap

static size_t page;
static char *at;

/* Checks the recorded calls, and that errno is unchanged. */
#define DID(want)                                                                              \
	do {                                                                                   \
		CHECK(errno == 4711 && strcmp(did, want) == 0, "errno %d, %s", errno, did);    \
		begin(0);                                                                      \
	} while (0)

static void begin(int error)
{
	failing = error;
	did[0] = '\0';
	errno = 4711;
}

static int all(const char *text, char byte, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] != byte)
			return 0;
	return 1;
}

static void whole_pages(void)
{
	CHECK(tach__pages_round(0) == 0);
	CHECK(tach__pages_round(1) == page && tach__pages_round(page) == page);
	CHECK(tach__pages_round(page - 1) == page && tach__pages_round(page + 1) == 2 * page);
}

static void mapped_and_given_back(void)
{
	begin(0);
	at = tach__pages(page + 1);
	CHECK(at && all(at, 0, 2 * page));
	DID("map 2; ");
	memset(at, 1, 2 * page);
	tach__pages_free(at, page + 1);
	DID("unmap 2; ");
	tach__pages_free(NULL, page);
	DID("");
	at = tach__pages(page);
	begin(EINVAL);
	tach__pages_free(at, page);
	DID("unmap 1; ");
	tach__pages_free(at, page);
	begin(ENOMEM);
	CHECK(tach__pages(page) == NULL);
	DID("map 1; ");
}

/* Reserved memory cannot be accessed until it is opened; then all of it is usable. */
static void reserved_then_opened(void)
{
	int fd[2];

	begin(0);
	at = tach__pages_reserve(2 * page + 1);
	DID("reserve 3; ");
	CHECK(pipe(fd) == 0 && write(fd[1], at, 1) == -1 && errno == EFAULT, "%d", errno);
	close(fd[0]);
	close(fd[1]);
	begin(0);
	CHECK(tach__pages_open(at, 2 * page + 1) == 0);
	DID("open 3; ");
	CHECK(all(at, 0, 3 * page));
	memset(at, 1, 3 * page);
	tach__pages_free(at, 2 * page + 1);
	begin(ENOMEM);
	CHECK(tach__pages_reserve(page) == NULL);
	DID("reserve 1; ");
}

/* The memory is gone then. */
static void opening_is_refused(void)
{
	at = tach__pages_reserve(2 * page);
	begin(ENOMEM);
	CHECK(tach__pages_open(at, page + 1) != 0);
	DID("open 2; unmap 2; ");
	tach__pages_free(at, 2 * page);
}

/*
 * From the first page boundary inside the hole to its end, which need not be a page boundary.
 */
static void holes_of_whole_pages(void)
{
	at = tach__pages_reserve(4 * page);
	begin(0);
	tach__pages_hole(at, 0, page);
	CHECK(unlocked == at);
	DID("unlock 1; ");
	tach__pages_hole(at, 1, 4 * page);
	CHECK(unlocked == at + page);
	DID("unlock 3; ");
	tach__pages_hole(at, page, 3 * page + 8);
	CHECK(unlocked == at + page);
	DID("unlock 2.8; ");
	tach__pages_hole(at, page, page);
	DID("");
	tach__pages_hole(at, 1, page);
	DID("");
	tach__pages_hole(at, page + 1, page + 2);
	DID("");
	begin(ENOMEM);
	tach__pages_hole(at, page, 2 * page);
	DID("unlock 1; ");
	tach__pages_free(at, 4 * page);
}

static void wipe_on_fork_is_requested(void)
{
	at = tach__pages(page);
	begin(0);
	CHECK(tach__pages_wiped(at, page) == 0);
	DID("wipe 1; ");
	begin(EINVAL);
	CHECK(tach__pages_wiped(at, page) != 0);
	DID("wipe 1; ");
	tach__pages_free(at, page);
}

static void copies(void)
{
	char *more;

	at = tach__pages(page);
	memset(at, 7, page);
	begin(0);
	more = tach__pages_larger(at, page, 2 * page);
	DID("map 2; ");
	CHECK(all(more, 7, page) && all(more + page, 0, page) && all(at, 7, page));
	tach__pages_free(more, 2 * page);
	more = tach__pages_larger(NULL, page, 2 * page);
	CHECK(all(more, 0, 2 * page));
	tach__pages_free(more, 2 * page);
	begin(ENOMEM);
	CHECK(tach__pages_larger(at, page, 2 * page) == NULL);
	DID("map 2; ");
	CHECK(all(at, 7, page));
	tach__pages_free(at, page);
}

/* ---- a text that grows ---- */

static void a_text_grows(void)
{
	struct tach__buffer text = {NULL, 0, 0};
	char piece[100];
	size_t room;

	memset(piece, 'a', sizeof piece);
	begin(0);
	CHECK(tach__buffer_sink(&text, "", 0) == 0 && text.length == 0);
	DID("");
	CHECK(tach__buffer_sink(&text, piece, 1) == 0 && text.length == 1);
	room = text.size;
	CHECK(room == 65537, "%zu", room);
	while (text.length + sizeof piece <= room)
		CHECK(tach__buffer_sink(&text, piece, sizeof piece) == 0);
	CHECK(tach__buffer_sink(&text, piece, room - text.length) == 0);
	CHECK(text.length == room && text.size == room, "%zu of %zu", text.length, text.size);
	begin(ENOMEM); /* existing text stays */
	CHECK(tach__buffer_sink(&text, "b", 1) == -ENOMEM);
	CHECK(errno == 4711 && text.length == room && text.size == room);
	begin(0);
	CHECK(tach__buffer_sink(&text, "bc", 2) == 0);
	CHECK(text.size == 2 * room + 2 + 65536 && text.length == room + 2, "%zu", text.size);
	CHECK(all(text.at, 'a', room) && memcmp(text.at + room, "bc", 3) == 0);
	begin(0);
	tach__buffer_free(&text);
	CHECK(!text.at && !text.length && !text.size && strncmp(did, "unmap ", 6) == 0);
}

/* Pages of an outgrown buffer are given back. */
static void buffers_are_freed_completely(void)
{
	struct tach__buffer text = {NULL, 0, 0};
	char want[100];

	begin(0);
	tach__buffer_sink(&text, "x", 1);
	CHECK(text.at != NULL);
	memset(text.at, 'x', text.size);
	text.length = text.size;
	begin(0);
	tach__buffer_sink(&text, "y", 1);
	snprintf(want, sizeof want, "map %zu; unmap %zu; ", tach__pages_round(text.size) / page,
		 tach__pages_round(65537) / page);
	DID(want);
	tach__buffer_free(&text);
	tach__buffer_free(&text); /* of nothing */
	CHECK(errno == 4711);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	CASE(whole_pages);
	CASE(mapped_and_given_back);
	CASE(reserved_then_opened);
	CASE(opening_is_refused);
	CASE(holes_of_whole_pages);
	CASE(wipe_on_fork_is_requested);
	CASE(copies);
	CASE(a_text_grows);
	CASE(buffers_are_freed_completely);
	return check_done();
}

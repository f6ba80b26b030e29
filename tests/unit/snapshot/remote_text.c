/* SPDX-License-Identifier: MIT */
/* Reading memory of another process: never more than permitted, and no text beyond its end. */
#include <string.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/unit/snapshot/there.h"

static char room[8192] __attribute__((aligned(4096)));
static char large[2][(1 << 20) + 1];

static void bytes(void)
{
	struct tach__remote r = there_remote();
	char to[16] = "";

	r.left = 10;
	there_forget();
	memcpy(room, "0123456789", 10);
	there(room, 10);
	CHECK(tach__remote_get(&r, room, to, 11) == TACH_ERR_TOOMANY && there_reads == 0 &&
	      r.left == 10);
	CHECK(tach__remote_get(&r, room + 1, to, 6) == 0 && memcmp(to, "123456", 7) == 0 &&
	      r.left == 4);
	CHECK(tach__remote_get(&r, room + 9, to, 2) == TACH__REMOTE_AGAIN && r.left == 2);
	there_fails = 1;
	CHECK(tach__remote_get(&r, room, to, 1) == -ESRCH && r.left == 1);
	there_fails = 0;
	CHECK(tach__remote_get(&r, room, to, 1) == 0 && r.left == 0 && to[0] == '0');
}

/* All tries together have limits for calls and time. */
static void calls_and_time(void)
{
	struct tach__remote r = there_remote();
	char to;
	int n = 0;

	there_forget();
	there(room, 1);
	r.calls = 3;
	for (int i = 0; i < 5; i++)
		CHECK(tach__remote_get(&r, room, &to, 1) == (i < 3 ? 0 : TACH_ERR_TOOMANY));
	CHECK(there_reads == 3);
	r = there_remote();
	r.until = -1;
	while (tach__remote_get(&r, room, &to, 1) == 0 && n < 1000)
		n++;
	CHECK(n > 0 && n < 1000, "%d", n);
	CHECK(tach__remote_get(&r, room, &to, 1) == TACH_ERR_TOOMANY);
	/* The clock is read after each large call. */
	there_forget();
	there(large[0], sizeof large[0]);
	r = there_remote();
	r.until = -1;
	CHECK(tach__remote_get(&r, large[0], large[1], sizeof large[1]) == 0);
	CHECK(tach__remote_get(&r, large[0], &to, 1) == TACH_ERR_TOOMANY && there_reads == 1);
}

static void rests_and_memory(void)
{
	struct tach__remote r = there_remote();

	tach__remote_sleep(&r, 1000);
	CHECK(r.rested == 1000);
	r.rested = TACH__REMOTE_RESTS - 1;
	tach__remote_sleep(&r, 1000);
	CHECK(r.rested == TACH__REMOTE_RESTS + 999);
	tach__remote_sleep(&r, 1000);
	CHECK(r.rested == TACH__REMOTE_RESTS + 999);
	CHECK(tach__remote_reserve(&r, TACH__REMOTE_MEMORY) == 0);
	CHECK(tach__remote_reserve(&r, 1) == TACH_ERR_TOOMANY);
	tach__remote_begin(&r, TACH__REMOTE_CPU);
	CHECK(r.rested == 0 && tach__remote_reserve(&r, 1) == 0);
}

/* The text ends in the last existing piece of 64 bytes. */
static void text_at_the_end_of_memory_is_read(void)
{
	static const size_t lengths[] = {0,   1,    62,	  63,	64,   65,   127,  128,
					 900, 1000, 1022, 1023, 1024, 1025, 2000, 3000};

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		for (size_t before = 0; before < 130; before++) {
			struct tach__remote r = there_remote();
			size_t length = lengths[i], most = sizeof(char[TACH__REMOTE_TEXT]) - 1;
			size_t end = (before + length) / 64 * 64 + 64;
			const char *text;

			memset(room, 0, sizeof room);
			memset(room + before, 'x', length);
			there_forget();
			end = end < before + most ? end : before + most;
			there(room + before, end - before);
			text = tach__remote_text(&r, room + before);
			CHECK(text && strlen(text) == (length < most ? length : most),
			      "%zu bytes behind %zu", length, before);
			CHECK(!text || strspn(text, "x") == strlen(text));
			CHECK(r.failed == 0 && TACH__REMOTE_BYTES - r.left == end - before,
			      "%d bytes", (int)(TACH__REMOTE_BYTES - r.left));
			tach__arena_free(&r.arena);
			/* One stretch less. */
			if (length < most && end > before + 64) {
				there_forget();
				there(room + before, (end - 1) / 64 * 64 - before);
				r.failed = 0;
				CHECK(!tach__remote_text(&r, room + before) &&
				      r.failed == TACH__REMOTE_AGAIN);
			}
		}
}

static void no_text(void)
{
	struct tach__remote r = there_remote();
	const char *text;

	there_forget();
	text = tach__remote_text(&r, NULL);
	CHECK(text && !*text && there_reads == 0);
	CHECK(!tach__remote_text(&r, room) && r.failed == TACH__REMOTE_AGAIN);
	there_fails = 1;
	CHECK(!tach__remote_text(&r, room) && r.failed == -ESRCH);
	tach__arena_free(&r.arena);
}

int main(void)
{
	CASE(bytes);
	CASE(calls_and_time);
	CASE(rests_and_memory);
	CASE(text_at_the_end_of_memory_is_read);
	CASE(no_text);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "core/snapshot/remote.h"

/* The clock is read after every 256 calls, and after each call that reads more than 1 MiB. */
enum { CALLS_A_LOOK_AT_THE_CLOCK = 256, BYTES_A_LOOK_AT_THE_CLOCK = 1 << 20 };

static double processor_time(void)
{
	struct timespec now = {0, 0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void tach__remote_begin(struct tach__remote *r, double cpu)
{
	r->left = TACH__REMOTE_BYTES;
	r->calls = TACH__REMOTE_CALLS;
	r->rested = r->memory = 0;
	r->until = processor_time() + cpu;
}

double tach__remote_left(const struct tach__remote *r)
{
	return r->until - processor_time();
}

void tach__remote_sleep(struct tach__remote *r, long ns)
{
	struct timespec rest = {0, ns};

	if (r->rested >= TACH__REMOTE_RESTS)
		return;
	r->rested += (uint64_t)ns;
	nanosleep(&rest, NULL);
}

int tach__remote_reserve(struct tach__remote *r, size_t size)
{
	r->memory += size;
	return r->memory > TACH__REMOTE_MEMORY ? TACH_ERR_TOOMANY : 0;
}

int tach__remote_get(struct tach__remote *r, const void *at, void *to, size_t size)
{
	int code;

	if (size > r->left || r->calls == 0)
		return TACH_ERR_TOOMANY;
	r->left -= size;
	if ((--r->calls % CALLS_A_LOOK_AT_THE_CLOCK == 0 || size > BYTES_A_LOOK_AT_THE_CLOCK) &&
	    tach__remote_left(r) < 0)
		r->calls = 0;
	code = r->read(r->context, at, to, size);
	return code == -EFAULT ? TACH__REMOTE_AGAIN : code;
}

/* Each step reads only up to the end of a page, because the next page may be unmapped. */
const char *tach__remote_text(struct tach__remote *r, const char *at)
{
	char text[TACH__REMOTE_TEXT];
	size_t used = 0;

	while (at && used < sizeof text - 1) {
		size_t n = 64 - ((uintptr_t)at + used) % 64;

		if (n > sizeof text - 1 - used)
			n = sizeof text - 1 - used;
		r->failed = tach__remote_get(r, tach__remote_at(at, used), text + used, n);
		if (r->failed)
			return NULL;
		used += n;
		if (memchr(text + used - n, '\0', n))
			break;
	}
	text[used] = '\0';
	return tach__arena_copy(&r->arena, text);
}

void tach__remote_finite(double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > -1e300 && v[i] < 1e300))
			v[i] = 0;
}

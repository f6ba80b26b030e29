/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "core/snapshot/remote.h"

int tach__remote_get(struct tach__remote *r, const void *at, void *to, size_t size)
{
	int code;

	if (size > r->left)
		return TACH_ERR_TOOMANY;
	r->left -= size;
	code = r->read(r->context, at, to, size);
	return code == -EFAULT ? TACH__REMOTE_AGAIN : code;
}

/* Not beyond the page that has its end: the next one may be none. */
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

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "core/os/buffer.h"
#include "core/os/memory.h"

int tach__buffer_sink(void *context, const char *text, size_t length)
{
	struct tach__buffer *to = context;

	if (to->size - to->length < length) {
		size_t size = 2 * to->size + length + 65536;
		char *at = tach__pages_larger(to->at, to->size, size);

		if (!at)
			return -ENOMEM;
		tach__pages_free(to->at, to->size);
		to->at = at;
		to->size = size;
	}
	if (length) /* otherwise there may be no memory yet */
		memcpy(to->at + to->length, text, length);
	to->length += length;
	return 0;
}

void tach__buffer_free(struct tach__buffer *text)
{
	tach__pages_free(text->at, text->size);
	memset(text, 0, sizeof *text);
}

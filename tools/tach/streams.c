/* SPDX-License-Identifier: MIT */
/* The library's text writers, on stdio streams. */
#include <errno.h>
#include "tools/tach/commands.h"

int stream_sink(void *context, const char *text, size_t length)
{
	return fwrite(text, 1, length, context) == length ? 0 : -(errno ? errno : EIO);
}

void json_begin(struct json_to *json, FILE *to, enum tach__json_style style)
{
	tach__out_open(&json->out, stream_sink, to);
	tach__json_begin(&json->json, &json->out, style);
}

int json_end(struct json_to *json)
{
	tach__out_text(&json->out, "\n");
	return tach__out_flush(&json->out);
}

/* SPDX-License-Identifier: MIT */
/* Connects the library's text writers to stdio streams. */
#include <errno.h>
#include "core/report/deliver.h"
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

int deliver(const char *who, const char *file, FILE *otherwise, const struct tach__buffer *text)
{
	int code = 0;

	if (file)
		code = tach__deliver_file(file, 0, text);
	else if (fwrite(text->at, 1, text->length, otherwise) != text->length ||
		 fflush(otherwise) != 0)
		code = -(errno ? errno : EIO);
	if (code)
		fprintf(stderr, "%s: %s%s%s\n", who, file ? file : "", file ? ": " : "",
			tach_strerror(code));
	return code ? -1 : 0;
}

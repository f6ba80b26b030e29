/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include "core/base/error.h"
#include "core/port/work.h"

int tach__refuse(struct tach__work *w, int code, const char *format, ...)
{
	char text[sizeof w->ask.err->text];
	va_list args;

	if (!w->ask.err)
		return code;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return tach__error(w->ask.err, code, 1, w->column, "%s", text);
}

/* SPDX-License-Identifier: MIT */
/* Prints an error and its position. */
#include <stdarg.h>
#include <string.h>
#include "tools/tach/commands.h"

enum { LINE_MOST = 200 };

int print_usage_error(const char *command)
{
	fprintf(stderr, "tach %s --help shows how it is used\n", command);
	return EXIT_USAGE;
}

int refuse_usage(const char *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "tach %s: ", command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return print_usage_error(command);
}

void complain(const char *who, const char *string, const struct tach_error *err)
{
	char shown[LINE_MOST + 1];
	size_t length = strlen(string);
	int place = 1;

	fflush(stdout); /* earlier answers must come first if both streams go to one file */
	fprintf(stderr, "%s: %s\n", who, *err->text ? err->text : tach_strerror(err->code));
	if (length > LINE_MOST || err->column < 1 || (size_t)err->column > length + 1)
		return;
	tach_printable(string, shown, sizeof shown);
	for (int i = 0; i < err->column - 1; i++)
		place += ((unsigned char)shown[i] & 0xc0) != 0x80; /* characters, not bytes */
	fprintf(stderr, "    %s\n    %*s\n", shown, place, "^");
}

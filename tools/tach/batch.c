/* SPDX-License-Identifier: MIT */
/* The lines of --batch: however they end, whatever they hold, none is lost. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/batch.h"
#include "tools/tach/commands.h"

int batch_next(struct batch *b)
{
	ssize_t length = getline(&b->text, &b->room, b->from);

	if (length < 0)
		return 0;
	b->number++;
	if (length && b->text[length - 1] == '\n')
		b->text[--length] = 0;
	if (length && b->text[length - 1] == '\r')
		b->text[--length] = 0;
	b->nul = 0;
	for (char *nul; (nul = memchr(b->text, 0, (size_t)length)); b->nul = 1)
		*nul = '?';
	return 1;
}

void batch_refuse(struct batch *b, const char *why, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: line %ld: ", b->command, b->number);
	va_start(arguments, why);
	vfprintf(stderr, why, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	b->refused++;
}

int batch_end(struct batch *b, int status)
{
	if (ferror(b->from)) {
		fprintf(stderr, "%s: standard input: %s\n", b->command, strerror(errno));
		status = EXIT_NO;
	}
	free(b->text);
	return b->refused ? EXIT_USAGE : status;
}

int batch_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !*end && !errno;
}

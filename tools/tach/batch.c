/* SPDX-License-Identifier: MIT */
/* Reads the lines of --batch. No line is lost, whatever its content and its end. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/batch.h"
#include "tools/tach/commands.h"

/* Returns the length including LF, or -1 if there is no line. Bytes beyond `most` are dropped.
 */
static ssize_t next_line(struct batch *b)
{
	size_t n = 0;
	int c;

	if (!b->text && !(b->text = malloc(BATCH_LINE_MOST + 1)))
		return -1;
	while ((c = getc_unlocked(b->from)) != EOF) {
		if (n < BATCH_LINE_MOST)
			b->text[n] = (char)c;
		n++;
		if (c == '\n')
			break;
	}
	b->text[n < BATCH_LINE_MOST ? n : BATCH_LINE_MOST] = '\0';
	return n ? (ssize_t)n : -1;
}

int batch_next(struct batch *b)
{
	ssize_t length = next_line(b);

	for (; length > BATCH_LINE_MOST; length = next_line(b)) {
		b->number++;
		batch_refuse(b, "longer than %d bytes", BATCH_LINE_MOST);
	}
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

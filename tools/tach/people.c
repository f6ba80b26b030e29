/* SPDX-License-Identifier: MIT */
/*
 * Everything that tach prints passes these streams, because names, files and arguments may
 * contain control sequences for the terminal. All output ends here, so no place in the code can
 * bypass it. Line ends and columns (LF, TAB, CR before LF) pass unchanged: the command prints
 * them itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tach/error.h>
#include "tools/tach/commands.h"

struct door {
	int fd;
	size_t held; /* the start of an incomplete character */
	char text[4];
};

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(fd, text, length);

		if (n == 0 || (n < 0 && errno != EINTR))
			return -1;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

/* Length of the character that begins with this byte. */
static size_t character_length(unsigned char lead)
{
	return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 || lead == '\r' ? 2 : 1;
}

/* Writes the held character in a printable form. */
static size_t show_character(struct door *d, char *to)
{
	char one[5];
	size_t n = d->held;

	memcpy(one, d->text, n);
	one[n] = '\0';
	d->held = 0;
	if (memchr(one, 0, n) || strcmp(one, "\n") == 0 || strcmp(one, "\t") == 0 ||
	    strcmp(one, "\r\n") == 0) {
		memcpy(to, *one ? one : "?", n);
		return n;
	}
	tach_printable(one, one, sizeof one);
	memcpy(to, one, n);
	return n;
}

static int continues(const struct door *d, char c)
{
	return d->text[0] == '\r' ? c == '\n' : ((unsigned char)c & 0xc0) == 0x80;
}

/* A write function of fopencookie reports a failure by this value. */
#ifdef __GLIBC__
enum { WRITE_FAILED = 0 };
#else
enum { WRITE_FAILED = -1 };
#endif

static ssize_t door_write(void *cookie, const char *text, size_t length)
{
	struct door *d = cookie;
	char out[4096 + 8];
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		if (d->held && !continues(d, text[i]))
			n += show_character(d, out + n);
		d->text[d->held++] = text[i];
		if (d->held == character_length((unsigned char)d->text[0]))
			n += show_character(d, out + n);
		if (n < sizeof out - 8)
			continue;
		if (write_all(d->fd, out, n) != 0)
			return WRITE_FAILED;
		n = 0;
	}
	return write_all(d->fd, out, n) == 0 ? (ssize_t)length : WRITE_FAILED;
}

static int door_close(void *cookie)
{
	struct door *d = cookie;
	char out[4];

	return write_all(d->fd, out, show_character(d, out));
}

static FILE *open_door(struct door *d, int mode, FILE *instead)
{
	static const cookie_io_functions_t functions = {.write = door_write,
							.close = door_close};
	FILE *stream = fopencookie(d, "w", functions);

	if (!stream)
		return instead;
	setvbuf(stream, NULL, mode, BUFSIZ);
	return stream;
}

#ifndef __GLIBC__
FILE *people_out, *people_err;

/*
 * A wrapper of getopt_long, which prints to the C library's own stderr. In musl, a missing
 * argument is counted as if it were there.
 */
int people_getopt(int argc, char **argv, const char *letters, const struct option *options)
{
	const struct option *o = options;
	int c, is_told = opterr;

	opterr = 0;
	c = (getopt_long)(argc, argv, letters, options, NULL);
	opterr = is_told;
	optind = optind > argc ? argc : optind;
	if (c != '?' || !is_told)
		return c;
	while (o->name && o->val != optopt)
		o++;
	fprintf(stderr,
		optopt && (o->name || strchr(letters, optopt))
			? "%s: option '%s' requires an argument, or takes none\n"
			: "%s: unrecognized option '%s'\n",
		argv[0], argv[optind - 1]);
	return c;
}
#endif

void people_open(void)
{
	static struct door out = {.fd = STDOUT_FILENO}, err = {.fd = STDERR_FILENO};

#ifndef __GLIBC__
	people_out = people_library_stream(STDOUT_FILENO);
	people_err = people_library_stream(STDERR_FILENO);
#endif
	stdout = open_door(&out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, stdout);
	stderr = open_door(&err, _IONBF, stderr);
}

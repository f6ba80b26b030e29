/* SPDX-License-Identifier: MIT */
/* Texts of error codes, and filling the caller's struct tach_error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/base/sized.h"
#include "core/base/utf8.h"

const char *tach_strerror(int code)
{
	switch (code) {
	case TACH_OK:
		return "success";
	case TACH_ERR_INVAL:
		return "invalid argument";
	case TACH_ERR_NOMEM:
		return "out of memory";
	case TACH_ERR_NOTSUPP:
		return "not supported here";
	case TACH_ERR_SYNTAX:
		return "malformed text";
	case TACH_ERR_NOTFOUND:
		return "not found";
	case TACH_ERR_ATTR:
		return "no such umask or modifier";
	case TACH_ERR_ATTR_VALUE:
		return "bad modifier value";
	case TACH_ERR_ATTR_SET:
		return "attribute already set to another value";
	case TACH_ERR_UMASK:
		return "a umask is missing";
	case TACH_ERR_FEATCOMB:
		return "umasks or features cannot be combined";
	case TACH_ERR_TOOMANY:
		return "too many";
	case TACH_ERR_TOOSMALL:
		return "array too small";
	case TACH_ERR_PERMISSION:
		return "not permitted by the kernel's settings";
	case TACH_ERR_NOHARDWARE:
		return "no performance counters here";
	case TACH_ERR_NOCOUNTER:
		return "out of counters";
	case TACH_ERR_NOASSIGN:
		return "no assignment of events to counters exists";
	case TACH_ERR_CYCLE:
		return "definitions refer to each other in a cycle";
	case TACH_ERR_STATE:
		return "wrong thread or wrong order of calls";
	case TACH_ERR_MAGIC:
		return "model-specific input of another kind or version";
	case TACH_ERR_EVENTSET:
		return "events of incompatible sets";
	case TACH_ERR_INCOMPATIBLE:
		return "events that cannot be measured together";
	case TACH_ERR_MODEL:
		return "not on this revision of the CPU";
	case TACH_ERR_CODE_RANGE:
		return "invalid code range";
	case TACH_ERR_CODE_ALIGN:
		return "code range not aligned to bundles";
	case TACH_ERR_CODE_TOOMANY:
		return "too many code ranges";
	case TACH_ERR_CODE_TOOBIG:
		return "code range too big";
	case TACH_ERR_CODE_FLAGS:
		return "code range needs demand or prefetch flags";
	case TACH_ERR_DATA_RANGE:
		return "invalid data range";
	case TACH_ERR_DATA_TOOMANY:
		return "too many data ranges";
	}
	if (code < 0 && code >= -4095) {
		const char *name = tach__errno_words(-code);

		if (name)
			return name;
	}
	return "unknown error";
}

size_t tach_printable(const char *text, char *to, size_t size)
{
	size_t at = 0, end = 0;

	while (text[at]) {
		size_t length = tach__utf8_length(text + at, 4); /* a NUL ends the sequence */
		int shown = length && tach__utf8_shown(text + at, length);

		length += !length;
		/* After a piece that did not fit, copy no later piece. */
		if (end == at && at + length < size) {
			for (size_t i = 0; i < length; i++)
				to[at + i] = shown ? text[at + i] : '?';
			end += length;
		}
		at += length;
	}
	if (size)
		to[end] = '\0';
	return at;
}

int tach__error(struct tach_error *err, int code, int line, int column, const char *format, ...)
{
	va_list args;
	size_t size, room;

	if (!err)
		return code;
	/* A struct that was never set is treated as the first version's. */
	size = tach__sized(err, TACH__STRUCT(tach_error), NULL);
	size = size ? size : TACH__FIRST_tach_error;
	if (size <= offsetof(struct tach_error, text))
		return code;
	room = size - offsetof(struct tach_error, text);
	if (room > sizeof err->text)
		room = sizeof err->text;
	err->code = code;
	err->line = line;
	err->column = column;
	err->text[0] = 0;
	/*
	 * No text. Do not call printf here: its first call takes a noticeable part of a
	 * process's start.
	 */
	if (!format)
		return code;
	va_start(args, format);
	vsnprintf(err->text, room, format, args);
	va_end(args);
	tach_printable(err->text, err->text, room);
	return code;
}

/* SPDX-License-Identifier: MIT */
#ifndef TACH_CORE_BASE_ERROR_H
#define TACH_CORE_BASE_ERROR_H

#include <tach/error.h>

/* Fills *err, which may be NULL, except err->size; returns code. format NULL: no text. */
int tach__error(struct tach_error *err, int code, int line, int column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif

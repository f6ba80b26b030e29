/* SPDX-License-Identifier: MIT */
/* Numbers as text. */
#ifndef TACH_CORE_BASE_NUMBER_H
#define TACH_CORE_BASE_NUMBER_H

#include <stddef.h>

/* Converts text to double and back in the C locale, whatever the process uses. */
double tach__number_parse(const char *text, size_t length);
int tach__number_print(double value, char *text, size_t size);

#endif

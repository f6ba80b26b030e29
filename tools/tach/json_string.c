/* SPDX-License-Identifier: MIT */
/* A string of JSON: quoted and escaped, UTF-8 as it is. */
#include <stdio.h>
#include "tools/tach/commands.h"

void json_string(const char *text)
{
	putchar('"');
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else if (*p < 0x20)
			printf("\\u%04x", *p);
		else
			putchar(*p);
	}
	putchar('"');
}

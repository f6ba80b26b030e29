/* SPDX-License-Identifier: MIT */
/* Strings in formats that programs read. */
#include <string.h>
#include <tach/error.h>
#include "tools/tach/commands.h"

/* The length of the UTF-8 character at text, 0 if there is none, and its number. */
static size_t character(const char *text, unsigned *code)
{
	unsigned char lead = (unsigned char)*text;
	size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	*code = n == 1 ? lead : lead & (0xffu >> (n + 1));
	if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | ((unsigned char)text[i] & 0x3f);
	}
	return n;
}

/* The character at text as such and as it may be shown; its length. */
static size_t take(const char *text, char one[5], char shown[5], unsigned *code)
{
	size_t n = character(text, code);

	memset(one, 0, 5);
	memcpy(one, text, n ? n : 1);
	tach_printable(one, shown, 5);
	if (!n)
		*code = 0xfffd;
	return n ? n : 1;
}

/* Nothing a terminal would obey stands in it as it is; U+FFFD for what is not UTF-8. */
void json_string(FILE *to, const char *text)
{
	char one[5], shown[5];
	unsigned code;

	putc('"', to);
	while (*text) {
		text += take(text, one, shown, &code);
		if (code == '"' || code == '\\')
			fprintf(to, "\\%c", (int)code);
		else if (strcmp(one, shown) == 0)
			fputs(one, to);
		else
			fprintf(to, "\\u%04x", code < 0x10000 ? code : 0xfffd);
	}
	putc('"', to);
}

/* RFC 4180. Spreadsheets take what begins with one of these for a formula, and what follows an
 * apostrophe for text. */
void csv_string(FILE *to, const char *text)
{
	char one[5], shown[5];
	unsigned code;

	fputs(*text && strchr("=+-@\t\r\n", *text) ? "\"'" : "\"", to);
	while (*text) {
		text += take(text, one, shown, &code);
		if (code == '"')
			fputs("\"\"", to);
		else
			fputs(code == '\n' || code == '\t' ? one : shown, to);
	}
	putc('"', to);
}

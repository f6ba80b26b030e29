/* SPDX-License-Identifier: MIT */
/*
 * A printable name contains no characters that control a terminal, whatever the original
 * contains.
 */
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "core/base/error.h"
#include "core/base/utf8.h"
#include "tests/check.h"

/* By Unicode's tables: Categories Cc and Bidi_Control, and the two separators. */
static int obeyed(unsigned code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static void every_character(void)
{
	for (unsigned code = 1; code < 0x110000; code++) {
		char text[16] = "a", shown[16];
		size_t n = tach__utf8_put(text + 1, code);

		if (code >= 0xd800 && code < 0xe000)
			continue; /* surrogates are not characters */
		strcpy(text + 1 + n, "b");
		CHECK(tach_printable(text, shown, sizeof shown) == n + 2);
		CHECK(strlen(shown) == n + 2, "U+%04X", code);
		CHECK((strspn(shown + 1, "?") == n) == (obeyed(code) || code == '?'), "U+%04X",
		      code);
		CHECK(obeyed(code) || strcmp(text, shown) == 0, "U+%04X", code);
	}
}

static void bytes_that_are_no_characters(void)
{
	static const char *const bad[] = {"\x80",
					  "\xff",
					  "\xc3",
					  "\xc0\x9b",
					  "\xe2\x80",
					  "\xed\xa0\x80",
					  "\xf5\x80\x80\x80"};
	char shown[8];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tach_printable(bad[i], shown, sizeof shown);
		CHECK(strspn(shown, "?") == strlen(bad[i]) && strlen(shown) == strlen(bad[i]));
	}
}

static void cut_between_characters(void)
{
	char shown[8] = "xxxxxxx";

	CHECK(tach_printable("abc", shown, 0) == 3 && shown[0] == 'x');
	CHECK(tach_printable("abc", shown, 1) == 3 && !strcmp(shown, ""));
	CHECK(tach_printable("ab\u00e9", shown, 4) == 4 && !strcmp(shown, "ab"));
	CHECK(tach_printable("ab\u00e9", shown, 5) == 4 && !strcmp(shown, "ab\u00e9"));
	/* After a part that does not fit, nothing more is written. */
	CHECK(tach_printable("ab\u00e9c", shown, 4) == 5 && !strcmp(shown, "ab"));
}

static void error_texts_are_printable(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	tach__error(&err, TACH_ERR_NOTFOUND, 0, 0, "no '%s'", "\033[2J\xc2\x9b\u202e\n");
	CHECK(strcmp(err.text, "no '?[2J??????\x27") == 0, "%s", err.text);
	/* Without a text, the old text is removed. */
	CHECK(tach__error(&err, TACH_ERR_INVAL, 3, 4, NULL) == TACH_ERR_INVAL);
	CHECK(err.code == TACH_ERR_INVAL && err.line == 3 && err.column == 4 && !err.text[0]);
}

/* ---- reports ---- */

static char output[1 << 20];
static size_t used;

static int sink(void *context, const char *text, size_t length)
{
	(void)context;
	if (used + length >= sizeof output)
		return -1;
	memcpy(output + used, text, length);
	used += length;
	return 0;
}

static void report_of(const struct tach_snapshot *s, enum tach_format format)
{
	struct tach_report_options opt = {.format = format};
	char shown[8];

	used = 0;
	CHECK(tach_report_write(s, &opt, sink, NULL, NULL) == 0);
	output[used] = '\0';
	CHECK(strlen(output) == used);
	for (const char *p = output; *p;) {
		size_t n = tach__utf8_length(p, 4);
		char one[5] = "";

		CHECK(n > 0, "format %d: not UTF-8", format);
		memcpy(one, p, n ? n : 1);
		tach_printable(one, shown, sizeof shown);
		/* Line breaks belong to the format; CSV ends lines with its own line break. */
		CHECK(!strcmp(one, shown) || *p == '\n' || *p == '\t' ||
			      (*p == '\r' && p[1] == '\n'),
		      "format %d: %02x %02x", format, (unsigned char)*p, (unsigned char)p[1]);
		p += n ? n : 1;
	}
}

/* The text is the name of a region, file, function, quantity, metric and note. */
static const char report[] =
	"{\"tach\":1,\"version\":\"1\",\"note\":\"%1$s\",\"clock\":{\"hz\":1e9,\"estimate\":"
	"false},"
	"\"threads\":1,\"refused\":0,\"lost\":0,\"stale\":0,\"unopened\":0,\"reports\":1,"
	"\"quantities\":[{\"name\":\"time\"},{\"name\":\"q%1$s\"}],"
	"\"metrics\":[{\"name\":\"m%1$s\",\"formula\":\"N0\"}],\"regions\":[{\"name\":\"%1$s\","
	"\"file\":\"%1$s\",\"function\":\"%1$s\",\"line\":1,\"fenced\":false,\"entries\":1,"
	"\"calls\":1,\"outermost\":1,\"skipped\":0,\"excluded\":0,\"nested\":0,\"threads\":1,"
	"\"provenance\":{},\"inclusive\":{\"time\":%2$s,\"q%1$s\":%2$s,\"m%1$s\":%2$s},"
	"\"self\":{\"time\":%2$s,\"q%1$s\":%2$s,\"m%1$s\":%2$s},"
	"\"histograms\":{\"time\":[[1,2,1]],\"q%1$s\":[[1,2,1]]}}]}";

static void reports(void)
{
	static const char value[] =
		"{\"value\":1,\"raw\":1,\"overhead\":0,\"error\":0,\"flags\":[]}";

	for (unsigned code = 1; code < 0x2100; code++) {
		struct tach_snapshot *s = NULL;
		char name[16], *text;

		if (!obeyed(code))
			continue;
		snprintf(name, sizeof name, "\\u%04x", code);
		CHECK(asprintf(&text, report, name, value) > 0);
		CHECK(tach_snapshot_load(text, strlen(text), &s, NULL) == 0);
		for (int format = TACH_FORMAT_TEXT; s && format <= TACH_FORMAT_HTML; format++)
			report_of(s, (enum tach_format)format);
		tach_snapshot_free(s);
		free(text);
	}
}

int main(void)
{
	CASE(every_character);
	CASE(bytes_that_are_no_characters);
	CASE(cut_between_characters);
	CASE(error_texts_are_printable);
	CASE(reports);
	return check_done();
}

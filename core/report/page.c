/* SPDX-License-Identifier: MIT */
/* Parts that HTML pages share: users' text, and everything above a page's content. */
#include <tach/base.h>
#include <stddef.h>
#include "core/report/page.h"

static const char *escape(unsigned c, char room[8])
{
	(void)room;
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	}
	return NULL;
}

void tach__report_html_text(struct tach__out *out, const char *t)
{
	tach__out_escaped(out, t, escape);
}

void tach__page_begin(struct tach__out *out)
{
	tach__out_text(out,
		       "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, "
		       "initial-scale=1\">\n<title>");
}

void tach__page_heading(struct tach__out *out, const char *style, const char *heading,
			int has_theme)
{
	tach__out_text(out, "</title>\n<style>\n");
	tach__out_text(out, tach__report_style);
	tach__out_text(out, style ? style : "");
	tach__out_text(out, "</style>\n</head>\n<body>\n<header><h1><b>tach</b> ");
	tach__report_html_text(out, heading);
	tach__out(out, "</h1><p>version %s</p>", tach_version());
	if (has_theme)
		tach__out_text(out, "<button class=\"quiet\" id=\"theme\" type=\"button\" "
				    "hidden>Light / dark</button>");
	tach__out_text(out, "</header>\n<main>\n");
}

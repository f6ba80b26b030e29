/* SPDX-License-Identifier: MIT */
/* Parts that HTML pages share: page.css and page.js, which report.mk converts to C, and a
 * function for text. */
#ifndef TACH_CORE_REPORT_PAGE_H
#define TACH_CORE_REPORT_PAGE_H

#include "core/base/out.h"

extern const char tach__report_style[], tach__report_script[];

/* Writes users' text and escapes special characters of HTML. */
void tach__report_html_text(struct tach__out *out, const char *text);

/* Writes the head of a page up to its title. */
void tach__page_begin(struct tach__out *out);
/*
 * Writes the end of the title, styles, and the heading. style: more styles, NULL: none;
 * has_theme: a button for the script.
 */
void tach__page_heading(struct tach__out *out, const char *style, const char *heading,
			int has_theme);

#endif

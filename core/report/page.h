/* SPDX-License-Identifier: MIT */
/* Parts that HTML pages share: page.css and page.js, which report.mk converts to C, and a
 * function for text. */
#ifndef TACH_CORE_REPORT_PAGE_H
#define TACH_CORE_REPORT_PAGE_H

#include "core/base/out.h"

extern const char tach__report_style[], tach__report_script[];

/* Writes users' text and escapes special characters of HTML. */
void tach__report_html_text(struct tach__out *out, const char *text);

#endif

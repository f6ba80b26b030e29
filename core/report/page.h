/* SPDX-License-Identifier: MIT */
/* What every HTML page has: page.css and page.js, as report.mk makes C of them, and text. */
#ifndef TACH_CORE_REPORT_PAGE_H
#define TACH_CORE_REPORT_PAGE_H

#include "core/base/out.h"

extern const char tach__report_style[], tach__report_script[];

/* Text of users, with what HTML takes for its own escaped. */
void tach__report_html_text(struct tach__out *out, const char *text);

#endif

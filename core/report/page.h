/* SPDX-License-Identifier: MIT */
/* The style and the script of the HTML report: page.css and page.js, as report.mk makes C
 * of them. */
#ifndef TACH_CORE_REPORT_PAGE_H
#define TACH_CORE_REPORT_PAGE_H

extern const char tach__report_style[], tach__report_script[];

#endif

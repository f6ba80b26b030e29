/* SPDX-License-Identifier: MIT */
/* Snapshots of all regions, and their reports. */
#ifndef TACH_REPORT_H
#define TACH_REPORT_H

#include <tach/set.h>

#endif

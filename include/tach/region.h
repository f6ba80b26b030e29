/* SPDX-License-Identifier: MIT */
/* TACH_START / TACH_STOP / TACH_SCOPE: named regions of code. */
#ifndef TACH_REGION_H
#define TACH_REGION_H

#include <tach/reader.h>

#endif

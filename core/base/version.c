/* SPDX-License-Identifier: MIT */
#include <tach/base.h>

const char *tach_version(void)
{
	return TACH_VERSION_STRING;
}

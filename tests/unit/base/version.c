/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <tach/base.h>
#include "tests/check.h"

static void version_matches_header(void)
{
	char want[32];

	snprintf(want, sizeof want, "%d.%d.%d", TACH_VERSION_MAJOR, TACH_VERSION_MINOR,
		 TACH_VERSION_PATCH);
	CHECK(strcmp(tach_version(), want) == 0, "library says %s, header %s", tach_version(),
	      want);
}

int main(void)
{
	CASE(version_matches_header);
	return check_done();
}

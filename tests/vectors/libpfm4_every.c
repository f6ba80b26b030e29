/* SPDX-License-Identifier: MIT */
/* Answers of libpfm-4 (libpfm4.h): every event of a core with every umask and modifier. */
#include "tests/vectors/libpfm4.h"

FILE_CASE(x86_core_ex, "")
FILE_CASE(arm64_core_ex, "")

static void rules(void)
{
	static const long bounds[NRULES] = {[SAME] = 760000, 0, 1700, 800, 0};

	check_rules(bounds);
}

int main(void)
{
	read_rules();
	CASE(x86_core_ex);
	CASE(arm64_core_ex);
	CASE(rules);
	return check_done();
}

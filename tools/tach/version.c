/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <tach/base.h>
#include "tools/tach/commands.h"

int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("tach %s\n", tach_version());
	return EXIT_DONE;
}

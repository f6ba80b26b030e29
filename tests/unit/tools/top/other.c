/* SPDX-License-Identifier: MIT */
/* A process with the regions of another version of the library. */
#include <stdio.h>
#include <unistd.h>
#include "core/region/beacon.h"

struct tach__beacon tach__beacon = {
	.magic = TACH__BEACON_MAGIC,
	.layout = TACH__BEACON_LAYOUT,
	.size = sizeof(struct tach__beacon),
	.state = TACH__BEACON_OWNER,
	.version = "9.8.7",
	.registry_layout = 7,
	.registry = &tach__beacon,
};

TACH__BEACON_ASM;

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

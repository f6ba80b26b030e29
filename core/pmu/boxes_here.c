/* SPDX-License-Identifier: MIT */
/* Caches which boxes this machine has. */
#include <pthread.h>
#include "core/pmu/pmu.h"

/* The function that fills it reads files and takes no lock of the library, like the one in
 * pmu.c. */
static struct {
	pthread_once_t once;
	uint64_t boxes[TACH__BOX_WORDS];
} host = {.once = PTHREAD_ONCE_INIT};

static void find_boxes(void)
{
	struct tach__cpu cpus[TACH__CPU_KINDS];
	int arch = tach__native_arch(), n;

	if (arch < 0)
		return;
	n = tach__parts[arch]->cpus("", 1, cpus, TACH__CPU_KINDS);
	tach__boxes_of((enum tach__arch)arch, cpus, n, "", host.boxes);
}

const uint64_t *tach__boxes(void)
{
	pthread_once(&host.once, find_boxes);
	return host.boxes;
}

/* SPDX-License-Identifier: MIT */
/*
 * A process with a forged registry that keeps readers busy: each round reads the longest
 * permitted list of threads, and then finds one more.
 */
#include <stdio.h>
#include <stddef.h>
#include <unistd.h>
#include <tach.h>
#include "core/region/region.h"

/* Only the beginning of each record is read. */
enum {
	THREADS = (1 << 16) + 1,
	HEAD = (offsetof(struct tach__thread, destructions) + 63) / 64 * 64
};
static char heads[THREADS][HEAD] __attribute__((aligned(64)));

static struct tach__thread *head(int i)
{
	return (struct tach__thread *)(void *)heads[i];
}

int main(void)
{
	struct cds_list_head *threads = &tach__registry.threads;

	{
		TACH_START(forged);
		TACH_STOP(forged);
	}
	if (threads->next == threads)
		return 1;
	/*
	 * Threads that are already in the totals are skipped, and the last thread never comes.
	 */
	for (int i = 0; i < THREADS; i++) {
		head(i)->folded = 1;
		head(i)->node.next = i + 1 < THREADS ? &head(i + 1)->node : threads;
	}
	threads->next = &head(0)->node;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* SPDX-License-Identifier: MIT */
/* A pinned group of this thread's events by plain system calls, for the peers without a
 * library. */
#ifndef BENCH_EVENTS_H
#define BENCH_EVENTS_H

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "bench/driver.h"

struct bench_group {
	int n, fd[BENCH_EVENTS_MAX];
	struct perf_event_mmap_page *page[BENCH_EVENTS_MAX];
};

static inline void bench_close(struct bench_group *g)
{
	for (int i = g->n - 1; i >= 0; i--) {
		if (g->page[i])
			munmap(g->page[i], (size_t)sysconf(_SC_PAGESIZE));
		close(g->fd[i]);
	}
	g->n = 0;
}

static inline const char *bench_open(struct bench_group *g, int n, int map)
{
	for (g->n = 0; g->n < n;) {
		int i = g->n;
		struct perf_event_attr attr = {.type = bench_events[i].type,
					       .size = sizeof attr,
					       .config = bench_events[i].config,
					       .pinned = i == 0,
					       .exclude_kernel = 1,
					       .exclude_hv = 1,
					       .read_format = PERF_FORMAT_GROUP};

#if defined(__aarch64__)
		attr.config1 = map ? 2 : 0; /* user access */
#endif
		g->page[i] = NULL;
		g->fd[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, i ? g->fd[0] : -1,
					PERF_FLAG_FD_CLOEXEC);
		if (g->fd[i] < 0)
			return strerror(errno);
		g->n++;
		if (!map)
			continue;
		g->page[i] = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
				  g->fd[i], 0);
		if (g->page[i] == MAP_FAILED)
			return strerror(errno);
	}
	return NULL;
}

static inline void bench_open_and_close(int map)
{
	struct bench_group mine;

	bench_open(&mine, 4, map);
	bench_close(&mine);
}

#endif

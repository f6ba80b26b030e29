/* SPDX-License-Identifier: MIT */
/* The system call: one read(2) on the group's leader returns all its counters. */
#include <tach/arch.h>
#include "bench/events.h"

const char bench_peer[] = "read(2)";

static struct bench_group group;
static uint64_t value[1 + BENCH_EVENTS_MAX], start[1 + BENCH_EVENTS_MAX];

static const char *opened(int n)
{
	return bench_open(&group, n, 0);
}

static void read_group(uint64_t *to)
{
	if (read(group.fd[0], to, sizeof value) < 0)
		_exit(1);
}

static void run_read(uint64_t n)
{
	BENCH_REPEAT(n, read_group(value));
}

static void pair(void)
{
	read_group(start);
	read_group(value);
	for (int i = 1; i <= group.n; i++)
		value[i] -= start[i];
}
static void run_pair(uint64_t n)
{
	BENCH_REPEAT(n, pair());
}

static void run_open(uint64_t n)
{
	BENCH_REPEAT(n, bench_open_and_close(0));
}

const struct bench_op bench_ops[] = {
	{"read1", opened, run_read, 1, 0, 0}, {"read2", opened, run_read, 2, 0, 0},
	{"read4", opened, run_read, 4, 0, 0}, {"read8", opened, run_read, 8, 0, 0},
	{"pair1", opened, run_pair, 1, 0, 0}, {"pair2", opened, run_pair, 2, 0, 0},
	{"pair4", opened, run_pair, 4, 0, 0}, {"pair8", opened, run_pair, 8, 0, 0},
	{"open4", NULL, run_open, 4, 0, 20},  {NULL, NULL, NULL, 0, 0, 0},
};

static uint64_t count(uint64_t n)
{
	read_group(start);
	tach__arch_loop(n);
	read_group(value);
	return value[1] - start[1];
}

const struct bench_counting bench_counting = {opened, count};

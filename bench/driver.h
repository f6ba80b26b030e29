/* SPDX-License-Identifier: MIT */
/*
 * Each peer's program gives its name and operations to the driver. bench/driver.c runs one
 * operation under the meter that the arguments select.
 */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct bench_op {
	/* the operation, with the same name in all peers; see bench/README.md */
	const char *name;
	/*
	 * Prepares `arg` counters, threads or the like. Returns NULL, or the reason why this is
	 * impossible here.
	 */
	const char *(*setup)(int arg);
	void (*run)(uint64_t n); /* does the operation n times */
	int arg;
	int once;	 /* can run only once in a process */
	unsigned repeat; /* n for instruction counts; 0 = 1000 */
};

extern const char bench_peer[];		  /* "tach", "papi", ... */
extern const struct bench_op bench_ops[]; /* ends with a NULL name */

/*
 * How the peer counts instructions of a loop of n iterations (tach/arch.h): the result includes
 * the peer's own overhead. Without `count` the peer counts nothing.
 */
extern const struct bench_counting {
	const char *(*setup)(int counters); /* called with 1 */
	uint64_t (*count)(uint64_t n);
} bench_counting;

/* Runs the statement n times in a loop of two extra instructions. */
#define BENCH_REPEAT(n, statement)                                                             \
	for (uint64_t bench_i = (n); bench_i; bench_i--) {                                     \
		statement;                                                                     \
		__asm__ volatile("" : "+r"(bench_i) : : "memory");                             \
	}

/* All peers with an encoder encode this event. */
#define BENCH_ENCODED "skl::INST_RETIRED:ANY_P:u"

#define BENCH_KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

/* perf's generic hardware events, in the order in which all peers count them. */
enum { BENCH_EVENTS_MAX = 8 };
extern const struct bench_event {
	const char *tach, *papi;
	uint32_t type;
	uint64_t config;
} bench_events[BENCH_EVENTS_MAX];

#endif

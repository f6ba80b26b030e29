/* SPDX-License-Identifier: MIT */
/*
 * Five inner loops and what the processor makes of them. Each is a region; what is counted is
 * decided when the program starts, so other events need no other program:
 *
 *	make run
 *	TACH_EVENTS='cycles,instructions,page-faults' make run
 *
 * On x86-64 and arm64 a loop takes as many instructions per iteration as its comment says, and
 * there are CALLS x ITERATIONS iterations of each. The table shows whether that is so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tach.h>

#define CALLS	   10
#define ITERATIONS 200000
#define LOOP	   static __attribute__((noinline)) uint64_t

/* Keeps the compiler from doing several rounds at once, or none. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

/* 3 instructions: each multiplication waits for the one before. */
LOOP dependent_multiplies(uint64_t x)
{
	for (int i = ITERATIONS; i; i--) {
		x *= x;
		OPAQUE(x);
	}
	return x;
}

/* 6 instructions: four sums that do not wait for each other. */
LOOP independent_adds(uint64_t a)
{
	uint64_t b = a, c = a, d = a;

	for (int i = ITERATIONS; i; i--) {
		a += 3, b += 5, c += 7, d += 9;
		OPAQUE(a);
		OPAQUE(b);
		OPAQUE(c);
		OPAQUE(d);
	}
	return a + b + c + d;
}

enum { WORDS = 2000, ROUNDS = ITERATIONS / WORDS }; /* 16 kB fit the first-level cache */

/* 4 instructions: after the first round all data come from the nearest cache. */
LOOP l1_sum(const uint64_t *data)
{
	uint64_t sum = 0;

	for (int round = ROUNDS; round; round--)
		for (const uint64_t *p = data; p != data + WORDS; p++) {
			sum += *p;
			OPAQUE(sum);
		}
	return sum;
}

struct node {
	struct node *next;
	char pad[56]; /* a cache line each */
};

/* 3 instructions: one step has to arrive from memory before the next can leave. */
static __attribute__((noinline)) struct node *pointer_chase(struct node *at)
{
	for (int i = ITERATIONS; i; i--)
		at = at->next;
	return at;
}

/* Heads or tails: the processor guesses the branch wrong every other time. */
LOOP unpredictable_branch(const uint8_t *coin)
{
	uint64_t heads = 0;

	for (int i = 0; i < ITERATIONS; i++)
		if (coin[i]) {
			heads++;
			OPAQUE(heads); /* or it would become an addition without a branch */
		}
	return heads;
}

static uint64_t random_next(void) /* xorshift64 */
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* All nodes in one ring, in random order (Sattolo's shuffle makes a single cycle). */
static void make_ring(struct node *ring, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ring[i].next = &ring[i];
	for (size_t i = n - 1; i > 0; i--) {
		size_t j = random_next() % i;
		struct node *swap = ring[i].next;

		ring[i].next = ring[j].next;
		ring[j].next = swap;
	}
}

static struct node ring[512 * 1024]; /* 32 MiB: more than most caches */
static uint64_t data[WORDS];
static uint8_t coin[ITERATIONS];

static void measure(void)
{
	struct node *at = ring;
	uint64_t x = 3;

	for (int i = 0; i < CALLS; i++) {
		TACH_START(multiplies);
		x += dependent_multiplies(x);
		TACH_STOP(multiplies);

		TACH_START(adds);
		x += independent_adds(x);
		TACH_STOP(adds);

		TACH_START(l1_sum);
		x += l1_sum(data);
		TACH_STOP(l1_sum);

		TACH_START(pointer_chase);
		at = pointer_chase(at);
		TACH_STOP(pointer_chase);

		TACH_START(branches);
		x += unpredictable_branch(coin);
		TACH_STOP(branches);
	}
	OPAQUE(x);
	OPAQUE(at);
}

static void fail(const struct tach_error *err)
{
	fprintf(stderr, "inner_loops: %s\n", err->text);
	exit(1);
}

int main(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *snapshot;

	make_ring(ring, sizeof ring / sizeof *ring);
	for (int i = 0; i < WORDS; i++)
		data[i] = random_next();
	for (int i = 0; i < ITERATIONS; i++)
		coin[i] = random_next() >> 63;

	/* NULL: what TACH_EVENTS and TACH_METRICS say, or else the usual events. */
	if (tach_regions_configure(NULL, &err) != 0)
		fail(&err);
	measure();
	if (tach_snapshot_take(&snapshot, &err) != 0 ||
	    tach_report_fd(snapshot, NULL, STDOUT_FILENO, &err) != 0)
		fail(&err);
	tach_snapshot_free(snapshot);
	return 0;
}

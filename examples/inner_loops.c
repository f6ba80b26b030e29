/* SPDX-License-Identifier: MIT */
/*
 * Five inner loops and how the processor executes them. Each loop is a region. Events are
 * chosen at start, so other events need no recompilation:
 *
 * 	make run
 * 	TACH_EVENTS='cycles,instructions,page-faults' make run
 *
 * On x86-64 and arm64 each iteration takes the number of instructions in the loop's comment,
 * and each loop runs CALLS x ITERATIONS iterations. Check it in the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tach.h>

#define CALLS	   10
#define ITERATIONS 200000
#define LOOP	   static __attribute__((noinline)) uint64_t

/* Prevents the compiler from merging or removing iterations. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

/* 3 instructions: each multiplication waits for the previous one. */
LOOP dependent_multiplies(uint64_t x)
{
	for (int i = ITERATIONS; i; i--) {
		x *= x;
		OPAQUE(x);
	}
	return x;
}

/* 6 instructions: four sums that are independent of each other. */
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

enum { WORDS = 2000, ROUNDS = ITERATIONS / WORDS }; /* 16 kB fit into the first-level cache */

/* 4 instructions: after the first pass all data come from the nearest cache. */
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

/* 3 instructions: each step waits until the previous one arrives from memory. */
static __attribute__((noinline)) struct node *pointer_chase(struct node *at)
{
	for (int i = ITERATIONS; i; i--)
		at = at->next;
	return at;
}

/* Random data: the processor mispredicts every other branch. */
LOOP unpredictable_branch(const uint8_t *coin)
{
	uint64_t heads = 0;

	for (int i = 0; i < ITERATIONS; i++)
		if (coin[i]) {
			heads++;
			/* otherwise it would become an addition without a branch */
			OPAQUE(heads);
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

/* Links all nodes into one ring in random order (Sattolo's shuffle makes a single cycle). */
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

	/* NULL: use TACH_EVENTS and TACH_METRICS, or the default events. */
	if (tach_regions_configure(NULL, &err) != 0)
		fail(&err);
	measure();
	if (tach_snapshot_take(&snapshot, &err) != 0 ||
	    tach_report_fd(snapshot, NULL, STDOUT_FILENO, &err) != 0)
		fail(&err);
	tach_snapshot_free(snapshot);
	return 0;
}

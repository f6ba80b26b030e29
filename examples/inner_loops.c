/* SPDX-License-Identifier: MIT */
/*
 * Five inner loops and what the processor makes of them.
 *
 * Every loop is a region: TACH_START(name) ... TACH_STOP(name). What is counted is decided when
 * the program starts, so the same program can be run with other events:
 *
 *	make run
 *	TACH_EVENTS='cycles,instructions,l1=L1-dcache-load-misses' make run
 *
 * On x86-64 and arm64 every loop but the last takes the number of instructions that its comment
 * says, per iteration; the table shows whether that is so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <tach.h>

#define CALLS	   10
#define ITERATIONS 200000

/* Keeps the compiler from working the loop out beforehand, or several rounds at once. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void) /* xorshift64 */
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Each multiplication waits for the one before: 3 instructions take 3 or 4 cycles. */
static uint64_t multiplies(uint64_t x)
{
	TACH_START(dependent_multiplies);
	for (int i = ITERATIONS; i; i--) {
		x *= x;
		OPAQUE(x);
	}
	TACH_STOP(dependent_multiplies);
	return x;
}

/* Four sums that do not wait for each other: 6 instructions, as many at once as there are
 * units. */
static uint64_t adds(uint64_t a)
{
	uint64_t b = a, c = a, d = a;

	TACH_START(independent_adds);
	for (int i = ITERATIONS; i; i--) {
		a += 3, b += 5, c += 7, d += 9;
		OPAQUE(a);
		OPAQUE(b);
		OPAQUE(c);
		OPAQUE(d);
	}
	TACH_STOP(independent_adds);
	return a + b + c + d;
}

/* 16 KiB again and again: 4 instructions, their data from the first-level cache after one
 * round. */
static uint64_t sum(const uint64_t *data, int n)
{
	uint64_t total = 0;

	TACH_START(l1_sum);
	for (int round = ITERATIONS / n; round; round--)
		for (int i = 0; i < n; i++) {
			total += data[i];
			OPAQUE(total);
		}
	TACH_STOP(l1_sum);
	return total;
}

/* 3 instructions, and one step has to arrive from memory before the next can leave. */
struct node {
	struct node *next;
	char pad[56]; /* a cache line each */
};

static struct node *chase(struct node *at)
{
	TACH_START(pointer_chase);
	for (int i = ITERATIONS; i; i--)
		at = at->next;
	OPAQUE(at);
	TACH_STOP(pointer_chase);
	return at;
}

/* A coin toss decides: the processor guesses wrong every other time. */
static uint64_t branches(const uint8_t *coin)
{
	uint64_t heads = 0;

	TACH_START(unpredictable_branch);
	for (int i = 0; i < ITERATIONS; i++)
		if (coin[i]) {
			heads++;
			OPAQUE(heads); /* or it would become an addition without a branch */
		}
	TACH_STOP(unpredictable_branch);
	return heads;
}

/* All nodes in one ring, in random order (Sattolo's shuffle makes a single cycle). */
static struct node *make_ring(size_t n)
{
	struct node *ring = calloc(n, sizeof *ring);
	size_t *order = malloc(n * sizeof *order);

	if (!ring || !order)
		exit(1);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t j = random_next() % i, swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	for (size_t i = 0; i < n; i++)
		ring[order[i]].next = &ring[order[(i + 1) % n]];
	free(order);
	return ring;
}

int main(void)
{
	static uint64_t data[2048];
	static uint8_t coin[ITERATIONS];
	struct node *ring = make_ring(512 * 1024); /* 32 MiB */
	struct node *at = ring;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *snapshot;
	uint64_t result = 3;

	for (int i = 0; i < ITERATIONS; i++)
		coin[i] = random_next() >> 63;

	/* NULL: TACH_EVENTS and TACH_METRICS, or else the usual events. */
	if (tach_regions_configure(NULL, &err) != 0) {
		fprintf(stderr, "inner_loops: %s\n", err.text);
		return 1;
	}
	for (int i = 0; i < CALLS; i++) {
		result += multiplies(result) + adds(result);
		result += sum(data, sizeof data / sizeof *data) + branches(coin);
		at = chase(at);
	}
	OPAQUE(result);

	if (tach_snapshot_take(&snapshot, &err) != 0 ||
	    tach_report_fd(snapshot, NULL, STDOUT_FILENO, &err) != 0) {
		fprintf(stderr, "inner_loops: %s\n", err.text);
		return 1;
	}
	tach_snapshot_free(snapshot);
	free(ring);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * PEER list: prints the names of its operations.
 * PEER callgrind OPERATION...: runs each with callgrind's collection on and dumps it
 * separately. PEER count [OPERATION]...: measures time and instructions with this project's own
 * harness.
 *
 * Lines are tab-separated: peer, operation, what, number, low, high; or peer, operation,
 * "cannot", reason. bench/run makes tables of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <tach/arch.h>
#include <tach/bench.h>
#include <tach/event.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else /* unused in the guests */
#define CALLGRIND_ZERO_STATS	      abort()
#define CALLGRIND_TOGGLE_COLLECT      abort()
#define CALLGRIND_DUMP_STATS_AT(name) abort()
#endif
#include "bench/driver.h"

enum { REPEAT = 1000, WARM = 20 };

const struct bench_event bench_events[BENCH_EVENTS_MAX] = {
	{"instructions", "perf::INSTRUCTIONS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cycles", "perf::CYCLES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
#if defined(__aarch64__)
	/*
	 * An emulated Arm PMU also has these events; it has 6 general counters and a cycle
	 * counter.
	 */
	{"stalled-cycles-frontend", NULL, PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", NULL, PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"r3c", NULL, PERF_TYPE_RAW, 0x3c},
	{"r08", NULL, PERF_TYPE_RAW, 0x08},
	{"r23", NULL, PERF_TYPE_RAW, 0x23},
	{"r24", NULL, PERF_TYPE_RAW, 0x24},
#elif defined(__riscv)
	/* The other events of an emulated PMU, with one counter for each. */
	{"dTLB-load-misses", NULL, PERF_TYPE_HW_CACHE,
	 PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
	{"dTLB-store-misses", NULL, PERF_TYPE_HW_CACHE,
	 PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8 |
		 PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
#else
	{"branches", "perf::BRANCHES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", "perf::BRANCH-MISSES", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_BRANCH_MISSES},
	{"cache-references", "perf::CACHE-REFERENCES", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", "perf::CACHE-MISSES", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"L1-dcache-loads", "perf::L1-DCACHE-LOADS", PERF_TYPE_HW_CACHE,
	 PERF_COUNT_HW_CACHE_L1D},
	{"dTLB-loads", "perf::DTLB-LOADS", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB},
#endif
};

static void run_empty(uint64_t n)
{
	BENCH_REPEAT(n, (void)0);
}
static const struct bench_op empty = {"empty", NULL, run_empty, 0, 0, 0};

static const struct bench_op *find(const char *name)
{
	for (const struct bench_op *op = bench_ops; op->name; op++)
		if (strcmp(op->name, name) == 0)
			return op;
	return strcmp(name, empty.name) == 0 ? &empty : NULL;
}

static int set_up(const struct bench_op *op)
{
	const char *reason = op->setup ? op->setup(op->arg) : NULL;

	if (reason)
		printf("%s\t%s\tcannot\t%s\n", bench_peer, op->name, reason);
	return !reason;
}

/* Callgrind starts with collection off; each operation gets a dump named after it. */
static void under_callgrind(const struct bench_op *op)
{
	unsigned n = op->once ? 1 : op->repeat ? op->repeat : REPEAT;

	if (!set_up(op))
		return;
	if (!op->once)
		op->run(op->repeat && op->repeat < WARM ? op->repeat : WARM);
	CALLGRIND_ZERO_STATS;
	CALLGRIND_TOGGLE_COLLECT;
	op->run(n);
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS_AT(op->name);
	printf("%s\t%s\trepeated\t%u\n", bench_peer, op->name, n);
}

static void run_op(void *op, uint64_t n)
{
	((const struct bench_op *)op)->run(n);
}

static int counted(const struct bench_op *op)
{
	struct tach_bench_options opt = {.size = sizeof opt, .samples = 21};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_bench *bench;
	struct tach_bench_quantity v = {.size = sizeof v};
	union {
		const struct bench_op *op;
		void *context;
	} u = {op};

	opt.events = "instructions";
	/*
	 * An emulator's clock is meaningless, so take only the samples that exact counts need.
	 * A kernel tick costs thousands of instructions and is in each sample during which the
	 * emulator lost its processor, so take many short samples.
	 */
	if (getenv("GUEST")) {
		opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
		opt.iterations = op->repeat ? op->repeat / 10 + 1 : 50;
#ifdef __riscv
		opt.iterations *=
			10; /* bench/run compares only time there, so take longer samples */
#endif
		opt.samples = 51;
	}
	if (!set_up(op))
		return 0;
	if (tach_bench_run(op->name, run_op, u.context, &opt, &bench, &err) != 0) {
		fprintf(stderr, "%s: %s\n", op->name, err.text);
		return 1;
	}
	for (int i = 0; tach_bench_value(bench, i, &v) == 0; i++)
		printf("%s\t%s\t%s\t%.6g\t%.6g\t%.6g\n", bench_peer, op->name, v.name, v.median,
		       v.low, v.high);
	tach_bench_free(bench);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Counted minus true values, sorted; the true length of the loop is known. */
enum { ACCURACY_TRIES = 9 };
static void errors(uint64_t iterations, int64_t *error)
{
	for (int i = 0; i < ACCURACY_TRIES; i++)
		error[i] = (int64_t)(bench_counting.count(iterations) -
				     iterations * TACH_ARCH_LOOP_INSTRUCTIONS);
	qsort(error, ACCURACY_TRIES, sizeof *error, by_value);
}

/*
 * Errors as counted, and after subtracting the median error of the shortest loop, which
 * calibrates.
 */
static int accuracy(void)
{
	const char *reason =
		bench_counting.count ? bench_counting.setup(1) : "it counts nothing";
	int64_t error[ACCURACY_TRIES], base;

	if (reason) {
		printf("%s\taccuracy\tcannot\t%s\n", bench_peer, reason);
		return 0;
	}
	errors(1, error);
	errors(1, error); /* the first call runs with cold caches */
	base = error[ACCURACY_TRIES / 2];
	for (uint64_t n = 10; n <= 10000000; n *= 10) {
		errors(n / TACH_ARCH_LOOP_INSTRUCTIONS, error);
		printf("%s\taccuracy %llu\terror\t%lld\t%lld\t%lld\n", bench_peer,
		       (unsigned long long)n, (long long)error[ACCURACY_TRIES / 2],
		       (long long)(error[0] - base),
		       (long long)(error[ACCURACY_TRIES - 1] - base));
	}
	return 0;
}

/* Private memory only: file pages are shared with other processes. */
static long private_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* Growth of private memory after opening and reading 4 counters, or after encoding an event. */
static int memory(void)
{
	static const char *const typical[] = {"read4", "region4", "encode"};
	const struct bench_op *op = NULL;
	long before;

	for (int i = 0; i < 3 && !op; i++)
		op = find(typical[i]);
	private_kib(); /* makes stdio allocate its own buffers */
	before = private_kib();
	if (!set_up(op))
		return 0;
	op->run(10);
	printf("%s\tmemory\tKiB\t%ld\t0\t0\n", bench_peer, private_kib() - before);
	return 0;
}

/* Runs in a child process: an operation must not keep counters that the next one needs. */
static int counted_apart(const struct bench_op *op)
{
	int status = 1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		exit(counted(op));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (WIFSIGNALED(status))
		printf("%s\t%s\tcannot\tits program died by signal %d\n", bench_peer, op->name,
		       WTERMSIG(status));
	return status != 0;
}

/* Some libraries refuse to start above level 2, even for root. */
static void allow_all(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "w");

	if (!f)
		return;
	fputs("-1\n", f);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getenv("GUEST"))
		allow_all();
	if (strcmp(mode, "list") == 0) {
		for (const struct bench_op *op = bench_ops; op->name; op++)
			puts(op->name);
		return 0;
	}
	for (int i = 2; i < argc; i++)
		if (!find(argv[i])) {
			fprintf(stderr, "no operation '%s'\n", argv[i]);
			return 2;
		}
	if (strcmp(mode, "callgrind") == 0) {
		for (int i = 2; i < argc; i++)
			under_callgrind(find(argv[i]));
		return 0;
	}
	if (strcmp(mode, "accuracy") == 0)
		return accuracy();
	if (strcmp(mode, "memory") == 0)
		return memory();
	if (strcmp(mode, "count") != 0) {
		fprintf(stderr,
			"usage: %s list | accuracy | memory | callgrind OPERATION... | count "
			"[OPERATION]...\n",
			argv[0]);
		return 2;
	}
	for (const struct bench_op *op = bench_ops; op->name && argc == 2; op++)
		if (!op->once)
			bad |= counted_apart(op);
	for (int i = 2; i < argc; i++)
		bad |= counted_apart(find(argv[i]));
	return bad;
}

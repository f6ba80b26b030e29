/* SPDX-License-Identifier: MIT */
/*
 * The emulator's counts, compared with computed ones: assembly functions of known length
 * between begin and end of a reader. The counts of the same two calls around a function that
 * only returns are subtracted, so that no instructions of `return` remain. Prints a line "ok"
 * or "not ok" for each.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>

typedef void code(uint64_t n);
enum { INSTRUCTIONS, BRANCHES, MOST };

static struct tach_set *set;
static __thread struct tach_reader *reader;
static _Atomic int failures;
static unsigned members = 2;

/* A separate function, so that begin and end have the same code for any callee. */
static __attribute__((noinline)) uint32_t around(code *f, uint64_t n, uint64_t *delta)
{
	struct tach_mark mark;

	tach_reader_begin(reader, &mark);
	f(n);
	return tach_reader_end(reader, &mark, delta);
}

code nothing;
__asm__(".text\n.globl nothing\nnothing:\tret");

/* Returns the cost of f without its return. */
static void measure(code *f, uint64_t n, int64_t *to)
{
	uint64_t with[TACH_COUNTERS_MAX], without[TACH_COUNTERS_MAX];

	if (around(f, n, with) || around(nothing, n, without)) {
		printf("# flags\n");
		failures++;
	}
	for (unsigned i = 0; i < members; i++)
		to[i] = (int64_t)(with[i] - without[i]);
}

static void check(const char *name, int quantity, int64_t count, int64_t expected)
{
	static const char *const names[] = {"instructions", "branches", "loads", "stores"};

	failures += count != expected;
	printf("%s %s, %s\n", count == expected ? "ok" : "not ok", name, names[quantity]);
	if (count != expected)
		printf("# %" PRId64 ", expected %" PRId64 "\n", count, expected);
}

static void known(const char *name, code *f, uint64_t n, int64_t instructions, int64_t branches)
{
	int64_t got[TACH_COUNTERS_MAX];

	measure(f, n, got);
	check(name, INSTRUCTIONS, got[INSTRUCTIONS], instructions);
	check(name, BRANCHES, got[BRANCHES], branches);
}

char source[65536], target[65536]; /* assembly uses these names */
volatile uint64_t handled;

code turns, nops, kernel_calls, memory_words, ticked;
volatile uint64_t ticks;
#if defined(__x86_64__)
code strings, string_loop, string_none, strings_row, string_scan, across, at_end, branch_across,
	identify, locked;
void tick(int signal);
__asm__(".text\n"
	".globl turns, nops, kernel_calls, memory_words, strings, string_loop, string_none\n"
	".globl strings_row, string_scan, across, at_end, branch_across, identify, locked, "
	"tick\n"
	"turns:\tdec %rdi\n\tjnz turns\n\tret\n"
	"nops:\t.rept 10000\n\tnop\n\t.endr\n\tret\n"
	"kernel_calls:\tmov $110, %eax\n\tsyscall\n\tdec %rdi\n\tjnz kernel_calls\n\tret\n"
	/* A load, a store, both in one: 8 bytes each, and the two accesses of push and pop. */
	"memory_words:\tlea target(%rip), %rsi\n"
	"1:\tmov (%rsi), %rax\n\tmov %rax, 8(%rsi)\n\tincq 16(%rsi)\n\tpush %rax\n\tpop %rax\n"
	"\tdec %rdi\n\tjnz 1b\n\tret\n"
	"strings:\tmov %rdi, %rcx\n\tlea source(%rip), %rsi\n\tlea target(%rip), %rdi\n"
	"\trep movsb\n\tret\n"
	"string_loop:\tmov %rdi, %rdx\n"
	"1:\tmov $33, %ecx\n\tlea target(%rip), %rdi\n\trep stosb\n\tdec %rdx\n\tjnz "
	"1b\n\tret\n"
	"string_none:\tmov %rdi, %rdx\n\tlea target(%rip), %rdi\n\txor %ecx, %ecx\n\tjmp 1f\n"
	"1:\trep stosb\n\tdec %rdx\n\tjnz 1b\n\tret\n"
	"strings_row:\tmov %rdi, %rdx\n\tlea target(%rip), %rdi\n"
	"1:\tmov $3, %ecx\n\trep stosb\n\trep stosb\n\trep lodsb\n\tnop\n\tdec %rdx\n\tjnz 1b\n"
	"\tret\n"
	"string_scan:\tmov %rdi, %rcx\n\tlea source(%rip), %rdi\n\tmov $1, %eax\n"
	"\trepne scasb\n\tret\n"
	/* The jumps enter after the first two instructions of the loop. */
	"across:\tjmp 2f\n\t.balign 4096\n\t.skip 4096 - 5\n1:\tnop\n\tnop\n"
	"2:\tmovabs $0x1122334455667788, %rax\n\tdec %rdi\n\tjnz 1b\n\tret\n"
	"at_end:\tjmp 2f\n\t.balign 4096\n\t.skip 4096 - 12\n1:\tnop\n\tnop\n"
	"2:\tmovabs $0x1122334455667788, %rax\n\tdec %rdi\n\tjnz 1b\n\tret\n"
	"branch_across:\tjmp 2f\n\t.balign 4096\n\t.skip 4096 - 7\n1:\tnop\n\tnop\n"
	"2:\tdec %rdi\n\t.byte 0x0f, 0x85\n\t.long 1b - . - 4\n\tret\n"
	"identify:\tmov %rbx, %r8\n\t1:\txor %eax, %eax\n\txor %ecx, %ecx\n\tcpuid\n\trdtsc\n"
	"\tdec %rdi\n\tjnz 1b\n\tmov %r8, %rbx\n\tret\n"
	"locked:\tlock incq target(%rip)\n\tlock xadd %rax, target(%rip)\n\tdec %rdi\n\tjnz "
	"locked\n\tret\n"
	/*
	 * Four instructions, with the return and the two instructions of the C library after
	 * it.
	 */
	"tick:\tincq handled(%rip)\n\tret\n"
	"ticked:\tmov handled(%rip), %rax\n1:\tdec %rdi\n\tjnz 1b\n\tmov handled(%rip), %rdx\n"
	"\tsub %rax, %rdx\n\tmov %rdx, ticks(%rip)\n\tret\n");
enum { TICK = 4, TICKED = 4 };
#else
void tick(int signal);
__asm__(".text\n"
	".globl turns, nops, kernel_calls, memory_words, tick, ticked\n"
	"turns:\tsubs x0, x0, #1\n\tb.ne turns\n\tret\n"
	"nops:\t.rept 10000\n\tnop\n\t.endr\n\tret\n"
	"kernel_calls:\tmov x3, x0\n1:\tmov x8, #173\n\tsvc #0\n\tsubs x3, x3, #1\n\tb.ne 1b\n"
	"\tret\n"
	"memory_words:\tadrp x1, target\n\tadd x1, x1, :lo12:target\n"
	"1:\tldr x2, [x1]\n\tstr x2, [x1, #8]\n\tsubs x0, x0, #1\n\tcbnz x0, 1b\n\tret\n"
	/*
	 * Seven instructions, with the return and the two instructions of the kernel or the
	 * emulator after it.
	 */
	"tick:\tadrp x1, handled\n\tldr x2, [x1, :lo12:handled]\n\tadd x2, x2, #1\n"
	"\tstr x2, [x1, :lo12:handled]\n\tret\n"
	"ticked:\tadrp x1, handled\n\tldr x2, [x1, :lo12:handled]\n"
	"1:\tsubs x0, x0, #1\n\tb.ne 1b\n\tldr x3, [x1, :lo12:handled]\n\tsub x3, x3, x2\n"
	"\tadrp x4, ticks\n\tstr x3, [x4, :lo12:ticks]\n\tret\n");
enum { TICK = 7, TICKED = 6 };
#endif

static void loops(const char *name, uint64_t first, uint64_t last, uint64_t step)
{
	int64_t got[TACH_COUNTERS_MAX];
	int wrong = 0;

	for (uint64_t n = first; n <= last; n += step) {
		measure(turns, n, got);
		wrong += got[INSTRUCTIONS] != (int64_t)(2 * n) || got[BRANCHES] != (int64_t)n;
	}
	check(name, INSTRUCTIONS, wrong, 0);
}

static void open_here(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	if (tach_reader_open(set, &reader, &err) != 0) {
		printf("not ok opened\n# %s\n", err.text);
		exit(1);
	}
}

static void *thread(void *unused)
{
	(void)unused;
	open_here();
	loops("loops of 1 to 20000 in a thread", 1, 20000, 7);
	tach_reader_close(reader);
	return NULL;
}

/*
 * Threads at the same time, and many one after the other: numbers of ended threads are reused.
 */
static void threads(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void forked(void)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		open_here();
		failures = 0;
		known("1000000 turns in a forked child", turns, 1000000, 2000000, 1000000);
		fflush(stdout);
		_exit(failures != 0);
	}
	waitpid(child, &status, 0);
	known("and in its parent", turns, 1000, 2000, 1000);
	failures += status != 0;
}

/*
 * A handler's instructions are counted too. One handler may run between the edge and the first
 * read of the number, and one after the last read. More cannot run, because signals do not
 * queue.
 */
static void signals(void)
{
	enum { N = 20000000 };
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = tick};
	int64_t got[TACH_COUNTERS_MAX], more;

	sigaction(SIGALRM, &action, NULL);
	/* At least one signal arrives during the loop, on any machine. */
	for (ticks = 0; !ticks;) {
		uint64_t with[TACH_COUNTERS_MAX], without[TACH_COUNTERS_MAX];

		around(nothing, 0, without);
		setitimer(ITIMER_REAL, &often, NULL);
		around(ticked, N, with);
		setitimer(ITIMER_REAL, &never, NULL);
		got[0] = (int64_t)(with[0] - without[0]);
	}
	more = got[0] - 2 * N - TICKED - TICK * (int64_t)ticks;
	check("a signal every ms amid 20000000 turns", INSTRUCTIONS,
	      more == 0 || more == TICK || more == 2 * TICK, 1);
}

/* QEMU refuses seccomp filters: the program gets the error, and is still counted. */
static void confined(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		printf("# the filter was taken\n");
	known("behind a seccomp filter", turns, 1000, 2000, 1000);
}

static void written(void)
{
#if defined(__x86_64__)
	static const unsigned char nop[] = {0x90}, ret[] = {0xc3};
#else
	static const unsigned char nop[] = {0x1f, 0x20, 0x03, 0xd5},
				   ret[] = {0xc0, 0x03, 0x5f, 0xd6};
#endif
	unsigned char *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t n = 100; n <= 300; n += 100) {
		for (size_t i = 0; i < n; i++)
			memcpy(at + i * sizeof nop, nop, sizeof nop);
		memcpy(at + n * sizeof nop, ret, sizeof ret);
		__builtin___clear_cache((char *)at, (char *)at + (n + 1) * sizeof nop);
		known("code written at run time", (code *)(void *)at, 0, (int64_t)n, 0);
	}
}

static void of_this_machine(void)
{
#if defined(__x86_64__)
	for (uint64_t n = 0; n < 5000; n = 3 * n + 1)
		known("rep movsb of 0 to 3280 bytes", strings, n, 4, 0);
	known("50 rounds with rep stosb", string_loop, 50, 251, 50);
	known("50 jumps to a rep that has nothing to do", string_none, 50, 4 + 150, 51);
	known("50 rounds of three reps in a row", strings_row, 50, 2 + 350, 50);
	known("repne scasb", string_scan, 100, 4, 0);
	known("1000 instructions across two pages", across, 1000, 4999, 1001);
	known("1000 instructions that end a page", at_end, 1000, 4999, 1001);
	known("1000 branches across two pages", branch_across, 1000, 3999, 1001);
	known("1000 cpuid and rdtsc", identify, 1000, 6002, 1000);
	known("1000 lock inc and xadd", locked, 1000, 4000, 1000);
#endif
}

int main(int argc, char **argv)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	int64_t got[TACH_COUNTERS_MAX];

	opt.events = argc > 1 ? "instructions,branches,L1-dcache-loads,L1-dcache-stores"
			      : "instructions,branches";
	if (tach_set_create(&opt, &set, &err) != 0) {
		printf("not ok set\n# %s\n", err.text);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	members = (unsigned)tach_set_count(set);
	open_here();
	memset(source, 2, sizeof source);
	if (argc > 1) {
		measure(memory_words, 1000, got);
#if defined(__x86_64__)
		check(argv[1], 2, got[2], 3000);
		check(argv[1], 3, got[3], 3000);
#else
		check(argv[1], 2, got[2], 1000);
		check(argv[1], 3, got[3], 1000);
#endif
		return failures != 0;
	}
	known("nothing", nothing, 0, 0, 0);
	known("10000 nops", nops, 0, 10000, 0);
	loops("loops of 1 to 3000", 1, 3000, 1);
	loops("loops of 3001 to 1000000 in steps of 49990", 3001, 1000000, 49990);
#if defined(__x86_64__)
	known("100 system calls", kernel_calls, 100, 400, 100);
#else
	known("100 system calls", kernel_calls, 100, 401, 100);
#endif
	of_this_machine();
	written();
	signals();
	threads();
	forked();
	confined();
	tach_reader_close(reader);
	tach_set_free(set);
	return failures != 0;
}

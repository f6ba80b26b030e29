/* SPDX-License-Identifier: MIT */
/*
 * Regions that are open or begin while threads and processes end or stop: cancellation,
 * SIGSTOP, exec, constructors and destructors of the program.
 */
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "tests/unit/region/regions.h"

enum { WORK = 25, THREADS = 40 };

static void leaf(void)
{
	TACH_SCOPE(leaf);
	fake_count += WORK;
}

/* ---- cancellation ---- */

static int rounds; /* atomic */

static struct tach_site *ended_by_handler;

static void end_region(void *mark)
{
	tach_region_end(mark);
}

/*
 * C code without -fexceptions runs no cleanup, so the interrupted entry is lost; the handler's
 * entry is complete.
 */
static void *cancelled(void *arg)
{
	struct tach_region_mark mark = TACH_REGION_MARK_INIT;

	TACH_START(never_left);
	tach_region_begin(ended_by_handler, &mark);
	pthread_cleanup_push(end_region, &mark);
	for (;;) {
		leaf();
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	TACH_STOP(never_left);
	return arg;
}

static void *cancelled_anywhere(void *arg)
{
	leaf();
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		leaf();
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

/* Cancels every second thread in its loop, and the others at any place. */
static void cancel_some(void *(*body)(void *))
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;
		void *result;

		__atomic_store_n(&rounds, 0, __ATOMIC_RELAXED);
		pthread_create(&thread, NULL, body, NULL);
		while (i % 2 && __atomic_load_n(&rounds, __ATOMIC_RELAXED) < 100 * i)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, &result);
		CHECK(result == PTHREAD_CANCELED);
	}
}

static void cancellation_inside_regions(void)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("AddressSanitizer takes the frames of a cancelled thread for living ones");
#endif
	ended_by_handler = tach_site_get("ended by handler");
	regions_begin(1);
	leaf();
	int before = fake_opens - fake_closes;
	cancel_some(cancelled);
	CHECK(fake_opens - fake_closes == before, "%d descriptors more",
	      fake_opens - fake_closes - before);
	CHECK(regions_look("leaf", 1) && value.value == (double)info.calls * WORK);
	CHECK(regions_find("never_left", 0) && info.calls == 0 && info.lost <= THREADS &&
		      info.lost == info.entries && info.lost >= THREADS / 2,
	      "%d entries", (int)info.calls);
	/* Some threads were cancelled before they began. */
	if (regions_find("ended by handler", 1))
		CHECK(info.calls <= THREADS && info.calls == info.threads);
}

/* The interrupted entry may be incomplete; all others are complete. */
static void cancellation_at_any_instruction(void)
{
	uint64_t calls;

#ifdef __SANITIZE_ADDRESS__
	SKIP("AddressSanitizer takes the frames of a cancelled thread for living ones");
#endif
#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer does not survive asynchronous cancellation");
#endif
	regions_begin(1);
	leaf();
	int before = fake_opens - fake_closes;
	cancel_some(cancelled_anywhere);
	CHECK(fake_opens - fake_closes == before, "%d descriptors more",
	      fake_opens - fake_closes - before);
	CHECK(regions_look("leaf", 1));
	calls = info.calls;
	CHECK(value.value <= (double)(calls + THREADS) * WORK &&
		      value.value >= (double)(calls - THREADS) * WORK,
	      "%.0f in %d calls", value.value, (int)calls);
	leaf();
	CHECK(regions_look("leaf", 1) && info.calls == calls + 1);
}

/* ---- standing still ---- */

enum { STOPS = 5, STOPPED_NS = 20000000 };

/* Its exit status is the number of the first failure. */
static int measure_until(volatile int *stops)
{
	uint64_t calls = 0;

	/* The library's own work at the first entries is not part of the enclosing region. */
	for (; calls < 2; calls++)
		leaf();
	TACH_START(across);
	for (; calls < 4; calls++)
		leaf();
	*stops = 0;
	for (; *stops < STOPS; calls++)
		leaf();
	TACH_STOP(across);
	if (!regions_look("leaf", 1) || info.calls != calls)
		return 1;
	if (value.value != (double)calls * WORK)
		return 2;
	if (!regions_find("across", TACH_QUANTITY_TIME) || info.calls != 1)
		return 3;
	if (value.raw < 0.9 * STOPS * STOPPED_NS) { /* the clock continues during the stop */
		printf("# %g ns, error %g ns\n", value.raw, value.error);
		fflush(stdout);
		return 4;
	}
	return regions_find("across", 1) && value.value == (double)(calls - 2) * WORK ? 0 : 5;
}

static void stopped_and_continued(void)
{
	volatile int *stops =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	regions_begin(1);
	*stops = -1;
	child = fork();
	if (child == 0)
		_exit(measure_until(stops));
	while (*stops < 0)
		nanosleep(&(struct timespec){0, 100000}, NULL);
	while (*stops < STOPS) {
		kill(child, SIGSTOP);
		waitpid(child, &status, WUNTRACED);
		CHECK(WIFSTOPPED(status));
		nanosleep(&(struct timespec){0, STOPPED_NS}, NULL);
		++*stops;
		kill(child, SIGCONT);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
	munmap((void *)stops, 4096);
}

/* ---- another program ---- */

static const char *self_path;

/*
 * In a child: executes program() below while a region is open, with the real kernel's counts.
 */
static void exec_inside(const char *output)
{
	struct tach_regions_options opt = {.events = "page-faults"};
	char open[16];

	snprintf(open, sizeof open, "%d", regions_descriptors());
	tach__sys = tach__sys_real;
	if (tach_regions_configure(&opt, NULL) != 0)
		_exit(77);
	TACH_START(open_at_exec);
	leaf();
	if (output) {
		setenv("TACH_OUTPUT", output, 1);
		setenv("TACH_EVENTS", "page-faults", 1);
	}
	execl(self_path, self_path, output ? "counts" : open, (char *)NULL);
	_exit(127);
}

static int status_of_exec(const char *output)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		exec_inside(output);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void exec_passes_no_descriptor_on(void)
{
	int status = status_of_exec(NULL);

	if (status == 77)
		SKIP("software events cannot be opened here");
	CHECK(status == 0, "%d", status);
}

/* The counts start again; constructors and destructors are counted like main. */
static void exec_begins_from_zero(void)
{
	char file[] = "/tmp/region_endings.XXXXXX.csv", text[16384];
	int status;
	FILE *f;

	close(mkstemps(file, 4));
	status = status_of_exec(file);
	f = fopen(file, "re");
	text[f ? fread(text, 1, sizeof text - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	unlink(file);
	if (status == 77)
		SKIP("software events cannot be opened here");
	CHECK(status == 0, "%d", status);
	CHECK(strstr(text, "\"leaf\"") && strstr(text, ",3,3,inclusive"), "%s", text);
	CHECK(!strstr(text, "open_at_exec"), "%s", text);
	CHECK(strstr(text, "\"before_main\"") && strstr(text, "\"after_main\""), "%s", text);
}

/* ---- a thread that ends while memory is exhausted ---- */

static void forbid_mappings(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		_exit(77);
}

static void poor(void)
{
	TACH_SCOPE(poor);
}

/* The system call filter applies to this thread only. */
static void *ends_poor(void *unused)
{
	poor();
	forbid_mappings();
	for (int i = 1; i < 7; i++)
		poor();
	return unused;
}

static void *ends_rich(void *unused)
{
	poor();
	return unused;
}

/*
 * Entries without memory for their own rows count for the whole thread, and are added to the
 * totals later.
 */
static int ended_poor(void)
{
	pthread_t thread;

	regions_begin(0);
	for (int looks = 0; looks < 2; looks++) {
		uint64_t want = looks ? 8 : 7;

		pthread_create(&thread, NULL, looks ? ends_rich : ends_poor, NULL);
		pthread_join(thread, NULL);
		for (int i = 0; i < 2; i++)
			CHECK(regions_look("poor", 0) && info.calls == want &&
				      info.threads == (uint32_t)looks + 1,
			      "%d calls of %d, in %d threads", (int)info.calls, (int)want,
			      (int)info.threads);
	}
	fflush(stdout);
	return check__failed != 0;
}

static void ended_without_memory(void)
{
	int status = -1;
	pid_t child;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer maps memory itself, which the filter forbids");
#endif
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(ended_poor());
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("no seccomp filters here");
	CHECK(status == 0, "%x", status);
}

static int program(const char *descriptors)
{
	for (int i = 0; i < 3; i++)
		leaf();
	return strcmp(descriptors, "counts") != 0 && regions_descriptors() != atoi(descriptors);
}

__attribute__((constructor(101))) static void constructor(void)
{
	TACH_SCOPE(before_main);
}

__attribute__((destructor)) static void destructor(void)
{
	TACH_SCOPE(after_main);
}

/* ---- a first region in the last round of destructors ---- */

static pthread_key_t late_key;

static void begin_late(void *round)
{
	if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(late_key, (char *)round + 1);
	else
		leaf();
}

static void *end_late(void *unused)
{
	pthread_setspecific(late_key, (void *)1);
	return unused;
}

/* No destructor of the library runs later: threads that open later find the ended threads. */
static void first_region_in_the_last_destructor(void)
{
	uint64_t calls;
	int opens;

#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer ends a thread before its last destructors");
#endif
	regions_begin(1);
	opens = fake_opens - fake_closes;
	calls = regions_look("leaf", 0) ? info.calls : 0;
	CHECK(pthread_key_create(&late_key, begin_late) == 0);
	for (int i = 0; i < 5 * THREADS; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, end_late, NULL);
		pthread_join(thread, NULL);
	}
	opens = fake_opens - fake_closes - opens;
	CHECK(opens <= THREADS / 2, "%d events are open", opens);
	CHECK(regions_look("leaf", 0) && info.calls - calls == 5 * THREADS, "%d calls",
	      (int)(info.calls - calls));
	pthread_key_delete(late_key);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return program(argv[1]);
	self_path = argv[0];
	CASE(cancellation_inside_regions);
	CASE(cancellation_at_any_instruction);
	CASE(stopped_and_continued);
	CASE(exec_passes_no_descriptor_on);
	CASE(exec_begins_from_zero);
	CASE(ended_without_memory);
	CASE(first_region_in_the_last_destructor);
	tach_snapshot_free(shot);
	return check_done();
}

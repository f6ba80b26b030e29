/* SPDX-License-Identifier: MIT */
/*
 * Counter instructions that fault: this machine's own do, if it has no PMU, once a page says
 * that there is a counter. With the handler they take the slow exit; other faults are left
 * alone.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tach/fault.h>
#include <unistd.h>
#include "core/reader.h"
#include "tests/check.h"

static struct tach_error err;

/* A reader of two software events whose pages lie about a counter. */
static struct tach_reader *open_liar(void)
{
	struct perf_event_attr attr[2];
	struct tach_set_attr member[2] = {{"faults", &attr[0]}, {"clock", &attr[1]}};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;
	struct tach_reader *reader;
	struct tach__reader *r;

	memset(attr, 0, sizeof attr);
	attr[0].type = attr[1].type = PERF_TYPE_SOFTWARE;
	attr[0].config = PERF_COUNT_SW_PAGE_FAULTS;
	attr[1].config = PERF_COUNT_SW_TASK_CLOCK;
	attr[0].exclude_kernel = attr[1].exclude_kernel = 1;
	opt.attrs = member;
	opt.nattrs = 2;
	if (tach_set_create(&set, &opt, &err) || tach_reader_open(&reader, set, &err))
		return NULL;
	r = tach__reader(reader);
	r->hard = r->soft;
	r->soft.count = 0;
	for (int i = 0; i < 2; i++) {
		struct perf_event_mmap_page *page = tach__reader_page(r, i);

		mprotect(page, r->page_size, PROT_READ | PROT_WRITE);
		page->lock = 2;
		page->index = 1;
		page->pmc_width = 48;
		page->cap_user_rdpmc = 1;
		r->hot.way[i].stubs = TACH_STUBS(64);
	}
	return reader;
}

static void close_liar(struct tach_reader *reader)
{
	const struct tach_set *set = tach_reader_set(reader);

	tach_reader_close(reader);
	tach_set_free((struct tach_set *)set);
}

/* What a child that does this ends with: its exit status, or 128 + the signal. */
static int outcome(void (*what)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		what();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void read_one(void)
{
	struct tach_reader *reader = open_liar();
	uint64_t value[2];

	if (!reader)
		_exit(77);
	tach_read(reader, value);
}

static int fatal; /* how a counter instruction ends here without the handler */

static void faults_become_slow_exits(void)
{
	struct tach_reader *reader;
	struct tach_mark mark;
	uint64_t delta[2], value[2];
	uint32_t flags;
	int covered;

	fatal = outcome(read_one);
	if (fatal == 77)
		SKIP(err.text);
	if (fatal == 0)
		SKIP("this machine lets every program read counters");
	covered = tach_fault_install(&err);
	CHECK(covered > 0, "%d: %s", covered, err.text);
	reader = open_liar();
	if (!reader)
		return;
	flags = tach_read_n(reader, value, 2);
	CHECK(flags == TACH_SYSCALL && value[1] > 0, "flags %#x", flags);
	flags = tach_read(reader, value);
	CHECK(flags == TACH_SYSCALL, "flags %#x", flags);
	for (int i = 0; i < 1000; i++) {
		tach_begin_n(reader, &mark, 2);
		flags = tach_end_n(reader, &mark, delta, 2);
		CHECK(flags == TACH_SYSCALL && delta[1] > 0 && delta[0] < 5, "flags %#x",
		      flags);
		tach_begin_fn(reader, &mark);
		flags = tach_end_fn(reader, &mark, delta);
		CHECK(flags == TACH_SYSCALL && delta[1] > 0 && delta[0] < 5, "flags %#x",
		      flags);
	}
	close_liar(reader);
	tach_fault_remove();
}

static sigjmp_buf escape;
static volatile int seen;

static void earlier(int number)
{
	seen = number;
	siglongjmp(escape, 1);
}

static void foreign_faults_reach_the_earlier_handler(void)
{
	struct sigaction action, now;

	memset(&action, 0, sizeof action);
	action.sa_handler = earlier;
	sigaction(SIGSEGV, &action, NULL);
	CHECK(tach_fault_install(&err) > 0, "%s", err.text);
	CHECK(tach_fault_install(&err) > 0, "a second time: %s", err.text);
	seen = 0;
	if (sigsetjmp(escape, 1) == 0)
		*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
	CHECK(seen == SIGSEGV, "%d", seen);
	seen = 0;
	if (sigsetjmp(escape, 1) == 0)
		raise(SIGSEGV);
	CHECK(seen == SIGSEGV, "%d", seen);
	tach_fault_remove();
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_handler == earlier, "not put back");
	signal(SIGSEGV, SIG_DFL);
}

static void crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	tach_fault_install(NULL);
	*(volatile int *)(uintptr_t)sysconf(_SC_PAGESIZE) = 0;
}

static void send(void)
{
	signal(SIGILL, SIG_DFL);
	tach_fault_install(NULL);
	raise(SIGILL);
}

static void ignore(void)
{
	signal(SIGILL, SIG_IGN);
	tach_fault_install(NULL);
	raise(SIGILL);
}

static void foreign_faults_kill_as_before(void)
{
	CHECK(outcome(crash) == 128 + SIGSEGV, "%d", outcome(crash));
	CHECK(outcome(send) == 128 + SIGILL, "%d", outcome(send));
	CHECK(outcome(ignore) == 0, "%d", outcome(ignore));
}

int main(void)
{
	CASE(faults_become_slow_exits);
	CASE(foreign_faults_reach_the_earlier_handler);
	CASE(foreign_faults_kill_as_before);
	return check_done();
}

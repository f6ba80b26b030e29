/* SPDX-License-Identifier: MIT */
/*
 * A call on a stack that is mapped for it, with a guard page below if the kernel permits one.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tach/error.h>
#include "core/os/memory.h"
#include "tests/check.h"

static int no_pages, no_guard; /* is refused */
static char *stack;
static size_t mapped, guarded, given_back;

__attribute__((unused)) static char *pages(size_t size)
{
	mapped = size;
	stack = no_pages ? NULL : tach__pages(size);
	return stack;
}

__attribute__((unused)) static int protect(void *at, size_t size, int access)
{
	CHECK(at == stack && access == PROT_NONE);
	guarded = size;
	if (no_guard)
		errno = ENOMEM;
	return no_guard ? -1 : mprotect(at, size, access);
}

__attribute__((unused)) static void pages_back(void *at, size_t size)
{
	CHECK(at == stack);
	given_back = size;
	tach__pages_free(at, size);
}

#define tach__pages	       pages
#define tach__pages_free       pages_back
#define mprotect(at, size, as) protect(at, size, as)
#include "core/os/stack.c"

static size_t page;
static char *here; /* where it ran */
static int calls;

static int *argument;

static int job(void *arg)
{
	char local[8];

	here = __builtin_frame_address(0);
	memset(local, 1, sizeof local);
	__asm__ volatile("" : : "r"(local) : "memory");
	CHECK(arg == &argument);
	calls++;
	errno = 42; /* the job may change errno */
	return -4711;
}

static int run(int refuse_pages, int refuse_guard)
{
	no_pages = refuse_pages;
	no_guard = refuse_guard;
	calls = 0;
	mapped = guarded = given_back = 0;
	here = NULL;
	errno = 4711;
	return tach__on_own_stack(job, &argument);
}

static int of_its_own(void)
{
	return mapped != 0;
}

static void its_result_and_its_errno(void)
{
	for (int refuse = 0; refuse < 2; refuse++)
		CHECK(run(0, refuse) == -4711 && calls == 1 && errno == 42, "%d calls", calls);
}

static void the_top_of_64_kilobytes(void)
{
	run(0, 0);
	if (!of_its_own())
		SKIP("this architecture, or sanitizer, calls it where it is");
	CHECK(mapped == page + tach__pages_round(65536) && given_back == mapped, "%zu, %zu",
	      mapped, given_back);
	CHECK(guarded == page, "%zu", guarded);
	CHECK(here < stack + mapped && here > stack + mapped - 512, "%td below",
	      stack + mapped - here);
}

/* The job sees the caller's errno. */
static int sees_errno(void *arg)
{
	(void)arg;
	return errno;
}

static void a_refused_guard_is_not_seen(void)
{
	no_pages = 0;
	no_guard = 1;
	errno = 4711;
	CHECK(tach__on_own_stack(sees_errno, NULL) == 4711 && errno == 4711, "%d", errno);
}

static void no_stack_no_call(void)
{
	int rc = run(1, 0);

	if (!of_its_own())
		SKIP("this architecture, or sanitizer, calls it where it is");
	CHECK(rc == TACH_ERR_NOMEM && calls == 0 && guarded == 0 && errno == 4711);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	CASE(its_result_and_its_errno);
	CASE(the_top_of_64_kilobytes);
	CASE(a_refused_guard_is_not_seen);
	CASE(no_stack_no_call);
	return check_done();
}

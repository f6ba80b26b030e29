/* SPDX-License-Identifier: MIT */
/*
 * Threads without a key: before the library could get one, the program has taken all keys whose
 * values need no memory. A first START in a handler, which may have interrupted malloc,
 * allocates nothing; threads that open later find threads that ended.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include "tests/unit/region/regions.h"

enum { KEYS = 40, THREADS = 200, LEFT = 20 };

static void take_keys(void)
{
	pthread_key_t key;

	for (int i = 0; i < KEYS; i++)
		pthread_key_create(&key, NULL);
}
__attribute__((section(".preinit_array"), used)) static void (*early)(void) = take_keys;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define WATCHED 0 /* a sanitizer has its own malloc */
#else
#define WATCHED 1
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static volatile int armed, allocations;

#define FOR_ALL __attribute__((visibility("default"))) /* libc's calls too */

FOR_ALL void *malloc(size_t size)
{
	allocations += armed;
	return __libc_malloc(size);
}

FOR_ALL void *calloc(size_t n, size_t size)
{
	allocations += armed;
	return __libc_calloc(n, size);
}

FOR_ALL void *realloc(void *p, size_t size)
{
	allocations += armed;
	return __libc_realloc(p, size);
}
#endif

static struct tach_site site = TACH_SITE_INIT("by threads", 0, "");

static void enter(void)
{
	struct tach_region_mark mark;

	tach_region_begin(&site, &mark);
	tach_region_end(&mark);
}

#if WATCHED
static void in_handler(int unused)
{
	(void)unused;
	armed = 1;
	enter();
	armed = 0;
}

static void *raise_one(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

static void first_entry_in_a_handler(void)
{
	struct sigaction action = {.sa_handler = in_handler};
	pthread_t thread;

	armed = 1;
	free(strdup("seen from libc"));
	armed = 0;
	CHECK(allocations == 1);
	sigaction(SIGUSR1, &action, NULL);
	for (int members = 0; members <= 2; members += 2) {
		regions_begin(members);
		allocations = 0;
		pthread_create(&thread, NULL, raise_one, NULL);
		pthread_join(thread, NULL);
		CHECK(allocations == 0, "%d", allocations);
		CHECK(regions_look("by threads", 0) && info.calls == 1);
	}
}
#else
static void first_entry_in_a_handler(void)
{
	SKIP("a sanitizer's allocator cannot be told to fail");
}
#endif

static void *enter_one(void *leaves)
{
	static __thread struct tach_region_mark mark;

	if (leaves)
		tach_region_begin(&site, &mark);
	enter();
	return NULL;
}

static void ended_threads_are_found(void)
{
	pthread_t thread;
	int opens;

	regions_begin(2);
	opens = fake_opens - fake_closes;
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&thread, NULL, enter_one, i % 2 ? &site : NULL);
		pthread_join(thread, NULL);
	}
	opens = fake_opens - fake_closes - opens;
	CHECK(opens <= 2 * LEFT, "%d events are open", opens);
	CHECK(regions_look("by threads", 0) && info.calls == THREADS, "%d calls",
	      (int)info.calls);
	CHECK(info.lost <= THREADS / 2 && info.lost >= THREADS / 2 - LEFT, "%d lost",
	      (int)info.lost);
}

int main(void)
{
	CASE(first_entry_in_a_handler);
	CASE(ended_threads_are_found);
	return check_done();
}

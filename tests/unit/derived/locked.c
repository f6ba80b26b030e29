/* SPDX-License-Identifier: MIT */
/*
 * Each call that reads a registry takes the lock once and releases it. A load takes the lock
 * for each record, so that its report function may call the registry.
 */
#include <pthread.h>
#include <string.h>
#include "tests/check.h"

/* The lock has an owner: releasing it without holding it is an error. */
static int taken, wrong;
#define pthread_mutex_lock(mutex)   (taken++, wrong += pthread_mutex_lock(mutex) != 0)
#define pthread_mutex_unlock(mutex) (wrong += pthread_mutex_unlock(mutex) != 0)
#include "core/derived/derived.c"

static struct tach_derived *d;
static struct tach_derived_info info = {.size = sizeof info};

/* After each error in a text, the earlier definitions are kept. */
static void report(void *context, const struct tach_diagnostic *diagnostic)
{
	(void)diagnostic;
	CHECK(tach_derived_find(d, 0, "a", &info) == 0 && tach_derived_count(d, 0) == 1);
	++*(int *)context;
}

static void every_entry_point_takes_the_lock(void)
{
	static const char text[] = "EVENT,a,NOT_DERIVED,x\nEVENT,b";
	int reports = 0, names = 0;
	struct tach_derived_options opt = {
		.size = sizeof opt, .report = report, .context = &reports};

	CHECK(tach_derived_create(&opt, &d, NULL) == 0 && taken == 0);
	CHECK(tach_derived_load_text(d, "t", text, strlen(text), NULL) == 1);
	/*
	 * The load takes the lock for the file's name and for its record, and the report
	 * function takes it twice.
	 */
	CHECK(reports == 1 && taken == 4, "%d, %d", reports, taken);
	CHECK(tach_derived_find(d, 0, "a", &info) == 0 && taken == 5, "%d", taken);
	CHECK(tach_derived_find(d, 0, "b", &info) == TACH_ERR_NOTFOUND && taken == 6, "%d",
	      taken);
	names = tach_derived_count(d, 0);
	CHECK(names == 1 && taken == 7, "%d, %d", names, taken);
	CHECK(tach_derived_at(d, 0, 0, &info) == 0 && taken == 8, "%d", taken);
	CHECK(tach_derived_at(d, 0, 1, &info) == TACH_ERR_INVAL && taken == 9, "%d", taken);
	CHECK(wrong == 0 && !inside, "%d", wrong);
	CHECK(pthread_mutex_trylock(&lock) == 0);
	tach_derived_free(d);
}

int main(void)
{
	pthread_mutexattr_t strict;

	pthread_mutexattr_init(&strict);
	pthread_mutexattr_settype(&strict, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&lock, &strict);
	CASE(every_entry_point_takes_the_lock);
	return check_done();
}

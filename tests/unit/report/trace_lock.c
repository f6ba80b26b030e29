/* SPDX-License-Identifier: MIT */
/* The writer of a trace takes its configuration, and releases it, only under the lock. */
#include <pthread.h>
#include <semaphore.h>
#include <tach.h>
#include <unistd.h>
#include "core/region/region.h"
#include "core/report/report.h"
#include "tests/check.h"

static sem_t locked, released, in_sink;
static int is_holding, done;
static pthread_t holder;

static void *hold(void *unused)
{
	struct tach__held held;

	tach__lock(&held);
	sem_post(&locked);
	sem_wait(&released);
	tach__unlock(&held);
	return unused;
}

static void begin_holding(void)
{
	pthread_create(&holder, NULL, hold, NULL);
	sem_wait(&locked);
}

static int sink(void *context, const char *text, size_t length)
{
	(void)context;
	(void)text;
	(void)length;
	if (!is_holding) {
		is_holding = 1;
		begin_holding();
		sem_post(&in_sink);
	}
	return 0;
}

static void *trace(void *unused)
{
	CHECK(tach__report_trace(sink, NULL, 0) == 0);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	return unused;
}

/* The writer waits while the lock is held, for any time, and then continues. */
static void not_before_it_is_released(pthread_t writer)
{
	usleep(20000);
	CHECK(!__atomic_load_n(&done, __ATOMIC_ACQUIRE));
	sem_post(&released);
	pthread_join(holder, NULL);
	pthread_join(writer, NULL);
	CHECK(done);
}

static void trace_waits_for_the_lock(void)
{
	pthread_t writer;

	done = 0;
	is_holding = 1;
	begin_holding();
	pthread_create(&writer, NULL, trace, NULL);
	not_before_it_is_released(writer);
}

static void given_back(void)
{
	pthread_t writer;

	done = is_holding = 0;
	pthread_create(&writer, NULL, trace, NULL);
	sem_wait(&in_sink);
	not_before_it_is_released(writer);
}

int main(void)
{
	sem_init(&locked, 0, 0);
	sem_init(&released, 0, 0);
	sem_init(&in_sink, 0, 0);
	CHECK(tach_regions_configure(&(struct tach_regions_options){.events = ""}, NULL) == 0);
	CASE(trace_waits_for_the_lock);
	CASE(given_back);
	return check_done();
}

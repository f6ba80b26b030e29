/* SPDX-License-Identifier: MIT */
/*
 * Requests in a pool of threads: each has three stages, and any free thread takes the next
 * stage. A request's cost is still one sum, and the report shows the most expensive requests:
 *
 * 	TACH_OUTPUT=- TACH_WORST=3 build/examples/thread_pool
 */
#include <pthread.h>
#include <stdio.h>
#include <tach.h>

enum { REQUESTS = 50, STAGES = 3, THREADS = 3 };

struct request {
	struct tach_task task;
	struct request *next;
	int stage;
};

static struct request request[REQUESTS], *first, **last = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int left = REQUESTS;

/* The queue's lock orders the threads that handle a task one after another. */
static void put(struct request *r)
{
	pthread_mutex_lock(&lock);
	r->next = NULL;
	*last = r;
	last = &r->next;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}

static struct request *get(void)
{
	struct request *r;

	pthread_mutex_lock(&lock);
	while (!first && left)
		pthread_cond_wait(&more, &lock);
	r = first;
	if (r && !(first = r->next))
		last = &first;
	pthread_mutex_unlock(&lock);
	return r;
}

static void finished(void)
{
	pthread_mutex_lock(&lock);
	if (--left == 0)
		pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
}

static void compute(int n)
{
	TACH_SCOPE(compute);
	for (volatile int i = 0; i < n; i++)
		;
}

static void *work(void *unused)
{
	struct request *r;

	while ((r = get())) {
		tach_task_resume(&r->task);
		compute(r->task.tag == 13 ? 200000 : 2000); /* one is slow */
		if (++r->stage < STAGES) {
			tach_task_suspend(&r->task);
			put(r);
		} else {
			tach_task_end(&r->task);
			finished();
		}
	}
	return unused;
}

int main(void)
{
	pthread_t thread[THREADS];
	double slow = 0, usual = 0;

	if (!tach_regions_enabled())
		tach_regions_configure(NULL, NULL); /* configured by the environment */
	for (int i = 0; i < REQUESTS; i++) {
		request[i].task.tag = (uint64_t)i;
		TACH_TASK_BEGIN(&request[i].task, request);
		tach_task_suspend(&request[i].task);
		put(&request[i]);
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	tach_task_value(&request[13].task, 0, &slow);
	tach_task_value(&request[14].task, 0, &usual);
	printf("request 13 took %.0f us, number 14 %.0f us\n", slow / 1e3, usual / 1e3);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Threads that the program starts: each is measured from its first to its last instruction. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include "tools/run/run.h"

struct start {
	void *(*function)(void *);
	int (*c11)(void *);
	void *argument;
	unsigned number;
};

static __thread int wrapped;

static void thread_leaves(void *unused)
{
	(void)unused;
	run_thread_end();
}

static void *thread_main(void *argument)
{
	struct start start = *(struct start *)argument;
	void *result;

	free(argument);
	wrapped = 1;
	run_thread_begin(start.number);
	pthread_cleanup_push(thread_leaves, NULL);
	result = start.function ? start.function(start.argument)
				: (void *)(intptr_t)start.c11(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static int create_thread(pthread_t *thread, const pthread_attr_t *attr, struct start start)
{
	struct start *copy;
	int code;

	copy = malloc(sizeof *copy);
	if (!copy)
		return EAGAIN;
	*copy = start;
	copy->number = run_next_number();
	code = NEXT(pthread_create)(thread, attr, thread_main, copy);
	if (code)
		free(copy);
	return code;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*function)(void *), void *argument)
{
	if (!run_measures())
		return NEXT(pthread_create)(thread, attr, function, argument);
	return create_thread(thread, attr, (struct start){function, NULL, argument, 0});
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	int code;

	if (!run_measures())
		return NEXT(thrd_create)(thread, function, argument);
	code = create_thread(thread, NULL, (struct start){NULL, function, argument, 0});
	return code == 0 ? thrd_success : code == ENOMEM ? thrd_nomem : thrd_error;
}

/*
 * The main thread may exit before the others, and has no cleanup handler of ours on its stack.
 */
EXPORT _Noreturn void pthread_exit(void *result)
{
	if (!wrapped)
		run_thread_end();
	NEXT(pthread_exit)(result);
	__builtin_unreachable();
}

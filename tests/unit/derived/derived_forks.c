/* SPDX-License-Identifier: MIT */
/* Forks while another thread is in a registry: the child waits for no lock. */
#include <sys/wait.h>
#include "core/derived/derived.c"
#include "tests/check.h"

static pthread_barrier_t in, out;

static void *looking(void *d)
{
	tach__derived_enter(d);
	pthread_barrier_wait(&in);
	pthread_barrier_wait(&out);
	tach__derived_leave();
	return NULL;
}

static void beside(struct tach_derived *taken)
{
	int before = tach_derived_count(tach_derived_default(), 0);
	int status = -1;
	pthread_t other;
	pid_t child;

	pthread_barrier_init(&in, NULL, 2);
	pthread_barrier_init(&out, NULL, 2);
	pthread_create(&other, NULL, looking, taken);
	pthread_barrier_wait(&in);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		_exit(tach_derived_count(tach_derived_default(), 0) != before);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
	pthread_barrier_wait(&out);
	pthread_join(other, NULL);
	CHECK(tach_derived_count(tach_derived_default(), 0) == before);
}

static void fork_beside_the_default(void)
{
	beside(tach_derived_default());
}

static void fork_beside_another(void)
{
	struct tach_derived *d;

	if (tach_derived_create(NULL, &d, NULL) != 0)
		return;
	beside(d);
	tach_derived_free(d);
}

int main(void)
{
	CASE(fork_beside_the_default);
	CASE(fork_beside_another);
	return check_done();
}

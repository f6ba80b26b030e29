/* SPDX-License-Identifier: MIT */
/* Forks while another thread is in libpfm4's functions: the child never waits for a lock. */
#include <sys/wait.h>
#include "compat/libpfm4/state.c"
#include "tests/check.h"

static pthread_barrier_t in, out;

static void *inside(void *unused_argument)
{
	CHECK(p4_enter() != NULL);
	pthread_barrier_wait(&in);
	pthread_barrier_wait(&out);
	p4_leave();
	return unused_argument;
}

static void fork_beside_a_reader(void)
{
	int status = -1;
	pthread_t other;
	pid_t child;

	CHECK(pfm_initialize() == PFM_SUCCESS);
	pthread_barrier_init(&in, NULL, 2);
	pthread_barrier_init(&out, NULL, 2);
	pthread_create(&other, NULL, inside, NULL);
	pthread_barrier_wait(&in);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		pfm_terminate();
		_exit(pfm_initialize() != PFM_SUCCESS || !p4_enter());
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
	pthread_barrier_wait(&out);
	pthread_join(other, NULL);
}

int main(void)
{
	CASE(fork_beside_a_reader);
	return check_done();
}

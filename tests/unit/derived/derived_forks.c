/* SPDX-License-Identifier: MIT */
/* Forks while another thread uses a registry: the child never waits for a lock. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/derived/derived.c"
#include "tests/check.h"

static pthread_barrier_t in, out;
static int presets; /* number of definitions in the process's registry before one was loaded */

static int has_mine(void)
{
	struct tach_derived_info info = {.size = sizeof info};

	return tach_derived_find(tach_derived_default(), 0, "mine", &info) == 0;
}

/*
 * The child finds the loaded definitions, unless its registry had to be created again without
 * them.
 */
static void child(int mine)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		_exit(tach_derived_count(tach_derived_default(), 0) != presets + mine ||
		      has_mine() != mine);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%#x", (unsigned)status);
}

static void *looking(void *d)
{
	tach__derived_enter(d);
	pthread_barrier_wait(&in);
	pthread_barrier_wait(&out);
	tach__derived_leave();
	return NULL;
}

static void beside(struct tach_derived *taken, int mine)
{
	pthread_t other;

	pthread_barrier_init(&in, NULL, 2);
	pthread_barrier_init(&out, NULL, 2);
	pthread_create(&other, NULL, looking, taken);
	pthread_barrier_wait(&in);
	child(mine);
	pthread_barrier_wait(&out);
	pthread_join(other, NULL);
	CHECK(tach_derived_count(tach_derived_default(), 0) == presets + 1 && has_mine());
}

static void fork_beside_the_default(void)
{
	beside(tach_derived_default(), 0);
}

static void fork_beside_another(void)
{
	struct tach_derived *d;

	if (tach_derived_create(NULL, &d, NULL) != 0)
		return;
	beside(d, 1);
	tach_derived_free(d);
}

static void fork_beside_none(void)
{
	child(1);
}

int main(void)
{
	static const char text[] = "EVENT,mine,NOT_DERIVED,cycles";

	presets = tach_derived_count(tach_derived_default(), 0);
	if (tach_derived_load_text(tach_derived_default(), "text", text, strlen(text), NULL) !=
	    1)
		return 1;
	CASE(fork_beside_the_default);
	CASE(fork_beside_another);
	CASE(fork_beside_none);
	return check_done();
}

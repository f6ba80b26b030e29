/* SPDX-License-Identifier: MIT */
/* Nested regions in two threads, and a region whose name would end a script. */
#include <pthread.h>
#include <stdlib.h>
#include <tach.h>

static void inner(void)
{
	TACH_SCOPE(inner);
	for (volatile int i = 0; i < 100; i++)
		;
}

static void *work(void *unused)
{
	for (int i = 0; i < 50; i++) {
		TACH_SCOPE(outer);
		inner();
		inner();
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	work(NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	{
		TACH_SCOPE_NAMED("</script><b>\"\\\n\303\274");
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* trace.sh traces this program; the first argument selects its work. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>

static void leaf(void)
{
	TACH_SCOPE(leaf);
}

/* Entries nested three deep, with a tag: all are in the trace. */
static void planted(int n)
{
	for (int i = 1; i <= n; i++) {
		tach_tag((uint64_t)i);
		TACH_START(outer);
		TACH_START(middle);
		leaf();
		leaf();
		TACH_STOP(middle);
		TACH_STOP(outer);
	}
	tach_tag(0);
}

/*
 * The stacks that trace.sh expects; each entry itself takes some ms; `above` is still open at
 * the end.
 */
static void spin(void)
{
	for (volatile int i = 0; i < 2000000; i++)
		;
}

static void inner(void)
{
	TACH_SCOPE(inner);
	spin();
}

static void stacks(void)
{
	static struct tach_site above = TACH_SITE_INIT("above;all", 0, "");
	static struct tach_region_mark mark;

	for (int i = 0; i < 3; i++) {
		TACH_SCOPE(one);
		spin();
		inner();
		inner();
	}
	tach_region_begin(&above, &mark);
	inner();
	tach_region_end(&mark);
	tach_region_begin(&above, &mark);
	inner();
	inner();
	exit(0);
}

static void *named(void *name)
{
	prctl(PR_SET_NAME, name);
	planted(50);
	return NULL;
}

static void threads(void)
{
	static const char *const names[] = {"\"quoted\\", "second"};
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, named, (void *)(uintptr_t)names[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void many(void)
{
	for (int i = 1; i <= 100000; i++) {
		tach_tag((uint64_t)i);
		leaf();
	}
}

/* Makes more threads, one after another, than there are rings. */
static void short_lived(void)
{
	for (int i = 0; i < 200; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, named, "brief");
		pthread_join(thread, NULL);
	}
}

static void handler(int number)
{
	(void)number;
	leaf();
}

static void handlers(void)
{
	signal(SIGUSR1, handler);
	for (int i = 0; i < 200; i++) {
		TACH_START(outer);
		raise(SIGUSR1);
		TACH_STOP(outer);
	}
}

static void child(void)
{
	int status;

	planted(10);
	if (fork() == 0) {
		planted(3);
		exit(0);
	}
	wait(&status);
	if (getenv("PARENT_WRITES_NOTHING"))
		_exit(0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = {{"threads", threads},   {"many", many},   {"short_lived", short_lived},
		    {"handlers", handlers}, {"child", child}, {"stacks", stacks}};

	for (size_t i = 0; argc > 1 && i < sizeof what / sizeof *what; i++)
		if (strcmp(argv[1], what[i].name) == 0)
			what[i].run();
	if (argc > 2)
		raise(atoi(argv[2]));
	return 0;
}

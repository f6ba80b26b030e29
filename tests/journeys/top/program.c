/* SPDX-License-Identifier: MIT */
/*
 * A program for `tach top`: two threads that repeatedly do a little work. SIGUSR1 ends it; with
 * the argument "crash" it then dies by a fault.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tach.h>

static volatile sig_atomic_t over;
static volatile unsigned sum;

static void on_usr1(int number)
{
	over = number;
}

static void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

static void parse(unsigned n)
{
	TACH_START(parse);
	spin(n);
	TACH_STOP(parse);
}

static void request(unsigned n)
{
	TACH_START(request);
	for (int i = 0; i < 3; i++)
		parse(n);
	{
		TACH_START_NAMED("\u4fdd\u5b58\u6570\u636e store");
		spin(n / 2);
		TACH_STOP_NAMED();
	}
	TACH_STOP(request);
}

/* Its entries end rarely, because they are longer than an interval of the test. */
static void wait_long(void)
{
	TACH_START(wait_long);
	usleep(700000);
	TACH_STOP(wait_long);
}

static void *waiter(void *arg)
{
	while (!over)
		wait_long();
	return arg;
}

static void startup(void)
{
	TACH_START(startup);
	spin(100);
	TACH_STOP(startup);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	signal(SIGUSR1, on_usr1);
	startup();
	pthread_create(&thread, NULL, waiter, NULL);
	puts("ready");
	fflush(stdout);
	for (unsigned n = 0; !over; n++) {
		tach_tag(n);
		request(200 + n % 64 * 20);
		usleep(1000);
	}
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		*(volatile int *)16 = 1;
	_exit(0);
}

/* SPDX-License-Identifier: MIT */
/* Ends of processes that no destructor sees, or that have no right to anything by then. */
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>

static void *last(void *unused)
{
	usleep(20000);
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	TACH_START(work);
	TACH_STOP(work);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(6);
	if (strcmp(how, "pthread_exit") == 0) {
		pthread_create(&thread, NULL, last, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "close") == 0)
		syscall(SYS_close_range, 0, ~0u, 0);
	if (strcmp(how, "children") == 0)
		for (int i = 0; i < 3; i++) {
			if (fork() == 0)
				syscall(SYS_exit_group, 0);
			wait(NULL);
		}
	if (strcmp(how, "seccomp") == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return 0;
}

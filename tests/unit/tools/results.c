/* SPDX-License-Identifier: MIT */
/* The shared memory for reports of processes: a report is complete, or absent. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include "tests/check.h"
#include "tools/run/results.c"

enum { LENGTH = 300000, KILLS = 40 };

static int memory;
static char *text; /* a text of LENGTH bytes, followed by an inaccessible page */

static void make_memory(void)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t size = ((size_t)LENGTH / (size_t)page + 1) * (size_t)page;
	struct stat status;
	char value[80];

	memory = memfd_create("results", 0);
	CHECK(ftruncate(memory, RUN_HEAD + 64 * (off_t)RUN_AREA) == 0 &&
	      fstat(memory, &status) == 0);
	snprintf(value, sizeof value, "%d %lu %d", memory, (unsigned long)status.st_ino,
		 (int)getpid());
	setenv(RUN_RESULTS, value, 1);
	text = mmap(NULL, size + (size_t)page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(text != MAP_FAILED && mprotect(text + size, (size_t)page, PROT_NONE) == 0);
	text += size - LENGTH;
	for (int i = 0; i < LENGTH; i++)
		text[i] = (char)('a' + i % 23);
}

/* Returns the process's state, or -1 if a report differs from the written one. */
static int left_by(pid_t process)
{
	struct run_area a;
	struct run_head head;
	static char copy[LENGTH];

	CHECK(pread(memory, &head, sizeof head, 0) == (ssize_t)sizeof head);
	for (uint32_t n = 0; n < head.areas; n++) {
		off_t at = RUN_HEAD + (off_t)n * RUN_AREA;

		CHECK(pread(memory, &a, sizeof a, at) == (ssize_t)sizeof a);
		for (int i = 0; i < RUN_ENTRIES; i++) {
			const struct run_entry *e = &a.entry[i];

			if (e->process != process)
				continue;
			if (e->state == RUN_BEGAN)
				return RUN_BEGAN;
			if (e->length != LENGTH ||
			    pread(memory, copy, LENGTH, at + e->text) != LENGTH ||
			    memcmp(copy, text, LENGTH) != 0)
				return -1;
			return (int)e->state;
		}
	}
	return RUN_FREE;
}

static void die(int number)
{
	(void)number;
	kill(getpid(), SIGKILL);
}

/*
 * Starts a child that leaves a report of `length` bytes of text; after `wait` ns it is killed.
 */
static pid_t leave(size_t length, long wait)
{
	struct timespec pause = {0, wait};
	int status, pipes[2];
	char ready;
	pid_t child;

	CHECK(pipe(pipes) == 0);
	child = fork();
	if (child == 0) {
		signal(SIGSEGV, die);
		run_results_begin();
		if (write(pipes[1], "", 1) != 1)
			_exit(1);
		run_results_leave(text, length, RUN_LEFT);
		_exit(0);
	}
	CHECK(read(pipes[0], &ready, 1) == 1);
	if (wait >= 0) {
		nanosleep(&pause, NULL);
		kill(child, SIGKILL);
	}
	CHECK(waitpid(child, &status, 0) == child);
	close(pipes[0]);
	close(pipes[1]);
	return child;
}

static void killed_in_mid_write(void)
{
	CHECK(left_by(leave(LENGTH, -1)) == RUN_LEFT);
	/* The byte after the text is unreadable. */
	CHECK(left_by(leave(LENGTH + 1, -1)) == RUN_BEGAN);
}

static void killed_at_random(void)
{
	int whole = 0;

	for (int i = 0; i < KILLS; i++) {
		int state = left_by(leave(LENGTH, rand() % 400000));

		CHECK(state == RUN_BEGAN || state == RUN_LEFT);
		whole += state == RUN_LEFT;
	}
	printf("# %d of %d were whole\n", whole, KILLS);
}

int main(void)
{
	make_memory();
	CASE(killed_in_mid_write);
	CASE(killed_at_random);
	return check_done();
}

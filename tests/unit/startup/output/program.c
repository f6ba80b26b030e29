/* SPDX-License-Identifier: MIT */
/*
 * The program ends in different ways while a report is written: with a full pipe, with another
 * file at the number of standard error, with a child that outlives it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tach.h>

static void fill(int fd)
{
	char bytes[4096] = "";
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, bytes, sizeof bytes) > 0 || write(fd, bytes, 1) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

/* The data file gets the number of standard error. */
static int take_its_number(const char *file)
{
	close(STDERR_FILENO);
	return open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666) == STDERR_FILENO &&
			       write(STDERR_FILENO, "data\n", 5) == 5
		       ? 7
		       : 1;
}

/* With `first` the child ends after the parent, otherwise before it. */
static int with_child(char **argv, int first, int exec)
{
	int gone[2];
	pid_t child;

	if (pipe(gone) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		char byte;

		TACH_START(child_part);
		TACH_STOP(child_part);
		close(gone[1]);
		if (first && read(gone[0], &byte, 1) != 0)
			return 1;
		if (exec)
			execl(argv[0], argv[0], "child", NULL);
		return exec ? 1 : 0;
	}
	TACH_START(parent_part);
	TACH_STOP(parent_part);
	close(gone[0]);
	if (!first)
		waitpid(child, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "child") == 0) {
		TACH_START(program_of_child);
		TACH_STOP(program_of_child);
		return 0;
	}
	TACH_START(work);
	TACH_STOP(work);
	if (strcmp(what, "full") == 0)
		fill(STDERR_FILENO);
	if (strcmp(what, "reopen") == 0)
		return take_its_number(argv[2]);
	if (strcmp(what, "print") == 0)
		puts("data");
	if (strcmp(what, "away") == 0 && chdir("/") != 0)
		return 1;
	if (strncmp(what, "fork", 4) == 0)
		return with_child(argv, strstr(what, "outlives") != NULL,
				  strstr(what, "exec") != NULL);
	return 0;
}

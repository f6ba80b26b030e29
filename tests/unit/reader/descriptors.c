/* SPDX-License-Identifier: MIT */
/*
 * If a program closes or reuses the library's descriptors, the library neither reads nor closes
 * the program's files, and flags lost counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/reader/open.h"
#include "core/reader/reader.h"
#include "tests/check.h"

enum { MEMBERS = 3, MANY = 4096 };

static struct tach_set *set;
static struct tach_error err = TACH_ERROR_INIT;

static struct tach_reader *open_software(void)
{
	static const uint64_t config[MEMBERS] = {PERF_COUNT_SW_TASK_CLOCK,
						 PERF_COUNT_SW_PAGE_FAULTS,
						 PERF_COUNT_SW_CONTEXT_SWITCHES};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct perf_event_attr attr[MEMBERS];
	struct tach_set_member member[MEMBERS];
	struct tach_reader *reader;

	memset(attr, 0, sizeof attr);
	for (int i = 0; i < MEMBERS; i++) {
		attr[i].type = PERF_TYPE_SOFTWARE;
		attr[i].config = config[i];
		attr[i].exclude_kernel = 1;
		member[i] = (struct tach_set_member){"event", &attr[i]};
	}
	opt.attrs = member;
	opt.nattrs = MEMBERS;
	if (!set && tach_set_create(&opt, &set, &err))
		return NULL;
	return tach_reader_open(set, &reader, &err) ? NULL : reader;
}

static uint32_t region(struct tach_reader *reader)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;

	tach_reader_begin(reader, &mark);
	return tach_reader_end(reader, &mark, delta);
}

static int next_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Readers do not change the numbers of the program's next files. */
static void readers_use_high_descriptors(void)
{
	int before = next_free();
	struct tach_reader *reader = open_software();
	struct rlimit limit;

	if (!reader)
		SKIP(err.text);
	getrlimit(RLIMIT_NOFILE, &limit);
	CHECK(next_free() == before, "%d, then %d", before, next_free());
	for (int i = 0; i < MEMBERS; i++) {
		int fd = tach__reader(reader)->fd[i];

		CHECK(fd >= 2048 || (rlim_t)fd >= limit.rlim_cur / 2, "%d", fd);
		CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	}
	tach_reader_close(reader);
}

/* The numbers go to a pipe; the bytes in it stay, and the pipe stays open. */
static void taken(int in_child)
{
	struct tach_reader *reader = open_software();
	char bytes[64] = "of the program";
	int fd[MEMBERS], end[2];

	if (!reader)
		SKIP(err.text);
	CHECK(region(reader) == TACH_FLAG_SYSCALL);
	memcpy(fd, tach__reader(reader)->fd, sizeof fd);
	CHECK(pipe(end) == 0 && write(end[1], bytes, sizeof bytes) == sizeof bytes);
	for (int i = 0; i < MEMBERS; i++)
		CHECK(dup2(end[0], fd[i]) == fd[i]);
	if (in_child) {
		int status = 1;
		pid_t child = fork();

		if (child == 0) {
			region(reader);
			for (int i = 0; i < MEMBERS; i++)
				if (!is_open(fd[i]))
					_exit(2);
			_exit(0);
		}
		waitpid(child, &status, 0);
		CHECK(status == 0, "a child's descriptors were closed: %d", status);
	}
	CHECK(region(reader) & TACH_FLAG_LOST);
	tach_reader_close(reader);
	for (int i = 0; i < MEMBERS; i++) {
		CHECK(is_open(fd[i]), "member %d", i);
		close(fd[i]);
	}
	CHECK(fcntl(end[0], F_SETFL, O_NONBLOCK) == 0);
	CHECK(read(end[0], bytes, sizeof bytes) == sizeof bytes, "bytes are gone");
	close(end[0]);
	close(end[1]);
}

static void taken_by_the_program(void)
{
	taken(0);
}

static void taken_before_a_fork(void)
{
	taken(1);
}

/* The library does not use an event that the program opened itself. */
static void taken_by_an_event(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .exclude_kernel = 1};
	struct tach_reader *reader = open_software();
	int leader, event;

	if (!reader)
		SKIP(err.text);
	leader = tach__reader(reader)->soft.leader;
	event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	CHECK(event >= 0 && dup2(event, leader) == leader);
	CHECK(region(reader) & TACH_FLAG_LOST);
	tach_reader_close(reader);
	CHECK(is_open(leader));
	close(leader);
	close(event);
}

/* A program closes all descriptors, like a daemon at its start; counters opened later count. */
static void closed_all(void)
{
	struct tach_reader *reader = open_software(), *again;
	int status = 1;
	pid_t child;

	if (!reader)
		SKIP(err.text);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		reader = open_software();
		syscall(SYS_close_range, 3, ~0u, 0);
		again = open_software();
		_exit(!reader || !again || !(region(reader) & TACH_FLAG_LOST) ||
		      region(again) != TACH_FLAG_SYSCALL);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "%d", status);
	tach_reader_close(reader);
}

/* Some numbers stay free for the program, however many readers it opens. */
static void numbers_left(void)
{
	static struct tach_reader *reader[MANY];
	struct rlimit before, limit;
	int n = 0, own = 0, fd[MANY];

	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	limit.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &limit);
	while (n < MANY && (reader[n] = open_software()))
		n++;
	if (n == 0)
		SKIP(err.text);
	CHECK(err.code == -EMFILE, "%s", err.text);
	while (own < MANY && (fd[own] = dup(0)) >= 0)
		own++;
	CHECK(own >= 128, "%d readers left %d descriptors", n, own);
	while (own)
		close(fd[--own]);
	while (n)
		tach_reader_close(reader[--n]);
	setrlimit(RLIMIT_NOFILE, &before);
	reader[0] = open_software();
	CHECK(reader[0], "%s", err.text);
	tach_reader_close(reader[0]);
}

/* A child that shares the descriptor table must not clear it. */
static void shared_with_a_child(void)
{
	struct tach_reader *reader = open_software();
	int status = 1;
	pid_t child;

	if (!reader)
		SKIP(err.text);
	child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		tach__readers_orphaned();
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0);
	CHECK(region(reader) == TACH_FLAG_SYSCALL, "%#x", region(reader));
	tach_reader_close(reader);
}

static const void *token;

static void *take_token(void *unused)
{
	token = tach__thread_token();
	CHECK(token && token == tach__thread_token());
	return unused;
}

/*
 * A later thread may have its variables at the same address; it does not get the reader of the
 * ended thread.
 */
static void no_later_thread_has_the_name(void)
{
	const void *before = NULL;

	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, take_token, NULL);
		pthread_join(thread, NULL);
		CHECK(token != before && token != tach__thread_token());
		before = token;
	}
}

int main(void)
{
	CASE(readers_use_high_descriptors);
	CASE(taken_by_the_program);
	CASE(taken_before_a_fork);
	CASE(taken_by_an_event);
	CASE(closed_all);
	CASE(numbers_left);
	CASE(shared_with_a_child);
	CASE(no_later_thread_has_the_name);
	return check_done();
}

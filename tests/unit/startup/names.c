/* SPDX-License-Identifier: MIT */
/*
 * Names of report files: how they are completed and made unique, and which process owns a file.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "core/region/region.h"
#include "core/startup/startup.h"
#include "tests/child.h"

static char folder[] = "/tmp/tach-names-XXXXXX";

static void fill(char *name, const char *begin, size_t length)
{
	memset(name, 'a', length);
	memcpy(name, begin, strlen(begin));
	name[length] = '\0';
}

static void absolute(void)
{
	char to[PATH_MAX], wanted[PATH_MAX], name[PATH_MAX + 10];
	size_t n = strlen(folder) + 1;

	CHECK(chdir(folder) == 0);
	tach__output_absolute(to, "a.json");
	snprintf(wanted, sizeof wanted, "%s/a.json", folder);
	CHECK(strcmp(to, wanted) == 0, "%s", to);
	tach__output_absolute(to, "/a.json");
	CHECK(strcmp(to, "/a.json") == 0, "%s", to);
	/* A path that does not fit its buffer is ignored. */
	fill(name, "/", PATH_MAX - 1);
	tach__output_absolute(to, name);
	CHECK(strcmp(to, name) == 0);
	fill(name, "/", PATH_MAX);
	tach__output_absolute(to, name);
	CHECK(!*to);
	fill(name, "a", PATH_MAX - 1 - n);
	tach__output_absolute(to, name);
	CHECK(strlen(to) == PATH_MAX - 1 && strcmp(to + n, name) == 0);
	fill(name, "a", PATH_MAX - n);
	tach__output_absolute(to, name);
	CHECK(!*to);
}

static void apart(void)
{
	static const struct {
		const char *name, *becomes;
	} cases[] = {{"/x/a.json", "/x/a.%r.json"},
		     {"/x/a.b.json", "/x/a.b.%r.json"},
		     {"/x/a", "/x/a.%r"},
		     {"/x.y/a", "/x.y/a.%r"},
		     {"/x/.a", "/x/.a.%r"},
		     {"/x/.a.json", "/x/.a.%r.json"},
		     {"/x/b.", "/x/b.%r."},
		     {"/x/b.a", "/x/b.%r.a"},
		     {"a.json", "a.%r.json"},
		     {"/x/a.%r", "/x/a.%r"},
		     {"/x/%p.json", "/x/%p.json"},
		     {"/x/%u.json", "/x/%u.json"},
		     {"", ""},
		     {"/tmp", "/tmp"},
		     {"/proc/self/maps", "/proc/self/maps.%r"}};
	char to[PATH_MAX], name[PATH_MAX];

	setenv("OMPI_COMM_WORLD_RANK", "5", 1);
	for (int ranks = 1; ranks < 4; ranks++) {
		char number[2] = {(char)('0' + ranks), '\0'};

		setenv("OMPI_COMM_WORLD_SIZE", number, 1);
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			strcpy(to, cases[i].name);
			tach__output_add_rank(to);
			CHECK(strcmp(to, ranks > 1 ? cases[i].becomes : cases[i].name) == 0,
			      "%s: %s", cases[i].name, to);
		}
	}
	fill(name, "/", PATH_MAX - 4);
	strcpy(to, name);
	tach__output_add_rank(to);
	CHECK(strlen(to) == PATH_MAX - 1 && strcmp(to + PATH_MAX - 4, ".%r") == 0);
	fill(name, "/", PATH_MAX - 3);
	strcpy(to, name);
	tach__output_add_rank(to);
	CHECK(strcmp(to, name) == 0);
}

static void expanded(const char *from, int attempt, const char *wanted)
{
	char to[100];

	CHECK(tach__output_expand(to, sizeof to, from, attempt) == 1 && strcmp(to, wanted) == 0,
	      "%s: %s", from, to);
}

static void expand_with_a_rank(void)
{
	setenv("OMPI_COMM_WORLD_RANK", "12", 1);
	expanded("a.%r.json", 0, "a.12.json");
}

static void expand(void)
{
	char to[100], wanted[100];

	in_child(expand_with_a_rank);
	expanded("a.json", 0, "a.json");
	expanded("%u", 0, "0");
	expanded("a%ub%u.%q%%%", 4095, "a4095b4095.%q%%%");
	expanded("%r", 1, "0");
	snprintf(wanted, sizeof wanted, "-%d-", (int)getpid());
	expanded("-%p-", 0, wanted);
	/* A number is added wherever there is any room. */
	CHECK(tach__output_expand(to, 15, "abc", 0) == 1 && strcmp(to, "abc") == 0);
	CHECK(tach__output_expand(to, 15, "abcd", 0) == 0 && strcmp(to, "abc") == 0);
	CHECK(tach__output_expand(to, 15, "ab%u", INT_MAX) == 1 &&
	      strcmp(to, "ab2147483647") == 0);
	CHECK(tach__output_expand(to, 15, "abc%u", 1) == 0);
}

static void each_ones(void)
{
	CHECK(tach__output_is_per_process("%p") && tach__output_is_per_process("/a/%u.json"));
	CHECK(!tach__output_is_per_process("%r") && !tach__output_is_per_process("p.u"));
}

static const char *owner(void)
{
	return getenv("TACH_OUTPUT_PID");
}

static void *idle(void *unused)
{
	return unused;
}

static void named(const char *format, int is_ours)
{
	char name[40];

	snprintf(name, sizeof name, format, (int)getpid());
	setenv("TACH_OUTPUT_PID", name, 1);
	CHECK(tach__output_is_owner("a.json") == is_ours, "%s", name);
}

/*
 * The first process that checks becomes the owner, unless another thread may be reading the
 * environment.
 */
static void of_the_owner(void)
{
	pthread_t thread;

	unsetenv("TACH_OUTPUT_PID");
	CHECK(tach__output_is_owner("%p.json") == 1 && !owner());
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer has its own thread */
	CHECK(tach__output_is_owner("a.json") == 1 && owner() &&
	      atoi(owner()) == (int)getpid());
#endif
	CHECK(tach__output_is_owner("a.json") == 1); /* this process has set its variable */
	setenv("TACH_OUTPUT_PID", "1", 1);
	CHECK(tach__output_is_owner("a.json") == 0 && tach__output_is_owner("%u.json") == 1);
	CHECK(strcmp(owner(), "1") == 0);
	/*
	 * A process with the same number in another namespace; without a namespace, only the
	 * number is compared.
	 */
	named("%d:1", 0);
	named("%d:0", 1);
	named("%d", 1);
	named("%d:", 0);
	setenv("TACH_OUTPUT_PID", "", 1);
	CHECK(tach__output_is_owner("a.json") == 1 && strcmp(owner(), "") == 0);
	unsetenv("TACH_OUTPUT_PID");
	pthread_create(&thread, NULL, idle, NULL);
	CHECK(tach__output_is_owner("a.json") == 1 && !owner());
	pthread_join(thread, NULL);
}

static void of_a_child(void)
{
	CHECK(!tach__output_is_here("a.json") && tach__output_is_here("%p.json"));
}

static void here(void)
{
	unsetenv("TACH_OUTPUT_PID");
	setenv("TACH_RUN", "1", 1); /* so that the library starts nothing else */
	errno = 77;
	tach__output_at_exit("/nowhere/a.json");
	CHECK(errno == 77);
	CHECK(tach__output_is_here("a.json") && tach__output_is_here("%p.json"));
	in_child(of_a_child);
}

static void owners(void)
{
	in_child(of_the_owner);
	in_child(here);
}

static void launched(void)
{
	in_child(apart);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	CASE(absolute);
	CASE(launched);
	CASE(expand);
	CASE(each_ones);
	CASE(owners);
	CHECK(chdir("/") == 0);
	rmdir(folder);
	return check_done();
}

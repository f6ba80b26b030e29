/* SPDX-License-Identifier: MIT */
/* Memory is exhausted during a report: a file gets the partial report, a stream nothing. */
#include <fcntl.h>
#include "core/os/buffer.h"
#include "tests/unit/startup/reports.h"

/* ---- the library's buffer, with limited room ---- */

static char text[20000];
static size_t most;

int tach__buffer_sink(void *context, const char *piece, size_t length)
{
	struct tach__buffer *to = context;
	size_t room = most - to->length, n = length < room ? length : room;

	to->at = text;
	memcpy(text + to->length, piece, n);
	to->length += n;
	return n == length ? 0 : -ENOMEM;
}

void tach__buffer_free(struct tach__buffer *to)
{
	memset(to, 0, sizeof *to);
}

/* ---- what is delivered ---- */

enum { HALF = 30 };
#define FAILED "the report could not be written: "

static void in_a_file(void)
{
	start(in_folder("r.json"));
	most = HALF;
	refused(-ENOMEM, FAILED);
	CHECK(strlen(content("r.json")) == HALF && strncmp(got, "{\n  \"tach\": 1,", 14) == 0,
	      "%s", got);
	most = 0;
	refused(-ENOMEM, FAILED);
	CHECK(access(in_folder("r.json"), F_OK) != 0, "a file of nothing");
	most = sizeof text;
	now();
	CHECK(is_json(content("r.json")), "%s", got);
}

static void of_the_descriptor(int fd)
{
	int end[2];
	ssize_t n;

	CHECK(pipe2(end, O_NONBLOCK) == 0 && dup2(end[1], fd) == fd);
	snprintf(file, sizeof file, "/dev/fd/%d", fd);
	start(file);
	most = HALF;
	refused(-ENOMEM, FAILED);
	CHECK(read(end[0], got, sizeof got) == -1 && errno == EAGAIN, "%d", fd);
	most = sizeof text;
	now();
	n = read(end[0], got, sizeof got - 1);
	CHECK(n > HALF && strncmp(got, "region  calls", 13) == 0, "%d", (int)n);
}

static void of_the_first(void)
{
	of_the_descriptor(0);
}

static void of_another(void)
{
	of_the_descriptor(77);
}

static void files(void)
{
	in_child(in_a_file);
}

static void streams(void)
{
	in_child(of_the_first);
	in_child(of_another);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	CASE(files);
	CASE(streams);
	CHECK(rmdir(folder) == 0, "something was left in %s", folder);
	return check_done();
}

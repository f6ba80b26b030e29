/* SPDX-License-Identifier: MIT */
/* Files of a simulated kernel, read in pieces of any size, and refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/root.h"

static size_t piece;	/* the most that a read gives; 0: any number of bytes */
static int interrupted; /* this number of reads is interrupted first */
static int broken;	/* number of the read that fails, from 1 on; 0: no read fails */
static int reads;

static ssize_t short_read(int fd, void *out, size_t size)
{
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	reads++;
	if (interrupted && interrupted--)
		return errno = EINTR, -1;
	if (reads == broken)
		return errno = EIO, -1;
	return read(fd, out, piece && piece < size ? piece : size);
}

#define read short_read
#include "core/os/kernel_files.c"
#undef read

static char root[] = "/tmp/tach-files-XXXXXX";

static void kernel(size_t most, int interrupts, int breaks)
{
	piece = most;
	interrupted = interrupts;
	broken = breaks;
	reads = 0;
	errno = 4711;
}

#define LINE(path, size, want) line_is(path, size, want, __LINE__)
static void line_is(const char *path, size_t size, const char *want, int at)
{
	char out[8192];
	int n;

	memset(out, '?', sizeof out);
	errno = 4711;
	n = tach__file_line(root, path, out, size);
	CHECK(errno == 4711, "line %d: errno %d", at, errno);
	if (!want)
		CHECK(n == -1 && out[0] == '?', "line %d: %d", at, n);
	else
		CHECK(n == (int)strlen(want) && strcmp(out, want) == 0 && out[size] == '?',
		      "line %d: %d", at, n);
}

static void the_first_line_alone(void)
{
	int before = descriptors();

	root_put(root, "/two", "first\nsecond\n");
	root_put(root, "/none", "%s", "");
	root_put(root, "/empty", "\nx\n");
	root_put(root, "/unended", "last");
	for (size_t most = 0; most < 4; most++) {
		kernel(most, 0, 0);
		LINE("/two", 64, "first");
		LINE("/two", 6, "first");
		LINE("/two", 5, "firs");
		LINE("/two", 1, "");
		LINE("/none", 64, NULL);
		LINE("/empty", 64, "");
		LINE("/unended", 64, "last");
		LINE("/not", 64, NULL);
	}
	CHECK(descriptors() == before, "%d left", descriptors() - before);
}

static void a_read_is_interrupted_or_fails(void)
{
	int before = descriptors();

	kernel(0, 2, 0);
	LINE("/two", 64, "first");
	kernel(3, 0, 2); /* the bytes before the error form a line */
	LINE("/two", 64, "fir");
	kernel(0, 0, 1);
	LINE("/two", 64, NULL);
	CHECK(descriptors() == before, "%d left", descriptors() - before);
}

/* ---- all lines ---- */

struct gathered {
	char text[64];
	int lines, stop;
	size_t longest;
};

static int gather(void *context, const char *text)
{
	struct gathered *g = context;
	size_t used = strlen(g->text);

	snprintf(g->text + used, sizeof g->text - used, "%.9s|", text);
	g->longest = strlen(text) > g->longest ? strlen(text) : g->longest;
	return ++g->lines == g->stop;
}

static void lines_are(const char *path, int stop, const char *want)
{
	struct gathered g = {.stop = stop};

	errno = 4711;
	tach__file_lines(root, path, gather, &g);
	CHECK(strcmp(g.text, want) == 0 && errno == 4711, "%s: '%s', errno %d", path, g.text,
	      errno);
}

static void lines_until_one_is_enough(void)
{
	int before = descriptors();

	root_put(root, "/lines", "a\n\nbcd\ne");
	for (size_t most = 0; most < 4; most++) {
		kernel(most, 0, 0);
		lines_are("/lines", 0, "a||bcd|e|");
		lines_are("/lines", 1, "a|");
		lines_are("/lines", 2, "a||");
		lines_are("/lines", 3, "a||bcd|");
		lines_are("/not", 0, "");
	}
	CHECK(descriptors() == before, "%d left", descriptors() - before);
	kernel(1, 0, 0);
	lines_are("/lines", 1, "a|");
	CHECK(reads == 2, "%d reads for a line of one byte", reads);
}

/* A line has 4095 bytes at most; the next line begins at its place in the file. */
static void long_lines_are_cut(void)
{
	static const size_t length[] = {4094, 4095, 4096, 4097, 10000};

	kernel(0, 0, 0);
	for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
		struct gathered g = {.stop = 0};
		size_t want = length[i] < 4095 ? length[i] : 4095;

		root_put(root, "/long", "%0*d\nnext\n", (int)length[i], 0);
		tach__file_lines(root, "/long", gather, &g);
		CHECK(g.lines == 2 && g.longest == want, "%zu: %d lines, %zu", length[i],
		      g.lines, g.longest);
		CHECK(strcmp(g.text, "000000000|next|") == 0, "%s", g.text);
	}
}

/* ---- bytes ---- */

static void bytes_as_they_are(void)
{
	int before = descriptors();
	char out[16];

	root_put(root, "/bytes", "0123456789");
	for (size_t most = 0; most < 4; most++) {
		kernel(most, 1, 0);
		memset(out, '?', sizeof out);
		CHECK(tach__file_bytes(root, "/bytes", out, 4) == 4);
		CHECK(memcmp(out, "0123??", 6) == 0 && errno == 4711, "%.6s", out);
		CHECK(tach__file_bytes(root, "/bytes", out, 10) == 10);
		CHECK(tach__file_bytes(root, "/bytes", out, 11) == 10);
		CHECK(memcmp(out, "0123456789??", 12) == 0, "%.12s", out);
		CHECK(tach__file_bytes(root, "/none", out, 4) == 0);
		CHECK(tach__file_bytes(root, "/not", out, 4) == -1 && errno == 4711);
	}
	kernel(2, 0, 3);
	CHECK(tach__file_bytes(root, "/bytes", out, 10) == -1 && errno == 4711);
	CHECK(descriptors() == before, "%d left", descriptors() - before);
}

/* A result of 0 bytes is the end of the file, with any value in errno. */
static void old_errno_does_not_matter(void)
{
	char out[4];

	kernel(0, 0, 0);
	errno = EINTR;
	CHECK(tach__file_line(root, "/none", out, sizeof out) == -1 && errno == EINTR);
	CHECK(reads == 1, "%d reads", reads);
}

/* Reads of 0 bytes are not made: on an endless file they would repeat forever. */
static void no_read_of_no_bytes(void)
{
	char out[4];

	kernel(0, 0, 0);
	CHECK(tach__file_bytes(root, "/bytes", out, 4) == 4 && reads == 1, "%d reads", reads);
}

/* ---- numbers, and the test for existence of a file ---- */

static void numbers_as_c_spells_them(void)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} of[] = {
		{"42\n", 0, 42},
		{"0x1f", 0, 31},
		{"7", 0, 7},
		{"010\n", 0, 8},
		{"7 cpus\n", 0, 7},
		{"18446744073709551615\n", 0, UINT64_MAX},
		{"99999999999999999999\n", 0, UINT64_MAX},
		{"none\n", -1, 0},
		{"\n5\n", -1, 0},
		{"", -1, 0},
	};

	kernel(0, 0, 0);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		uint64_t value = 0;
		int rc;

		root_put(root, "/number", "%s", of[i].text);
		errno = 4711;
		rc = tach__file_number(root, "/number", &value);
		CHECK(rc == of[i].rc && value == of[i].value && errno == 4711,
		      "'%s': %d, %llu, errno %d", of[i].text, rc, (unsigned long long)value,
		      errno);
	}
	CHECK(tach__file_number(root, "/not", &(uint64_t){0}) == -1);
	for (int digits = 63; digits < 65; digits++) { /* the maximum length */
		uint64_t value = 0;

		root_put(root, "/number", "%0*d\n", digits, 5);
		CHECK(tach__file_number(root, "/number", &value) == 0);
		CHECK(value == (digits == 63 ? 5 : 0), "%llu", (unsigned long long)value);
	}
}

/* Root and path may have 511 bytes together. */
static void paths_that_are_too_long(void)
{
	char path[600];

	errno = 4711;
	CHECK(tach__file_exists(root, "/two") == 1);
	CHECK(tach__file_exists("", root) == 1);
	CHECK(tach__file_exists(root, "/not") == 0 && errno == 4711);
	for (size_t length = 509; length < 514; length++) {
		memset(path, '/', sizeof path);
		memcpy(path + length - strlen(root) - 3, "two", 4);
		CHECK(tach__file_exists(root, path) == (length < 512), "%zu", length);
		LINE(path, 64, length < 512 ? "first" : NULL);
	}
}

/* ---- files with a certain content ---- */

static void the_first_user_namespace(void)
{
	static const struct {
		const char *map;
		int inside;
	} of[] = {
		{"         0          0 4294967295\n", 0},
		{"0 1000 1\n", 1},
		{"1000 0 4294967295\n", 1},
		{"0 0 4294967294\n", 1},
		{"0 0\n", 0},
		{"", 0},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		root_put(root, "/proc/self/uid_map", "%s", of[i].map);
		CHECK(tach__user_namespace(root) == of[i].inside, "%s", of[i].map);
	}
}

static void values_of_cpuinfo(void)
{
	static const struct {
		const char *line, *value;
	} of[] = {
		{"model name\t: A CPU", "A CPU"},
		{"model name :\t x", "x"},
		{"model name:", ""},
		{"model name", NULL},
		{"model name 2 : x", NULL},
		{"model : x", NULL},
		{"the model name : x", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		const char *got = tach__cpuinfo_value(of[i].line, "model name");

		CHECK(of[i].value ? got && strcmp(got, of[i].value) == 0 : !got, "'%s': '%s'",
		      of[i].line, got ? got : "(none)");
	}
}

static void a_file_may_be_descriptor_0(void)
{
	the_first_line_alone();
	lines_until_one_is_enough();
	bytes_as_they_are();
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(the_first_line_alone);
	CASE(a_read_is_interrupted_or_fails);
	CASE(lines_until_one_is_enough);
	CASE(long_lines_are_cut);
	CASE(bytes_as_they_are);
	CASE(old_errno_does_not_matter);
	CASE(no_read_of_no_bytes);
	CASE(numbers_as_c_spells_them);
	CASE(paths_that_are_too_long);
	CASE(the_first_user_namespace);
	CASE(values_of_cpuinfo);
	close(0);
	CASE(a_file_may_be_descriptor_0);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* Small files of devices below a root directory, and the search for a device by its type. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/root.h"

static ssize_t looked_at(int fd, void *out, size_t size)
{
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	return read(fd, out, size);
}

#define read looked_at
#include "core/os/sysfs.c"
#undef read

static char root[] = "/tmp/tach-sysfs-XXXXXX";

#define READS(device, file, size, want) reads(device, file, size, want, __LINE__)
static void reads(const char *device, const char *file, size_t size, const char *want, int at)
{
	char room[64], *out = room + 1; /* after a blank that does not belong to the text */
	int n;

	memset(room, '?', sizeof room);
	room[0] = ' ';
	errno = 4711;
	n = tach__sysfs_read(root, device, strcspn(device, " "), file, out, size);
	CHECK(errno == 4711 && room[0] == ' ', "line %d: errno %d", at, errno);
	CHECK(want ? n == (int)strlen(want) && strcmp(out, want) == 0 && out[size] == '?'
		   : n == -1,
	      "line %d: %d", at, n);
}

static void one_file_of_a_device(void)
{
	root_put(root, "cpu/cpumask", "0-3\n");
	root_put(root, "cpu/spaces", "  a b \n \n");
	root_put(root, "cpu/blank", " \n\n");
	root_put(root, "cpu/none", "%s", "");
	root_put(root, "cpu/plain", "abc");
	root_put(root, "outside", "secret");
	READS("cpu", "cpumask", 60, "0-3");
	READS("cpu :x", "cpumask", 60, "0-3"); /* exactly as long as stated */
	READS("cpu", "cpumask", 5, "0-3");
	READS("cpu", "cpumask", 4, "0-3");
	READS("cpu", "cpumask", 3, "0-");
	READS("cpu", "cpumask", 1, "");
	READS("cpu", "spaces", 60, "  a b");
	READS("cpu", "blank", 60, "");
	READS("cpu", "none", 60, "");
	READS("cpu", "plain", 60, "abc");
	READS("cpu", "not", 60, NULL);
	READS("cpu", "", 60, NULL); /* a folder */
	READS("cp", "cpumask", 60, NULL);
	READS("", "outside", 60, NULL);
	READS(".", "outside", 60, NULL);
	READS("..", "outside", 60, NULL);
	READS(".hidden", "cpumask", 60, NULL);
	READS("cpu/../cpu", "cpumask", 60, NULL);
	READS("/cpu", "cpumask", 60, NULL);
}

/* A path may have 511 bytes; a longer path opens no file. */
static void paths_that_are_too_long(void)
{
	size_t begin = strlen(root) + strlen("/cpu/");
	char file[520];

	for (size_t length = 509; length < 514; length++) {
		memset(file, '/', sizeof file);
		strcpy(file + length - begin - 5, "plain");
		READS("cpu", file, 60, length < 512 ? "abc" : NULL);
	}
}

#define TYPE(text, want)                                                                       \
	do {                                                                                   \
		root_put(root, "dev/type", "%s", text);                                        \
		CHECK(tach__sysfs_type(root, "dev", 3) == (want), "%s: %d", text,              \
		      tach__sysfs_type(root, "dev", 3));                                       \
	} while (0)

static void types(void)
{
	CHECK(tach__sysfs_type(root, "dev", 3) == -1);
	TYPE("4\n", 4);
	TYPE("0\n", 0);
	TYPE("7", 7);
	TYPE("2147483647\n", 2147483647);
	TYPE("2147483648\n", -1);
	TYPE("-1\n", -1);
	TYPE("x\n", -1);
	TYPE("\n", -1);
	TYPE("", -1);
}

static void the_device_of_a_type(void)
{
	int before = descriptors();
	char name[8] = "";

	root_put(root, "dev/type", "x\n");
	root_put(root, "one/type", "11\n");
	root_put(root, "second/type", "22\n");
	errno = 4711;
	CHECK(tach__sysfs_device(root, 11, name, sizeof name) == 0 && !strcmp(name, "one"));
	name[7] = '?';
	CHECK(tach__sysfs_device(root, 22, name, 7) == 0 && !strcmp(name, "second"));
	CHECK(name[7] == '?', "behind the room");
	CHECK(tach__sysfs_device(root, 33, name, sizeof name) == -1 && !strcmp(name, "second"));
	CHECK(tach__sysfs_device(root, 22, name, 6) == -1); /* no room */
	CHECK(tach__sysfs_device("/tmp/tach-no-such-folder", 11, name, sizeof name) == -1);
	CHECK(errno == 4711 && descriptors() == before, "%d, %d", errno,
	      descriptors() - before);
}

/* If several devices have this type, finds the first one in the folder. */
static void the_first_of_a_type(void)
{
	char name[8] = "", first[8] = "";
	struct dirent *d;
	DIR *dir;

	root_put(root, "one/type", "11\n");
	root_put(root, "two/type", "11\n");
	dir = opendir(root);
	while (dir && !*first && (d = readdir(dir)))
		if (strcmp(d->d_name, "one") == 0 || strcmp(d->d_name, "two") == 0)
			strcpy(first, d->d_name);
	if (dir)
		closedir(dir);
	CHECK(tach__sysfs_device(root, 11, name, sizeof name) == 0 && !strcmp(name, first),
	      "%s, not %s", name, first);
}

static void a_file_may_be_descriptor_0(void)
{
	READS("cpu", "cpumask", 60, "0-3");
	CHECK(close(0) == -1 && errno == EBADF, "it is left open");
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(one_file_of_a_device);
	CASE(paths_that_are_too_long);
	CASE(types);
	CASE(the_device_of_a_type);
	CASE(the_first_of_a_type);
	close(0);
	CASE(a_file_may_be_descriptor_0);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

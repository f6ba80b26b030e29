/* SPDX-License-Identifier: MIT */
/*
 * The folders in which tracepoints are searched if the caller names no folder: tracefs, then
 * debugfs. Both folders belong to the test.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/event.h>
#include <unistd.h>
#include "tests/moved.h"
#include "tests/root.h"

static char folder[] = "/tmp/tach-tracefs-XXXXXX";
static const char *const roots[] = {"/sys/kernel/tracing/events",
				    "/sys/kernel/debug/tracing/events"};
static int looked[2]; /* at files there */

static const char *moved(const char *path, int flags, char *room, size_t size)
{
	(void)flags;
	for (int i = 0; i < 2; i++) {
		size_t n = strlen(roots[i]);

		if (strncmp(path, roots[i], n) != 0)
			continue;
		looked[i]++;
		snprintf(room, size, "%s/%d%s", folder, i, path + n);
		return room;
	}
	return path;
}

static void is(const char *string, int want, uint64_t id)
{
	struct tach_event event = {0};
	int code = tach_event_encode(string, NULL, &event, NULL);

	CHECK(code == want, "%s: %d", string, code);
	if (code == 0)
		CHECK(event.type == PERF_TYPE_TRACEPOINT && event.config == id, "%s: %d",
		      string, (int)event.config);
}

static void both_tracefs_folders_are_searched(void)
{
	root_put(folder, "0/sys0/one/id", "7\n");
	root_put(folder, "0/sys0/many/id", "123\n");
	root_put(folder, "0/sys0/none/id", "\n");
	root_put(folder, "1/sys1/one/id", "8\n");
	root_put(folder, "1/sys1/none/id", "x\n");
	is("sys0:one", 0, 7);
	is("sys0:many", 0, 123);
	CHECK(looked[1] == 0, "the second was looked at, and the first had it");
	is("sys1:one", 0, 8);
	CHECK(looked[1] > 0);
	is("sys0:none", TACH_ERR_ATTR, 0);
	is("sys1:none", TACH_ERR_ATTR, 0);
	is("sys2:one", TACH_ERR_NOTFOUND, 0);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	setenv("TACH_PMU", "skl", 1); /* so that the real processor is not used */
	CASE(both_tracefs_folders_are_searched);
	root_wipe(folder);
	rmdir(folder);
	return check_done();
}

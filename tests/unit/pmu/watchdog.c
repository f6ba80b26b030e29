/* SPDX-License-Identifier: MIT */
/*
 * The NMI watchdog uses a counter if the PMU belongs to this machine and the kernel's file says
 * that the watchdog runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tach/pmu.h>
#include <tach/schedule.h>
#include <unistd.h>
#include "core/pmu/pmu.h"
#include "tests/check.h"
#include "tests/moved.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-watchdog-XXXXXX";
static int asked;

/* The test provides the kernel's file. */
static const char *moved(const char *path, int flags, char *room, size_t size)
{
	if (strcmp(path, "/proc/sys/kernel/nmi_watchdog") != 0)
		return path;
	CHECK(flags == (O_RDONLY | O_CLOEXEC), "%#x", flags);
	asked++;
	snprintf(room, size, "%s/nmi_watchdog", root);
	return room;
}

static uint64_t held(int pmu, uint32_t flags, int *host)
{
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach__machine m;

	opt.pmu = pmu;
	opt.flags = flags;
	errno = 4711;
	CHECK(tach__machine(&opt, &m) == 0 && errno == 4711);
	*host = m.host;
	return m.watchdog;
}

static void as_the_kernel_says(void)
{
	static const struct {
		const char *text; /* NULL: there is no such file */
		int on;
	} files[] = {{"1\n", 1}, {"0\n", 0}, {"", 0}, {"2\n", 0},
		     {"\1", 0},	 {NULL, 0},  {"1", 1}};
	int pmus[2], n = tach_pmu_host(pmus, 2, NULL), host;
	uint64_t most;

	if (n != 1)
		SKIP("this machine's cores are of no kind known, or of several");
	most = held(pmus[0], TACH_SCHEDULE_WATCHDOG, &host);
	CHECK(host == 1);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		root_wipe(root);
		if (files[i].text)
			root_put(root, "nmi_watchdog", "%s", files[i].text);
		CHECK(held(pmus[0], 0, &host) == (files[i].on ? most : 0) && host == 1, "'%s'",
		      files[i].text ? files[i].text : "no file");
		CHECK(held(-1, 0, &host) == (files[i].on ? most : 0) && host == 1);
		CHECK(held(pmus[0], TACH_SCHEDULE_NO_WATCHDOG, &host) == 0);
		CHECK(held(pmus[0], TACH_SCHEDULE_WATCHDOG, &host) == most);
	}
	/* The file may get the first descriptor, 0. */
	{
		int input = dup(0);

		close(0);
		CHECK(held(pmus[0], 0, &host) == most);
		CHECK(dup(1) == 0, "a descriptor is left open");
		close(0);
		if (input >= 0) {
			dup2(input, 0);
			close(input);
		}
	}
}

/* For other PMUs, and with TACH_PMU, the kernel's file is not read. */
static void other_pmus_have_no_watchdog(void)
{
	int host, here = 0;
	int skl = tach_pmu_find("skl"), n1 = tach_pmu_find("arm_n1");

	tach_pmu_host(&here, 1, NULL);
	root_wipe(root);
	root_put(root, "nmi_watchdog", "1\n");
	asked = 0;
	CHECK(here == skl || (held(skl, 0, &host) == 0 && !host));
	CHECK(here == n1 || (held(n1, 0, &host) == 0 && !host));
	CHECK(here == skl || here == n1 || !asked, "asked %d times", asked);
	setenv("TACH_PMU", "skl", 1);
	CHECK(held(here, 0, &host) == 0 && !host && (here == skl || here == n1 || !asked));
	setenv("TACH_PMU", "", 1);
	if (tach_pmu_host(NULL, 0, NULL) == 1)
		CHECK(held(here, 0, &host) == held(here, TACH_SCHEDULE_WATCHDOG, &host) &&
		      host);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	unsetenv("TACH_PMU");
	CASE(as_the_kernel_says);
	CASE(other_pmus_have_no_watchdog);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

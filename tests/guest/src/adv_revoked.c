/* SPDX-License-Identifier: MIT */
/* User access to counters taken away and given back by another process, between any two reads.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tach/fault.h>
#include "tests/guest/adversary.h"

static void access_revoked(void)
{
	const char *path = machine_is_arm64() ? "/proc/sys/kernel/perf_user_access"
					      : "/sys/bus/event_source/devices/cpu/rdpmc";
	volatile uint64_t *strikes =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tach_error err = TACH_ERROR_INIT;
	struct victim v;
	pid_t child;
	int covered;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	covered = tach_fault_install(&err);
	CHECK(covered > 0, "%d: %s", covered, err.text);
	if (victim_open(&v, 0, 0))
		return;
	child = fork();
	if (child == 0)
		for (;; ++*strikes) {
			adversary_write(path, "0");
			adversary_sleep(300);
			adversary_write(path, "1");
			adversary_sleep(300);
		}
	victim_suffer(&v, adversary_reads(), strikes, 200);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	adversary_write(path, "1");
	victim_verdict(&v, "access revoked", *strikes);
	CHECK(v.flagged > 0 || !v.reader->fast, "access was never missing");
	victim_close(&v);
	tach_fault_remove();
}

int main(void)
{
	CASE(access_revoked);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* User access to counters taken away and given back by another process, between any two reads.
 */
#include <tach/fault.h>
#include "tests/guest/adversary.h"

static void revoke_and_grant(void *path)
{
	adversary_write(path, "0");
	adversary_sleep(300);
	adversary_write(path, "1");
	adversary_sleep(300);
}

static void access_revoked(void)
{
	char *path = machine_is_arm64() ? "/proc/sys/kernel/perf_user_access"
					: "/sys/bus/event_source/devices/cpu/rdpmc";
	struct tach_error err = TACH_ERROR_INIT;
	struct adversary a;
	struct victim v;
	int covered;

	if (!machine_has_pmu())
		SKIP("the machine has no PMU");
	covered = tach_fault_install(&err);
	CHECK(covered > 0, "%d: %s", covered, err.text);
	if (victim_open(&v, 0, 0))
		return;
	adversary_start(&a, revoke_and_grant, path);
	victim_suffer(&v, adversary_reads(), &a.shared->strikes, 200);
	victim_verdict(&v, "access revoked", adversary_stop(&a));
	CHECK(v.flagged > 0 || !v.reader->fast, "access was never missing");
	victim_close(&v);
	tach_fault_remove();
}

int main(void)
{
	CASE(access_revoked);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_DOCTOR_HEALTHY_H
#define TESTS_UNIT_DOCTOR_HEALTHY_H

#include "core/doctor/doctor.h"

/* A healthy x86 machine; each case below breaks one feature. */
static struct tach__evidence healthy(void)
{
	return (struct tach__evidence){
		.user_read = TACH__USER_RDPMC,
		.settings.paranoid = 2,
		.settings.rdpmc = 1,
		.settings.user_access = TACH__UNREADABLE,
		.settings.watchdog = 0,
		.settings.mlock_kb = 516,
		.core_pmus = 1,
		.settings.descriptors = 1024,
		.settings.memlock_bytes = 8 << 20,
		.settings.cpu = "Some CPU",
		.tables = "skl",
		.settings.clocksource = "tsc",
		.settings.tsc_invariant = 1,
		.counters_general = 8,
		.counters_fixed = 1,
		.enabled = 1000,
		.running = 1000,
		.loop = 2000000,
		.counted = 2000000,
		.cap_user_read = 1,
		.user_tried = 1,
		.user_counted = 2000000,
		.counters_free = 9,
	};
}

#endif

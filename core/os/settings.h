/* SPDX-License-Identifier: MIT */
/* The kernel's settings and the process's limits that matter for counting. */
#ifndef TACH_CORE_OS_SETTINGS_H
#define TACH_CORE_OS_SETTINGS_H

#include <stdint.h>

#define TACH__UNREADABLE INT32_MIN /* a setting whose file is missing or malformed */

struct tach__settings {
	int32_t paranoid;
	int32_t rdpmc;	     /* sysfs setting of the core PMU "cpu" */
	int32_t user_access; /* arm64, riscv64 */
	int32_t watchdog;
	int32_t mlock_kb;
	int32_t seccomp;       /* 0 none, 1 strict, 2 filter */
	int user_namespace;    /* 1: in a user namespace that is not the first */
	int capable;	       /* CAP_PERFMON or CAP_SYS_ADMIN, in any namespace */
	int selinux;	       /* 1: enforcing */
	int confidential;      /* 1: the kernel's lockdown level is "confidentiality" */
	char apparmor[64];     /* the profile that is enforced, or "" */
	int32_t descriptors;   /* RLIMIT_NOFILE */
	int64_t memlock_bytes; /* RLIMIT_MEMLOCK, -1 = unlimited */
	int virtual_machine;
	char hypervisor[48]; /* its name, or "" if it gives no name */
	char cpu[96];	     /* model name; "" = unknown */
	char clocksource[32];
	int tsc_invariant; /* 1 yes, 0 no, -1 does not apply */
};

/* Reads files below root/proc and root/sys; root is "" for this machine. Allocates nothing. */
void tach__settings_read(struct tach__settings *s, const char *root);
/* Returns the number in a file below root, or TACH__UNREADABLE. */
int32_t tach__setting(const char *root, const char *path);

#endif

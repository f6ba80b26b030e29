/* SPDX-License-Identifier: MIT */
/* The cause of a refusal, found from the machine's state, and the sentence for each cause. */
#include <errno.h>
#include <string.h>
#include <tach/error.h>
#include "core/os/cause.h"
#include "tests/check.h"

#define S (struct tach__settings)

static void of_refusals(void)
{
	static const struct {
		int code;
		struct tach__settings s;
		enum tach_cause cause;
	} of[] = {
		{-ENOSYS, {.seccomp = 2}, TACH_CAUSE_SECCOMP_ENOSYS},
		{-ENOSYS, {.seccomp = 1}, TACH_CAUSE_NO_PERF_EVENTS},
		{-ENOSYS, {.seccomp = 0}, TACH_CAUSE_NO_PERF_EVENTS},
		{-EPERM, {.seccomp = 2, .confidential = 1}, TACH_CAUSE_SECCOMP_EPERM},
		{-EPERM, {.seccomp = 1, .confidential = 1}, TACH_CAUSE_LOCKDOWN},
		{-EPERM, {.paranoid = 4}, TACH_CAUSE_SECURITY_MODULE},
		{-EACCES, {.paranoid = 2, .selinux = 1}, TACH_CAUSE_SELINUX},
		{-EACCES, {.paranoid = TACH__UNREADABLE}, TACH_CAUSE_SECURITY_MODULE},
		{-EACCES, {.paranoid = 2, .user_namespace = 1}, TACH_CAUSE_SECURITY_MODULE},
		{-EACCES,
		 {.paranoid = 3, .user_namespace = 1, .selinux = 1},
		 TACH_CAUSE_USER_NAMESPACE},
		{-EACCES, {.paranoid = 3, .apparmor = "x"}, TACH_CAUSE_PARANOID},
		{-EACCES, {.paranoid = 4, .selinux = 1}, TACH_CAUSE_PARANOID},
		{-EACCES, {.paranoid = 3, .capable = 1, .apparmor = "x"}, TACH_CAUSE_APPARMOR},
		{-EACCES, {.paranoid = 3, .capable = 1}, TACH_CAUSE_SECURITY_MODULE},
		{-EMFILE, {.virtual_machine = 1}, TACH_CAUSE_DESCRIPTORS},
		{-ENFILE, {.virtual_machine = 1}, TACH_CAUSE_DESCRIPTORS},
		{-ENOENT, {.virtual_machine = 1}, TACH_CAUSE_NO_VPMU},
		{-ENODEV, {.virtual_machine = 1}, TACH_CAUSE_NO_VPMU},
		{-ENXIO, {.virtual_machine = 1}, TACH_CAUSE_NO_VPMU},
		{-EOPNOTSUPP, {.virtual_machine = 1}, TACH_CAUSE_NO_VPMU},
		{-ENOENT, {.seccomp = 2}, TACH_CAUSE_NO_DRIVER},
		{-EINVAL, {.virtual_machine = 1}, TACH_CAUSE_OPEN_OTHER},
		{-EBUSY, {.paranoid = 4}, TACH_CAUSE_OPEN_OTHER},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		CHECK(tach__cause_of_refusal(of[i].code, &of[i].s) == of[i].cause,
		      "%zu: %s, want %s", i,
		      tach__causes[tach__cause_of_refusal(of[i].code, &of[i].s)].name,
		      tach__causes[of[i].cause].name);
	CHECK(tach__cause_of_map(-EPERM) == TACH_CAUSE_MLOCK);
	CHECK(tach__cause_of_map(-ENOMEM) == TACH_CAUSE_MMAP);
}

static void causes_of_a_missing_index(void)
{
	enum { NO = TACH__UNREADABLE };
	static const struct {
		enum tach__user_read way;
		int32_t rdpmc, access;
		int offered;
		enum tach_cause cause;
	} of[] = {
		{TACH__USER_NONE, 0, 0, 1, TACH_CAUSE_USER_UNSUPPORTED},
		{TACH__USER_RDPMC, 0, 0, 1, TACH_CAUSE_RDPMC_OFF},
		{TACH__USER_RDPMC, 1, 0, 1, TACH_CAUSE_USER_INDEX_ZERO},
		{TACH__USER_RDPMC, 1, NO, 0, TACH_CAUSE_USER_NOT_OFFERED},
		{TACH__USER_RDPMC, NO, NO, 0, TACH_CAUSE_USER_NOT_OFFERED},
		{TACH__USER_MRS, 0, 0, 1, TACH_CAUSE_USER_ACCESS_OFF},
		{TACH__USER_MRS, 0, NO, 1, TACH_CAUSE_USER_ACCESS_NONE},
		{TACH__USER_MRS, 0, 1, 1, TACH_CAUSE_USER_INDEX_ZERO},
		{TACH__USER_MRS, 0, 1, 0, TACH_CAUSE_USER_NOT_OFFERED},
		{TACH__USER_CSR, 1, 0, 1, TACH_CAUSE_USER_ACCESS_OFF},
		{TACH__USER_CSR, 1, NO, 0, TACH_CAUSE_USER_LEGACY},
		{TACH__USER_CSR, 0, 2, 0, TACH_CAUSE_USER_NOT_OFFERED},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct tach__settings s = {.rdpmc = of[i].rdpmc, .user_access = of[i].access};
		enum tach_cause cause = tach__cause_of_no_index(&s, of[i].way, of[i].offered);

		CHECK(cause == of[i].cause, "%zu: %s, want %s", i, tach__causes[cause].name,
		      tach__causes[of[i].cause].name);
	}
}

/* ---- sentences ---- */

static char text[400];

static const char *say(enum tach_cause cause, struct tach__settings s, int code)
{
	memset(text, 0, sizeof text);
	tach__cause_text(cause, &s, code, text, sizeof text);
	return text;
}

#define SAYS(want, cause, s, code)                                                             \
	CHECK(strcmp(say(TACH_CAUSE_##cause, s, code), want) == 0, "'%s'", text)
#define DENIED "perf_event_open is refused with EACCES although "

static void sentences_of_refusals(void)
{
	SAYS(DENIED "kernel.perf_event_paranoid is 2, and SELinux enforces a policy", SELINUX,
	     S{.paranoid = 2}, -EACCES);
	SAYS(DENIED "kernel.perf_event_paranoid is unreadable, and SELinux enforces a policy",
	     SELINUX, S{.paranoid = TACH__UNREADABLE}, -EACCES);
	SAYS("user level only: kernel-level counting is refused (paranoid level 2)",
	     PARANOID_KERNEL, S{.paranoid = 2}, -EPERM);
	SAYS("perf_event_open is refused with EPERM and no seccomp filter is active: a sandbox "
	     "or security module does it",
	     SECURITY_MODULE, S{.paranoid = 3}, -EPERM);
	SAYS(DENIED "this process has CAP_PERFMON (kernel.perf_event_paranoid is 3): a "
		    "security module does it",
	     SECURITY_MODULE, S{.paranoid = 3}, -EACCES);
	SAYS(DENIED "kernel.perf_event_paranoid is 2: a security module does it",
	     SECURITY_MODULE, S{.paranoid = 2}, -EACCES);
}

static void sentences_of_paranoid_kernels(void)
{
	SAYS("kernel.perf_event_paranoid is 3, and this process lives in a user namespace (a "
	     "rootless container?): capabilities that it may have there do not count",
	     USER_NAMESPACE, S{.paranoid = 3}, -EACCES);
	SAYS("kernel.perf_event_paranoid is 4, and the AppArmor profile docker keeps the "
	     "process from using its CAP_PERFMON",
	     APPARMOR, (S{.paranoid = 4, .apparmor = "docker"}), -EACCES);
	SAYS("kernel.perf_event_paranoid is 4: users without CAP_PERFMON may open no event at "
	     "all (levels above 2 are Debian's and Ubuntu's)",
	     PARANOID, S{.paranoid = 4}, -EACCES);
}

static void sentences_with_what_was_found(void)
{
	char want[400];

	SAYS("the process's file descriptor limit is reached (1024)", DESCRIPTORS,
	     S{.descriptors = 1024}, -EMFILE);
	SAYS("the system's file descriptor limit is reached (1024)", DESCRIPTORS,
	     S{.descriptors = 1024}, -ENFILE);
	SAYS("no PMU in this virtual machine (KVM): the host gives it no performance counters",
	     NO_VPMU, S{.hypervisor = "KVM"}, -ENOENT);
	SAYS("no PMU in this virtual machine (K): the host gives it no performance counters",
	     NO_VPMU, S{.hypervisor = "K"}, -ENOENT);
	SAYS("no PMU in this virtual machine: the host gives it no performance counters",
	     NO_VPMU, S{.hypervisor = ""}, -ENOENT);
	SAYS("mapping the event's page is refused: locked memory is used up (RLIMIT_MEMLOCK 64 "
	     "KiB, kernel.perf_event_mlock_kb 516)",
	     MLOCK, (S{.memlock_bytes = 65536, .mlock_kb = 516}), -EPERM);
	SAYS("mapping the event's page is refused: locked memory is used up (RLIMIT_MEMLOCK 0 "
	     "KiB, kernel.perf_event_mlock_kb 516)",
	     MLOCK, (S{.memlock_bytes = 0, .mlock_kb = 516}), -EPERM);
	SAYS("mapping the event's page is refused: locked memory is used up (RLIMIT_MEMLOCK -1 "
	     "KiB, kernel.perf_event_mlock_kb 0)",
	     MLOCK, (S{.memlock_bytes = -1}), -EPERM);
	snprintf(want, sizeof want, "the kernel drives no PMU of this CPU (%s)",
		 tach_strerror(-ENODEV));
	SAYS(want, NO_DRIVER, S{0}, -ENODEV);
	snprintf(want, sizeof want, "mapping the event's page failed: %s",
		 tach_strerror(-ENOMEM));
	SAYS(want, MMAP, S{0}, -ENOMEM);
	snprintf(want, sizeof want, "perf_event_open failed: %s (errno %d)",
		 tach_strerror(-EBUSY), EBUSY);
	SAYS(want, OPEN_OTHER, S{0}, -EBUSY);
}

/* Sentences without numbers are the same on every machine; each has its own words. */
static void plain_sentences(void)
{
	static const struct {
		enum tach_cause cause;
		const char *words;
	} of[] = {
		{TACH_CAUSE_LOCKDOWN, "confidentiality"},
		{TACH_CAUSE_SECCOMP_ENOSYS, "filter hides"},
		{TACH_CAUSE_SECCOMP_EPERM, "filter forbids"},
		{TACH_CAUSE_NO_PERF_EVENTS, "(ENOSYS, and no filter is active)"},
		{TACH_CAUSE_UNDIVIDED, "all privilege levels"},
		{TACH_CAUSE_MEDIATED, "mediated vPMU"},
		{TACH_CAUSE_WATCHDOG, "one counter of every CPU"},
		{TACH_CAUSE_RDPMC_OFF, "rdpmc setting in sysfs is 0"},
		{TACH_CAUSE_USER_ACCESS_NONE, "kernel.perf_user_access: it cannot"},
		{TACH_CAUSE_USER_ACCESS_OFF, "kernel.perf_user_access is 0"},
		{TACH_CAUSE_USER_LEGACY, "SBI PMU extension"},
		{TACH_CAUSE_USER_NOT_OFFERED, "does not offer"},
		{TACH_CAUSE_USER_INDEX_ZERO, "never showed a counter"},
		{TACH_CAUSE_USER_UNSUPPORTED, "on this architecture"},
	};
	enum { N = sizeof of / sizeof *of };

	for (size_t i = 0; i < N; i++) {
		char whole[400];

		strcpy(whole, say(of[i].cause, S{.paranoid = 4, .selinux = 1}, -EACCES));
		CHECK(strcmp(whole, say(of[i].cause, S{0}, -EPERM)) == 0, "%s", text);
		for (size_t k = 0; k < N; k++)
			CHECK((strstr(text, of[k].words) != NULL) == (i == k), "%s", text);
	}
}

/* A sentence that is longer than the buffer is cut at the buffer's end. */
static void texts_are_cut_at_the_buffers_end(void)
{
	for (int cause = TACH_CAUSE_NONE + 1; cause < TACH_CAUSE_COUNT; cause++) {
		char whole[400], cut[8];

		memset(cut, '?', sizeof cut);
		strcpy(whole, say((enum tach_cause)cause, S{.paranoid = 3}, -EACCES));
		tach__cause_text((enum tach_cause)cause, &S{.paranoid = 3}, -EACCES, cut, 6);
		CHECK(memcmp(cut, whole, 5) == 0 && cut[5] == '\0' && cut[6] == '?', "%d",
		      cause);
	}
}

int main(void)
{
	CASE(of_refusals);
	CASE(causes_of_a_missing_index);
	CASE(sentences_of_refusals);
	CASE(sentences_of_paranoid_kernels);
	CASE(sentences_with_what_was_found);
	CASE(plain_sentences);
	CASE(texts_are_cut_at_the_buffers_end);
	return check_done();
}

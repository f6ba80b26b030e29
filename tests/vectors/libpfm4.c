/* SPDX-License-Identifier: MIT */
/* Answers of libpfm-4 (libpfm4.h): boxes, perf's own events, refusals and random combinations.
 */
#include <sys/stat.h>
#include <unistd.h>
#include "tests/vectors/libpfm4.h"

FILE_CASE(x86_core_rnd, "")
FILE_CASE(x86_core_err, "")
FILE_CASE(i386_legacy_core, "")
FILE_CASE(arm64_core_rnd, "")
FILE_CASE(arm64_core_err, "")
FILE_CASE(ix86arch_forced, "")
FILE_CASE(perf_generic_plm9_host, "skl")
FILE_CASE(perf_generic_plmH_host, "amd64_fam19h_zen3")
FILE_CASE(perf_raw, "")
FILE_CASE(x86_uncore_raw, "")
FILE_CASE(arm64_uncore_raw, "")

/* A sysfs in which every box has the type that the reference saw: 1000 and its name's bytes. */
static int write_types(const char *root)
{
	char path[256];
	int first = tach_pmu_count(), n = tach_pmu_uncore_count();

	for (int pmu = first; pmu < first + n; pmu++) {
		struct tach_pmu_info info = {.size = sizeof info};
		int sum = 0;
		FILE *f;

		if (tach_pmu_describe(pmu, &info) || info.libpfm4_id < 0)
			continue;
		snprintf(path, sizeof path, "%s/%.*s", root, (int)strcspn(info.perf, " "),
			 info.perf);
		for (const char *c = path + strlen(root) + 1; *c; c++)
			sum += (unsigned char)*c;
		mkdir(path, 0700);
		strncat(path, "/type", sizeof path - strlen(path) - 1);
		f = fopen(path, "w");
		if (!f)
			return -1;
		fprintf(f, "%d\n", 1000 + sum % 1000);
		fclose(f);
	}
	return 0;
}

static void with_types(const char *file)
{
	char root[] = "/tmp/tach-sysfs.XXXXXX", command[64];
	struct tach_encode_options opt = options("");

	if (!mkdtemp(root))
		SKIP("no temporary directory");
	CHECK(write_types(root) == 0);
	opt.sysfs = root;
	run_file(file, &opt);
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	CHECK(system(command) == 0);
}

static void x86_uncore_perf_fakesysfs(void)
{
	with_types("x86_uncore_perf_fakesysfs");
}

static void arm64_uncore_perf_fakesysfs(void)
{
	with_types("arm64_uncore_perf_fakesysfs");
}

static void write_id(const char *root, const char *system, const char *event, int id)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, system);
	mkdir(path, 0700);
	if (!event)
		return;
	snprintf(path, sizeof path, "%s/%s/%s", root, system, event);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%s/id", root, system, event);
	f = fopen(path, "w");
	if (f) {
		fprintf(f, "%d\n", id);
		fclose(f);
	}
}

static void tracepoint_fake(void)
{
	char root[] = "/tmp/tach-tracefs.XXXXXX", command[64];
	struct tach_encode_options opt = options("");

	if (!mkdtemp(root))
		SKIP("no temporary directory");
	write_id(root, "sched", "sched_switch", 316);
	write_id(root, "sched", "sched_wakeup", 317);
	write_id(root, "syscalls", "sys_enter_read", 652);
	write_id(root, "many", "ev3", 1003);
	write_id(root, "many", "ev12", 1012);
	write_id(root, "emptydir", NULL, 0);
	opt.tracefs = root;
	run_file("tracepoint_fake", &opt);
	snprintf(command, sizeof command, "rm -r '%s'", root);
	CHECK(system(command) == 0);
}

static void rules(void)
{
	static const long bounds[NRULES] = {[SAME] = 145000, 500, 450, 50, 0};

	check_rules(bounds);
}

int main(void)
{
	read_rules();
	CASE(x86_core_rnd);
	CASE(x86_core_err);
	CASE(i386_legacy_core);
	CASE(arm64_core_rnd);
	CASE(arm64_core_err);
	CASE(ix86arch_forced);
	CASE(perf_generic_plm9_host);
	CASE(perf_generic_plmH_host);
	CASE(perf_raw);
	CASE(tracepoint_fake);
	CASE(x86_uncore_raw);
	CASE(x86_uncore_perf_fakesysfs);
	CASE(arm64_uncore_raw);
	CASE(arm64_uncore_perf_fakesysfs);
	CASE(rules);
	return check_done();
}

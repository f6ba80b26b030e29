/* SPDX-License-Identifier: MIT */
/* Machine parameters of formulas, from folders that simulate machines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tach/error.h>
#include <unistd.h>
#include "core/os/kernel_files.h"
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/root.h"

/* Each CPU is of another core type, without a file for each. */
static int many;

static int number_of(const char *root, const char *path, uint64_t *out)
{
	long cpu;

	if (!many || sscanf(path, "/sys/devices/system/cpu/cpu%ld/", &cpu) != 1)
		return tach__file_number(root, path, out);
	*out = (uint64_t)cpu + 5;
	return 0;
}

#define tach__file_number number_of
#include "core/os/topology.c"

static char root[] = "/tmp/tach-topology-XXXXXX";

#define put(path, text) root_put(root, path, "%s\n", text)

static void cpu(int number, int package, int die)
{
	char path[128], text[16];

	snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 number);
	snprintf(text, sizeof text, "%d", package);
	put(path, text);
	snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/die_id", number);
	snprintf(text, sizeof text, "%d", die);
	put(path, text);
}

#define IS(name, want) parameter_is(name, want, __LINE__)
static void parameter_is(const char *name, double want, int line)
{
	double value = -1;
	int rc;

	errno = 4711;
	rc = tach__machine_parameter_at(root, name, strlen(name), &value);
	CHECK(errno == 4711, "line %d: errno %d", line, errno);

	if (want < 0)
		CHECK(rc == (int)want, "line %d: %s: %d, want %g", line, name, rc, want);
	else
		CHECK(rc == 0 && value == want, "line %d: %s: %d, %g, want %g", line, name, rc,
		      value, want);
}

static void two_sockets(void)
{
	put("sys/devices/system/cpu/online", "0-5,8-9");
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,8");
	put("sys/devices/system/cpu/smt/active", "1");
	for (int i = 0; i < 10; i++)
		cpu(i, i & 1, i >> 1 & 1);
	IS("cpus", 8);
	IS("threads_per_core", 2);
	IS("cores", 4);
	IS("sockets", 2);
	IS("dies", 4);
	IS("cores_per_socket", 2);
	IS("smt_on", 1);
	IS("core_wide", 0);
	put("sys/devices/system/cpu/smt/active", "0");
	IS("smt_on", 0);
	IS("slots_per_cycle", TACH_ERR_NOTSUPP);
	put("sys/bus/event_source/devices/armv9_cortex_a510/caps/slots", "0x0000000003");
	put("sys/bus/event_source/devices/armv9_cortex_x2/caps/slots", "0x0000000008");
	put("sys/bus/event_source/devices/other/caps/slots", "99");
	IS("slots_per_cycle", 8);
}

/* Uses the width of the widest core type; some files have invalid content. */
static void slots_of_cores(void)
{
	static const struct {
		const char *slots;
		double want;
	} of[] = {{"0x3ff", 1023}, {"0x400", 8}, {"none", 8}, {"9", 9}, {"7", 8}};
	int before = descriptors();

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		put("sys/bus/event_source/devices/armv8_pmuv3/caps/slots", of[i].slots);
		IS("slots_per_cycle", of[i].want);
	}
	CHECK(descriptors() == before, "%d left", descriptors() - before);
}

/* Distinguishes values by 64 bits, or by pairs of 32 bits. */
static void kinds_of_cpus(void)
{
	put("sys/devices/system/cpu/online", "0-3");
	for (int i = 0; i < 4; i++)
		cpu(i, i < 2 ? 36 : 100, i & 1 ? 5 : 7);
	IS("sockets", 2);
	IS("dies", 4);
	cpu(1, 36, 7);
	cpu(3, 36, 5);
	IS("sockets", 2);
	IS("dies", 3); /* 36 7, 100 7, 36 5 */
	put("sys/devices/system/cpu/online", "1,0");
	IS("sockets", 1);
	IS("dies", 1);
	put("sys/devices/system/cpu/online", "0,77"); /* one CPU without data: 0 */
	cpu(0, 0, 0);
	IS("sockets", 1);
	put("sys/devices/system/cpu/online", "77"); /* a CPU without data */
	IS("sockets", 1);
	many = 1;
	put("sys/devices/system/cpu/online", "0-1022");
	IS("sockets", 1023);
	put("sys/devices/system/cpu/online", "0-1023");
	IS("sockets", 1024);
	put("sys/devices/system/cpu/online", "0-1024");
	IS("sockets", 1024);
	IS("dies", 1024);
	many = 0;
}

/* If a CPU's siblings are not listed, each CPU has its own core. */
static void every_second_cpu(void)
{
	char list[4096] = "0", cpu_text[16];

	for (int i = 2; i < 1024; i += 2) {
		snprintf(cpu_text, sizeof cpu_text, ",%d", i);
		strcat(list, cpu_text);
	}
	put("sys/devices/system/cpu/online", list);
	IS("cpus", 512);
}

static void threads_of_a_core(void)
{
	put("sys/devices/system/cpu/online", "0-6");
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1");
	IS("threads_per_core", 2);
	IS("cores", 3);
	put("sys/devices/system/cpu/smt/active", "2");
	IS("smt_on", 1);
	put("sys/devices/system/cpu/smt/active", "none");
	IS("smt_on", 1);
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0");
	IS("smt_on", 0);
	IS("cores", 7);
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "");
	IS("cores", TACH_ERR_NOTSUPP);
	IS("threads_per_core", TACH_ERR_NOTSUPP);
	put("sys/devices/system/cpu/online", "0");
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0");
	IS("cpus", 1);
	IS("cores", 1);
}

/* ---- lists ---- */

static char visited[100];

static void visit(void *context, long cpu)
{
	size_t used = strlen(visited);

	CHECK(context == &many);
	snprintf(visited + used, sizeof visited - used, "%ld ", cpu);
}

static void lists(void)
{
	static const struct {
		const char *list, *cpus;
		int n;
	} of[] = {
		{"0-2,8,10-11\n", "0 1 2 8 10 11 ", 6},
		{"9", "9 ", 1},
		{"09-10", "9 10 ", 2},
		{"3-3", "3 ", 1},
		{"4-2,7", "7 ", 1},
		{"5,,6", "5 ", 1},
		{"5;6", "5 ", 1},
		{"1 2", "1 ", 1},
		{",1", "", 0},
		{":", "", 0},
		{"/", "", 0},
		{"", "", 0},
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		visited[0] = '\0';
		CHECK(tach__cpu_list(of[i].list, visit, &many) == of[i].n &&
			      strcmp(visited, of[i].cpus) == 0,
		      "'%s': %s", of[i].list, visited);
		CHECK(tach__cpu_list(of[i].list, NULL, NULL) == of[i].n);
	}
	CHECK(tach__cpu_list("0-8191", NULL, NULL) == 8192);
	CHECK(tach__cpu_list("0-8192", NULL, NULL) == 8192);
}

static void unknown_without_files(void)
{
	root_wipe(root);
	IS("cpus", TACH_ERR_NOTSUPP);
	IS("cores_per_socket", TACH_ERR_NOTSUPP);
	IS("smt_on", 0);
	IS("has_pmem", TACH_ERR_NOTSUPP);
	IS("cpu", TACH_ERR_NOTFOUND);
	IS("", TACH_ERR_NOTFOUND);
	put("sys/devices/system/cpu/online", "0-99999999999999999999");
	put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "-,x");
	IS("threads_per_core", TACH_ERR_NOTSUPP);
	IS("cpus", 8192);
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	CASE(two_sockets);
	CASE(slots_of_cores);
	CASE(kinds_of_cpus);
	CASE(every_second_cpu);
	CASE(threads_of_a_core);
	CASE(lists);
	CASE(unknown_without_files);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

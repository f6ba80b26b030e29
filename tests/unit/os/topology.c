/* SPDX-License-Identifier: MIT */
/* Machine parameters of formulas, from folders that look like machines. */
#include <stdlib.h>
#include <string.h>
#include <tach/error.h>
#include <unistd.h>
#include "core/os/topology.h"
#include "tests/check.h"
#include "tests/root.h"

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

#define IS(name, want) is(name, want, __LINE__)
static void is(const char *name, double want, int line)
{
	double value = -1;
	int rc = tach__machine_parameter_at(root, name, strlen(name), &value);

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

static void nothing_is_told(void)
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
	CASE(nothing_is_told);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Finds this machine's RISC-V cores: mvendorid, marchid and mimpid of each hart, in
 * /proc/cpuinfo since Linux 5.18 (arch/riscv/kernel/cpu.c). These are the numbers that perf
 * uses for a CPU (tools/perf/pmu-events/arch/riscv/mapfile.csv). For older kernels, and if the
 * firmware hides the numbers, the line `uarch` is used: the devicetree's name of the core
 * (Documentation/devicetree/bindings/riscv/cpus.yaml).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/os/kernel_files.h"
#include "core/port/port.h"

#define SIFIVE "0x489 0x8000000000000007 0x0"
#define THEAD  "0x5b7 0x0 0x0"

static const struct {
	const char *uarch, *id;
} cores[] = {
	{"sifive,bullet0", SIFIVE},
	{"sifive,u7", SIFIVE},
	{"sifive,u74", SIFIVE},
	{"sifive,u74-mc", SIFIVE},
	{"sifive,s7", SIFIVE},
	{"sifive,p550", "0x489 0x8000000000000008 0x0"},
	{"thead,c906", THEAD},
	{"thead,c908", THEAD},
	{"thead,c910", THEAD},
	{"thead,c920", THEAD},
	{"andestech,ax45mp", "0x31e 0x8000000000008a45 0x0"},
	{"starfive,dubhe-80", "0x67e 0x80000000db000080 0x0"},
	{"starfive,dubhe-90", "0x67e 0x80000000db000090 0x0"},
	{"openhwgroup,cva6", "0x602 0x3 0x0"},
};

struct harts {
	struct tach__cpu *out;
	int n, max;
	unsigned long long id[3];
	unsigned known; /* a bit for each of mvendorid, marchid, mimpid that is known */
	int seen;
	char uarch[48];
};

/* Adds the hart that the lines before this one describe. */
static void add_hart(struct harts *h)
{
	char id[sizeof h->out->id] = "";

	if (h->known == 7)
		snprintf(id, sizeof id, "0x%llx 0x%llx 0x%llx", h->id[0], h->id[1], h->id[2]);
	for (size_t i = 0; !*id && i < sizeof cores / sizeof *cores; i++)
		if (strcmp(h->uarch, cores[i].uarch) == 0)
			snprintf(id, sizeof id, "%s", cores[i].id);
	h->known = 0;
	h->uarch[0] = 0;
	for (int i = 0; i < h->n; i++)
		if (strcmp(h->out[i].id, id) == 0)
			return;
	if (!*id || h->n == h->max)
		return;
	memset(&h->out[h->n], 0, sizeof *h->out);
	memcpy(h->out[h->n++].id, id, sizeof id);
}

static int read_cpuinfo_line(void *context, const char *line)
{
	static const char *const names[] = {"mvendorid", "marchid", "mimpid"};
	struct harts *h = context;
	const char *value;

	if (tach__cpuinfo_value(line, "processor")) {
		add_hart(h);
		h->seen = 1;
	} else if ((value = tach__cpuinfo_value(line, "uarch")) != NULL)
		snprintf(h->uarch, sizeof h->uarch, "%s", value);
	for (unsigned i = 0; i < 3; i++)
		if ((value = tach__cpuinfo_value(line, names[i])) != NULL) {
			h->id[i] = strtoull(value, NULL, 16);
			h->known |= 1u << i;
		}
	return 0;
}

int tach__riscv64_cpus(const char *root, int native, struct tach__cpu *out, int max)
{
	struct harts h = {.out = out, .max = max};

	(void)native;
	tach__file_lines(root, "/proc/cpuinfo", read_cpuinfo_line, &h);
	add_hart(&h);
	/* The core has no name, but it is RISC-V, so the events of the firmware exist. */
	if (h.n == 0 && h.seen && max > 0) {
		memset(out, 0, sizeof *out);
		snprintf(out->id, sizeof out->id, "not told");
		h.n = 1;
	}
	return h.n;
}

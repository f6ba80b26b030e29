/* SPDX-License-Identifier: MIT */
/*
 * Events to counters by the devicetree: node riscv,pmu
 * (Documentation/devicetree/bindings/perf/riscv,pmu.yaml). The firmware assigns counters by
 * these properties. OpenSBI removes them from the tree that it passes on
 * (lib/utils/fdt/fdt_pmu.c, fdt_pmu_fixup), so Linux sees them only if it got another tree.
 * Chips whose counters differ from other chips with the same core have their own map here.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "arch/riscv64/tree.h"
#include "core/os/kernel_files.h"

#define BASE "/sys/firmware/devicetree/base"

enum { CELLS = 2048 };

/*
 * Reads the cells of a property of that node in host order; returns -1 if there is no such
 * property.
 */
static int read_property(const char *root, const char *name, uint32_t *cell)
{
	static const char *const nodes[] = {"pmu", "soc/pmu"};
	char path[128];
	int n = -1;

	for (size_t i = 0; n < 0 && i < sizeof nodes / sizeof *nodes; i++) {
		snprintf(path, sizeof path, BASE "/%s/%s", nodes[i], name);
		n = tach__file_bytes(root, path, cell, CELLS * sizeof *cell);
	}
	for (int i = 0; i < n / 4; i++)
		cell[i] = be32toh(cell[i]);
	return n < 0 ? -1 : n / 4;
}

/* Rows of first event, last event, counters. */
static int64_t find_sbi_counters(const char *root, uint64_t code, uint32_t *cell)
{
	int n = read_property(root, "riscv,event-to-mhpmcounters", cell);
	uint32_t found = 0;

	for (int i = 0; i + 3 <= n; i += 3)
		if (code == UINT64_MAX || (cell[i] <= code && code <= cell[i + 1]))
			found |= cell[i + 2];
	return n < 0 ? -1 : (int64_t)(found & TACH__RISCV_HPM);
}

/* Rows of selector and mask, 64 bits each, and counters. */
static int64_t find_raw_counters(const char *root, uint64_t code, uint32_t *cell)
{
	int n = read_property(root, "riscv,raw-event-to-mhpmcounters", cell);
	uint32_t found = 0;

	for (int i = 0; i + 5 <= n; i += 5) {
		uint64_t select = (uint64_t)cell[i] << 32 | cell[i + 1];
		uint64_t mask = (uint64_t)cell[i + 2] << 32 | cell[i + 3];

		if (code == UINT64_MAX || (code & mask) == select)
			found |= cell[i + 4];
	}
	return n < 0 ? -1 : (int64_t)(found & TACH__RISCV_HPM);
}

/* ---- chips ---- */

/* Several cores have these numbers, but chips with these cores have different counters. */
#define TH1520 0x7fff8u
#define D1     0x3e3f8u

/* arch/riscv/boot/dts/allwinner/sun20i-d1s.dtsi: code n counts on hpmcounter n + 2 only. */
static int64_t find_d1_counters(enum tach__riscv_code kind, uint64_t code)
{
	static const struct {
		uint32_t sbi, code;
	} map[] = {{0x3, 0x1},	   {0x4, 0x2},	   {0x5, 0x7},	   {0x6, 0x6},
		   {0x10000, 0xc}, {0x10001, 0xd}, {0x10002, 0xe}, {0x10003, 0xf},
		   {0x10019, 0x4}, {0x10021, 0x3}};

	if (code == UINT64_MAX)
		return D1;
	for (size_t i = 0; kind == TACH__RISCV_SBI && i < sizeof map / sizeof *map; i++)
		if (map[i].sbi == code)
			return (int64_t)1 << (map[i].code + 2);
	return kind == TACH__RISCV_RAW && code < 30 ? (int64_t)(1u << (code + 2) & D1) : 0;
}

static int64_t find_chip_counters(const char *root, enum tach__riscv_code kind, uint64_t code)
{
	char names[512]; /* several names, each with its 0 byte */
	int n = tach__file_bytes(root, BASE "/compatible", names, sizeof names - 1);

	if (n < 0)
		return -1;
	names[n] = 0;
	for (int i = 0; i < n; i += (int)strlen(names + i) + 1) {
		if (strcmp(names + i, "allwinner,sun20i-d1") == 0)
			return find_d1_counters(kind, code);
		/* arch/riscv/boot/dts/thead/th1520.dtsi: any of these */
		if (strcmp(names + i, "thead,th1520") == 0)
			return TH1520;
	}
	return -1;
}

int64_t tach__riscv64_placed(const char *root, enum tach__riscv_code kind, uint64_t code)
{
	uint32_t cell[CELLS];
	int64_t by_event, by_code;

	if (code != UINT64_MAX) {
		by_event = kind == TACH__RISCV_SBI ? find_sbi_counters(root, code, cell)
						   : find_raw_counters(root, code, cell);
		return by_event >= 0 ? by_event : find_chip_counters(root, kind, code);
	}
	by_event = find_sbi_counters(root, code, cell);
	by_code = find_raw_counters(root, code, cell);
	if (by_event < 0 && by_code < 0)
		return find_chip_counters(root, kind, code);
	return (by_event < 0 ? 0 : by_event) | (by_code < 0 ? 0 : by_code);
}

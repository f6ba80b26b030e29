/* SPDX-License-Identifier: MIT */
/*
 * The counter instructions of RISC-V (include/tach/arch/riscv64.h explains how they are
 * reached): 32 stubs of 32 bytes, which read CSR 0xc00 + n into t2, extend the sign from the
 * width that is in the page at t3, and return by t0. Shifts use the lower six bits of the
 * register, so a shift by -width is one by 64 - width. The assembler accepts no symbol for a
 * CSR, so the instruction is composed: csr << 20 | rs1 0 | CSRRS (2) << 12 | rd << 7 | SYSTEM.
 */
#include <stddef.h>
#include <linux/perf_event.h>
#include <tach/base.h>

#if defined(__riscv) && __riscv_xlen == 64
TACH_STATIC_ASSERT(offsetof(struct perf_event_mmap_page, pmc_width) == 48, "pmc_width");

__asm__(".pushsection .text.tach__counters, \"ax\", @progbits\n"
	".balign 32\n"
	".globl tach__counters64\n.hidden tach__counters64\n"
	".type tach__counters64, @function\n"
	"tach__counters64:\n"
	".option push\n.option norvc\n"
	".set tach__n, 0\n"
	".rept 32\n"
	".balign 32\n"
	".4byte (0xc00 + tach__n) << 20 | 2 << 12 | 7 << 7 | 0x73\n"
	".if tach__n > 2\n"
	"lhu t1, 48(t3)\n"
	"neg t1, t1\n"
	"sll t2, t2, t1\n"
	"sra t2, t2, t1\n"
	".endif\n"
	"jr t0\n"
	".set tach__n, tach__n + 1\n"
	".endr\n"
	".option pop\n"
	".size tach__counters64, . - tach__counters64\n"
	".globl tach__counters_end\n.hidden tach__counters_end\n"
	"tach__counters_end:\n"
	".popsection\n");
#endif

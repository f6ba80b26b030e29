/* SPDX-License-Identifier: MIT */
/* One counter read, one clock read, one fence. Included by tach/arch.h only. */
#ifndef TACH_ARCH_H
#error "include <tach/arch.h>"
#endif

#define TACH_ARCH_FAST	 1
#define TACH_ARCH_SIGNED 1
/* A correct read may fault: the kernel may remove the counter from scounteren between the load
 * of the index and the read (drivers/perf/riscv_pmu_sbi.c, pmu_sbi_ctr_stop). So opening a
 * reader installs the handler of tach/fault.h. */
#define TACH_ARCH_FAULTS 1
/* Without extension Sscofpmf (for example on the U74) the driver refuses exclude_* with EINVAL
 * (riscv_pmu_sbi.c, pmu_sbi_event_map of 6.12 and 7.2). */
#define TACH_ARCH_UNDIVIDED 1
/* RISC-V uses the buddy hard lockup detector, which needs no counter (arch/riscv/Kconfig). */
#define TACH_ARCH_WATCHDOG 0

/*
 * The counter's number is part of the instruction (CSR 0xc00 + n is index n + 1 of a page), so
 * counter n is read by one of 32 stubs of 32 bytes in arch/riscv64/counters.c. Their link
 * register is t0, the ABI's alternate one: the return stack predicts both jumps, and ra is
 * unchanged. A fault happens in a stub, and t0 is then the address of the site's record.
 *
 * Counters of one chip may differ in width (mcycle 64 bits, hpmcounters 40 on the U74), and the
 * firmware may give an event another counter whenever it starts (SBI COUNTER_CONFIG_MATCH). So
 * stubs of hpmcounters sign-extend by the width that the page in t3 shows; cycle and instret
 * always have 64 bits (privileged ISA, mcycle and minstret).
 */
#define TACH_COUNTER(way, number, value, seen)                                                 \
	do {                                                                                   \
		register uint64_t tach__value __asm__("t2");                                   \
		register const struct perf_event_mmap_page *tach__page __asm__("t3") =         \
			(way).page;                                                            \
		__asm__ volatile("slli t1, %[index], 5\n\tadd t1, t1, %[stubs]\n"              \
				 "\tjalr t0, 0(t1)\n.Ltach_on%=:\n"                            \
				 "\t.subsection 1\n.Ltach_revoked%=:\n"                        \
				 "\tori %[lock], %[lock], 1\n\tj .Ltach_on%=\n"                \
				 "\t.previous\n" TACH__EX_RECORD(                              \
					 ".Ltach_on%=", ".Ltach_revoked%=",                    \
					 ".reloc ., R_RISCV_NONE, tach__abi_1\n\t.long 0")     \
				 : "=r"(tach__value), [lock] "+r"(seen)                        \
				 : [stubs] "r"((way).stubs), [index] "r"(number),              \
				   "r"(tach__page)                                             \
				 : "t0", "t1", "memory");                                      \
		(value) = tach__value;                                                         \
	} while (0)

/* lw sign-extends into registers, so this type needs no instruction to make it 32 bits. */
typedef int64_t tach__word;
#define TACH_WORD(value)	   TACH__CAST(tach__word, TACH__CAST(int32_t, value))
#define TACH_NUMBER(index, number) (((number) = TACH_WORD(index)) == 0)

#ifdef TACH_BUILD
extern const char tach__counters64[], tach__counters_end[];
/* One stub before the first: index 1 is the first. (C forbids a pointer to it.) */
#define TACH_STUBS(width) ((const char *)((uintptr_t)tach__counters64 - 32))
/* The instruction is in a stub; the record has the address of the stub's caller, t0 (x5). */
#define TACH_FAULT_PC(context)	 ((context)->uc_mcontext.__gregs[REG_PC])
#define TACH_FAULT_SITE(context) ((context)->uc_mcontext.__gregs[5])
#define TACH_FAULT_OURS(pc)                                                                    \
	((pc) >= (uintptr_t)tach__counters64 && (pc) < (uintptr_t)tach__counters_end)
/* A firmware event's page shows index 1, which is another counter (riscv_pmu_sbi.c,
 * pmu_sbi_csr_index: firmware counters have CSR 0). */
#define TACH_ARCH_UNREADABLE(attr) ((attr)->type == PERF_TYPE_RAW && (attr)->config >> 63)
#endif

/* CSR time, always readable under Linux (arch/riscv/kernel/head.S: scounteren bit 1). */
TACH_API_INLINE uint64_t tach_clock(void)
{
	uint64_t value;

	__asm__ volatile("rdtime %0" : "=r"(value));
	return value;
}

/*
 * FENCE orders CSR reads as device input (unprivileged ISA, Zicsr), but does not order
 * arithmetic.
 */
#define TACH_FENCE() __asm__ volatile("fence iorw, iorw" ::: "memory")

#define TACH_UNLESS(word, label)                                                               \
	__asm__ goto("ld t1, %0\n\tbeqz t1, %l1" : : "m"(word) : "t1" : label)

#ifndef __clang__
/* The address is loaded from a word of its own, as on arm64. norelax: otherwise the linker
 * would merge the two instructions. */
#define TACH_ADDRESS(object)                                                                   \
	__extension__({                                                                        \
		__typeof__(&(object)) tach__at;                                                \
		__asm__ volatile("\t.pushsection .data.rel.ro.tach, \"aw?\"\n"                 \
				 "\t.balign 8\n.Ltach_at%=:\t.dword %1\n\t.popsection\n"       \
				 "\t.option push\n\t.option norelax\n"                         \
				 ".Ltach_pc%=:\tauipc %0, %%pcrel_hi(.Ltach_at%=)\n"           \
				 "\tld %0, %%pcrel_lo(.Ltach_pc%=)(%0)\n\t.option pop"         \
				 : "=r"(tach__at)                                              \
				 : "S"(&(object)));                                            \
		tach__at;                                                                      \
	})
#define TACH_ADDRESS_PAD() __asm__ volatile("nop")
#endif

/* One instruction, so that no addition of a signal handler is lost. Words that handlers do not
 * change use load, add and store: more instructions, but less time on most cores. */
#define TACH_COUNT(word, by, single)                                                           \
	__asm__ volatile("amoadd.d zero, %1, %0" : "+A"(word) : "r"(TACH__CAST(uint64_t, by)))

/* below = a < b ? below : other, without a branch: the same number of instructions. */
#define TACH_BELOW(a, b, below, other)                                                         \
	do {                                                                                   \
		uintptr_t tach__o = (uintptr_t)(other), tach__m;                               \
		__asm__("sltu %0, %1, %2\n\tneg %0, %0"                                        \
			: "=r"(tach__m)                                                        \
			: "r"((uint64_t)(a)), "r"((uint64_t)(b)));                             \
		(below) = (void *)(tach__o ^ ((tach__o ^ (uintptr_t)(below)) & tach__m));      \
	} while (0)

#ifndef __riscv_zbb
/* Without Zbb, no instruction finds the highest bit. libgcc's function tests each byte. */
TACH_INLINE unsigned tach__highest(uint64_t value)
{
	unsigned n = 0;

	for (unsigned step = 32; step; step >>= 1) {
		unsigned up = TACH__CAST(unsigned, value >> step != 0) * step;

		__asm__("" : "+r"(up)); /* no branch */
		value >>= up;
		n += up;
	}
	return n;
}
#define TACH_HIGHEST(value) tach__highest(value)
#endif

#define TACH_ARCH_NAME		    "riscv64"
#define TACH_ARCH_LOOP_INSTRUCTIONS 2u
TACH_INLINE void tach__arch_loop(uint64_t n)
{
	__asm__ volatile("1:\taddi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
}

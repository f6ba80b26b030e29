/* SPDX-License-Identifier: MIT */
/* One counter read, one clock read, one fence. Included by tach/arch.h only. */
#ifndef TACH_ARCH_H
#error "include <tach/arch.h>"
#endif

#define TACH_ARCH_FAST	 1
#define TACH_ARCH_SIGNED 1
#define TACH_ARCH_ASKS	 1

/*
 * The counter's number is part of the MRS instruction, so reading counter n means branching to
 * one of 32 small stubs (arch/arm64/counters.c: PMEVCNTR0_EL0 .. PMEVCNTR30_EL0 for index 1 ..
 * 31, PMCCNTR_EL0 for index 32), 16 bytes each. There are two tables of them, for 32-bit
 * counters, extended by sign, and for 64-bit ones; open puts the right one beside the member's
 * page, since the kernel never changes an event's width (drivers/perf/arm_pmuv3.c,
 * arch_perf_update_userpage), and one LDP fetches both. Against a table inline in every read
 * this takes 4 instructions less per counter (no address to form, no width to load and shift
 * by) and 12 bytes of code in place of 276; and the way back is predicted by the return stack.
 * It is no function call: x16, x17 and x30 are all that it changes.
 *
 * Instructions are among the general ones: PMICNTR_EL0 (FEAT_PMUv3_ICNTR) Linux gives to no
 * event that user space may read. From PMUv3.9 on Linux 6.13 and newer let a thread read its
 * own counters alone (PMUACR_EL1); others, which a page names only while it changes, read 0.
 *
 * A fault happens in a stub, and x30 then is the address of the site's record.
 */
#define TACH_COUNTER(way, number, value, seen)                                                 \
	do {                                                                                   \
		register uint64_t tach__value __asm__("x17");                                  \
		__asm__ volatile("add x16, %[stubs], %w[index], uxtw #4\n"                     \
				 "\tblr x16\n.Ltach_on%=:\n"                                   \
				 "\t.subsection 1\n.Ltach_revoked%=:\n"                        \
				 "\torr %w[lock], %w[lock], #1\n\tb .Ltach_on%=\n"             \
				 "\t.previous\n" TACH__EX_RECORD(                              \
					 ".Ltach_on%=", ".Ltach_revoked%=",                    \
					 ".reloc ., R_AARCH64_NONE, tach__abi_1\n\t.long 0")   \
				 : "=r"(tach__value), [lock] "+r"(seen)                        \
				 : [stubs] "r"((way).stubs), [index] "r"(number)               \
				 : "x16", "x30", "memory");                                    \
		(value) = tach__value;                                                         \
	} while (0)

#ifdef TACH_BUILD
#define TACH_COUNTERS_HIDE() 0
#define TACH_WIDTH(width)    ((width) == 32 || (width) == 64)
extern const char tach__counters32[], tach__counters64[], tach__counters_end[];
/* Less one stub: index 1 is the first. (A pointer into a table cannot say so in C.) */
#define TACH_STUBS(width)                                                                      \
	((const char *)((uintptr_t)((width) == 64 ? tach__counters64 : tach__counters32) - 16))
/* The instruction is a stub's; its caller's address is that of the record. */
#define TACH_FAULT_PC(context)	 ((context)->uc_mcontext.pc)
#define TACH_FAULT_SITE(context) ((context)->uc_mcontext.regs[30])
#define TACH_FAULT_OURS(pc)                                                                    \
	((pc) >= (uintptr_t)tach__counters32 && (pc) < (uintptr_t)tach__counters_end)
#endif

/* CNTVCT_EL0, readable from EL0 under Linux (CNTKCTL_EL1.EL0VCTEN; Arm ARM D13). */
TACH_API_INLINE uint64_t tach_clock(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}

/* ISB: nothing after it is fetched before everything before it completed (Arm ARM B2.3). */
#define TACH_FENCE() __asm__ volatile("isb" ::: "memory")

/* goto label if the 64-bit word is 0. Opaque to the compiler: two instructions, always. */
#define TACH_UNLESS(word, label)                                                               \
	__asm__ goto("ldr x16, %0\n\tcbz x16, %l1" : : "m"(word) : "x16" : label)

#ifndef __clang__ /* whose 14 does not know the constraint everywhere */
/*
 * Two instructions, where compilers would keep the address of a static object in a register or
 * not. By way of a word of its own, as a template's object may be preempted; not of the GOT,
 * where GNU ld has one entry for all local objects of a section (it looks at the section's
 * symbol, which the assembler puts in place of theirs, and not at the addend).
 */
#define TACH_ADDRESS(object)                                                                   \
	__extension__({                                                                        \
		__typeof__(&(object)) tach__at;                                                \
		__asm__ volatile("\t.pushsection .data.rel.ro.tach, \"aw?\"\n"                 \
				 "\t.balign 8\n"                                               \
				 ".Ltach_at%=:\t.xword %1\n"                                   \
				 "\t.popsection\n"                                             \
				 "\tadrp %0, .Ltach_at%=\n"                                    \
				 "\tldr %0, [%0, :lo12:.Ltach_at%=]"                           \
				 : "=r"(tach__at)                                              \
				 : "S"(&(object)));                                            \
		tach__at;                                                                      \
	})
#endif

/* gcc 12 has no offset in the address of what is atomic: an addition more for each. */
#define TACH_ONCE_IS_VOLATILE 1

/* A signal handler clears the monitor, so nothing of it is lost. */
#define TACH_COUNT(word, by)                                                                   \
	do {                                                                                   \
		uint64_t tach__was;                                                            \
		uint32_t tach__failed;                                                         \
		__asm__ volatile("1:\tldxr %0, %2\n\tadd %0, %0, %3\n"                         \
				 "\tstxr %w1, %0, %2\n\tcbnz %w1, 1b"                          \
				 : "=&r"(tach__was), "=&r"(tach__failed), "+Q"(word)           \
				 : "r"(TACH__CAST(uint64_t, by)));                             \
	} while (0)

/* below = a < b ? below : other, without a branch: the same number of instructions. */
#define TACH_BELOW(a, b, below, other)                                                         \
	__asm__("cmp %w1, %w2\n\tcsel %0, %0, %3, lo"                                          \
		: "+r"(below)                                                                  \
		: "r"(TACH__CAST(uint32_t, a)), "r"(TACH__CAST(uint32_t, b)), "r"(other)       \
		: "cc")

#define TACH_ARCH_NAME		    "arm64"
#define TACH_ARCH_LOOP_INSTRUCTIONS 2u
TACH_INLINE void tach__arch_loop(uint64_t n)
{
	__asm__ volatile("1:\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
}

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
 * 31, PMCCNTR_EL0 for index 32), 16 bytes each. One table of stubs is for 32-bit counters,
 * which it sign-extends, and one for 64-bit counters. Opening a reader stores the right table
 * next to the member's page, so that one LDP loads both. This works because the kernel never
 * changes an event's width (drivers/perf/arm_pmuv3.c, arch_perf_update_userpage). Compared with
 * a table inline in every read, each counter takes 4 instructions less (no address, no width,
 * no shift) and 12 bytes of code instead of 276. The return stack predicts the way back. A stub
 * changes only x16, x17 and x30.
 *
 * A general counter counts instructions: Linux never gives PMICNTR_EL0 (FEAT_PMUv3_ICNTR) to an
 * event that user space may read. With PMUv3.9, Linux 6.13 and newer let a thread read only its
 * own counters (PMUACR_EL1). Other counters, which a page names only while it changes, read 0.
 *
 * A fault happens in a stub, and x30 then is the address of the site's record.
 */
#define TACH__COUNTER_BY(call, value, seen, ...)                                               \
	do {                                                                                   \
		register uint64_t tach__value __asm__("x17");                                  \
		__asm__ volatile(call                                                          \
				 "\n.Ltach_on%=:\n"                                            \
				 "\t.subsection 1\n.Ltach_revoked%=:\n"                        \
				 "\torr %w[lock], %w[lock], #1\n\tb .Ltach_on%=\n"             \
				 "\t.previous\n" TACH__EX_RECORD(                              \
					 ".Ltach_on%=", ".Ltach_revoked%=",                    \
					 ".reloc ., R_AARCH64_NONE, tach__abi_1\n\t.long 0")   \
				 : "=r"(tach__value), [lock] "+r"(seen)                        \
				 : __VA_ARGS__                                                 \
				 : "x16", "x30", "memory");                                    \
		(value) = tach__value;                                                         \
	} while (0)
#define TACH_COUNTER(way, number, value, seen)                                                 \
	TACH__COUNTER_BY("add x16, %[stubs], %w[index], uxtw #4\n\tblr x16", value,            \
			 seen, [stubs] "r"((way).stubs), [index] "r"(number))

#ifdef TACH_BUILD
#include <sys/auxv.h>
/* Reads a counter by the address of its stub. */
#define TACH_COUNTER_AT(at, value, seen)                                                       \
	TACH__COUNTER_BY("blr %[stub]", value, seen, [stub] "r"(at))
/*
 * If a signal handler interrupts this code, its return clears the monitor (Arm ARM B2.9). So
 * STXR fails, the handler's store stays, and the loop looks again. It is limited, because known
 * processors allow loads between LDXR and STXR, but none guarantees it.
 */
TACH_INLINE int tach__counter_see(const char **at, const char *stubs, const uint32_t *index,
				  const uint32_t *lock, uint32_t *shown)
{
	uint64_t stub;
	uint32_t seen, failed = 1;

	for (int tries = 64; failed == 1 && tries; tries--)
		__asm__ volatile("mov %w[failed], #2\n\tldxr %[stub], %[at]\n"
				 "\tldr %w[seen], %[lock]\n\tldr %w[stub], %[index]\n"
				 "\tcbz %w[stub], 1f\n\ttbnz %w[seen], #0, 1f\n"
				 "\tadd %[stub], %[stubs], %w[stub], uxtw #4\n"
				 "\tstxr %w[failed], %[stub], %[at]\n1:"
				 : [failed] "=&r"(failed), [stub] "=&r"(stub),
				   [seen] "=&r"(seen), [at] "+Q"(*at)
				 : [lock] "m"(*lock), [index] "m"(*index), [stubs] "r"(stubs));
	*shown = seen;
	return !failed;
}
#define TACH_COUNTER_SEE(at, way, seen)                                                        \
	tach__counter_see(at, (way).stubs, &(way).page->index, &(way).page->lock, &(seen))

#define TACH_COUNTERS_HIDE() 0
#define TACH_WIDTH(width)    ((width) == 32 || (width) == 64)
extern const char tach__counters32[], tach__counters64[], tach__counters_end[];
/* One stub before the first: index 1 is the first. (C forbids a pointer to it.) */
#define TACH_STUBS(width)                                                                      \
	((const char *)((uintptr_t)((width) == 64 ? tach__counters64 : tach__counters32) - 16))
/* The instruction is in a stub; the record has the address of the stub's caller. */
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

/* ISB: later instructions are fetched only after all earlier ones completed (Arm ARM B2.3). */
#define TACH_FENCE() __asm__ volatile("isb" ::: "memory")

/* goto label if the 64-bit word is 0. Always two instructions, opaque to the compiler. */
#define TACH_UNLESS(word, label)                                                               \
	__asm__ goto("ldr x16, %0\n\tcbz x16, %l1" : : "m"(word) : "x16" : label)

#ifndef __clang__ /* clang 14 does not support the constraint everywhere */
/*
 * Always two instructions: a compiler might keep the address of a static object in a register.
 * The address is loaded from a word of its own, because a template's object may be preempted.
 * The GOT would not work: GNU ld makes one entry for all local objects of a section (it uses
 * the section's symbol, which the assembler substitutes, and ignores the addend).
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
#define TACH_ADDRESS_PAD() __asm__ volatile("nop")
#endif

/* gcc 12 cannot use an offset in the address of atomics, which costs one more addition each. */
#define TACH_ONCE_IS_VOLATILE 1

/*
 * One instruction if the processor has it (FEAT_LSE, Armv8.1), otherwise a loop. A signal
 * handler clears the monitor, so its changes are not lost. An interrupt clears it, too, and the
 * enclosing region counts the repeated loop. `single` is constant while the thread counts, so
 * that calibration takes the same path.
 */
#define TACH_SINGLE() (getauxval(AT_HWCAP) >> 8 & 1) /* HWCAP_ATOMICS */
#define TACH_COUNT(word, by, single)                                                           \
	do {                                                                                   \
		uint64_t tach__was;                                                            \
		uint32_t tach__failed;                                                         \
		if (single)                                                                    \
			__asm__ volatile(".arch_extension lse\n\tstadd %1, %0"                 \
					 : "+Q"(word)                                          \
					 : "r"(TACH__CAST(uint64_t, by)));                     \
		else                                                                           \
			__asm__ volatile("1:\tldxr %0, %2\n\tadd %0, %0, %3\n"                 \
					 "\tstxr %w1, %0, %2\n\tcbnz %w1, 1b"                  \
					 : "=&r"(tach__was), "=&r"(tach__failed), "+Q"(word)   \
					 : "rI"(TACH__CAST(uint64_t, by)));                    \
	} while (0)

#ifndef __clang__ /* clang 14 does not support the constraint */
/* STP writes each half at once (Arm ARM B2.2.1), which snapshots require. */
#define TACH_BUMP_TWO(one, a, two, b)                                                          \
	do {                                                                                   \
		uint64_t tach__one, tach__two;                                                 \
		__asm__ volatile("ldp %0, %1, %2\n\tadd %0, %0, %4\n"                          \
				 "\tadd %1, %1, %5\n\tstp %0, %1, %2"                          \
				 : "=&r"(tach__one), "=&r"(tach__two), "+Ump"(one), "+m"(two)  \
				 : "r"(TACH__CAST(uint64_t, a)),                               \
				   "r"(TACH__CAST(uint64_t, b)));                              \
	} while (0)
#endif

/* Sets bit 0 of the 64-bit word; returns its old value. */
TACH_INLINE int tach__arch_take(uint64_t *word, uint32_t single)
{
	uint64_t was;

	if (single) {
		__asm__ volatile(".arch_extension lse\n\tldset %2, %0, %1"
				 : "=r"(was), "+Q"(*word)
				 : "r"(TACH__CAST(uint64_t, 1)));
		return TACH__CAST(int, was & 1);
	}
	__asm__ goto("1:\tldxr x16, %0\n\ttbnz x16, #0, %l1\n\tadd x16, x16, #1\n"
		     "\tstxr w17, x16, %0\n\tcbnz w17, 1b"
		     :
		     : "Q"(*word)
		     : "x16", "x17", "memory"
		     : taken);
	return 0;
taken:
	return 1;
}
#define TACH_TAKE(word, single) tach__arch_take(&(word), single)

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

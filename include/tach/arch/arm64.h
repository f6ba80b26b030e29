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
/* The same by the stub's address. */
#define TACH_COUNTER_AT(at, value, seen)                                                       \
	TACH__COUNTER_BY("blr %[stub]", value, seen, [stub] "r"(at))
/*
 * A signal handler clears the monitor, as each return from an exception does (Arm ARM B2.9), so
 * that its stores stay; then this code looks again. Loads in between do not matter on known
 * processors, but no processor guarantees that: so it limits its attempts.
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
/* Less one stub: index 1 is the first. (A pointer into a table cannot say so in C.) */
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

/* ISB: nothing after it is fetched before everything before it completed (Arm ARM B2.3). */
#define TACH_FENCE() __asm__ volatile("isb" ::: "memory")

/* goto label if the 64-bit word is 0. Opaque to the compiler: two instructions, always. */
#define TACH_UNLESS(word, label)                                                               \
	__asm__ goto("ldr x16, %0\n\tcbz x16, %l1" : : "m"(word) : "x16" : label)

#ifndef __clang__ /* clang 14 does not support the constraint everywhere */
/*
 * Two instructions; otherwise compilers may or may not keep the address of a static object in a
 * register. It uses a word of its own, because a template's object may be preempted. It does
 * not use the GOT, where GNU ld has one entry for all local objects of a section (it uses the
 * section's symbol, which the assembler substitutes, and ignores the addend).
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
 * Single instructions if the processor has them (FEAT_LSE, Armv8.1). Otherwise a loop: a signal
 * handler clears the monitor, so its changes are not lost; but an interrupt does so too, and
 * repeats the loop, which the enclosing region counts. `single` is constant while the thread
 * counts, so that calibration takes the same path.
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
/* Each half is written at once (Arm ARM B2.2.1), as snapshots require. */
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

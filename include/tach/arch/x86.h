/* SPDX-License-Identifier: MIT */
/* One counter read, one clock read, one fence. Included by tach/arch.h only. */
#ifndef TACH_ARCH_H
#error "include <tach/arch.h>"
#endif

#define TACH_ARCH_FAST	  1
#define TACH_ARCH_SIGNED  0
#define TACH_STUBS(width) ((const char *)0)

/* Pages have 4096 bytes (Intel SDM vol. 3, 4.3): a constant. */
#define TACH__PAGE_SIZE 4096

/*
 * Instructions are in both dialects of the assembler, {AT&T|Intel}, because a program may be
 * built with -masm=intel. In that dialect, gcc writes the size of a memory operand itself;
 * clang does not.
 */
#ifdef __clang__
#define TACH__SIZED(size) size " ptr "
#else
#define TACH__SIZED(size)
#endif

/* Budget tests replace it by RDTSC, because they also run where RDPMC cannot. */
#ifndef TACH_COUNTER_INSN
#define TACH_COUNTER_INSN "rdpmc"
#endif

/*
 * RDPMC (Intel SDM vol. 2; AMD APM vol. 3): ECX = counter, EDX:EAX = its value. Bit 30 of ECX
 * selects Intel's fixed counters; the kernel's index includes it. EAX and EDX are written as
 * 64-bit registers (the upper halves are cleared), so combining them takes a shift and an
 * addition; 32-bit outputs would need two zero-extensions in addition.
 *
 * A counter that the kernel hides from user space reads 0, without a fault (RDPMC user disable,
 * CPUID 23H.0:EBX[2]). Linux 7.0 and 7.1 hide counters although their pages allow reading. So 0
 * means "cannot be read here", as a fault does. Counting events start at -2^(width - 1)
 * (arch/x86/events/core.c, x86_perf_event_set_period), so 0 is a count only at the instant of
 * an overflow, and then read(2) returns it as well. The test is one instruction per counter;
 * ADD and JZ are one operation for Intel's decoders (Optimization Reference Manual,
 * macro-fusion).
 */
#define TACH_COUNTER(way, number, value, seen)                                                 \
	TACH__COUNTER_AT("shl {$32, %%rdx|rdx, 32}", number, value, seen)
/* 48 bits, sign-extended: to the top of RDX, and back with copies of the sign. */
#define TACH_COUNTER_48(way, number, value, seen)                                              \
	TACH__COUNTER_AT("shl {$48, %%rdx|rdx, 48}\n\tsar {$16, %%rdx|rdx, 16}", number,       \
			 value, seen)
/* `place` moves EDX to its place in RDX. */
#define TACH__COUNTER_AT(place, number, value, seen)                                           \
	__asm__ volatile(".Ltach_at%=:\n\t" TACH_COUNTER_INSN "\n\t" place                     \
			 "\n\tadd {%%rdx, %0|%0, rdx}\n"                                       \
			 "\tjz .Ltach_revoked%=\n.Ltach_on%=:\n"                               \
			 "\t.subsection 1\n"                                                   \
			 ".Ltach_revoked%=:\n\tor {$1, %1|%1, 1}\n\tjmp .Ltach_on%=\n"         \
			 "\t.previous\n" TACH__EX_RECORD(".Ltach_at%=", ".Ltach_revoked%=",    \
							 ".long tach__abi_1@GOTPCREL")         \
			 : "=a"(value), "+r"(seen)                                             \
			 : "c"(number)                                                         \
			 : "rdx", "memory", "cc")
#ifdef TACH_BUILD
#include <cpuid.h>
/* For processors that do not hide counters: omits the test for 0, and leaves shift and sum to
 * the compiler. `seen` is in memory, because only a fault uses it. */
#define TACH_COUNTER_SHOWN_MEMORY 1
#define TACH_COUNTER_SHOWN(way, number, value, seen)                                           \
	do {                                                                                   \
		uint64_t tach__low, tach__high;                                                \
		__asm__ volatile(".Ltach_at%=:\n\t" TACH_COUNTER_INSN                          \
				 "\n.Ltach_on%=:\n\t.subsection 1\n"                           \
				 ".Ltach_revoked%=:\n\tor{l $1, %2| " TACH__SIZED(             \
					 "dword") "%2, 1}\n\tjmp .Ltach_on%=\n"                \
						  "\t.previous\n" TACH__EX_RECORD(             \
							  ".Ltach_at%=", ".Ltach_revoked%=",   \
							  ".long tach__abi_1@GOTPCREL")        \
				 : "=a"(tach__low), "=d"(tach__high), "+m"(seen)               \
				 : "c"(number)                                                 \
				 : "memory", "cc");                                            \
		(value) = tach__low + (tach__high << 32);                                      \
	} while (0)
#define TACH_COUNTER_STALE 1
/* CPUID 23H.0:EBX[2] (Intel SDM vol. 2): RDPMC user disable. */
#define TACH_COUNTERS_HIDE()                                                                   \
	__extension__({                                                                        \
		unsigned tach__a, tach__b = 0, tach__c, tach__d;                               \
		(void)(__get_cpuid_count(0x23, 0, &tach__a, &tach__b, &tach__c, &tach__d));    \
		tach__b >> 2 & 1;                                                              \
	})
#endif

/* RDPMC needs index - 1. SUB computes it, and its borrow is the test for index 0. From C,
 * compilers often generate a second test. */
TACH__INLINE int tach__number(uint32_t index, uint32_t *number)
{
	int none;

	__asm__("sub {$1, %0|%0, 1}" : "+r"(index), "=@ccc"(none));
	*number = index;
	return none;
}
#define TACH_NUMBER(index, number) tach__number(index, &(number))

/* The compiler must not know the value before the addition, or it loads the operand first. */
#define TACH_ADD(value, operand)                                                               \
	do {                                                                                   \
		__asm__("" : "+r"(value));                                                     \
		(value) += TACH__CAST(uint64_t, operand);                                      \
		__asm__ volatile("" : "+r"(value) : : "memory");                               \
	} while (0)

/* The pages follow the reader at a fixed distance. So a page's address is a constant
 * displacement, which saves one load per counter compared with a table of pointers. */
TACH__INLINE const struct perf_event_mmap_page *tach__page(const void *reader, size_t i)
{
	const void *page = TACH__CAST(const char *, reader) + (i + 1) * TACH__PAGE_SIZE;

	return TACH__CAST(const struct perf_event_mmap_page *, page);
}
#define TACH_PAGE(reader, i) tach__page(reader, i)

#ifdef TACH_BUILD
/* A stale table may name an address that has other code now, so check that it is RDPMC. */
#define TACH_FAULT_PC(context)	 ((context)->uc_mcontext.gregs[REG_RIP])
#define TACH_FAULT_SITE(context) TACH_FAULT_PC(context)
#define TACH_FAULT_OURS(pc)	 (memcmp((const void *)(pc), "\x0f\x33", 2) == 0)
#endif

/* RDTSC: EDX:EAX, upper halves cleared. Constant rate if CPUID 80000007H:EDX[8] is set. */
TACH_API_INLINE uint64_t tach_clock(void)
{
	uint64_t value;

	__asm__ volatile("rdtsc\n\tshl {$32, %%rdx|rdx, 32}\n\tor {%%rdx, %0|%0, rdx}"
			 : "=a"(value)
			 :
			 : "rdx", "cc");
	return value;
}

/*
 * LFENCE waits until all earlier instructions have completed locally. Later instructions start
 * after that (Intel SDM vol. 2, LFENCE; AMD APM vol. 3: dispatch-serialising, as configured by
 * Linux). CPUID is not used, because it traps in virtual machines.
 */
#define TACH_FENCE() __asm__ volatile("lfence" ::: "memory")

/* goto label if the 64-bit word is 0. Always two instructions, opaque to the compiler. */
#if defined(__clang__) && defined(__CET__)
/* With -fcf-protection, clang puts a landing pad at each label to which assembly may jump. */
#define TACH_UNLESS(word, label)                                                               \
	do {                                                                                   \
		int tach__is_zero;                                                             \
		__asm__ volatile("cmp{q $0, %1| " TACH__SIZED("qword") "%1, 0}"                \
				 : "=@cce"(tach__is_zero)                                      \
				 : "m"(word));                                                 \
		if (TACH_UNLIKELY(tach__is_zero))                                              \
			goto label;                                                            \
	} while (0)
#else
#define TACH_UNLESS(word, label)                                                               \
	__asm__ goto("cmp{q $0, %0| " TACH__SIZED("qword") "%0, 0}\n\tje %l1"                  \
		     :                                                                         \
		     : "m"(word)                                                               \
		     : "cc"                                                                    \
		     : label)
#endif
/* Sets a 64-bit word to 0: one instruction, where gcc -Os uses two. */
#define TACH__CLEAR(word)                                                                      \
	__asm__ volatile("mov{q $0, %0| " TACH__SIZED("qword") "%0, 0}" : "=m"(word))

/* One instruction: no signal handler of this thread can run in the middle. */
#define TACH_BUMP(word, by)                                                                    \
	__asm__ volatile("add{q %1, %0| " TACH__SIZED("qword") "%0, %1}"                       \
			 : "+m"(word)                                                          \
			 : "er"(TACH__CAST(uint64_t, by))                                      \
			 : "cc")
#define TACH_COUNT(word, by, single) TACH_BUMP(word, by)

/* Moves a 64-bit value to a vector register, and back. This takes one more instruction, but
 * saving a general register for the caller would take two. */
#define TACH_PARK(value)                                                                       \
	__extension__({                                                                        \
		uint64_t tach__parked;                                                         \
		__asm__("movq {%1, %0|%0, %1}" : "=x"(tach__parked) : "r"(value));             \
		tach__parked;                                                                  \
	})
#define TACH_UNPARK(value)                                                                     \
	__extension__({                                                                        \
		uint64_t tach__back;                                                           \
		__asm__("movq {%1, %0|%0, %1}" : "=r"(tach__back) : "x"(value));               \
		tach__back;                                                                    \
	})

/* Sets bit 0 of the 64-bit word; returns its old value. */
#define TACH_TAKE(word, single)                                                                \
	__extension__({                                                                        \
		int tach__was;                                                                 \
		__asm__ volatile("bts{q $0, %0| " TACH__SIZED("qword") "%0, 0}"                \
				 : "+m"(word), "=@ccc"(tach__was));                            \
		tach__was;                                                                     \
	})

/* Adds the carry of the comparison, which is 0 if the word is at its maximum. */
#define TACH_SATURATE(word)                                                                    \
	__asm__ volatile(                                                                      \
		"cmp{l $-1, %0| " TACH__SIZED(                                                 \
			"dword") "%0, -1}\n\tadc{l $0, %0| " TACH__SIZED("dword") "%0, 0}"     \
		: "+m"(word)                                                                   \
		:                                                                              \
		: "cc")

/* below = a < b ? below : other, without a branch: the same number of instructions. */
#define TACH_BELOW(a, b, below, other)                                                         \
	__asm__("cmp{l %2, %1| %1, " TACH__SIZED("dword") "%2}\n\tcmovae {%3, %0|%0, %3}"      \
		: "+r"(below)                                                                  \
		: "r"(TACH__CAST(uint32_t, a)), "m"(b), "r"(other)                             \
		: "cc")

#define TACH_ARCH_NAME		    "x86-64"
#define TACH_ARCH_LOOP_INSTRUCTIONS 2u
TACH_INLINE void tach__arch_loop(uint64_t n)
{
	__asm__ volatile("1:\tsub {$1, %0|%0, 1}\n\tjnz 1b" : "+r"(n) : : "cc");
}

/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * The only place that distinguishes architectures, and the contract of their headers.
 *
 * include/tach/arch/X.h defines the following. It may leave out macros marked * if
 * TACH_ARCH_FAST is 0.
 *
 *   TACH_ARCH_NAME               Its name in a report; the folder of arch/ with its tables.
 *   TACH_ARCH_FAST               1 if counters can be read in user space, else 0.
 *   TACH_ARCH_SIGNED             1 if TACH_COUNTER gives values already extended by sign.
 *
 *   TACH_PAGE(reader, i)         Address of member i's page, computed in the cheapest way;
 *                                default: C.
 *   TACH_STUBS(width)            way.stubs for a counter of that width (library only).
 * * TACH_NUMBER(index, number)   Sets number to TACH_COUNTER's argument for a page's index. The
 *                                expression is true if index is 0. Default: the index.
 * * TACH_COUNTER(way, number, value, seen)
 *                                Reads one counter into value: 64 bits, raw or extended by
 *                                sign. If the instruction faults after tach_fault_install()
 *                                was called, `seen` is odd afterwards. A compiler barrier.
 * * TACH_COUNTER_48(...)         The same for a counter of 48 bits, extended by sign; default:
 *                                TACH_COUNTER and C.
 *   TACH_COUNTER_SHOWN(...)      Used if TACH_COUNTERS_HIDE() is 0; default: TACH_COUNTER.
 *   TACH_COUNTER_SHOWN_MEMORY    1 if its `seen` is a word in memory; default: 0.
 *   TACH_COUNTER_STALE           1 if TACH_COUNTER accepts a number that the page showed
 *                                before, or 0 if none is known yet. Its value is then
 *                                arbitrary, without other effects. Default: 0.
 * * TACH_COUNTER_AT(at, value, seen)
 *                                Reads by the address of the counter's code, which may be one
 *                                that TACH_COUNTER_SEE gave before (library only).
 * * TACH_COUNTER_SEE(at, way, seen)
 *                                Stores the address for the page's index in `at`, and the
 *                                page's lock in `seen`. If a signal handler stores to `at`
 *                                meanwhile, its value stays. 0 if the page forbids reads
 *                                (library only).
 *   TACH_COUNTERS_HIDE()         1 if this processor can hide counters: TACH_COUNTER then tests
 *                                for a special value; default: 1 (library only).
 *   tach__word                   Type for the lock and index of a page, at least 32
 *                                bits; TACH_WORD(value) truncates it to 32 bits; default:
 *                                uint32_t.
 * * TACH_ADD(value, operand)     value += operand, operand in memory. A compiler barrier;
 *                                default: plain C.
 *
 * * TACH_FAULT_PC(context), TACH_FAULT_SITE(context), TACH_FAULT_OURS(pc)
 *                                For a ucontext_t: the program counter, and the address in the
 *                                record of the counter instruction if that faulted. The last
 *                                is true if a counter instruction is at pc (library only).
 *   TACH_ARCH_FAULTS             1 if a correct read may fault, so that opening a reader
 *                                installs the handler of tach/fault.h; default: 0.
 *   TACH_ARCH_UNREADABLE(attr)   1 if that event's page must not be read although it permits
 *                                reading (library only); default: 0.
 *   TACH_ARCH_UNDIVIDED          1 if there are PMUs that cannot exclude a privilege level
 *                                (EINVAL); default: 0.
 *   TACH_ARCH_ASKS               1 if an event requests user access, and its counter's
 *                                width, in config1 (arm64); default: 0.
 *   TACH_WIDTH(width)            1 if counters of this number of bits can be read (library
 *                                only); default: 1 for 1 to 64 bits.
 *   TACH_ARCH_WATCHDOG           1 if the kernel's NMI watchdog takes a counter; default: 1.
 *
 *   tach_clock()                 One clock read (TSC, CNTVCT, ITC); 0 if there is no clock.
 *   TACH_FENCE()                 Earlier instructions complete before later ones start.
 *   tach__arch_loop(n)           Runs n > 0 iterations, each of TACH_ARCH_LOOP_INSTRUCTIONS
 *                                instructions. Verifies counts.
 *
 * The next five take the same number of instructions at every place and for every value;
 * default: plain C.
 *   TACH_UNLESS(word, label)     goto label if the 64-bit word is 0.
 *   TACH__CLEAR(word)            A pointer becomes NULL.
 *   TACH_ADDRESS(object)         Address of a static object.
 *   TACH_ADDRESS_PAD()           Instructions that TACH_ADDRESS takes in addition to those for
 *                                the address of an object on the stack.
 *   TACH_HIGHEST(value)          Number of the highest bit set in a uint64_t that is not 0.
 *
 * The next seven are optional: regions use them in place of C if the processor needs only one
 * instruction, or no branch. A handler here is a signal handler of this thread.
 *
 * * TACH_BUMP(word, by)          word += by, 64 bits. A handler does not tear it.
 * * TACH_COUNT(word, by, single) TACH_BUMP for a word that a handler may change.
 * * TACH_BUMP_TWO(one, a, two, b)
 *                                one += a; two += b: words of 64 bits, `two` follows `one`; no
 *                                handler changes them.
 * * TACH_SATURATE(word)          word += 1, 32 bits, without a branch; 2^32 - 1 stays. Below
 *                                that limit, increments of a handler are not lost.
 * * TACH_BELOW(a, b, below, other)
 *                                below = a < b ? below : other, without a branch. a and b are
 *                                compared as 32 bits; below and other are pointers.
 * * TACH_TAKE(word, single)      Sets bit 0 of the 64-bit word. Returns its old value. A
 *                                handler cannot interrupt it.
 *   TACH_SINGLE()                `single` for both: 1 if this processor needs one instruction,
 *                                0 if it needs several; default: 1 (library only).
 *   TACH_ONCE_IS_VOLATILE        1 if volatile is a better way than a relaxed atomic
 *                                to load or store one word; default: 0.
 * * TACH_PARK(value)             Moves the value to a register that cannot hold an address
 *   TACH_UNPARK(value)           and need not be saved; UNPARK moves it back.
 */
/* clang-format on */
#ifndef TACH_ARCH_H
#define TACH_ARCH_H

#include <tach/base.h>

/*
 * A counter instruction's record in section tach_ex: its address, and the address to continue
 * at if it faults (the landing), each relative to its own place. The record is an ELF note
 * (name "tach", type 1), so that the library finds the table through PT_NOTE at run time,
 * without section headers or symbols. (With __start_tach_ex, --gc-sections would keep all
 * records and their functions.) "o" ties the record to the text that it describes: a linker
 * that drops the function drops the record too. If the function is in a group (COMDAT), "?"
 * adds the record to that group. The record's third word refers to tach__abi_1: a program built
 * against another layout does not link. On x86 this reference uses the GOT, because GNU ld
 * refuses R_X86_64_NONE against a symbol of a shared library.
 *
 * The landing is a few instructions after the function, in the same section. They make the copy
 * of the page's lock odd, so that the comparison after each read fails and leads to the slow
 * path. (asm goto would land there directly; with outputs, gcc before 11.5, 12.4 and 13.3
 * miscompiles it.)
 */
#define TACH__EX_RECORD(at, landing, abi)                                                      \
	"\t.pushsection tach_ex, \"ao?\", @note, " at "\n"                                     \
	"\t.balign 4\n"                                                                        \
	"\t.globl tach__abi_1\n"                                                               \
	"\t.long 5, 12, 1\n"                                                                   \
	"\t.asciz \"tach\"\n"                                                                  \
	"\t.balign 4\n"                                                                        \
	"\t.long " at " - .\n"                                                                 \
	"\t.long " landing " - .\n"                                                            \
	"\t" abi "\n"                                                                          \
	"\t.popsection\n"

TACH_BEGIN_DECLS

/* One read of the clock: TSC, CNTVCT or ITC; 0 if there is no clock. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API uint64_t tach_clock(void);

TACH_END_DECLS

#if defined(__x86_64__) && !defined(__ILP32__)
#include <tach/arch/x86.h>
#elif defined(__i386__) || defined(__x86_64__)
#error "libtach reads counters in 64-bit x86 programs only"
#elif defined(__aarch64__)
#include <tach/arch/arm64.h>
#elif defined(__riscv) && __riscv_xlen == 64
#include <tach/arch/riscv64.h>
#elif defined(__ia64__)
#include <tach/arch/ia64.h>
#else
#include <tach/arch/none.h>
#endif

#ifndef TACH_WORD
typedef uint32_t tach__word;
#define TACH_WORD(value) (value)
#endif
#ifndef TACH_PAGE
#define TACH_PAGE(reader, i) ((reader)->way[i].page)
#endif
#ifndef TACH_NUMBER
#define TACH_NUMBER(index, number) (((number) = (index)) == 0)
#endif
#ifndef TACH_ADD
#define TACH_ADD(value, operand)                                                               \
	do {                                                                                   \
		(value) += TACH__CAST(uint64_t, operand);                                      \
		__asm__ volatile("" : "+r"(value) : : "memory");                               \
	} while (0)
#endif
#ifndef TACH_ARCH_FAULTS
#define TACH_ARCH_FAULTS 0
#endif
#ifndef TACH_ARCH_UNDIVIDED
#define TACH_ARCH_UNDIVIDED 0
#endif
#ifndef TACH_ARCH_WATCHDOG
#define TACH_ARCH_WATCHDOG 1
#endif
#ifndef TACH_ARCH_ASKS
#define TACH_ARCH_ASKS 0
#endif
#ifndef TACH_WIDTH
#define TACH_WIDTH(width) ((width) >= 1 && (width) <= 64)
#endif
#ifndef TACH_ARCH_UNREADABLE
#define TACH_ARCH_UNREADABLE(attr) ((void)(attr), 0)
#endif
#ifndef TACH_COUNTER_SHOWN
#define TACH_COUNTER_SHOWN TACH_COUNTER
#endif
#ifndef TACH_COUNTER_SHOWN_MEMORY
#define TACH_COUNTER_SHOWN_MEMORY 0
#endif
#ifndef TACH_COUNTER_STALE
#define TACH_COUNTER_STALE 0
#endif
#ifndef TACH_COUNTERS_HIDE
#define TACH_COUNTERS_HIDE() 1
#endif
#ifndef TACH_ONCE_IS_VOLATILE
#define TACH_ONCE_IS_VOLATILE 0
#endif
#ifndef TACH_SINGLE
#define TACH_SINGLE() 1
#endif
#ifndef TACH_ADDRESS
#define TACH_ADDRESS(object) (&(object))
#endif
#ifndef TACH_ADDRESS_PAD
#define TACH_ADDRESS_PAD() ((void)0)
#endif
#ifndef TACH_HIGHEST
#define TACH_HIGHEST(value) (63u - TACH__CAST(unsigned, __builtin_clzll(value)))
#endif
#ifndef TACH__CLEAR
#define TACH__CLEAR(word) ((word) = TACH__NULL)
#endif
#ifndef TACH_UNLESS
#define TACH_UNLESS(word, label)                                                               \
	do {                                                                                   \
		if (!(word))                                                                   \
			goto label;                                                            \
	} while (0)
#endif

#endif

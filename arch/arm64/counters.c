/* SPDX-License-Identifier: MIT */
/*
 * The counter instructions of arm64 (include/tach/arch/arm64.h explains how they are reached):
 * two tables of stubs of 16 bytes, the first for index 1 of a perf page. A stub returns the
 * value in x17, and returns by x30; nothing else changes.
 *
 * PMEVCNTR<n>_EL0 for n = 0 .. 30, then PMCCNTR_EL0, which is index 32 (Linux,
 * drivers/perf/arm_pmuv3.c, armv8pmu_user_event_idx). The assembler generates the numbers. If
 * the library is built for guarded pages, a stub begins with BTI (a hint that older CPUs
 * ignore); MRS of a 32-bit counter clears the upper half, and SXTW then extends the sign.
 */
#ifdef __aarch64__
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define LANDING "hint #34\n"
#else
#define LANDING ""
#endif
#define TABLE(name, extend)                                                                    \
	".balign 16\n"                                                                         \
	".globl " name "\n.hidden " name "\n.type " name ", %function\n" name ":\n"            \
	".set tach__n, 0\n"                                                                    \
	".rept 31\n"                                                                           \
	".balign 16\n" LANDING "mrs_pmevcntr %tach__n\n" extend "ret\n"                        \
	".set tach__n, tach__n + 1\n"                                                          \
	".endr\n"                                                                              \
	".balign 16\n" LANDING "mrs x17, pmccntr_el0\n" extend "ret\n"                         \
	".size " name ", . - " name "\n"

__asm__(".pushsection .text.tach__counters, \"ax\", %progbits\n"
	".altmacro\n"
	".macro mrs_pmevcntr n\n"
	"mrs x17, pmevcntr\\n\\()_el0\n"
	".endm\n" TABLE("tach__counters32", "sxtw x17, w17\n")
		TABLE("tach__counters64", "") ".globl tach__counters_end\n.hidden "
					      "tach__counters_end\ntach__counters_end:\n"
					      ".noaltmacro\n"
					      ".popsection\n");
#endif

/* SPDX-License-Identifier: MIT */
/* Flags that tell how a value was obtained. Sums and formulas combine them with or. */
#ifndef TACH_FLAGS_H
#define TACH_FLAGS_H

/* The values of these bits never change. Preserve unknown bits. 0 = exact, uninterrupted. */
#define TACH_FLAG_RESCHEDULED                                                                  \
	0x0001u /* rescheduled, but counted all the time; an edge was read twice:              \
		   docs/limits.md has the possible error */
#define TACH_FLAG_INCOMPLETE 0x0002u /* did not count for part of the time */
#define TACH_FLAG_SYSCALL    0x0004u /* at least one end was read by read(2) */
#define TACH_FLAG_SCALED     0x0008u /* scaled up: multiplexed, or sets took turns */
#define TACH_FLAG_MIXED	     0x0010u /* the two ends were read in different ways */
#define TACH_FLAG_LOST	     0x0020u /* not measured: error state, not open, or reset */
#define TACH_FLAG_CLOCK	     0x0040u /* the frequency of the clock is an estimate */
#define TACH_FLAG_DIVZERO    0x0080u /* a formula divided by zero: the value is NaN */
/* the thread was writing the slot, so the snapshot used an older copy */
#define TACH_FLAG_STALE	    0x0100u
#define TACH_FLAG_CORRECTED 0x0400u /* interrupts were subtracted: see TACH_SET_CORRECT */
#define TACH_FLAG_EMULATED  0x0800u /* counted by an emulator: tach-run-emulate(1) */
#define TACH_FLAG_SHARED    0x1000u /* counts the whole machine, all programs together */
#define TACH_FLAG_SMALL	    0x0200u /* smaller than the overhead's error: not reliable */
/* The error of the value is unknown: `error` is the value itself. */
#define TACH_FLAG_UNBOUNDED 0x2000u

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Provenance: how a value was obtained. Or-ed into sums, carried through formulas into reports.
 */
#ifndef TACH_FLAGS_H
#define TACH_FLAGS_H

/* The bits' values are frozen; preserve unknown bits. 0 = exact, uninterrupted. */
#define TACH_FLAG_RESCHEDULED                                                                  \
	0x0001u /* taken off and put back in between: no time without counters; an edge was    \
		   read twice, and docs/limits.md says how far off that may be */
#define TACH_FLAG_INCOMPLETE 0x0002u /* did not count part of the time */
#define TACH_FLAG_SYSCALL    0x0004u /* at least one end was read by read(2) */
#define TACH_FLAG_SCALED     0x0008u /* multiplexed, by enabled / running; or of turns of sets */
#define TACH_FLAG_MIXED	     0x0010u /* the two ends were read in different ways */
#define TACH_FLAG_LOST	     0x0020u /* error state, not open, reset: no measurement */
#define TACH_FLAG_CLOCK	     0x0040u /* clock whose frequency is an estimate */
#define TACH_FLAG_DIVZERO    0x0080u /* formula divided by zero: NaN */
/* snapshot used the latched copy of a slot that was being written */
#define TACH_FLAG_STALE	    0x0100u
#define TACH_FLAG_CORRECTED 0x0400u /* interrupts were subtracted: see TACH_SET_CORRECT */
#define TACH_FLAG_EMULATED  0x0800u /* counted by an emulator: tach-run-emulate(1) */
#define TACH_FLAG_SHARED    0x1000u /* counts the whole machine, all programs together */
#define TACH_FLAG_SMALL	    0x0200u /* smaller than the overhead's error: not reliable */
/* The error of the value is unknown: `error` is the value itself. */
#define TACH_FLAG_UNBOUNDED 0x2000u

#endif

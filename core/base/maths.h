/* SPDX-License-Identifier: MIT */
/*
 * The few functions of <math.h> that are neither an instruction nor in libc. They are our own,
 * because nothing else needs libm: mapping it takes the dynamic linker a fifth of the time from
 * a process's start to its first encoded event.
 *
 * Relative errors are below 1e-13. Arguments must be finite.
 */
#ifndef TACH_CORE_BASE_MATHS_H
#define TACH_CORE_BASE_MATHS_H

double tach__log(double x);  /* x > 0 */
double tach__exp(double x);  /* x <= 700; below -740: 0 */
double tach__erfc(double x); /* x >= 0 */

#endif

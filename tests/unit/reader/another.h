/* SPDX-License-Identifier: MIT */
/*
 * Allows including the header of another architecture: this file is included after each header
 * except the last.
 */
#undef TACH_ARCH_FAST
#undef TACH_ARCH_SIGNED
#undef TACH_STUBS
#undef TACH_FENCE
#undef TACH_ARCH_NAME
#undef tach_clock
#undef tach__arch_loop

/* SPDX-License-Identifier: MIT */
/* Allows including another architecture's header: included after each except the last one. */
#undef TACH_ARCH_FAST
#undef TACH_ARCH_SIGNED
#undef TACH_STUBS
#undef TACH_FENCE
#undef TACH_ARCH_NAME
#undef tach_clock
#undef tach__arch_loop

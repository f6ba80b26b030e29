/* SPDX-License-Identifier: MIT */
/* The counters that this machine's devicetree gives to an event. */
#ifndef TACH_ARCH_RISCV64_TREE_H
#define TACH_ARCH_RISCV64_TREE_H

#include <stdint.h>

/* Bit n of a mask is counter CSR 0xc00 + n: 3-31 are the hpmcounters. */
#define TACH__RISCV_HPM 0xfffffff8u

/* The devicetree's names of events: event_idx of the SBI PMU extension, or a value of
 * mhpmevent. */
enum tach__riscv_code { TACH__RISCV_SBI, TACH__RISCV_RAW };

/*
 * Returns the hpmcounters that may count the event on the machine under `root`; 0: none; -1:
 * the tree has no data. With code -1, returns those that may count any event.
 */
int64_t tach__riscv64_placed(const char *root, enum tach__riscv_code kind, uint64_t code);

#endif

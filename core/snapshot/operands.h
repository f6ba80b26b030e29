/* SPDX-License-Identifier: MIT */
/* Operands: the quantities that a region's metric uses. */
#ifndef TACH_CORE_SNAPSHOT_OPERANDS_H
#define TACH_CORE_SNAPSHOT_OPERANDS_H

#include <tach/snapshot.h>

struct tach__operands {
	uint32_t count;
	/* The arrays have room for the quantities of several sets, because merged reports have
	 * several. */
	uint64_t n[TACH_FORMULA_OPERANDS_MAX], raw[TACH_FORMULA_OPERANDS_MAX];
	double error[TACH_FORMULA_OPERANDS_MAX];
	uint32_t flags[TACH_FORMULA_OPERANDS_MAX];
	struct tach_value time;
};

void tach__operands_put(struct tach__operands *o, uint32_t i, const struct tach_value *v);
void tach__operands_derive(const struct tach__operands *o, const struct tach_formula *f,
			   struct tach_value *value);

#endif

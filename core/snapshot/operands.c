/* SPDX-License-Identifier: MIT */
/* Operands: the quantities that a region's metric uses. */
#include <math.h>
#include "core/formula/formula.h"
#include "core/snapshot/operands.h"

static uint64_t round_count(double v)
{
	return v > 0 && v < 0x1p63 ? (uint64_t)(v + 0.5) : 0;
}

void tach__operands_put(struct tach__operands *o, uint32_t i, const struct tach_value *v)
{
	o->n[i] = round_count(v->value);
	o->raw[i] = round_count(v->raw);
	o->error[i] = v->error;
	o->flags[i] = v->flags;
}

void tach__operands_derive(const struct tach__operands *o, const struct tach_formula *f,
			   struct tach_value *value)
{
	static const uint32_t kept = TACH_FLAG_STALE | TACH_FLAG_UNBOUNDED | TACH_FLAG_LOST;
	uint32_t ignored = 0;

	value->flags = tach_formula_flags(f, o->flags);
	if (tach__formula_is_timed(f))
		value->flags |= o->time.flags & kept;
	value->share = 0;
	value->value = tach__formula_bound(f, o->n, o->error, o->time.value, o->time.error,
					   &value->error, &value->flags);
	value->raw = tach_formula_eval(f, o->raw, o->time.raw, &ignored);
	value->overhead = value->raw - value->value;
	if (!isfinite(value->overhead))
		value->overhead = 0;
	if (!isfinite(value->error))
		value->error = 0;
	if (value->error > 0 && fabs(value->value) <= value->error)
		value->flags |= TACH_FLAG_SMALL;
}

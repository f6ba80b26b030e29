/* SPDX-License-Identifier: MIT */
/* Functions that the back ends of register dispatch share. */
#include <stdarg.h>
#include <stdio.h>
#include "core/base/error.h"
#include "core/port/registers.h"

static void put(struct tach_register *list, uint32_t *count, unsigned number, uint64_t value,
		uint64_t address, uint64_t alternative)
{
	struct tach_register *r = &list[(*count)++];

	r->number = number;
	r->value = value;
	r->address = address;
	r->alternative = alternative;
}

int tach__pmc(struct tach__dispatch *d, unsigned number, uint64_t value, uint64_t address,
	      uint64_t alternative)
{
	if (!tach__available(d, number))
		return tach__dispatch_error(d, TACH_ERR_NOASSIGN,
					    "PMC%u is needed but not available", number);
	put(d->out->pmcs, &d->out->npmcs, number, value, address, alternative);
	return 0;
}

void tach__pmd(struct tach__dispatch *d, unsigned number, uint64_t address,
	       uint64_t alternative)
{
	put(d->out->pmds, &d->out->npmds, number, 0, address, alternative);
}

int tach__dispatch_error(const struct tach__dispatch *d, int code, const char *format, ...)
{
	char text[sizeof d->err->text];
	va_list args;

	if (!d->err)
		return code;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return tach__error(d->err, code, 0, 0, "%s", text);
}

uint64_t tach__any_general(const struct tach__pmu *pmu)
{
	if (pmu->general_mask)
		return pmu->general_mask;
	return pmu->general_libpfm4 ? (1ull << pmu->general_libpfm4) - 1 : 0x7fffffff;
}

int tach__is_in_revision(uint32_t attrs, uint32_t revision)
{
	uint64_t n;

	if (!revision || !tach__attr(attrs, TACH__A_REV, &n, NULL))
		return 1;
	return revision >= (n & 0xff) && (!(n >> 8) || revision <= n >> 8);
}

/* SPDX-License-Identifier: MIT */
/* Reads the counts of an open region so far. */
#include <string.h>
#include "core/base/error.h"
#include "core/region/beacon.h"
#include "core/region/reads.h"
#include "core/region/region.h"

/* Returns 1 if the entry began in this opening of this thread and is still open. */
static int is_open(const struct tach__hot *self, const struct tach_region_mark *mark)
{
	uint64_t state = TACH__GET(self->state);

	return mark->end && self->record &&
	       TACH__OPENING(state) == TACH__OPENING(mark->state) &&
	       TACH__LEVEL(state) > TACH__LEVEL(mark->state);
}

int tach__region_read_here(const struct tach_region_mark *mark, uint64_t *values, int n,
			   uint32_t *flags, uint32_t *generation)
{
	const struct tach__hot *self = tach__self;
	struct tach__reading r;
	uint32_t sums;

	if (!is_open(self, mark))
		return TACH_ERR_STATE;
	/* Reads again if regions of a handler ended during the reads. */
	while (!tach__edges_stop(self, mark, TACH__GET(self->state), &r, 0))
		;
	tach__edges_since(self, mark, &r);
	sums = self->count + 1;
	memcpy(values, r.delta, (n < (int)sums ? (uint32_t)n : sums) * sizeof *values);
	*flags = r.flags;
	*generation = self->record->config->generation;
	return (int)sums;
}

int tach_region_read(const struct tach_region_mark *mark, uint64_t *values, int n,
		     uint32_t *flags, uint32_t *generation)
{
	const struct tach__beacon *owner = tach__beacon_owner();

	if (n < 0)
		return TACH_ERR_INVAL;
	if (!owner)
		return tach__region_read_here(mark, values, n, flags, generation);
	if (owner->size <= offsetof(struct tach__beacon, read))
		return TACH_ERR_NOTSUPP;
	return owner->read(mark, values, n, flags, generation);
}

/* SPDX-License-Identifier: MIT */
/*
 * An entry's exact additions to words other than its sums: in sparse mode, and if its counters
 * were lost. The kernel is simulated; the clock is real, and the test takes its values from the
 * sums.
 */
#include "core/region/region.h"
#include "tests/unit/region/regions.h"

enum { MEMBERS = 2, SUMS = MEMBERS + 1 };

static struct tach__slot *slot_of(const struct tach_site *site)
{
	return tach__slot_at(tach__self->record, (uint32_t)site->id);
}

static const struct tach__part *part_of(const struct tach_site *site)
{
	return tach__part(slot_of(site), MEMBERS, 0);
}

/* ---- sparse mode ---- */

/*
 * The expected sampling state of a region, computed from the additions of its outermost
 * entries.
 */
struct sampled {
	struct tach_site *site;
	struct tach_region_mark mark;
	uint64_t passed, sum[SUMS];
	uint64_t inside, below[2];
	double square[SUMS];
};

static void begin(struct sampled *s)
{
	s->passed = tach__self->record->passed;
	tach_region_begin(s->site, &s->mark);
	memcpy(s->sum, part_of(s->site)->sum, sizeof s->sum);
}

/* `around`: NULL if the quantity is not measured. `outermost`: of its region. */
static void end(struct sampled *s, struct sampled *around, int outermost)
{
	int measured = s->mark.end != NULL;

	tach_region_end(&s->mark);
	if (!measured || !outermost)
		return;
	s->passed = tach__self->record->passed - s->passed;
	s->inside += s->passed;
	s->below[0] = s->below[1];
	if (around)
		around->below[1] += s->passed;
	for (int i = 0; i < SUMS; i++) {
		double more = (double)(int64_t)(part_of(s->site)->sum[i] - s->sum[i]);

		s->square[i] += more * more;
	}
}

static struct tach_site sites[3] = {
	TACH_SITE_INIT("outer", 0, ""),
	TACH_SITE_INIT("middle", 1, ""),
	TACH_SITE_INIT("leaf", 0, ""),
};

static struct sampled *measured(struct sampled *s)
{
	return s->mark.end ? s : NULL;
}

static void sparse(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .sparse = 3};
	struct sampled s[3] = {{.site = &sites[0]}, {.site = &sites[1]}, {.site = &sites[2]}};
	struct sampled again = {.site = &sites[1]};
	int inner = 0;

	opt.set = fake_set(MEMBERS);
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	for (int i = 0; i < 3; i++) { /* first entries take the slow path */
		tach_region_begin(&sites[i], &s[i].mark);
		tach_region_end(&s[i].mark);
	}
	/* so that every run measures the same entries */
	tach__self->record->random = 88172645463325252u;
	for (int i = 0; i < 3; i++) {
		const struct tach__sampling *is = slot_of(&sites[i])->sampling;

		s[i].inside = is->inside;
		memcpy(s[i].below, is->below, sizeof s[i].below);
		memcpy(s[i].square, is->square, sizeof s[i].square);
	}
	for (int n = 0; n < 500; n++) {
		begin(&s[0]);
		fake_count += 7;
		begin(&s[1]);
		for (int i = 0; i < n % 4; i++) {
			struct sampled *around = measured(&s[1]) ? &s[1] : measured(&s[0]);

			begin(&s[2]);
			fake_count += 3;
			end(&s[2], around, 1);
		}
		if (n % 5 == 0) { /* a nested entry of the same region, if the outermost one is
				     measured */
			int outermost = !measured(&s[1]);

			again = s[1];
			begin(&again);
			inner += !outermost && again.mark.end;
			if (outermost) {
				end(&again, measured(&s[0]), 1);
				again.mark = s[1].mark;
				s[1] = again;
			} else {
				tach_region_end(&again.mark);
			}
		}
		end(&s[1], measured(&s[0]), 1);
		end(&s[0], NULL, 1);
	}
	CHECK(inner > 10, "%d", inner);
	for (int i = 0; i < 3; i++) {
		const struct tach__sampling *is = slot_of(&sites[i])->sampling;

		CHECK(s[i].inside == is->inside && (i == 2 || is->inside > 100),
		      "%d: %d, not %d", i, (int)is->inside, (int)s[i].inside);
		CHECK(memcmp(s[i].below, is->below, sizeof s[i].below) == 0,
		      "%d: %d and %d, not %d and %d", i, (int)is->below[0], (int)is->below[1],
		      (int)s[i].below[0], (int)s[i].below[1]);
		CHECK(memcmp(s[i].square, is->square, sizeof s[i].square) == 0,
		      "%d: %g %g, not %g %g", i, is->square[0], is->square[1], s[i].square[0],
		      s[i].square[1]);
	}
	CHECK(s[0].below[0] > 10 && s[0].square[0] > 0, "%d", (int)s[0].below[0]);
}

/* ---- lost counters ---- */

/* cold: another region inside it ends later, so the cost of the slow path is subtracted. */
static void lose(struct tach_site *site, int cold)
{
	struct tach_region_mark mark, later;

	tach_region_begin(site, &mark);
	for (volatile int i = 0; i < 1000; i++)
		;
	if (cold)
		tach_region_begin(&sites[2], &later);
	fake_count += 100;
	fake_read_empty = 1;
	tach_region_end(&mark);
	fake_read_empty = 0;
	if (cold)
		tach_region_end(&later);
}

/* Only the entry's time is counted, in the sums and wherever the entry is kept. */
static void lost_entry_counts_only_its_time(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .worst = "4"};

	for (int way = 0; way < 4; way++) {
		struct tach_site *site = &sites[way & 1]; /* fenced or not */
		uint64_t before[SUMS], time, calls;
		const struct tach__trace *ring;
		const struct tach__worst *worst;
		union tach__traced_copy got;
		struct tach_region_mark mark;

		setenv("TACH_TRACE", "a", 1);
		opt.set = fake_set(MEMBERS);
		CHECK(tach_regions_configure(&opt, NULL) == 0);
		unsetenv("TACH_TRACE");
		for (int i = 0; i < 2; i++) {
			tach_region_begin(site, &mark);
			tach_region_end(&mark);
		}
		memcpy(before, part_of(site)->sum, sizeof before);
		calls = part_of(site)->calls;
		lose(site, way >> 1);
		time = part_of(site)->sum[0] - before[0];
		CHECK(part_of(site)->calls == calls + 1 && time > 0 &&
		      time < (uint64_t)1 << 50);
		CHECK(memcmp(before + 1, part_of(site)->sum + 1, MEMBERS * sizeof *before) ==
		      0);
		CHECK(slot_of(site)->provenance[5] == 1, "%d",
		      (int)slot_of(site)->provenance[5]);
		ring = tach__self->record->trace;
		CHECK(ring->n == calls + 1 + (uint64_t)(way >> 1) &&
		      tach__trace_get(ring, calls, &got.entry));
		CHECK(got.entry.flags & TACH_FLAG_LOST);
		CHECK(got.entry.sum[0] > 0 && got.entry.sum[0] <= time &&
			      got.entry.sum[1] == 0 && got.entry.sum[2] == 0,
		      "%d %d", (int)got.entry.sum[0], (int)got.entry.sum[1]);
		worst = tach__self->record->worst[site->id];
		for (uint64_t i = 0; i < worst->n; i++) {
			const struct tach__kept *kept = tach__worst_at(worst, i);

			if (!(kept->flags & TACH_FLAG_LOST))
				continue;
			calls = 0;
			CHECK(kept->sum[0] == got.entry.sum[0] && kept->sum[1] == 0 &&
			      kept->sum[2] == 0);
		}
		CHECK(calls == 0);
	}
}

/* ---- counters with a known error ---- */

/*
 * These slots do not belong to a thread, because a thread's own slots have no space for errors
 * here.
 */
static void not_exact(void)
{
	static union tach__slot_copy inner, around;
	struct tach__hot *self;
	uint64_t inclusive = 0, of_self = 0;

	regions_begin(MEMBERS);
	{
		TACH_START(any);
		TACH_STOP(any);
	}
	self = tach__self;
	self->inexact = 2;
	for (int entry = 0; entry < 4; entry++) {
		const int again = entry & 1; /* it is inside another entry of the same region */
		struct tach__part *part = tach__part(&inner.slot, MEMBERS, again);
		struct tach_region_mark mark = TACH_REGION_MARK_INIT;
		struct tach__reading r = {.delta = {10, 20, 30}, .error = entry < 2 ? 7 : 31};
		uint64_t off = entry < 2 ? 7 : 30; /* at most the count itself */

		mark.state = self->state;
		mark.part = part;
		part->outer = (uintptr_t)&mark;
		tach__stack(self, mark.state)[0] = &around.slot;
		tach__stack(self, mark.state)[1] = &inner.slot;
		self->state++;
		tach__edges_add(self, &mark, &r, 0);
		inclusive += again ? 0 : off;
		of_self += off;
		CHECK(tach__inexact(&inner.slot, MEMBERS)->inclusive == inclusive &&
			      tach__inexact(&inner.slot, MEMBERS)->self == of_self &&
			      tach__inexact(&around.slot, MEMBERS)->inclusive == 0 &&
			      tach__inexact(&around.slot, MEMBERS)->self == of_self,
		      "%d", entry);
		CHECK(self->state == mark.state && part->calls == 1 + (unsigned)entry / 2);
	}
	self->inexact = 0;
	tach__stack(self, self->state)[0] = self->record->outside;
	tach_regions_disable();
}

int main(void)
{
	CASE(sparse);
	CASE(lost_entry_counts_only_its_time);
	CASE(not_exact);
	return check_done();
}

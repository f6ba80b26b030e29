/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are a dispatch request, on every PMU: the output is all zero or keeps the promises
 * of <tach/dispatch.h>.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/dispatch/dispatch.h"
#include "core/port/port.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const lists[] = {
	"core",	    "nhm",	    "wsm",	    "p6",	"pii",	    "pm",
	"ppro",	    "coreduo",	    "atom",	    "gen_ia32", "pentium4", "amd64_k7",
	"amd64_k8", "amd64_fam10h", "amd64_fam15h", "gen_ia64",
};
enum { NLISTS = sizeof lists / sizeof *lists };

struct bytes {
	const uint8_t *at, *end;
};

static uint32_t take(struct bytes *b, int n)
{
	uint32_t value = 0;

	for (; n > 0 && b->at < b->end; n--)
		value = value << 8 | *b->at++;
	return value;
}

/* Most sizes are right, because other sizes never reach the code after the check. */
static uint32_t size_of(struct bytes *b, size_t right)
{
	/* A larger size than the struct's would read beyond the struct. */
	return take(b, 1) == 0x5a ? take(b, 2) % (uint32_t)(right + 4) : (uint32_t)right;
}

static void take_event(struct bytes *b, const struct tach__pmu *pmu, int table,
		       struct tach_dispatch_event *e)
{
	uint32_t row = take(b, 2), kind = take(b, 1);

	memset(e, 0, sizeof *e);
	e->event = kind & 1 || !pmu->nevents ? (int32_t)row : (int32_t)(row % pmu->nevents);
	e->privilege = kind & 2 ? take(b, 1) : 0;
	e->flags = kind & 4 ? take(b, 2) : 0;
	e->threshold = kind & 8 ? take(b, 2) : 0;
	e->ism = kind & 16 ? take(b, 1) : 0;
	if (kind & 32) {
		e->numasks = take(b, 1) % (TACH_DISPATCH_UMASKS_MAX + 2);
	} else if (e->event >= 0 && (uint32_t)e->event < pmu->nevents) {
		uint32_t n = tach__event_at(table, e->event)->numasks;

		e->numasks = n != 0;
		e->umasks[0] = n ? (uint16_t)(take(b, 1) % n) : 0;
		return;
	}
	for (uint32_t u = 0; u < e->numasks && u < TACH_DISPATCH_UMASKS_MAX; u++)
		e->umasks[u] = (uint16_t)take(b, 1);
	if (kind & 64) {
		e->ncodes = take(b, 1);
		for (int i = 0; i < TACH_EVENT_CODES_MAX; i++)
			e->codes[i] = take(b, 4);
		e->counters = take(b, 4);
	}
}

static void take_x86(struct bytes *b, struct tach_dispatch_x86 *m)
{
	*m = (struct tach_dispatch_x86){.size = size_of(b, sizeof *m)};
	m->pebs = take(b, 1) & 1;
	m->ldlat = take(b, 1) & 1 ? take(b, 3) : 0;
	m->lbr = take(b, 1) & 1;
	m->lbr_privilege = take(b, 1);
	m->lbr_filter = take(b, 2);
	m->ibs_fetch = take(b, 1) & 1;
	m->ibs_op = take(b, 1) & 1;
	m->ibs_fetch_period = take(b, 4);
	m->ibs_op_period = take(b, 4);
}

static void take_ranges(struct bytes *b, struct tach_dispatch_ranges *r)
{
	r->used = take(b, 1) & 1;
	r->flags = r->used ? take(b, 1) : 0;
	for (uint32_t i = 0; r->used && i < take(b, 1) % 5u && i < 4; i++) {
		r->range[i].start = (uint64_t)take(b, 4) << 32 | take(b, 4);
		r->range[i].end = take(b, 1) & 1 ? r->range[i].start + take(b, 2)
						 : (uint64_t)take(b, 4) << 32 | take(b, 4);
		r->range[i].privilege = take(b, 1);
	}
}

static void take_ear(struct bytes *b, struct tach_dispatch_ear *e)
{
	e->used = take(b, 1) & 1;
	e->mode = take(b, 1) & 3;
	e->privilege = take(b, 1);
	e->umask = take(b, 2);
}

static void take_ia64(struct bytes *b, struct tach_dispatch_ia64 *m)
{
	memset(m, 0, sizeof *m);
	m->size = size_of(b, sizeof *m);
	m->fine_32 = take(b, 1) & 1;
	for (int i = 0; i < 2; i++) {
		m->opcode[i].used = take(b, 1) & 1;
		m->opcode[i].value = (uint64_t)take(b, 4) << 32 | take(b, 4);
		m->opcode[i].mask = m->opcode[i].value;
		m->opcode[i].match = ~m->opcode[i].value;
		m->opcode[i].m = (uint8_t)take(b, 1);
	}
	take_ear(b, &m->iear);
	take_ear(b, &m->dear);
	m->btb.used = take(b, 1) & 1;
	m->btb.tm = (uint8_t)take(b, 1);
	m->btb.privilege = take(b, 1);
	m->ipear.used = take(b, 1) & 1;
	m->ipear.delay = (uint8_t)take(b, 1);
	take_ranges(b, &m->code);
	take_ranges(b, &m->data);
}

#define insist(holds)                                                                          \
	do {                                                                                   \
		if (!(holds)) {                                                                \
			fprintf(stderr, "line %d: not %s\n", __LINE__, #holds);                \
			abort();                                                               \
		}                                                                              \
	} while (0)

static int is_zero(const void *p, size_t n)
{
	const unsigned char *at = p;

	while (n && !*at)
		at++, n--;
	return n == 0;
}

static void check_list(const struct tach_register *r, uint32_t n, const uint64_t *unavailable)
{
	insist(n <= TACH_DISPATCH_REGISTERS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		insist(r[i].reserved == 0 && r[i].number < TACH_DISPATCH_PMC_MAX);
		for (uint32_t j = 0; j < i; j++)
			insist(r[j].number != r[i].number);
		if (unavailable)
			insist(!(unavailable[r[i].number / 64] >> r[i].number % 64 & 1));
		else
			insist(r[i].value == 0);
	}
	insist(is_zero(r + n, (TACH_DISPATCH_REGISTERS_MAX - n) * sizeof *r));
}

static void check_ranges(const struct tach_ranges_used *used)
{
	insist(used->nregisters <= 8 && used->nregisters % 2 == 0);
	insist(is_zero(&used->registers[used->nregisters],
		       (8 - used->nregisters) * sizeof *used->registers));
}

/* If libpfm-3's lists say so, an event has a counter of its own. */
static void check_counter(const struct tach_dispatch *in, const struct tach__pmu *pmu,
			  int table, uint32_t i, const struct tach_dispatch_out *out)
{
	const struct tach__event *row = tach__event_at(table, in->events[i].event);
	uint32_t number = out->pmds[i].number;
	uint64_t may = tach__counter_set(row->counter_set);

	for (uint32_t u = 0; u < in->events[i].numasks; u++)
		may |= tach__counter_set(
			tach__umask_at(row, in->events[i].umasks[u])->counter_set);
	if (pmu->encoding == TACH__NETBURST)
		may = tach__netburst_counters(row);
	if (!(pmu->flags & TACH__PMU_PFM3) || !may || row->flags & TACH__EV_UNCORE)
		return;
	insist(number < 32 &&
	       (may >> number & 1 || (number >= 16 && may >> (number + 16) & 1)));
}

static void check(const struct tach_dispatch *in, const struct tach_dispatch_out *out)
{
	int table = tach__dispatch_pmu(in->pmu);
	const struct tach__pmu *pmu = tach__pmu_at(table);

	check_list(out->pmcs, out->npmcs, in->unavailable);
	check_list(out->pmds, out->npmds, NULL);
	check_ranges(&out->code);
	check_ranges(&out->data);
	insist(out->npmds >= in->nevents);
	for (uint32_t i = 0; i < in->nevents; i++)
		check_counter(in, pmu, table, i, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, data + size};
	struct tach_dispatch_event events[TACH_DISPATCH_EVENTS_MAX + 1];
	struct tach_dispatch in = {.events = events}, seen = {0};
	struct tach_dispatch_x86 x86;
	struct tach_dispatch_ia64 ia64;
	struct tach_dispatch_out out, again;
	struct tach_error err;
	const struct tach__pmu *pmu;
	uint32_t which = take(&b, 2);
	int rc, table;

	in.pmu = which & 1 ? tach_dispatch_list(lists[(which >> 1) % NLISTS])
			   : (int32_t)((which >> 1) % (uint32_t)tach__npmus());
	table = tach__dispatch_pmu(in.pmu);
	pmu = tach__pmu_at(table);
	in.size = size_of(&b, sizeof in);
	in.privilege = take(&b, 1);
	in.flags = take(&b, 1);
	in.revision = take(&b, 1) & 15;
	in.unavailable[0] = (uint64_t)take(&b, 2) << 16 | take(&b, 2);
	x86 = (struct tach_dispatch_x86){0};
	if (take(&b, 1) & 1) {
		take_x86(&b, &x86);
		in.x86 = &x86;
	}
	if (pmu->arch == TACH__IA64 || take(&b, 1) == 0x5a) {
		take_ia64(&b, &ia64);
		in.ia64 = &ia64;
	}
	for (in.nevents = 0; b.at < b.end && in.nevents <= TACH_DISPATCH_EVENTS_MAX;
	     in.nevents++)
		take_event(&b, pmu, table, &events[in.nevents]);
	memset(&out, 0xa5, sizeof out);
	memset(&again, 0x5a, sizeof again);
	out.size = again.size = sizeof out;
	memset(&err, 0, sizeof err);
	rc = tach_dispatch_compute(&in, &out, &err);
	insist(rc == tach_dispatch_compute(&in, &again, NULL));
	insist(memcmp(&out, &again, sizeof out) == 0);
	insist(rc <= 0 && (rc == 0 || (err.code == rc && err.text[0])));
	if (rc)
		insist(is_zero((char *)&out + sizeof out.size, sizeof out - sizeof out.size));
	else /* the part that the size covers */
		memcpy(&seen, &in, in.size && in.size < sizeof in ? in.size : sizeof in);
	if (!rc)
		check(&seen, &out);
	return 0;
}

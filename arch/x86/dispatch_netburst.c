/* SPDX-License-Identifier: MIT */
/*
 * NetBurst: an event needs one of its one or two event selectors (ESCR); a selector needs one
 * of the two or three counters (with their CCCR) of its block and side (Intel SDM volume 3B,
 * "Performance Monitoring, Processors Based on Intel NetBurst Microarchitecture").
 */
#include <stdlib.h>
#include "arch/x86/dispatch.h"

/* MSRs of the selectors ESCR0, in libpfm's order, which is the order of blocks. ESCR1 has the
 * next MSR. */
static const uint16_t escr_msr[] = {
	0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0, /* BPU */
	0x3c0, 0x3c4, 0x3c2,					/* MS */
	0x3a6, 0x3a4, 0x3ae, 0x3b0, 0x3a8,			/* FLAME */
	0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0,	/* IQ */
};
enum { ESCR0S = 23, SSU = 19, ESCRS = 45, GROUPS = 8, ESCR1_PMC = 32 };
static const uint8_t first_of_block[] = {0, 8, 11, 16, ESCR0S};

/* Counters of a block and side, best first: the register's number, and the number in the
 * block. */
static const struct counter {
	uint8_t pmc, pmd, n;
} counters[GROUPS][3] = {
	{{23, 0, 0}, {24, 1, 1}},
	{{54, 9, 2}, {55, 10, 3}},
	{{25, 2, 0}, {26, 3, 1}},
	{{56, 11, 2}, {57, 12, 3}},
	{{27, 4, 0}, {28, 5, 1}},
	{{58, 13, 2}, {59, 14, 3}},
	{{29, 6, 0}, {31, 8, 4}, {30, 7, 1}},
	{{60, 15, 2}, {61, 16, 3}, {62, 17, 5}},
};
#define MSR_COUNTER0 0x300u
#define MSR_CCCR0    0x360u

enum { PMC_MATRIX = 63, PMC_PEBS = 64 };
#define MSR_PEBS   0x3f1u
#define MSR_MATRIX 0x3f2u

/* ESCR and CCCR fields. */
#define ESCR_OS		(1u << 3)
#define ESCR_USR	(1u << 2)
#define ESCR_TAG_ENABLE (1u << 4)
#define CCCR_ENABLE	(1u << 12)
#define CCCR_BOTH	(3u << 16) /* whichever thread runs */
#define CCCR_COMPARE	(1u << 18)
#define CCCR_COMPLEMENT (1u << 19)
#define CCCR_EDGE	(1u << 24)
#define CCCR_OVF_PMI_T0 (1u << 26)

/* Returns the other selector of a pair: ESCR1 number i belongs to ESCR0 number i. SSU has no
 * pair. */
static int partner_escr(int escr)
{
	int i = escr - ESCR0S;

	return i < SSU ? i : i + 1;
}

static int group_of(int escr)
{
	int side = escr >= ESCR0S, i = side ? partner_escr(escr) : escr, block = 0;

	while (i >= first_of_block[block + 1])
		block++;
	return 2 * block + side;
}

static unsigned escr_pmc(int escr)
{
	return (unsigned)(escr < ESCR0S ? escr : escr - ESCR0S + ESCR1_PMC);
}

static uint32_t escr_address(int escr)
{
	return escr < ESCR0S ? escr_msr[escr] : escr_msr[partner_escr(escr)] + 1u;
}

/* Parses "9,32": the selectors that an event may use; the preferred one comes first. */
static uint64_t escrs_of(const struct tach__event *row, uint64_t *preferred)
{
	const char *text = "";
	uint64_t all = 0;
	char *end;

	*preferred = 0;
	tach__attr(row->attrs, TACH__A_ESCR, NULL, &text);
	while (*text) {
		int escr = (int)strtol(text, &end, 10);

		text = *end ? end + 1 : end;
		if (escr < 0 || escr >= ESCRS)
			continue;
		if (!all)
			*preferred = 1ull << escr;
		all |= 1ull << escr;
	}
	return all;
}

uint64_t tach__netburst_counters(const struct tach__event *row)
{
	uint64_t preferred, escrs = escrs_of(row, &preferred), all = 0;

	for (; escrs; escrs &= escrs - 1) {
		const struct counter *c = counters[group_of(__builtin_ctzll(escrs))];

		for (int k = 0; k < 3 && c[k].pmc; k++)
			all |= 1ull << c[k].pmd;
	}
	return all;
}

/* Returns the available ones of these selectors. */
static uint64_t available_escrs(const struct tach__dispatch *d, const struct tach__item *item,
				uint64_t *preferred)
{
	uint64_t all = escrs_of(item->row, preferred);

	for (uint64_t left = all; left; left &= left - 1) {
		int escr = __builtin_ctzll(left);

		if (!tach__available(d, escr_pmc(escr)))
			all &= ~(1ull << escr);
	}
	return all;
}

/* Returns the selectors of a block and side, one bit each. */
static uint64_t escrs_of_group(int group)
{
	int first = first_of_block[group / 2], end = first_of_block[group / 2 + 1];
	uint64_t escr0s = (1ull << end) - (1ull << first);

	if (group % 2 == 0)
		return escr0s;
	return (escr0s & ((1ull << SSU) - 1)) << ESCR0S | escr0s >> (SSU + 1) << (ESCR0S + SSU);
}

static void pools(const struct tach__dispatch *d, struct tach__problem *p)
{
	p->npools = GROUPS;
	p->nmusts = 0;
	for (int g = 0; g < GROUPS; g++) {
		p->pool[g] = (struct tach__pool){escrs_of_group(g), 0};
		for (int k = 0; k < 3 && counters[g][k].pmc; k++)
			p->pool[g].capacity += tach__available(d, counters[g][k].pmc);
	}
}

static int check_event(const struct tach__dispatch *d, const struct tach__item *item)
{
	uint32_t model = d->in->revision;
	int rc = tach__x86_privilege(d, item->privilege);

	/* Event select 7, INSTR_COMPLETED, exists from Prescott on (models 3, 4, 6). */
	if (!rc && tach__is_pfm3(d) && item->code == 7 && model != 3 && model != 4 &&
	    model != 6)
		rc = tach__dispatch_error(d, TACH_ERR_INCOMPATIBLE, "%s exists from model 3 on",
					  tach__str(item->row->name));
	/* The encoder has already checked all other rows. */
	if (!rc && !item->in->ncodes &&
	    item->flags & ~(TACH_DISPATCH_INVERT | TACH_DISPATCH_EDGE))
		rc = tach__dispatch_error(d, TACH_ERR_INVAL, "a flag that these counters lack");
	if (!rc && tach__is_pfm3(d) && item->threshold > 15)
		rc = tach__dispatch_error(d, TACH_ERR_INVAL, "the threshold must be 0 .. 15");
	return rc;
}

/* Returns 1 for the replay event. Some of its masks are settings of the replay registers. */
static int is_replay(const struct tach__event *row)
{
	for (int u = 0; u < row->numasks; u++)
		if (tach__attr(tach__umask_at(row, u)->attrs, TACH__A_MSR, NULL, NULL))
			return 1;
	return 0;
}

/* Returns the selector's value. Bits 0-15 of the umask are the event mask, 16-19 a tag for
 * micro-ops. */
static uint32_t escr_value(const struct tach__item *item)
{
	uint32_t mask = item->umask & 0xffff, tag = item->umask >> 16 & 0xf;

	if (item->ncodes && !item->in->privilege)
		return (uint32_t)item->codes[0];
	if (item->ncodes) /* use the encoder's bits, for both threads */
		return ((uint32_t)item->codes[0] & ~0xfu) |
		       (item->privilege & TACH_PRIVILEGE_USER ? ESCR_USR | ESCR_USR >> 2 : 0) |
		       (item->privilege & TACH_PRIVILEGE_KERNEL ? ESCR_OS | ESCR_OS >> 2 : 0);
	if (is_replay(item->row))
		mask &= 3; /* NBOGUS, BOGUS */
	return (item->privilege & TACH_PRIVILEGE_USER ? ESCR_USR : 0) |
	       (item->privilege & TACH_PRIVILEGE_KERNEL ? ESCR_OS : 0) |
	       (tag ? ESCR_TAG_ENABLE : 0) | tag << 5 | mask << 9 | item->code << 25;
}

static uint32_t cccr_value(const struct tach__item *item)
{
	uint64_t select = 0;
	uint32_t value = CCCR_ENABLE | CCCR_BOTH | CCCR_OVF_PMI_T0;

	if (item->ncodes > 1)
		return (uint32_t)item->codes[1];
	tach__attr(item->row->attrs, TACH__A_ESCRSEL, &select, NULL);
	if (item->threshold || item->flags & TACH_DISPATCH_INVERT)
		value |= CCCR_COMPARE | item->threshold << 20;
	if (item->flags & TACH_DISPATCH_INVERT)
		value |= CCCR_COMPLEMENT;
	if (item->flags & TACH_DISPATCH_EDGE)
		value |= CCCR_EDGE;
	return value | (uint32_t)select << 13;
}

struct replay {
	uint32_t pebs, matrix;
};

/* Combines "0x3f1:PEBS,0x3f2:MATRIX" of every mask that has it. */
static struct replay replay_of(const struct tach__item *item)
{
	struct replay r = {0, 0};

	for (uint32_t u = 0; u < item->in->numasks; u++) {
		const struct tach__umask *mask = tach__umask_at(item->row, item->in->umasks[u]);
		const char *text;
		char *at;

		if (!tach__attr(mask->attrs, TACH__A_MSR, NULL, &text))
			continue;
		strtoul(text, &at, 16);
		r.pebs |= (uint32_t)strtoul(at + 1, &at, 16);
		strtoul(at + 1, &at, 16);
		r.matrix |= (uint32_t)strtoul(at + 1, &at, 16);
	}
	return r;
}

/* Writes the replay registers. There is only one pair, so all replay events must need the same
 * values. */
static int emit_replay(struct tach__dispatch *d, struct replay r, struct replay *written)
{
	int rc;

	if (!r.pebs)
		return 0;
	if (written->pebs)
		return written->pebs == r.pebs && written->matrix == r.matrix
			       ? 0
			       : tach__dispatch_error(d, TACH_ERR_INCOMPATIBLE,
						      "replay events with different masks");
	*written = r;
	rc = tach__pmc(d, PMC_PEBS, r.pebs, MSR_PEBS, 0);
	return rc ? rc : tach__pmc(d, PMC_MATRIX, r.matrix, MSR_MATRIX, 0);
}

static int emit_registers(struct tach__dispatch *d, const int8_t *escrs)
{
	uint32_t used[GROUPS] = {0};
	struct replay written = {0, 0};
	int rc = 0;

	for (int i = 0; !rc && i < d->n; i++) {
		const struct tach__item *item = &d->item[i];
		struct replay r = replay_of(item);
		int g = group_of(escrs[i]), k = 0;
		const struct counter *c;
		unsigned at;

		while (used[g] >> k & 1 || !tach__available(d, counters[g][k].pmc))
			k++;
		used[g] |= 1u << k;
		c = &counters[g][k];
		at = 4u * (unsigned)(g / 2) + c->n;
		rc = emit_replay(d, r, &written);
		if (!rc)
			rc = tach__pmc(d, escr_pmc(escrs[i]), escr_value(item),
				       escr_address(escrs[i]), 0);
		if (!rc)
			rc = tach__pmc(d, c->pmc, cccr_value(item), MSR_CCCR0 + at, 0);
		tach__pmd(d, c->pmd, MSR_COUNTER0 + at, 0);
	}
	return rc;
}

int tach__dispatch_netburst(struct tach__dispatch *d)
{
	struct tach__problem p;
	int8_t escrs[TACH__SOLVER_MAX];
	int rc = tach__x86_privilege(d, d->in->privilege), bad = 0, n;

	if (rc)
		return rc;
	pools(d, &p);
	for (n = 0; !bad && n < d->n; n++) {
		p.allowed[n] = available_escrs(d, &d->item[n], &p.prefer[n]);
		bad = check_event(d, &d->item[n]);
	}
	/* An event's error is reported only if the events before it can be counted. */
	p.nevents = bad ? n - 1 : n;
	rc = tach__solve(&p, escrs);
	if (rc)
		return tach__dispatch_error(d, rc, "no selectors or counters are left");
	return bad ? bad : emit_registers(d, escrs);
}

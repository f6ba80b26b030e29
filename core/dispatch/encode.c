/* SPDX-License-Identifier: MIT */
/* Encodes events of the tables for dispatch: the encoder handles umasks and options. */
#include <stdio.h>
#include <string.h>
#include "core/dispatch/dispatch.h"

/* Privilege levels that the encoder knows. */
#define LEVELS                                                                                 \
	(TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_1 | TACH_PRIVILEGE_2 | TACH_PRIVILEGE_USER |   \
	 TACH_PRIVILEGE_HYPERVISOR)

struct spelled {
	char text[2048];
	size_t used;
};

static void add_words(struct spelled *s, const char *before, const char *word)
{
	int n = snprintf(s->text + s->used, sizeof s->text - s->used, "%s%s", before, word);

	if (n > 0 && (size_t)n < sizeof s->text - s->used)
		s->used += (size_t)n;
}

/* Flags of dispatch that are modifiers of event strings. */
static const struct {
	uint32_t flag;
	enum tach__mod mod;
} options[] = {
	{TACH_DISPATCH_EDGE, TACH__MOD_E},	{TACH_DISPATCH_INVERT, TACH__MOD_I},
	{TACH_DISPATCH_GUEST, TACH__MOD_G},	{TACH_DISPATCH_HOST, TACH__MOD_H},
	{TACH_DISPATCH_ANYTHREAD, TACH__MOD_T},
};
enum { NOPTIONS = sizeof options / sizeof *options };

static enum tach__mod threshold_mod(const struct tach__dispatch *d)
{
	return d->pmu->encoding == TACH__NETBURST ? TACH__MOD_THR : TACH__MOD_C;
}

/* Writes "pmu::EVENT:UMASK:...:c=2:i=1": the string that a user would write for these rows. */
static void spell(const struct tach__dispatch *d, const struct tach__item *item,
		  struct spelled *s)
{
	char number[32];

	s->used = 0;
	add_words(s, tach__str(d->pmu->name), "::");
	add_words(s, "", tach__str(item->row->name));
	for (uint32_t u = 0; u < item->in->numasks; u++)
		add_words(s, ":",
			  tach__str(tach__umask_at(item->row, item->in->umasks[u])->name));
	for (size_t i = 0; i < NOPTIONS; i++)
		if (item->flags & options[i].flag) {
			add_words(s, ":", tach__mods[options[i].mod].name);
			add_words(s, "=1", "");
		}
	if (item->threshold) {
		snprintf(number, sizeof number, "=%u", item->threshold);
		add_words(s, ":", tach__mods[threshold_mod(d)].name);
		add_words(s, number, "");
	}
}

static void keep(struct tach__item *item, const uint64_t *codes, uint32_t n, uint64_t counters)
{
	item->ncodes = n;
	memcpy(item->codes, codes, n * sizeof *codes);
	if (counters)
		item->counters = counters;
}

/* Encodes the string, because that gives a message on errors. */
static int encode_spelled(struct tach__dispatch *d, struct tach__item *item,
			  const struct tach_encode_options *opt)
{
	struct tach_error err = TACH_ERROR_INIT;
	const struct tach__caller no_derived_names = {0};
	struct tach_event event = {.size = sizeof event};
	struct spelled s;
	int rc;

	spell(d, item, &s);
	rc = tach__event_encode(s.text, opt, &no_derived_names, &event, &err);
	if (rc)
		return tach__dispatch_error(
			d,
			rc == TACH_ERR_ATTR || rc == TACH_ERR_ATTR_VALUE ? TACH_ERR_INVAL : rc,
			"%s: %s", s.text, err.text);
	keep(item, event.codes, event.ncodes, event.counters);
	return 0;
}

static int encode_item(struct tach__dispatch *d, struct tach__item *item)
{
	struct tach__pick picks[TACH_DISPATCH_UMASKS_MAX + NOPTIONS + 1];
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach__work w;
	unsigned n = 0;

	opt.os = TACH_OS_NONE;
	opt.privilege = item->privilege;
	if (item->privilege & ~LEVELS)
		return encode_spelled(d, item, &opt);
	for (uint32_t u = 0; u < item->in->numasks; u++)
		picks[n++] = (struct tach__pick){.number = item->in->umasks[u],
						 .kind = TACH__PICK_UMASK};
	for (size_t i = 0; i < NOPTIONS; i++)
		if (item->flags & options[i].flag)
			picks[n++] = (struct tach__pick){1, options[i].mod, 0, TACH__PICK_MOD};
	if (item->threshold)
		picks[n++] = (struct tach__pick){item->threshold, (uint16_t)threshold_mod(d), 0,
						 TACH__PICK_MOD};
	w.ask.caller = (__typeof__(w.ask.caller)){0};
	if (tach__encode_picks(&w, d->table, item->in->event, picks, n, &opt))
		return encode_spelled(d, item, &opt);
	keep(item, w.out.codes, w.out.ncodes, tach__counters(&w));
	return 0;
}

int tach__dispatch_encode(struct tach__dispatch *d, struct tach__item *item)
{
	const struct tach_dispatch_event *e = item->in;

	if (!e->ncodes)
		return encode_item(d, item);
	item->ncodes = e->ncodes;
	memcpy(item->codes, e->codes, sizeof item->codes);
	if (e->counters)
		item->counters = e->counters &
				 (tach__any_general(d->pmu) | (uint64_t)d->pmu->fixed << 32);
	/* If the encoder gives no counters, use those in the table: PERF_METRICS is not a
	 * counter of the PMU. */
	if (!item->counters)
		item->counters = e->counters & tach__counter_set(item->row->counter_set);
	return item->counters ? 0
			      : tach__dispatch_error(d, TACH_ERR_INVAL,
						     "%s lacks the counters that %s needs",
						     tach__str(d->pmu->name),
						     tach__str(item->row->name));
}

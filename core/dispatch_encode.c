/* SPDX-License-Identifier: MIT */
/* Events of today's tables for dispatch: the encoder decides about umasks and options. */
#include <stdio.h>
#include <string.h>
#include "core/dispatch.h"

struct spelled {
	char text[2048];
	size_t used;
};

static void add(struct spelled *s, const char *before, const char *word)
{
	int n = snprintf(s->text + s->used, sizeof s->text - s->used, "%s%s", before, word);

	if (n > 0 && (size_t)n < sizeof s->text - s->used)
		s->used += (size_t)n;
}

/* "pmu::EVENT:UMASK:...:c=2:i=1": as a person would have asked for these rows. */
static void spell(const struct tach__dispatch *d, const struct tach__item *item,
		  struct spelled *s)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} options[] = {
		{TACH_DISPATCH_EDGE, "e=1"},	  {TACH_DISPATCH_INVERT, "i=1"},
		{TACH_DISPATCH_GUEST, "g=1"},	  {TACH_DISPATCH_HOST, "h=1"},
		{TACH_DISPATCH_ANYTHREAD, "t=1"},
	};
	char number[32];

	s->used = 0;
	add(s, tach__str(d->pmu->name), "::");
	add(s, "", tach__str(item->row->name));
	for (uint32_t u = 0; u < item->in->numasks; u++)
		add(s, ":", tach__str(tach__umask_at(item->row, item->in->umasks[u])->name));
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (item->flags & options[i].flag)
			add(s, ":", options[i].word);
	if (item->threshold) {
		snprintf(number, sizeof number, "%s=%u",
			 d->pmu->encoding == TACH__NETBURST ? "thr" : "c", item->threshold);
		add(s, ":", number);
	}
}

static int encode(struct tach__dispatch *d, struct tach__item *item)
{
	struct tach_encode_options opt = TACH_ENCODE_DEFAULT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event event = {.size = sizeof event};
	struct spelled s;
	int rc;

	opt.os = TACH_OS_NONE;
	opt.privilege = item->plm;
	spell(d, item, &s);
	rc = tach_event_encode(s.text, &opt, &event, &err);
	if (rc)
		return tach__dispatch_error(
			d,
			rc == TACH_ERR_ATTR || rc == TACH_ERR_ATTR_VALUE ? TACH_ERR_INVAL : rc,
			"%s: %s", s.text, err.text);
	item->ncodes = event.ncodes;
	memcpy(item->codes, event.codes, sizeof item->codes);
	if (event.counters)
		item->counters = event.counters;
	return 0;
}

int tach__dispatch_encode(struct tach__dispatch *d, struct tach__item *item)
{
	const struct tach_dispatch_event *e = item->in;

	if (!e->ncodes)
		return encode(d, item);
	item->ncodes = e->ncodes;
	memcpy(item->codes, e->codes, sizeof item->codes);
	if (e->counters)
		item->counters = e->counters &
				 (tach__any_general(d->pmu) | (uint64_t)d->pmu->fixed << 32);
	return item->counters
		       ? 0
		       : tach__dispatch_error(
				 d, TACH_ERR_INVAL, "%s has none of the counters that %s wants",
				 tach__str(d->pmu->name), tach__str(item->row->name));
}

/* SPDX-License-Identifier: MIT */
/* Encodes an event string: finds PMU and event, and calls the other steps. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tach/pmu.h>
#include "core/event/event.h"
#include "core/event/perf_events.h"
#include "core/event/suggest.h"
#include "core/tables/tables.h"

static const struct tach__event no_event;

static void set_event(struct tach__work *w, int pmu, int event)
{
	w->pmu_number = pmu;
	w->event_number = event;
	w->pmu = tach__pmu_at(pmu);
	w->event = event < 0 ? &no_event : tach__event_at(pmu, event);
	w->generic = tach__generic(w->pmu);
}

static int pmu_number(const char *name)
{
	return tach__pmu_find(name, strlen(name));
}

/* ---- words ---- */

static int hardware_words(struct tach__work *w)
{
	if (w->generic)
		return tach__perf_words(w);
	if (tach__parts[w->pmu->arch]->encode)
		return tach__parts[w->pmu->arch]->encode(w);
	return tach__refuse(w, TACH_ERR_NOTSUPP, "no encoder for this PMU");
}

static int finish(struct tach__work *w)
{
	int rc = hardware_words(w);

	if (rc)
		return rc;
	if (w->nrows > 1)
		tach__umask_sort(w);
	if (w->os != TACH_OS_NONE)
		rc = tach__perf_encode(w);
	return rc;
}

/* ---- one PMU ---- */

/* The architectural PMU has only the events that CPUID reports. */
static int cpu_has_event(const struct tach__work *w)
{
	return !(w->pmu->flags & TACH__PMU_ARCHDEFAULT) || tach__arch_event_exists(w);
}

/* The vendor's own name: everything up to a ':', or up to one of its dots; modifiers may
 * follow. */
static int vendor_name(struct tach__work *w, int pmu, const struct tach__string *s, int *umask,
		       const char **rest)
{
	const char *start = s->event.text, *end = start;

	while (end < s->end && *end != ':')
		end++;
	while (end > start) {
		int event = tach__vendor_find(pmu, start, (size_t)(end - start), umask);

		if (event >= 0) {
			set_event(w, pmu, event);
			*rest = end;
			return cpu_has_event(w);
		}
		do
			end--;
		while (end > start && *end != '.');
	}
	return 0;
}

static int begins_with(const char *at, const char *end, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(end - at) >= length &&
	       tach__text_equal(&(struct tach__text){at, length}, word);
}

/* Intel's older spelling, "EVENT:request=A:response=B.C": returns its umask A_B_C, or -1. */
static int find_request_umask(const struct tach__work *w, const struct tach__string *s,
			      const char **rest)
{
	static const char request[] = ":request=", response[] = ":response=";
	const char *at = s->attrs.at + strlen(request);
	char name[TACH__TAB_NAME_MAX];
	size_t n = 0;

	if (!begins_with(s->attrs.at, s->end, request))
		return -1;
	while (at < s->end && n < sizeof name) {
		int next = begins_with(at, s->end, response);

		if (*at == ':' && !next)
			break;
		name[n++] = *at == '.' || next ? '_' : *at;
		at += next ? strlen(response) : 1;
	}
	*rest = at;
	return tach__umask_find(w->event, name, n);
}

/* The vendor's own spelling of an event that was found by its name, without its attributes. */
static int resolve_respelled(struct tach__work *w, int pmu, const struct tach__string *s,
			     int *umask, const char **rest)
{
	int dots = *s->attrs.at == '.';

	if (!w->quirks->respells &&
	    (!dots || w->column != tach__column(s->start, s->attrs.at + 1)))
		return 0;
	if (dots)
		return vendor_name(w, pmu, s, umask, rest);
	*umask = find_request_umask(w, s, rest);
	return *umask >= 0;
}

/* EVENT.A.B in the vendor's spelling, where libpfm-4 has umasks of these names with another
 * code. */
static int is_vendors(const struct tach__work *w, int pmu, const struct tach__string *s)
{
	const char *start = s->event.text, *first = s->attrs.at, *end;
	int umask;

	if (*first != '.' || !w->quirks->respells)
		return 0;
	end = first + strcspn(first, ":,");
	return memchr(first + 1, '.', (size_t)(end - first - 1)) &&
	       tach__vendor_find(pmu, start, (size_t)(end - start), &umask) >= 0;
}

/* Returns 1 if the event belongs to this PMU, with the result in *rc. */
static int by_name(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	int event = tach__event_find(pmu, s->event.text, s->event.length);
	int umask;
	const char *rest;

	if (event < 0)
		return 0;
	set_event(w, pmu, event);
	if (!cpu_has_event(w))
		return 0;
	*rc = tach__match(w, s->attrs);
	/* FOO.BAR may be the vendor's name of an event with another name in the table. */
	if ((*rc == TACH_ERR_ATTR || w->vendor_differs || is_vendors(w, pmu, s)) &&
	    resolve_respelled(w, pmu, s, &umask, &rest)) {
		w->npicks = w->nattrs = w->given = 0;
		w->raw_given = w->named_given = 0;
		*rc = tach__match_row(w, umask, tach__attrs_from(rest, s->end));
	}
	return 1;
}

static int by_vendor(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	const char *rest;
	int umask;

	if (!vendor_name(w, pmu, s, &umask, &rest) || !cpu_has_event(w))
		return 0;
	*rc = tach__match_row(w, umask, tach__attrs_from(rest, s->end));
	return 1;
}

/* Events of perf that are in no table: raw codes and tracepoints. */
static int by_kernel(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	int raw = tach__pmu_at(pmu)->encoding == TACH__PERF_RAW;

	set_event(w, pmu, -1);
	if (raw ? !tach__perf_raw(w, &s->event) : !tach__tracepoint_system(w, &s->event))
		return 0;
	w->system = s->event;
	*rc = tach__match(w, s->attrs);
	return 1;
}

static int in_pmu(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	if (tach__pmu_at(pmu)->encoding == TACH__PERF_RAW)
		return by_kernel(w, pmu, s, rc);
	if (by_name(w, pmu, s, rc))
		return 1;
	return tach__pmu_at(pmu)->encoding == TACH__PERF ? by_kernel(w, pmu, s, rc) : 0;
}

/* A preset that stands for one event; modifiers after its name are added to that event. */
static int by_derived(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	struct tach__string base;
	int found, several = 0;
	const char *text =
		w->caller.derived ? w->caller.derived(pmu, &s->event, &several) : NULL;

	if (several < 0) {
		*rc = tach__refuse(w, several, "out of memory");
		return 1;
	}
	if (several) {
		*rc = tach__refuse(w, TACH_ERR_NOTSUPP,
				   "%.*s is derived from several events: a set takes it as a "
				   "metric, 'tach derived show' takes it apart",
				   (int)s->event.length, s->event.text);
		return 1;
	}
	if (!text || tach__string_split(&base, text, NULL))
		return 0;
	if (base.pmu.text)
		pmu = tach__pmu_find(base.pmu.text, base.pmu.length);
	w->column = 1;
	w->alias++;
	found = pmu >= 0 && in_pmu(w, pmu, &base, rc);
	w->alias--;
	if (found && !*rc)
		*rc = tach__match_more(w, s->attrs);
	return found;
}

/* ---- all PMUs ---- */

/* Reports that no PMU has it. If a table has the name, this processor lacks the event
 * (`cpu_has_event`). */
static int report_not_found(struct tach__work *w, const struct tach__text *name,
			    const int *pmus, int n)
{
	for (int i = 0; i < n; i++)
		if (tach__event_find(pmus[i], name->text, name->length) >= 0)
			return tach__refuse(w, TACH_ERR_NOTFOUND,
					    "this processor does not have the architectural "
					    "event %.*s (CPUID leaf 0AH)",
					    (int)name->length, name->text);
	return tach__suggest_event(w, name, pmus, n);
}

/* rapl is another box on each CPU: this machine's box, or else the one with this name. */
static int host_variant(const struct tach__work *w, int pmu)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);
	const char *name;

	if (!(row->flags & TACH__PMU_BOX) || tach__pmu_present(w, pmu))
		return pmu;
	name = tach__str(row->name);
	for (int i = tach__npmus(); i < tach__npmus() + tach__nboxes(); i++)
		if (tach__pmu_at(i)->alias && tach__pmu_present(w, i) &&
		    strcmp(tach__str(tach__pmu_at(i)->alias), name) == 0)
			return i;
	return pmu;
}

static int encode_prefixed(struct tach__work *w, const struct tach__string *s, int *rc)
{
	int pmu = tach__pmu_find(s->pmu.text, s->pmu.length);

	w->column = 1;
	if (pmu < 0)
		return *rc = tach__suggest_pmu(w, &s->pmu);
	pmu = host_variant(w, pmu);
	if (!w->opt->any_pmu && !tach__pmu_present(w, pmu))
		return *rc = tach__refuse(w, TACH_ERR_NOTFOUND, "this machine's PMU is not %s",
					  tach__str(tach__pmu_at(pmu)->name));
	if (in_pmu(w, pmu, s, rc) || by_vendor(w, pmu, s, rc) ||
	    (pmu < tach__npmus() && by_derived(w, pmu, s, rc)))
		return *rc;
	w->column = tach__column(s->start, s->event.text);
	return *rc = report_not_found(w, &s->event, &pmu, 1);
}

/* Finds the first box that has the event, of several that may count it. */
static int in_boxes(struct tach__work *w, const struct tach__string *s, int *rc)
{
	const uint64_t *boxes = w->caller.search ? w->caller.boxes : tach__boxes();

	for (int i = 0; boxes && i < tach__nboxes(); i++) {
		int pmu = tach__npmus() + i;

		if (tach__box_in(boxes, pmu) &&
		    (in_pmu(w, pmu, s, rc) || by_vendor(w, pmu, s, rc)))
			return 1;
	}
	return 0;
}

static int search_all_pmus(struct tach__work *w, const struct tach__string *s, int *rc)
{
	int pmus[TACH__SEARCH_MAX], n = tach__candidates(w, pmus);

	for (int i = 0; i < n; i++)
		if (in_pmu(w, pmus[i], s, rc))
			return *rc;
	for (int i = 0; i < n; i++)
		if (by_vendor(w, pmus[i], s, rc) ||
		    (pmus[i] < tach__npmus() && by_derived(w, pmus[i], s, rc)))
			return *rc;
	if (in_boxes(w, s, rc))
		return *rc;
	w->column = 1;
	return *rc = report_not_found(w, &s->event, pmus, n);
}

static int try_encode(struct tach__work *w, const char *string, int encode)
{
	struct tach__string s;
	int rc = tach__string_split(&s, string, w->err);

	if (rc)
		return rc;
	if (s.terms) {
		set_event(w, pmu_number("perf_raw"), -1);
		rc = tach__terms_encode(w, &s);
	} else {
		rc = s.pmu.text ? encode_prefixed(w, &s, &rc) : search_all_pmus(w, &s, &rc);
	}
	return rc || !encode ? rc : finish(w);
}

static void start_work(struct tach__work *w, const char *string,
		       const struct tach_encode_options *opt, struct tach_error *err)
{
	struct tach__caller caller = w->caller;

	/* The arrays after it need no clearing: counts show how far they are filled. */
	tach__clear(w, offsetof(struct tach__work, picks));
	w->caller = caller;
	w->string = string;
	w->opt = opt;
	w->quirks = tach__quirks_of(opt);
	w->err = err;
	w->os = opt->os;
	w->privilege = opt->privilege;
	w->groups.above = w->groups.only = w->groups.last = w->groups.silent = -1;
}

/* Handles perf's EVENT/name=x/ if EVENT is not a device. An error message costs a hundred times
 * as much as encoding, so it is made only on request. */
static int __attribute__((cold))
again(struct tach__work *w, const char *string, const struct tach_encode_options *opt,
      struct tach_error *err, int rc)
{
	const char *text = string;
	int slash = (int)strcspn(string, "/") + 1;

	if ((rc == TACH_ERR_NOTFOUND || rc == TACH_ERR_ATTR) && w->quirks->letters &&
	    tach__terms_respell(string, w->respelled, sizeof w->respelled)) {
		text = w->respelled;
		start_work(w, text, opt, NULL);
		rc = try_encode(w, text, 1);
	}
	if (!rc || !err)
		return rc;
	start_work(w, text, opt, err);
	rc = try_encode(w, text, 1);
	if (text != string && err->column > slash)
		err->column = slash;
	return rc;
}

int tach__encode(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt, struct tach_error *err)
{
	int rc;

	start_work(w, string, opt, NULL);
	rc = try_encode(w, string, 1);
	return TACH_LIKELY(!rc) ? 0 : again(w, string, opt, err, rc);
}

int tach__encode_picks(struct tach__work *w, int pmu, int event, const struct tach__pick *picks,
		       unsigned n, const struct tach_encode_options *opt)
{
	int rc;

	start_work(w, "", opt, NULL);
	w->column = 1; /* 0 would mean that there is no conflict */
	set_event(w, pmu, event);
	rc = cpu_has_event(w) ? tach__match_picks(w, picks, n) : TACH_ERR_NOTFOUND;
	return rc ? rc : finish(w);
}

int tach__lookup(struct tach__work *w, const char *string,
		 const struct tach_encode_options *opt)
{
	start_work(w, string, opt, NULL);
	return try_encode(w, string, 0);
}

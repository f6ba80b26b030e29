/* SPDX-License-Identifier: MIT */
/* Finds the PMU and the event that a string names: by PMU, by name, in all PMUs that may have
 * it. */
#include <string.h>
#include "core/event/event.h"
#include "core/tables/tables.h"

/* ---- the PMUs that may have an event ---- */

/* Returns the PMU whose events CPUs with that PMU have too, or -1. */
static int common_pmu(int pmu)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);
	const struct tach__part *part = tach__parts[row->arch];
	const char *name = part->common ? part->common(row) : NULL;

	return name ? tach__pmu_find(name, strlen(name)) : -1;
}

int tach__candidates(const struct tach__work *w, int *pmus)
{
	int n, arch;

	if (w->ask.caller.search) {
		memcpy(pmus, w->ask.caller.search,
		       (size_t)w->ask.caller.nsearch * sizeof *pmus);
		return w->ask.caller.nsearch;
	}
	n = tach__perf_cores(w->ask.opt, pmus, TACH__HOSTS_MAX);
	arch = n > 0 ? common_pmu(pmus[0]) : -1;
	if (arch >= 0 && arch != pmus[0])
		pmus[n++] = arch;
	for (int pmu = tach__npmus() - 1; pmu >= 0; pmu--)
		if (tach__pmu_at(pmu)->arch != TACH__LINUX) {
			while (++pmu < tach__npmus())
				pmus[n++] = pmu;
			break;
		}
	return n;
}

int tach__pmu_present(const struct tach__work *w, int pmu)
{
	int hosts[TACH__HOSTS_MAX], n;

	if (w->ask.caller.search) {
		for (int i = 0; i < w->ask.caller.nsearch; i++)
			if (w->ask.caller.search[i] == pmu)
				return 1;
		return tach__pmu_at(pmu)->flags & TACH__PMU_BOX && w->ask.caller.boxes &&
		       tach__box_in(w->ask.caller.boxes, pmu);
	}
	if (tach__pmu_at(pmu)->arch == TACH__LINUX || pmu == w->ask.opt->pmu)
		return 1;
	if (tach__pmu_at(pmu)->flags & TACH__PMU_BOX)
		return tach__box_in(tach__boxes(), pmu);
	n = tach__perf_hosts(w->ask.opt, hosts, TACH__HOSTS_MAX);
	for (int i = 0; i < n; i++)
		if (hosts[i] == pmu || common_pmu(hosts[i]) == pmu)
			return 1;
	return 0;
}

/* Returns false if the PMU was searched only because all CPUs of its architecture have it. */
static int is_named(const struct tach__work *w)
{
	int pmus[TACH__SEARCH_MAX];

	return !*w->ask.string || strstr(w->ask.string, "::") ||
	       (tach__candidates(w, pmus) > 0 && pmus[0] == w->got.pmu_number);
}

/* ---- one PMU ---- */

static const struct tach__event no_event;

static void set_event(struct tach__work *w, int pmu, int event)
{
	w->got.pmu_number = pmu;
	w->got.event_number = event;
	w->got.pmu = tach__pmu_at(pmu);
	w->got.event = event < 0 ? &no_event : tach__event_at(pmu, event);
	w->got.generic = tach__generic(w->got.pmu);
}

/* The architectural PMU has only the events that CPUID reports. */
static int cpu_has_event(const struct tach__work *w)
{
	return !(w->got.pmu->flags & TACH__PMU_ARCHDEFAULT) ||
	       w->got.pmu->encoding != TACH__INTEL ||
	       tach__archperfmon_event(w->ask.opt, w->got.event, is_named(w));
}

int tach__find_row(struct tach__work *w, int pmu, int event)
{
	set_event(w, pmu, event);
	return cpu_has_event(w);
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
			*rest = end;
			return tach__find_row(w, pmu, event);
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
	return tach__umask_find(w->got.event, name, n);
}

/* The vendor's own spelling of an event that was found by its name, without its attributes. */
static int resolve_respelled(struct tach__work *w, int pmu, const struct tach__string *s,
			     int *umask, const char **rest)
{
	int dots = *s->attrs.at == '.';

	if (!w->ask.quirks->respells &&
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

	if (*first != '.' || !w->ask.quirks->respells)
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
	if (!tach__find_row(w, pmu, event))
		return 0;
	*rc = tach__match(w, s->attrs);
	/* FOO.BAR may be the vendor's name of an event with another name in the table. */
	if ((*rc == TACH_ERR_ATTR || w->got.vendor_differs || is_vendors(w, pmu, s)) &&
	    resolve_respelled(w, pmu, s, &umask, &rest)) {
		w->got.npicks = w->got.nattrs = w->got.given = 0;
		w->got.raw_given = w->got.named_given = 0;
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
static int look_up_kernel_event(struct tach__work *w, int pmu, const struct tach__string *s,
				int *rc)
{
	int raw = tach__pmu_at(pmu)->encoding == TACH__PERF_RAW;

	set_event(w, pmu, -1);
	if (raw ? !tach__perf_raw(w, &s->event) : !tach__tracepoint_system(w, &s->event))
		return 0;
	w->got.system = s->event;
	*rc = tach__match(w, s->attrs);
	return 1;
}

static int in_pmu(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	if (tach__pmu_at(pmu)->encoding == TACH__PERF_RAW)
		return look_up_kernel_event(w, pmu, s, rc);
	if (by_name(w, pmu, s, rc))
		return 1;
	return tach__pmu_at(pmu)->encoding == TACH__PERF ? look_up_kernel_event(w, pmu, s, rc)
							 : 0;
}

/* A preset that stands for one event; modifiers after its name are added to that event. */
static int by_derived(struct tach__work *w, int pmu, const struct tach__string *s, int *rc)
{
	struct tach__string base;
	int found, several = 0;
	const char *text =
		w->ask.caller.derived ? w->ask.caller.derived(pmu, &s->event, &several) : NULL;

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
	if (!w->ask.opt->any_pmu && !tach__pmu_present(w, pmu))
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
	const uint64_t *boxes = w->ask.caller.search ? w->ask.caller.boxes : tach__boxes();

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

int tach__find(struct tach__work *w, const char *string)
{
	struct tach__string s;
	int rc = tach__string_split(&s, string, w->ask.err);

	if (rc)
		return rc;
	if (s.terms) {
		set_event(w, tach__pmu_find("perf_raw", strlen("perf_raw")), -1);
		return tach__terms_encode(w, &s);
	}
	return s.pmu.text ? encode_prefixed(w, &s, &rc) : search_all_pmus(w, &s, &rc);
}

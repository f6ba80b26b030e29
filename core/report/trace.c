/* SPDX-License-Identifier: MIT */
/* Writes traces in the Trace Event Format (JSON) of Chrome and Perfetto: a complete event ("X")
 * for each entry, with its counts as arguments, and the names of threads. */
#include <string.h>
#include <unistd.h>
#include "core/base/json_out.h"
#include "core/base/out.h"
#include "core/os/clock.h"
#include "core/os/memory.h"
#include "core/region/region.h"
#include "core/report/report.h"

struct writing {
	struct tach__out out;
	struct tach__json_out json;
	const struct tach__config *config;
	double ns; /* length of a tick */
	uint64_t lost, written;
};

/* Returns a time in us, rounded down to ns, so that two ends keep their order. */
static double microseconds_of(const struct writing *w, uint64_t ticks)
{
	return (double)(uint64_t)((double)(ticks - tach__trace_base()) * w->ns) / 1e3;
}

static void event_begin(struct writing *w, const char *kind, const char *name,
			const struct tach__trace *head)
{
	tach__json_line(&w->json, 0);
	tach__json_object(&w->json, NULL);
	tach__json_string(&w->json, "ph", kind);
	tach__json_string(&w->json, "name", name);
	tach__json_int(&w->json, "pid", (int)getpid());
	tach__json_int(&w->json, "tid", (int)head->tid);
}

static void thread_name(struct writing *w, const struct tach__trace *head)
{
	char name[sizeof head->name + 1] = "";

	memcpy(name, head->name, sizeof head->name);
	event_begin(w, "M", "thread_name", head);
	tach__json_object(&w->json, "args");
	tach__json_string(&w->json, "name", name);
	tach__json_end(&w->json);
	tach__json_end(&w->json);
}

static void write_traced_entry(struct writing *w, const struct tach__trace *head,
			       const struct tach__traced *e)
{
	const struct tach__site *site = tach__site_at(e->id);
	double begun = microseconds_of(w, e->begun), end = microseconds_of(w, e->end);

	event_begin(w, "X", site->name, head);
	tach__json_number(&w->json, "ts", begun);
	tach__json_number(&w->json, "dur", (double)(uint64_t)((end - begun) * 1e3 + 0.5) / 1e3);
	tach__json_object(&w->json, "args");
	tach__json_unsigned(&w->json, "time_ns", (uint64_t)((double)e->sum[0] * w->ns));
	for (uint32_t i = 1; i < head->sums; i++)
		tach__json_unsigned(&w->json, tach_set_name(w->config->set, (int)i - 1),
				    e->sum[i]);
	if (e->tag)
		tach__json_hex(&w->json, "tag", e->tag);
	if (e->flags)
		tach__json_unsigned(&w->json, "flags", e->flags);
	tach__json_end(&w->json);
	tach__json_end(&w->json);
	w->written++;
}

static void ring_write(struct writing *w, const struct tach__trace *ring,
		       const struct tach__trace *head)
{
	union tach__traced_copy copy;

	if (head->n == head->first || head->generation != w->config->generation)
		return;
	w->lost += head->oldest - head->first;
	thread_name(w, head);
	for (uint64_t i = head->oldest; i < head->n; i++)
		if (tach__trace_get(ring, i, &copy.entry))
			write_traced_entry(w, head, &copy.entry);
		else
			w->lost++;
}

static void write_all_entries(struct writing *w)
{
	const struct tach__trace *ring = NULL;
	struct tach__trace head;

	tach__json_begin(&w->json, &w->out, TACH__JSON_COMPACT);
	tach__json_object(&w->json, NULL);
	tach__json_string(&w->json, "displayTimeUnit", "ns");
	tach__json_array(&w->json, "traceEvents");
	while ((ring = tach__trace_next(ring, &head)))
		ring_write(w, ring, &head);
	tach__json_line(&w->json, 0);
	tach__json_end(&w->json);
	tach__json_line(&w->json, 0);
	tach__json_object(&w->json, "otherData");
	tach__json_string(&w->json, "tach", TACH_VERSION_STRING);
	tach__json_unsigned(&w->json, "entries", w->written);
	tach__json_unsigned(&w->json, "lost", w->lost + tach__trace_lost());
	tach__json_end(&w->json);
	tach__json_end(&w->json);
	tach__out_text(&w->out, "\n");
}

/* Keeps its data in pages, because a handler's stack may be small. */
int tach__report_trace(tach_sink sink, void *context, int folded)
{
	struct writing *w = tach__pages(sizeof *w);
	struct tach__held held;
	uint32_t flags = 0;
	double error, hz;
	int code = TACH_ERR_STATE;

	if (!w)
		return TACH_ERR_NOMEM;
	tach__lock(&held);
	w->config = tach__registry.config;
	if (w->config)
		tach__registry.config->refs++;
	tach__unlock(&held);
	if (w->config) {
		hz = tach__clock_hz(TACH__CLOCK_SOON, &flags, &error);
		w->ns = hz > 0 ? 1e9 / hz : 0;
		tach__out_open(&w->out, sink, context);
		code = 0;
		if (folded)
			code = tach__report_folded(&w->out, w->config->generation, w->ns);
		else
			write_all_entries(w);
		if (code == 0)
			code = tach__out_flush(&w->out);
		tach__lock(&held);
		tach__config_drop((struct tach__config *)(uintptr_t)w->config);
		tach__unlock(&held);
	}
	tach__pages_free(w, sizeof *w);
	return code;
}

/* SPDX-License-Identifier: MIT */
/* Opens events of boxes, group by group. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/os/descriptor.h"
#include "core/os/perf_open.h"
#include "core/set/set.h"
#include "core/uncore/uncore.h"

struct opening {
	struct tach_uncore *u;
	struct tach_error *err;
	const char *name; /* the event being opened */
};

/* Makes room for one more element. Returns 0 without memory. */
static int grow_array(void *array, int n, size_t size)
{
	void *more = realloc(*(void **)array, ((size_t)n + 1) * size);

	if (!more)
		return 0;
	memset((char *)more + (size_t)n * size, 0, size);
	*(void **)array = more;
	return 1;
}

static int no_memory(struct tach_error *err)
{
	return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
}

/* Returns the last group of that box on that processor, or NULL if it has no space. */
static struct tach__uncore_group *find_group(const struct tach_uncore *u, uint32_t type,
					     int cpu)
{
	for (int g = u->ngroups - 1; g >= 0; g--)
		if (u->group[g].type == type && u->group[g].cpu == cpu)
			return u->group[g].n < TACH_COUNTERS_MAX ? &u->group[g] : NULL;
	return NULL;
}

static void join_group(struct tach_uncore *u, struct tach__uncore_group *g, long fd,
		       uint64_t id)
{
	g->id[g->n] = id;
	g->fd[g->n] = (int)fd;
	g->event[g->n++] = u->nevents - 1;
	u->event[u->nevents - 1].counters++;
}

static int refuse_open(const struct opening *o, int code, int cpu, struct tach_error *err)
{
	struct tach__settings s;

	tach__settings_read(&s, "");
	return tach__uncore_refused(code, o->name, cpu, &s, err);
}

/* The kernel returns EINVAL if the box has no counter for one more event of the group
 * (arch/x86/events/intel/uncore.c, uncore_validate_group). Then a new group begins. */
static int open_one(void *context, const struct perf_event_attr *event, int cpu,
		    struct tach_error *err)
{
	struct opening *o = context;
	struct tach_uncore *u = o->u;
	struct perf_event_attr attr = *event;
	struct tach__uncore_group *g = find_group(u, attr.type, cpu);
	uint64_t id;
	long fd = -EINVAL;

	attr.pinned = attr.exclusive = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			   PERF_FORMAT_GROUP;
	if (g)
		fd = tach__perf_open_cpu(&attr, cpu, g->fd[0]);
	if (fd == -EINVAL) {
		attr.disabled = 1;
		fd = tach__perf_open_cpu(&attr, cpu, -1);
		g = NULL;
	}
	if (fd >= 0)
		fd = tach__descriptor_keep(fd, &id);
	if (fd < 0)
		return refuse_open(o, (int)fd, cpu, err);
	if (!g) {
		if (!grow_array(&u->group, u->ngroups, sizeof *u->group)) {
			tach__descriptor_close((int)fd, id);
			return no_memory(err);
		}
		g = &u->group[u->ngroups++];
		g->type = attr.type;
		g->cpu = cpu;
	}
	join_group(u, g, fd, id);
	return 0;
}

static int open_event(struct opening *o, const char *sysfs, const struct tach__listed *item)
{
	struct tach__span label = item->label, event = item->event;
	struct tach__uncore_taker taker = {open_one, o};
	struct tach__span name = label.length ? label : event;
	struct tach__uncore_event *it;
	char *string;
	int code;

	if (!event.length)
		return tach__error(o->err, TACH_ERR_SYNTAX, 0, event.column,
				   "an event is missing after '='");
	if (*label.at == '=')
		return tach__error(o->err, TACH_ERR_SYNTAX, 0, label.column,
				   "a name is missing before '='");
	for (int i = 0; i < o->u->nevents; i++)
		if (strlen(o->u->event[i].name) == name.length &&
		    strncmp(o->u->event[i].name, name.at, name.length) == 0)
			return tach__error(o->err, TACH_ERR_INVAL, 0, name.column,
					   "'%.*s' names two events", (int)name.length,
					   name.at);
	string = tach__list_string(item);
	if (!string || !grow_array(&o->u->event, o->u->nevents, sizeof *it)) {
		free(string);
		return no_memory(o->err);
	}
	it = &o->u->event[o->u->nevents++];
	it->name = strndup(name.at, name.length);
	o->name = it->name;
	code = it->name ? tach__uncore_boxes(string, sysfs, &taker, o->err) : no_memory(o->err);
	if (code && o->err)
		o->err->column = event.column + (o->err->column ? o->err->column - 1 : 0);
	free(string);
	return code;
}

static int open_list(struct opening *o, const struct tach_uncore_options *opt)
{
	struct tach__list list = tach__list_of(opt->events);
	struct tach__listed item;
	int code = 0;

	while (!code && tach__list_next(&list, &item))
		code = open_event(o, opt->sysfs, &item);
	if (!code && !o->u->nevents)
		code = tach__error(o->err, TACH_ERR_INVAL, 0, 0, "no events");
	return code;
}

int tach_uncore_open(const struct tach_uncore_options *opt, struct tach_uncore **out,
		     struct tach_error *err)
{
	struct tach_error ours = TACH_ERROR_INIT;
	struct tach_uncore_options options;
	struct opening o = {.err = &ours};
	int code, saved = errno;

	if (!out)
		return tach__error(err, TACH_ERR_INVAL, 0, 0, "nowhere to put the counters");
	*out = NULL;
	opt = tach__sized_in(opt, &options, TACH__STRUCT(tach_uncore_options), err);
	if (!opt)
		return TACH_ERR_INVAL;
	o.u = calloc(1, sizeof *o.u);
	code = o.u ? open_list(&o, opt) : no_memory(&ours);
	if (code) {
		tach_uncore_close(o.u);
		tach__error(err, code, 0, ours.column, "%s", ours.text);
	} else {
		*out = o.u;
	}
	errno = saved;
	return code;
}

void tach_uncore_close(struct tach_uncore *u)
{
	if (!u)
		return;
	for (int g = 0; g < u->ngroups; g++)
		for (int i = u->group[g].n - 1; i >= 0; i--)
			tach__descriptor_close(u->group[g].fd[i], u->group[g].id[i]);
	for (int e = 0; e < u->nevents; e++)
		free(u->event[e].name);
	free(u->event);
	free(u->group);
	free(u);
}

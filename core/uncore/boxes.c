/* SPDX-License-Identifier: MIT */
/*
 * Finds the boxes for an event string, and the processors on which the kernel counts for them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <tach/event.h>
#include <tach/pmu.h>
#include "core/base/error.h"
#include "core/os/sysfs.h"
#include "core/os/topology.h"
#include "core/pmu/pmu.h"
#include "core/uncore/uncore.h"

struct search {
	const char *string, *sysfs; /* sysfs: given by the caller */
	const struct tach__uncore_taker *taker;
	struct tach_error *err;
	size_t prefix; /* length of the string up to its '*', or of the whole PMU name */
	const char *rest;
	int shift;    /* number to add to columns in errors about the string of one box */
	int found;    /* number of boxes that count */
	int known;    /* number of boxes with that name in the tables or sysfs */
	int unserved; /* 1: the kernel has no PMU for the last box */
};

static const char *devices(const struct search *s)
{
	return s->sysfs ? s->sysfs : TACH__SYSFS;
}

static int refuse_event(const struct search *s, int code, const struct tach_error *why)
{
	int column = why->column - s->shift;

	return tach__error(s->err, code, 0, column > 0 ? column : 1, "%s", why->text);
}

/* ---- one box ---- */

struct cpus {
	struct search *s;
	const struct perf_event_attr *attr;
	int code;
};

static void take_on_cpu(void *context, long cpu)
{
	struct cpus *c = context;

	if (!c->code)
		c->code = c->s->taker->take(c->s->taker->context, c->attr, (int)cpu, c->s->err);
}

/* Size for a list of processors. sysfs files have at most one page, usually 4096 bytes. */
enum { LIST_MAX = 16384 };

static int on_cpus(struct search *s, const struct tach_event *event,
		   const struct perf_event_attr *attr)
{
	struct cpus c = {s, attr, 0};
	char device[64], list[LIST_MAX] = "";

	int length = 0;

	s->found++;
	if (event->cpu >= 0)
		return s->taker->take(s->taker->context, attr, event->cpu, s->err);
	if (tach__sysfs_device(devices(s), event->type, device, sizeof device) == 0)
		length = tach__sysfs_read(devices(s), device, strlen(device), "cpumask", list,
					  sizeof list);
	if (length == sizeof list - 1)
		return tach__error(s->err, TACH_ERR_TOOMANY, 0, 1,
				   "%s: its file cpumask in sysfs has more than %d characters; "
				   "name a processor with :cpu=N",
				   event->name, LIST_MAX - 2);
	if (!tach__cpu_list(list, take_on_cpu, &c))
		return tach__error(s->err, TACH_ERR_NOTSUPP, 0, 1,
				   "%s: sysfs has no file cpumask with the processors that "
				   "count it; name one with :cpu=N",
				   event->name);
	return c.code;
}

/* Returns 1 if the device is a box: a core's PMU has similar files, but no cpumask. */
static int is_box(const char *sysfs, const struct tach_event *event)
{
	char device[64], list[16];

	if (event->type < PERF_TYPE_MAX)
		return 0;
	return event->pmu >= tach_pmu_count() ||
	       (tach__sysfs_device(sysfs, event->type, device, sizeof device) == 0 &&
		tach__sysfs_read(sysfs, device, strlen(device), "cpumask", list, sizeof list) >=
			0);
}

static int encode_box(const char *string, const char *sysfs, struct tach_event *event,
		      struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.sysfs = sysfs;
	opt.any_pmu = sysfs != NULL;
	/* A box counts at all levels. */
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL | TACH_PRIVILEGE_HYPERVISOR;
	memset(event, 0, sizeof *event);
	return tach_event_encode(string, &opt, event, err);
}

static int take_box(struct search *s, const char *string)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_event event;
	int code = encode_box(string, s->sysfs, &event, &err);

	s->unserved = code == TACH_ERR_NOTSUPP;
	if (code)
		return refuse_event(s, code, &err);
	/* libpfm-4 has a type for RAPL, but this kernel does not support it. */
	if (event.pmu >= tach_pmu_count() && event.type < PERF_TYPE_MAX) {
		s->unserved = 1;
		return tach__error(s->err, TACH_ERR_NOTSUPP, 0, 1,
				   "%s: the kernel has no such PMU", string);
	}
	if (!is_box(devices(s), &event))
		return tach__error(
			s->err, TACH_ERR_NOTSUPP, 0, 1,
			"%s: not an event of a box: threads count it, so use it in a set",
			string);
	if (event.has & (TACH_EVENT_HAS_PERIOD | TACH_EVENT_HAS_FREQ))
		return tach__error(s->err, TACH_ERR_NOTSUPP, 0, 1,
				   "%s: a box is counted, not sampled: leave period and freq "
				   "out",
				   string);
	tach_event_attr(&event, &attr);
	/* Drivers refuse exclude bits (PERF_PMU_CAP_NO_EXCLUDE). */
	attr.exclude_host = attr.exclude_guest = 0;
	return on_cpus(s, &event, &attr);
}

/* ---- all boxes of a kind ---- */

/* Returns 1 if the name consists of the prefix and a number. */
static int is_instance(const struct search *s, const char *name)
{
	const char *number = name + s->prefix;

	if (strncasecmp(name, s->string, s->prefix) != 0 || !*number)
		return 0;
	while (isdigit((unsigned char)*number))
		number++;
	return !*number;
}

static int take_instance(struct search *s, const char *name)
{
	char string[TACH_EVENT_NAME_MAX];
	int n = snprintf(string, sizeof string, "%s%s", name, s->rest);

	if (n < 0 || (size_t)n >= sizeof string)
		return tach__error(s->err, TACH_ERR_TOOMANY, 0, 1,
				   "an event string of %d characters", n);
	s->shift = (int)strlen(name) - (int)(s->rest - s->string);
	return take_box(s, string);
}

/* Takes the boxes from the tables; skips boxes that the kernel does not support. */
static int take_instances(struct search *s)
{
	int code = 0;

	for (int pmu = tach__npmus(); pmu < tach__npmus() + tach__nboxes() && !code; pmu++) {
		const char *name = tach__str(tach__pmu_at(pmu)->name);

		if (!is_instance(s, name))
			continue;
		s->known++;
		if (!s->sysfs && !tach__box_in(tach__boxes(), pmu))
			continue;
		code = take_instance(s, name);
		if (s->unserved)
			code = s->unserved = 0;
	}
	return code;
}

/* Matches the number for a single '*' at the end, or perf's name for the kind. */
static int is_device(struct search *s, const char *name)
{
	size_t length = (size_t)(s->rest - s->string);

	if (memchr(s->string, '*', length) != s->rest - 1)
		return tach__sysfs_matches(s->string, length, name);
	s->prefix = length - 1;
	return is_instance(s, name) ||
	       (strncmp(name, "uncore_", 7) == 0 && is_instance(s, name + 7));
}

static int device_instances(struct search *s)
{
	DIR *dir = opendir(devices(s));
	struct dirent *d;
	int code = 0, other = 0;

	if (!dir && errno != ENOENT)
		code = tach__error(s->err, -errno, 0, 0, "cannot look for boxes in %s: %s",
				   devices(s), tach_strerror(-errno));
	while (dir && !code && (d = readdir(dir))) {
		if (!is_device(s, d->d_name))
			continue;
		s->known++;
		code = take_instance(s, d->d_name);
		/* The pattern may also match devices with other events, for example perf's
		 * *imc*. */
		if (code == TACH_ERR_ATTR)
			other = 1, code = 0;
	}
	if (dir)
		closedir(dir);
	return !code && other && !s->found ? TACH_ERR_ATTR : code;
}

static int search_kind(struct search *s)
{
	struct tach_error first = TACH_ERROR_INIT, *outer = s->err;
	int code;

	s->err = &first;
	code = *s->rest == '/' ? device_instances(s) : take_instances(s);
	s->err = outer;
	if (code)
		return tach__error(outer, code, 0, first.column, "%s", first.text);
	if (s->found)
		return 0;
	if (first.code == TACH_ERR_NOTSUPP)
		return tach__error(outer, TACH_ERR_NOTSUPP, 0, 1, "%s", first.text);
	return tach__error(outer, TACH_ERR_NOTFOUND, 0, 1,
			   s->known ? "this machine has no box %.*s; load the kernel's uncore "
				      "driver, or leave the virtual machine"
				    : "no boxes are called %.*s; 'tach list --uncore' has the "
				      "names",
			   (int)(s->rest - s->string), s->string);
}

/* ---- the string ---- */

/* Returns the length of the kind in KIND*::EVENT, a box with '*' as its number, or 0. */
static size_t kind_length(const char *string)
{
	size_t n = strcspn(string, "*:/");

	return string[n] == '*' && string[n + 1] == ':' && string[n + 2] == ':' ? n : 0;
}

/* Returns the length of the kind in KIND/TERMS/, if KIND is a kind of devices and not a device
 * itself, or 0. */
static size_t kind_of_device(const char *string, const char *sysfs)
{
	size_t n = strcspn(string, ":/");
	char first[64];

	if (!n || string[n] != '/' || strspn(string, "*?_") == n ||
	    tach__sysfs_type(sysfs, string, n) >= 0)
		return 0;
	return memchr(string, '*', n) || memchr(string, '?', n) ||
			       tach__sysfs_first(sysfs, string, n, first, sizeof first) == 0
		       ? n
		       : 0;
}

/* An event without a box means all boxes of the kind that has it, if they are numbered. */
static int search_bare(struct search *s, char *all_of_them, size_t size)
{
	struct tach_event event;
	const char *name;
	size_t length;

	if (strpbrk(s->string, "/") || strstr(s->string, "::") ||
	    encode_box(s->string, s->sysfs, &event, NULL) || event.pmu < tach_pmu_count())
		return 0;
	name = tach__str(tach__pmu_at(event.pmu)->name);
	length = strlen(name);
	while (length && isdigit((unsigned char)name[length - 1]))
		length--;
	return name[length] && snprintf(all_of_them, size, "%.*s*::%s", (int)length, name,
					s->string) < (int)size;
}

int tach__uncore_boxes(const char *string, const char *sysfs,
		       const struct tach__uncore_taker *taker, struct tach_error *err)
{
	struct search s = {.string = string, .sysfs = sysfs, .taker = taker, .err = err};
	char text[TACH_EVENT_NAME_MAX];
	int saved = errno, code;

	if (search_bare(&s, text, sizeof text))
		s.string = text;
	s.prefix = kind_of_device(s.string, devices(&s));
	s.rest = s.string + s.prefix;
	if (!s.prefix) {
		s.prefix = kind_length(s.string);
		s.rest = s.string + s.prefix + 1;
	}
	code = s.prefix ? search_kind(&s) : take_box(&s, string);
	errno = saved;
	return code;
}

int tach__uncore_is_event(const char *string)
{
	struct tach_event event;

	if (kind_length(string) || (kind_of_device(string, TACH__SYSFS) && strchr(string, '*')))
		return 1;
	return encode_box(string, NULL, &event, NULL) == 0 && is_box(TACH__SYSFS, &event);
}

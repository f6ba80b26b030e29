/* SPDX-License-Identifier: MIT */
/*
 * perf's spelling of events: DEVICE/TERM,TERM.../MODIFIERS. Terms are NAME or NAME=VALUE, with
 * names from the device's sysfs directories `format` ("config:0-7,32-35") and `events`. For the
 * core PMU of another machine, a built-in copy of the formats is used. The part after the
 * second slash is perf's letters ("u", "ukH", "pp") or, as in all other strings,
 * ":u:period=1000".
 */
#include <stdio.h>
#include <string.h>
#include "core/pmu/pmu.h"
#include "core/port/port.h"
#include "core/event/perf_events.h"
#include "core/event/suggest.h"
#include "core/os/sysfs.h"

enum { DEPTH_MAX = 2, FORMAT_MAX = 128, EVENT_MAX = 256 };
enum { HAS_WORDS = TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2 };

struct device {
	struct tach__text name;
	const char *sysfs;
	int core;      /* 1: the device counts for threads */
	char room[64]; /* room for the name of the first device of the kind that the string
			  names */
};

static int is_core_of(int arch, const struct tach__text *device)
{
	const char *const *names = arch < 0 ? NULL : tach__parts[arch]->devices;

	for (; names && *names; names++) {
		const char *star = strchr(*names, '*');
		size_t n = star ? (size_t)(star - *names) : 0;

		if (star ? device->length >= n && memcmp(device->text, *names, n) == 0
			 : tach__text_equal(device, *names))
			return 1;
	}
	return 0;
}

/* Returns the architecture whose core PMU has that name; prefers `first`. -1: none. */
static int arch_of(const struct tach__text *device, int first)
{
	int arch = first;

	for (int next = 0; !is_core_of(arch, device); arch = next++)
		if (next == TACH__NARCHS)
			return -1;
	return arch;
}

int tach__event_thread_device(const char *name, size_t length)
{
	const struct tach__text device = {name, length};
	char list[16];

	return arch_of(&device, 0) >= 0 ||
	       (tach__sysfs_type(TACH__SYSFS, name, length) >= 0 &&
		tach__sysfs_read(TACH__SYSFS, name, length, "cpumask", list, sizeof list) < 0);
}

static const char *builtin_format(const struct tach__work *w, const struct device *device,
				  const struct tach__text *term)
{
	int arch = tach__native_arch(), encoding = -1, pmus[TACH__HOSTS_MAX], n;

	n = tach__perf_cores(w->ask.opt, pmus, TACH__HOSTS_MAX);
	if (n > 0)
		arch = tach__pmu_at(pmus[0])->arch;
	arch = arch_of(&device->name, arch);
	if (arch < 0)
		return NULL;
	if (n > 0 && arch == tach__pmu_at(pmus[0])->arch)
		encoding = tach__pmu_at(pmus[0])->encoding;
	for (const struct tach__format *f = tach__parts[arch]->formats; f && f->name[0]; f++)
		if ((f->encoding < 0 ||
		     (f->encoding == TACH__AMD) == (encoding == TACH__AMD)) &&
		    tach__text_equal(term, f->name))
			return f->format;
	return NULL;
}

/* Puts the value into bits such as "config1:0-7,32-35". Returns 0, or -1 if it does not fit. */
static int deposit_value(struct tach__work *w, const char *format, uint64_t value)
{
	uint64_t *word = &w->out.config;
	const char *at = strchr(format, ':');

	if (!at)
		return -1;
	if (strncmp(format, "config1:", 8) == 0) {
		word = &w->out.config1;
		w->out.has |= TACH_EVENT_HAS_CONFIG1;
	} else if (strncmp(format, "config2:", 8) == 0) {
		word = &w->out.config2;
		w->out.has |= TACH_EVENT_HAS_CONFIG2;
	} else if (strncmp(format, "config:", 7) != 0) {
		return -1;
	}
	while (*at++) {
		unsigned low = 0, high;

		while (*at >= '0' && *at <= '9')
			low = low * 10 + (unsigned)(*at++ - '0');
		high = low;
		if (*at == '-')
			for (high = 0, at++; *at >= '0' && *at <= '9'; at++)
				high = high * 10 + (unsigned)(*at - '0');
		if (high > 63 || low > high || (*at && *at != ','))
			return -1;
		for (; low <= high; low++, value >>= 1)
			*word = (*word & ~(UINT64_C(1) << low)) | (value & 1) << low;
	}
	return value ? -1 : 0;
}

static int read_file(const struct device *device, const char *folder,
		     const struct tach__text *name, char *out, size_t size)
{
	char file[96];
	size_t folder_length = strlen(folder);

	if (!name->length || name->length + folder_length >= sizeof file ||
	    name->text[0] == '.' || memchr(name->text, '/', name->length))
		return -1;
	memcpy(file, folder, folder_length);
	memcpy(file + folder_length, name->text, name->length);
	file[folder_length + name->length] = 0;
	return tach__sysfs_read(device->sysfs, device->name.text, device->name.length, file,
				out, size);
}

static int take_terms(struct tach__work *w, const struct device *device, const char *at,
		      const char *end, int depth);

/* Returns how much of a text an error message shows. */
static int shown_length(const struct tach__text *text)
{
	return text->length > 60 ? 60 : (int)text->length;
}

/*
 * Takes words with the same meaning on each device. Returns 1 if it took the word, 0 for
 * another word, or an error.
 */
static int common_term(struct tach__work *w, const struct tach__term *term, uint64_t value,
		       int number)
{
	static const char names[][8] = {"config", "config1", "config2"};
	uint64_t *const words[] = {&w->out.config, &w->out.config1, &w->out.config2};
	static const uint32_t has[] = {0, TACH_EVENT_HAS_CONFIG1, TACH_EVENT_HAS_CONFIG2};
	int period;

	for (int i = 0; i < 3; i++)
		if (tach__text_equal(&term->name, names[i])) {
			if (!number)
				return tach__refuse(w, TACH_ERR_ATTR_VALUE, "%s takes a number",
						    names[i]);
			*words[i] = value;
			w->out.has |= has[i];
			return 1;
		}
	if (tach__text_equal(&term->name, "name"))
		return 1;
	period = tach__text_equal(&term->name, "period");
	if (!period && !tach__text_equal(&term->name, "freq"))
		return 0;
	if (!number || !value)
		return tach__refuse(w, TACH_ERR_ATTR_VALUE, "%s takes a number above 0",
				    period ? "period" : "freq");
	w->out.period = value;
	w->out.has |= period ? TACH_EVENT_HAS_PERIOD : TACH_EVENT_HAS_FREQ;
	return 1;
}

static int take_term(struct tach__work *w, const struct device *device,
		     const struct tach__term *term, int depth)
{
	char text[EVENT_MAX];
	const char *format = text;
	unsigned long long value = 1;
	int number = !term->has_value || tach__text_number(&term->value, &value) > 0, rc;
	/* The event has a type other than the device's. */
	int generic = device->core && w->out.type < PERF_TYPE_RAW;
	uint64_t config = w->out.config;
	uint32_t has = w->out.has;

	rc = common_term(w, term, value, term->has_value && number);
	if (rc > 0 && generic && (config != w->out.config || (has ^ w->out.has) & HAS_WORDS))
		return tach__device_event_alone(w);
	if (rc)
		return rc < 0 ? rc : 0;
	if (generic)
		return tach__device_event_alone(w);
	if (read_file(device, "format/", &term->name, text, FORMAT_MAX) <= 0)
		format = builtin_format(w, device, &term->name);
	if (format) {
		if (!number)
			return tach__refuse(w, TACH_ERR_ATTR_VALUE, "'%.*s' is not a number",
					    shown_length(&term->value), term->value.text);
		if (strncmp(format, "config3:", 8) == 0)
			return tach__refuse(w, TACH_ERR_NOTSUPP,
					    "%.*s lies in the word config3, which only "
					    "sampling uses: leave it out",
					    shown_length(&term->name), term->name.text);
		if (deposit_value(w, format, value))
			return tach__refuse(w, TACH_ERR_ATTR_VALUE, "%.*s has the bits %s only",
					    shown_length(&term->name), term->name.text, format);
		return 0;
	}
	/* A named event of the device is a list of terms. */
	rc = term->has_value || depth == DEPTH_MAX
		     ? -1
		     : read_file(device, "events/", &term->name, text, sizeof text);
	if (rc > 0)
		return take_terms(w, device, text, text + rc, depth + 1);
	rc = !term->has_value && !depth && device->core
		     ? tach__device_event(w, &device->name, &term->name)
		     : 0;
	if (rc)
		return rc < 0 ? rc : 0;
	return tach__refuse(
		w, TACH_ERR_ATTR,
		"%.*s has no term '%.*s'; expected event=, umask=, config=, or a name "
		"from its sysfs folders format and events",
		shown_length(&device->name), device->name.text, shown_length(&term->name),
		term->name.text);
}

/* Returns the end of a term. perf's metrics write name='CPU_CLK:cmask=1,inv', so commas may be
 * inside quotes. */
static const char *end_of_term(const char *at, const char *end)
{
	const char *quote = end - at > 6 && memcmp(at, "name='", 6) == 0
				    ? memchr(at + 6, '\'', (size_t)(end - at) - 6)
				    : NULL;
	const char *stop =
		memchr(quote ? quote : at, ',', (size_t)(end - (quote ? quote : at)));

	return stop ? stop : end;
}

static int take_terms(struct tach__work *w, const struct device *device, const char *at,
		      const char *end, int depth)
{
	while (at < end) {
		const char *stop = end_of_term(at, end), *equal;
		struct tach__term term;
		int rc;

		equal = memchr(at, '=', (size_t)(stop - at));
		if (!depth)
			w->column = tach__column(w->ask.string, at);
		term.name = (struct tach__text){at, (size_t)((equal ? equal : stop) - at)};
		term.has_value = equal != NULL;
		term.value = (struct tach__text){equal ? equal + 1 : stop, 0};
		term.value.length = (size_t)(stop - term.value.text);
		if (!term.name.length)
			return tach__refuse(w, TACH_ERR_SYNTAX,
					    "a term is expected: NAME=VALUE");
		rc = take_term(w, device, &term, depth);
		if (rc)
			return rc;
		at = stop + 1;
	}
	return 0;
}

/* Handles perf's letters: each is one of our modifiers, or has no effect here. */
static int take_letters(struct tach__work *w, const char *at, const char *end)
{
	uint64_t precise = 0;

	for (; at < end && *at != ':'; at++) {
		int modifier = -1, known = tach__letter(*at, &modifier);

		w->column = tach__column(w->ask.string, at);
		if (*at == 'R')
			return tach__letter_refused(w, &(struct tach__text){at, 1});
		/* One place is reserved for the precision that earlier letters requested. */
		if (!known || w->got.nattrs + (precise > 0) == TACH__PICKS_MAX ||
		    (modifier >= 0 && !(w->got.osmods >> modifier & 1)))
			return tach__refuse(w, TACH_ERR_ATTR,
					    "expected letters out of u k h G H p P D e S W I X "
					    "b, or :");
		if (modifier == TACH__OS_PRECISE)
			precise++;
		if (modifier < 0 || modifier == TACH__OS_PRECISE)
			continue;
		w->got.nattrs++; /* tach__match adds further attributes from here */
		w->got.picks[w->got.npicks++] = (struct tach__pick){
			1, (uint16_t)modifier, (uint16_t)w->column, TACH__PICK_OSMOD};
	}
	if (precise) {
		w->got.nattrs++;
		w->got.picks[w->got.npicks++] = (struct tach__pick){
			precise, TACH__OS_PRECISE, (uint16_t)w->column, TACH__PICK_OSMOD};
	}
	return at < end ? tach__match(w, tach__attrs_from(at, end)) : 0;
}

static int set_type(struct tach__work *w, struct device *device)
{
	int type = tach__sysfs_type(device->sysfs, device->name.text, device->name.length);

	device->core = arch_of(&device->name, -1) >= 0;
	if (type < 0 && !device->core &&
	    tach__sysfs_first(device->sysfs, device->name.text, device->name.length,
			      device->room, sizeof device->room) == 0) {
		device->name = (struct tach__text){device->room, strlen(device->room)};
		type = tach__sysfs_type(device->sysfs, device->name.text, device->name.length);
	}
	if (type < 0 && !device->core)
		type = -2;
	if (type == -2) {
		w->column = 1;
		return tach__refuse(w, TACH_ERR_NOTFOUND,
				    "no device '%.*s' in /sys/bus/event_source/devices",
				    shown_length(&device->name), device->name.text);
	}
	w->out.type = type < 0 ? PERF_TYPE_RAW : (uint32_t)type;
	return 0;
}

/* Handles EVENT/name=x,period=5/u if EVENT is not a device: in perf, this means
 * EVENT:period=5:u. Writes the part after the event to `to`, in our spelling. */
static int respell(char *to, const char *slash, const char *close)
{
	for (const char *at = slash + 1; at < close;) {
		const char *stop = end_of_term(at, close);
		int length = (int)(stop - at);

		if (strncmp(at, "period=", 7) == 0 || strncmp(at, "freq=", 5) == 0)
			to += sprintf(to, ":%.*s", length, at);
		else if (strncmp(at, "name=", 5) != 0)
			return 0;
		at = stop + 1;
	}
	sprintf(to, "%s%s", close[1] && close[1] != ':' ? ":" : "", close + 1);
	return 1;
}

int tach__terms_respell(const char *string, char *to, size_t size)
{
	const char *slash = strchr(string, '/'), *close = slash ? strrchr(slash, '/') : NULL;

	if (!slash || close == slash || slash == string || strlen(string) + 2 > size)
		return 0;
	memcpy(to, string, (size_t)(slash - string));
	return respell(to + (slash - string), slash, close);
}

int tach__terms_encode(struct tach__work *w, const struct tach__string *s)
{
	struct device device = {s->pmu, w->ask.opt->sysfs ? w->ask.opt->sysfs : TACH__SYSFS, 0,
				""};
	const char *close = memchr(s->terms, '/', (size_t)(s->end - s->terms));
	const char *comma;
	int rc;

	w->got.generic = TACH__GENERIC_TERMS;
	if (!close) {
		w->column = tach__column(w->ask.string, s->end);
		return tach__refuse(w, TACH_ERR_SYNTAX, "the closing '/' is missing");
	}
	w->got.terms = (struct tach__text){s->start, (size_t)(close + 1 - s->start)};
	rc = set_type(w, &device);
	if (!rc)
		rc = take_terms(w, &device, s->terms, close, 0);
	if (rc)
		return rc;
	/* Only perf's forms have these modifiers; raw words have no modifiers. */
	w->got.osmods = w->ask.os == TACH_OS_NONE ? 0 : tach__perf_offer(w);
	comma = memchr(close, ',', (size_t)(s->end - close));
	return take_letters(w, close + 1, comma ? comma : s->end);
}

/* SPDX-License-Identifier: MIT */
/* tach list --json. Numbers wider than 32 bits are strings, since JSON readers may round them.
 */
#include <inttypes.h>
#include <stdio.h>
#include "tools/tach/list.h"

static void string(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
	putchar('"');
}

static void member(const char *key, const char *text)
{
	if (!text || !*text)
		return;
	printf(", \"%s\": ", key);
	string(text);
}

static void where(uint64_t counters)
{
	char text[256];

	member("counters", list_counters(counters, text, sizeof text));
}

static void begin(const char *indent, const char *name, uint64_t code)
{
	printf("%s{\"name\": ", indent);
	string(name);
	printf(", \"code\": \"0x%" PRIx64 "\"", code);
}

static void pmu_head(const struct tach_pmu_info *info)
{
	printf("  {\"name\": ");
	string(info->name);
	member("arch", info->arch);
	member("description", info->description);
	member("perf", info->perf);
	member("alias", info->alias);
	if (info->libpfm4_id >= 0)
		printf(", \"libpfm4\": %d", info->libpfm4_id);
	if (info->general)
		printf(", \"general\": %d, \"general_width\": %d", info->general,
		       info->general_width);
	if (info->fixed)
		printf(", \"fixed\": %" PRIu32 ", \"fixed_width\": %d", info->fixed,
		       info->fixed_width);
	printf(", \"present\": %s, \"nevents\": %d, \"events\": [",
	       info->present ? "true" : "false", info->nevents);
}

static void umask(const struct tach_umask_info *u, const char *separator)
{
	printf("%s", separator);
	begin("      ", u->name, u->code);
	where(u->counters);
	printf(", \"group\": %d", u->group);
	if (u->is_default)
		printf(", \"default\": true");
	if (u->deprecated)
		printf(", \"deprecated\": true");
	member("alias_of", u->alias_of);
	member("vendor_code", u->vendor_code);
	member("libpfm4_code", u->libpfm4_code);
	member("description", u->description);
	putchar('}');
}

static void event(const struct tach_event_info *e, const char *separator)
{
	printf("%s", separator);
	begin("    ", e->name, e->code);
	where(e->counters);
	if (e->deprecated)
		printf(", \"deprecated\": true");
	member("alias_of", e->alias_of);
	member("vendor_code", e->vendor_code);
	member("libpfm4_code", e->libpfm4_code);
	member("description", e->description);
	printf(", \"umasks\": [");
}

static void one_pmu(const struct list_pmu *pmu)
{
	struct tach_event_info e = {.size = sizeof e};
	struct tach_umask_info u = {.size = sizeof u};
	int umasks = 0;

	pmu_head(&pmu->info);
	for (size_t i = 0; i < pmu->nlines; i++) {
		const struct list_line *l = &pmu->lines[i];

		if (l->umask < 0) {
			tach_event_info(pmu->pmu, l->event, &e);
			event(&e, i == 0 ? "\n" : umasks ? "\n    ]},\n" : "]},\n");
			umasks = 0;
		} else {
			tach_umask_info(pmu->pmu, l->event, l->umask, &u);
			umask(&u, umasks++ ? ",\n" : "\n");
		}
	}
	printf("%s]}", pmu->nlines == 0 ? "" : umasks ? "\n    ]}\n  " : "]}\n  ");
}

void list_json(const struct list_pmu *pmus, size_t n)
{
	printf("{\"pmus\": [");
	for (size_t i = 0; i < n; i++) {
		printf("%s", i ? ",\n" : "\n");
		one_pmu(&pmus[i]);
	}
	printf("%s]}\n", n ? "\n" : "");
}

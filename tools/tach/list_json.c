/* SPDX-License-Identifier: MIT */
/* tach list --json. Numbers wider than 32 bits are strings, since JSON readers may round them.
 */
#include <inttypes.h>
#include <stdio.h>
#include "tools/tach/commands.h"
#include "tools/tach/list.h"

static void member(const char *key, const char *text)
{
	if (!text || !*text)
		return;
	printf(", \"%s\": ", key);
	json_string(stdout, text);
}

static void pmu_head(const struct tach_pmu_info *info)
{
	printf("  {\"name\": ");
	json_string(stdout, info->name);
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

/* An event stays open: its umasks follow. */
static void one_line(const struct list_row *row)
{
	printf("%s{\"name\": ", row->is_umask ? "      " : "    ");
	json_string(stdout, row->name);
	printf(", \"code\": \"0x%" PRIx64 "\"", row->code);
	member("counters", row->counters);
	if (row->is_umask)
		printf(", \"group\": %d", row->group);
	if (row->is_default)
		printf(", \"default\": true");
	if (row->deprecated)
		printf(", \"deprecated\": true");
	member("alias_of", row->alias_of);
	member("words", row->words);
	member("vendor_code", row->vendor_code);
	member("libpfm4_code", row->libpfm4_code);
	member("description", row->description);
	printf(row->is_umask ? "}" : ", \"umasks\": [");
}

static void one_pmu(const struct list_pmu *pmu)
{
	struct list_row row;
	int umasks = 0;

	pmu_head(&pmu->info);
	for (size_t i = 0; i < pmu->nlines; i++) {
		list_row(pmu, &pmu->lines[i], &row);
		if (row.is_umask)
			printf(umasks++ ? ",\n" : "\n");
		else
			printf(i == 0 ? "\n" : umasks ? "\n    ]},\n" : "]},\n");
		if (!row.is_umask)
			umasks = 0;
		one_line(&row);
	}
	printf("%s]", pmu->nlines == 0 ? "" : umasks ? "\n    ]}\n  " : "]}\n  ");
	for (size_t i = 0; i < pmu->nderived; i++) {
		printf("%s{\"name\": ", i ? ",\n    " : ", \"derived\": [\n    ");
		json_string(stdout, pmu->derived[i].name);
		member("description", pmu->derived[i].short_description);
		member("file", pmu->derived[i].file);
		printf(", \"line\": %d}", pmu->derived[i].line);
	}
	printf(pmu->nderived ? "\n  ]}" : "}");
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

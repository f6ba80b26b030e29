/* SPDX-License-Identifier: MIT */
/*
 * tach list --json. Numbers wider than 32 bits are strings, because JSON readers may round
 * them.
 */
#include <stdio.h>
#include "tools/tach/commands.h"
#include "tools/tach/list.h"

static void write_if_any(struct tach__json_out *json, const char *key, const char *text)
{
	if (text && *text)
		tach__json_string(json, key, text);
}

/* Writes an event or a umask and leaves it open: the umasks of an event follow. */
static void open_row(struct tach__json_out *json, const struct list_row *row)
{
	tach__json_line(json, row->is_umask ? 6 : 4);
	tach__json_object(json, NULL);
	tach__json_string(json, "name", row->name);
	tach__json_hex(json, "code", row->code);
	write_if_any(json, "counters", row->counters);
	if (row->is_umask)
		tach__json_int(json, "group", row->group);
	if (row->is_default)
		tach__json_bool(json, "default", 1);
	if (row->deprecated)
		tach__json_bool(json, "deprecated", 1);
	write_if_any(json, "alias_of", row->alias_of);
	write_if_any(json, "words", row->words);
	write_if_any(json, "vendor_code", row->vendor_code);
	write_if_any(json, "libpfm4_code", row->libpfm4_code);
	write_if_any(json, "description", row->description);
}

/*
 * Writes the event at line i with its umasks, the lines after it. Returns the index of the next
 * line.
 */
static size_t write_event(struct tach__json_out *json, const struct list_pmu *pmu, size_t i)
{
	struct list_row row;

	list_row(pmu, &pmu->lines[i++], &row);
	open_row(json, &row);
	tach__json_array(json, "umasks");
	for (; i < pmu->nlines && pmu->lines[i].umask >= 0; i++) {
		list_row(pmu, &pmu->lines[i], &row);
		open_row(json, &row);
		tach__json_end(json);
		if (i + 1 == pmu->nlines || pmu->lines[i + 1].umask < 0)
			tach__json_line(json, 4);
	}
	tach__json_end(json);
	tach__json_end(json);
	return i;
}

static void write_derived(struct tach__json_out *json, const struct tach_derived_info *info)
{
	tach__json_line(json, 4);
	tach__json_object(json, NULL);
	tach__json_string(json, "name", info->name);
	write_if_any(json, "description", info->short_description);
	write_if_any(json, "file", info->file);
	tach__json_int(json, "line", info->line);
	tach__json_end(json);
}

static void pmu_head(struct tach__json_out *json, const struct tach_pmu_info *info)
{
	tach__json_string(json, "name", info->name);
	write_if_any(json, "arch", info->arch);
	write_if_any(json, "description", info->description);
	write_if_any(json, "perf", info->perf);
	write_if_any(json, "alias", info->alias);
	if (info->libpfm4_id >= 0)
		tach__json_int(json, "libpfm4", info->libpfm4_id);
	if (info->general) {
		tach__json_int(json, "general", info->general);
		tach__json_int(json, "general_width", info->general_width);
	}
	if (info->fixed) {
		tach__json_unsigned(json, "fixed", info->fixed);
		tach__json_int(json, "fixed_width", info->fixed_width);
	}
	tach__json_bool(json, "present", info->present);
	tach__json_int(json, "nevents", info->nevents);
}

static void one_pmu(struct tach__json_out *json, const struct list_pmu *pmu)
{
	tach__json_line(json, 2);
	tach__json_object(json, NULL);
	pmu_head(json, &pmu->info);
	tach__json_array(json, "events");
	for (size_t i = 0; i < pmu->nlines;)
		i = write_event(json, pmu, i);
	if (pmu->nlines)
		tach__json_line(json, 2);
	tach__json_end(json);
	if (pmu->nderived) {
		tach__json_array(json, "derived");
		for (size_t i = 0; i < pmu->nderived; i++)
			write_derived(json, &pmu->derived[i]);
		tach__json_line(json, 2);
		tach__json_end(json);
	}
	tach__json_end(json);
}

void list_json(const struct list_pmu *pmus, size_t n)
{
	struct json_to to;

	json_begin(&to, stdout, TACH__JSON_SPACED);
	tach__json_object(&to.json, NULL);
	tach__json_array(&to.json, "pmus");
	for (size_t i = 0; i < n; i++)
		one_pmu(&to.json, &pmus[i]);
	if (n)
		tach__json_line(&to.json, 0);
	tach__json_end(&to.json);
	tach__json_end(&to.json);
	json_end(&to);
}

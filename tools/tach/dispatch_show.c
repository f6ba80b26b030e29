/* SPDX-License-Identifier: MIT */
/* The registers that `tach dispatch` found, as text and as JSON. */
#include "tools/tach/dispatch.h"

/* ---- for people ---- */

static void print_registers(const char *kind, const struct tach_register *list, uint32_t n,
			    const struct dispatch_request *r)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *event = *kind == 'D' && i < r->in.nevents ? r->names[i] : "";
		char name[REGISTER_NAME_MAX], value[24] = "";

		if (*kind == 'C')
			snprintf(value, sizeof value, "0x%016llx",
				 (unsigned long long)list[i].value);
		register_name(&list[i], name, sizeof name);
		printf("PM%s%-3u  0x%-10llx  ", kind, list[i].number,
		       (unsigned long long)list[i].address);
		if (*name || *event)
			printf("%-18s  %s%s%s\n", value, name, *name && *event ? " = " : "",
			       event);
		else
			printf("%s\n", value);
	}
}

static void debug_registers(const char *kind, const struct tach_dispatch_ranges *asked,
			    const struct tach_ranges_used *used)
{
	for (uint32_t i = 0; i < used->nregisters; i++)
		printf("%s%-4u               0x%016llx\n", kind, used->registers[i].number,
		       (unsigned long long)used->registers[i].value);
	for (int i = 0; used->nregisters && i < TACH_DISPATCH_RANGES_MAX; i++)
		if (used->excess[i].before | used->excess[i].after)
			printf("0x%llx-0x%llx: also 0x%llx bytes before, 0x%llx after it\n",
			       (unsigned long long)asked->range[i].start,
			       (unsigned long long)asked->range[i].end,
			       (unsigned long long)used->excess[i].before,
			       (unsigned long long)used->excess[i].after);
	if (used->inexact)
		printf("the pairs do not cover these ranges exactly: try fewer, or another "
		       "order\n");
}

void dispatch_text(const struct dispatch_request *r, const struct tach_dispatch_out *out)
{
	printf("%-6s  %-12s  %-18s  %s\n", "", "address", "value", "register = event");
	print_registers("C", out->pmcs, out->npmcs, r);
	print_registers("D", out->pmds, out->npmds, r);
	debug_registers("IBR", &r->ia64.code, &out->code);
	debug_registers("DBR", &r->ia64.data, &out->data);
}

/* ---- JSON: numbers that may exceed 53 bits are strings ---- */

/* events: the event of each of the first n registers, or NULL. */
static void list_json(struct tach__json_out *json, const char *key,
		      const struct tach_register *list, uint32_t n, char *const *events,
		      uint32_t nevents)
{
	char name[REGISTER_NAME_MAX];

	tach__json_line(json, 2);
	tach__json_array(json, key);
	for (uint32_t i = 0; i < n; i++) {
		tach__json_line(json, 4);
		tach__json_object(json, NULL);
		tach__json_unsigned(json, "number", list[i].number);
		tach__json_string(json, "name", register_name(&list[i], name, sizeof name));
		tach__json_hex(json, "value", list[i].value);
		tach__json_hex(json, "address", list[i].address);
		tach__json_hex(json, "alternative", list[i].alternative);
		if (events && i < nevents)
			tach__json_string(json, "event", events[i]);
		tach__json_end(json);
	}
	if (n)
		tach__json_line(json, 2);
	tach__json_end(json);
}

static void ranges_json(struct tach__json_out *json, const char *kind,
			const struct tach_dispatch_ranges *asked,
			const struct tach_ranges_used *used)
{
	char key[24];

	snprintf(key, sizeof key, "%s_registers", kind);
	list_json(json, key, used->registers, used->nregisters, NULL, 0);
	snprintf(key, sizeof key, "%s_ranges", kind);
	tach__json_line(json, 2);
	tach__json_array(json, key);
	for (int i = 0; i < TACH_DISPATCH_RANGES_MAX && asked->range[i].end; i++) {
		tach__json_line(json, 4);
		tach__json_object(json, NULL);
		tach__json_hex(json, "start", asked->range[i].start);
		tach__json_hex(json, "end", asked->range[i].end);
		tach__json_hex(json, "before", used->excess[i].before);
		tach__json_hex(json, "after", used->excess[i].after);
		tach__json_end(json);
	}
	if (asked->range[0].end)
		tach__json_line(json, 2);
	tach__json_end(json);
	snprintf(key, sizeof key, "%s_exact", kind);
	tach__json_line(json, 2);
	tach__json_bool(json, key, !used->inexact);
}

void dispatch_json(const struct dispatch_request *r, const struct tach_dispatch_out *out)
{
	struct json_to to;
	struct tach__json_out *json = &to.json;

	json_begin(&to, stdout, TACH__JSON_SPACED);
	tach__json_object(json, NULL);
	tach__json_line(json, 2);
	tach__json_string(json, "schema", "tach-dispatch-1");
	tach__json_line(json, 2);
	tach__json_string(json, "pmu", r->pmu);
	list_json(json, "pmcs", out->pmcs, out->npmcs, NULL, 0);
	list_json(json, "pmds", out->pmds, out->npmds, r->names, r->in.nevents);
	ranges_json(json, "code", &r->ia64.code, &out->code);
	ranges_json(json, "data", &r->ia64.data, &out->data);
	tach__json_line(json, 0);
	tach__json_end(json);
	json_end(&to);
}

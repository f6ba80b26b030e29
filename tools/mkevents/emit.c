/* SPDX-License-Identifier: MIT */
/* Writes the arrays as C text. */
#include <inttypes.h>
#include "tools/mkevents/mk.h"

static void emit_strings(const struct mk_pool *pool, FILE *to)
{
	int fresh = 1;

	fprintf(to, "const char tach__tab_strings[] =");
	for (size_t i = 0; i < pool->used; i++) {
		char c = (char)pool->data[i];

		if (fresh)
			fputs("\n\t\"", to);
		fresh = 0;
		if (c == 0 && i + 1 < pool->used) {
			fputs("\\0\"", to);
			fresh = 1;
		} else if (c == '"' || c == '\\' || c == '?') { /* ??/ is a trigraph */
			fprintf(to, "\\%c", c);
		} else if (c) {
			fputc(c, to);
		}
	}
	/* Readers load names in steps of up to 32 bytes. */
	fprintf(to, "%s\n\t\"", fresh ? "" : "\"");
	for (int i = 0; i < 32; i++)
		fputs("\\0", to);
	fputs("\";\n\n", to);
}

static uint64_t number_at(const struct mk_pool *pool, size_t i)
{
	return pool->size == 2	 ? ((const uint16_t *)pool->data)[i]
	       : pool->size == 4 ? ((const uint32_t *)pool->data)[i]
				 : ((const uint64_t *)pool->data)[i];
}

static void emit_numbers(const char *name, const struct mk_pool *pool, FILE *to)
{
	fprintf(to, "const uint%zu_t tach__tab_%s[] = {", pool->size * 8, name);
	for (size_t i = 0; i < pool->used; i++)
		fprintf(to, "%s%" PRIu64 ",", i % 16 ? " " : "\n\t", number_at(pool, i));
	fputs("\n};\n\n", to);
}

static void emit_events(const struct mk_pool *pool, FILE *to)
{
	const struct tach__event *e = (const struct tach__event *)pool->data;

	fputs("const struct tach__event tach__tab_events[] = {\n", to);
	for (size_t i = 0; i < pool->used; i++, e++)
		fprintf(to, "\t{%u, %u, %#x, %#x, %#x, %u, %u, %u, %u, %u, %u, %u},\n", e->name,
			e->description, e->code, e->flags, e->mods, e->umasks, e->numasks,
			e->counter_set, e->hw, e->attrs, e->ngroups, e->src);
	fputs("};\n\n", to);
}

static void emit_umasks(const struct mk_pool *pool, FILE *to)
{
	const struct tach__umask *u = (const struct tach__umask *)pool->data;

	fputs("const struct tach__umask tach__tab_umasks[] = {\n", to);
	for (size_t i = 0; i < pool->used; i++, u++)
		fprintf(to, "\t{%#" PRIx64 ", %u, %u, %u, %#x, %#x, %u, %u, %u, %u, %u},\n",
			u->code, u->name, u->description, u->counter_set, u->mods, u->flags,
			u->hw, u->attrs, u->group, u->requires, u->src);
	fputs("};\n\n", to);
}

static void emit_attrs(const struct mk_pool *pool, FILE *to)
{
	const struct tach__tab_attr *a = (const struct tach__tab_attr *)pool->data;

	fputs("const struct tach__tab_attr tach__tab_attrs[] = {\n", to);
	for (size_t i = 0; i < pool->used; i++, a++)
		fprintf(to, "\t{%#" PRIx64 ", %u, %u},\n", a->number, a->text, a->key);
	fputs("};\n\n", to);
}

static void emit_names(const struct mk_pool *pool, FILE *to)
{
	const struct tach__tab_name *n = (const struct tach__tab_name *)pool->data;

	fputs("const struct tach__tab_name tach__tab_names[] = {\n", to);
	for (size_t i = 0; i < pool->used; i++, n++)
		fprintf(to, "\t{%u, %u, %u},\n", n->name, n->first, n->second);
	fputs("};\n\n", to);
}

static void emit_pmus(const struct mk_image *im, FILE *to)
{
	fputs("const struct tach__pmu tach__tab_pmus[] = {\n", to);
	for (size_t i = 0; i < im->npmus; i++) {
		const struct tach__pmu *p = &im->pmus[i];

		fprintf(to,
			"\t{%u, %u, %u, %u, %u, %u, %u, %u, %u, {%u}, %u, {%#x}, {%#x}, %#x, "
			"%#x, %d, %u, %u},\n",
			p->name, p->description, p->perf, p->arch, p->encoding, p->general,
			p->general_width, p->general_libpfm4, p->fixed_libpfm4, p->fixed_width,
			p->privilege, p->fixed, p->general_mask, p->mods, p->flags,
			p->libpfm4_id, p->nevents, p->alias);
	}
	fputs("};\n\nconst struct tach__tab_pmu tach__tab_runs[] = {\n", to);
	for (size_t i = 0; i < im->npmus; i++)
		fprintf(to, "\t{%u, %u, %u},\n", im->runs[i].events, im->runs[i].vendor,
			im->runs[i].nvendor);
	fputs("};\n\n", to);
}

static void emit_matches(const struct mk_image *im, FILE *to)
{
	fputs("const struct tach__tab_match tach__tab_matches[] = {\n", to);
	for (size_t i = 0; i < im->nmatches; i++) {
		const struct tach__tab_match *m = &im->matches[i];

		fprintf(to,
			"\t{%u, %u, %u, %u, %u, %#x, %#x, {%#x, %#x}, {%#x, %#x}, {%#x, "
			"%#x}},\n",
			m->vendor, m->pattern, m->fallback, m->pmu, m->arch, m->core, m->native,
			m->family[0], m->family[1], m->model[0], m->model[1], m->stepping[0],
			m->stepping[1]);
	}
	fputs("};\n\nconst struct tach__tab_boxes tach__tab_boxes[] = {\n", to);
	for (size_t i = 0; i < im->nbox_matches; i++) {
		const struct tach__tab_boxes *b = &im->box_matches[i];

		fprintf(to, "\t{%u, %u, %u, %u, {%#x, %#x}, {%#x, %#x}, {%#x, %#x}},\n",
			b->vendor, b->first, b->count, b->arch, b->family[0], b->family[1],
			b->model[0], b->model[1], b->stepping[0], b->stepping[1]);
	}
	/* A C array has at least one row. */
	fprintf(to, "%s};\n", im->nbox_matches ? "" : "\t{0}\n");
}

int mk_emit(const struct mk_image *im, FILE *to)
{
	fputs("/* Written by mkevents from arch/<arch>/events; change those. */\n"
	      "#include \"core/tables/data.h\"\n\n",
	      to);
	emit_strings(&im->strings, to);
	emit_pmus(im, to);
	emit_events(&im->events, to);
	emit_umasks(&im->umasks, to);
	emit_attrs(&im->attr_values, to);
	emit_names(&im->names, to);
	emit_numbers("name_hash", &im->name_hash, to);
	emit_numbers("event_ids", &im->event_ids, to);
	emit_numbers("event_order", &im->event_order, to);
	emit_numbers("event_hash", &im->event_hash, to);
	emit_numbers("umask_ids", &im->umask_ids, to);
	emit_numbers("umask_order", &im->umask_order, to);
	emit_numbers("umask_hash", &im->umask_hash, to);
	emit_numbers("attr_lists", &im->attr_lists, to);
	emit_numbers("hw", &im->hw, to);
	emit_numbers("counters", &im->counters, to);
	emit_matches(im, to);
	fprintf(to,
		"\nconst uint32_t tach__tab_npmus = %zu, tach__tab_npfm3 = %zu;\n"
		"const uint32_t tach__tab_nmatches = %zu;\n"
		"const uint32_t tach__tab_pmu_names = %u, tach__tab_npmu_names = %u;\n"
		"const uint32_t tach__tab_nboxes = %zu, tach__tab_nbox_matches = %zu;\n"
		"const uint32_t tach__tab_box_names = %u;\n",
		im->npmus - im->nboxes - im->npfm3, im->npfm3, im->nmatches, im->pmu_names,
		im->npmu_names, im->nboxes, im->nbox_matches, im->box_names);
	return ferror(to) ? -1 : 0;
}

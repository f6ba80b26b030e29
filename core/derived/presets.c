/* SPDX-License-Identifier: MIT */
/* Our own presets: look-up in the compiled arrays. */
#include <string.h>
#include <tach/pmu.h>
#include "core/derived/packed.h"
#include "core/derived/parse.h"
#include "core/derived/presets.h"
#include "core/tables/tables.h"

static const char *pool_string(uint32_t offset)
{
	return tach__preset_pool + offset;
}

static const char *pmu_name(const void *context, size_t i)
{
	(void)context;
	return pool_string(tach__preset_pmus[i].name);
}

static const struct tach__preset_pmu *of(int pmu)
{
	struct tach_pmu_info info = {.size = sizeof info};
	size_t length, i;

	if (tach_pmu_describe(pmu, &info) < 0)
		return NULL;
	length = strlen(info.name);
	i = tach__lower_bound(tach__preset_npmus, pmu_name, NULL, info.name, length);
	if (i == tach__preset_npmus || tach__name_compare(info.name, length, pmu_name(NULL, i)))
		return NULL;
	return &tach__preset_pmus[i];
}

static const struct tach__preset *record(const struct tach__preset_pmu *p, size_t i)
{
	return &tach__preset_record[tach__preset_index[p->first + i]];
}

static const char *record_name(const void *context, size_t i)
{
	return pool_string(record(context, i)->name);
}

int tach__preset_count(int pmu)
{
	const struct tach__preset_pmu *p = of(pmu);

	return p ? (int)p->count : 0;
}

void tach__preset_at(int pmu, int i, struct tach_derived_info *info)
{
	const struct tach__preset *r = record(of(pmu), (size_t)i);
	const struct tach__preset_metric *m = &tach__preset_metrics[r->metric];

	info->preset = r->preset;
	info->name = pool_string(r->name);
	info->type = (enum tach_derived_type)r->type;
	info->type_name = tach__derived_type_name(info->type);
	info->formula = tach__packed(r->formula);
	info->nevents = r->nevents;
	info->events = tach__packed(r->events);
	info->long_description = "";
	info->short_description = tach__packed(r->description);
	info->note = tach__packed(r->note);
	info->file = pool_string(r->file);
	info->line = r->line;
	info->level = m->level;
	info->scale = m->scale;
	info->unit = pool_string(m->unit);
	info->threshold = tach__packed(m->threshold);
	info->parent = pool_string(m->parent);
	info->groups = tach__packed(m->groups);
}

int tach__preset_find(int pmu, const char *name, size_t length)
{
	const struct tach__preset_pmu *p = of(pmu);
	size_t i;

	if (!p)
		return -1;
	i = tach__lower_bound(p->count, record_name, p, name, length);
	if (i == p->count || tach__name_compare(name, length, record_name(p, i)))
		return -1;
	return (int)i;
}

static const char *cpu_name(const void *context, size_t i)
{
	(void)context;
	return pool_string(tach__preset_cpus[i].name);
}

const char *tach__preset_cpu(const char *name, size_t length, size_t n)
{
	size_t i = tach__lower_bound(tach__preset_ncpus, cpu_name, NULL, name, length) + n;

	if (i >= tach__preset_ncpus || tach__name_compare(name, length, cpu_name(NULL, i)))
		return NULL;
	return pool_string(tach__preset_cpus[i].pmu);
}

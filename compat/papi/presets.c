/* SPDX-License-Identifier: MIT */
/*
 * PAPI's presets, and the events of a user's file. The library's registry of derived events
 * stores both.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "compat/papi/state.h"

static const struct {
	const char *name;
	unsigned type;
	const char *text;
} known[] = {
#define MSC			 PAPI_PRESET_BIT_MSC
#define INS			 PAPI_PRESET_BIT_INS
#define IDL			 PAPI_PRESET_BIT_IDL
#define BR			 PAPI_PRESET_BIT_BR
#define CND			 PAPI_PRESET_BIT_CND
#define MEM			 PAPI_PRESET_BIT_MEM
#define CACH			 PAPI_PRESET_BIT_CACH
#define L1			 PAPI_PRESET_BIT_L1
#define L2			 PAPI_PRESET_BIT_L2
#define L3			 PAPI_PRESET_BIT_L3
#define TLB			 PAPI_PRESET_BIT_TLB
#define FP			 PAPI_PRESET_BIT_FP
#define PRESET(name, type, text) {"PAPI_" #name, type, text},
#include "compat/papi/presets.def"
};
enum { KNOWN = sizeof known / sizeof *known };

static struct tach_derived *registry;
static struct pp_derived preset[KNOWN], user[PAPI_MAX_USER_EVENTS];
static char looked[KNOWN];
static int nuser;

const char *pp_preset_name(int index)
{
	return index >= 0 && index < KNOWN ? known[index].name : NULL;
}

unsigned pp_preset_type(int index)
{
	return known[index].type;
}

const char *pp_preset_text(int index)
{
	return known[index].text;
}

static struct tach_derived *open_registry(void)
{
	struct tach_derived_options options = {
		.size = sizeof options, .flags = TACH_DERIVED_PRESETS | TACH_DERIVED_USER};

	if (!registry && tach_derived_create(&options, &registry, NULL) != 0)
		registry = NULL;
	return registry;
}

/*
 * Evaluates the formula with different counts to find out if it is one count, a sum or a
 * difference.
 */
static enum pp_kind kind_of(const struct tach_formula *formula, int n)
{
	uint64_t count[PP_TERMS];
	double sum = 0, value, scale = 1;

	if (n > PP_TERMS || tach_formula_shape(formula) != TACH_SHAPE_LINEAR)
		return PP_FORMULA;
	for (int i = 0; i < n; i++, scale *= 10) {
		count[i] = (uint64_t)scale;
		sum += scale;
	}
	value = tach_formula_eval(formula, count, 0, NULL);
	if (value == sum)
		return n == 1 ? PP_PLAIN : PP_SUM;
	return value == 2 * (double)count[0] - sum ? PP_DIFFERENCE : PP_FORMULA;
}

static void free_preset(struct pp_derived *d)
{
	tach_expansion_free(d->expansion);
	free(d->code);
	memset(d, 0, sizeof *d);
}

/* Fills in a preset. Its count stays 0 if this machine lacks an event. */
static void fill(struct pp_derived *d, const char *name)
{
	int n;

	d->info.size = sizeof d->info;
	if (tach_derived_find(registry, pp_default_pmu(), name, &d->info) != 0 ||
	    tach_derived_expand(registry, pp_default_pmu(), name, &d->expansion, NULL) != 0) {
		free_preset(d);
		return;
	}
	n = tach_expansion_count(d->expansion);
	d->code = calloc((size_t)n + 1, sizeof(*d->code));
	for (int i = 0; d->code && i < n; i++)
		if (pp_native_code(tach_expansion_event(d->expansion, i), &d->code[i]) !=
		    PAPI_OK)
			n = 0;
	if (!d->code || n == 0) {
		free_preset(d);
		return;
	}
	strncpy(d->symbol, d->info.name, sizeof d->symbol - 1);
	d->kind = kind_of(tach_expansion_formula(d->expansion), n);
	d->count = n;
}

const struct pp_derived *pp_preset(int index)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

	if (index < 0 || index >= KNOWN)
		return NULL;
	if (__atomic_load_n(&looked[index], __ATOMIC_ACQUIRE))
		return &preset[index];
	pthread_mutex_lock(&one);
	if (!looked[index]) {
		if (pp_process.level != PAPI_NOT_INITED && !pp_component_disabled(PP_CORE) &&
		    open_registry())
			fill(&preset[index], known[index].name);
		if (pp_process.level != PAPI_NOT_INITED)
			__atomic_store_n(&looked[index], 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&one);
	return &preset[index];
}

int pp_presets_count(void)
{
	int n = 0;

	for (int i = 0; i < KNOWN; i++)
		n += pp_preset(i)->count != 0;
	return n;
}

int pp_user_events(void)
{
	return nuser;
}

const struct pp_derived *pp_user_event(int index)
{
	return index >= 0 && index < nuser ? &user[index] : NULL;
}

static int by_line(const void *a, const void *b)
{
	return ((const struct pp_derived *)a)->info.line -
	       ((const struct pp_derived *)b)->info.line;
}

static void read_user(const char *path)
{
	struct tach_derived_info info;
	int n = tach_derived_count(registry, pp_default_pmu());

	for (int i = 0; i < n && nuser < PAPI_MAX_USER_EVENTS; i++) {
		info.size = sizeof info;
		if (tach_derived_at(registry, pp_default_pmu(), i, &info) != 0 || info.preset ||
		    strcmp(info.file, path) != 0)
			continue;
		fill(&user[nuser], info.name);
		if (user[nuser].count)
			nuser++;
	}
	qsort(user, (size_t)nuser, sizeof *user, by_line);
}

void pp_presets_begin(void)
{
	const char *mine = getenv("PAPI_USER_EVENTS_FILE");

	if ((mine || getenv("PAPI_CSV_EVENT_FILE")) && !pp_component_disabled(PP_CORE) &&
	    open_registry() && mine)
		read_user(mine);
}

void pp_presets_forget(void)
{
	for (int i = 0; i < KNOWN; i++)
		free_preset(&preset[i]);
	for (int i = 0; i < nuser; i++)
		free_preset(&user[i]);
	memset(looked, 0, sizeof looked);
	nuser = 0;
	tach_derived_free(registry);
	registry = NULL;
}

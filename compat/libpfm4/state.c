/* SPDX-License-Identifier: MIT */
/* pfm_initialize, pfm_terminate, and the environment's settings. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <tach/pmu.h>
#include "compat/libpfm4/state.h"

enum { IDX_SHIFT = 21, NUMBERS = 1024 };

/*
 * Readers hold the lock during a whole call. The writer holds it while it examines the machine.
 * No thread takes it twice, and libpfm4's functions are not for signal handlers. A forked child
 * gets a free lock: state that another thread of its parent was changing is not `ready`, so the
 * child computes it again.
 */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct p4_state state;

static void forked_child(void)
{
	lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_child);
}

/* ---- numbers ---- */

static int16_t pmu_of_number[NUMBERS];
/*
 * number_all takes no lock. If a fork interrupts it, the child runs it again (glibc counts
 * forks in the word).
 */
static pthread_once_t numbered = PTHREAD_ONCE_INIT;

static int is_box(int pmu)
{
	return pmu >= tach__npmus();
}

/* libpfm-4's number, or one that follows from the table's order; -1: neither. */
static int number_in_tables(int pmu)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);
	const char *alias = tach__str(row->alias);

	if (!is_box(pmu))
		return row->libpfm4_id >= 0 ? row->libpfm4_id : PFM_PMU_OURS + pmu;
	/* A name that boxes of several CPUs share has one number. */
	return *alias ? tach__pmu_at(tach__pmu_find(alias, strlen(alias)))->libpfm4_id
		      : row->libpfm4_id;
}

/*
 * There are thousands of boxes that libpfm-4 does not know, but an index has 10 bits for the
 * PMU. This machine's boxes get the free numbers, in the order of their first use.
 */
static void number_boxes(void)
{
	int next = PFM_PMU_OURS + tach__npmus();

	for (int i = tach__npmus(); i < tach__npmus() + tach__nboxes(); i++)
		if (number_in_tables(i) < 0 && tach__box_in(tach__boxes(), i) && next < NUMBERS)
			pmu_of_number[next++] = (int16_t)i;
}

static void number_all(void)
{
	memset(pmu_of_number, 0xff, sizeof pmu_of_number);
	for (int i = 0; i < tach__npmus() + tach__nboxes(); i++) {
		int number = number_in_tables(i);

		if (number >= 0 &&
		    (pmu_of_number[number] < 0 || tach__box_in(tach__boxes(), i)))
			pmu_of_number[number] = (int16_t)i;
	}
	number_boxes();
}

int p4_number(int pmu)
{
	int number = number_in_tables(pmu);

	if (number >= 0)
		return number;
	pthread_once(&numbered, number_all);
	for (number = PFM_PMU_OURS + tach__npmus(); number < NUMBERS; number++)
		if (pmu_of_number[number] == pmu)
			return number;
	return -1;
}

int p4_pmu(int number)
{
	if (number < 0 || number >= NUMBERS)
		return -1;
	pthread_once(&numbered, number_all);
	return pmu_of_number[number];
}

int p4_idx(int pmu, int event)
{
	return p4_number(pmu) << IDX_SHIFT | (event < 0 ? 0 : event);
}

int p4_from_idx(int idx, int *event)
{
	int pmu = idx < 0 ? -1 : p4_pmu(idx >> IDX_SHIFT), nevents;

	if (pmu < 0)
		return -1;
	*event = idx & ((1 << IDX_SHIFT) - 1);
	nevents = (int)tach__pmu_at(pmu)->nevents;
	/* perf_raw has no rows, and one event that represents all. */
	if (tach__pmu_at(pmu)->encoding == TACH__PERF_RAW)
		nevents = 1;
	return *event < nevents ? pmu : -1;
}

/* ---- environment ---- */

static int level(const char *name)
{
	const char *text = secure_getenv(name);

	return text && *text >= '0' && *text <= '9' ? *text - '0' : 0;
}

/* Returns true if the name contains one of the comma-separated substrings. */
static int is_disabled(const char *name)
{
	const char *list = secure_getenv("LIBPFM_DISABLED_PMUS");
	char word[64];

	while (list && *list) {
		size_t length = strcspn(list, ",");

		if (length && length < sizeof word) {
			memcpy(word, list, length);
			word[length] = 0;
			if (strcasestr(name, word))
				return 1;
		}
		list += length + (list[length] == ',');
	}
	return 0;
}

static void activate(int pmu)
{
	if (pmu >= 0 && state.nactive < TACH__SEARCH_MAX && !p4_is_active(&state, pmu) &&
	    !is_disabled(tach__str(tach__pmu_at(pmu)->name)))
		state.active[state.nactive++] = pmu;
}

/* Finds the whole name, or the first name with this prefix; text after a comma is ignored. */
static int find_forced(const char *text)
{
	size_t length = strcspn(text, ",");
	int whole = tach__pmu_find(text, length);

	for (int i = 0; whole < 0 && i < tach__npmus() + tach__nboxes(); i++)
		if (strncasecmp(tach__str(tach__pmu_at(i)->name), text, length) == 0)
			whole = i;
	return whole;
}

static pfm_err_t force(const char *text)
{
	int pmu = find_forced(text);

	state.forced = 1;
	if (pmu < 0)
		return PFM_ERR_NOTSUPP;
	state.active[state.nactive++] = pmu;
	if (!is_box(pmu) && tach__pmu_at(pmu)->arch != TACH__LINUX)
		snprintf(state.host, sizeof state.host, "%s",
			 tach__str(tach__pmu_at(pmu)->name));
	return PFM_SUCCESS;
}

/* libpfm-4's table for that CPU, if the CPU has its own table here. */
static int libpfm4_table(int pmu)
{
	const struct tach__pmu *row = tach__pmu_at(pmu);
	const char *alias = tach__str(row->alias);
	int theirs = row->libpfm4_id < 0 && *alias ? tach__pmu_find(alias, strlen(alias)) : -1;

	return theirs >= 0 && tach__pmu_at(theirs)->libpfm4_id >= 0 ? theirs : pmu;
}

/*
 * Adds our own table of a CPU after the active tables, so that it is searched last: callers
 * know libpfm-4's names of PMUs (in PAPI's presets, too).
 */
static void hide(int pmu)
{
	if (!p4_is_active(&state, pmu) && state.nactive + state.nhidden < TACH__SEARCH_MAX &&
	    !is_disabled(tach__str(tach__pmu_at(pmu)->name)))
		state.active[state.nactive + state.nhidden++] = pmu;
}

static void detect(void)
{
	const uint64_t *boxes = tach__boxes(); /* few boxes of the thousands in the tables */
	int hosts[TACH__SEARCH_MAX], n = tach_pmu_host(hosts, TACH__SEARCH_MAX, NULL), arch;

	for (int i = 0; i < n && i < TACH__SEARCH_MAX; i++)
		activate(libpfm4_table(hosts[i]));
	arch = tach__pmu_find("ix86arch", 8);
	/* A hypervisor may show the CPU but no PMU. */
	if (arch >= 0 && tach__archperfmon_counters(&state.arch_general, &state.arch_fixed))
		activate(arch);
	for (int i = 0; i < tach__npmus(); i++)
		if (state.perf && tach__pmu_at(i)->arch == TACH__LINUX)
			activate(i);
	for (int i = 0; i < n && i < TACH__SEARCH_MAX; i++)
		hide(hosts[i]);
	for (int word = 0; word < TACH__BOX_WORDS; word++)
		for (uint64_t left = boxes[word]; left; left &= left - 1) {
			int i = tach__npmus() + word * 64 + __builtin_ctzll(left);

			if (p4_number(i) >= 0 && !is_disabled(tach__str(tach__pmu_at(i)->name)))
				state.boxes[word] |= left & -left;
		}
}

pfm_err_t pfm_initialize(void)
{
	const char *forced = secure_getenv("LIBPFM_FORCE_PMU");
	const char *inactive = secure_getenv("LIBPFM_ENCODE_INACTIVE");
	pfm_err_t status;

	pthread_rwlock_wrlock(&lock);
	if (!state.ready) {
		memset(&state, 0, sizeof state);
		state.verbose = level("LIBPFM_VERBOSE") + level("LIBPFM_DEBUG");
		state.out = level("LIBPFM_DEBUG_STDOUT") ? stdout : stderr;
		state.encode_inactive = inactive && *inactive == '1';
		state.perf = access("/proc/sys/kernel/perf_event_paranoid", F_OK) == 0;
		if (forced && *forced)
			state.status = force(forced);
		else
			detect();
		state.ready = 1;
	}
	status = state.status;
	pthread_rwlock_unlock(&lock);
	return status;
}

void pfm_terminate(void)
{
	pthread_rwlock_wrlock(&lock);
	state.ready = 0;
	pthread_rwlock_unlock(&lock);
}

/* ---- for the other files ---- */

const struct p4_state *p4_enter(void)
{
	pthread_rwlock_rdlock(&lock);
	if (state.ready && state.status == PFM_SUCCESS)
		return &state;
	pthread_rwlock_unlock(&lock);
	return NULL;
}

void p4_leave(void)
{
	pthread_rwlock_unlock(&lock);
}

int p4_is_active(const struct p4_state *s, int pmu)
{
	for (int i = 0; i < s->nactive; i++)
		if (s->active[i] == pmu)
			return 1;
	return tach__box_in(s->boxes, pmu);
}

int p4_os_works(const struct p4_state *s, pfm_os_t os)
{
	return os == PFM_OS_NONE ||
	       ((os == PFM_OS_PERF_EVENT || os == PFM_OS_PERF_EVENT_EXT) && s->perf);
}

struct tach_encode_options p4_options(const struct p4_state *s, pfm_os_t os, int plm)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = (enum tach_os)os;
	opt.privilege = (uint32_t)plm;
	opt.any_pmu = s->encode_inactive;
	opt.flags = TACH_ENCODE_LIBPFM4 | TACH_ENCODE_NO_NAME;
	opt.host = s->forced ? s->host : NULL;
	return opt;
}

/* SPDX-License-Identifier: MIT */
/* The threads that the library knows, their numbers in the program, and the data of each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/papi/state.h"

struct pp_thread pp_nobody;
__thread struct pp_thread *pp_self = &pp_nobody;
static struct pp_thread *ring;
static unsigned long (*number_of)(void);
static pthread_key_t key;
static unsigned generation; /* counts initialisations: older data is invalid */
static __thread unsigned known_in;

static int is_known(void)
{
	return pp_self != &pp_nobody && known_in == generation;
}

/* A reader belongs to the thread that opened it, and ends with the thread. */
static void thread_ends(void *context)
{
	struct pp_thread *t = context;
	struct pp_set *set;

	if (!is_known() || pp_self != t)
		return;
	pp_enter();
	for (uint32_t i = 0; i < pp_table.size; i++)
		if (pp_table.slot[i] && pp_table.slot[i]->opener == t)
			pp_close(pp_table.slot[i]);
	while ((set = t->orphans)) {
		t->orphans = set->next;
		pp_set_free(set);
	}
	pp_leave();
	pp_self = &pp_nobody;
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
}

static void link_in(struct pp_thread *t)
{
	pp_enter();
	if (ring) {
		t->next = ring->next;
		ring->next = t;
	} else {
		t->next = t;
	}
	ring = t;
	pp_leave();
}

static struct pp_thread *make_thread(void)
{
	struct pp_thread *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->tid = number_of ? number_of() : (unsigned long)getpid();
	t->maker = t->tid;
	return t;
}

int pp_thread_get(struct pp_thread **out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct pp_thread *t;

	if (is_known()) {
		*out = pp_self;
		return PAPI_OK;
	}
	pthread_once(&once, make_key);
	t = make_thread();
	if (!t)
		return PAPI_ENOMEM;
	t->kernel_tid = (int)syscall(SYS_gettid);
	pthread_setspecific(key, t);
	link_in(t);
	pp_self = t;
	known_in = generation;
	*out = t;
	return PAPI_OK;
}

int pp_thread_of(unsigned long tid, struct pp_thread **out)
{
	struct pp_thread *t;

	if (tid == 0)
		return pp_thread_get(out);
	pp_enter();
	t = ring;
	while (t && t->tid != tid)
		t = t->next == ring ? NULL : t->next;
	pp_leave();
	if (!t) {
		t = make_thread();
		if (!t)
			return PAPI_ENOMEM;
		t->tid = tid;
		t->kernel_tid = (int)tid;
		t->attached = 1;
		link_in(t);
	}
	*out = t;
	return PAPI_OK;
}

int pp_threads_begin(void)
{
	struct pp_thread *t;

	number_of = NULL;
	return pp_thread_get(&t);
}

/* Frees entries that PAPI_attach made for thread numbers: no thread here uses them. */
static void free_attached(void)
{
	struct pp_thread *end = ring, *t = ring ? ring->next : NULL;

	while (t) {
		struct pp_thread *next = t == end ? NULL : t->next;

		if (t->attached)
			free(t);
		t = next;
	}
}

/*
 * Other threads may still use their data and their readers, so both stay. Each thread compares
 * the generation before it uses them.
 */
void pp_threads_end(void)
{
	struct pp_thread *self = is_known() ? pp_self : NULL;

	pp_enter();
	free_attached();
	ring = NULL;
	number_of = NULL;
	generation++;
	pp_leave();
	if (self) {
		pthread_setspecific(key, NULL);
		pp_self = &pp_nobody;
		free(self);
	}
}

void pp_threads_forked(void)
{
	if (!is_known())
		return;
	memset(pp_self->running, 0, sizeof pp_self->running);
	pp_self->orphans = NULL;
	pp_self->kernel_tid = (int)syscall(SYS_gettid);
}

/* ---- PAPI's ---- */

int PAPI_thread_init(unsigned long (*id_fn)(void))
{
	if (pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	if (pp_process.level & PAPI_THREAD_LEVEL_INITED)
		return PAPI_OK;
	pp_process.level |= PAPI_THREAD_LEVEL_INITED;
	if (!ring || ring->next != ring || (id_fn && number_of))
		return pp_return(PAPI_EINVAL);
	number_of = id_fn;
	ring->tid = id_fn ? id_fn() : (unsigned long)getpid();
	return PAPI_OK;
}

unsigned long PAPI_thread_id(void)
{
	return number_of ? number_of() : (unsigned long)PAPI_EMISC;
}

int PAPI_register_thread(void)
{
	struct pp_thread *t;

	if (pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	return pp_return(pp_thread_get(&t));
}

static void link_out(struct pp_thread *t)
{
	struct pp_thread *before = ring;

	while (before && before->next != t)
		before = before->next;
	if (before == t) {
		ring = NULL;
	} else if (before) {
		before->next = t->next;
		if (ring == t)
			ring = t->next;
	}
}

int PAPI_unregister_thread(void)
{
	struct pp_thread *t = pp_self;
	unsigned long tid = number_of ? number_of() : (unsigned long)getpid();

	if (!is_known())
		return pp_return(PAPI_EMISC);
	if (t->tid != tid && t->maker != tid)
		return pp_return(PAPI_EBUG);
	pp_sets_free(t);
	pthread_setspecific(key, NULL);
	pp_enter();
	link_out(t);
	while (t->orphans) {
		struct pp_set *set = t->orphans;

		t->orphans = set->next;
		pp_set_free(set);
	}
	pp_leave();
	pp_self = &pp_nobody;
	free(t);
	return PAPI_OK;
}

static int gather_values(int tag, PAPI_all_thr_spec_t *to)
{
	int n = 0;

	pp_enter();
	for (struct pp_thread *t = ring; t; t = t->next == ring ? NULL : t->next) {
		if ((to->id || to->data) && n >= to->num)
			break;
		if (to->id)
			to->id[n] = t->tid;
		if (to->data)
			to->data[n] = t->storage[tag];
		n++;
	}
	to->num = n;
	pp_leave();
	return PAPI_OK;
}

int PAPI_list_threads(PAPI_thread_id_t *tids, int *number)
{
	PAPI_all_thr_spec_t all = {0, tids, NULL};

	if (!number || (tids && *number <= 0))
		return pp_return(PAPI_EINVAL);
	all.num = *number;
	gather_values(0, &all);
	*number = all.num;
	return PAPI_OK;
}

int PAPI_get_thr_specific(int tag, void **ptr)
{
	struct pp_thread *t;
	int all = tag & PAPI_TLS_ALL_THREADS, code;

	if (pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	tag ^= all;
	if (tag < 0 || tag > PAPI_NUM_TLS || !ptr)
		return pp_return(PAPI_EINVAL);
	if (all)
		return gather_values(tag, (PAPI_all_thr_spec_t *)ptr);
	code = pp_thread_get(&t);
	if (code == PAPI_OK)
		*ptr = t->storage[tag];
	return pp_return(code);
}

int PAPI_set_thr_specific(int tag, void *ptr)
{
	struct pp_thread *t;
	int code;

	if (pp_process.level == PAPI_NOT_INITED)
		return pp_return(PAPI_ENOINIT);
	if (tag < 0 || tag > PAPI_NUM_TLS)
		return pp_return(PAPI_EINVAL);
	code = pp_thread_get(&t);
	if (code == PAPI_OK)
		t->storage[tag] = ptr;
	return pp_return(code);
}

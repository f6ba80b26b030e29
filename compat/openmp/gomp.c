/* SPDX-License-Identifier: MIT */
/*
 * gcc's runtime has no OMPT. With LD_PRELOAD these functions replace the runtime's entry points
 * (libgomp.map), and call them. LLVM's runtime exports the same entry points; there the OMPT
 * tool measures.
 */
#include <dlfcn.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include "compat/openmp/openmp.h"

/*
 * Finds the function of the program's runtime. A runtime that is not in the global scope is a
 * dependency of the object that calls.
 */
static void *find_next(const char *name, const void *caller)
{
	static const char *const runtimes[] = {"libgomp.so.1", "libomp.so.5", "libomp.so"};
	void *found = dlsym(RTLD_NEXT, name), *object = NULL;
	Dl_info info;

	if (!found && dladdr(caller, &info) && info.dli_fname && *info.dli_fname)
		object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (object)
		found = dlsym(object, name);
	for (size_t i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++)
		if ((object = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD)))
			found = dlsym(object, name);
	if (!found)
		abort(); /* the program calls a function that it does not have */
	return found;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define NEXT(name)                                                                             \
	({                                                                                     \
		static __typeof__(&name) next_;                                                \
		__typeof__(&name) f_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);              \
		if (!f_) {                                                                     \
			*(void **)&f_ = find_next(#name, CALLER);                              \
			__atomic_store_n(&next_, f_, __ATOMIC_RELAXED);                        \
		}                                                                              \
		f_;                                                                            \
	})

/* ---- teams ---- */

typedef void (*body)(void *);

/* Is on the stack of the thread that starts the team, and stays until all others finished. */
struct start {
	/* The runtime takes the team's reductions from the first word of its data. */
	void *reductions;
	struct team team;
	body function;
	void *data;
	const void *starter; /* its thread record */
};

static void run(void *start)
{
	const struct start *s = start;
	int is_starter = openmp_thread() == s->starter;

	openmp_join(&((struct start *)start)->team, !is_starter);
	s->function(s->data);
	if (is_starter)
		openmp_finish(1);
	else
		openmp_leave();
}

/*
 * The place is the function that gcc made of the team's code. This function has the line of the
 * directive. The call has the line of some statement before the directive.
 */
static struct place *place_of(body function)
{
	return openmp_place((const char *)(uintptr_t)function + 1);
}

static int begin(struct start *s, body function, void *data, void *reductions)
{
	if (openmp_has_tool)
		return 0;
	*s = (struct start){reductions, openmp_team(place_of(function)), function, data,
			    openmp_thread()};
	return s->team.place && s->starter;
}

/* If the team is measured, the arguments fn and data are replaced. */
#define PARALLEL(type, result, name, parameters, arguments)                                    \
	OPENMP type name parameters;                                                           \
	type name parameters                                                                   \
	{                                                                                      \
		struct start s;                                                                \
		int measured = begin(&s, fn, data, REDUCTIONS_##type);                         \
                                                                                               \
		if (measured) {                                                                \
			fn = run;                                                              \
			data = &s;                                                             \
		}                                                                              \
		result NEXT(name) arguments;                                                   \
		if (measured)                                                                  \
			openmp_leave();                                                        \
		END_##type                                                                     \
	}
#define END_void
#define END_unsigned	    return r;
#define REDUCTIONS_void	    NULL
#define REDUCTIONS_unsigned *(void **)data

PARALLEL(void, , GOMP_parallel, (body fn, void *data, unsigned n, unsigned flags),
	 (fn, data, n, flags))
PARALLEL(unsigned, unsigned r =, GOMP_parallel_reductions,
	 (body fn, void *data, unsigned n, unsigned flags), (fn, data, n, flags))
PARALLEL(void, , GOMP_parallel_sections,
	 (body fn, void *data, unsigned n, unsigned count, unsigned flags),
	 (fn, data, n, count, flags))
#define CHUNKED(name)                                                                          \
	PARALLEL(void, , GOMP_parallel_loop_##name,                                            \
		 (body fn, void *data, unsigned n, long start, long end, long step,            \
		  long chunk, unsigned flags),                                                 \
		 (fn, data, n, start, end, step, chunk, flags))
CHUNKED(static)
CHUNKED(dynamic)
CHUNKED(guided)
CHUNKED(nonmonotonic_dynamic)
CHUNKED(nonmonotonic_guided)
#define UNCHUNKED(name)                                                                        \
	PARALLEL(void, , GOMP_parallel_loop_##name,                                            \
		 (body fn, void *data, unsigned n, long start, long end, long step,            \
		  unsigned flags),                                                             \
		 (fn, data, n, start, end, step, flags))
UNCHUNKED(runtime)
UNCHUNKED(nonmonotonic_runtime)
UNCHUNKED(maybe_nonmonotonic_runtime)

/* ---- barriers ---- */

#define WAIT(name)                                                                             \
	OPENMP void name(void);                                                                \
	void name(void)                                                                        \
	{                                                                                      \
		if (!openmp_has_tool)                                                          \
			openmp_wait_begin();                                                   \
		NEXT(name)();                                                                  \
		if (!openmp_has_tool)                                                          \
			openmp_wait_end();                                                     \
	}
WAIT(GOMP_barrier)
WAIT(GOMP_loop_end)
WAIT(GOMP_sections_end)
WAIT(GOMP_taskwait)
WAIT(GOMP_taskgroup_end)

/* Returns 1 if the team was cancelled. */
#define WAIT_CANCEL(name)                                                                      \
	OPENMP _Bool name(void);                                                               \
	_Bool name(void)                                                                       \
	{                                                                                      \
		_Bool cancelled;                                                               \
                                                                                               \
		if (!openmp_has_tool)                                                          \
			openmp_wait_begin();                                                   \
		cancelled = NEXT(name)();                                                      \
		if (!openmp_has_tool)                                                          \
			openmp_wait_end();                                                     \
		return cancelled;                                                              \
	}
WAIT_CANCEL(GOMP_barrier_cancel)
WAIT_CANCEL(GOMP_loop_end_cancel)
WAIT_CANCEL(GOMP_sections_end_cancel)

/* ---- tasks ---- */

/* The header before the data of a task. The runtime copies header and data. */
struct header {
	body function;
	void (*copy)(void *, void *);
	void *from; /* for `copy`: the program's data */
	struct place *place;
	struct team *team;
	size_t offset; /* of the program's data */
};

static void run_task(void *data)
{
	const struct header *h = data;

	openmp_task_begin(h->place, h->team);
	h->function((char *)data + h->offset);
	openmp_task_end();
}

static void copy_task(void *to, void *from)
{
	const struct header *h = from;

	memcpy(to, h, sizeof *h);
	h->copy((char *)to + h->offset, h->from);
}

static struct team *team_now(void)
{
	const struct thread *thread = openmp_thread();

	return thread && thread->depth && thread->depth <= OPENMP_DEPTH
		       ? thread->member[thread->depth - 1].team
		       : NULL;
}

/*
 * Tasks with more data than LARGEST are not measured. DETACHed tasks are not measured either:
 * the runtime writes an event into the first word of their data.
 */
enum { LARGEST = 4096, DETACH = 1 << 13 };

/* Old programs pass fewer arguments. The runtime reads only those that `flags` announces. */
OPENMP void GOMP_task(body fn, void *data, void (*copy)(void *, void *), long size, long align,
		      _Bool deferred, unsigned flags, void **depend, int priority,
		      void *detach);
void GOMP_task(body fn, void *data, void (*copy)(void *, void *), long size, long align,
	       _Bool deferred, unsigned flags, void **depend, int priority, void *detach)
{
	char *room; /* on the stack, no larger than needed: tasks in tasks may be deep */
	size_t a =
		align > (long)alignof(struct header) ? (size_t)align : alignof(struct header);
	struct header h = {.function = fn, .copy = copy, .from = data};

	if (openmp_has_tool || size > LARGEST || a > 64 || (flags & DETACH)) {
		NEXT(GOMP_task)
		(fn, data, copy, size, align, deferred, flags, depend, priority, detach);
		return;
	}
	h.place = place_of(fn);
	h.team = team_now();
	h.offset = (sizeof h + a - 1) / a * a;
	room = a <= 16 ? __builtin_alloca(h.offset + (size_t)size)
		       : __builtin_alloca_with_align(h.offset + (size_t)size, 8 * 64);
	memcpy(room, &h, sizeof h);
	if (!copy && size > 0)
		memcpy(room + h.offset, data, (size_t)size);
	NEXT(GOMP_task)
	(run_task, room, copy ? copy_task : NULL, (long)h.offset + size, (long)a, deferred,
	 flags, depend, priority, detach);
}

/*
 * The runtime copies the data for each task of a loop. It writes the task's first and last
 * iteration into the first two words of the copy, and reads the reductions from the third word
 * of the data.
 */
struct loop_header {
	uint64_t range[2];
	void *reductions;
	struct header task;
};

static void run_loop_task(void *data)
{
	const struct loop_header *h = data;
	char *own = (char *)data + h->task.offset;

	memcpy(own, h->range, sizeof h->range);
	openmp_task_begin(h->task.place, h->task.team);
	h->task.function(own);
	openmp_task_end();
}

static void copy_loop_task(void *to, void *from)
{
	const struct loop_header *h = from;

	memcpy(to, h, sizeof *h);
	h->task.copy((char *)to + h->task.offset, h->task.from);
}

/* Header and data are on the caller's stack: NEXT returns after the runtime has copied them. */
#define TASKLOOP(name, number)                                                                 \
	OPENMP void name(body fn, void *data, void (*copy)(void *, void *), long size,         \
			 long align, unsigned flags, unsigned long tasks, int priority,        \
			 number start, number end, number step);                               \
	void name(body fn, void *data, void (*copy)(void *, void *), long size, long align,    \
		  unsigned flags, unsigned long tasks, int priority, number start, number end, \
		  number step)                                                                 \
	{                                                                                      \
		int measured = !openmp_has_tool && size >= (long)sizeof(uint64_t[2]) &&        \
			       size <= LARGEST && align <= 64;                                 \
		size_t a = align > (long)alignof(struct loop_header)                           \
				   ? (size_t)align                                             \
				   : alignof(struct loop_header);                              \
		struct loop_header h = {.task = {.function = fn, .copy = copy, .from = data}}; \
		char *room;                                                                    \
                                                                                               \
		if (!measured) {                                                               \
			NEXT(name)                                                             \
			(fn, data, copy, size, align, flags, tasks, priority, start, end,      \
			 step);                                                                \
			return;                                                                \
		}                                                                              \
		if (size >= (long)sizeof(uint64_t[3]))                                         \
			memcpy(&h.reductions, (char *)data + sizeof h.range,                   \
			       sizeof h.reductions);                                           \
		h.task.place = place_of(fn);                                                   \
		h.task.team = team_now();                                                      \
		h.task.offset = (sizeof h + a - 1) / a * a;                                    \
		room = __builtin_alloca_with_align(h.task.offset + (size_t)size, 8 * 64);      \
		memcpy(room, &h, sizeof h);                                                    \
		if (!copy)                                                                     \
			memcpy(room + h.task.offset, data, (size_t)size);                      \
		NEXT(name)                                                                     \
		(run_loop_task, room, copy ? copy_loop_task : NULL,                            \
		 (long)h.task.offset + size, (long)a, flags, tasks, priority, start, end,      \
		 step);                                                                        \
	}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

/* ---- unloading ---- */

OPENMP int dlclose(void *object);
int dlclose(void *object)
{
	int result = NEXT(dlclose)(object);

	openmp_forget_places();
	return result;
}

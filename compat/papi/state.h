/* SPDX-License-Identifier: MIT */
/* PAPI's interface, implemented with sets and readers: declarations that its files share. */
#ifndef COMPAT_PAPI_STATE_H
#define COMPAT_PAPI_STATE_H

#include <papi.h>
#include <tach.h>

enum { PP_CORE, PP_UNCORE, PP_SDE, PP_ROCM, PP_SYSDETECT, PP_TOPDOWN, PP_COMPONENTS };
enum { PP_EVENTS = 384, PP_LOCKS = 16, PP_TERMS = 12 };

struct pp_set;
struct pp_log;

/* ---- errors (errors.c) ---- */

/* Stores the code for PAPI_perror, unless it is PAPI_OK. Returns the code. */
int pp_return(int code);
/* PAPI's code for an errno of perf_event_open, and for an error of the library. */
int pp_from_errno(int error);
int pp_from_tach(int code);

/* ---- the process (library.c) ---- */

struct pp_process {
	int level;   /* PAPI_LOW_LEVEL_INITED ... */
	int outcome; /* of the last initialisation; 1 before the first */
	int pid;
	int verbosity;
	PAPI_debug_handler_t handler;
	int itimer_number, itimer_signal, itimer_ns;
};
extern struct pp_process pp_process;
/* Guards all state that threads share, except counts. Not recursive. */
void pp_enter(void);
void pp_leave(void);

/* ---- threads (threads.c) ---- */

struct pp_thread {
	struct pp_thread *next;	  /* a ring */
	unsigned long tid, maker; /* as the program numbers threads */
	int kernel_tid;
	int attached; /* made by PAPI_attach for a number: no thread here uses it */
	void *storage[PAPI_NUM_TLS + 1];
	struct pp_set *running[PP_COMPONENTS];
	struct pp_set *orphans; /* sets that other threads destroyed; this thread must close
				   their readers */
	struct pp_log *log;	/* regions by name */
};

/* Points to pp_nobody if the library does not know the thread. */
extern __thread struct pp_thread *pp_self;
extern struct pp_thread pp_nobody;
int pp_thread_get(struct pp_thread **out);
/* Finds or makes the entry of a thread by the kernel's thread number. */
int pp_thread_of(unsigned long tid, struct pp_thread **out);
int pp_threads_begin(void);
void pp_threads_end(void);
/* Call in a forked child, where other threads no longer exist. */
void pp_threads_forked(void);

/* ---- event sets (sets.c, members.c) ---- */

enum pp_kind { PP_PLAIN, PP_SUM, PP_DIFFERENCE, PP_FORMULA, PP_SHARE };

struct pp_event {
	int code;
	enum pp_kind kind;
	int nterms;
	int *term; /* numbers of members */
	const struct tach_formula *formula;
};

struct pp_kernel;
struct pp_sampling;

struct pp_set {
	/* PAPI_read tests this: the thread that may read the set in user space, or NULL. */
	struct pp_thread *reading;
	int (*read)(struct pp_set *set, long long *values);
	struct tach_reader *reader;
	uint64_t *base; /* counts of the members at the start */
	/* PAPI_start tests `ready`: the thread that may start the set in user space, or NULL.
	 * totals reads the counts of the members since they were opened. */
	struct pp_thread *ready;
	uint32_t (*totals)(struct tach_reader *reader, uint64_t *value);
	/* For a plain set: `value` has totals, and gets the counts since then. */
	uint32_t (*since)(struct tach_reader *reader, uint64_t *value);

	int number, state, component;
	struct pp_thread *master;
	int nevents, room;
	struct pp_event *event;
	int nmembers;
	int *member;	    /* codes of natives */
	int plain;	    /* event i is member i */
	long long *stopped; /* values at the most recent stop */

	int domain, granularity, inherit;
	int multiplex_ns, multiplex_flags;
	unsigned long attached;
	int cpu; /* -1: any */

	int open; /* the members count */
	struct pp_thread *opener;
	struct tach_set *set;
	struct pp_kernel *kernel;
	struct tach_uncore *uncore;
	struct pp_sampling *sampling;
	struct pp_set *next; /* among orphans */
};

struct pp_table {
	uint32_t size;
	struct pp_set **slot;
};
extern struct pp_table pp_table;

static inline struct pp_set *pp_set_of(int number)
{
	return (uint32_t)number < pp_table.size ? pp_table.slot[number] : NULL;
}

/* Returns the number of the set's component, or PAPI_ENOCMP. */
static inline int pp_component_of(const struct pp_set *set)
{
	return set->component < 0 ? PAPI_ENOCMP : set->component;
}

void pp_set_take(struct pp_set *set, int component);
void pp_set_empty(struct pp_set *set);
void pp_set_free(struct pp_set *set);
/* Frees all sets of one thread. NULL: frees the sets of all threads. */
void pp_sets_free(const struct pp_thread *master);
void pp_sets_forked(void);
int pp_event_index(const struct pp_set *set, int code);

/* ---- counting (open.c, kernel.c, count.c) ---- */

/* Opens the members again. Returns an error if they cannot be counted. */
int pp_open(struct pp_set *set);
void pp_close(struct pp_set *set);
/*
 * pp_begin counts from now on, and pp_raw reads the counts since then; raw has a value for each
 * member.
 */
int pp_begin(struct pp_set *set);
int pp_raw(struct pp_set *set, uint64_t *raw);
int pp_end(struct pp_set *set);
/* PAPI_read without the fast path. */
int pp_read_long(struct pp_set *set, long long *values);
/* Chooses the functions that PAPI_read and PAPI_start call. Call it after each change of
 * events. */
void pp_choose_read(struct pp_set *set);
/* Computes values of events from counts of members. */
void pp_values(const struct pp_set *set, const uint64_t *raw, long long *values);

struct pp_kernel_options {
	int pid, cpu, multiplexed, inherit;
	int kept; /* enabled while it is open */
};
int pp_kernel_open(const struct perf_event_attr *attr, int n,
		   const struct pp_kernel_options *opt, struct pp_kernel **out);
void pp_kernel_close(struct pp_kernel *kernel);
int pp_kernel_begin(struct pp_kernel *kernel);
int pp_kernel_read(struct pp_kernel *kernel, uint64_t *value);
int pp_kernel_reset(struct pp_kernel *kernel);
int pp_kernel_end(struct pp_kernel *kernel);
/* Returns PAPI_OK if the kernel lets this thread open events with these options. */
int pp_kernel_try(const struct pp_set *set, int pid, int cpu, int domain, int inherit);

/* ---- natives (natives.c, enumerate.c) ---- */

struct pp_native {
	char *given;	  /* the name in its first spelling */
	const char *name; /* in `given`, after the PMU */
	const char *shown;
	int component, pmu, event;
	int attribute; /* index in the enumeration; -1: the event itself */
	int levels;    /* privilege levels are in the name */
	int usable; /* an event that needs a mask is enumerated, but cannot be counted without
		       one */
	int hardware;
	int cpu; /* -1: any */
	struct perf_event_attr attr;
};

/* Returns NULL if no event has that code. */
const struct pp_native *pp_native_of(int code);
int pp_native_component(int code);
int pp_native_code(const char *name, int *code);
/* Finds or adds an event of a PMU's table. */
int pp_native_enter(int pmu, int event, int attribute, const char *name, int *code);
int pp_native_next(int *code, int modifier, int component);
/* Writes the event's description, then the descriptions of its masks. */
void pp_native_describe(const struct pp_native *native, char *text, size_t size);
void pp_natives_forget(void);
/* Finds the native event of a share of slots. */
int pp_native_share(int n, int *code);
/* The core PMU whose name may be omitted in events; -1: none. */
int pp_default_pmu(void);
/* The n-th PMU of a component in the order in which it is enumerated, or -1. */
int pp_component_pmu(int component, int n);

/* ---- shares of slots (topdown.c) ---- */

/* Returns 0 if this processor has no such events. */
int pp_topdown_count(void);
const char *pp_topdown_name(int n);
const char *pp_topdown_text(int n);
int pp_topdown_find(const char *name);
/* Finds the native events of a share. Returns their number, or PAPI's code. */
int pp_topdown_members(int n, int code[3]);
/* Returns the bits of a double, which is a percentage. */
long long pp_topdown_value(const struct pp_event *event, const uint64_t *raw);

/* ---- presets and events of a user's file (presets.c) ---- */

struct pp_derived {
	char symbol[PAPI_MAX_STR_LEN];
	int count; /* native events; 0: an event is missing */
	int *code;
	enum pp_kind kind;
	struct tach_expansion *expansion;
	struct tach_derived_info info;
};

const struct pp_derived *pp_preset(int index);
const char *pp_preset_name(int index);
unsigned pp_preset_type(int index);
const char *pp_preset_text(int index);
const struct pp_derived *pp_user_event(int index);
int pp_user_events(void);
int pp_presets_count(void);
/* Reads the user's files that the environment names. */
void pp_presets_begin(void);
void pp_presets_forget(void);

/* ---- the machine (components.c, hardware.c, memory.c, maps.c, clocks.c) ---- */

PAPI_component_info_t *pp_component(int component);
void pp_components_begin(void);
int pp_component_valid(int component);
/* Returns 0, or the reason why the component has no events. */
int pp_component_disabled(int component);
/* Returns 1 at the first use of rocm_smi in the process, then 0. */
int pp_component_use_rocm(void);
PAPI_hw_info_t *pp_hardware(void);
void pp_hierarchy(PAPI_mh_info_t *info);
PAPI_exe_info_t *pp_executable(void);
int pp_libraries(PAPI_shlib_info_t **out);
void pp_maps_forget(void);

/* ---- regions by name (regions.c) ---- */

/* Call pp_regions_hold before a fork: no thread may change regions. Then call
 * pp_regions_release in the parent and pp_regions_forked in the child. */
void pp_regions_hold(void);
void pp_regions_release(void);
void pp_regions_forked(void);

/* ---- overflow (overflow.c) ---- */

void pp_sampling_free(struct pp_set *set);
int pp_sampling_start(struct pp_set *set);
void pp_sampling_stop(struct pp_set *set);

#endif

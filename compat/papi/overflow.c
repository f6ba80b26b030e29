/* SPDX-License-Identifier: MIT */
/*
 * Overflow. A watched event gets a second event, which samples: the kernel's signal calls the
 * program's handler. With PAPI_OVERFLOW_FORCE_SW the thread's clock signals, and the handler is
 * called when a count has reached its threshold.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "compat/papi/sampling.h"

static void *address_of(const void *context)
{
	const ucontext_t *uc = context;

#if defined(__x86_64__)
	return (void *)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (void *)uc->uc_mcontext.pc;
#elif defined(__riscv)
	return (void *)uc->uc_mcontext.__gregs[REG_PC];
#else
	(void)uc;
	return NULL;
#endif
}

static void report_overflow(struct pp_set *set, const struct pp_watch *w, void *context)
{
	struct pp_sampling *s = set->sampling;
	void *address = address_of(context);

	if (w->profiling)
		pp_profile_add(w, address);
	else if (s->handler)
		s->handler(set->number, address, 1LL << w->member, context);
}

/* In software mode: finds the events whose counts have reached their thresholds. */
static void compare_counts(struct pp_set *set, void *context)
{
	struct pp_sampling *s = set->sampling;
	long long values[PP_EVENTS];

	if (PAPI_read(set->number, values) != PAPI_OK)
		return;
	for (int i = 0; i < s->n; i++) {
		struct pp_watch *w = &s->watch[i];

		if (values[w->index] < w->deadline)
			continue;
		w->deadline = values[w->index] + w->threshold;
		report_overflow(set, w, context);
	}
}

static void handle_overflow(int signal, siginfo_t *info, void *context)
{
	struct pp_set *set = pp_self->running[PP_CORE];
	struct pp_sampling *s = set ? set->sampling : NULL;

	(void)signal;
	if (!s || !s->running)
		return;
	if (s->clock >= 0 && info->si_fd == s->clock) {
		compare_counts(set, context);
		ioctl(s->clock, PERF_EVENT_IOC_REFRESH, 1);
		return;
	}
	for (int i = 0; i < s->n; i++)
		if (s->watch[i].fd == info->si_fd) {
			report_overflow(set, &s->watch[i], context);
			if (s->running)
				ioctl(info->si_fd, PERF_EVENT_IOC_REFRESH, 1);
			return;
		}
}

/* The handler stays installed: a late signal would end a program without a handler. */
static void catch_signal(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handle_overflow;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(pp_component(PP_CORE)->hardware_intr_sig, &action, NULL);
}

/* ---- sampling events ---- */

/*
 * Opens a disabled event that sends its signals to this thread. Returns PAPI_OK or PAPI's
 * error.
 */
static int open_sampling(struct perf_event_attr attr, uint64_t period, int *out)
{
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	int fd;

	attr.size = sizeof attr;
	attr.sample_period = period;
	attr.freq = 0;
	attr.wakeup_events = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	attr.pinned = 0;
	attr.read_format = 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return pp_from_errno(errno);
	if (fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
	    fcntl(fd, F_SETSIG, pp_component(PP_CORE)->hardware_intr_sig) != 0 ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC) != 0) {
		close(fd);
		return PAPI_ESYS;
	}
	*out = fd;
	return PAPI_OK;
}

static int open_watch(const struct pp_set *set, struct pp_watch *w)
{
	const struct pp_native *native =
		pp_native_of(set->member[set->event[w->index].term[0]]);
	struct perf_event_attr attr = native->attr;

	if (!native->levels) {
		attr.exclude_user = !(set->domain & PAPI_DOM_USER);
		attr.exclude_kernel = !(set->domain & PAPI_DOM_KERNEL);
	}
	return open_sampling(attr, (uint64_t)w->threshold, &w->fd);
}

static int open_clock(struct pp_sampling *s)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_TASK_CLOCK};

	return open_sampling(attr, (uint64_t)pp_process.itimer_ns, &s->clock);
}

int pp_sampling_start(struct pp_set *set)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct pp_sampling *s = set->sampling;
	int code = PAPI_OK;

	pthread_once(&once, catch_signal);
	s->running = 1;
	for (int i = 0; code == PAPI_OK && i < s->n; i++) {
		struct pp_watch *w = &s->watch[i];

		w->index = pp_event_index(set, w->code);
		w->member = set->event[w->index].term[0];
		w->deadline = w->threshold;
		if (s->flags & PAPI_OVERFLOW_HARDWARE)
			code = open_watch(set, w);
	}
	if (code == PAPI_OK && !(s->flags & PAPI_OVERFLOW_HARDWARE))
		code = open_clock(s);
	for (int i = 0; code == PAPI_OK && i < s->n; i++)
		if (s->watch[i].fd >= 0 &&
		    ioctl(s->watch[i].fd, PERF_EVENT_IOC_REFRESH, 1) != 0)
			code = PAPI_ESYS;
	if (code == PAPI_OK && s->clock >= 0 && ioctl(s->clock, PERF_EVENT_IOC_REFRESH, 1) != 0)
		code = PAPI_ESYS;
	if (code != PAPI_OK)
		pp_sampling_stop(set);
	return code;
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pp_sampling_stop(struct pp_set *set)
{
	struct pp_sampling *s = set->sampling;

	if (!s || !s->running)
		return;
	s->running = 0;
	for (int i = 0; i < s->n; i++)
		close_descriptor(&s->watch[i].fd);
	close_descriptor(&s->clock);
}

void pp_sampling_free(struct pp_set *set)
{
	pp_sampling_stop(set);
	free(set->sampling);
	set->sampling = NULL;
}

/* ---- what is watched ---- */

struct pp_watch *pp_watch_of(const struct pp_set *set, int code)
{
	struct pp_sampling *s = set->sampling;

	for (int i = 0; s && i < s->n; i++)
		if (s->watch[i].code == code)
			return &s->watch[i];
	return NULL;
}

int pp_watch_remove(struct pp_set *set, int code)
{
	struct pp_watch *w = pp_watch_of(set, code);
	struct pp_sampling *s = set->sampling;

	if (!w)
		return PAPI_EINVAL;
	memmove(w, w + 1, (size_t)(&s->watch[s->n] - (w + 1)) * sizeof *w);
	s->n--;
	if (s->n == 0) {
		pp_sampling_free(set);
		set->state &= ~PAPI_OVERFLOWING;
	}
	return PAPI_OK;
}

/* Adds a watched event. Opens its sampling event once, as a test. */
int pp_watch_put(struct pp_set *set, int index, int threshold, int flags)
{
	struct pp_sampling *s = set->sampling;
	struct pp_watch *w = pp_watch_of(set, set->event[index].code), fresh;
	int code;

	if (!s) {
		s = calloc(1, sizeof *s);
		if (!s)
			return PAPI_ENOMEM;
		s->clock = -1;
		set->sampling = s;
	}
	memset(&fresh, 0, sizeof fresh);
	fresh.fd = -1;
	fresh.code = set->event[index].code;
	fresh.index = index;
	fresh.threshold = threshold;
	if (!(flags & PAPI_OVERFLOW_FORCE_SW)) {
		flags |= PAPI_OVERFLOW_HARDWARE;
		code = open_watch(set, &fresh);
		close_descriptor(&fresh.fd);
		if (code != PAPI_OK) {
			if (s->n == 0)
				pp_sampling_free(set);
			return code;
		}
	}
	if (!w)
		w = &s->watch[s->n++];
	*w = fresh;
	s->flags = flags;
	set->state |= PAPI_OVERFLOWING;
	return PAPI_OK;
}

/* ---- PAPI's ---- */

static int check_overflow(const struct pp_set *set, int event, int threshold, int flags)
{
	int index, n = set->sampling ? set->sampling->n : 0, kind;

	if (!(set->state & PAPI_STOPPED))
		return PAPI_EISRUN;
	if (set->state & (PAPI_ATTACHED | PAPI_CPU_ATTACHED))
		return PAPI_EINVAL;
	index = pp_event_index(set, event);
	/* PAPI finds PAPI_NULL in an unused entry of the set, and checks the threshold next. */
	if (index < 0)
		return event == PAPI_NULL && threshold <= 0 &&
				       pp_component(set->component)->num_cntrs > 0
			       ? PAPI_EINVAL
			       : PAPI_ENOEVNT;
	kind = set->event[index].kind;
	if (threshold < 0 ||
	    (!(flags & PAPI_OVERFLOW_FORCE_SW) && threshold && kind != PP_PLAIN))
		return PAPI_EINVAL;
	if (threshold > 0 && (n >= pp_component(set->component)->num_cntrs || n >= PP_WATCHES))
		return PAPI_ECNFLCT;
	return index;
}

int PAPI_overflow(int EventSet, int EventCode, int threshold, int flags,
		  PAPI_overflow_handler_t handler)
{
	struct pp_set *set = pp_set_of(EventSet);
	int index, code;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	index = check_overflow(set, EventCode, threshold, flags);
	if (index < 0)
		return pp_return(index);
	if (!(set->state & PAPI_OVERFLOWING) && (!handler || threshold == 0))
		return pp_return(PAPI_EINVAL);
	if (threshold == 0)
		return pp_return(pp_watch_remove(set, EventCode));
	if (set->sampling && set->sampling->n > 0 &&
	    (flags ^ set->sampling->flags) & PAPI_OVERFLOW_FORCE_SW)
		return pp_return(PAPI_ECNFLCT);
	code = pp_watch_put(set, index, threshold, flags & PAPI_OVERFLOW_FORCE_SW);
	if (code == PAPI_OK)
		set->sampling->handler = handler;
	return pp_return(code);
}

int PAPI_get_overflow_event_index(int Eventset, long long overflow_vector, int *array,
				  int *number)
{
	struct pp_set *set;
	int n = 0;

	if (!overflow_vector || !array || !number || *number < 1)
		return pp_return(PAPI_EINVAL);
	set = pp_set_of(Eventset);
	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->nevents == 0)
		return pp_return(PAPI_EINVAL);
	for (int bit = 0; bit < 64 && n < *number; bit++)
		for (int i = 0; i < set->nevents && n < *number; i++)
			if (overflow_vector >> bit & 1 && set->event[i].kind == PP_PLAIN &&
			    set->event[i].term[0] == bit)
				array[n++] = i;
	*number = n;
	return PAPI_OK;
}

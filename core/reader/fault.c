/* SPDX-License-Identifier: MIT */
/*
 * Makes faults of counter instructions take the slow path.
 *
 * Each module with counter instructions has a table of them in section tach_ex, and a note with
 * its address (tach/arch.h). Installing copies all tables into one sorted array, so the handler
 * does not depend on a module that may be unloaded. On architectures where correct reads may
 * fault, the first START installs the handlers. It may run in an allocator or a signal handler.
 * So nothing here calls malloc (as qsort may), and no handler runs while the lock is held.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach/fault.h>
#include <tach/reader.h>
#include <ucontext.h>
#include <unistd.h>
#include "core/base/error.h"
#include "core/os/memory.h"
#include "core/os/sys.h"
#include "core/reader/fault_table.h"
#include "core/reader/open.h"

#if TACH_ARCH_FAST

/*
 * Protects the table's pointer and calls of sigaction(2). Its holder waits for no other thread.
 * Modules are scanned before the lock is taken: scanning takes the loader's lock, which the
 * caller may hold (dl_iterate_phdr's callback). A forked child initializes the lock again. The
 * table's pointer is valid after each store.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *table; /* used by the handler */
static uint64_t scans;	    /* number of scans begun */
static const int signals[2] = {SIGSEGV, SIGILL};

/*
 * The handlers that ours replaced, the newest last. There are several if the program replaced
 * our handler and ours was then installed again. The program's handler may pass a fault back to
 * ours, which then passes it to the next older handler.
 */
enum { DEEPEST = 16 };
static struct previous {
	int count;
	struct sigaction action[DEEPEST];
} previous[2];

/* The number of handlers that got the fault which this thread is passing on. */
static __attribute__((tls_model("initial-exec"))) __thread int passed;

/* Another thread of the parent may have held the lock, which no thread of the child releases.
 * Signal handlers must not call tach_fault_install: see tach/fault.h. */
static void forked_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked_child);
}

/* ---- the handler: async-signal-safe ---- */

static uintptr_t find(uintptr_t at)
{
	const struct table *t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	size_t low = 0, high = t ? t->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->record[middle].at == at)
			return t->record[middle].landing;
		if (t->record[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* Continues at the landing if one of our counter instructions faulted. A record may be older
 * than the code at that address, so the code there is compared with the instruction. */
static int land(ucontext_t *context)
{
	uintptr_t pc = (uintptr_t)TACH_FAULT_PC(context);
	uintptr_t landing = find((uintptr_t)TACH_FAULT_SITE(context));

	if (!landing || !TACH_FAULT_OURS(pc))
		return 0;
	TACH_FAULT_PC(context) = landing;
	return 1;
}

/* Skips the `depth` newest handlers and returns the next older one, or NULL. */
static struct sigaction *handler_below(int which, int depth)
{
	struct previous *p = &previous[which];
	int count = __atomic_load_n(&p->count, __ATOMIC_ACQUIRE);

	return depth < count ? &p->action[count - 1 - depth] : NULL;
}

/*
 * Passes the signal to the earlier handler as if ours did not exist. If that is the default
 * action, the default is restored. Then a fault happens again when we return, and kills the
 * process. A signal that was sent by kill(2) or similar is sent again.
 */
static void pass_on(int which, int number, siginfo_t *info, void *context)
{
	struct sigaction *below = handler_below(which, passed);
	struct sigaction now = {.sa_handler = SIG_DFL}, *old = &now;
	sigset_t before;

	if (below)
		now = *below;
	if (!(old->sa_flags & SA_SIGINFO) && old->sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (!(old->sa_flags & SA_SIGINFO) &&
	    (old->sa_handler == SIG_IGN || old->sa_handler == SIG_DFL)) {
		struct sigaction deflt;

		memset(&deflt, 0, sizeof deflt);
		deflt.sa_handler = SIG_DFL;
		sigaction(number, &deflt, NULL);
		if (info->si_code <= 0)
			tach__sys(SYS_tgkill, getpid(), tach__sys(SYS_gettid, 0, 0, 0, 0, 0, 0),
				  number, 0, 0, 0);
		return;
	}
	if (old->sa_flags & (int)SA_RESETHAND) {
		below->sa_flags = 0;
		below->sa_handler = SIG_DFL;
	}
	pthread_sigmask(SIG_BLOCK, &old->sa_mask, &before);
	if (old->sa_flags & SA_NODEFER) {
		sigset_t own;

		sigemptyset(&own);
		sigaddset(&own, number);
		pthread_sigmask(SIG_UNBLOCK, &own, NULL);
	}
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(number, info, context);
	else
		old->sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/*
 * A handler that got the fault from ours may call ours with the same context. Such a call is
 * recognised by uc_link, which the kernel clears in the context of each new fault
 * (arch/x86/kernel/signal_64.c and its like for other architectures) and does not read when the
 * handler returns. Comparing the addresses of contexts is not enough: after siglongjmp out of a
 * handler, the context of a new fault may have the same address.
 */
static void handler(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	void *link = at->uc_link, *ours = &passed;
	int before = passed, saved = errno;

	/* If si_code <= 0, a process sent the signal. It is not a fault, even if the thread is
	 * at a counter instruction. */
	if (info->si_code > 0 && land(context)) {
		errno = saved;
		return;
	}
	passed = link == ours ? before + 1 : 0;
	at->uc_link = ours;
	pass_on(number == signals[1], number, info, context);
	at->uc_link = link;
	passed = before;
	errno = saved;
}

static int is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handler;
}

/* A handler that is in the list already moves to the top. */
static void push(struct previous *p, const struct sigaction *action)
{
	int count = p->count, at = 0;

	while (at < count && p->action[at].sa_sigaction != action->sa_sigaction)
		at++;
	/* If the list is full, drop the second oldest. Keep the oldest: the program installed
	 * it before ours. */
	if (at == count && count == DEEPEST)
		at = 1;
	if (at < count) {
		count--;
		memmove(&p->action[at], &p->action[at + 1],
			(size_t)(count - at) * sizeof *p->action);
	}
	p->action[count] = *action;
	__atomic_store_n(&p->count, count + 1, __ATOMIC_RELEASE);
}

static void pop(struct previous *p)
{
	__atomic_store_n(&p->count, p->count - 1, __ATOMIC_RELEASE);
}

/* Does not remove a handler that was installed after ours. */
static void remove_handlers(void)
{
	struct sigaction now;

	for (int i = 0; i < 2; i++) {
		if (sigaction(signals[i], NULL, &now) || !is_ours(&now))
			continue;
		if (sigaction(signals[i], handler_below(i, 0), NULL) == 0)
			pop(&previous[i]);
	}
}

/* Returns 0 or a negated errno. */
static int install_handlers(void)
{
	struct sigaction ours, old;

	memset(&ours, 0, sizeof ours);
	ours.sa_sigaction = handler;
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
	for (int i = 0; i < 2; i++) {
		if (sigaction(signals[i], NULL, &old))
			return -errno;
		if (is_ours(&old))
			continue;
		push(&previous[i], &old);
		if (sigaction(signals[i], &ours, NULL)) {
			pop(&previous[i]);
			return -errno;
		}
	}
	return 0;
}

/* Gives the table to the handler and installs the handler for both signals. If that fails,
 * removes it from both. */
static int publish(struct table *t)
{
	sigset_t before;
	int refused;

	tach__signals_hold(&before);
	pthread_mutex_lock(&lock);
	if (table && table->scan > t->scan) {
		tach__pages_free(t, t->size);
	} else {
		t->older = table;
		__atomic_store_n(&table, t, __ATOMIC_RELEASE);
	}
	refused = install_handlers();
	if (refused)
		remove_handlers();
	pthread_mutex_unlock(&lock);
	tach__signals_release(&before);
	return refused;
}

int tach_fault_install(struct tach_error *err)
{
	size_t size = tach__pages_round(1);
	struct table *t = tach__pages(size);
	int code, refused, saved = errno;

	if (!t)
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	t->size = size;
	t->scan = __atomic_add_fetch(&scans, 1, __ATOMIC_SEQ_CST);
	if (dl_iterate_phdr(scan_module, &t)) {
		tach__pages_free(t, t->size);
		errno = saved;
		return tach__error(err, TACH_ERR_NOMEM, 0, 0, "out of memory");
	}
	sort(t);
	code = (int)t->count;
	refused = publish(t);
	if (refused)
		code = tach__error(err, refused, 0, 0, "cannot install a handler: %s",
				   tach_strerror(refused));
	errno = saved;
	return code;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *adds)
{
	(void)size;
	*(unsigned long long *)adds = info->dlpi_adds;
	return 1;
}

/* Installs again if modules were loaded, or if the program replaced the handler. */
int tach__fault_ready(struct tach_error *err)
{
	static unsigned long long known;
	unsigned long long adds = 0;
	struct sigaction now;
	int code;

	dl_iterate_phdr(count_loads, &adds);
	if (__atomic_load_n(&known, __ATOMIC_ACQUIRE) == adds &&
	    sigaction(SIGILL, NULL, &now) == 0 && is_ours(&now))
		return 0;
	code = tach_fault_install(err);
	if (code < 0)
		return code;
	__atomic_store_n(&known, adds, __ATOMIC_RELEASE);
	return 0;
}

void tach_fault_remove(void)
{
	int saved = errno;
	sigset_t before;

	tach__signals_hold(&before);
	pthread_mutex_lock(&lock);
	remove_handlers();
	pthread_mutex_unlock(&lock);
	tach__signals_release(&before);
	errno = saved;
}

#else

int tach_fault_install(struct tach_error *err)
{
	return tach__error(err, TACH_ERR_NOTSUPP, 0, 0,
			   "counters cannot be read in user space on this architecture");
}

void tach_fault_remove(void)
{
}

int tach__fault_ready(struct tach_error *err)
{
	return tach_fault_install(err);
}

#endif

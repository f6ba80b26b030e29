/* SPDX-License-Identifier: MIT */
/* Signal handlers that start and stop regions, at any instruction of the interrupted code. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <tach.h>
#include "core/region/region.h"
#include "tests/check.h"

static struct tach_snapshot *shot;
static struct tach_region_info info;
static struct tach_value inclusive, self;

static int look(const char *name)
{
	tach_snapshot_free(shot);
	if (tach_snapshot_take(&shot, NULL) != 0)
		return 0;
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		tach_snapshot_value(shot, r, TACH_QUANTITY_TIME, TACH_PART_INCLUSIVE,
				    &inclusive);
		tach_snapshot_value(shot, r, TACH_QUANTITY_TIME, TACH_PART_SELF, &self);
		if (strcmp(info.name, name) == 0)
			return 1;
	}
	return 0;
}

static void begin(void)
{
	struct tach_regions_options opt = {.events = ""};

	CHECK(tach_regions_configure(&opt, NULL) == 0);
}

static volatile uint64_t in_handler;

static void shared(void)
{
	TACH_SCOPE(shared);
}

static void handler(int number)
{
	int saved = errno;

	(void)number;
	shared();
	{
		TACH_SCOPE(handler_only);
		shared();
	}
	in_handler++;
	errno = saved;
}

/* The handler comes while the slot's sequence is odd, as between two stores of STOP. */
static void slot_under_write(void)
{
	struct tach__slot *slot = NULL;
	struct tach__part *part;

	begin();
	signal(SIGUSR1, handler);
	shared();
	for (uint32_t id = TACH__SITE_FIRST; id < TACH__CHUNK_SLOTS; id++) {
		struct tach__slot *s = tach__table(tach__self)[id];

		if (tach__part(s, tach__self->count, 0)->calls)
			slot = s;
	}
	CHECK(slot);
	if (!slot)
		return;
	part = tach__part(slot, tach__self->count, 0);
	uint64_t calls = part->calls;
	/* The interrupted code's state: its level, and a complete mark. */
	struct tach_region_mark mark = {.end = tach__self->end[0], .part = part};
	struct tach__slot **stack = tach__stack(tach__self, tach__self->state);

	mark.state = tach__self->state;
	stack[1] = slot;
	*tach__marks(stack) = &mark;
	tach__self->state++;
	part->outer = (uintptr_t)&mark;
	slot->seq++;
	for (int i = 0; i < 10; i++)
		raise(SIGUSR1);
	CHECK(part->calls == calls, "the slot under write was left alone");
	slot->seq++;
	part->outer = TACH__OUTER_NONE;
	tach__self->state--;
	CHECK(look("shared") && info.calls == 21 && info.outermost == 21, "%d %d",
	      (int)info.calls, (int)info.outermost);
	CHECK(look("handler_only") && info.calls == 10 && info.nested == 10);
}

static void first_entry(int number)
{
	struct tach_snapshot *none = NULL;

	(void)number;
	TACH_START(interrupting);
	TACH_STOP(interrupting);
	CHECK(tach_snapshot_take(&none, NULL) == TACH_ERR_STATE);
	in_handler++;
}

/*
 * The library does not block signals that instructions raise while it holds its lock. A handler
 * then takes no lock: the entry that it begins is lost, and nothing waits.
 */
static void library_interrupted(void)
{
	static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	const unsigned n = sizeof raised / sizeof *raised;
	struct tach__held held;
	uint64_t lost;
	sigset_t now;

	begin();
	shared();
	in_handler = 0;
	lost = tach__registry.lost;
	tach__lock(&held);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGALRM) && sigismember(&now, SIGTERM));
	for (unsigned i = 0; i < n; i++) {
		signal(raised[i], first_entry);
		CHECK(!sigismember(&now, raised[i]), "signal %d is blocked", raised[i]);
		raise(raised[i]);
		signal(raised[i], SIG_DFL);
	}
	tach__unlock(&held);
	CHECK(in_handler == n && tach__registry.lost == lost + n, "%d", (int)in_handler);
	CHECK(look("shared") && !look("interrupting"));
}

/*
 * Sends one signal after this time. The next signal is set after the previous one arrived: a
 * repeating timer could be as fast as a slow machine handles signals, and leave no time for the
 * program.
 */
static void signal_soon(long microseconds)
{
	struct itimerval once = {{0, 0}, {0, microseconds}};

	setitimer(ITIMER_REAL, &once, NULL);
}

enum { SIGNALS = 5000, ROUNDS = 200000, OPENINGS = 300 };

/* Signals interrupt a loop that only starts and stops regions. */
static void edges_survive_a_storm_of_signals(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	uint64_t rounds = 0, sent = 0, handled;

	begin();
	shared();
	handler(0); /* registers the sites and opens the thread */
	sigaction(SIGALRM, &action, NULL);
	in_handler = 0;
	for (; rounds < ROUNDS || in_handler < SIGNALS; rounds++) {
		if (in_handler == sent && sent < SIGNALS)
			signal_soon(1 + (long)(sent++ % 50));
		TACH_START(interrupted);
		shared();
		TACH_STOP(interrupted);
	}
	handled = 1 + in_handler;
	CHECK(look("interrupted") && info.calls == rounds && info.outermost == rounds);
	CHECK(self.raw <= inclusive.raw);
	CHECK(look("handler_only") && info.calls == handled && info.nested == handled, "%d",
	      (int)info.calls);
	CHECK(look("shared") && info.calls == 1 + rounds + 2 * handled, "%d less than %d",
	      (int)info.calls, (int)(1 + rounds + 2 * handled));
	CHECK(TACH__LEVEL(tach__self->state) == 0);
}

static void *in_thread(void *arg)
{
	raise(SIGUSR1); /* the thread's very first entry is in the handler */
	return arg;
}

static void first_entry_in_a_handler(void)
{
	pthread_t thread;

	begin();
	signal(SIGUSR1, handler);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	CHECK(look("handler_only") && info.calls == 1);
}

/*
 * Opening a thread's counters blocks signals: the handler runs before or after it, never during
 * it.
 */
static void storm_over_opening(void)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	in_handler = 0;
	for (uint64_t i = 0; i < OPENINGS; i++) {
		signal_soon(1 + (long)(i % 80));
		do {
			begin(); /* the next entry opens the thread again */
			shared();
		} while (in_handler <= i);
	}
	CHECK(look("shared") && info.calls >= 1);
}

int main(void)
{
	CASE(slot_under_write);
	CASE(library_interrupted);
	CASE(edges_survive_a_storm_of_signals);
	CASE(first_entry_in_a_handler);
	CASE(storm_over_opening);
	tach_snapshot_free(shot);
	return check_done();
}

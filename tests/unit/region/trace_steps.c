/* SPDX-License-Identifier: MIT */
/*
 * A reader's view of traces after each instruction of a thread's first START, of its
 * calibration, and of STOP. The reader may be a handler of that thread that writes a report on
 * a signal or an interval.
 */
#include <sys/wait.h>
#include "core/region/region.h"
#include "tests/unit/region/steps.h"

#ifdef HAS_STEPS
/* Calibration takes up to 800,000 repetitive instructions; TEST_WHOLE tests all of them. */
enum { FOREIGN = 300, MOST = 40000 };

static struct tach_site foreign = TACH_SITE_INIT("foreign", 0, ""),
			own = TACH_SITE_INIT("own", 0, "");
static long looks, seen, wrong;
static int may_see; /* minimum number of this thread's entries that must be visible */

static struct tach_region_mark mark;

static void begin(struct tach_site *site)
{
	tach_region_begin(site, &mark);
}

static void end(struct tach_site *unused)
{
	(void)unused;
	tach_region_end(&mark);
}

static void enter(struct tach_site *site)
{
	begin(site);
	end(site);
}

/* Returns true if the lock is held, so that another reader would wait. */
static int is_locked(void)
{
	struct tach__process *p = tach__registry.page;

	if (!p || pthread_mutex_trylock(&p->lock) != 0)
		return 1;
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/* Reads all rings like a report. */
static void look(void)
{
	const struct tach__trace *ring = NULL;
	union tach__traced_copy got;
	struct tach__trace head;
	long found = 0;

	if (is_locked())
		return;
	looks++;
	while ((ring = tach__trace_next(ring, &head))) {
		for (uint64_t i = head.oldest; i < head.n; i++) {
			if (!tach__trace_get(ring, i, &got.entry))
				continue;
			found++;
			wrong += got.entry.id != own.id;
		}
	}
	seen = found;
	wrong += found < may_see;
}

static volatile int within_look;

static void on_each(int sig, siginfo_t *info_, void *context)
{
	ucontext_t *at = context;

	(void)sig, (void)info_;
	if (looks == MOST && !getenv("TEST_WHOLE"))
		at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP;
	if (!in_kernel && !within_look) {
		within_look = 1;
		look();
		within_look = 0;
	}
}

static void look_at_each(void (*what)(struct tach_site *))
{
	struct sigaction sa = {.sa_sigaction = on_each, .sa_flags = SA_SIGINFO};

	looks = wrong = 0;
	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	what(&own);
	steps_end();
	CHECK(looks > 20 && wrong == 0, "%ld looks, %ld wrong", looks, wrong);
}

/* Runs in a child whose first ring was written by its parent. */
static void child(int members)
{
	steps_begin(members);
	may_see = 0;
	look_at_each(begin);
	CHECK(looks > 1000, "%ld looks", looks);
	look_at_each(end);
	look();
	CHECK(seen == 1 && wrong == 0, "%ld entries, %ld wrong", seen, wrong);
	may_see = 1;
	for (int i = 0; i < 3; i++, may_see++)
		look_at_each(enter);
	look();
	CHECK(seen == 4 && wrong == 0, "%ld entries, %ld wrong", seen, wrong);
}

static void read_at_each_instruction(int members)
{
	pid_t pid;
	int status = -1;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		child(members);
		fflush(stdout);
		_exit(check__failed != 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "status %#x", status);
}

static void of_the_clock(void)
{
	read_at_each_instruction(0);
}

static void of_counters(void)
{
	read_at_each_instruction(2);
}

int main(void)
{
	setenv("TACH_TRACE", "a", 1);
	for (int members = 0; members <= 2; members += 2) {
		regions_begin(members);
		for (int i = 0; i < FOREIGN; i++)
			enter(&foreign);
	}
	CASE(of_the_clock);
	CASE(of_counters);
	return check_done();
}
#else
static void of_the_clock(void)
{
	SKIP("this architecture, or a sanitizer, has no trap flag");
}

int main(void)
{
	CASE(of_the_clock);
	return check_done();
}
#endif

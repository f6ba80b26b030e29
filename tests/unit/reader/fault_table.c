/* SPDX-License-Identifier: MIT */
/*
 * The table of counter instructions; core/reader/fault.c is compiled here. Tests which notes of
 * a module are used, the order and search of the table, the table that the handler sees, and
 * the remaining state if the system refuses.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tach/arch.h>
#include "core/os/memory.h"
#include "tests/check.h"

#if TACH_ARCH_FAST
static pthread_mutex_t *its_lock;
static int unlocked;	   /* how often a handler was changed without the lock */
static int refused_signal; /* sigaction(2) fails for this signal */
static int other_signals;  /* requests for other signals */

static int some_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	if (action && its_lock) {
		sigset_t now;

		pthread_sigmask(SIG_BLOCK, NULL, &now);
		unlocked += !sigismember(&now, SIGUSR1);
		if (pthread_mutex_trylock(its_lock) == 0) {
			unlocked++;
			pthread_mutex_unlock(its_lock);
		}
	}
	other_signals += number != SIGSEGV && number != SIGILL;
	if (action && number == refused_signal) {
		errno = EPERM;
		return -1;
	}
	return sigaction(number, action, old);
}

static size_t largest;
static int mapped, unmapped, room = -1; /* room: number of mappings that will still succeed */

static int no_room(void)
{
	mapped += room != 0;
	return room == 0 || room-- == 0;
}

static void *some_pages(size_t size)
{
	return no_room() ? NULL : tach__pages(size);
}

static void *larger_pages(const void *old, size_t old_size, size_t size)
{
	largest = size;
	if (no_room()) {
		errno = ENOMEM;
		return NULL;
	}
	return tach__pages_larger(old, old_size, size);
}

static void free_pages(void *pages, size_t size)
{
	unmapped++;
	tach__pages_free(pages, size);
}

#define sigaction(number, action, old)	   some_sigaction(number, action, old)
#define tach__pages(size)		   some_pages(size)
#define tach__pages_larger(old, was, size) larger_pages(old, was, size)
#define tach__pages_free(pages, size)	   free_pages(pages, size)
#include "core/reader/fault.c"
#undef sigaction

/*
 * More notes than a page has room for. Each record points before itself, the first one least,
 * to an address without an instruction.
 */
enum { MANY = 300 };
__asm__(".pushsection .note.many, \"a\", @note\n\t.balign 4\n\t.set many, 0\n"
	"\t.rept 300\n\t.long 5, 12, 1\n\t.asciz \"tach\"\n\t.balign 4\n"
	"\t.long many, 0, 0\n\t.set many, many - 64\n\t.endr\n\t.popsection\n");

static struct table *fresh(uint64_t scan)
{
	struct table *t = tach__pages(tach__pages_round(1));

	t->size = tach__pages_round(1);
	t->scan = scan;
	return t;
}

/* ---- notes ---- */

static _Alignas(8) char notes[4096];
static size_t end_of_notes;

static char *add_note(const char *name, uint32_t namesz, uint32_t type, uint32_t descsz)
{
	ElfW(Nhdr) *note = (ElfW(Nhdr) *)(notes + end_of_notes);
	char *description;

	note->n_namesz = namesz;
	note->n_descsz = descsz;
	note->n_type = type;
	end_of_notes += sizeof *note;
	memset(notes + end_of_notes, 0, 64);
	memcpy(notes + end_of_notes, name, strlen(name));
	end_of_notes += (namesz + 3) / 4 * 4;
	description = notes + end_of_notes;
	end_of_notes += (descsz + 3) / 4 * 4;
	return description;
}

/* Adds a record that points `at` and `landing` bytes after its two words. */
static uintptr_t add_record(int32_t at, int32_t landing)
{
	int32_t *pair = (int32_t *)add_note("tach", 5, 1, 12);

	memset((char *)pair - 3, 0xff, 3); /* padding after the end of the name */
	pair[0] = at;
	pair[1] = landing;
	return (uintptr_t)pair;
}

static void notes_of_ours(void)
{
	/* Other names, types and sizes; lengths are padded to 4. */
	static const struct {
		const char *name;
		uint32_t namesz, type, descsz;
	} others[] = {{"GNU", 4, 1, 12},  {"tach", 5, 2, 12},	{"tach", 5, 0, 12},
		      {"tach", 5, 1, 8},  {"tach", 5, 1, 16},	{"tacho", 6, 1, 12},
		      {"tack", 5, 1, 12}, {"longer", 7, 1, 13}, {"", 0, 1, 12},
		      {"tac", 4, 1, 12},  {"x", 1, 1, 0},	{"tach", 5, 1, 13}};
	enum { OTHERS = sizeof others / sizeof *others };
	struct table *t = fresh(0);
	uintptr_t ours[OTHERS + 1];
	size_t whole;

	end_of_notes = 0;
	for (int i = 0; i < OTHERS; i++) {
		ours[i] = add_record(-100 * i, 7 * i);
		add_note(others[i].name, others[i].namesz, others[i].type, others[i].descsz);
	}
	whole = end_of_notes;
	ours[OTHERS] = add_record(8, -8);
	CHECK(scan_notes(&t, notes, end_of_notes) == 0 && t->count == OTHERS + 1, "%zu",
	      t->count);
	for (int i = 0; i <= OTHERS; i++) {
		intptr_t at = i < OTHERS ? -100 * i : 8, landing = i < OTHERS ? 7 * i : -8;

		CHECK(t->record[i].at == ours[i] + (uintptr_t)at, "%d", i);
		CHECK(t->record[i].landing == ours[i] + 4 + (uintptr_t)landing, "%d", i);
	}
	/* Notes that are cut off anywhere in the last note: the others are used. */
	for (size_t size = whole; size < end_of_notes; size++) {
		t->count = 0;
		CHECK(scan_notes(&t, notes, size) == 0 && t->count == OTHERS, "%zu: %zu", size,
		      t->count);
	}
	tach__pages_free(t, t->size);
}

static void segments_of_a_module(void)
{
	ElfW(Phdr) header[5]; /* one header more than the module has */
	struct dl_phdr_info info = {.dlpi_phdr = header, .dlpi_phnum = 4};
	struct table *t = fresh(0);
	size_t half;

	end_of_notes = 0;
	add_record(1, 1);
	half = end_of_notes;
	add_record(2, 2);
	memset(header, 0, sizeof header);
	info.dlpi_addr = (uintptr_t)notes - 32;
	for (int i = 0; i < 5; i++) {
		header[i].p_type = PT_NOTE;
		header[i].p_align = 4;
		header[i].p_vaddr = 32;
		header[i].p_memsz = half;
	}
	header[0].p_align = 1;
	header[1].p_align = 8;
	header[2].p_type = PT_LOAD;
	header[3].p_vaddr += half;
	CHECK(scan_module(&info, sizeof info, &t) == 0 && t->count == 2, "%zu", t->count);
	CHECK(t->record[1].at == (uintptr_t)notes + 2 * half - 12 + 2);
	tach__pages_free(t, t->size);
}

/* ---- sorting, finding ---- */

static void every_record_is_found(void)
{
	enum { MOST = 1000 };
	static int32_t pair[MOST][2];

	/* All sizes up to 40, and sizes above the capacity of a page. */
	for (size_t n = 0; n <= MOST; n = n < 40 ? n + 1 : n + 480) {
		struct table *t = fresh(0);
		uintptr_t least = UINTPTR_MAX;

		for (size_t i = 0; i < n; i++) {
			size_t other = i * 389 % MOST; /* in random order, without duplicates */

			pair[other][0] = 0;
			pair[other][1] = (int32_t)i;
			CHECK(collect(&t, pair[other]) == 0);
			if ((uintptr_t)pair[other] < least)
				least = (uintptr_t)pair[other];
		}
		CHECK(t->count == n && sizeof *t + n * sizeof *t->record <= t->size);
		sort(t);
		for (size_t i = 1; i < n; i++)
			CHECK(t->record[i - 1].at < t->record[i].at, "%zu of %zu", i, n);
		table = t;
		for (size_t i = 0; i < n; i++) {
			const int32_t *of = pair[i * 389 % MOST];

			CHECK(find((uintptr_t)of) == (uintptr_t)&of[1] + i, "%zu of %zu", i, n);
			CHECK(find((uintptr_t)of + 1) == 0 && find((uintptr_t)of - 1) == 0);
		}
		CHECK(find(0) == 0 && find(UINTPTR_MAX) == 0 && find(least - 8) == 0);
		table = NULL;
		CHECK(find(least) == 0);
		tach__pages_free(t, t->size);
	}
}

/* A growing table frees its predecessor; if it cannot grow, it stays unchanged. */
static void full_table_grows(void)
{
	static const int32_t pair[2];
	struct table *t = fresh(0), *was = t;
	size_t most = (t->size - sizeof *t) / sizeof *t->record;

	for (size_t i = 0; i < most; i++)
		collect(&t, pair);
	CHECK(t == was && t->count == most);
	room = 0;
	CHECK(collect(&t, pair) == -1 && t == was && t->count == most);
	end_of_notes = 0;
	add_record(0, 0);
	CHECK(scan_notes(&t, notes, end_of_notes) == -1 && t == was && t->count == most);
	mapped = unmapped = 0;
	room = -1;
	CHECK(collect(&t, pair) == 0 && t->count == most + 1);
	CHECK(t->size == largest && t->size == 2 * tach__pages_round(1) && mapped == 1 &&
		      unmapped == 1,
	      "%d %d", mapped, unmapped);
	tach__pages_free(t, t->size);
}

/* ---- publishing ---- */

static void newest_table_stays(void)
{
	struct table *first = fresh(1), *second = fresh(2), *third = fresh(3);

	table = NULL;
	mapped = unmapped = 0;
	CHECK(publish(second) == 0 && table == second && !second->older);
	CHECK(publish(first) == 0 && table == second && unmapped == 1);
	CHECK(publish(third) == 0 && table == third && third->older == second && unmapped == 1);
	tach_fault_remove();
	table = NULL;
	tach__pages_free(second, second->size);
	tach__pages_free(third, third->size);
}

/* Fills the stack, so that unset variables are not 0 by chance. */
static __attribute__((noinline)) void soil_stack(void)
{
	volatile char left[8192];

	for (size_t i = 0; i < sizeof left; i++)
		left[i] = 0x5a;
}

static int installed(int number)
{
	struct sigaction now;

	sigaction(number, NULL, &now);
	return is_ours(&now);
}

/* Either both signals have our handler, or neither has. */
static void refused_by_the_system(void)
{
	struct tach_error err = TACH_ERROR_INIT;

	for (int i = 0; i < 2; i++) {
		refused_signal = signals[i];
		errno = 0;
		CHECK(tach_fault_install(&err) == -EPERM, "%s", err.text);
		CHECK(strstr(err.text, "handler") != NULL && errno == 0, "%s", err.text);
		CHECK(err.code == -EPERM && err.line == 0 && err.column == 0);
		CHECK(tach__fault_ready(&err) == -EPERM);
		refused_signal = 0;
		CHECK(!installed(SIGSEGV) && !installed(SIGILL));
	}
	/* For the first page and for a larger table: on failure, the memory is freed. */
	for (room = 0; room < 2; room++) {
		int from = room;

		mapped = unmapped = errno = 0;
		CHECK(tach_fault_install(&err) == TACH_ERR_NOMEM && errno == 0, "%d", from);
		CHECK(err.code == TACH_ERR_NOMEM && err.line == 0 && err.column == 0);
		CHECK(mapped == from && unmapped == from, "%d, %d", mapped, unmapped);
		room = from;
	}
	room = -1;
	CHECK(!installed(SIGSEGV) && !installed(SIGILL));
}

static volatile sig_atomic_t came;

static void informed(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	if (came++)
		_exit(3);
}

/* The modules are scanned once, until a module is loaded or the handler changes. */
static void ready_once(void)
{
	struct tach_error err = TACH_ERROR_INIT;
	uint64_t before = scans;
	void *module;

	CHECK(tach__fault_ready(&err) == 0 && scans == before + 1 && installed(SIGILL));
	CHECK(table && table->count >= MANY && table->scan == scans);
	for (size_t i = 1; i < table->count; i++)
		CHECK(table->record[i - 1].at < table->record[i].at, "%zu", i);
	CHECK(tach__fault_ready(&err) == 0 && scans == before + 1);
	signal(SIGILL, SIG_DFL);
	CHECK(tach__fault_ready(&err) == 0 && scans == before + 2 && installed(SIGILL));
	CHECK(table->older && table->older->scan == before + 1);
	CHECK(tach__fault_ready(&err) == 0 && scans == before + 2);
	module = dlopen("libresolv.so.2", RTLD_NOW);
	if (module) {
		CHECK(tach__fault_ready(&err) == 0 && scans == before + 3);
		CHECK(tach__fault_ready(&err) == 0 && scans == before + 3);
		dlclose(module);
	}
	/* A handler with SA_SIGINFO counts as another handler too. */
	before = scans;
	sigaction(SIGILL, &(struct sigaction){.sa_sigaction = informed, .sa_flags = SA_SIGINFO},
		  NULL);
	CHECK(tach__fault_ready(&err) == 0 && scans == before + 1 && installed(SIGILL));
	tach_fault_remove();
	CHECK(!installed(SIGSEGV) && !installed(SIGILL));
	signal(SIGILL, SIG_DFL);
}

/* Errors of sigaction(2) do not change errno here. */
static void removing_leaves_errno(void)
{
	CHECK(tach_fault_install(NULL) >= MANY);
	refused_signal = SIGSEGV;
	errno = 33;
	tach_fault_remove();
	CHECK(errno == 33 && installed(SIGSEGV) && !installed(SIGILL), "%d", errno);
	refused_signal = 0;
	tach_fault_remove();
	CHECK(!installed(SIGSEGV));
}

/* A child forked during another thread's installation can install too. */
static void fork_during_an_installation(void)
{
	int status = 0;
	pid_t child;

	pthread_mutex_lock(&lock);
	child = fork();
	if (child == 0)
		_exit(pthread_mutex_trylock(&lock) == 0 ? 0 : 3);
	pthread_mutex_unlock(&lock);
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x", status);
}

/*
 * Remove keeps a handler that was installed later, and still removes ours for the other signal.
 */
static void another_handler_stays(void)
{
	struct sigaction now;

	CHECK(tach_fault_install(NULL) >= MANY);
	signal(SIGSEGV, SIG_IGN);
	tach_fault_remove();
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN && !installed(SIGILL));
	CHECK(tach_fault_install(NULL) >= MANY);
	sigaction(SIGSEGV,
		  &(struct sigaction){.sa_sigaction = informed, .sa_flags = SA_SIGINFO}, NULL);
	tach_fault_remove();
	sigaction(SIGSEGV, NULL, &now);
	CHECK(now.sa_sigaction == informed && !installed(SIGILL));
	signal(SIGSEGV, SIG_DFL);
}

/*
 * A handler with SA_RESETHAND and SA_SIGINFO gets the first signal; the second one has the
 * default action.
 */
static void resethand_handler_runs_once(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		struct sigaction action;

		memset(&action, 0, sizeof action);
		action.sa_sigaction = informed;
		action.sa_flags = SA_SIGINFO | (int)SA_RESETHAND;
		sigaction(SIGILL, &action, NULL);
		tach_fault_install(NULL);
		raise(SIGILL);
		raise(SIGILL);
		_exit(2);
	}
	waitpid(child, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL, "%#x", status);
}

/* While the handler runs, no other signal is blocked. */
static void handlers_as_asked(void)
{
	struct sigaction now;
	sigset_t held;

	its_lock = &lock;
	soil_stack();
	CHECK(tach_fault_install(NULL) >= MANY);
	for (int i = 0; i < 2; i++) {
		sigaction(signals[i], NULL, &now);
		CHECK(is_ours(&now) && sigisemptyset(&now.sa_mask));
		CHECK((now.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART |
				       (int)SA_RESETHAND)) == (SA_SIGINFO | SA_ONSTACK));
	}
	tach_fault_remove();
	CHECK(other_signals == 0 && unlocked == 0, "%d, %d", other_signals, unlocked);
	its_lock = NULL;
	/* No signal is still blocked, and the lock is free. */
	pthread_sigmask(SIG_BLOCK, NULL, &held);
	CHECK(!sigismember(&held, SIGUSR1) && tach__signals_held == 0);
	CHECK(pthread_mutex_trylock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
}

/*
 * A signal sent by kill(2), with code 0: it kills a program without a handler; a program with a
 * handler gets it.
 */
static void sent_by_kill(void)
{
	static void (*const before[])(int) = {SIG_DFL, SIG_IGN};

	for (int i = 0; i < 4; i++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0) {
			signal(signals[i / 2], before[i % 2]);
			tach_fault_install(NULL);
			kill(getpid(), signals[i / 2]);
			_exit(2);
		}
		waitpid(child, &status, 0);
		if (i % 2)
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%#x", status);
		else
			CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i / 2], "%#x",
			      status);
	}
}

static volatile sig_atomic_t passed_on;

static void takes(int number)
{
	passed_on = number;
}

/*
 * A signal sent while the thread was at a counter instruction is not taken for that
 * instruction's fault.
 */
static void sent_at_a_counter_instruction(void)
{
	static const unsigned char code[] = {0x0f, 0x33}; /* x86: RDPMC */
	static const int codes[] = {SI_TKILL, SI_USER, 1, 0x80};
	struct table *t = fresh(0);
	void *pc = (void *)(uintptr_t)code;

#ifdef __aarch64__
	pc = (void *)(uintptr_t)tach__counters32;
#elif !defined(__x86_64__)
	SKIP("this architecture, or a sanitizer, reads them otherwise");
#endif
	t->count = 1;
	t->record[0].at = (uintptr_t)code;
	t->record[0].landing = 0x1234;
	table = t;
	memset(previous, 0, sizeof previous);
	previous[0].count = previous[1].count = 1;
	previous[0].action->sa_handler = previous[1].action->sa_handler = takes;
	for (int n = 0; n < 2; n++)
		for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
			int sent = codes[i] <= 0;
			siginfo_t from = {.si_code = codes[i]};
			ucontext_t at;

			memset(&at, 0, sizeof at);
			TACH_FAULT_SITE(&at) =
				(__typeof__(TACH_FAULT_SITE(&at)))(uintptr_t)code;
			TACH_FAULT_PC(&at) = (__typeof__(TACH_FAULT_PC(&at)))(uintptr_t)pc;
			passed_on = 0;
			errno = 33;
			handler(signals[n], &from, &at);
			CHECK(errno == 33 && passed_on == (sent ? signals[n] : 0), "%d: %d",
			      codes[i], (int)passed_on);
			CHECK((uintptr_t)TACH_FAULT_PC(&at) == (sent ? (uintptr_t)pc : 0x1234),
			      "%d", codes[i]);
			/* Another place. */
			TACH_FAULT_SITE(&at) += 1;
			handler(signals[n], &from, &at);
			CHECK(passed_on == signals[n]);
		}
	table = NULL;
	tach__pages_free(t, t->size);
}

static sigset_t while_it_ran;

static void looks(int number)
{
	(void)number;
	pthread_sigmask(SIG_BLOCK, NULL, &while_it_ran);
}

/* While the earlier handler runs, its own signal is blocked only if its flags ask for it. */
static void what_is_blocked_stays_so(void)
{
	siginfo_t sent = {.si_code = SI_USER};
	sigset_t all, before, after;
	ucontext_t at;

	memset(&at, 0, sizeof at);
	sigfillset(&all);
	for (int n = 0; n < 2; n++)
		for (int asks = 0; asks < 2; asks++) {
			memset(previous, 0, sizeof previous);
			previous[n].action->sa_handler = looks;
			previous[n].count = 1;
			previous[n].action->sa_flags = asks ? SA_NODEFER : 0;
			pthread_sigmask(SIG_BLOCK, &all, &before);
			soil_stack();
			handler(signals[n], &sent, &at);
			pthread_sigmask(SIG_SETMASK, &before, &after);
			CHECK(sigismember(&after, signals[n]), "%d", asks);
			for (int i = 1; i < 32; i++)
				CHECK(i == SIGKILL || i == SIGSTOP ||
					      sigismember(&while_it_ran, i) ==
						      !(asks && i == signals[n]),
				      "%d, signal %d", asks, i);
		}
	memset(previous, 0, sizeof previous);
}

int main(void)
{
	CASE(what_is_blocked_stays_so);
	CASE(fork_during_an_installation);
	CASE(handlers_as_asked);
	CASE(sent_by_kill);
	CASE(sent_at_a_counter_instruction);
	CASE(notes_of_ours);
	CASE(segments_of_a_module);
	CASE(every_record_is_found);
	CASE(full_table_grows);
	CASE(newest_table_stays);
	CASE(refused_by_the_system);
	CASE(ready_once);
	CASE(removing_leaves_errno);
	CASE(another_handler_stays);
	CASE(resethand_handler_runs_once);
	return check_done();
}
#else
static void notes_of_ours(void)
{
	SKIP("this architecture has no counters to read in user space");
}

int main(void)
{
	CASE(notes_of_ours);
	return check_done();
}
#endif

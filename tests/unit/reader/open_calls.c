/* SPDX-License-Identifier: MIT */
/*
 * The system calls of opening and closing a reader: the events, how often, and their initial
 * state. The kernel is simulated, as in open_faults.c: hardware events are page faults, and the
 * test makes their pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <tach/fault.h>
#include "core/os/sys.h"
#include "core/reader/reader.h"
#include "core/set/set.h"
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/unit/reader/pretended.h"

enum { CONFIG1 = 0x30 };
/* A request for user access first asks for a 64-bit counter, then for a 32-bit one. */
enum { WAYS = TACH_ARCH_ASKS ? 2 : 1 };

static struct {
	int asked; /* number of events that the reader requested and that one group read returns
		    */
	struct {
		struct perf_event_attr attr;
		int leader;
	} ask[TACH_COUNTERS_MAX];
	int seen; /* number of hardware pages so far */
	/* the first hardware pages */
	const struct perf_event_mmap_page *page[TACH_COUNTERS_MAX];
	/* number of these pages that still showed an event when requested */
	int left;
	int mapped; /* hardware pages besides a reader's own */
	const struct tach_reader *closing;
	int late;	       /* number of descriptors that were closed before their pages */
	int enabled, disabled; /* number of ioctl calls for hardware events */
	int fit;   /* number of hardware events that fit a group; one more gives EINVAL. 0: any
		      number */
	int dead;  /* read(2) of a hardware group gives 0 bytes */
	int stays; /* descriptors cannot be moved to other numbers */
	int maps;  /* number of hardware pages that can be mapped; then EPERM */
	/* Part of the first 1000 ns in which the hardware events had no counter. */
	uint64_t gap;
	uint64_t unknown; /* a config that gives EINVAL, also in a group of its own */
	long refuses;	  /* perf_event_open returns this error */
} kernel;

/*
 * The page as the kernel would fill it: enabled for 1000 ns, without a counter for 400 of them.
 */
static long map_page(long at, long size, long flags)
{
	long got;

	if (kernel.maps-- <= 0)
		return -EPERM;
	kernel.mapped += !(flags & MAP_FIXED);
	got = tach__sys_real(SYS_mmap, at, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | (flags & MAP_FIXED), -1, 0);
	if (kernel.seen < TACH_COUNTERS_MAX)
		kernel.page[kernel.seen] = (const struct perf_event_mmap_page *)got;
	*(struct perf_event_mmap_page *)got =
		(struct perf_event_mmap_page){.lock = 0x80000002 + 4 * (uint32_t)kernel.seen++,
					      .index = 1,
					      .cap_user_rdpmc = 1,
					      .pmc_width = PRETENDED_WIDTH,
					      .time_enabled = 1000,
					      .time_running = 1000 - kernel.gap};
	return got;
}

static long open_event(const struct perf_event_attr *attr, long leader)
{
	int hard = attr->type != PERF_TYPE_SOFTWARE;

	if (attr->read_format && kernel.asked < TACH_COUNTERS_MAX) {
		kernel.ask[kernel.asked].attr = *attr;
		kernel.ask[kernel.asked].leader = (int)leader;
	}
	kernel.asked += attr->read_format != 0;
	for (int i = 0; kernel.dead && i < kernel.seen && i < TACH_COUNTERS_MAX; i++)
		kernel.left += kernel.page[i]->index != 0;
	if (kernel.refuses)
		return kernel.refuses;
	if (hard && kernel.unknown && attr->config == kernel.unknown)
		return -EINVAL;
	return pretended_open(attr, leader, kernel.fit);
}

static long pretend(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)a, d);
	if (number == SYS_fcntl)
		return kernel.stays ? -EINVAL : pretended_move(a, b, c);
	if (number == SYS_mmap && pretends(e))
		return map_page(a, b, d);
	if (number == SYS_read && pretends(a) && kernel.dead)
		return 0;
	if (number == SYS_ioctl && pretends(a)) {
		kernel.enabled += b == PERF_EVENT_IOC_ENABLE;
		kernel.disabled += b == PERF_EVENT_IOC_DISABLE;
	}
	if (number == SYS_close && pretends(a)) {
		pretended[a] = 0;
		kernel.late += kernel.closing && TACH_PAGE(kernel.closing, 0)->index;
	}
	return tach__sys_real(number, a, b, c, d, e, f);
}

static struct tach_error err;
static struct tach_set *set;
static struct tach_reader *reader;

/*
 * Makes HARD hardware events, then SOFT software events; exclusive: the first event asks for an
 * exclusive group.
 */
static int make(int hard, int soft, int exclusive, uint32_t flags)
{
	struct perf_event_attr attr[TACH_COUNTERS_MAX];
	struct tach_set_member member[TACH_COUNTERS_MAX];
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

	memset(attr, 0, sizeof attr);
	for (int i = 0; i < hard + soft; i++) {
		attr[i].type = i < hard ? PERF_TYPE_RAW : PERF_TYPE_SOFTWARE;
		attr[i].size = sizeof *attr;
		attr[i].config = i < hard ? 0xc0 : PERF_COUNT_SW_PAGE_FAULTS;
		attr[i].config1 = i < hard ? CONFIG1 : 0;
		attr[i].exclude_kernel = attr[i].exclude_hv = attr[i].exclude_guest = 1;
		member[i] = (struct tach_set_member){"event", &attr[i]};
	}
	attr[0].exclusive = exclusive != 0;
	opt.attrs = member;
	opt.nattrs = hard + soft;
	opt.flags = flags;
	memset(&kernel, 0, sizeof kernel);
	memset(pretended, 0, sizeof pretended);
	memset(&err, 0, sizeof err);
	kernel.maps = DESCRIPTORS;
	tach__sys = tach__sys_real;
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%s", err.text);
	tach__sys = pretend;
	return set != NULL;
}

static int opens(void)
{
	return tach_reader_open(set, &reader, &err) == 0;
}

static void end(void)
{
	kernel.closing = reader;
	tach_reader_close(reader);
	kernel.closing = NULL;
	reader = NULL;
	tach_set_free(set);
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		CHECK(!pretended[fd], "descriptor %d is open", fd);
}

/* Returns NULL if this machine has software events; does not use the library to find out. */
static const char *missing(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	long fd = tach__sys_real(SYS_perf_event_open, (long)&attr, 0, -1, -1,
				 PERF_FLAG_FD_CLOEXEC, 0);

	if (fd < 0)
		return "perf_event_open is refused";
	close((int)fd);
	return NULL;
}

static void what_is_asked_for(int exclusive, uint32_t flags)
{
	int pinned = !(flags & TACH_SET_MULTIPLEX);

	make(2, 2, exclusive, flags);
	CHECK(opens() && kernel.asked == 4, "%d: %s", kernel.asked, err.text);
	for (int i = 0; i < 4; i++) {
		const struct perf_event_attr *attr = &kernel.ask[i].attr;
		int hard = i < 2, leads = i % 2 == 0;

		CHECK(attr->type == (hard ? PERF_TYPE_RAW : PERF_TYPE_SOFTWARE));
		CHECK(kernel.ask[i].leader == (leads ? -1 : tach__reader(reader)->fd[i - 1]));
		CHECK(attr->disabled == (leads && !(TACH_ARCH_ASKS && hard)), "%d", i);
		CHECK(attr->pinned == (leads && hard && pinned), "%d", i);
		CHECK(attr->exclusive == (leads && hard && pinned && exclusive), "%d", i);
		CHECK(attr->config1 ==
			      (hard ? CONFIG1 | (TACH_ARCH_ASKS && pinned ? 3 : 0) : 0),
		      "%d: %#llx", i, (unsigned long long)attr->config1);
		CHECK(attr->read_format == (PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
					    PERF_FORMAT_TOTAL_TIME_RUNNING));
	}
	CHECK(kernel.enabled == 1, "%d", kernel.enabled);
	end();
}

static void leaders_ask_for_the_group(void)
{
	if (missing())
		SKIP(missing());
	what_is_asked_for(0, 0);
	what_is_asked_for(1, 0);
	what_is_asked_for(0, TACH_SET_MULTIPLEX);
	what_is_asked_for(1, TACH_SET_MULTIPLEX);
}

/* If fields of PERF_METRICS are counted, slots are opened first, at any position. */
static void slots_lead_their_group(void)
{
	static const uint64_t config[] = {0x8000, 0xc0, 0x400};

	if (missing())
		SKIP(missing());
	for (int fields = 0; fields < 2; fields++)
		for (int turn = 0; turn < 3; turn++) {
			struct tach_set *made = make(3, 0, 0, 0) ? set : NULL;
			int slots = -1;

			for (int i = 0; made && i < 3; i++) {
				made->member[i].attr.config = config[(i + turn) % 3];
				if (made->member[i].attr.config == 0x8000 && !fields)
					made->member[i].attr.config = 0x3c;
				if (fields && tach__is_slots(&made->member[i].attr))
					slots = i;
			}
			kernel.maps = 0;
			CHECK(opens() && kernel.asked == 3, "%d: %s", kernel.asked, err.text);
			for (int at = 0, i; at < 3; at++) {
				i = slots < 0 ? at : at == 0 ? slots : at - (at <= slots);
				CHECK(kernel.ask[at].attr.config == made->member[i].attr.config,
				      "turn %d: member %d is not number %d", turn, i, at);
			}
			end();
		}
}

/* A read resets both registers; later counts start from the remainder. */
static void metrics_begin_set_back(void)
{
	const struct tach__topdown *t;

	if (missing())
		SKIP(missing());
	make(2, 0, 0, 0);
	set->member[0].attr.config = 0x8000;
	set->member[1].attr.config = 0x400;
	CHECK(opens(), "%s", err.text);
	t = &tach__reader(reader)->topdown;
	CHECK(t->on == tach__is_slots(&set->member[1].attr));
	if (t->on)
		CHECK(t->turn == 2 && t->behind == 0 && t->lock == t->way[1].page->lock,
		      "turn %u, lock %#x, behind %llu", t->turn, t->lock,
		      (unsigned long long)t->behind);
	end();
}

/* Each kind of access is tried once: an event that the kernel refused will be refused again. */
static void refused_events_are_asked_for_once(void)
{
	int fds;

	if (missing())
		SKIP(missing());
	make(2, 1, 0, 0);
	kernel.refuses = -EINVAL;
	CHECK(!opens() && kernel.asked == WAYS, "%d", kernel.asked);
	kernel.asked = 0;
	kernel.refuses = -EOPNOTSUPP;
	CHECK(!opens() && kernel.asked == WAYS, "%d", kernel.asked);
	kernel.asked = 0;
	kernel.refuses = -EBUSY;
	CHECK(!opens() && kernel.asked == 1, "%d", kernel.asked);
	end();
	/*
	 * If a group gets no counters, smaller groups may get some after its pages are
	 * unmapped.
	 */
	make(2, 1, 0, 0);
	kernel.dead = 1;
	fds = descriptors();
	CHECK(!opens() && err.code == TACH_ERR_NOCOUNTER && kernel.asked == WAYS * 3, "%d",
	      kernel.asked);
	CHECK(descriptors() == fds, "%d, then %d", fds, descriptors());
	CHECK(kernel.seen == WAYS * 2 && kernel.left == 0, "%d, %d", kernel.seen, kernel.left);
	for (int i = 3; i < WAYS * 3 - 1; i++)
		CHECK(kernel.ask[i].attr.config1 == (CONFIG1 | 2), "%d: %#llx", i,
		      (unsigned long long)kernel.ask[i].attr.config1);
	end();
}

static int next_free(void)
{
	int fd = dup(2);

	close(fd);
	return fd;
}

/* The event that does not fit was opened alone, to distinguish it from an unknown event. */
static void too_large_a_group_leaves_nothing_open(void)
{
	int before = next_free();

	if (missing())
		SKIP(missing());
	for (int fit = 1; fit < 3; fit++) {
		char words[] = "0 of 3";

		make(3, 0, 0, 0);
		kernel.fit = fit;
		words[0] = (char)('0' + fit);
		CHECK(!opens() && err.code == TACH_ERR_NOCOUNTER && strstr(err.text, words),
		      "%d, %d: %s", fit, err.code, err.text);
		end();
		CHECK(next_free() == before, "%d, then %d", before, next_free());
	}
	/* An unknown event is not the reason for a too large group. */
	make(3, 0, 0, 0);
	set->member[1].attr.config = kernel.unknown = 0xc1;
	CHECK(!opens() && err.code == TACH_ERR_INVAL && strstr(err.text, "does not take"),
	      "%d: %s", err.code, err.text);
	end();
}

/*
 * A program without standard input: perf_event_open returns 0, a valid descriptor, even if it
 * cannot be moved.
 */
static void zero_is_a_descriptor(void)
{
	int input;

	if (missing())
		SKIP(missing());
	input = dup(0);
	for (int stays = 0; stays < 2; stays++) {
		close(0);
		make(2, 1, 1, 0);
		kernel.stays = stays;
		CHECK(opens(), "%s", err.text);
		CHECK((tach__reader(reader)->fd[0] == 0) == stays);
		CHECK(kernel.ask[0].attr.pinned && !kernel.ask[1].attr.pinned &&
		      !kernel.ask[1].attr.disabled);
		CHECK(kernel.ask[1].leader == tach__reader(reader)->fd[0]);
		CHECK(tach__reader(reader)->hard.leader == tach__reader(reader)->fd[0]);
		end();
		CHECK(fcntl(0, F_GETFD) < 0);
		/* An event that is opened alone gets descriptor 0 too. */
		make(2, 0, 0, 0);
		kernel.fit = 1;
		CHECK(!opens() && err.code == TACH_ERR_NOCOUNTER, "%s", err.text);
		end();
		CHECK(fcntl(0, F_GETFD) < 0);
		/*
		 * The same for a set with software events only, where all events except the
		 * leader are enabled from the start.
		 */
		make(0, 2, 0, 0);
		kernel.stays = stays;
		CHECK(opens() && kernel.ask[1].leader == tach__reader(reader)->soft.leader);
		CHECK(kernel.ask[0].attr.disabled && !kernel.ask[1].attr.disabled);
		end();
		dup2(input, 0);
	}
	close(input);
}

/*
 * A page keeps its event open; an event without a page needs its descriptor. The leader's
 * descriptor stays for reading the group.
 */
static void descriptors_are_kept_where_needed(void)
{
	if (missing())
		SKIP(missing());
	for (int maps = 1; maps <= 3; maps++) {
		const struct tach__reader *r;
		struct tach__group_read now;

		make(3, 0, 0, 0);
		kernel.maps = maps;
		CHECK(opens(), "%s", err.text);
		r = tach__reader(reader);
		CHECK(r->fd[0] >= 0 && r->hard.leader == r->fd[0]);
		CHECK((r->fd[1] < 0) == (maps > 1) && (r->fd[2] < 0) == (maps > 2),
		      "%d mapped: %d %d", maps, r->fd[1], r->fd[2]);
		for (int i = 3; i < TACH_COUNTERS_MAX; i++)
			CHECK(r->fd[i] == -1, "member %d: descriptor %d", i, r->fd[i]);
		/* The other pages belong to the test, and keep no event open. */
		CHECK(maps > 1 || (tach__group_read(&r->hard, &now) == 1 && now.count == 3));
		end();
	}
}

/*
 * Time without counters before the first region is known, and does not appear in a region
 * again.
 */
static void gaps_before_are_known(void)
{
	const struct tach__reader *r;

	if (missing())
		SKIP(missing());
	for (uint64_t gap = 0; gap <= 400; gap += 400) {
		make(2, 0, 0, 0);
		kernel.gap = gap;
		CHECK(opens(), "%s", err.text);
		r = tach__reader(reader);
		CHECK(r->lag == gap, "%llu", (unsigned long long)r->lag);
		CHECK(r->grown_lock == 0x80000002, "%#x", r->grown_lock);
		end();
	}
}

/*
 * If closing an event does not take its counter from the process, the event is not disabled
 * first.
 */
static void closing_leaves_the_thread_as_it_was(void)
{
	sigset_t own, before, after;

	if (missing())
		SKIP(missing());
	for (int hard = 0; hard < 2; hard++) {
		make(hard, 1, 0, 0);
		CHECK(opens(), "%s", err.text);
		sigemptyset(&own);
		sigaddset(&own, SIGUSR2);
		pthread_sigmask(SIG_BLOCK, &own, &before);
		end();
		CHECK(pthread_sigmask(SIG_SETMASK, &before, &after) == 0);
		CHECK(sigismember(&after, SIGUSR2) == 1 && sigismember(&after, SIGUSR1) == 0);
		CHECK(kernel.disabled == (TACH_ARCH_FAULTS && hard), "%d", kernel.disabled);
	}
}

/*
 * One page stays mapped from the first reader without system calls until the last one closes.
 * It is unmapped last, because a reader's own pages are unmapped before its descriptors are
 * closed.
 */
static void one_event_stays_mapped(void)
{
	struct tach_reader *other;

	if (missing())
		SKIP(missing());
	for (int again = 1; again <= 2; again++) {
		make(2, 0, 0, 0);
		kernel.dead = 1;
		CHECK(!opens() && kernel.mapped == 0, "%d", kernel.mapped);
		kernel.dead = 0;
		CHECK(opens() && kernel.mapped == 1, "%d", kernel.mapped);
		CHECK(tach_reader_open(set, &other, &err) == 0 && kernel.mapped == 1, "%d",
		      kernel.mapped);
		tach_reader_close(other);
		end();
		CHECK(kernel.late == 0, "%d", kernel.late);
	}
	make(1, 1, 0, 0);
	CHECK(opens() && !reader->fast && kernel.mapped == 0, "%d", kernel.mapped);
	end();
}

/* Reads of this reader do not fault. */
static void no_handler_is_installed(void)
{
	static const int signals[] = {SIGSEGV, SIGILL};

	if (missing())
		SKIP(missing());
	tach_fault_remove();
	for (int i = 0; i < 2 && !TACH_ARCH_FAULTS; i++) {
		struct sigaction before, now;

		CHECK(sigaction(signals[i], NULL, &before) == 0);
		make(1, 1, 0, 0);
		CHECK(opens(), "%s", err.text);
		CHECK(sigaction(signals[i], NULL, &now) == 0 &&
		      now.sa_sigaction == before.sa_sigaction);
		end();
	}
}

int main(void)
{
	CASE(leaders_ask_for_the_group);
	CASE(slots_lead_their_group);
	CASE(metrics_begin_set_back);
	CASE(refused_events_are_asked_for_once);
	CASE(too_large_a_group_leaves_nothing_open);
	CASE(zero_is_a_descriptor);
	CASE(descriptors_are_kept_where_needed);
	CASE(gaps_before_are_known);
	CASE(closing_leaves_the_thread_as_it_was);
	CASE(one_event_stays_mapped);
	CASE(no_handler_is_installed);
	return check_done();
}

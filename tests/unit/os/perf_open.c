/* SPDX-License-Identifier: MIT */
/* The arguments of perf_event_open(2), and kernels that refuse to count guests. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <linux/perf_event.h>
#include "core/os/perf_open.h"
#include "core/os/sys.h"
#include "tests/check.h"

static long given, without; /* the kernel's result; its result with guests excluded */
static char did[100];

static long answer(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	size_t used = strlen(did);

	if (number == SYS_close) {
		snprintf(did + used, sizeof did - used, "close %ld; ", a);
		return 0;
	}
	CHECK(number == SYS_perf_event_open && attr->config == 4711 && f == 0);
	CHECK(e == PERF_FLAG_FD_CLOEXEC);
	snprintf(did + used, sizeof did - used, "%ld %ld %ld%s%s; ", b, c, d,
		 attr->exclude_guest ? " host" : "", attr->disabled ? " off" : "");
	return attr->exclude_guest ? without : given;
}

static struct perf_event_attr event = {.config = 4711};

#define DID(want, call, ...)                                                                   \
	do {                                                                                   \
		long got;                                                                      \
                                                                                               \
		did[0] = '\0';                                                                 \
		got = call;                                                                    \
		CHECK(got == (want) && strcmp(did, __VA_ARGS__) == 0, "%ld, %s", got, did);    \
	} while (0)

static void without_guests_where_they_are_refused(void)
{
	given = 5;
	without = 6;
	DID(5, tach__perf_open(&event, -1), "0 -1 -1; ");
	DID(5, tach__perf_open(&event, 3), "0 -1 3; ");
	given = -EOPNOTSUPP;
	DID(6, tach__perf_open(&event, -1), "0 -1 -1; 0 -1 -1 host; ");
	DID(6, tach__perf_open(&event, 3), "0 -1 3; 0 -1 3 host; ");
	without = 0;
	DID(0, tach__perf_open(&event, 3), "0 -1 3; 0 -1 3 host; ");
	without = -EINVAL; /* the first result must be reported */
	DID(-EOPNOTSUPP, tach__perf_open(&event, 3), "0 -1 3; 0 -1 3 host; ");
	without = -1;
	DID(-EOPNOTSUPP, tach__perf_open(&event, 3), "0 -1 3; 0 -1 3 host; ");
	given = -EACCES;
	without = 6;
	DID(-EACCES, tach__perf_open(&event, -1), "0 -1 -1; ");
	CHECK(!event.exclude_guest && !event.disabled);
	without = -EOPNOTSUPP;
	event.exclude_guest = 1;
	DID(-EOPNOTSUPP, tach__perf_open(&event, -1), "0 -1 -1 host; ");
	event.exclude_guest = 0;
}

static void of_a_processor(void)
{
	given = 5;
	DID(5, tach__perf_open_cpu(&event, 0, -1), "-1 0 -1; ");
	DID(5, tach__perf_open_cpu(&event, 7, 4), "-1 7 4; ");
	given = -EOPNOTSUPP;
	DID(-EOPNOTSUPP, tach__perf_open_cpu(&event, 7, 4), "-1 7 4; ");
}

static void perf_try_closes_the_event(void)
{
	given = 5;
	DID(0, tach__perf_try(&event), "0 -1 -1 off; close 5; ");
	given = 0;
	DID(0, tach__perf_try(&event), "0 -1 -1 off; close 0; ");
	given = -1;
	DID(-1, tach__perf_try(&event), "0 -1 -1 off; ");
	given = -ENOENT;
	DID(-ENOENT, tach__perf_try(&event), "0 -1 -1 off; ");
	given = -EOPNOTSUPP;
	without = 6;
	DID(0, tach__perf_try(&event), "0 -1 -1 off; 0 -1 -1 host off; close 6; ");
}

static void are_guests_refused(void)
{
	given = 5;
	DID(0, tach__perf_refuses_guests(&event), "0 -1 -1; close 5; ");
	given = 0;
	DID(0, tach__perf_refuses_guests(&event), "0 -1 -1; close 0; ");
	given = -1;
	DID(0, tach__perf_refuses_guests(&event), "0 -1 -1; ");
	given = -EOPNOTSUPP;
	without = 6;
	DID(1, tach__perf_refuses_guests(&event),
	    "0 -1 -1; 0 -1 -1 off; 0 -1 -1 host off; close 6; ");
	without = -EINVAL;
	DID(0, tach__perf_refuses_guests(&event), "0 -1 -1; 0 -1 -1 off; 0 -1 -1 host off; ");
}

int main(void)
{
	tach__sys = answer;
	CASE(without_guests_where_they_are_refused);
	CASE(of_a_processor);
	CASE(perf_try_closes_the_event);
	CASE(are_guests_refused);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/* Hands the report at exit to `tach run`. */
#include <errno.h>
#include <pthread.h>
#include <tach/report.h>
#include "core/os/buffer.h"
#include "core/os/stack.h"
#include "core/region/region.h"
#include "core/report/report.h"
#include "core/snapshot/snapshot.h"
#include "core/startup/startup.h"

static tach__taker taker;
static int is_taken; /* tach__output_to sets it */

int tach__output_to(tach__taker take)
{
	tach__configure_once();
	if (take && !tach_regions_enabled())
		return 0;
	taker = take;
	is_taken = 1;
	tach__regions_freeze();
	if (!take)
		tach__regions_end();
	return 1;
}

int tach__output_is_taken(void)
{
	return is_taken;
}

static int output_now(void *unused)
{
	struct tach_report_options opt = {.format = TACH_FORMAT_JSON};
	struct tach__buffer text = {0};
	struct tach_snapshot *s;

	(void)unused;
	if (taker && tach__snapshot_take_final(&s, NULL) == 0) {
		int code = tach_report_write(s, &opt, tach__buffer_sink, &text, NULL);

		taker(code ? NULL : text.at, code ? 0 : text.length);
		tach__buffer_free(&text);
		tach_snapshot_free(s);
	} else if (taker) {
		taker(NULL, 0);
	}
	tach__trace_write();
	return 0;
}

/* Runs on another stack, because the program's thread may have a small one. Signals are blocked
 * until the report is complete. */
void tach__output_now(void)
{
	sigset_t signals = tach__deaths_others(), before;
	int saved = errno, cancel, ignored;

	/* A seccomp filter may end the process at a system call below. */
	if (!taker && !tach__trace_wanted())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	if (tach__on_own_stack(output_now, NULL) == TACH_ERR_NOMEM)
		output_now(NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancel, &ignored);
	errno = saved;
}

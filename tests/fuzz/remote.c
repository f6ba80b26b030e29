/* SPDX-License-Identifier: MIT */
/*
 * The memory of another process: with any content, a snapshot is refused or becomes one that
 * every format can write. This process plays the other process, and its answers are changed:
 * each five bytes of the input are the number of an answer, a position in it (two each) and the
 * value that is added there. A sixth kind, with position 65535, makes the read fail.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <tach.h>
#include "core/snapshot/remote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct changes {
	const uint8_t *at;
	size_t n;
	unsigned answers;
};

static int read_changed(void *context, const void *at, void *to, size_t size)
{
	struct changes *c = context;
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};
	unsigned number = c->answers++ & 0xffff;

	if (syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0) != (long)size)
		return -14;
	for (size_t i = 0; i < c->n; i++) {
		const uint8_t *change = c->at + 5 * i;
		unsigned place = change[2] | (unsigned)change[3] << 8;

		if ((change[0] | (unsigned)change[1] << 8) != number)
			continue;
		if (place == 65535)
			return -14;
		((uint8_t *)to)[place % size] += change[4];
	}
	return 0;
}

static int nowhere(void *context, const char *text, size_t length)
{
	(void)text;
	*(size_t *)context += length;
	return 0;
}

static void have_regions(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .events = "page-faults"};

	opt.metrics = "per_ms = 1000000 * page-faults / 1000";
	opt.histograms = 1;
	opt.sparse = 2;
	if (tach_regions_configure(&opt, NULL) != 0)
		abort();
	for (int i = 0; i < 20; i++) {
		TACH_SCOPE(outer);
		TACH_SCOPE(inner);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct changes changes = {data, size / 5, 0};
	struct tach__remote remote = {.read = read_changed, .context = &changes};
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_snapshot *s;
	static int begun;
	size_t total = 0;

	if (!begun)
		have_regions();
	begun = 1;
	if (tach__remote_take(&remote, &tach__beacon, &s, &err) != 0)
		return err.text[0] ? 0 : (abort(), 0);
	for (int format = TACH_FORMAT_TEXT; format <= TACH_FORMAT_HTML; format++) {
		struct tach_report_options opt = {.format = (enum tach_format)format};

		if (tach_report_write(s, &opt, nowhere, &total, NULL) != 0)
			abort();
	}
	tach_snapshot_free(s);
	return 0;
}

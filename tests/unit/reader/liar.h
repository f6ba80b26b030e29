/* SPDX-License-Identifier: MIT */
/*
 * A reader of two software events whose pages claim that there is a counter: an inline read
 * executes the counter instruction, which faults on a machine without a PMU.
 */
#ifndef TESTS_UNIT_LIAR_H
#define TESTS_UNIT_LIAR_H

#include <string.h>
#include <sys/mman.h>
#include "core/reader/reader.h"

static struct tach_error err;

static struct tach_reader *open_liar(void)
{
	struct perf_event_attr attr[2];
	struct tach_set_member member[2] = {{"faults", &attr[0]}, {"clock", &attr[1]}};
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set;
	struct tach_reader *reader;
	struct tach__reader *r;

	memset(attr, 0, sizeof attr);
	attr[0].type = attr[1].type = PERF_TYPE_SOFTWARE;
	attr[0].config = PERF_COUNT_SW_PAGE_FAULTS;
	attr[1].config = PERF_COUNT_SW_TASK_CLOCK;
	attr[0].exclude_kernel = attr[1].exclude_kernel = 1;
	opt.attrs = member;
	opt.nattrs = 2;
	if (tach_set_create(&opt, &set, &err) || tach_reader_open(set, &reader, &err))
		return NULL;
	r = tach__reader(reader);
	r->hard = r->soft;
	r->soft.count = 0;
	/* Members with other widths are read out of line. */
	r->hot.mask = TACH_MODULAR ? (UINT64_C(1) << 48) - 1 : ~UINT64_C(0);
	for (int i = 0; i < 2; i++) {
		struct perf_event_mmap_page *page = tach__reader_page(r, i);

		mprotect(page, r->page_size, PROT_READ | PROT_WRITE);
		page->lock = 2;
		page->index = 1;
		page->pmc_width = 48;
		page->cap_user_rdpmc = 1;
		r->hot.way[i].stubs = TACH_STUBS(64);
	}
	return reader;
}

static inline void close_liar(struct tach_reader *reader)
{
	const struct tach_set *set = tach_reader_set(reader);

	tach_reader_close(reader);
	tach_set_free((struct tach_set *)set);
}

#endif

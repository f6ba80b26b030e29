/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TACH_DISPATCH_H
#define TOOLS_TACH_DISPATCH_H

#include <stdio.h>
#include <tach/dispatch.h>
#include "tools/tach/commands.h"

/* A parsed command line. */
struct dispatch_request {
	struct tach_dispatch in;
	struct tach_dispatch_event events[TACH_DISPATCH_EVENTS_MAX];
	struct tach_dispatch_x86 x86;
	struct tach_dispatch_ia64 ia64;
	const char *pmu;
	int is_list, json;
	char **names;
	int nnames;
};

/* ---- dispatch_show.c ---- */
void dispatch_text(const struct dispatch_request *r, const struct tach_dispatch_out *out);
void dispatch_json(const struct dispatch_request *r, const struct tach_dispatch_out *out);

/* ---- register_names.c ---- */
enum { REGISTER_NAME_MAX = 32 };
/*
 * Writes the name that the manuals give the register, or "" if it has only a number. Returns
 * out.
 */
const char *register_name(const struct tach_register *reg, char *out, size_t size);

/* ---- dispatch_batch.c ---- */
int dispatch_batch(FILE *from, FILE *to);

#endif

/* SPDX-License-Identifier: MIT */
/* Facts about the machine that runs benchmarks. */
#ifndef TACH_CORE_BENCH_CONTEXT_H
#define TACH_CORE_BENCH_CONTEXT_H

#include "core/base/out.h"

struct tach__machine {
	long processors;
	double mhz, load;	    /* 0: unknown */
	char model[128];	    /* "": unknown */
	char governor[32];	    /* name of the frequency governor; "": none */
	double least_mhz, most_mhz; /* range of the frequency in MHz; 0: unknown */
	/* 1: the frequency may be higher, depending on heat and load */
	int turbo;
};

void tach__machine_look(struct tach__machine *m, const char *root);
/* Writes one line of facts, and one line for each warning. */
void tach__machine_text(struct tach__out *out, const struct tach__machine *m);
/* Writes the present time (RFC 3339, UTC), this host's name and its processors. */
void tach__machine_name(char *date, size_t date_size, char *host, size_t host_size,
			char *machine, size_t machine_size);
/* google-benchmark's "context". */
void tach__machine_google(struct tach__out *out, const struct tach__machine *m);

#endif

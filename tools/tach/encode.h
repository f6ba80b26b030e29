/* SPDX-License-Identifier: MIT */
/* `tach encode`: the options (encode.c), the batch form (encode_batch.c). */
#ifndef TOOLS_TACH_ENCODE_H
#define TOOLS_TACH_ENCODE_H

#include <stdio.h>
#include <tach/event.h>

/*
 * Prints an answer for every line "string TAB plm TAB os" of `from`; returns the exit status.
 */
int encode_batch(FILE *from, const struct tach_encode_options *base);

#endif

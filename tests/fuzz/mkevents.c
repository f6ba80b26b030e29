/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are an event table: mkevents must find faults or write C, and nothing else. A 0x01
 * byte separates a second table, a 0x02 byte the descriptions.
 */
#include <stdlib.h>
#include <string.h>
#include "tools/mkevents/mk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct mk mk = {0};
	struct mk_image image;
	char *text = mk_alloc(size + 1); /* cells point into it */
	size_t start = 0;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	mk.to = nowhere; /* faults are formatted too */
	memcpy(text, data, size);
	for (size_t i = 0; i <= size; i++) {
		if (i < size && text[i] != 1 && text[i] != 2)
			continue;
		if (start > 0 && text[start - 1] == 2)
			mk_describe(&mk, "d.tsv", text + start, i - start);
		else
			mk_parse(&mk, start ? "b.tsv" : "a.tsv", text + start, i - start);
		start = i + 1;
	}
	mk_check(&mk);
	mk_sort(&mk);
	if (mk.faults == 0) {
		mk_build(&mk, &image);
		if (mk_emit(&image, nowhere) != 0)
			abort();
		mk_image_free(&image);
	}
	mk_free(&mk);
	free(text);
	return 0;
}

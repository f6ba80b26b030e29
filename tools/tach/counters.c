/* SPDX-License-Identifier: MIT */
/* Describes the counters that an event may use. */
#include "tools/tach/commands.h"

void counters_text(uint64_t counters, char *out, size_t size)
{
	size_t used = 0;

	if (counters == 0)
		snprintf(out, size, "any");
	for (int i = 0; i < 64 && used < size; i++) {
		const char *comma = used ? "," : "";
		int first = i;

		if (!(counters >> i & 1))
			continue;
		while (i < 31 && counters >> (i + 1) & 1)
			i++;
		used += (size_t)snprintf(out + used, size - used, "%s%s%d", comma,
					 first < 32 ? "" : "f", first % 32);
		if (i > first && used < size)
			used += (size_t)snprintf(out + used, size - used, "-%d", i);
	}
}

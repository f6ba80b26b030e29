/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <vector>
#include "bench/harness_work.h"

static std::vector<uint32_t> from, to;

void work_fill(uint64_t n)
{
	uint64_t x = 88172645463325252u;

	from.resize(n);
	to.resize(n);
	for (auto &v : from) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		v = static_cast<uint32_t>(x >> 32);
	}
}

void work_sort(uint64_t n)
{
	std::copy_n(from.begin(), n, to.begin());
	std::sort(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(n));
}

uint64_t work_sum(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += from[i];
	return sum;
}

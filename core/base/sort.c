/* SPDX-License-Identifier: MIT */
#include "core/base/sort.h"

static void swap(char *a, char *b, size_t size)
{
	while (size--) {
		char c = *a;

		*a++ = *b;
		*b++ = c;
	}
}

/*
 * Moves the element at `root` down to its position in a heap of n, whose greatest element is
 * first.
 */
static void sift_down(char *base, size_t root, size_t n, size_t size,
		      int (*compare)(const void *, const void *))
{
	size_t kid;

	for (; (kid = 2 * root + 1) < n; root = kid) {
		if (kid + 1 < n && compare(base + kid * size, base + (kid + 1) * size) < 0)
			kid++;
		if (compare(base + root * size, base + kid * size) >= 0)
			return;
		swap(base + root * size, base + kid * size, size);
	}
}

void tach__heapsort(void *list, size_t n, size_t size,
		    int (*compare)(const void *, const void *))
{
	char *base = list;

	for (size_t i = n / 2; i-- > 0;)
		sift_down(base, i, n, size, compare);
	while (n-- > 1) {
		swap(base, base + n * size, size);
		sift_down(base, 0, n, size, compare);
	}
}

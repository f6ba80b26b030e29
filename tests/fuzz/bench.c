/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks' results are read back: any bytes are refused or become a result that can be
 * written.
 */
#include <stdlib.h>
#include <tach/bench.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_change_result d = {.size = sizeof d};
	struct tach_bench *b;
	char text[256];

	if (tach_bench_load((const char *)data, size, &b, &err) != 0)
		return err.text[0] ? 0 : (abort(), 0);
	tach_bench_print(b, TACH_BENCH_TEXT, text, sizeof text);
	tach_bench_print(b, TACH_BENCH_JSON, text, sizeof text);
	for (int i = 0; i < tach_bench_count(b); i++)
		if (tach_bench_judge(b, b, i, 0, 0.01, &d) != 0)
			abort();
	tach_bench_free(b);
	return 0;
}

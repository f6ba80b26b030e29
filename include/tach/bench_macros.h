/* SPDX-License-Identifier: MIT */
/*
 * Internals of the macros of tach/bench.h, which includes this; templates of benchmarks in C++.
 */
#ifndef TACH_BENCH_MACROS_H
#define TACH_BENCH_MACROS_H

#include <tach/bench.h>

#define TACH__BENCH_THREE                                                                      \
	uint64_t tach_arg __attribute__((unused)), uint64_t tach_arg2 __attribute__((unused)), \
		uint64_t tach_arg3 __attribute__((unused))
#define TACH__BENCH_NUMBERS TACH__BENCH_THREE, unsigned tach_thread __attribute__((unused))

/* tach_bench_thread is pure: it is not called unless the body uses its result. */
#define TACH__BENCH_LOOP(loop, body)                                                           \
	static void loop(void *tach_context, uint64_t tach_n)                                  \
	{                                                                                      \
		const uint64_t *tach_args = TACH__CAST(const uint64_t *, tach_context);        \
		uint64_t tach_arg = tach_args ? tach_args[0] : 0;                              \
		uint64_t tach_arg2 = tach_args ? tach_args[1] : 0;                             \
		uint64_t tach_arg3 = tach_args ? tach_args[2] : 0;                             \
		unsigned tach_thread = tach_bench_thread();                                    \
		for (; tach_n; tach_n--) {                                                     \
			body(tach_arg, tach_arg2, tach_arg3, tach_thread);                     \
			__asm__ volatile("" : "+r"(tach_n) : : "memory");                      \
		}                                                                              \
	}

#define TACH__BENCH_CASE(id, text, loop)                                                       \
	static void tach_bench_empty_##id(void *tach_context, uint64_t tach_n)                 \
	{                                                                                      \
		(void)tach_context;                                                            \
		for (; tach_n; tach_n--)                                                       \
			__asm__ volatile("" : "+r"(tach_n) : : "memory");                      \
	}                                                                                      \
	static struct tach_bench_case TACH_BENCH_of_##id##_comes_first;                        \
	__attribute__((constructor)) static void tach_bench_add_##id(void)                     \
	{                                                                                      \
		TACH_BENCH_of_##id##_comes_first.name = text;                                  \
		TACH_BENCH_of_##id##_comes_first.body = loop;                                  \
		if (!TACH_BENCH_of_##id##_comes_first.empty)                                   \
			TACH_BENCH_of_##id##_comes_first.empty = tach_bench_empty_##id;        \
		tach_bench_register(&TACH_BENCH_of_##id##_comes_first);                        \
	}

#define TACH__BENCH_SAYS(id, what, field)                                                      \
	__attribute__((constructor)) static void tach_bench_add_##what##_##id(void)            \
	{                                                                                      \
		TACH_BENCH_of_##id##_comes_first.field;                                        \
	}

#define TACH__BENCH_AROUND(id, which)                                                          \
	static void tach_bench_##which##_##id(TACH__BENCH_THREE);                              \
	TACH__BENCH_SAYS(id, which, which = tach_bench_##which##_##id)                         \
	static void tach_bench_##which##_##id(TACH__BENCH_THREE)

#define TACH__BENCH_AXIS(id, field, which, numbers, how_many)                                  \
	__attribute__((constructor)) static void tach_bench_add_numbers##which##_##id(void)    \
	{                                                                                      \
		TACH_BENCH_of_##id##_comes_first.field.count = TACH__CAST(uint32_t, how_many); \
		TACH_BENCH_of_##id##_comes_first.field.number = numbers;                       \
	}                                                                                      \
	TACH_STATIC_ASSERT(sizeof(numbers) > 0, "there are numbers")

#define TACH__BENCH_COUNTER(id, variable, is_rate)                                             \
	static struct tach_bench_counter tach_bench_counter_##variable##_##id;                 \
	__attribute__((constructor)) static void tach_bench_count_##variable##_##id(void)      \
	{                                                                                      \
		struct tach_bench_counter **tach_last =                                        \
			&TACH_BENCH_of_##id##_comes_first.counters;                            \
		while (*tach_last)                                                             \
			tach_last = &(*tach_last)->next;                                       \
		tach_bench_counter_##variable##_##id.name = #variable;                         \
		tach_bench_counter_##variable##_##id.at = &variable;                           \
		tach_bench_counter_##variable##_##id.rate = is_rate;                           \
		*tach_last = &tach_bench_counter_##variable##_##id;                            \
	}                                                                                      \
	TACH_STATIC_ASSERT(sizeof(variable) == sizeof(uint64_t), "the counter is a uint64_t")

/* Doubling the smallest range: each power of 2, and the end. */
#define TACH__BENCH_RANGE_MAX 66

__attribute__((unused)) static uint32_t tach__bench_range(uint64_t *to, uint64_t low,
							  uint64_t high, uint64_t factor)
{
	uint32_t n = 0;

	for (uint64_t at = low; at < high && n < TACH__BENCH_RANGE_MAX - 1; at *= factor) {
		to[n++] = at;
		if (factor < 2 || at == 0 || at > high / factor)
			break;
	}
	to[n++] = high;
	return n;
}

__attribute__((unused)) static uint32_t tach__bench_steps(uint64_t *to, uint64_t low,
							  uint64_t high, uint64_t step)
{
	uint32_t n = 0;

	for (uint64_t at = low; at <= high; at += step)
		to[n++] = at;
	return n;
}

#ifdef __cplusplus
template <void (*body)(uint64_t, uint64_t, uint64_t, unsigned)>
TACH__BENCH_LOOP(tach__bench_loop_of, body)

/*
 * A body with parameters of a template, and a benchmark of it for some of them, which is called
 * `id` in the macros that follow and "name<int, 3>" in the output:
 *	TACH_BENCH_TEMPLATE(sort, typename T, int N) { ... }
 *	TACH_BENCH_OF(sort_ints, sort, int, 3);
 */
#define TACH_BENCH_TEMPLATE(name, ...)                                                         \
	template <__VA_ARGS__> TACH_INLINE void tach_bench_body_##name(TACH__BENCH_NUMBERS)
#define TACH_BENCH_OF(id, name, ...)                                                           \
	TACH__BENCH_CASE(id, #name "<" #__VA_ARGS__ ">",                                       \
			 (tach__bench_loop_of<tach_bench_body_##name<__VA_ARGS__>>))           \
	TACH_STATIC_ASSERT(1, "takes a name, a template and its arguments")
#endif

#endif

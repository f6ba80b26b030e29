/* SPDX-License-Identifier: MIT */
/* Every inline read as a real symbol, for callers that cannot use the header. */
#include <tach/reader.h>

const char tach__abi_1 = 1;

void tach_begin_fn(struct tach_reader *reader, struct tach_mark *mark)
{
	tach_begin(reader, mark);
}

uint32_t tach_end_fn(struct tach_reader *reader, const struct tach_mark *mark, uint64_t *delta)
{
	return tach_end(reader, mark, delta);
}

uint32_t tach_read_fn(struct tach_reader *reader, uint64_t *value)
{
	return tach_read(reader, value);
}

uint32_t tach_read_one_fn(struct tach_reader *reader, unsigned member, uint64_t *value)
{
	return tach_read_one(reader, member, value);
}

void tach_begin_fenced_fn(struct tach_reader *reader, struct tach_mark *mark)
{
	tach_begin_fenced(reader, mark);
}

uint32_t tach_end_fenced_fn(struct tach_reader *reader, const struct tach_mark *mark,
			    uint64_t *delta)
{
	return tach_end_fenced(reader, mark, delta);
}

void tach_begin_n_fn(struct tach_reader *reader, struct tach_mark *mark, unsigned n)
{
	tach_begin_n(reader, mark, n);
}

uint32_t tach_end_n_fn(struct tach_reader *reader, const struct tach_mark *mark,
		       uint64_t *delta, unsigned n)
{
	return tach_end_n(reader, mark, delta, n);
}

uint32_t tach_read_n_fn(struct tach_reader *reader, uint64_t *value, unsigned n)
{
	return tach_read_n(reader, value, n);
}

uint64_t tach_clock_fn(void)
{
	return tach_clock();
}

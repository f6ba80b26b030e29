/* SPDX-License-Identifier: MIT */
/* The flags and the error of one member of a reader. */
#include "core/reader/reader.h"
#include "core/set/set.h"

uint64_t tach_reader_error(const struct tach_reader *reader, unsigned member)
{
	const struct tach__topdown *t = &tach__reader(reader)->topdown;

	if (!t->on || member >= TACH_COUNTERS_MAX || !(t->members >> member & 1))
		return 0;
	return __atomic_load_n(&t->error, __ATOMIC_RELAXED) *
	       tach__topdown_steps(t, (int)member);
}

uint32_t tach_reader_flags(const struct tach_reader *reader, unsigned member, uint32_t flags)
{
	const struct tach__reader *r = tach__reader(reader);

	if (tach_set_kind(r->set, (int)member) == TACH_MEMBER_SOFTWARE)
		return TACH_FLAG_SYSCALL | (flags & tach__software_flags(r->set));
	if (tach_set_kind(r->set, (int)member) == TACH_MEMBER_EMULATED)
		return TACH_FLAG_EMULATED | (flags & TACH_FLAG_LOST);
	return flags;
}

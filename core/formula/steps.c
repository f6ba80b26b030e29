/* SPDX-License-Identifier: MIT */
/*
 * The steps of compiled formulas: see struct tach__insn. Dot products run in steps unrolled for
 * their number of terms. Counts are signed: see the public header.
 */
#include <math.h>
#include "core/formula/math.h"

/*
 * Steps call each other last, which compilers turn into a jump. If compilers can guarantee tail
 * calls, a long formula needs no stack even in a build without optimisation.
 */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL __attribute__((musttail))
#endif
#endif
#ifndef TAIL
#define TAIL
#endif

#define ENTRY(name)                                                                            \
	static double name(const struct tach_formula *f, const uint64_t *n, double elapsed,    \
			   uint32_t *flags)
#define STEP(name)                                                                             \
	static double name(const struct tach__insn *i, const uint64_t *n, double elapsed,      \
			   uint32_t *flags, double *saved, double top)
/*
 * The barriers keep compilers from computing the next step's place next to i, and from loading
 * it early: an instruction that can jump through memory does so.
 */
#define SETTLE __asm__("" : "+r"(i) : "X"(top))
#define NEXT                                                                                   \
	SETTLE;                                                                                \
	TAIL return i->step(i, n, elapsed, flags, saved, top)
#define GO(by)                                                                                 \
	i += (by);                                                                             \
	NEXT

/* Most steps advance first and look back; NOW is the instruction of the present step. */
#define ADVANCE(by)                                                                            \
	i += (by);                                                                             \
	__asm__("" : "+r"(i))
#define NOW (i[-1])

#define COUNT_OF(insn) TACH__COUNT(n, (insn).arg)
#define COUNT	       COUNT_OF(NOW)

/* ---- new values ---- */

#define NEW(name, expression)                                                                  \
	STEP(name)                                                                             \
	{                                                                                      \
		ADVANCE(1);                                                                    \
		*saved++ = top;                                                                \
		top = (expression);                                                            \
		NEXT;                                                                          \
	}                                                                                      \
	STEP(name##0)                                                                          \
	{                                                                                      \
		ADVANCE(1);                                                                    \
		top = (expression);                                                            \
		NEXT;                                                                          \
	}
NEW(num, NOW.of.value)
NEW(arg, COUNT)
NEW(time_, elapsed)
NEW(dot_, tach__linear(&NOW.of.form->num, n, elapsed))
NEW(quot, tach__quotient(NOW.of.form, n, elapsed, flags))

/* ---- operators ---- */

#define CHANGE(name, expression)                                                               \
	STEP(name)                                                                             \
	{                                                                                      \
		ADVANCE(1);                                                                    \
		top = (expression);                                                            \
		NEXT;                                                                          \
	}
CHANGE(neg, -top)
CHANGE(pop, *--saved)
CHANGE(add, *--saved + top)
CHANGE(sub, *--saved - top)
CHANGE(mul, *--saved *top)
CHANGE(from_arg, COUNT - top)
CHANGE(over_arg, tach__divide(COUNT, top, flags))
CHANGE(from_num, NOW.of.value - top)
CHANGE(over_num, tach__divide(NOW.of.value, top, flags))

STEP(div_)
{
	saved--;
	top = tach__divide(*saved, top, flags);
	GO(1);
}

/* Which of two; The result is NaN if an operand is NaN. */
STEP(min_)
{
	double a = *--saved;

	top = isnan(a) || a < top ? a : top;
	GO(1);
}

STEP(max_)
{
	double a = *--saved;

	top = isnan(a) || a > top ? a : top;
	GO(1);
}

/*
 * The operators that take a count or a number along, each alone, after a first count, and each
 * after each other: two such instructions run as one step, which halves what lies between. The
 * second stays in its place, because jumps may lead there. Directly before the end, they
 * return the result themselves.
 */
#define PLUS_COUNT(a, x)   ((a) + COUNT_OF(x))
#define MINUS_COUNT(a, x)  ((a)-COUNT_OF(x))
#define TIMES_COUNT(a, x)  ((a)*COUNT_OF(x))
#define OVER_COUNT(a, x)   tach__divide(a, COUNT_OF(x), flags)
#define PLUS_NUMBER(a, x)  ((a) + (x).of.value)
#define MINUS_NUMBER(a, x) ((a) - (x).of.value)
#define TIMES_NUMBER(a, x) ((a) * (x).of.value)
#define OVER_NUMBER(a, x)  ((a) / (x).of.value)
#define ALONG(each, with)                                                                      \
	each(PLUS_COUNT, with) each(MINUS_COUNT, with) each(TIMES_COUNT, with)                 \
		each(OVER_COUNT, with) each(PLUS_NUMBER, with) each(MINUS_NUMBER, with)        \
			each(TIMES_NUMBER, with) each(OVER_NUMBER, with)

#define ENDING(name, expression)                                                               \
	STEP(name##_last)                                                                      \
	{                                                                                      \
		(void)n, (void)elapsed, (void)flags, (void)saved;                              \
		return (expression);                                                           \
	}
#define ALONE(operator, unused)                                                                \
	CHANGE(operator##_alone, operator(top, NOW))                                           \
	ENDING(operator##_alone, operator(top, *i))                                            \
	ENTRY(operator##_first)                                                                \
	{                                                                                      \
		const struct tach__insn *i = f->code;                                          \
		double top = operator(COUNT_OF(i[0]), i[1]);                                   \
                                                                                               \
		i += 2;                                                                        \
		SETTLE;                                                                        \
		return i->step(i, n, elapsed, flags, NULL, top);                               \
	}
#define AFTER(operator, before)                                                                \
	STEP(before##_##operator)                                                              \
	{                                                                                      \
		ADVANCE(2);                                                                    \
		top = operator(before(top, i[-2]), NOW);                                       \
		NEXT;                                                                          \
	}                                                                                      \
	ENDING(before##_##operator, operator(before(top, i[0]), i[1]))
ALONG(ALONE, )
ALONG(AFTER, PLUS_COUNT)
ALONG(AFTER, MINUS_COUNT)
ALONG(AFTER, TIMES_COUNT)
ALONG(AFTER, OVER_COUNT)
ALONG(AFTER, PLUS_NUMBER)
ALONG(AFTER, MINUS_NUMBER)
ALONG(AFTER, TIMES_NUMBER)
ALONG(AFTER, OVER_NUMBER)

#define ALONE_STEP(operator, unused) {operator##_alone, operator##_alone_last },
#define FIRST_STEP(operator, unused) operator##_first,
#define AFTER_STEP(operator, before) {before##_##operator, before##_##operator##_last },

/* ---- the next instruction ---- */

#define COMPARE(name, operator)                                                                \
	STEP(name)                                                                             \
	{                                                                                      \
		double a = *--saved;                                                           \
		uint32_t ahead = a operator top ? 1 : i->arg;                                  \
                                                                                               \
		GO(ahead);                                                                     \
	}
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)
COMPARE(eq, ==)
COMPARE(ne, !=)

STEP(jump)
{
	GO(i->arg);
}

STEP(end)
{
	(void)i, (void)n, (void)elapsed, (void)flags, (void)saved;
	return top;
}

static tach__step *const steps[TACH__F_NOPS] = {
	[TACH__F_NUM] = num,
	[TACH__F_NUM0] = num0,
	[TACH__F_ARG] = arg,
	[TACH__F_ARG0] = arg0,
	[TACH__F_ELAPSED] = time_,
	[TACH__F_ELAPSED0] = time_0,
	[TACH__F_DOT] = dot_,
	[TACH__F_DOT0] = dot_0,
	[TACH__F_QUOT] = quot,
	[TACH__F_QUOT0] = quot0,
	[TACH__F_NEG] = neg,
	[TACH__F_POP] = pop,
	[TACH__F_ADD] = add,
	[TACH__F_SUB] = sub,
	[TACH__F_MUL] = mul,
	[TACH__F_DIV] = div_,
	[TACH__F_MIN] = min_,
	[TACH__F_MAX] = max_,
	[TACH__F_LT] = lt,
	[TACH__F_LE] = le,
	[TACH__F_GT] = gt,
	[TACH__F_GE] = ge,
	[TACH__F_EQ] = eq,
	[TACH__F_NE] = ne,
	[TACH__F_FROM_ARG] = from_arg,
	[TACH__F_OVER_ARG] = over_arg,
	[TACH__F_FROM_NUM] = from_num,
	[TACH__F_OVER_NUM] = over_num,
	[TACH__F_JUMP] = jump,
	[TACH__F_END] = end,
};

/* In the order of ALONG and of the enumeration. */
static int step_index(uint32_t op)
{
	return op >= TACH__F_ADD_ARG && op <= TACH__F_DIV_NUM ? (int)(op - TACH__F_ADD_ARG)
							      : -1;
}

static tach__step *link_one(const struct tach__insn *i)
{
	static tach__step *const alone[][2] = {ALONG(ALONE_STEP, )};
	static tach__step *const pairs[][8][2] = {
		{ALONG(AFTER_STEP, PLUS_COUNT)},   {ALONG(AFTER_STEP, MINUS_COUNT)},
		{ALONG(AFTER_STEP, TIMES_COUNT)},  {ALONG(AFTER_STEP, OVER_COUNT)},
		{ALONG(AFTER_STEP, PLUS_NUMBER)},  {ALONG(AFTER_STEP, MINUS_NUMBER)},
		{ALONG(AFTER_STEP, TIMES_NUMBER)}, {ALONG(AFTER_STEP, OVER_NUMBER)},
	};
	int this = step_index(i->op), next = this < 0 ? -1 : step_index(i[1].op);

	if (this < 0)
		return steps[i->op];
	return next < 0 ? alone[this][i[1].op == TACH__F_END]
			: pairs[this][next][i[2].op == TACH__F_END];
}

/* ---- the way in ---- */

ENTRY(start)
{
	return f->code->step(f->code, n, elapsed, flags, NULL, 0);
}

ENTRY(start_saving)
{
	double saved[TACH__F_STACK];

	return f->code->step(f->code, n, elapsed, flags, saved, 0);
}

ENTRY(flagged)
{
	if (flags)
		*flags |= f->flags;
	return f->unflagged(f, n, elapsed, flags);
}

static tach__entry *entry(const struct tach_formula *f)
{
	static tach__entry *const first[] = {ALONG(FIRST_STEP, )};
	int second = f->ncode > 1 ? step_index(f->code[1].op) : -1;

	if (f->stack)
		return start_saving;
	return f->code->op == TACH__F_ARG0 && second >= 0 ? first[second] : start;
}

void tach__formula_link(struct tach_formula *f)
{
	if (f->shape == TACH_SHAPE_PROGRAM) {
		for (uint32_t k = 0; k < f->ncode; k++)
			f->code[k].step = link_one(&f->code[k]);
		f->unflagged = entry(f);
	} else {
		tach__formula_link_whole(f);
	}
	f->eval = f->flags ? flagged : f->unflagged;
}

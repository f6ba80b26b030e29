/* SPDX-License-Identifier: MIT */
/*
 * The steps of compiled formulas: see struct tach__insn. Dot products run in steps unrolled for
 * their number of terms. Counts are signed: see the public header.
 */
#include <math.h>
#include <string.h>
#include "core/formula.h"

#define ALWAYS static inline __attribute__((always_inline))

/*
 * Steps call each other last, which compilers turn into a jump. Where they can be made to
 * promise it, a long formula needs no stack even in a build without optimisation.
 */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL __attribute__((musttail))
#endif
#endif
#ifndef TAIL
#define TAIL
#endif

#define STEP(name)                                                                             \
	static double name(const struct tach__insn *i, const uint64_t *n, double elapsed,      \
			   uint32_t *flags, double *saved, double top)
#define GO(by)                                                                                 \
	i += (by);                                                                             \
	TAIL return i->step(i, n, elapsed, flags, saved, top)

/*
 * Most steps move on first and look back, NOW being theirs: with the barrier compilers keep i
 * in its register, where they would otherwise compute the next step's place beside it.
 */
#define ADVANCE(by)                                                                            \
	i += (by);                                                                             \
	__asm__("" : "+r"(i))
#define NEXT TAIL return i->step(i, n, elapsed, flags, saved, top)
#define NOW  (i[-1])

#define COUNT_OF(insn) (double)(int64_t)n[(insn).arg]
#define COUNT	       COUNT_OF(NOW)

/* Terms add up in operand order and the constant comes last: every evaluator agrees on bits. */
static double linear(const struct tach__linear *l, const uint64_t *n, double elapsed)
{
	double total = 0;

	for (uint32_t k = 0; k < l->count; k++)
		total += l->term[k].factor * (double)(int64_t)n[l->term[k].arg];
	if (l->elapsed != 0)
		total += l->elapsed * elapsed;
	return total + l->constant;
}

/* Plus or minus zero: nothing but the sign's bit is set. An instruction less than b == 0. */
ALWAYS bool is_zero(double b)
{
	uint64_t bits;

	memcpy(&bits, &b, sizeof bits);
	return bits << 1 == 0;
}

ALWAYS double divide(double a, double b, uint32_t *flags)
{
	if (TACH_UNLIKELY(is_zero(b))) {
		*flags |= TACH_DIVZERO;
		return NAN;
	}
	return a / b;
}

static double quotient(const struct tach__form *f, const uint64_t *n, double elapsed,
		       uint32_t *flags)
{
	return divide(linear(&f->num, n, elapsed), linear(&f->den, n, elapsed), flags);
}

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
NEW(dot_, linear(&NOW.of.form->num, n, elapsed))
NEW(quot, quotient(NOW.of.form, n, elapsed, flags))

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
CHANGE(over_arg, divide(COUNT, top, flags))
CHANGE(from_num, NOW.of.value - top)
CHANGE(over_num, divide(NOW.of.value, top, flags))

STEP(div_)
{
	saved--;
	top = divide(*saved, top, flags);
	GO(1);
}

/* Which of two; NaN if one of them is. */
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
 * second stays in its place, for whoever jumps there.
 */
#define PLUS_COUNT(a, x)   ((a) + COUNT_OF(x))
#define MINUS_COUNT(a, x)  ((a)-COUNT_OF(x))
#define TIMES_COUNT(a, x)  ((a)*COUNT_OF(x))
#define OVER_COUNT(a, x)   divide(a, COUNT_OF(x), flags)
#define PLUS_NUMBER(a, x)  ((a) + (x).of.value)
#define MINUS_NUMBER(a, x) ((a) - (x).of.value)
#define TIMES_NUMBER(a, x) ((a) * (x).of.value)
#define OVER_NUMBER(a, x)  ((a) / (x).of.value)
#define ALONG(each, with)                                                                      \
	each(PLUS_COUNT, with) each(MINUS_COUNT, with) each(TIMES_COUNT, with)                 \
		each(OVER_COUNT, with) each(PLUS_NUMBER, with) each(MINUS_NUMBER, with)        \
			each(TIMES_NUMBER, with) each(OVER_NUMBER, with)

#define ALONE(operator, unused)                                                                \
	STEP(operator##_alone)                                                                 \
	{                                                                                      \
		ADVANCE(1);                                                                    \
		top = operator(top, NOW);                                                      \
		NEXT;                                                                          \
	}                                                                                      \
	STEP(operator##_first)                                                                 \
	{                                                                                      \
		ADVANCE(2);                                                                    \
		top = operator(COUNT_OF(i[-2]), NOW);                                          \
		NEXT;                                                                          \
	}
#define AFTER(operator, before)                                                                \
	STEP(before##_##operator)                                                              \
	{                                                                                      \
		ADVANCE(2);                                                                    \
		top = operator(before(top, i[-2]), NOW);                                       \
		NEXT;                                                                          \
	}
ALONG(ALONE, )
ALONG(AFTER, PLUS_COUNT)
ALONG(AFTER, MINUS_COUNT)
ALONG(AFTER, TIMES_COUNT)
ALONG(AFTER, OVER_COUNT)
ALONG(AFTER, PLUS_NUMBER)
ALONG(AFTER, MINUS_NUMBER)
ALONG(AFTER, TIMES_NUMBER)
ALONG(AFTER, OVER_NUMBER)

#define ALONE_STEP(operator, unused) operator##_alone,
#define FIRST_STEP(operator, unused) operator##_first,
#define AFTER_STEP(operator, before) before##_##operator,

/* ---- where to go on ---- */

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

STEP(enter)
{
	double room[TACH__F_STACK];

	(void)saved;
	return i[1].step(i + 1, n, elapsed, flags, room, top);
}

STEP(clock_)
{
	*flags |= i->arg;
	GO(1);
}

STEP(end)
{
	(void)i, (void)n, (void)elapsed, (void)flags, (void)saved;
	return top;
}

/* ---- whole formulas ---- */

STEP(linear_any)
{
	(void)flags, (void)saved, (void)top;
	return linear(&i->of.form->num, n, elapsed);
}

STEP(quotient_any)
{
	(void)saved, (void)top;
	return quotient(i->of.form, n, elapsed, flags);
}

/*
 * Sums of up to 4 counts, with a factor each, over nothing or a sum of up to 2; no constants.
 * The terms of the numerator and those of the denominator are neighbours. Two variants more for
 * each: a first factor of 1, above or below, is not multiplied with.
 */
ALWAYS double sum(const struct tach__term *t, const uint64_t *n, int terms, bool one)
{
	double total = (double)(int64_t)n[t->arg];

	if (!one)
		total *= t->factor;
	for (int k = 1; k < terms; k++)
		total += t[k].factor * (double)(int64_t)n[t[k].arg];
	return total;
}

#define LINEAR(p, one)                                                                         \
	STEP(linear_##p##_##one)                                                               \
	{                                                                                      \
		(void)elapsed, (void)flags, (void)saved, (void)top;                            \
		return sum(i->of.term, n, p, one);                                             \
	}
#define QUOTIENT(p, q, one, den_one)                                                           \
	STEP(quotient_##p##_##q##_##one##_##den_one)                                           \
	{                                                                                      \
		const struct tach__term *t = i->of.term;                                       \
                                                                                               \
		(void)elapsed, (void)saved, (void)top;                                         \
		return divide(sum(t, n, p, one), sum(t + p, n, q, den_one), flags);            \
	}
#define QUOTIENTS(p, q)                                                                        \
	QUOTIENT(p, q, 0, 0)                                                                   \
	QUOTIENT(p, q, 0, 1)                                                                   \
	QUOTIENT(p, q, 1, 0)                                                                   \
	QUOTIENT(p, q, 1, 1)
#define ALL(p)                                                                                 \
	LINEAR(p, 0)                                                                           \
	LINEAR(p, 1)                                                                           \
	QUOTIENTS(p, 1)                                                                        \
	QUOTIENTS(p, 2)
ALL(1)
ALL(2)
ALL(3)
ALL(4)

#define QUOTIENT_STEPS(p, q)                                                                   \
	{                                                                                      \
		{quotient_##p##_##q##_0_0, quotient_##p##_##q##_0_1},                          \
			{quotient_##p##_##q##_1_0, quotient_##p##_##q##_1_1},                  \
	}
#define ALL_STEPS(p)                                                                           \
	{                                                                                      \
		QUOTIENT_STEPS(p, 1), QUOTIENT_STEPS(p, 2)                                     \
	}

static tach__step *whole(struct tach__insn *i)
{
	static tach__step *const linears[4][2] = {{linear_1_0, linear_1_1},
						  {linear_2_0, linear_2_1},
						  {linear_3_0, linear_3_1},
						  {linear_4_0, linear_4_1}};
	static tach__step *const quotients[4][2][2][2] = {ALL_STEPS(1), ALL_STEPS(2),
							  ALL_STEPS(3), ALL_STEPS(4)};
	const struct tach__linear *num = &i->of.form->num, *den = &i->of.form->den;
	bool over = i->op == TACH__F_QUOTIENT;

	if (num->elapsed != 0 || num->constant != 0 || num->count - 1 >= 4 ||
	    (over && (den->elapsed != 0 || den->constant != 0 || den->count - 1 >= 2)))
		return over ? quotient_any : linear_any;
	i->of.term = num->term;
	if (!over)
		return linears[num->count - 1][num->term->factor == 1];
	return quotients[num->count - 1][den->count - 1][num->term->factor == 1]
			[den->term->factor == 1];
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
	[TACH__F_ENTER] = enter,
	[TACH__F_END] = end,
	[TACH__F_FLAGS] = clock_,
};

/* In the order of ALONG and of the enumeration. */
static int along(uint32_t op)
{
	return op >= TACH__F_ADD_ARG && op <= TACH__F_DIV_NUM ? (int)(op - TACH__F_ADD_ARG)
							      : -1;
}

static tach__step *link_one(const struct tach__insn *i)
{
	static tach__step *const alone[] = {ALONG(ALONE_STEP, )};
	static tach__step *const first[] = {ALONG(FIRST_STEP, )};
	static tach__step *const pairs[][8] = {
		{ALONG(AFTER_STEP, PLUS_COUNT)},   {ALONG(AFTER_STEP, MINUS_COUNT)},
		{ALONG(AFTER_STEP, TIMES_COUNT)},  {ALONG(AFTER_STEP, OVER_COUNT)},
		{ALONG(AFTER_STEP, PLUS_NUMBER)},  {ALONG(AFTER_STEP, MINUS_NUMBER)},
		{ALONG(AFTER_STEP, TIMES_NUMBER)}, {ALONG(AFTER_STEP, OVER_NUMBER)},
	};
	int this = along(i->op), next = i->op == TACH__F_END ? -1 : along(i[1].op);

	if (this >= 0)
		return next >= 0 ? pairs[this][next] : alone[this];
	return i->op == TACH__F_ARG0 && next >= 0 ? first[next] : steps[i->op];
}

/* The last instruction is END, or a whole formula: there is always one to look ahead at. */
void tach__formula_link(struct tach_formula *f)
{
	for (uint32_t k = 0; k < f->ncode; k++) {
		struct tach__insn *i = &f->code[k];

		i->step = i->op >= TACH__F_LINEAR ? whole(i) : link_one(i);
	}
}

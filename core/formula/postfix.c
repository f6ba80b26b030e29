/* SPDX-License-Identifier: MIT */
/* The postfix notation: values and operators between bars, N0|N1|/ */
#include <stdlib.h>
#include <string.h>
#include "core/formula/parse.h"

static const struct {
	const char *word;
	int op, kids;
} operators[] = {
	{"+", TACH__F_ADD, 2},	 {"-", TACH__F_SUB, 2},	  {"*", TACH__F_MUL, 2},
	{"/", TACH__F_DIV, 2},	 {"min", TACH__F_MIN, 2}, {"max", TACH__F_MAX, 2},
	{"neg", TACH__F_NEG, 1}, {"<", TACH__F_LT, 2},	  {"<=", TACH__F_LE, 2},
	{">", TACH__F_GT, 2},	 {">=", TACH__F_GE, 2},	  {"==", TACH__F_EQ, 2},
	{"!=", TACH__F_NE, 2},	 {"?:", TACH__F_COND, 3}, {"and", TACH__P_AND, 2},
	{"or", TACH__P_OR, 2},	 {"not", TACH__P_NOT, 1},
};

/* Operands that wait for an operator. Only the number of nodes limits them: most are folded. */
struct stack {
	int node[TACH__F_NODES_MAX];
	int count;
};

static int apply_operator(struct tach__parse *p, struct stack *s, size_t at, int which)
{
	int kids = operators[which].kids;

	if (s->count < kids)
		return tach__p_fail(p, TACH_ERR_SYNTAX, at,
				    "'%s' takes %d value%s, but %d %s before it",
				    operators[which].word, kids, kids == 1 ? "" : "s", s->count,
				    s->count == 1 ? "stands" : "stand");
	s->count -= kids;
	return tach__p_apply(p, operators[which].op, kids, s->node + s->count);
}

static int postfix_token(struct tach__parse *p, struct stack *s, size_t at, size_t length)
{
	const char *token = p->text + at;
	size_t sign = *token == '-' || *token == '+', number;
	int n;

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (tach__p_is(token, length, operators[i].word))
			return apply_operator(p, s, at, (int)i);
	if (tach__p_is(token, length, "#"))
		return tach__p_max_hz(p, at);
	number = tach__p_number_span(token + sign);
	if (number && number + sign == length) {
		n = tach__p_number(p, at + sign, number);
		return n >= 0 && *token == '-' ? tach__p_apply(p, TACH__F_NEG, 1, &n) : n;
	}
	if (number)
		return tach__p_fail(p, TACH_ERR_SYNTAX, at + sign + number,
				    "'|' expected after the number");
	n = tach__p_name(p, at, length);
	return n == TACH__P_UNKNOWN ? tach__p_unknown(p, at, length) : n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int postfix_tokens(struct tach__parse *p, struct stack *s)
{
	const char *text = p->text;
	size_t end, next;

	for (p->at = 0; text[p->at]; p->at = next) {
		size_t length = strcspn(text + p->at, "|");
		int n;

		next = p->at + length + (text[p->at + length] == '|');
		end = p->at + length;
		while (p->at < end && is_blank(text[p->at]))
			p->at++;
		while (end > p->at && is_blank(text[end - 1]))
			end--;
		if (end == p->at) {
			/* Real files sometimes begin or end with a bar. */
			if (s->count == 0 || !text[next])
				continue;
			return tach__p_fail(p, TACH_ERR_SYNTAX, p->at,
					    "an operand or operator expected between the bars");
		}
		n = postfix_token(p, s, p->at, end - p->at);
		if (n < 0)
			return n;
		s->node[s->count++] = n;
	}
	if (s->count == 1)
		return tach__p_value(p, s->node[0]);
	if (s->count == 0)
		return tach__p_fail(p, TACH_ERR_SYNTAX, 0, "the formula is empty");
	return tach__p_fail(p, TACH_ERR_SYNTAX, p->at,
			    "%d values are left at the end; an operator is missing", s->count);
}

int tach__p_postfix(struct tach__parse *p)
{
	struct stack *s = malloc(sizeof *s);
	int n;

	if (!s)
		return tach__p_fail(p, TACH_ERR_NOMEM, 0, "out of memory");
	s->count = 0;
	n = postfix_tokens(p, s);
	free(s);
	return n;
}

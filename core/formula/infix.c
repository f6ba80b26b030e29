/* SPDX-License-Identifier: MIT */
/*
 * Infix formulas, by recursive descent:
 *
 *	value	   = or [ "?" value ":" value ]
 *	or	   = and { ("|" | "||") and }
 *	and	   = compared { ("&" | "&&") compared }
 *	compared   = sum [ comparison sum ]
 *	sum	   = product { ("+" | "-") product }
 *	product	   = factor { ("*" | "/") factor }
 *	factor	   = { "-" | "+" | "!" } primary
 *	primary	   = number | "#" | name | "(" value ")" | ("min" | "max") "(" value {"," value}
 *")"
 *
 * A comparison and what & | ! give is 1 or 0 where a value is wanted.
 */
#include <string.h>
#include "core/formula/parse.h"

static int parse_value(struct tach__parse *p);

static void skip_blanks(struct tach__parse *p)
{
	p->at += strspn(p->text + p->at, " \t\r\n");
}

static char peek(struct tach__parse *p)
{
	skip_blanks(p);
	return p->text[p->at];
}

static int report_expected(struct tach__parse *p, const char *what)
{
	char buffer[16];

	skip_blanks(p);
	return tach__p_fail(p, TACH_ERR_SYNTAX, p->at, "%s expected before %s", what,
			    tach__p_seen(p->text + p->at, buffer));
}

static int too_deep(struct tach__parse *p)
{
	return tach__p_fail(p, TACH_ERR_TOOMANY, p->at,
			    "the formula is nested more than %d levels deep",
			    TACH__F_DEPTH_MAX);
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Characters at which a run of name characters may be divided if the whole run is unknown. */
static bool is_joint(char c)
{
	return c == '-' || c == ':' || c == '.' || c == '=';
}

static int make_binary(struct tach__parse *p, int op, int left, int right)
{
	const int kids[] = {left, right};

	return tach__p_apply(p, op, 2, kids);
}

/* min(a, b, ...) and max(...); text[at] is the opening parenthesis. */
static int parse_function(struct tach__parse *p, enum tach__op op)
{
	int left = (p->at++, parse_value(p)), right;

	if (left >= 0 && peek(p) != ',')
		return report_expected(p, "','");
	while (left >= 0 && peek(p) == ',') {
		p->at++;
		right = parse_value(p);
		if (right < 0)
			return right;
		left = make_binary(p, op, left, right);
	}
	if (left < 0)
		return left;
	if (peek(p) != ')')
		return report_expected(p, "',' or ')'");
	p->at++;
	return left;
}

static int known(struct tach__parse *p, size_t at, size_t length)
{
	const char *name = p->text + at;

	if (length == 3 && (!memcmp(name, "min", 3) || !memcmp(name, "max", 3))) {
		size_t after = at + 3 + strspn(name + 3, " \t\r\n");

		if (p->text[after] == '(') {
			p->at = after;
			return parse_function(p, name[1] == 'i' ? TACH__F_MIN : TACH__F_MAX);
		}
	}
	p->at = at + length;
	return tach__p_name(p, at, length);
}

/*
 * No name has more joints: otherwise a long a-b-c-... would be tried as a name from every minus
 * to every other.
 */
enum { JOINTS_MAX = 64 };

static int parse_name(struct tach__parse *p)
{
	size_t at = p->at, length = 0, whole;
	const char *text = p->text + at;
	int node, joints = 0;

	while (is_letter(text[length]) || is_digit(text[length]) || is_joint(text[length]) ||
	       text[length] == '@') {
		joints += is_joint(text[length]);
		if (joints > JOINTS_MAX)
			break;
		length++;
	}
	whole = length;
	for (; length; length--) {
		if (length < whole && !is_joint(text[length]))
			continue;
		node = known(p, at, length);
		if (node != TACH__P_UNKNOWN)
			return node;
	}
	while (whole > 1 && is_joint(text[whole - 1]))
		whole--;
	return tach__p_unknown(p, at, whole);
}

static int parse_quoted(struct tach__parse *p)
{
	size_t at = p->at + 1;
	const char *end = strchr(p->text + at, p->text[p->at]);
	size_t length;
	int node;

	if (!end)
		return tach__p_fail(p, TACH_ERR_SYNTAX, p->at, "the quote is never closed");
	length = (size_t)(end - (p->text + at));
	p->at = at + length + 1;
	node = tach__p_name(p, at, length);
	return node == TACH__P_UNKNOWN ? tach__p_unknown(p, at, length) : node;
}

static int parse_number(struct tach__parse *p)
{
	size_t at = p->at, length = tach__p_number_span(p->text + at);

	if (!length)
		return report_expected(p, "a number or a name");
	if (is_letter(p->text[at + length]) || p->text[at + length] == '.')
		return tach__p_fail(p, TACH_ERR_SYNTAX, at + length,
				    "an operator expected after the number");
	p->at += length;
	return tach__p_number(p, at, length);
}

static int parse_primary(struct tach__parse *p)
{
	size_t at;
	int node;
	char c = peek(p);

	if (is_digit(c) || c == '.')
		return parse_number(p);
	if (is_letter(c))
		return parse_name(p);
	if (c == '"' || c == '\'')
		return parse_quoted(p);
	if (c == '#') {
		p->at++;
		return tach__p_max_hz(p, p->at - 1);
	}
	if (c != '(')
		return report_expected(p, "an operand");
	at = p->at++;
	node = parse_value(p);
	if (node < 0)
		return node;
	c = peek(p);
	if (c != ')')
		return tach__p_fail(p, TACH_ERR_SYNTAX, p->at,
				    c ? "an operator or ')' expected; the '(' is in column %d"
				      : "the '(' in column %d is never closed",
				    (int)at + 1);
	p->at++;
	return node;
}

static int parse_factor(struct tach__parse *p)
{
	char c = peek(p);
	int node;

	if (c != '-' && c != '+' && c != '!')
		return parse_primary(p);
	if (++p->nesting > TACH__F_DEPTH_MAX)
		return too_deep(p);
	p->at++;
	node = parse_factor(p);
	p->nesting--;
	if (node < 0 || c == '+')
		return node;
	return tach__p_apply(p, c == '!' ? (int)TACH__P_NOT : (int)TACH__F_NEG, 1, &node);
}

static int parse_product(struct tach__parse *p)
{
	int left = parse_factor(p), right;
	char c;

	while (left >= 0 && ((c = peek(p)) == '*' || c == '/')) {
		p->at++;
		right = parse_factor(p);
		if (right < 0)
			return right;
		left = make_binary(p, c == '*' ? TACH__F_MUL : TACH__F_DIV, left, right);
	}
	return left;
}

static int parse_sum(struct tach__parse *p)
{
	int left = parse_product(p), right;
	char c;

	while (left >= 0 && ((c = peek(p)) == '+' || c == '-')) {
		p->at++;
		right = parse_product(p);
		if (right < 0)
			return right;
		left = make_binary(p, c == '+' ? TACH__F_ADD : TACH__F_SUB, left, right);
	}
	return left;
}

static const struct {
	char word[3];
	enum tach__op op;
} comparisons[] = {
	{"<=", TACH__F_LE}, {">=", TACH__F_GE}, {"==", TACH__F_EQ},
	{"!=", TACH__F_NE}, {"<", TACH__F_LT},	{">", TACH__F_GT},
};

static int parse_comparison(struct tach__parse *p)
{
	int left = parse_sum(p), right;

	if (left < 0)
		return left;
	skip_blanks(p);
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
		size_t length = strlen(comparisons[i].word);

		if (strncmp(p->text + p->at, comparisons[i].word, length) != 0)
			continue;
		p->at += length;
		right = parse_sum(p);
		return right < 0 ? right : make_binary(p, comparisons[i].op, left, right);
	}
	return left;
}

/* { part sign part }, the sign once or twice. */
static int parse_chain(struct tach__parse *p, int (*part)(struct tach__parse *p), char sign,
		       int op)
{
	int left = part(p), right;

	while (left >= 0 && peek(p) == sign) {
		p->at += p->text[p->at + 1] == sign ? 2 : 1;
		right = part(p);
		if (right < 0)
			return right;
		left = make_binary(p, op, left, right);
	}
	return left;
}

static int parse_conjunction(struct tach__parse *p)
{
	return parse_chain(p, parse_comparison, '&', TACH__P_AND);
}

/* condition ? a : b, after the condition was read. */
static int parse_choice(struct tach__parse *p, int condition)
{
	int kids[3] = {condition};

	p->at++;
	kids[1] = parse_value(p);
	if (kids[1] < 0)
		return kids[1];
	if (peek(p) != ':')
		return report_expected(p, "':'");
	p->at++;
	kids[2] = parse_value(p);
	if (kids[2] < 0)
		return kids[2];
	return tach__p_apply(p, TACH__F_COND, 3, kids);
}

static int parse_value(struct tach__parse *p)
{
	int node;

	if (++p->nesting > TACH__F_DEPTH_MAX)
		return too_deep(p);
	node = parse_chain(p, parse_conjunction, '|', TACH__P_OR);
	if (node >= 0 && peek(p) == '?')
		node = parse_choice(p, node);
	p->nesting--;
	return node;
}

int tach__p_infix(struct tach__parse *p)
{
	size_t at = (skip_blanks(p), p->at);
	int node;

	if (!p->text[at])
		return tach__p_fail(p, TACH_ERR_SYNTAX, at, "the formula is empty");
	node = parse_value(p);
	if (node < 0)
		return node;
	if (peek(p))
		return report_expected(p, "an operator");
	return tach__p_value(p, node);
}

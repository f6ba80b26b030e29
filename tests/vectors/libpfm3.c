/* SPDX-License-Identifier: MIT */
/*
 * libpfm-3's answers to some 90,000 questions (tests/vectors/libpfm3), compared word for word
 * with the code of `tach dispatch --batch`: result, PMCs, PMDs, debug registers. If the
 * reference is wrong, or fails for events that can be counted, a rule below covers the row and
 * it is counted; any other difference fails.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/check.h"
#include "tests/vectors.h"
#include "tools/tach/batch.c"
#include "tools/tach/dispatch_batch.c"
#include "tools/tach/dispatch_question.c"

enum rule {
	SAME,
	TOO_MANY,      /* more events than counters: the manual's TOOMANY, there NOASSIGN */
	SOLVABLE,      /* NOASSIGN there; an assignment exists */
	FIXED_ONLY,    /* fixed-only event on a general counter when PMC16 is unavailable */
	GENERIC_ADDR,  /* gen_ia32, gen_ia64: addresses not set, or the position instead */
	IBS_ADDRESS,   /* AMD's IBS registers: the address register next to it, or 0 */
	IBS_COUNTER,   /* AMD: an IBS event took a counter's place */
	COMBINE,       /* Nehalem: only event 0's unit masks are checked */
	LD_LAT_MSR,    /* Nehalem: PMC18 with PEBS_ENABLE's address */
	PEBS_ATOM,     /* Atom: a precise event moved to a fixed counter all the same */
	PEBS_WESTMERE, /* Westmere: every event taken for precise */
	P4_REGISTERS,  /* BPU_CCCR2 taken for BPU_CCCR1, wrong addresses */
	FINE_MASK,     /* ia64 fine mode: mask bits 32-55, second range's excess, address + 1 */
	FINE_PAGE,     /* ia64 fine mode: ranges of one page below bit 32 only */
	COARSE,	       /* Montecito: a single range refused for ordinary events */
	NRULES
};
static const char *const rule_names[NRULES] = {
	"same",
	"TOOMANY where the reference says NOASSIGN",
	"solvable set that the reference refuses",
	"fixed-only event put on a general counter",
	"addresses of the generic back ends",
	"address of IBS registers",
	"IBS event that takes a counter's place",
	"Nehalem: unit masks that exclude each other",
	"address of PEBS_LD_LAT",
	"precise event on Atom's fixed counter",
	"Westmere's test for precise events",
	"NetBurst: BPU_CCCR2, addresses",
	"ia64 fine mode: 32-bit masks, first excess only, address + 1",
	"ia64 fine mode: 32-bit page test",
	"Montecito: single range refused",
};

enum { TAG, PLM, FLAGS, UNAVAILABLE, EVENTS, INPUT, RESULT, STATE, PMCS, PMDS, OUTPUT, CELLS };

struct row {
	char text[16384];
	char *column[CELLS];
};

static long counts[NRULES], total;

static int split(struct row *r)
{
	char *at = r->text;
	int n = 0;

	at[strcspn(at, "\n")] = 0;
	for (; n < CELLS; n++) {
		r->column[n] = at;
		at += strcspn(at, "\t");
		if (*at)
			*at++ = 0;
	}
	for (int c = PMCS; c < CELLS; c++) { /* blanks at the end say nothing */
		size_t length = strlen(r->column[c]);

		while (length && r->column[c][length - 1] == ' ')
			r->column[c][--length] = 0;
	}
	return r->column[RESULT][0] != 0;
}

/* ---- registers ---- */

struct reg {
	unsigned number;
	uint64_t value, address, alternative;
};
enum { REGS = 128 };

static int registers(const char *text, struct reg *out)
{
	int n = 0;

	for (; *text && n < REGS; text += strcspn(text, " "), text += *text == ' ') {
		struct reg *r = &out[n++];
		char *end;

		r->number = (unsigned)strtoul(text, &end, 10);
		r->value = strtoull(end + 1, &end, 16);
		r->address = strtoull(end + 1, &end, 16);
		r->alternative = *end == '/' ? strtoull(end + 1, &end, 16) : 0;
	}
	return n;
}

static int same_regs(const struct reg *a, int na, const struct reg *b, int nb)
{
	if (na != nb)
		return 0;
	for (int i = 0; i < na; i++)
		if (a[i].number != b[i].number || a[i].value != b[i].value ||
		    a[i].address != b[i].address || a[i].alternative != b[i].alternative)
			return 0;
	return 1;
}

static int is(const struct row *r, const char *tag)
{
	return strncmp(r->column[TAG], tag, strlen(tag)) == 0;
}

static int unavailable(const struct row *r, unsigned number)
{
	char *at = r->column[UNAVAILABLE];

	while (*at >= '0' && *at <= '9') {
		if (strtoul(at, &at, 10) == number)
			return 1;
		at += *at == ',';
	}
	return 0;
}

/* If our answer cannot be compared, it must at least be legal. */
static int legal(const struct row *r)
{
	for (int c = PMCS; c <= PMDS; c++) {
		struct reg list[REGS];
		int n = registers(r->column[c], list);

		for (int i = 0; i < n; i++) {
			if (c == PMCS && unavailable(r, list[i].number))
				return 0;
			for (int j = 0; j < i; j++)
				if (list[i].number == list[j].number)
					return 0;
		}
	}
	return 1;
}

/* ---- rules that mend the reference's registers ---- */

static enum rule mend_generic(const struct row *want, int column, struct reg *w,
			      const struct reg *g, int n)
{
	for (int i = 0; i < n; i++) {
		if (is(want, "gen_ia64") && column == PMCS && w[i].address == (uint64_t)i)
			w[i].address = w[i].number;
		if (is(want, "gen_ia32") && w[i].alternative == 0)
			w[i].alternative = g[i].alternative;
	}
	return GENERIC_ADDR;
}

static enum rule mend_ibs(int column, struct reg *w, int n)
{
	for (int i = 0; i < n; i++) {
		int fetch = w[i].number == 6, op = w[i].number == (column == PMCS ? 7 : 9);

		if (fetch && (w[i].address == 0 || w[i].address == 0xc0011031))
			w[i].address = 0xc0011030;
		if (op && w[i].address == 0)
			w[i].address = 0xc0011033;
	}
	return IBS_ADDRESS;
}

static enum rule mend_ld_lat(struct reg *w, int n)
{
	for (int i = 0; i < n; i++)
		if (w[i].number == 18 && w[i].address == 0x3f1)
			w[i].address = w[i].alternative = 0x3f6;
	return LD_LAT_MSR;
}

/*
 * The reference assumes that PMC24 controls counter 9 (BPU_CTR2) and counter 1. So the two
 * exclude each other there, and other choices follow. In those rows only the values are
 * compared.
 */
static int uses_bpu(const struct reg *pmd, int n)
{
	for (int i = 0; i < n; i++)
		if (pmd[i].number == 9 || pmd[i].number == 10)
			return 1;
	return 0;
}

static void mend_p4(struct reg *pmc, int npmc, struct reg *pmd, int npmd, int values_only)
{
	for (int i = 0; i < npmc; i++) {
		if (pmc[i].number == 1 && pmc[i].address == 0x3ba)
			pmc[i].address = 0x3b4;
		if (values_only)
			pmc[i].number = 0, pmc[i].address = 0;
	}
	for (int i = 0; i < npmd; i++) {
		if (pmd[i].number == 15 && pmd[i].address == 0x30d)
			pmd[i].address = 0x30e;
		if (values_only)
			pmd[i].number = 0, pmd[i].address = 0;
	}
}

static enum rule mend(const struct row *want, const struct row *got)
{
	struct reg w[2][REGS], g[2][REGS];
	int nw[2], ng[2];
	enum rule rule = NRULES;

	for (int c = 0; c < 2; c++) {
		nw[c] = registers(want->column[PMCS + c], w[c]);
		ng[c] = registers(got->column[PMCS + c], g[c]);
		if (nw[c] != ng[c])
			return NRULES;
		if (is(want, "gen_"))
			rule = mend_generic(want, PMCS + c, w[c], g[c], nw[c]);
		else if (is(want, "amd"))
			rule = mend_ibs(PMCS + c, w[c], nw[c]);
		else if (is(want, "nhm") || is(want, "wsm"))
			rule = mend_ld_lat(w[c], nw[c]);
	}
	if (is(want, "pentium4")) {
		int values_only = uses_bpu(w[1], nw[1]) || uses_bpu(g[1], ng[1]);

		mend_p4(w[0], nw[0], w[1], nw[1], values_only);
		mend_p4(g[0], ng[0], g[1], ng[1], values_only);
		rule = P4_REGISTERS;
	}
	for (int c = 0; c < 2; c++)
		if (!same_regs(w[c], nw[c], g[c], ng[c]))
			return NRULES;
	return strcmp(want->column[OUTPUT], got->column[OUTPUT]) == 0 && legal(got) ? rule
										    : NRULES;
}

/* ---- debug registers of code ranges ---- */

/* "ir:4 off=a/b,... 0=v@a ...": the part that begins with `name`, without it. */
static const char *ranges(const char *text, const char *name, int *n)
{
	const char *at = strstr(text, name);

	*n = at ? atoi(at + 3) : 0;
	return at ? at + 3 + strcspn(at + 3, " ") + 1 : "";
}

static int excess(const char *off, int range, uint64_t out[2])
{
	char *end;

	off += 4;
	for (; range > 0; range--)
		off += strcspn(off, ",") + 1;
	out[0] = strtoull(off, &end, 16);
	out[1] = strtoull(end + 1, &end, 16);
	return 1;
}

static int same_fine(const char *want, const char *got)
{
	struct reg w[REGS], g[REGS];
	int n, m, fine = strstr(want, "fine=1") != NULL;
	const char *a = ranges(want, "ir:", &n), *b = ranges(got, "ir:", &m);
	uint64_t x[2], y[2];

	if (n != m || !n)
		return 0;
	excess(a, 0, x);
	excess(b, 0, y);
	if (memcmp(x, y, sizeof x) != 0) {
		/* The reference has the last range's excess in the first one's place. */
		excess(b, 1, y);
		if (!fine || n != 8 || memcmp(x, y, sizeof x) != 0)
			return 0;
	}
	registers(a + strcspn(a, " ") + 1, w);
	registers(b + strcspn(b, " ") + 1, g);
	for (int i = 0; i < n; i++) {
		if (fine && w[i].number & 1)
			w[i].value |= 0x00ffffff00000000;
		if (w[i].number != g[i].number || w[i].value != g[i].value ||
		    g[i].address != g[i].number ||
		    (w[i].address != w[i].number && w[i].address != w[i].number + 1))
			return 0;
	}
	/* Data ranges are not concerned. */
	a = ranges(want, "dr:", &n);
	b = ranges(got, "dr:", &m);
	return n == m && strcmp(a, b) == 0;
}

/* Does a code range of the input end in another page, as seen with all 64 bits? */
static int crosses_4gb(const struct row *r)
{
	const char *at = strstr(r->column[INPUT], "ir=");
	char *end;

	if (!at)
		return 0;
	strtoull(at + 3, &end, 0);
	while (*end == ',') {
		uint64_t start;

		strtoull(end + 1, &end, 0);
		start = strtoull(end + 1, &end, 0);
		if ((strtoull(end + 1, &end, 0) ^ start) >> 32)
			return 1;
	}
	return 0;
}

/* ---- which rule ---- */

static int has(const struct row *r, int column, const char *word)
{
	return strstr(r->column[column], word) != NULL;
}

static int result(const struct row *r, const char *name)
{
	return strcmp(r->column[RESULT], name) == 0;
}

static enum rule explain_ia64(const struct row *want, const struct row *got)
{
	int same_lists = strcmp(want->column[PMCS], got->column[PMCS]) == 0 &&
			 strcmp(want->column[PMDS], got->column[PMDS]) == 0;

	if (result(want, "OK") && crosses_4gb(want) && has(want, OUTPUT, "fine=1"))
		return legal(got) ? FINE_PAGE : NRULES;
	if (result(want, "OK") && result(got, "OK") && same_lists &&
	    same_fine(want->column[OUTPUT], got->column[OUTPUT]))
		return FINE_MASK;
	if (is(want, "montecito") && result(want, "FEATCOMB") && has(want, INPUT, "ir=") &&
	    (!result(got, "OK") || has(got, OUTPUT, "ir:2") || has(got, OUTPUT, "ir:4")) &&
	    !has(got, OUTPUT, "fine=1"))
		return legal(got) ? COARSE : NRULES;
	return NRULES;
}

/* Does an event name several unit masks? */
static int combines(const struct row *r)
{
	int colons = 0;

	for (const char *c = r->column[EVENTS]; *c; c++) {
		colons = *c == ' ' ? 0 : colons + (*c == ':');
		if (colons > 1)
			return 1;
	}
	return 0;
}

static enum rule explain_x86(const struct row *want, const struct row *got)
{
	int reference = has(want, EVENTS, "UNHALTED_REFERENCE_CYCLES");

	if (is(want, "amd64_fam10h") && result(want, "NOASSIGN") &&
	    has(want, EVENTS, "_EVENT:"))
		return legal(got) ? IBS_COUNTER : NRULES;
	if ((is(want, "nhm") || is(want, "wsm")) && !result(want, "NOASSIGN") &&
	    result(got, "NOASSIGN") && combines(want))
		return COMBINE;
	if (result(got, "NOASSIGN") && reference && unavailable(want, 16))
		return FIXED_ONLY;
	if (result(want, "OK") && result(got, "OK") && is(want, "atom") &&
	    has(want, INPUT, "pebs=1") && has(want, EVENTS, "INSTRUCTIONS_RETIRED"))
		return legal(got) ? PEBS_ATOM : NRULES;
	if (result(want, "OK") && result(got, "OK") && is(want, "wsm") &&
	    has(want, INPUT, "pebs=1") && has(want, EVENTS, "UNHALTED_"))
		return legal(got) ? PEBS_WESTMERE : NRULES;
	return NRULES;
}

static enum rule explain(const struct row *want, const struct row *got)
{
	enum rule rule = NRULES;

	if (result(want, "NOASSIGN") && result(got, "TOOMANY"))
		return TOO_MANY;
	if (is(want, "itanium") || is(want, "montecito"))
		rule = explain_ia64(want, got);
	else
		rule = explain_x86(want, got);
	if (rule != NRULES)
		return rule;
	if (result(want, "OK") && result(got, "OK"))
		return mend(want, got);
	/* With the counters solved, a later stage may still refuse. */
	if (result(want, "NOASSIGN") && (is(want, "montecito") || is(want, "pentium4")) &&
	    (result(got, "OK") || is(want, "montecito")))
		return legal(got) ? SOLVABLE : NRULES;
	return NRULES;
}

static int same(const struct row *want, const struct row *got)
{
	if (strcmp(want->column[RESULT], got->column[RESULT]) != 0)
		return 0;
	if (!result(want, "OK"))
		return 1;
	for (int c = PMCS; c < CELLS; c++)
		if (strcmp(want->column[c], got->column[c]) != 0)
			return 0;
	return 1;
}

static void compare(struct row *want, struct row *got, const char *file)
{
	enum rule rule;

	CHECK(split(want) && split(got), "%s: row %ld is cut", file, total);
	rule = same(want, got) ? SAME : explain(want, got);
	if (rule == NRULES)
		CHECK(0, "%s: %s | %s | %s: want %s [%s] [%s] [%s], got %s [%s] [%s] [%s]",
		      file, want->column[UNAVAILABLE], want->column[EVENTS],
		      want->column[INPUT], want->column[RESULT], want->column[PMCS],
		      want->column[PMDS], want->column[OUTPUT], got->column[RESULT],
		      got->column[PMCS], got->column[PMDS], got->column[OUTPUT]);
	else
		counts[rule]++;
	total++;
}

static void one_file(const char *name)
{
	static struct row want, got;
	char file[64];
	FILE *w, *questions, *g = tmpfile();
	long before = total;

	snprintf(file, sizeof file, "libpfm3/%s.tsv", name);
	w = vectors_open(file);
	questions = vectors_open(file);
	if (!w || !questions || !g) {
		CHECK(0, "cannot read %s", file);
		return;
	}
	CHECK(dispatch_batch(questions, g) == EXIT_DONE, "%s", name);
	rewind(g);
	while (fgets(want.text, sizeof want.text, w)) {
		if (!fgets(got.text, sizeof got.text, g)) {
			CHECK(0, "%s: no answer to row %ld", name, total - before);
			break;
		}
		compare(&want, &got, name);
	}
	CHECK(total > before && !fgets(got.text, sizeof got.text, g), "%s: %ld rows", name,
	      total - before);
	fclose(w);
	fclose(questions);
	fclose(g);
}

#define FILE_CASE(name)                                                                        \
	static void name(void)                                                                 \
	{                                                                                      \
		one_file(#name);                                                               \
	}
#define FILES(X)                                                                               \
	X(amd64_fam10h_revb)                                                                   \
	X(amd64_fam10h_revc)                                                                   \
	X(amd64_fam15h)                                                                        \
	X(amd64_k7)                                                                            \
	X(amd64_k8_revb)                                                                       \
	X(amd64_k8_revf)                                                                       \
	X(atom)                                                                                \
	X(core)                                                                                \
	X(coreduo)                                                                             \
	X(gen_ia32)                                                                            \
	X(gen_ia64)                                                                            \
	X(i386_p6)                                                                             \
	X(i386_pii)                                                                            \
	X(i386_pm)                                                                             \
	X(i386_ppro)                                                                           \
	X(itanium)                                                                             \
	X(itanium2)                                                                            \
	X(itanium2_q)                                                                          \
	X(itanium2hw)                                                                          \
	X(itanium2hw_q)                                                                        \
	X(itanium_q)                                                                           \
	X(montecito)                                                                           \
	X(montecito_q)                                                                         \
	X(nhm)                                                                                 \
	X(pentium4)                                                                            \
	X(wsm)
FILES(FILE_CASE)

static void the_program_answers_the_same(void)
{
	const char *build = getenv("B"), *path = vectors_path("libpfm3/gen_ia32.tsv");
	FILE *questions = vectors_open("libpfm3/gen_ia32.tsv"), *answers = tmpfile(), *program;
	static char ours[16384], theirs[16384];
	char command[1024];
	long rows = 0;

	snprintf(command, sizeof command, "%s/tach dispatch --batch <'%s'",
		 build ? build : "build", path);
	program = popen(command, "r");
	if (!questions || !answers || !program) {
		CHECK(0, "cannot run %s", command);
		return;
	}
	CHECK(dispatch_batch(questions, answers) == EXIT_DONE);
	rewind(answers);
	for (; fgets(ours, sizeof ours, answers); rows++)
		CHECK(fgets(theirs, sizeof theirs, program) && strcmp(ours, theirs) == 0, "%s",
		      ours);
	CHECK(rows > 0 && !fgets(theirs, sizeof theirs, program), "%ld rows", rows);
	CHECK(pclose(program) == 0, "%s", command);
	fclose(questions);
	fclose(answers);
}

/* The rules may not grow in silence. */
static void exceptions_are_counted(void)
{
	static const long most[NRULES] = {
		[TOO_MANY] = 10000,    [SOLVABLE] = 40,	     [FIXED_ONLY] = 60,
		[GENERIC_ADDR] = 3000, [IBS_ADDRESS] = 800,  [IBS_COUNTER] = 50,
		[LD_LAT_MSR] = 10,     [COMBINE] = 10,	     [PEBS_ATOM] = 10,
		[PEBS_WESTMERE] = 5,   [P4_REGISTERS] = 400, [FINE_MASK] = 600,
		[FINE_PAGE] = 120,     [COARSE] = 400,
	};

	for (int r = 0; r < NRULES; r++) {
		printf("# %6ld  %s\n", counts[r], rule_names[r]);
		CHECK(r == SAME || counts[r] <= most[r], "%s: %ld", rule_names[r], counts[r]);
	}
}

#define RUN(name) CASE(name);
int main(void)
{
	FILES(RUN)
	CASE(the_program_answers_the_same);
	CASE(exceptions_are_counted);
	return check_done();
}

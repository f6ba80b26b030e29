/* SPDX-License-Identifier: MIT */
/*
 * tach dispatch --batch: reads lines of "tag dfl_plm flags unavail events mod_in" and prints
 * each with "result state pmcs pmds mod_out" appended. Answers of libpfm-3 are recorded in this
 * format, so two implementations can be compared line by line.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/dispatch.h>
#include "tools/tach/batch.h"
#include "tools/tach/dispatch.h"
#include "tools/tach/dispatch_question.h"

/* A tag names a PMU of libpfm-3 and, for AMD, a revision of it. */
static const struct tag {
	const char *tag, *list;
	uint32_t revision;
} tags[] = {
	{"i386_p6", "p6", 0},
	{"i386_pii", "pii", 0},
	{"i386_pm", "pm", 0},
	{"i386_ppro", "ppro", 0},
	{"amd64_k7", "amd64_k7", 1},
	{"amd64_k8_revb", "amd64_k8", 2},
	{"amd64_k8_revf", "amd64_k8", 6},
	{"amd64_fam10h_revb", "amd64_fam10h", 8},
	{"amd64_fam10h_revc", "amd64_fam10h", 9},
	{"amd64_fam15h", "amd64_fam15h", 12},
	{"itanium2hw", "itanium2", 0},
};

static int choose_pmu(struct question *l)
{
	const char *list = l->column[0];

	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
		if (strcmp(tags[i].tag, list) == 0) {
			list = tags[i].list;
			l->in.revision = tags[i].revision;
			break;
		}
	l->in.pmu = tach_dispatch_list(list);
	return l->in.pmu;
}

/* libpfm-3's names of its errors. */
static const char *result_name(int rc)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{0, "OK"},
		{TACH_ERR_NOTSUPP, "NOTSUPP"},
		{TACH_ERR_INVAL, "INVAL"},
		{TACH_ERR_NOTFOUND, "NOTFOUND"},
		{TACH_ERR_NOASSIGN, "NOASSIGN"},
		{TACH_ERR_MAGIC, "MAGIC"},
		{TACH_ERR_FEATCOMB, "FEATCOMB"},
		{TACH_ERR_EVENTSET, "EVTSET"},
		{TACH_ERR_INCOMPATIBLE, "EVTINCOMP"},
		{TACH_ERR_TOOMANY, "TOOMANY"},
		{TACH_ERR_CODE_TOOBIG, "IRRTOOBIG"},
		{TACH_ERR_CODE_RANGE, "IRRINVAL"},
		{TACH_ERR_CODE_TOOMANY, "IRRTOOMANY"},
		{TACH_ERR_DATA_RANGE, "DRRINVAL"},
		{TACH_ERR_DATA_TOOMANY, "DRRTOOMANY"},
		{TACH_ERR_MODEL, "BADHOST"},
		{TACH_ERR_CODE_ALIGN, "IRRALIGN"},
		{TACH_ERR_CODE_FLAGS, "IRRFLAGS"},
		{TACH_ERR_UMASK, "UMASK"},
		{TACH_ERR_NOMEM, "NOMEM"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == rc)
			return names[i].name;
	return "ERROR";
}

/* If there are ranges to return, the caller must pass an output structure. */
static int check_structures(const struct question *l)
{
	if (l->no_input && !l->no_output && question_is_ia64(l))
		return TACH_ERR_INVAL;
	return 0;
}

static void print_registers(FILE *to, const struct tach_register *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, r++)
		fprintf(to, "%s%u=%llx@%llx/%llx", i ? " " : "", r->number,
			(unsigned long long)r->value, (unsigned long long)r->address,
			(unsigned long long)r->alternative);
}

static void print_ranges(FILE *to, const char *name, const struct tach_ranges_used *used)
{
	if (!used->nregisters)
		return;
	fprintf(to, "%s:%u off=", name, used->nregisters);
	for (int i = 0; i < TACH_DISPATCH_RANGES_MAX; i++)
		fprintf(to, "%s%llx/%llx", i ? "," : "",
			(unsigned long long)used->excess[i].before,
			(unsigned long long)used->excess[i].after);
	for (uint32_t i = 0; i < used->nregisters; i++)
		fprintf(to, " %u=%llx@%llx", used->registers[i].number,
			(unsigned long long)used->registers[i].value,
			(unsigned long long)used->registers[i].address);
	fputc(' ', to);
}

static void print_answer(FILE *to, const struct question *l, int rc,
			 const struct tach_dispatch_out *out)
{
	if (rc) {
		fprintf(to, "\t%s\tZ\n", result_name(rc));
		return;
	}
	fputs("\tOK\tC\t", to);
	print_registers(to, out->pmcs, out->npmcs);
	fputc('\t', to);
	print_registers(to, out->pmds, out->npmds);
	fputc('\t', to);
	if (!l->no_output && question_is_ia64(l)) {
		print_ranges(to, "ir", &out->code);
		print_ranges(to, "dr", &out->data);
		if (strcmp(l->column[0], "itanium") != 0 && strstr(l->column[0], "gen") == NULL)
			fprintf(to, "fine=%u", out->code_fine);
	} else if (!l->no_output && strncmp(l->column[0], "amd", 3) == 0) {
		fprintf(to, "ibsfetch_base=%u ibsop_base=%u", out->ibs_fetch_pmd,
			out->ibs_op_pmd);
	}
	fputc('\n', to);
}

/*
 * Returns the answer of `tach_dispatch` or of the event search, or an error if there is nothing
 * to answer.
 */
static int dispatch(struct question *l, struct tach_dispatch_out *out)
{
	int rc;

	question_unavailable(l);
	rc = question_input(l);
	if (!rc)
		rc = check_structures(l);
	if (l->malformed)
		return TACH_ERR_INVAL;
	return rc ? rc : tach_dispatch_compute(&l->in, out, NULL);
}

static void refuse(struct batch *b, FILE *to)
{
	fputs("\tINVAL\tU\n", to);
	if (b->nul)
		batch_refuse(b, "it holds a NUL byte");
	else
		batch_refuse(b, "expected tag, dfl_plm, flags, unavail, events and mod_in "
				"with TABs between");
}

static void answer(struct batch *b, FILE *to)
{
	static struct question l;
	struct tach_dispatch_out out = {.size = sizeof out};
	int columns, rc;

	memset(&l, 0, sizeof l);
	columns = question_split(&l, b->text);
	for (int i = 0; i < COLUMNS; i++)
		fprintf(to, "%s%s", i ? "\t" : "", l.column[i]);
	if (columns < COLUMNS || b->nul) {
		refuse(b, to);
		return;
	}
	l.in.privilege = question_number(&l, l.column[1]);
	l.in.flags = question_number(&l, l.column[2]) & TACH_DISPATCH_SYSTEMWIDE;
	l.in.events = l.events;
	rc = choose_pmu(&l);
	if (rc < 0)
		batch_refuse(b, "libpfm-3 has no PMU '%s'", l.column[0]);
	else
		rc = question_events(&l);
	if (rc < 0) {
		fprintf(to, "\tFIND_%s\n", result_name(rc));
	} else {
		rc = dispatch(&l, &out);
		print_answer(to, &l, rc, &out);
	}
	if (l.malformed)
		batch_refuse(b, "'%s' is not understood", l.malformed);
}

int dispatch_batch(FILE *from, FILE *to)
{
	struct batch b = {.from = from, .command = "tach dispatch"};

	while (batch_next(&b))
		answer(&b, to);
	return batch_end(&b, EXIT_DONE);
}

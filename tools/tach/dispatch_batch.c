/* SPDX-License-Identifier: MIT */
/*
 * tach dispatch --batch: lines of "tag dfl_plm flags unavail events mod_in" in, the same lines
 * with "result state pmcs pmds mod_out" behind them out. It is the format in which answers of
 * libpfm-3 are recorded, so that two implementations can be compared line by line.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/dispatch.h>
#include "tools/tach/batch.h"
#include "tools/tach/dispatch.h"

enum { COLUMNS = 6, EVENTS_MAX = 512 };

struct line {
	char *column[COLUMNS], none[1];
	struct tach_dispatch in;
	struct tach_dispatch_event events[EVENTS_MAX];
	struct tach_dispatch_x86 x86;
	struct tach_dispatch_ia64 ia64;
	int no_input, no_output; /* model-specific structures that the caller did not pass */
	const char *malformed;	 /* what is not understood */
};

/* Tags name a PMU of libpfm-3 and, for AMD, a revision of it. */
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

static int choose_pmu(struct line *l)
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

/* The names that libpfm-3 gives its errors. */
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

/* One of several numbers between commas; those left out are 0, what is none is `malformed`. */
static uint64_t next_number(struct line *l, char **at)
{
	char *end = *at + strcspn(*at, ",");
	int more = *end == ',';
	uint64_t n = 0;

	*end = 0;
	if (**at && !batch_number(*at, &n) && !l->malformed)
		l->malformed = *at;
	*at = end + more;
	return n;
}

/* The whole text; of a 64-bit number what is too large stays too large. */
static uint32_t number(struct line *l, char *text)
{
	uint64_t n = next_number(l, &text);

	if (*text && !l->malformed)
		l->malformed = text;
	return n < INT32_MAX ? (uint32_t)n : INT32_MAX;
}

static void parse_unavailable(struct line *l)
{
	char *at = l->column[3];

	while (*at && strcmp(at, "-") != 0) {
		uint64_t n = next_number(l, &at);

		if (n < TACH_DISPATCH_PMC_MAX)
			l->in.unavailable[n / 64] |= 1ull << n % 64;
	}
}

/* "NAME:MASK;plm" or "#index;plm". Gives TACH_ERR_UMASK and the like as the finder does. */
static int parse_events(struct line *l)
{
	char *save = NULL;

	if (strcmp(l->column[4], "-") == 0)
		return 0;
	for (char *e = strtok_r(l->column[4], " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		struct tach_dispatch_event *event = &l->events[l->in.nevents];
		char *plm = strrchr(e, ';');
		int rc = 0;

		if (!plm)
			l->malformed = e;
		if (!plm || l->in.nevents == EVENTS_MAX)
			return TACH_ERR_INVAL;
		*plm++ = 0;
		if (*e == '#')
			event->event = (int)number(l, e + 1);
		else
			rc = tach_dispatch_find(l->in.pmu, l->in.revision, e, event, NULL);
		if (rc)
			return rc;
		event->privilege = number(l, plm);
		l->in.nevents++;
	}
	return 0;
}

static void parse_ear(struct line *l, char *at, struct tach_dispatch_ear *ear)
{
	ear->used = 1;
	ear->mode = (uint32_t)next_number(l, &at);
	ear->ism = (uint32_t)next_number(l, &at);
	ear->privilege = (uint32_t)next_number(l, &at);
	ear->umask = (uint32_t)next_number(l, &at);
}

/* Three fields that all have, then the model's own. */
static void parse_btb(struct line *l, char *at, struct tach_dispatch_btb *btb)
{
	uint8_t own[3];

	btb->used = 1;
	btb->privilege = (uint32_t)next_number(l, &at);
	btb->tm = (uint8_t)next_number(l, &at);
	btb->ptm = (uint8_t)next_number(l, &at);
	btb->ppm = (uint8_t)next_number(l, &at);
	for (int i = 0; i < 3; i++)
		own[i] = (uint8_t)next_number(l, &at);
	if (strcmp(l->column[0], "itanium") == 0) {
		btb->tar = own[0];
		btb->tac = own[1];
		btb->bac = own[2];
	} else if (strcmp(l->column[0], "montecito") == 0) {
		btb->brt = own[0];
	} else {
		btb->ds = own[0];
		btb->brt = own[1];
	}
}

static void parse_ranges(struct line *l, char *at, struct tach_dispatch_ranges *ranges)
{
	ranges->used = 1;
	ranges->flags = (uint32_t)next_number(l, &at);
	for (int i = 0; i < TACH_DISPATCH_RANGES_MAX && *at; i++) {
		ranges->range[i].privilege = (uint32_t)next_number(l, &at);
		ranges->range[i].start = next_number(l, &at);
		ranges->range[i].end = next_number(l, &at);
	}
}

static void parse_opcode(struct line *l, char *at, struct tach_dispatch_opcode *o)
{
	o->used = 1;
	o->mask = next_number(l, &at);
	o->match = next_number(l, &at);
	o->m = (uint8_t)next_number(l, &at);
	o->i = (uint8_t)next_number(l, &at);
	o->f = (uint8_t)next_number(l, &at);
	o->b = (uint8_t)next_number(l, &at);
}

static int parse_ia64_input(struct line *l, const char *key, char *value)
{
	struct tach_dispatch_ia64 *m = &l->ia64;

	if (strcmp(key, "ir") == 0 || strcmp(key, "dr") == 0) {
		parse_ranges(l, value, *key == 'i' ? &m->code : &m->data);
	} else if (strcmp(key, "iear") == 0 || strcmp(key, "dear") == 0) {
		parse_ear(l, value, *key == 'i' ? &m->iear : &m->dear);
	} else if (strcmp(key, "pmc8") == 0 || strcmp(key, "pmc9") == 0) {
		m->opcode[key[3] - '8'].used = 1;
		m->opcode[key[3] - '8'].value = next_number(l, &value);
	} else if (strcmp(key, "opcm1") == 0 || strcmp(key, "opcm2") == 0) {
		parse_opcode(l, value, &m->opcode[key[4] - '1']);
	} else if (strcmp(key, "btb") == 0) {
		parse_btb(l, value, &m->btb);
	} else if (strcmp(key, "ipear") == 0) {
		m->ipear.used = 1;
		m->ipear.privilege = (uint32_t)next_number(l, &value);
		m->ipear.delay = (uint8_t)next_number(l, &value);
	} else {
		return 0;
	}
	return 1;
}

static int parse_x86_input(struct line *l, const char *key, char *value)
{
	struct tach_dispatch_x86 *m = &l->x86;

	if (strcmp(key, "pebs") == 0) {
		m->pebs = (uint32_t)next_number(l, &value);
		m->ldlat = (uint32_t)next_number(l, &value);
	} else if (strcmp(key, "lbr") == 0) {
		m->lbr = 1;
		m->lbr_privilege = (uint32_t)next_number(l, &value);
		m->lbr_filter = (uint32_t)next_number(l, &value);
	} else if (strcmp(key, "ibsfetch") == 0) {
		m->ibs_fetch = 1;
		m->ibs_fetch_period = (uint32_t)next_number(l, &value);
		m->ibs_fetch_random = (uint32_t)next_number(l, &value);
	} else if (strcmp(key, "ibsop") == 0) {
		m->ibs_op = 1;
		m->ibs_op_period = (uint32_t)next_number(l, &value);
		m->ibs_op_dispatched = (uint32_t)next_number(l, &value);
	} else {
		return 0;
	}
	return 1;
}

/* "cN=flags,threshold,ism": flag bits are the PMU's own. */
static int parse_counter(struct line *l, const char *key, char *value)
{
	unsigned long n = strtoul(key + 1, NULL, 10);
	uint32_t flags, ia64[] = {TACH_DISPATCH_NOQUALIFY, TACH_DISPATCH_ALLTHREADS};
	uint32_t amd[] = {TACH_DISPATCH_INVERT, TACH_DISPATCH_EDGE, TACH_DISPATCH_GUEST,
			  TACH_DISPATCH_HOST};
	uint32_t intel[] = {TACH_DISPATCH_INVERT, TACH_DISPATCH_EDGE, TACH_DISPATCH_ANYTHREAD,
			    TACH_DISPATCH_OCCUPANCY};

	if (*key != 'c' || n >= EVENTS_MAX)
		return 0;
	flags = (uint32_t)next_number(l, &value);
	for (int bit = 0; bit < 4; bit++) {
		uint32_t *map = l->in.ia64			       ? ia64
				: strncmp(l->column[0], "amd", 3) == 0 ? amd
								       : intel;

		if (flags >> bit & 1 && !(map == ia64 && bit > 1))
			l->events[n].flags |= map[bit];
	}
	l->events[n].threshold = (uint32_t)next_number(l, &value);
	l->events[n].ism = (uint32_t)next_number(l, &value);
	return 1;
}

static int is_ia64(const struct line *l)
{
	return strstr(l->column[0], "itanium") || strstr(l->column[0], "montecito") ||
	       strstr(l->column[0], "ia64");
}

static int parse_input(struct line *l)
{
	char *save = NULL;

	l->x86.size = sizeof l->x86;
	l->ia64.size = sizeof l->ia64;
	l->ia64.fine_32 = strcmp(l->column[0], "itanium2hw") == 0;
	if (strcmp(l->column[5], "-") == 0) {
		l->no_input = l->no_output = 1;
		return 0;
	}
	if (is_ia64(l))
		l->in.ia64 = &l->ia64;
	else
		l->in.x86 = &l->x86;
	for (char *part = strtok_r(l->column[5], ";", &save); part;
	     part = strtok_r(NULL, ";", &save)) {
		char *value = strchr(part, '=');

		if (value)
			*value++ = 0;
		if (strcmp(part, "noin") == 0)
			l->no_input = 1;
		else if (strcmp(part, "noout") == 0)
			l->no_output = 1;
		else if (strcmp(part, ".") != 0 &&
			 (!value || !(parse_ia64_input(l, part, value) ||
				      parse_x86_input(l, part, value) ||
				      parse_counter(l, part, value)))) {
			l->malformed = part;
			return TACH_ERR_INVAL;
		}
	}
	if (l->no_output)
		l->in.flags |= TACH_DISPATCH_NOMODEL;
	if (l->no_input)
		l->in.ia64 = NULL, l->in.x86 = NULL;
	return 0;
}

/* A missing output structure was the caller's mistake where there are ranges to return. */
static int check_structures(const struct line *l)
{
	if (l->no_input && !l->no_output && is_ia64(l))
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

static void print_answer(FILE *to, const struct line *l, int rc,
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
	if (!l->no_output && is_ia64(l)) {
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

/* The columns; how many are there. Those that are not are empty. */
static int split(struct line *l, char *text)
{
	int n = 0;

	for (int i = 0; i < COLUMNS; i++) {
		char *column = strsep(&text, "\t");

		n += column != NULL;
		l->column[i] = column ? column : l->none;
	}
	return n;
}

/* What `tach_dispatch` and the finder answer, or that there is nothing to be answered. */
static int dispatch(struct line *l, struct tach_dispatch_out *out)
{
	int rc;

	parse_unavailable(l);
	rc = parse_input(l);
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
	static struct line l;
	struct tach_dispatch_out out = {.size = sizeof out};
	int columns, rc;

	memset(&l, 0, sizeof l);
	columns = split(&l, b->text);
	for (int i = 0; i < COLUMNS; i++)
		fprintf(to, "%s%s", i ? "\t" : "", l.column[i]);
	if (columns < COLUMNS || b->nul) {
		refuse(b, to);
		return;
	}
	l.in.privilege = number(&l, l.column[1]);
	l.in.flags = number(&l, l.column[2]) & TACH_DISPATCH_SYSTEMWIDE;
	l.in.events = l.events;
	rc = choose_pmu(&l);
	if (rc < 0)
		batch_refuse(b, "libpfm-3 has no PMU '%s'", l.column[0]);
	else
		rc = parse_events(&l);
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

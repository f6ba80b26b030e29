/* SPDX-License-Identifier: MIT */
/*
 * tach encode --batch: one line of answer per question, in columns separated by TAB, for
 * scripts and for comparison with libpfm-4:
 *
 * 	string plm os OK payload full-name	or	string plm os ERROR
 *
 * Columns after the third of a question are ignored. A malformed line gets the answer INVAL, so
 * answers stay in step with questions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/batch.h"
#include "tools/tach/commands.h"
#include "tools/tach/encode.h"

/* libpfm-4's error names without PFM_ERR_. */
static const char *error_name(int code)
{
	switch (code) {
	case TACH_ERR_NOTSUPP:
		return "NOTSUPP";
	case TACH_ERR_NOTFOUND:
		return "NOTFOUND";
	case TACH_ERR_ATTR:
		return "ATTR";
	case TACH_ERR_ATTR_VALUE:
		return "ATTR_VAL";
	case TACH_ERR_ATTR_SET:
		return "ATTR_SET";
	case TACH_ERR_UMASK:
		return "UMASK";
	case TACH_ERR_FEATCOMB:
		return "FEATCOMB";
	case TACH_ERR_TOOMANY:
		return "TOOMANY";
	case TACH_ERR_TOOSMALL:
		return "TOOSMALL";
	case TACH_ERR_NOMEM:
		return "NOMEM";
	}
	return "INVAL";
}

static void print_payload(const struct tach_event *e, enum tach_os os)
{
	if (os == TACH_OS_NONE) {
		for (uint32_t i = 0; i < e->ncodes; i++)
			printf("%s%" PRIx64, i ? "," : "", e->codes[i]);
		return;
	}
	printf("%u:%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%d%d%d%d%d:%d:%d:%d:%d:%" PRIu64 ":%d:0",
	       e->type, e->config, e->config1, e->config2, e->exclude_user, e->exclude_kernel,
	       e->exclude_hv, e->exclude_host, e->exclude_guest, e->precise, e->pinned,
	       e->exclusive, (e->has & TACH_EVENT_HAS_FREQ) != 0, e->period, e->cpu);
}

/* If the number is outside every level or form, libpfm-4 answers INVAL or NOTSUPP. */
static int parse_number(const char *text, uint32_t *value)
{
	int negative = *text == '-';
	uint64_t n;

	if (!batch_number(text + negative, &n))
		return 0;
	*value = negative || n > INT32_MAX ? INT32_MAX : (uint32_t)n;
	return 1;
}

static void refuse_line(struct batch *b, const char *string, const char *plm, const char *os)
{
	if (b->nul)
		batch_refuse(b, "it holds a NUL byte");
	else
		batch_refuse(b, "expected string TAB plm TAB os, both numbers");
	printf("%s\t%s\t%s\tINVAL\n", string, plm ? plm : "", os ? os : "");
}

static void answer_line(struct batch *b, const struct tach_encode_options *base)
{
	struct tach_encode_options opt = *base;
	struct tach_event e = {.size = sizeof e};
	char *line = b->text, *string = strsep(&line, "\t"), *plm = strsep(&line, "\t"),
	     *os = strsep(&line, "\t");
	uint32_t form;
	int rc;

	if (!os || b->nul || !parse_number(plm, &opt.privilege) || !parse_number(os, &form)) {
		refuse_line(b, string, plm, os);
		return;
	}
	opt.os = (enum tach_os)form;
	rc = tach_event_encode(string, &opt, &e, NULL);
	if (rc) {
		printf("%s\t%s\t%s\t%s\n", string, plm, os, error_name(rc));
		return;
	}
	printf("%s\t%s\t%s\tOK\t", string, plm, os);
	print_payload(&e, opt.os);
	/* libpfm-4 has no name for umasks without modifiers: its callers print "(null)". */
	printf("\t%s\n", *e.name ? e.name : "(null)");
}

int encode_batch(FILE *from, const struct tach_encode_options *base)
{
	struct batch b = {.from = from, .command = "tach encode"};

	while (batch_next(&b))
		answer_line(&b, base);
	return batch_end(&b, EXIT_DONE);
}

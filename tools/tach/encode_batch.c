/* SPDX-License-Identifier: MIT */
/*
 * tach encode --batch: one answer a line, in columns separated by TAB, for scripts and for
 * comparison with libpfm-4:
 *
 *	string plm os OK payload full-name	or	string plm os ERROR
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "tools/tach/commands.h"
#include "tools/tach/encode.h"

/* libpfm-4's names, without their PFM_ERR_. */
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
	printf("%x:%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%d%d%d%d%d:%d:%d:%d:%d:%" PRIu64 ":%d:0",
	       e->type, e->config, e->config1, e->config2, e->exclude_user, e->exclude_kernel,
	       e->exclude_hv, e->exclude_host, e->exclude_guest, e->precise, e->pinned,
	       e->exclusive, (e->has & TACH_EVENT_HAS_FREQ) != 0, e->period, e->cpu);
}

static int answer(char *line, long number, const struct tach_encode_options *base)
{
	struct tach_encode_options opt = *base;
	struct tach_event e = {.size = sizeof e};
	char *string = strsep(&line, "\t"), *plm = strsep(&line, "\t"),
	     *os = strsep(&line, "\t");
	char *plm_end = NULL, *os_end = NULL;
	unsigned long level, form;
	int rc;

	level = plm ? strtoul(plm, &plm_end, 0) : 0;
	form = os ? strtoul(os, &os_end, 0) : 0;
	if (!os || plm_end == plm || *plm_end || os_end == os || *os_end) {
		fprintf(stderr, "tach encode: line %ld: expected string TAB plm TAB os\n",
			number);
		return 0;
	}
	opt.privilege = (uint32_t)level;
	opt.os = (enum tach_os)form;
	rc = tach_event_encode(string, &opt, &e, NULL);
	if (rc) {
		printf("%s\t%s\t%s\t%s\n", string, plm, os, error_name(rc));
		return 1;
	}
	printf("%s\t%s\t%s\tOK\t", string, plm, os);
	print_payload(&e, opt.os);
	/* libpfm-4 has no name for umasks without modifiers, and its callers print this. */
	printf("\t%s\n", *e.name ? e.name : "(null)");
	return 1;
}

int encode_batch(FILE *from, const struct tach_encode_options *base)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	long number = 0;
	int status = EXIT_DONE;

	while ((length = getline(&line, &room, from)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		if (!answer(line, ++number, base))
			status = EXIT_USAGE;
	}
	free(line);
	if (fflush(stdout) || ferror(stdout)) {
		perror("tach encode");
		status = EXIT_NO;
	}
	return status;
}

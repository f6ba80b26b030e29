/* SPDX-License-Identifier: MIT */
/*
 * libpfm-4's answers to some 900,000 strings (tests/vectors/libpfm4), compared word for word:
 * result, payload, fully qualified string. Deliberate differences are listed as rules below and
 * counted; any other difference fails.
 */
#ifndef TESTS_VECTORS_LIBPFM4_H
#define TESTS_VECTORS_LIBPFM4_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"
#include "tests/vectors.h"

/* Why a row is not compared as it stands. */
enum rule {
	SAME,
	COMMA,	     /* "first,rest": encoded, where the reference refuses it */
	VENDOR_CODE, /* the vendor's code was taken: tests/vectors/ *vendor-over-libpfm4.tsv */
	CORRECTED,   /* libpfm-4 has corrected it since: tests/vectors/corrected-since.tsv */
	CUT_NAME,    /* the reference's string ends at 255 characters */
	NRULES
};
static const char *const rule_names[NRULES] = {
	"same", "comma-separated list", "vendor's code taken", "corrected since by libpfm-4",
	"string cut by the reference"};
static long counts[NRULES];

struct row {
	char *string, *result, *payload, *fstr;
	uint32_t plm;
	int os;
};

static struct vendor_row {
	char pmu[32], event[64], umask[64];
} vendor[512];
static int nvendor;

static void read_vendor_rows(const char *file)
{
	FILE *f = fopen(file, "r");
	char line[512];

	while (f && nvendor < 512 && fgets(line, sizeof line, f)) {
		struct vendor_row *v = &vendor[nvendor];

		if (sscanf(line, "%31s %63s %63s", v->pmu, v->event, v->umask) == 3)
			nvendor++;
	}
	if (f)
		fclose(f);
}

/* Returns true if "pmu::EVENT:UMASK:..." names such a row. */
static int is_vendor_row(const char *fstr)
{
	for (int i = 0; i < nvendor; i++) {
		size_t n = strlen(vendor[i].pmu), m = strlen(vendor[i].event);
		const char *at = fstr + n;

		/* The number of a box follows its name. */
		if (strncasecmp(fstr, vendor[i].pmu, n) != 0)
			continue;
		at += strspn(at, "0123456789");
		if (strncmp(at, "::", 2) != 0 || strncasecmp(at + 2, vendor[i].event, m) != 0)
			continue;
		at += 2;
		if (strcmp(vendor[i].umask, "-") == 0 && (!at[m] || at[m] == ':'))
			return 1;
		if (at[m] != ':')
			continue;
		for (at += m; *at == ':'; at += strcspn(at, ":")) {
			size_t k = strcspn(++at, ":");

			if (strlen(vendor[i].umask) == k &&
			    strncasecmp(at, vendor[i].umask, k) == 0)
				return 1;
		}
	}
	return 0;
}

static char corrected[16][96]; /* "pmu::EVENT" */
static int ncorrected;

static void read_corrected(void)
{
	FILE *f = fopen("tests/vectors/corrected-since.tsv", "r");
	char line[256], pmu[32], event[56];

	while (f && ncorrected < 16 && fgets(line, sizeof line, f))
		if (*line != '#' && sscanf(line, "%31s %55s", pmu, event) == 2)
			snprintf(corrected[ncorrected++], sizeof *corrected, "%s::%s", pmu,
				 event);
	if (f)
		fclose(f);
}

static int is_corrected(const char *string)
{
	for (int i = 0; i < ncorrected; i++) {
		size_t n = strlen(corrected[i]);

		if (strncasecmp(string, corrected[i], n) == 0 &&
		    strcspn(string + n, ":.\t") == 0)
			return 1;
	}
	return 0;
}

static const char *result_name(int rc)
{
	switch (rc) {
	case 0:
		return "OK";
	case TACH_ERR_INVAL:
	case TACH_ERR_SYNTAX:
		return "INVAL";
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
	case TACH_ERR_NOTSUPP:
		return "NOTSUPP";
	}
	return "?";
}

static void payload(const struct tach_event *e, int os, char *out, size_t size)
{
	size_t at = 0;

	if (os == TACH_OS_NONE) {
		for (uint32_t i = 0; i < e->ncodes; i++)
			at += (size_t)snprintf(out + at, size - at, "%s%" PRIx64, i ? "," : "",
					       e->codes[i]);
		return;
	}
	snprintf(out, size,
		 "%u:%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%d%d%d%d%d:%d:%d:%d:%d:%" PRIu64
		 ":%d:0",
		 e->type, e->config, e->config1, e->config2, e->exclude_user, e->exclude_kernel,
		 e->exclude_hv, e->exclude_host, e->exclude_guest, e->precise, e->pinned,
		 e->exclusive, (e->has & TACH_EVENT_HAS_FREQ) != 0, e->period, e->cpu);
}

static int split(char *line, struct row *row)
{
	char *cell[8] = {NULL};
	int n = 0;

	line[strcspn(line, "\n")] = 0;
	while (n < 8 && (cell[n++] = strsep(&line, "\t")) && line)
		;
	if (n < 4)
		return 0;
	row->string = cell[0];
	row->plm = (uint32_t)strtoul(cell[1], NULL, 10);
	row->os = atoi(cell[2]);
	row->result = cell[3];
	row->payload = n > 4 ? cell[4] : NULL;
	row->fstr = n > 5 ? cell[5] : NULL;
	return 1;
}

static enum rule rule_of(const struct row *row)
{
	if (is_vendor_row(row->fstr ? row->fstr : row->string))
		return VENDOR_CODE;
	if (is_corrected(row->string))
		return CORRECTED;
	if (strcmp(row->result, "INVAL") == 0 && strchr(row->string, ',') &&
	    !strpbrk(row->string, " \t\n") && row->plm <= 0x1f)
		return COMMA;
	if (row->fstr && strstr(row->fstr, "::") && strlen(strstr(row->fstr, "::")) >= 257)
		return CUT_NAME;
	return SAME;
}

/* "a,b" must be what "a" is. */
static int same_as_first(const struct row *row, const struct tach_encode_options *opt, int rc,
			 const struct tach_event *e)
{
	char first[512];
	struct tach_event f = {0};
	int frc;

	snprintf(first, sizeof first, "%.*s", (int)strcspn(row->string, ","), row->string);
	frc = tach_event_encode(first, opt, &f, NULL);
	return rc == frc && (rc || strcmp(e->name, f.name) == 0);
}

static void compare(const struct row *row, struct tach_encode_options opt)
{
	struct tach_event e = {0};
	char ours[256] = "";
	enum rule rule;
	int rc, good;

	opt.os = (enum tach_os)row->os;
	opt.privilege = row->plm;
	rule = rule_of(row);
	counts[rule]++;
	if (rule == CORRECTED)
		return;
	rc = tach_event_encode(row->string, &opt, &e, NULL);
	if (rc == 0 && rule == SAME && is_vendor_row(e.name)) {
		counts[rule]--;
		counts[rule = VENDOR_CODE]++;
	}
	if (rule == COMMA) {
		CHECK(same_as_first(row, &opt, rc, &e), "%s", row->string);
		return;
	}
	good = strcmp(result_name(rc), row->result) == 0;
	if (good && rc == 0) {
		payload(&e, row->os, ours, sizeof ours);
		good = strcmp(ours, row->payload) == 0;
		good &= rule == CUT_NAME ? strncmp(e.name, row->fstr, strlen(row->fstr)) == 0
					 : strcmp(*e.name ? e.name : "(null)", row->fstr) == 0;
	}
	/* A row of this kind may still be equal: a refusal, or other umasks. */
	if (rule == VENDOR_CODE) {
		counts[VENDOR_CODE] -= good;
		counts[SAME] += good;
		return;
	}
	CHECK(good, "%s plm %u os %d\n#   want %s %s %s\n#   have %s %s %s", row->string,
	      row->plm, row->os, row->result, row->payload ? row->payload : "",
	      row->fstr ? row->fstr : "", result_name(rc), ours, rc ? "" : e.name);
}

static long run_file(const char *name, const struct tach_encode_options *opt)
{
	char file[64];
	static char line[4096];
	struct row row;
	long n = 0;
	FILE *f;

	snprintf(file, sizeof file, "libpfm4/%s.tsv", name);
	f = vectors_open(file);
	while (f && fgets(line, sizeof line, f)) {
		n++;
		if (split(line, &row))
			compare(&row, *opt);
	}
	if (f)
		fclose(f);
	CHECK(n > 0, "no rows in %s", name);
	return n;
}

static struct tach_encode_options options(const char *host)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.flags = TACH_ENCODE_LIBPFM4;
	opt.host = host;
	opt.sysfs = "/nonexistent";
	opt.tracefs = "/nonexistent";
	return opt;
}

#define FILE_CASE(function, host)                                                              \
	static void function(void)                                                             \
	{                                                                                      \
		struct tach_encode_options opt = options(host);                                \
		run_file(#function, &opt);                                                     \
	}

static inline void read_rules(void)
{
	read_vendor_rows("tests/vectors/vendor-over-libpfm4.tsv");
	read_vendor_rows("tests/vectors/uncore-vendor-over-libpfm4.tsv");
	read_corrected();
}

/* Rules may not swallow what they were not made for. */
static inline void check_rules(const long least_and_most[NRULES])
{
	CHECK(counts[SAME] > least_and_most[SAME], "%ld", counts[SAME]);
	for (int i = 0; i < NRULES; i++) {
		printf("# %8ld %s\n", counts[i], rule_names[i]);
		CHECK(i == SAME || counts[i] <= least_and_most[i], "%s: %ld", rule_names[i],
		      counts[i]);
	}
}

#endif

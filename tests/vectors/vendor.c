/* SPDX-License-Identifier: MIT */
/*
 * Vendors' codes, read from the tables' text by other eyes than mkevents': every Intel, AMD and
 * Arm row that the vendor vouches for encodes to the code of its cells, and its vendor spelling
 * (vn=, else EVENT.UMASK) encodes to the same words. This is what proves the PMUs that no
 * vector of libpfm-4 names; they are listed.
 */
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
#include "tests/check.h"

enum { KIND, NAME, CODE, GROUP, COUNTERS, MODS, HW, FLAGS, SRC, ATTRS, NCELLS };

struct row {
	char line[1024];
	char *cell[NCELLS];
};

static struct file {
	char pmu[64], encoding[16];
	long proved;
} file;
static long proved, spelled;

static const char *attr(const struct row *row, const char *key)
{
	static char value[256];
	size_t n = strlen(key);

	for (const char *p = row->cell[ATTRS]; *p; p += strcspn(p, ";"), p += *p == ';')
		if (strncmp(p, key, n) == 0 && (p[n] == '=' || p[n] == ';' || !p[n])) {
			snprintf(value, sizeof value, "%.*s",
				 (int)(strcspn(p, ";") - n - (p[n] == '=')),
				 p + n + (p[n] == '='));
			return value;
		}
	return NULL;
}

static uint64_t number(const struct row *row, const char *key, uint64_t otherwise)
{
	const char *text = attr(row, key);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static int has_flag(const struct row *row, const char *flag)
{
	size_t n = strlen(flag);

	for (const char *p = row->cell[FLAGS]; *p; p += strcspn(p, ","), p += *p == ',')
		if (strncmp(p, flag, n) == 0 && (p[n] == ',' || !p[n]))
			return 1;
	return 0;
}

static int vouched(const struct row *row)
{
	return strcmp(row->cell[SRC], "V") == 0 || strcmp(row->cell[SRC], "LV") == 0 ||
	       strcmp(row->cell[SRC], "LF") == 0;
}

/* "c=4,i=1" as bits of the event select register. */
static uint64_t wired(const char *cell)
{
	static const struct {
		const char *name;
		int shift;
	} mods[] = {{"u=", 16}, {"k=", 17}, {"e=", 18}, {"t=", 21}, {"i=", 23}, {"c=", 24}};
	uint64_t bits = 0;

	for (const char *p = cell; *p && *p != '-'; p += strcspn(p, ","), p += *p == ',')
		for (size_t i = 0; i < sizeof mods / sizeof *mods; i++)
			if (strncmp(p, mods[i].name, 2) == 0)
				bits |= strtoull(p + 2, NULL, 0) << mods[i].shift;
	return bits;
}

static uint64_t intel(const struct row *event, const struct row *umask, uint64_t *msr)
{
	uint64_t base = strtoull(event->cell[CODE], NULL, 0), um = 0, code;
	int to_msr = has_flag(event, "offcore") || has_flag(event, "frontend");

	*msr = 0;
	if (umask) {
		um = strtoull(umask->cell[CODE], NULL, 0);
		base = number(umask, "base", base);
		base = (base & ~UINT64_C(0xff)) | number(umask, "sel", base & 0xff);
		if (attr(umask, "plain"))
			to_msr = 0;
		if (attr(umask, "msr"))
			*msr = strtoull(strchr(attr(umask, "msr"), ':') + 1, NULL, 0);
		if (has_flag(umask, "ldlat"))
			*msr = number(umask, "ldlat", 3);
		if (has_flag(umask, "fethr") && !(um & 0xfff00))
			um |= 0x100;
	}
	code = base | wired(event->cell[HW]) | (umask ? wired(umask->cell[HW]) : 0);
	if (to_msr)
		*msr = um;
	else
		code |= (um & 0xff) << 8 | (um >> 8) << 40;
	return code | 1 << 20 | 1 << 22;
}

static uint64_t amd(const struct row *event, const struct row *umask)
{
	uint64_t code = strtoull(event->cell[CODE], NULL, 0);
	uint64_t um = umask ? strtoull(umask->cell[CODE], NULL, 0) : number(event, "um", 0);

	return (code & 0xff) | um << 8 | (code >> 8) << 32 | 1 << 20 | 1 << 22;
}

static void check_row(const struct row *event, const struct row *umask)
{
	const struct row *row = umask ? umask : event;
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event e = {0}, v = {0};
	char string[256], vendor[320];
	uint64_t want, msr = 0;
	int rc;

	opt.os = TACH_OS_NONE;
	opt.privilege = 0;
	snprintf(string, sizeof string, "%s::%s%s%s", file.pmu, event->cell[NAME],
		 umask ? ":" : "", umask ? umask->cell[NAME] : "");
	rc = tach_event_encode(string, &opt, &e, NULL);
	/* Groups that need a second umask are not one vendor event. */
	if (rc == TACH_ERR_UMASK)
		return;
	/* The processor may lack an architectural event (CPUID leaf 0AH). */
	if (rc == TACH_ERR_NOTFOUND && strcmp(file.pmu, "ix86arch") == 0)
		return;
	CHECK(rc == 0, "%s: %s", string, tach_strerror(rc));
	if (strcmp(file.encoding, "intel") == 0)
		want = intel(event, umask, &msr);
	else if (strcmp(file.encoding, "amd") == 0)
		want = amd(event, umask);
	else
		want = strtoull(event->cell[CODE], NULL, 0) | UINT64_C(0xc8000000);
	CHECK(e.codes[0] == want && (e.ncodes > 1 ? e.codes[1] : 0) == msr,
	      "%s: %" PRIx64 " %" PRIx64 ", the row says %" PRIx64 " %" PRIx64, string,
	      e.codes[0], e.ncodes > 1 ? e.codes[1] : 0, want, msr);
	file.proved++;
	if (attr(row, "vn"))
		snprintf(vendor, sizeof vendor, "%s::%s", file.pmu, attr(row, "vn"));
	else
		snprintf(vendor, sizeof vendor, "%s::%s%s%s", file.pmu, event->cell[NAME],
			 umask ? "." : "", umask ? umask->cell[NAME] : "");
	rc = tach_event_encode(vendor, &opt, &v, NULL);
	/* A vendor's name may be another row's own name: then it means that row. */
	if (attr(row, "vn") && rc == 0 && v.codes[0] != e.codes[0])
		return;
	CHECK(rc == 0 && v.codes[0] == e.codes[0], "%s: %s", vendor, tach_strerror(rc));
	spelled++;
}

/* Alone the row is the whole event: nothing of other groups comes by default. */
static int comparable(const struct row *event, const struct row *umask)
{
	const struct row *row = umask ? umask : event;

	if (!vouched(row) || attr(row, "eq") || attr(event, "eq"))
		return 0;
	if (!umask)
		return strcmp(event->cell[GROUP], "-") == 0 || has_flag(event, "bare");
	return strcmp(event->cell[GROUP], "1") == 0 || has_flag(umask, "solo");
}

static int read_row(struct row *row, const char *line)
{
	char *p = row->line;

	snprintf(row->line, sizeof row->line, "%s", line);
	for (int i = 0; i < NCELLS; i++) {
		row->cell[i] = p;
		p = p ? strchr(p, '\t') : NULL;
		if (p)
			*p++ = 0;
		else if (i < ATTRS)
			return 0;
	}
	return 1;
}

static void check_file(const char *path)
{
	static struct row event, umask;
	FILE *f = fopen(path, "r");
	char line[1024];

	memset(&file, 0, sizeof file);
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		sscanf(line, "@pmu %63s", file.pmu);
		sscanf(line, "@encoding %15s", file.encoding);
		if (strcmp(file.encoding, "netburst") == 0)
			break;
		if (line[0] == 'E' && read_row(&event, line)) {
			if (comparable(&event, NULL) && !has_flag(&event, "offcore"))
				check_row(&event, NULL);
		} else if (line[0] == 'U' && read_row(&umask, line)) {
			if (comparable(&event, &umask))
				check_row(&event, &umask);
		}
	}
	if (f)
		fclose(f);
	proved += file.proved;
}

/* PMUs of the vectors; whatever is not among them is proved here alone. */
static int in_vectors(const char *pmu)
{
	static const char names[] =
		" adl_glc adl_grt amd64_fam10h_barcelona amd64_fam10h_istanbul "
		"amd64_fam10h_shanghai amd64_fam11h_turion amd64_fam12h_llano "
		"amd64_fam14h_bobcat amd64_fam15h_interlagos amd64_fam16h amd64_fam17h "
		"amd64_fam17h_zen1 amd64_fam17h_zen2 amd64_fam19h_zen3 amd64_fam19h_zen4 "
		"amd64_fam1ah_zen5 amd64_k7 amd64_k8_revb amd64_k8_revc amd64_k8_revd "
		"amd64_k8_reve amd64_k8_revf amd64_k8_revg atom bdw bdw_ep clx core coreduo "
		"emr "
		"glm gnr hsw hsw_ep icl icx ivb ivb_ep ix86arch knc knl knm netburst "
		"netburst_p "
		"nhm nhm_ex p6 pii pm ppro skl skx slm snb snb_ep spr tmt wsm wsm_dp arm_a64fx "
		"arm_ac53 arm_ac55 arm_ac57 arm_ac72 arm_ac76 arm_kunpeng arm_n1 arm_n2 arm_n3 "
		"arm_thunderx2 arm_v1 arm_v2 arm_v3 arm_xgene ";
	char word[80];

	snprintf(word, sizeof word, " %s ", pmu);
	return strstr(names, word) != NULL;
}

static void vendor_codes(void)
{
	glob_t files;

	CHECK(glob("arch/x86/events/*.tsv", 0, NULL, &files) == 0 &&
	      glob("arch/arm64/events/*.tsv", GLOB_APPEND, NULL, &files) == 0);
	printf("# in no vector; rows proved by the vendor's code:");
	for (size_t i = 0; i < files.gl_pathc; i++) {
		check_file(files.gl_pathv[i]);
		if (!in_vectors(file.pmu))
			printf(" %s:%ld", file.pmu, file.proved);
	}
	printf("\n# %ld rows in all, %ld also by the vendor's spelling\n", proved, spelled);
	CHECK(proved > 20000);
	globfree(&files);
}

int main(void)
{
	CASE(vendor_codes);
	return check_done();
}

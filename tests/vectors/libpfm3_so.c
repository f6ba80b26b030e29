/* SPDX-License-Identifier: MIT */
/*
 * The questions of tests/vectors/libpfm3, asked of libpfm.so.3 as its clients do: strings
 * through pfm_find_full_event, model-specific structures from our own headers. Each answer must
 * be the one that `tach dispatch --batch` gives, which tests/vectors/libpfm3.c compares with
 * the reference's. A sample of the rows; LIBPFM3_ROWS=all asks all of them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <perfmon/pfmlib_amd64.h>
#include <perfmon/pfmlib_core.h>
#include <perfmon/pfmlib_coreduo.h>
#include <perfmon/pfmlib_gen_ia32.h>
#include <perfmon/pfmlib_i386_p6.h>
#include <perfmon/pfmlib_intel_atom.h>
#include <perfmon/pfmlib_intel_nhm.h>
#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include "tests/check.h"
#include "tests/vectors.h"

enum {
	TAG,
	PLM,
	FLAGS,
	UNAVAILABLE,
	EVENTS,
	INPUT,
	RESULT,
	STATE,
	PMCS,
	PMDS,
	OUTPUT,
	COLUMNS
};
enum { LINE_MAX_ = 32768, SAMPLE = 8 };

static void *three;
#define CALL(name) ((__typeof__(&name))dlsym(three, #name))

/* How a program selects the PMU of each file. */
static const struct pmu {
	const char *tag, *force;
	int type;
} pmus[] = {
	{"amd64_fam10h_revb", "16,16,2,0", PFMLIB_AMD64_PMU},
	{"amd64_fam10h_revc", "16,16,4,0", PFMLIB_AMD64_PMU},
	{"amd64_fam15h", "16,21,1,0", PFMLIB_AMD64_PMU},
	{"amd64_k7", "16,6,1,0", PFMLIB_AMD64_PMU},
	{"amd64_k8_revb", "16,15,5,0", PFMLIB_AMD64_PMU},
	{"amd64_k8_revf", "16,15,65,0", PFMLIB_AMD64_PMU},
	{"atom", NULL, PFMLIB_INTEL_ATOM_PMU},
	{"core", NULL, PFMLIB_INTEL_CORE_PMU},
	{"coreduo", NULL, PFMLIB_COREDUO_PMU},
	{"gen_ia32", NULL, PFMLIB_GEN_IA32_PMU},
	{"gen_ia64", NULL, PFMLIB_GEN_IA64_PMU},
	{"i386_p6", NULL, PFMLIB_I386_P6_PMU},
	{"i386_pii", NULL, PFMLIB_INTEL_PII_PMU},
	{"i386_pm", NULL, PFMLIB_I386_PM_PMU},
	{"i386_ppro", NULL, PFMLIB_INTEL_PPRO_PMU},
	{"itanium", NULL, PFMLIB_ITANIUM_PMU},
	{"itanium2", NULL, PFMLIB_ITANIUM2_PMU},
	{"itanium2_q", NULL, PFMLIB_ITANIUM2_PMU},
	{"itanium_q", NULL, PFMLIB_ITANIUM_PMU},
	{"montecito", NULL, PFMLIB_MONTECITO_PMU},
	{"montecito_q", NULL, PFMLIB_MONTECITO_PMU},
	{"nhm", NULL, PFMLIB_INTEL_NHM_PMU},
	{"pentium4", NULL, PFMLIB_PENTIUM4_PMU},
	{"wsm", NULL, PFMLIB_INTEL_WSM_PMU},
	/* itanium2hw needs an Itanium 2 to run on. */
};

union model_in {
	pfmlib_ita_input_param_t ita;
	pfmlib_ita2_input_param_t ita2;
	pfmlib_mont_input_param_t mont;
	pfmlib_amd64_input_param_t amd;
	pfmlib_core_input_param_t core;
	pfmlib_coreduo_input_param_t coreduo;
	pfmlib_intel_atom_input_param_t atom;
	pfmlib_gen_ia32_input_param_t gen_ia32;
	pfmlib_i386_p6_input_param_t p6;
	pfmlib_nhm_input_param_t nhm;
};
union model_out {
	pfmlib_ita_output_param_t ita;
	pfmlib_ita2_output_param_t ita2;
	pfmlib_mont_output_param_t mont;
	pfmlib_amd64_output_param_t amd;
};

static pfmlib_input_param_t in;
static pfmlib_output_param_t out;
static union model_in model_in;
static union model_out model_out;

static int is_ia64(int type)
{
	return type == PFMLIB_ITANIUM_PMU || type == PFMLIB_ITANIUM2_PMU ||
	       type == PFMLIB_MONTECITO_PMU;
}

static unsigned long number(char **at)
{
	unsigned long n = strtoul(*at, at, 0);

	*at += **at == ',';
	return n;
}

/* ---- model-specific input: "key=value" parts into the structure of the PMU ---- */

#define COUNTER(p, i, mask_type)                                                               \
	do {                                                                                   \
		if ((i) < sizeof(p) / sizeof *(p)) {                                           \
			(p)[i].flags = (unsigned)number(&at);                                  \
			(p)[i].cnt_mask = (mask_type)number(&at);                              \
		}                                                                              \
	} while (0)
#define COUNTER_IA64(p, i)                                                                     \
	do {                                                                                   \
		if ((i) < sizeof(p) / sizeof *(p)) {                                           \
			(p)[i].flags = (unsigned)number(&at);                                  \
			(p)[i].thres = (unsigned)number(&at);                                  \
		}                                                                              \
	} while (0)

static void take_counter(int type, unsigned i, char *at)
{
	switch (type) {
	case PFMLIB_ITANIUM_PMU:
		COUNTER_IA64(model_in.ita.pfp_ita_counters, i);
		if (i < PMU_ITA_NUM_COUNTERS)
			model_in.ita.pfp_ita_counters[i].ism = (pfmlib_ita_ism_t)number(&at);
		break;
	case PFMLIB_ITANIUM2_PMU:
		COUNTER_IA64(model_in.ita2.pfp_ita2_counters, i);
		if (i < PMU_ITA2_NUM_COUNTERS)
			model_in.ita2.pfp_ita2_counters[i].ism = (pfmlib_ita2_ism_t)number(&at);
		break;
	case PFMLIB_MONTECITO_PMU:
		COUNTER_IA64(model_in.mont.pfp_mont_counters, i);
		break;
	case PFMLIB_AMD64_PMU:
		COUNTER(model_in.amd.pfp_amd64_counters, i, uint32_t);
		break;
	case PFMLIB_INTEL_CORE_PMU:
		COUNTER(model_in.core.pfp_core_counters, i, unsigned long);
		break;
	case PFMLIB_COREDUO_PMU:
		COUNTER(model_in.coreduo.pfp_coreduo_counters, i, unsigned long);
		break;
	case PFMLIB_INTEL_ATOM_PMU:
		COUNTER(model_in.atom.pfp_intel_atom_counters, i, unsigned long);
		break;
	case PFMLIB_GEN_IA32_PMU:
		COUNTER(model_in.gen_ia32.pfp_gen_ia32_counters, i, unsigned long);
		break;
	case PFMLIB_INTEL_NHM_PMU:
	case PFMLIB_INTEL_WSM_PMU:
		COUNTER(model_in.nhm.pfp_nhm_counters, i, unsigned long);
		break;
	default:
		COUNTER(model_in.p6.pfp_i386_p6_counters, i, int);
		break;
	}
}

#define TAKE_RANGES(r)                                                                         \
	do {                                                                                   \
		(r).rr_used = 1;                                                               \
		(r).rr_flags = (unsigned)number(&at);                                          \
		for (int i = 0; i < 4 && *at; i++) {                                           \
			(r).rr_limits[i].rr_plm = (unsigned)number(&at);                       \
			(r).rr_limits[i].rr_start = number(&at);                               \
			(r).rr_limits[i].rr_end = number(&at);                                 \
		}                                                                              \
	} while (0)

static void take_ranges(int type, int code, char *at)
{
	if (type == PFMLIB_ITANIUM_PMU && code)
		TAKE_RANGES(model_in.ita.pfp_ita_irange);
	else if (type == PFMLIB_ITANIUM_PMU)
		TAKE_RANGES(model_in.ita.pfp_ita_drange);
	else if (type == PFMLIB_ITANIUM2_PMU && code)
		TAKE_RANGES(model_in.ita2.pfp_ita2_irange);
	else if (type == PFMLIB_ITANIUM2_PMU)
		TAKE_RANGES(model_in.ita2.pfp_ita2_drange);
	else if (code)
		TAKE_RANGES(model_in.mont.pfp_mont_irange);
	else
		TAKE_RANGES(model_in.mont.pfp_mont_drange);
}

static void take_ear(int type, int instruction, char *at)
{
	pfmlib_ita_ear_t ita = {.ear_used = 1};
	pfmlib_ita2_ear_t ita2 = {.ear_used = 1};
	pfmlib_mont_ear_t mont = {.ear_used = 1};
	unsigned long mode = number(&at), ism = number(&at);

	ita.ear_mode = (pfmlib_ita_ear_mode_t)mode;
	ita2.ear_mode = (pfmlib_ita2_ear_mode_t)mode;
	mont.ear_mode = (pfmlib_mont_ear_mode_t)mode;
	ita.ear_ism = (pfmlib_ita_ism_t)ism;
	ita2.ear_ism = (pfmlib_ita2_ism_t)ism;
	ita.ear_plm = ita2.ear_plm = mont.ear_plm = (unsigned)number(&at);
	ita.ear_umask = ita2.ear_umask = mont.ear_umask = number(&at);
	if (type == PFMLIB_ITANIUM_PMU)
		*(instruction ? &model_in.ita.pfp_ita_iear : &model_in.ita.pfp_ita_dear) = ita;
	else if (type == PFMLIB_ITANIUM2_PMU)
		*(instruction ? &model_in.ita2.pfp_ita2_iear : &model_in.ita2.pfp_ita2_dear) =
			ita2;
	else
		*(instruction ? &model_in.mont.pfp_mont_iear : &model_in.mont.pfp_mont_dear) =
			mont;
}

static void take_btb(int type, char *at)
{
	unsigned plm = (unsigned)number(&at);
	unsigned char v[6];

	for (int i = 0; i < 6; i++)
		v[i] = (unsigned char)number(&at);
	if (type == PFMLIB_ITANIUM_PMU)
		model_in.ita.pfp_ita_btb = (pfmlib_ita_btb_t){.btb_used = 1,
							      .btb_plm = plm,
							      .btb_tm = v[0],
							      .btb_ptm = v[1],
							      .btb_ppm = v[2],
							      .btb_tar = v[3],
							      .btb_tac = v[4],
							      .btb_bac = v[5]};
	else if (type == PFMLIB_ITANIUM2_PMU)
		model_in.ita2.pfp_ita2_btb = (pfmlib_ita2_btb_t){.btb_used = 1,
								 .btb_plm = plm,
								 .btb_tm = v[0],
								 .btb_ptm = v[1],
								 .btb_ppm = v[2],
								 .btb_ds = v[3],
								 .btb_brt = v[4]};
	else
		model_in.mont.pfp_mont_etb = (pfmlib_mont_etb_t){.etb_used = 1,
								 .etb_plm = plm,
								 .etb_tm = v[0],
								 .etb_ptm = v[1],
								 .etb_ppm = v[2],
								 .etb_brt = v[3]};
}

static void take_opcode(pfmlib_mont_opcm_t *o, char *at)
{
	o->opcm_used = 1;
	o->opcm_mask = number(&at);
	o->opcm_match = number(&at);
	o->opcm_m = (unsigned char)number(&at);
	o->opcm_i = (unsigned char)number(&at);
	o->opcm_f = (unsigned char)number(&at);
	o->opcm_b = (unsigned char)number(&at);
}

static void take_register(int type, int second, unsigned long value)
{
	pfmlib_ita_opcm_t ita = {1, value};
	pfmlib_ita2_opcm_t ita2 = {1, value};

	if (type == PFMLIB_ITANIUM_PMU)
		*(second ? &model_in.ita.pfp_ita_pmc9 : &model_in.ita.pfp_ita_pmc8) = ita;
	else
		*(second ? &model_in.ita2.pfp_ita2_pmc9 : &model_in.ita2.pfp_ita2_pmc8) = ita2;
}

static int take_ia64(int type, const char *key, char *at)
{
	if (!strcmp(key, "ir") || !strcmp(key, "dr")) {
		take_ranges(type, *key == 'i', at);
	} else if (!strcmp(key, "iear") || !strcmp(key, "dear")) {
		take_ear(type, *key == 'i', at);
	} else if (!strcmp(key, "btb")) {
		take_btb(type, at);
	} else if (!strcmp(key, "pmc8") || !strcmp(key, "pmc9")) {
		take_register(type, key[3] == '9', number(&at));
	} else if (!strcmp(key, "opcm1") || !strcmp(key, "opcm2")) {
		take_opcode(key[4] == '1' ? &model_in.mont.pfp_mont_opcm1
					  : &model_in.mont.pfp_mont_opcm2,
			    at);
	} else if (!strcmp(key, "ipear")) {
		model_in.mont.pfp_mont_ipear.ipear_used = 1;
		model_in.mont.pfp_mont_ipear.ipear_plm = (unsigned)number(&at);
		model_in.mont.pfp_mont_ipear.ipear_delay = (unsigned short)number(&at);
	} else {
		return 0;
	}
	return 1;
}

static int take_x86(int type, const char *key, char *at)
{
	if (!strcmp(key, "pebs")) {
		unsigned used = (unsigned)number(&at);

		if (type == PFMLIB_INTEL_CORE_PMU) {
			model_in.core.pfp_core_pebs.pebs_used = used;
		} else if (type == PFMLIB_INTEL_ATOM_PMU) {
			model_in.atom.pfp_intel_atom_pebs_used = used;
		} else {
			model_in.nhm.pfp_nhm_pebs.pebs_used = used;
			model_in.nhm.pfp_nhm_pebs.ld_lat_thres = (unsigned)number(&at);
		}
	} else if (!strcmp(key, "lbr")) {
		model_in.nhm.pfp_nhm_lbr.lbr_used = 1;
		model_in.nhm.pfp_nhm_lbr.lbr_plm = (unsigned)number(&at);
		model_in.nhm.pfp_nhm_lbr.lbr_filter = (unsigned)number(&at);
	} else if (!strcmp(key, "ibsfetch")) {
		model_in.amd.flags |= PFMLIB_AMD64_USE_IBSFETCH;
		model_in.amd.ibsfetch.maxcnt = (unsigned)number(&at);
		model_in.amd.ibsfetch.options = (unsigned)number(&at);
	} else if (!strcmp(key, "ibsop")) {
		model_in.amd.flags |= PFMLIB_AMD64_USE_IBSOP;
		model_in.amd.ibsop.maxcnt = (unsigned)number(&at);
		model_in.amd.ibsop.options = (unsigned)number(&at);
	} else {
		return 0;
	}
	return 1;
}

/* 1: both structures, 2: no input, 4: no output. */
static int take_input(int type, char *text)
{
	char *save = NULL;
	int missing = 0;

	memset(&model_in, 0, sizeof model_in);
	memset(&model_out, 0xa5, sizeof model_out);
	if (!strcmp(text, "-"))
		return 6;
	for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
		char *value = strchr(part, '=');

		if (value)
			*value++ = 0;
		if (!strcmp(part, "noin"))
			missing |= 2;
		else if (!strcmp(part, "noout"))
			missing |= 4;
		else if (value && *part == 'c' && part[1] >= '0' && part[1] <= '9')
			take_counter(type, (unsigned)atoi(part + 1), value);
		else if (value)
			CHECK(take_ia64(type, part, value) || take_x86(type, part, value), "%s",
			      part);
	}
	return missing;
}

/* ---- one question ---- */

static const char *const codes[] = {
	"OK",	      "NOTSUPP",   "INVAL",    "NOINIT",   "NOTFOUND",	 "NOASSIGN",
	"FULL",	      "EVTMANY",   "MAGIC",    "FEATCOMB", "EVTSET",	 "EVTINCOMP",
	"TOOMANY",    "IRRTOOBIG", "IRREMPTY", "IRRINVAL", "IRRTOOMANY", "DRRINVAL",
	"DRRTOOMANY", "BADHOST",   "IRRALIGN", "IRRFLAGS", "UMASK",	 "NOMEM"};

static void take_events(char *text, const char **failed)
{
	char *save = NULL;

	if (!strcmp(text, "-"))
		return;
	for (char *e = strtok_r(text, " ", &save); e; e = strtok_r(NULL, " ", &save)) {
		pfmlib_event_t *event = &in.pfp_events[in.pfp_event_count++];
		char *plm = strrchr(e, ';');
		int rc = PFMLIB_SUCCESS;

		*plm++ = 0;
		if (*e == '#')
			event->event = (unsigned)strtoul(e + 1, NULL, 10);
		else
			rc = CALL(pfm_find_full_event)(e, event);
		if (rc != PFMLIB_SUCCESS) {
			*failed = codes[-rc];
			return;
		}
		event->plm = (unsigned)strtoul(plm, NULL, 0);
	}
}

static size_t put_registers(char *to, const pfmlib_reg_t *r, unsigned n)
{
	size_t used = 0;

	for (unsigned i = 0; i < n; i++, r++)
		used += (size_t)sprintf(to + used, "%s%u=%llx@%llx/%lx", i ? " " : "",
					r->reg_num, (unsigned long long)r->reg_value,
					(unsigned long long)r->reg_addr, r->reg_alt_addr);
	return used;
}

#define PUT_RANGES(name, r)                                                                    \
	do {                                                                                   \
		if ((r).rr_nbr_used) {                                                         \
			used += (size_t)sprintf(to + used, name ":%u off=", (r).rr_nbr_used);  \
			for (int i = 0; i < 4; i++)                                            \
				used += (size_t)sprintf(to + used, "%s%lx/%lx", i ? "," : "",  \
							(r).rr_infos[i].rr_soff,               \
							(r).rr_infos[i].rr_eoff);              \
			for (unsigned i = 0; i < (r).rr_nbr_used; i++)                         \
				used += (size_t)sprintf(                                       \
					to + used, " %u=%llx@%llx", (r).rr_br[i].reg_num,      \
					(unsigned long long)(r).rr_br[i].reg_value,            \
					(unsigned long long)(r).rr_br[i].reg_addr);            \
			to[used++] = ' ';                                                      \
			to[used] = 0;                                                          \
		}                                                                              \
	} while (0)

static void put_output(int type, char *to)
{
	size_t used = 0;

	*to = 0;
	if (type == PFMLIB_ITANIUM_PMU) {
		PUT_RANGES("ir", model_out.ita.pfp_ita_irange);
		PUT_RANGES("dr", model_out.ita.pfp_ita_drange);
	} else if (type == PFMLIB_ITANIUM2_PMU) {
		PUT_RANGES("ir", model_out.ita2.pfp_ita2_irange);
		PUT_RANGES("dr", model_out.ita2.pfp_ita2_drange);
		sprintf(to + used, "fine=%d",
			CALL(pfm_ita2_irange_is_fine)(&out, &model_out.ita2) != 0);
	} else if (type == PFMLIB_MONTECITO_PMU) {
		PUT_RANGES("ir", model_out.mont.pfp_mont_irange);
		PUT_RANGES("dr", model_out.mont.pfp_mont_drange);
		sprintf(to + used, "fine=%d",
			CALL(pfm_mont_irange_is_fine)(&out, &model_out.mont) != 0);
	} else if (type == PFMLIB_AMD64_PMU) {
		sprintf(to, "ibsfetch_base=%u ibsop_base=%u", model_out.amd.ibsfetch_base,
			model_out.amd.ibsop_base);
	}
}

/* "result TAB state TAB pmcs TAB pmds TAB mod_out" of the row's first six columns. */
static void ask(int type, char **column, char *answer)
{
	const char *failed = NULL;
	char pmcs[LINE_MAX_ / 4] = "", pmds[LINE_MAX_ / 4] = "", output[2048] = "";
	int missing, rc, has_out;

	memset(&in, 0, sizeof in);
	memset(&out, 0xa5, sizeof out);
	in.pfp_dfl_plm = (unsigned)strtoul(column[PLM], NULL, 0);
	in.pfp_flags = (unsigned)strtoul(column[FLAGS], NULL, 0);
	take_events(column[EVENTS], &failed);
	if (failed) {
		sprintf(answer, "FIND_%s", failed);
		return;
	}
	for (char *at = column[UNAVAILABLE]; *at && *at != '-';) {
		unsigned n = (unsigned)number(&at);

		if (n < 512)
			pfm_regmask_set(&in.pfp_unavail_pmcs, n);
	}
	missing = take_input(type, column[INPUT]);
	has_out = !(missing & 4) && (is_ia64(type) || type == PFMLIB_AMD64_PMU);
	rc = CALL(pfm_dispatch_events)(&in, missing & 2 ? NULL : &model_in, &out,
				       has_out ? &model_out : NULL);
	if (rc != PFMLIB_SUCCESS) {
		sprintf(answer, "%s\tZ", codes[-rc]);
		return;
	}
	put_registers(pmcs, out.pfp_pmcs, out.pfp_pmc_count);
	put_registers(pmds, out.pfp_pmds, out.pfp_pmd_count);
	if (has_out)
		put_output(type, output);
	sprintf(answer, "OK\tC\t%s\t%s\t%s", pmcs, pmds, output);
}

static long asked;

static void compare(const struct pmu *pmu, char *line)
{
	static char answer[LINE_MAX_];
	char *column[COLUMNS], *want = line;
	char question[512];

	snprintf(question, sizeof question, "%.500s", line);
	for (int i = 0; i < RESULT; i++) {
		column[i] = want;
		want += strcspn(want, "\t");
		*want++ = 0;
	}
	want[strcspn(want, "\n")] = 0;
	ask(pmu->type, column, answer);
	CHECK(strcmp(want, answer) == 0, "%s:\n#  tach  %s\n#  .so.3 %s", question, want,
	      answer);
	asked++;
}

static void one_file(const struct pmu *pmu)
{
	static char line[LINE_MAX_];
	const char *build = getenv("B"), *rows = getenv("LIBPFM3_ROWS");
	int step = rows && !strcmp(rows, "all") ? 1 : SAMPLE;
	char file[64], text[1024];
	long before = asked;
	FILE *f;

	if (pmu->force)
		snprintf(text, sizeof text, "%s", pmu->force);
	else
		snprintf(text, sizeof text, "%d", pmu->type);
	setenv("LIBPFM_FORCE_PMU", text, 1);
	CHECK(CALL(pfm_initialize)() == PFMLIB_SUCCESS, "%s", pmu->tag);
	snprintf(file, sizeof file, "libpfm3/%s.tsv", pmu->tag);
	snprintf(text, sizeof text,
		 "awk 'NR %% %d == 0' '%s' | cut -f1-6 | %s/tach dispatch --batch", step,
		 vectors_path(file), build ? build : "build");
	f = popen(text, "r");
	while (f && fgets(line, sizeof line, f))
		compare(pmu, line);
	CHECK(f && pclose(f) == 0 && asked > before + 50, "%s: %ld rows", pmu->tag,
	      asked - before);
}

static void same_answers(void)
{
	char path[512];
	const char *build = getenv("B");

	snprintf(path, sizeof path, "%s/libpfm3/libpfm.so.3", build ? build : "build");
	three = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(three, "%s", three ? path : dlerror());
	if (!three)
		return;
	for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++)
		one_file(&pmus[i]);
	printf("# %ld rows\n", asked);
}

int main(void)
{
	CASE(same_answers);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * The drop-in libpfm.so.3: sizes and edge cases of the interface (tests/vectors/abi3.txt),
 * its lists of events and masks (tests/vectors/inventory), model-specific structures to
 * registers, and both drop-ins in one process.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib_amd64.h>
#include <perfmon/pfmlib_core.h>
#include <perfmon/pfmlib_i386_p6.h>
#include <perfmon/pfmlib_intel_atom.h>
#include <perfmon/pfmlib_intel_nhm.h>
#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#include <perfmon/pfmlib_pentium4.h>
#include "tests/check.h"
#include "tests/vectors.h"

static void *three, *four;
#define CALL(name) ((__typeof__(&name))dlsym(three, #name))

static pfmlib_input_param_t in;
static pfmlib_output_param_t out;

static const char *const codes[] = {
	"OK",	      "NOTSUPP",   "INVAL",    "NOINIT",   "NOTFOUND",	 "NOASSIGN",
	"FULL",	      "EVTMANY",   "MAGIC",    "FEATCOMB", "EVTSET",	 "EVTINCOMP",
	"TOOMANY",    "IRRTOOBIG", "IRREMPTY", "IRRINVAL", "IRRTOOMANY", "DRRINVAL",
	"DRRTOOMANY", "BADHOST",   "IRRALIGN", "IRRFLAGS", "UMASK",	 "NOMEM"};

static const char *code(int rc)
{
	return rc <= 0 && rc > -24 ? codes[-rc] : "?";
}

static void sizes(void)
{
	CHECK(sizeof(pfmlib_event_t) == 232 && sizeof(pfmlib_reg_t) == 32);
	CHECK(sizeof(pfmlib_regmask_t) == 64 && sizeof(pfmlib_options_t) == 4);
	CHECK(sizeof in == 118912 && sizeof out == 32832);
	CHECK(offsetof(pfmlib_input_param_t, pfp_events) == 16);
	CHECK(offsetof(pfmlib_input_param_t, pfp_unavail_pmcs) == 118800);
	CHECK(offsetof(pfmlib_event_t, unit_masks) == 16);
	CHECK(offsetof(pfmlib_event_t, num_masks) == 208);
	CHECK(offsetof(pfmlib_reg_t, reg_alt_addr) == 24);
	CHECK(offsetof(pfmlib_output_param_t, pfp_pmds) == 16392);
}

static void before_initialize(void)
{
	unsigned n;

	CHECK(CALL(pfm_dispatch_events)(&in, NULL, &out, NULL) == PFMLIB_ERR_NOINIT);
	CHECK(CALL(pfm_get_num_events)(&n) == PFMLIB_ERR_NOINIT);
	CHECK(CALL(pfm_get_version)(&n) == PFMLIB_SUCCESS && n == 0x3000a);
}

/* ---- abi3.txt ---- */
static void register_list(char *to, const pfmlib_regmask_t *mask)
{
	*to = 0;
	for (unsigned i = 0; i < PFMLIB_REG_MAX; i++)
		if (pfm_regmask_isset((pfmlib_regmask_t *)mask, i))
			to += sprintf(to, " %u", i);
}

static void choose(const char *force)
{
	setenv("LIBPFM_FORCE_PMU", force, 1);
	CHECK(CALL(pfm_initialize)() == PFMLIB_SUCCESS, "%s", force);
}

/* A set of one cycle event, which the test then makes invalid. */
static void plain(void)
{
	memset(&in, 0, sizeof in);
	memset(&out, 0xa5, sizeof out);
	CHECK(CALL(pfm_get_cycle_event)(&in.pfp_events[0]) == PFMLIB_SUCCESS);
	in.pfp_event_count = 1;
	in.pfp_dfl_plm = PFM_PLM3;
}

/*
 * Makes the call that a line of the transcript names; returns NULL if the call belongs to
 * another library.
 */
static const char *edge(const char *what)
{
	static char answer[64], model[1 << 16];
	pfmlib_input_param_t *p = &in;
	pfmlib_output_param_t *q = &out;
	void *model_in = NULL, *model_out = NULL;
	unsigned n;
	int rc;

	plain();
	memset(model, 0, sizeof model);
	if (strcmp(what, "all NULL") == 0)
		p = NULL, q = NULL;
	else if (strcmp(what, "in only, no out") == 0)
		q = NULL;
	else if (strcmp(what, "NULL in, NULL mod_in, out") == 0)
		p = NULL;
	else if (strcmp(what, "NULL in, mod_in zero, out") == 0)
		p = NULL, model_in = model;
	else if (strcmp(what, "in, NULL mod_in, out NULL, mod_out") == 0)
		q = NULL, model_out = model;
	else if (strcmp(what, "in, NULL mod_in, out, mod_out") == 0)
		model_out = model;
	else if (strncmp(what, "dfl_plm ", 8) == 0)
		in.pfp_dfl_plm = (unsigned)strtoul(what + 8, NULL, 0);
	else if (strcmp(what, "plm 0xff in event") == 0)
		in.pfp_events[0].plm = 0xff;
	else if (strcmp(what, "count 512") == 0)
		in.pfp_event_count = 512;
	else if (strcmp(what, "count num_cnt+1") == 0) {
		CALL(pfm_get_num_counters)(&n);
		in.pfp_event_count = n + 1;
		for (unsigned i = 1; i <= n; i++)
			in.pfp_events[i] = in.pfp_events[0];
	} else if (strcmp(what, "count 0") == 0)
		in.pfp_event_count = 0;
	else if (strcmp(what, "event idx = num_events") == 0)
		CALL(pfm_get_num_events)(&in.pfp_events[0].event);
	else if (strcmp(what, "bad mask idx") == 0)
		in.pfp_events[0].unit_masks[0] = 47, in.pfp_events[0].num_masks = 1;
	else if (strcmp(what, "unavail bit not implemented (500)") == 0)
		pfm_regmask_set(&in.pfp_unavail_pmcs, 500);
	else if (strcmp(what, "unavail all") == 0)
		memset(&in.pfp_unavail_pmcs, 0xff, sizeof in.pfp_unavail_pmcs);
	else if (strcmp(what, "pfp_flags 0xfe unknown") == 0)
		in.pfp_flags = 0xfe;
	else if (strcmp(what, "ev.flags 0xff") == 0)
		in.pfp_events[0].flags = 0xff;
	else if (strcmp(what, "cycle event twice") == 0)
		in.pfp_events[1] = in.pfp_events[0], in.pfp_event_count = 2;
	else
		return NULL;
	rc = CALL(pfm_dispatch_events)(p, model_in, q, model_out);
	if (!in.pfp_event_count)
		snprintf(answer, sizeof answer, "%s pmcs=%u", code(rc), out.pfp_pmc_count);
	else
		snprintf(answer, sizeof answer, "%s", code(rc));
	return answer;
}

/* Cases where libpfm-3.10 violates its own contract, and our answers. */
static const char *corrected(const char *what, const char *want, const char *force)
{
	if (strncmp(want, "SIGNAL", 6) == 0)
		return "INVAL";
	if (strcmp(what, "count num_cnt+1") == 0)
		return "TOOMANY"; /* as its man page says */
	if (strcmp(what, "unavail all") == 0 && strcmp(force, "63") == 0)
		return "NOASSIGN"; /* libpfm-3.10 assigned PMC16 although it was unavailable */
	if (strcmp(what, "ev.flags 0xff") == 0)
		return "OK"; /* on Nehalem, libpfm-3.10 looked for the flags of the model's
				structure there */
	return want;
}

static void check_init(const char *line, const char *force)
{
	char have[512], want[512], name[64];
	unsigned counters, pmcs, pmds, events, width;
	char *skip = strstr(strcpy(want, line), " pmds=");
	int type;

	CALL(pfm_get_pmu_name)(name, sizeof name);
	CALL(pfm_get_pmu_type)(&type);
	CALL(pfm_get_num_counters)(&counters);
	CALL(pfm_get_num_pmcs)(&pmcs);
	CALL(pfm_get_num_pmds)(&pmds);
	CALL(pfm_get_num_events)(&events);
	CALL(pfm_get_hw_counter_width)(&width);
	/* Core and Atom report 14 and 22 data registers, but list 12 and 20. */
	if (strcmp(force, "36") == 0 || strcmp(force, "39") == 0)
		memcpy(skip + 6, *force == '3' && force[1] == '6' ? "12" : "20", 2);
	snprintf(have, sizeof have,
		 "init OK name=%s type=%d counters=%u pmcs=%u pmds=%u events=%u width=%u "
		 "version=3000a",
		 name, type, counters, pmcs, pmds, events, width);
	CHECK(strcmp(have, want) == 0, "\n#   want %s\n#   have %s", want, have);
}

static void check_registers(const char *line)
{
	char have[2048];
	pfmlib_regmask_t mask;

	if (strncmp(line, "impl pmcs:", 10) == 0)
		CALL(pfm_get_impl_pmcs)(&mask);
	else if (strncmp(line, "impl pmds:", 10) == 0)
		CALL(pfm_get_impl_pmds)(&mask);
	else
		CALL(pfm_get_impl_counters)(&mask);
	register_list(have, &mask);
	CHECK(strcmp(strchr(line, ':') + 1, have) == 0, "\n#   want %s\n#   have %s", line,
	      have);
}

static void check_names(const char *line)
{
	char have[256] = "cycle_event OK ", *at = have + strlen(have);
	pfmlib_event_t e = {0};

	CHECK(CALL(pfm_get_cycle_event)(&e) == 0);
	CALL(pfm_get_full_event_name)(&e, at, 100);
	strcat(have, "; inst_retired OK ");
	at = have + strlen(have);
	CHECK(CALL(pfm_get_inst_retired_event)(&e) == 0);
	CALL(pfm_get_full_event_name)(&e, at, 100);
	CHECK(strcmp(line, have) == 0, "\n#   want %s\n#   have %s", line, have);
}

static void transcript(void)
{
	FILE *f = vectors_open("abi3.txt");
	char line[1024], force[32] = "";
	int n = 0;

	CHECK(f);
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "#####", 5) == 0) {
			snprintf(force, sizeof force, "%s", strstr(line, "FORCE=") + 6);
			choose(force);
		} else if (strncmp(line, "init OK", 7) == 0) {
			check_init(line, force);
		} else if (strncmp(line, "impl ", 5) == 0) {
			check_registers(line);
		} else if (strncmp(line, "cycle_event", 11) == 0) {
			check_names(line);
		} else if (strncmp(line, "strerror(", 9) == 0) {
			const char *text = CALL(pfm_strerror)(atoi(line + 9));

			CHECK(strcmp(strchr(line, '=') + 1, text) == 0, "%s: %s", line, text);
		} else if (strlen(line) > 51) {
			char what[52];
			const char *have;

			snprintf(what, sizeof what, "%.50s", line);
			for (size_t i = strlen(what); i > 0 && what[i - 1] == ' '; i--)
				what[i - 1] = 0;
			have = edge(what);
			if (!have)
				continue;
			CHECK(strcmp(corrected(what, line + 51, force), have) == 0,
			      "%s: %s: want %s, have %s", force, what, line + 51, have);
		}
		n++;
	}
	if (f)
		fclose(f);
	CHECK(n > 900, "%d lines", n);
}

/* ---- inventory ---- */
static uint64_t counters_of(unsigned e)
{
	pfmlib_regmask_t mask;

	CHECK(CALL(pfm_get_event_counters)(e, &mask) == PFMLIB_SUCCESS);
	return mask.bits[0];
}

static void check_counters(unsigned idx, const char *name, uint64_t want)
{
	uint64_t have = counters_of(idx);

	/*
	 * Errors of libpfm-3.10: no result for the architected ia64, and a unit mask's counter
	 * for all other PMUs.
	 */
	if (want == 0)
		want = 0xf0;
	if (want == 0x40000 && strcmp(name, "CPU_CLK_UNHALTED") == 0)
		want = 3;
	CHECK(have == want, "%s: %llx, not %llx", name, (unsigned long long)have,
	      (unsigned long long)want);
}

static void inventory_line(char *line, unsigned *event, unsigned *n)
{
	char name[256], text[256];
	unsigned idx, want;
	unsigned long long counters;
	int have;

	if (sscanf(line, "E\t%u\t%255s\tcode=%x\tcntrs=%llx\tmasks=%*u", &idx, text, &want,
		   &counters) == 4) {
		*event = idx;
		CHECK(CALL(pfm_get_event_name)(idx, name, sizeof name) == 0 &&
			      strcmp(name, text) == 0,
		      "%s", text);
		CHECK(CALL(pfm_get_event_code)(idx, &have) == 0 && (unsigned)have == want,
		      "%s: %x", text, have);
		check_counters(idx, text, counters);
		/* If two events have the same name, the first one is found. */
		CHECK(CALL(pfm_find_event_byname)(text, &idx) == 0 && idx <= *event, "%s",
		      text);
		CALL(pfm_get_event_name)(idx, name, sizeof name);
		CHECK(strcmp(name, text) == 0, "%s", text);
		++*n;
	} else if (sscanf(line, "E\t%u\t%255s", &idx, text) == 2 && strcmp(text, "-") == 0) {
		CHECK(CALL(pfm_get_event_name)(idx, name, sizeof name) == PFMLIB_ERR_BADHOST);
	} else if (sscanf(line, "M\t%u\t%255s\tcode=%x", &idx, text, &want) == 3) {
		unsigned mask;

		CHECK(CALL(pfm_get_event_mask_name)(*event, idx, name, sizeof name) == 0 &&
			      strcmp(name, text) == 0,
		      "%s", text);
		CHECK(CALL(pfm_get_event_mask_code)(*event, idx, &mask) == 0 && mask == want,
		      "%s: %x", text, mask);
		CHECK(CALL(pfm_find_event_mask)(*event, text, &mask) == 0 && mask == idx,
		      "%u %s: %u, not %u", *event, text, mask, idx);
		++*n;
	}
}

/* Answers of libpfm-3.10's own table of models and steppings. */
static void amd_revisions(void)
{
	static const struct {
		const char *force, *name;
	} cpus[] = {
		{"16,15,5,1", "AMD64 (K8 RevB)"},
		{"16,15,5,2", "AMD64 (K8 RevC)"},
		{"16,15,4,0", "AMD64 (K8 RevB)"},
		{"16,15,4,8", "AMD64 (K8 RevC)"},
		{"16,15,7,0", "AMD64 (K8 RevC)"},
		{"16,15,12,0", "AMD64 (K8 RevC)"},
		{"16,15,31,0", "AMD64 (K8 RevD)"},
		{"16,15,35,2", "AMD64 (K8 RevE)"},
		{"16,15,65,2", "AMD64 (K8 RevF)"},
		{"16,15,193,2", "AMD64 (K8 RevF)"},
		{"16,15,104,1", "AMD64 (K8 RevG)"},
		{"16,15,144,1", "AMD64 (K8 RevB)"},
		{"16,16,7,0", "AMD64 (Family 10h RevB, Barcelona)"},
		{"16,16,10,0", "AMD64 (Family 10h RevE)"},
		{"16,16,11,0", "AMD64 (Family 10h RevB, Barcelona)"},
		{"16,15,65", "AMD64 (Family 10h RevB, Barcelona)"},
		{"16", "AMD64 (Family 10h RevB, Barcelona)"},
	};

	for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
		char name[64] = "";

		choose(cpus[i].force);
		CHECK(CALL(pfm_get_pmu_name)(name, sizeof name) == 0 &&
			      strcmp(name, cpus[i].name) == 0,
		      "%s: %s", cpus[i].force, name);
	}
}

static void inventory(void)
{
	static const char *const lists[][2] = {
		{"1", "gen_ia64"},
		{"2", "itanium"},
		{"3", "itanium2"},
		{"4", "montecito"},
		{"32", "i386_p6"},
		{"33", "pentium4"},
		{"34", "coreduo"},
		{"35", "i386_pm"},
		{"36", "core"},
		{"37", "i386_ppro"},
		{"38", "i386_pii"},
		{"39", "atom"},
		{"40", "nhm"},
		{"41", "wsm"},
		{"63", "gen_ia32"},
		{"16,6,6,2", "amd64_k7"},
		{"16,15,5,1", "amd64_k8_revb"},
		{"16,15,65,2", "amd64_k8_revf"},
		{"16,16,2,2", "amd64_fam10h_revb"},
		{"16,16,4,2", "amd64_fam10h_revc"},
		{"16,21,1,2", "amd64_fam15h"},
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		char file[64], line[512];
		unsigned event = 0, before = n;
		FILE *f;

		snprintf(file, sizeof file, "inventory/libpfm3_%s.txt", lists[i][1]);
		f = vectors_open(file);
		choose(lists[i][0]);
		while (f && fgets(line, sizeof line, f))
			inventory_line(line, &event, &n);
		if (f)
			fclose(f);
		CHECK(n > before, "%s", lists[i][1]);
	}
	CHECK(n > 5000, "%u rows", n);
}

/* Properties of ia64's events. */
static void ia64_qualifiers_match_the_vectors(void)
{
	FILE *f = vectors_open("inventory/libpfm3_montecito_qual.txt");
	char line[512], name[128];
	int n = 0, w[13];

	choose("4");
	while (f && fgets(line, sizeof line, f)) {
		pfmlib_mont_ear_mode_t mode = (pfmlib_mont_ear_mode_t)-1;
		unsigned idx, maxincr = 0;
		unsigned long umask = 99;
		int grp = 99, set = 99, type = 99;

		if (sscanf(line,
			   "%127s iarr=%d darr=%d opcm=%d ear=%d dear=%d iear=%d umask=%x "
			   "maxincr=%d earmode=%d etb=%d grp=%d set=%d type=%d",
			   name, &w[0], &w[1], &w[2], &w[3], &w[4], &w[5], &w[6], &w[7], &w[8],
			   &w[9], &w[10], &w[11], &w[12]) != 14)
			continue;
		CHECK(CALL(pfm_find_event_byname)(name, &idx) == 0, "%s", name);
		CALL(pfm_mont_get_ear_mode)(idx, &mode);
		CALL(pfm_mont_get_event_maxincr)(idx, &maxincr);
		CALL(pfm_mont_get_event_umask)(idx, &umask);
		CALL(pfm_mont_get_event_group)(idx, &grp);
		CALL(pfm_mont_get_event_set)(idx, &set);
		CALL(pfm_mont_get_event_type)(idx, &type);
		CHECK(CALL(pfm_mont_support_iarr)(idx) == w[0] &&
			      CALL(pfm_mont_support_darr)(idx) == w[1] &&
			      CALL(pfm_mont_support_opcm)(idx) == w[2],
		      "%s", name);
		CHECK(CALL(pfm_mont_is_ear)(idx) == w[3] &&
			      CALL(pfm_mont_is_dear)(idx) == w[4] &&
			      CALL(pfm_mont_is_iear)(idx) == w[5] &&
			      CALL(pfm_mont_is_etb)(idx) == w[9] && (int)mode == w[8],
		      "%s: mode %d", name, (int)mode);
		CHECK((int)umask == w[6] && (int)maxincr == w[7] && type == w[12],
		      "%s: umask %lu, maxincr %u, type %d", name, umask, maxincr, type);
		/*
		 * The library returns 7 although its header promises 0 for an event without a
		 * group.
		 */
		CHECK(grp == (w[10] == 7 ? 0 : w[10]) && set == w[11], "%s: group %d, set %d",
		      name, grp, set);
		n++;
	}
	if (f)
		fclose(f);
	CHECK(n == 637, "%d events", n);
}

/* ---- model-specific structures: answers of libpfm-3.10 ---- */
static void expect(const char *pmcs, void *model_in, void *model_out)
{
	char have[2048] = "", *at = have;
	int rc = CALL(pfm_dispatch_events)(&in, model_in, &out, model_out);

	CHECK(rc == 0, "%s", code(rc));
	for (unsigned i = 0; i < out.pfp_pmc_count; i++)
		at += sprintf(at, "%s%u=%llx", i ? " " : "", out.pfp_pmcs[i].reg_num,
			      out.pfp_pmcs[i].reg_value);
	CHECK(strcmp(have, pmcs) == 0, "\n#   want %s\n#   have %s", pmcs, have);
}

static void add_named_event(const char *string, unsigned plm)
{
	pfmlib_event_t *e = &in.pfp_events[in.pfp_event_count++];
	int rc = CALL(pfm_find_full_event)(string, e);

	CHECK(rc == 0, "%s: %s", string, code(rc));
	e->plm = plm;
}

static void start(const char *force, unsigned plm)
{
	choose(force);
	memset(&in, 0, sizeof in);
	in.pfp_dfl_plm = plm;
}

static void model_intel(void)
{
	pfmlib_nhm_input_param_t nhm = {0};
	pfmlib_core_input_param_t core = {0};
	pfmlib_intel_atom_input_param_t atom = {0};
	pfmlib_i386_p6_input_param_t p6 = {0};

	start("40", 9);
	add_named_event("LAST_LEVEL_CACHE_REFERENCES", 0);
	add_named_event("OFFCORE_REQUESTS_SQ_FULL", 0);
	add_named_event("IO_TRANSACTIONS", 8);
	add_named_event("INST_RETIRED:X87", 0);
	nhm.pfp_nhm_counters[0].flags = 7;
	nhm.pfp_nhm_counters[1].flags = 5;
	nhm.pfp_nhm_counters[1].cnt_mask = 9;
	for (int i = 0; i < 2; i++) {
		nhm.pfp_nhm_counters[0].cnt_mask = 0;
		nhm.pfp_nhm_pebs.pebs_used = 1;
		nhm.pfp_nhm_lbr.lbr_used = 1;
		nhm.pfp_nhm_lbr.lbr_plm = 8;
		nhm.pfp_nhm_lbr.lbr_filter = 0xdb;
	}
	expect("0=f74f2e 1=9f301b2 2=51016c 3=5302c0 17=8 30=d9", &nhm, NULL);
	CHECK(out.pfp_pmd_count == 37 && out.pfp_pmds[4].reg_num == 31);
	nhm.pfp_nhm_counters[2].flags = 0x100;
	CHECK(CALL(pfm_dispatch_events)(&in, &nhm, &out, NULL) == PFMLIB_ERR_INVAL);
	CHECK(CALL(pfm_nhm_is_pebs)(&in.pfp_events[3]) == 1);
	CHECK(CALL(pfm_nhm_is_pebs)(&in.pfp_events[0]) == 0);
	CHECK(CALL(pfm_nhm_is_uncore)(&in.pfp_events[0]) == 0);

	start("36", 9);
	add_named_event("BACLEARS", 0);
	add_named_event("CYCLES_DIV_BUSY", 8);
	core.pfp_core_pebs.pebs_used = 1;
	/* No register is written twice, and PEBS is off if no event needs it. */
	CHECK(CALL(pfm_dispatch_events)(&in, &core, &out, NULL) == 0);
	CHECK(out.pfp_pmc_count >= 2 && out.pfp_pmds[0].reg_num == 1);
	start("36", 9);
	add_named_event("RS_UOPS_DISPATCHED_CYCLES:PORT_0", 0);
	add_named_event("BUS_TRANS_IFETCH:ALL_AGENTS", 0);
	memset(&core, 0, sizeof core);
	core.pfp_core_counters[0].flags = 2;
	core.pfp_core_counters[1].cnt_mask = 1;
	expect("0=5701a1 1=1536068", &core, NULL);

	start("39", 9);
	add_named_event("PAGE_WALKS:CYCLES", 1);
	add_named_event("LAST_LEVEL_CACHE_REFERENCES", 8);
	atom.pfp_intel_atom_counters[1].flags = 7;
	expect("0=52030c 1=f54f2e", &atom, NULL);

	start("32", 8);
	add_named_event("BR_INST_RETIRED", 0);
	add_named_event("BR_INST_RETIRED", 0);
	p6.pfp_i386_p6_counters[0].flags = 2;
	p6.pfp_i386_p6_counters[0].cnt_mask = (pfm_i386_p6_cnt_mask_t)153;
	p6.pfp_i386_p6_counters[1].flags = 1;
	expect("0=995500c4 1=9100c4", &p6, NULL);
}

static void model_amd(void)
{
	pfmlib_amd64_input_param_t m = {0};
	pfmlib_amd64_output_param_t got;

	memset(&got, 0xa5, sizeof got);
	start("16,16,4,2", 9);
	add_named_event("DATA_CACHE_REFILLS_FROM_SYSTEM:OWNED", 8);
	add_named_event("RETIRED_CPUID_INSTRUCTIONS", 0);
	add_named_event("INSTRUCTION_CACHE_REFILLS_FROM_SYSTEM", 8);
	pfm_regmask_set(&in.pfp_unavail_pmcs, 3);
	m.pfp_amd64_counters[0].flags = 5;
	m.flags = PFMLIB_AMD64_USE_IBSOP;
	m.ibsop.maxcnt = 862823;
	m.ibsop.options = IBS_OPTIONS_UOPS;
	expect("0=10000d10843 1=530027 2=510083 7=ad2a6", &m, &got);
	CHECK(got.ibsfetch_base == 0 && got.ibsop_base == 3 && !got.reserved[6]);
	CHECK(CALL(pfm_dispatch_events)(&in, NULL, &out, NULL) == 0);
}

static void model_itanium(void)
{
	pfmlib_ita_input_param_t m = {0};
	pfmlib_ita_output_param_t got;

	start("2", 8);
	in.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	add_named_event("L2_DATA_REFERENCES_WRITES", 0);
	add_named_event("DATA_EAR_EVENTS", 0);
	add_named_event("L2_REFERENCES", 0);
	add_named_event("LOADS_RETIRED", 0);
	m.pfp_ita_counters[1].thres = 7;
	m.pfp_ita_irange.rr_used = 1;
	m.pfp_ita_irange.rr_flags = 2;
	m.pfp_ita_irange.rr_limits[0].rr_start = 0xa00000010198e700;
	m.pfp_ita_irange.rr_limits[0].rr_end = 0xa00000010198eb00;
	m.pfp_ita_pmc9.opcm_used = 1;
	m.pfp_ita_pmc9.pmc_val = 0x5ba6450846f763b6;
	m.pfp_ita_dear.ear_used = 1;
	m.pfp_ita_dear.ear_plm = 9;
	m.pfp_ita_dear.ear_umask = 6;
	expect("4=26968 5=706768 6=6868 7=6c68 11=10060049 9=5ba6450846f763b6 13=0", &m, &got);
	CHECK(got.pfp_ita_irange.rr_nbr_used == 6);
	CHECK(got.pfp_ita_irange.rr_br[5].reg_value == 0x8ffffffffffff00);
	CHECK(got.pfp_ita_drange.rr_nbr_used == 0);
}

static void model_itanium2(void)
{
	pfmlib_ita2_input_param_t m = {0};
	pfmlib_ita2_output_param_t got;

	start("3", 9);
	add_named_event("DATA_EAR_TLB_L2DTLB_OR_VHPT", 0);
	m.pfp_ita2_irange.rr_used = 1;
	m.pfp_ita2_irange.rr_limits[0].rr_plm = 2;
	m.pfp_ita2_irange.rr_limits[0].rr_start = 0x4000000000eeb8c0;
	m.pfp_ita2_irange.rr_limits[0].rr_end = 0x4000000000ef7190;
	m.pfp_ita2_drange.rr_used = 1;
	m.pfp_ita2_drange.rr_limits[0].rr_start = 0x4000000000a23e00;
	m.pfp_ita2_drange.rr_limits[0].rr_end = 0x4000000000a23e04;
	m.pfp_ita2_drange.rr_limits[1].rr_plm = 2;
	m.pfp_ita2_drange.rr_limits[1].rr_start = 0x20000002dea5e000;
	m.pfp_ita2_drange.rr_limits[1].rr_end = 0x20000002dea5e800;
	m.pfp_ita2_drange.rr_limits[2].rr_plm = 4;
	m.pfp_ita2_drange.rr_limits[2].rr_start = 0x40000000008b3d48;
	m.pfp_ita2_drange.rr_limits[2].rr_end = 0x40000000008b7d4e;
	expect("4=c829 11=60089 14=db4 13=1e078f6f6f6e6 8=ffffffff3ffffffc 15=ffffffff 12=0",
	       &m, &got);
	CHECK(got.pfp_ita2_irange.rr_nbr_used == 2);
	CHECK(got.pfp_ita2_irange.rr_infos[0].rr_soff == 0xb8c0);
	CHECK(got.pfp_ita2_drange.rr_nbr_used == 8);
	CHECK(got.pfp_ita2_drange.rr_infos[2].rr_eoff == 0x2b2);
	CHECK(CALL(pfm_ita2_irange_is_fine)(&out, &got) == 0);
	/* There is no buffer for the result. */
	CHECK(CALL(pfm_dispatch_events)(&in, &m, &out, NULL) == PFMLIB_ERR_INVAL);
}

static void model_montecito(void)
{
	pfmlib_mont_input_param_t m = {0};
	pfmlib_mont_output_param_t got;

	start("4", 8);
	add_named_event("IA64_TAGGED_INST_RETIRED_IBRP2_PMC32_33", 8);
	m.pfp_mont_opcm1 = (pfmlib_mont_opcm_t){.opcm_used = 1,
						.opcm_m = 1,
						.opcm_b = 1,
						.opcm_mask = 0x1e9dbc885b5,
						.opcm_match = 0x14638bc2aa5};
	m.pfp_mont_opcm2 = (pfmlib_mont_opcm_t){.opcm_used = 1,
						.opcm_i = 1,
						.opcm_f = 1,
						.opcm_mask = 0x1e60f2215b1,
						.opcm_match = 0x1c8f7073baa};
	m.pfp_mont_iear = (pfmlib_mont_ear_t){1, PFMLIB_MONT_EAR_TLB_MODE, 2, 0x2b};
	m.pfp_mont_dear = (pfmlib_mont_ear_t){1, PFMLIB_MONT_EAR_CACHE_MODE, 12, 8};
	expect("4=2020808 37=562 40=208000c 32=20901e9dbc885b5 33=14638bc2aa5 "
	       "34=601e60f2215b1 35=1c8f7073baa",
	       &m, &got);
	CHECK(got.pfp_mont_irange.rr_nbr_used == 0);
}

/* There is no input; the header's unions decode the result. */
static void model_pentium4(void)
{
	pentium4_escr_value_t escr;
	pentium4_cccr_value_t cccr;

	start("33", 8);
	add_named_event("INSTR_RETIRED:NBOGUSNTAG", 0);
	expect("20=4000204 29=4039000", NULL, NULL);
	escr.val = (unsigned long)out.pfp_pmcs[0].reg_value;
	cccr.val = (unsigned long)out.pfp_pmcs[1].reg_value;
	CHECK(escr.bits.event_select == 2 && escr.bits.event_mask == 1);
	CHECK(escr.bits.t0_usr && !escr.bits.t0_os && !escr.bits.t1_usr &&
	      !escr.bits.tag_enable);
	CHECK(cccr.bits.enable && cccr.bits.escr_select == 4 && cccr.bits.active_thread == 3);
	CHECK(cccr.bits.ovf_pmi_t0 && !cccr.bits.compare && !cccr.bits.overflow);
}

/* ---- names and buffers ---- */
static void names(void)
{
	pfmlib_event_t e = {0};
	char name[64], *text = NULL;
	unsigned idx;
	size_t len;

	start("36", 8);
	CHECK(CALL(pfm_find_full_event)("load_block:sta:std", &e) == 0 && e.num_masks == 2);
	CHECK(CALL(pfm_get_full_event_name)(&e, name, sizeof name) == 0 &&
		      strcmp(name, "LOAD_BLOCK:STA:STD") == 0,
	      "%s", name);
	CHECK(CALL(pfm_get_full_event_name)(&e, name, 18) == PFMLIB_ERR_FULL);
	CHECK(CALL(pfm_get_full_event_name)(&e, name, 19) == 0);
	CHECK(CALL(pfm_find_full_event)("LOAD_BLOCK", &e) == PFMLIB_ERR_UMASK);
	CHECK(CALL(pfm_find_full_event)("LOAD_BLOCK:", &e) == PFMLIB_ERR_UMASK);
	CHECK(CALL(pfm_find_full_event)("NOTHING", &e) == PFMLIB_ERR_NOTFOUND);
	CHECK(CALL(pfm_find_event)("LOAD_BLOCK", &idx) == 0);
	CHECK(CALL(pfm_get_event_name)(idx, name, 10) == PFMLIB_ERR_FULL);
	CHECK(CALL(pfm_find_event)("0x3", &e.event) == 0 && e.event == idx);
	CHECK(CALL(pfm_find_event)("0x3x", &idx) == PFMLIB_ERR_INVAL);
	CHECK(CALL(pfm_get_max_event_name_len)(&len) == 0 && len > 30);
	CHECK(CALL(pfm_get_event_description)(idx, &text) == 0 && text && *text);
	free(text);
	CHECK(CALL(pfm_is_pmu_supported)(PFMLIB_INTEL_WSM_PMU) == 0);
	CHECK(CALL(pfm_is_pmu_supported)(99) == PFMLIB_ERR_NOTSUPP);
	CHECK(CALL(pfm_force_pmu)(PFMLIB_AMD64_PMU) == 0);
	CHECK(CALL(pfm_get_pmu_name)(name, 10) == 0 && strcmp(name, "AMD64 (Fa") == 0);
}

/* Both libraries export these names: each library calls its own functions. */
static void each_library_calls_its_own_functions(void)
{
	int (*init4)(void), (*version4)(void);
	const char *(*strerror4)(int);
	unsigned version;

	if (!four)
		SKIP("no libpfm.so.4");
	init4 = (int (*)(void))dlsym(four, "pfm_initialize");
	version4 = (int (*)(void))dlsym(four, "pfm_get_version");
	strerror4 = (const char *(*)(int))dlsym(four, "pfm_strerror");
	setenv("LIBPFM_FORCE_PMU", "40", 1);
	CHECK(CALL(pfm_initialize)() == 0);
	setenv("LIBPFM_FORCE_PMU", "nhm", 1);
	CHECK(init4() == 0);
	CHECK(CALL(pfm_get_version)(&version) == 0 && version >> 16 == 3);
	CHECK(version4() >> 16 == 4);
	CHECK(strcmp(strerror4(-5), CALL(pfm_strerror)(-5)) != 0);
	plain();
	CHECK(CALL(pfm_dispatch_events)(&in, NULL, &out, NULL) == 0);
}

int main(void)
{
	const char *build = getenv("B");
	char path[256];

	if (!build)
		build = "build";
	snprintf(path, sizeof path, "%s/libpfm3/libpfm.so.3", build);
	/*
	 * One library is loaded with global symbols: the other must still call its own
	 * functions.
	 */
	three = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	snprintf(path, sizeof path, "%s/libpfm4/libpfm.so.4", build);
	four = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!three) {
		printf("not ok libpfm3: %s\n", dlerror());
		return 1;
	}
	CASE(sizes);
	CASE(before_initialize);
	CASE(transcript);
	CASE(inventory);
	CASE(amd_revisions);
	CASE(ia64_qualifiers_match_the_vectors);
	CASE(model_intel);
	CASE(model_amd);
	CASE(model_itanium);
	CASE(model_itanium2);
	CASE(model_montecito);
	CASE(model_pentium4);
	CASE(names);
	CASE(each_library_calls_its_own_functions);
	return check_done();
}

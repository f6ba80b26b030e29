/* SPDX-License-Identifier: MIT */
/*
 * Boxes of the uncore for which this library differs from libpfm-4 (tests/vectors has the
 * answers of both), the boxes of a machine, and the interfaces that accept their events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tach.h>
#include "core/event/event.h"
#include "tests/check.h"

static char root[] = "/tmp/tach-uncore.XXXXXX";

static void device(const char *name, int type)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, name);
	mkdir(path, 0700);
	strcat(path, "/type");
	f = fopen(path, "w");
	CHECK(f != NULL);
	if (f) {
		fprintf(f, "%d\n", type);
		fclose(f);
	}
}

static int encode(const char *string, enum tach_os os, struct tach_event *e,
		  struct tach_error *err)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = os;
	opt.host = "";
	opt.sysfs = root;
	memset(e, 0, sizeof *e);
	return tach_event_encode(string, &opt, e, err);
}

static void perf_words(void)
{
	static const struct {
		const char *string;
		uint64_t config, config1;
		const char *says;
	} good[] = {
		/* the kernel's filters for header matches are umask bits 32 and up */
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:dnid=1", 0, 0, ""},
		/* occupancy bits stay if the threshold follows them */
		{"icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:occ_e:t=3", 0x83004080, 0,
		 ":t=3:occ_i=0:occ_e=1"},
		{"nhm_unc::UNC_DRAM_OPEN:CH0:e:c=2", 0x2040160, 0, ":e=1"},
		{"ivbep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:NID:nf=3:STATE_M", 0x4534, 0x300100000,
		 ":nf=3"},
	};
	struct tach_event e, before;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		int rc = encode(good[i].string, TACH_OS_PERF_EXT, &e, &err);

		CHECK(rc == 0, "%s: %s", good[i].string, err.text);
		CHECK(!good[i].config || e.config == good[i].config, "%s: %llx", good[i].string,
		      (unsigned long long)e.config);
		CHECK(e.config1 == good[i].config1, "%s: %llx", good[i].string,
		      (unsigned long long)e.config1);
		CHECK(strstr(e.name, good[i].says) != NULL, "%s", e.name);
		CHECK(e.type == 77 && !e.exclude_kernel && !e.exclude_user, "%s", e.name);
		before = e;
		CHECK(encode(before.name, TACH_OS_PERF_EXT, &e, &err) == 0, "%s", before.name);
		CHECK(memcmp(&before, &e, sizeof e) == 0, "%s", before.name);
	}
	CHECK(encode(good[0].string, TACH_OS_PERF, &e, NULL) == 0 && e.config >> 32 == 0x2100);
}

static void refusals(void)
{
	static const struct {
		const char *string, *says;
		int code, column;
	} bad[] = {
		{"skx_unc_imc9::UNC_M_CAS_COUNT:RD", "did you mean skx_unc_imc",
		 TACH_ERR_NOTFOUND, 1},
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RDD", "did you mean RD", TACH_ERR_ATTR, 31},
		{"spr_unc_imc0::UNC_M_CAS_COUNT:RD:WR", "", TACH_ERR_FEATCOMB, 34},
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RD:t=256", "t must be 0 .. 255",
		 TACH_ERR_ATTR_VALUE, 34},
		{"skx_unc_cha0::UNC_C_CLOCKTICKS:t=256:e", "t must be 0 .. 255",
		 TACH_ERR_ATTR_VALUE, 32},
		{"snbep_unc_imc0::UNC_M_CAS_COUNT:0x100:t=1", "a umask has at most 8 bits",
		 TACH_ERR_ATTR, 33},
		{"hswep_unc_pcu::UNC_P_FREQ_BAND0_CYCLES", "ff= must be given", TACH_ERR_ATTR,
		 0},
		{"hswep_unc_cbo0::UNC_C_TOR_INSERTS:NID_ALL", "nf= must be given here",
		 TACH_ERR_ATTR, 0},
		{"hswep_unc_cbo0::UNC_C_TOR_INSERTS:ALL:nf=1",
		 "nf= needs a umask that asks for it", TACH_ERR_ATTR, 0},
		{"nhm_unc::UNC_QHL_ADDRESS_CONFLICTS",
		 "UNC_QHL_ADDRESS_CONFLICTS needs a umask of group 0: 2WAY, 3WAY",
		 TACH_ERR_UMASK, 0},
		{"nhm_unc::UNC_DRAM_OPEN",
		 "UNC_DRAM_OPEN needs a umask of group 0: CH0, CH1, CH2", TACH_ERR_UMASK, 0},
		{"snbep_unc_cbo0::UNC_C_TOR_INSERTS:MISS_OPCODE",
		 "UNC_C_TOR_INSERTS needs a umask of group 1: OPC_RFO, OPC_CRD, OPC_DRD, ...",
		 TACH_ERR_UMASK, 0},
		{"snbep_unc_cbo0::UNC_C_MISC",
		 "UNC_C_MISC needs a umask of group 0: RSPI_WAS_FSE, WC_ALIASING, STARTED, ...",
		 TACH_ERR_UMASK, 0},
		{"skx_unc_cha0::UNC_C_TOR_INSERTS:OPC0_SNP_CUR",
		 "UNC_C_TOR_INSERTS also needs a umask of group 1", TACH_ERR_FEATCOMB, 0},
		{"skx_unc_cha0::UNC_C_TOR_INSERTS", "UNC_C_TOR_INSERTS needs a umask",
		 TACH_ERR_ATTR, 0},
		{"ivb_unc_cbo0::UNC_CBO_CACHE_LOOKUP:READ_M:WRITE_M",
		 "WRITE_M and the umask before: one of them stands alone", TACH_ERR_FEATCOMB,
		 43},
		{"nhm_unc::UNC_QMC_WRITES:FULL_CH0:PARTIAL_CH0",
		 "PARTIAL_CH0 is of another group than the umask before", TACH_ERR_FEATCOMB,
		 34},
		{"hswep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:READ",
		 "READ and the umask before: one of them stands alone", TACH_ERR_FEATCOMB, 40},
		{"hswep_unc_cbo0::UNC_C_LLC_VICTIMS:M_STATE:STATE_E",
		 "STATE_E and the umask before: one of them stands alone", TACH_ERR_FEATCOMB,
		 43},
		{"hswep_unc_cbo0::UNC_C_LLC_VICTIMS:STATE_E:M_STATE",
		 "M_STATE and the umask before: one of them stands alone", TACH_ERR_FEATCOMB,
		 43},
		{"hswep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:DATA_READ",
		 "DATA_READ cannot be combined with another umask of its group",
		 TACH_ERR_FEATCOMB, 40},
		/* Both states use the same field. */
		{"bdx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:CORES_C3",
		 "CORES_C3 cannot be combined with another umask of its group",
		 TACH_ERR_FEATCOMB, 51},
		{"bdx_unc_sbo3::UNC_S_CLOCKTICKS", "the kernel has no PMU uncore_sbox_3",
		 TACH_ERR_NOTSUPP, 0},
	};
	struct tach_event e;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		int rc = encode(bad[i].string, TACH_OS_PERF_EXT, &e, &err);

		CHECK(rc == bad[i].code, "%s: %d %s", bad[i].string, rc, err.text);
		CHECK(strstr(err.text, bad[i].says) && err.column == bad[i].column,
		      "%s: column %d: %s", bad[i].string, err.column, err.text);
		CHECK(!strstr(bad[i].says, "group") || strcmp(err.text, bad[i].says) == 0, "%s",
		      err.text);
	}
}

/*
 * A second and a third filter word become two fields of perf, or share one; pinning needs no
 * word.
 */
static void filters(void)
{
	static const struct {
		const char *string;
		uint64_t config, config1, config2;
		uint32_t has;
	} cases[] = {
		{"skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0:pinned:e", 0x40304, 0, 0, 0},
		{"hswep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:cf=3", 0x80534, 0xfe0006, 0,
		 TACH_EVENT_HAS_CONFIG1},
		{"hswep_unc_cbo0::UNC_C_TOR_INSERTS:NID_ALL:nf=3", 0x4835, 0, 3,
		 TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2},
		{"hswep_unc_cbo0::UNC_C_TOR_INSERTS:OPCODE:OPC_RFO", 0x135,
		 UINT64_C(0x18000000) << 32, 0, TACH_EVENT_HAS_CONFIG1},
	};
	struct tach_event e;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		int rc = encode(cases[i].string, TACH_OS_PERF_EXT, &e, &err);

		CHECK(rc == 0, "%s: %s", cases[i].string, err.text);
		CHECK(e.config == cases[i].config && e.config1 == cases[i].config1 &&
			      e.config2 == cases[i].config2,
		      "%s: %llx %llx %llx", cases[i].string, (unsigned long long)e.config,
		      (unsigned long long)e.config1, (unsigned long long)e.config2);
		CHECK((e.has & (TACH_EVENT_HAS_CONFIG1 | TACH_EVENT_HAS_CONFIG2)) ==
			      cases[i].has,
		      "%s", cases[i].string);
	}
}

/* The kernel's name for a single box has no number. */
static void other_names(void)
{
	struct tach_event e;

	CHECK(encode("hswep_unc_sbo0::UNC_S_CLOCKTICKS", TACH_OS_PERF, &e, NULL) == 0 &&
	      e.type == 78);
	CHECK(encode("skx_unc_irp::UNC_I_CLOCKTICKS", TACH_OS_PERF, &e, NULL) == 0 &&
	      e.type == 79);
}

static int has(const uint64_t *boxes, const char *name)
{
	return tach__box_in(boxes, tach__pmu_find(name, strlen(name)));
}

static void boxes_of_a_machine_are_found(void)
{
	struct tach__cpu skx = {.vendor = "GenuineIntel", .family = 6, .model = 0x55};
	struct tach__cpu nhm = {.vendor = "GenuineIntel", .family = 6, .model = 0x1a};
	struct tach__cpu zen = {.vendor = "AuthenticAMD", .family = 6, .model = 0x1a};
	uint64_t boxes[TACH__BOX_WORDS] = {0};
	char path[128], command[300];

	snprintf(path, sizeof path, "%s/sys/bus/event_source/devices", root);
	snprintf(command, sizeof command, "mkdir -p %s/uncore_imc_0 %s/uncore_imc_5", path,
		 path);
	CHECK(system(command) == 0);
	tach__boxes_of(TACH__X86, &skx, 1, root, boxes);
	CHECK(has(boxes, "skx_unc_imc0") && has(boxes, "skx_unc_imc5"));
	CHECK(!has(boxes, "skx_unc_imc1") && !has(boxes, "icx_unc_imc0"));
	memset(boxes, 0, sizeof boxes);
	tach__boxes_of(TACH__X86, &zen, 1, root, boxes);
	CHECK(!has(boxes, "nhm_unc"), "of another vendor");
	tach__boxes_of(TACH__X86, &nhm, 1, root, boxes);
	CHECK(has(boxes, "nhm_unc") && !has(boxes, "wsm_unc"));
}

static int pmu_named(const char *name)
{
	return tach__pmu_find(name, strlen(name));
}

/* Several boxes are named rapl: the name means this machine's box, if it has one. */
static void one_name_of_several(void)
{
	static const struct {
		const char *has[2], *means;
	} machines[] = {
		{{"rapl_skl", "rapl_skl"}, "rapl_skl"},
		{{"rapl_srv", "rapl_srv"}, "rapl_srv"},
		{{"rapl_skl", "rapl"}, "rapl"},
		{{"nhm_unc", "nhm_unc"}, "rapl"},
	};
	int skl = pmu_named("skl");

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
		struct tach__caller caller = {.search = &skl, .nsearch = 1};
		uint64_t boxes[TACH__BOX_WORDS] = {0};
		const char *means = machines[i].means;
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc, there;

		for (int k = 0; k < 2; k++) {
			int box = pmu_named(machines[i].has[k]) - tach__npmus();

			boxes[box / 64] |= 1ull << box % 64;
		}
		caller.boxes = boxes;
		opt.os = TACH_OS_NONE;
		rc = tach__event_encode("rapl::RAPL_ENERGY_PKG", &opt, &caller, &e, &err);
		CHECK(rc == 0 && e.pmu == pmu_named(means), "%s: pmu %d, %s", means, e.pmu,
		      err.text);
		CHECK(strncmp(e.name, means, strlen(means)) == 0 &&
			      e.name[strlen(means)] == ':',
		      "%s: %s", means, e.name);
		opt.flags = TACH_ENCODE_LIBPFM4;
		rc = tach__event_encode("rapl::RAPL_ENERGY_PKG", &opt, &caller, &e, &err);
		CHECK(rc == 0 && strcmp(e.name, "rapl::RAPL_ENERGY_PKG") == 0, "%s", e.name);
		/* With any_pmu 0, only this machine's boxes are accepted. */
		opt.any_pmu = 0;
		there = strcmp(means, machines[i].has[1]) == 0;
		rc = tach__event_encode("rapl::RAPL_ENERGY_PKG", &opt, &caller, &e, &err);
		CHECK(rc == (there ? 0 : TACH_ERR_NOTFOUND), "%s: %d", means, rc);
		CHECK(there || strcmp(err.text, "this machine's PMU is not rapl") == 0, "%s",
		      err.text);
	}
}

static void no_set_takes_them(void)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set *set = NULL;

	opt.pmu = tach_pmu_find("rapl");
	opt.events = "rapl::RAPL_ENERGY_PKG";
	CHECK(tach_set_create(&opt, &set, &err) == TACH_ERR_NOTSUPP, "%s", err.text);
	CHECK(strstr(err.text, "not for a thread"), "%s", err.text);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 1;
	device("uncore_upi_0", 77);
	device("uncore_pcu", 77);
	device("uncore", 77);
	device("uncore_cbox_0", 77);
	device("uncore_imc_0", 77);
	device("uncore_sbox", 78);
	device("uncore_irp_0", 79);
	CASE(perf_words);
	CASE(refusals);
	CASE(filters);
	CASE(other_names);
	CASE(boxes_of_a_machine_are_found);
	CASE(one_name_of_several);
	CASE(no_set_takes_them);
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	CHECK(system(command) == 0);
	return check_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Modifiers of uncore events: the position of each threshold and filter in the words of a box
 * (Intel's uncore performance monitoring manuals), and the errors for values that are too
 * large.
 */
#include <string.h>
#include <tach.h>
#include "tests/check.h"

static struct tach_event event;
static struct tach_error err;

static int encode(const char *string, uint32_t flags)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_NONE;
	opt.host = "";
	opt.sysfs = "/nonexistent";
	opt.flags = flags;
	memset(&event, 0, sizeof event);
	return tach_event_encode(string, &opt, &event, &err);
}

#define HIT "skx_unc_cha0::UNC_C_TOR_INSERTS:ALL_HIT"

/*
 * Encodes the largest value that fits. The full name contains the value, and encodes to the
 * same words.
 */
static void words(void)
{
	static const struct {
		const char *string, *says;
		uint64_t code[3];
	} cases[] = {
		{"skx_unc_cha0::UNC_C_CLOCKTICKS:e", ":e=1:i=0:t=0", {0x40000}},
		{"skx_unc_cha0::UNC_C_CLOCKTICKS:i", ":e=0:i=1:t=0", {0x800000}},
		{"skx_unc_cha0::UNC_C_CLOCKTICKS:t=255", ":e=0:i=0:t=255", {0xff000000}},
		{"ivbep_unc_pcu::UNC_P_CLOCKTICKS:t=31:e", ":e=1:t=31", {0x1f040000}},
		{"ivbep_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:t=31:e:i",
		 ":e=1:i=1:t=31",
		 {0xdf004080}},
		{"icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C3:t=63:occ_e",
		 ":t=63:occ_i=0:occ_e=1",
		 {0xbf008080}},
		{"icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C6:occ_i",
		 ":t=0:occ_i=1:occ_e=0",
		 {0x4000c080}},
		{"gnr_unc_iio0::UNC_IIO_CLOCKTICKS:t=4095", ":t=4095", {0xfff000001}},
		{"adl_unc_arb0::UNC_ARB_TRK_REQUESTS:ALL:c=31", ":c=31", {0x1f000181}},
		{"arl_unc_hac_cbo0::UNC_HAC_CBO_TOR_ALLOCATION:ALL:c=63",
		 ":c=63",
		 {0x3f000835}},
		{"nhm_unc::UNC_DRAM_OPEN:CH0:c=255", ":c=255:o=0", {0xff500160}},
		{"nhm_unc::UNC_DRAM_OPEN:CH0:o:e:i", ":e=1:i=1:c=0:o=1", {0xd60160}},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:STATE_M:cf=7",
		 ":cf=7",
		 {0x81f34, 0x20000e}},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:STATE_M:tf=1",
		 ":tf=1",
		 {0x81f34, 0x200001}},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:STATE_M:tf=0",
		 ":tf=0",
		 {0x81f34, 0x200000}},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:NID:nf=255",
		 ":nf=255",
		 {0x5f34, 0x7ffc00}},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=31", ":cf=31", {0x81134, 0xfe003e}},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=31:tf=1",
		 ":tf=1:cf=31",
		 {0x81134, 0xfe003f}},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=0", ":cf=0", {0x81134, 0xfe0000}},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:NID:nf=255",
		 ":nf=255",
		 {0x5134, 0xfe0000, 0xff}},
		{"bdx_unc_pcu::UNC_P_FREQ_BAND0_CYCLES:ff=255", ":ff=255", {0xb, 0xff}},
		{"bdx_unc_pcu::UNC_P_FREQ_BAND3_CYCLES:ff=255", ":ff=255", {0xe, 0xff000000}},
		{"bdx_unc_pcu::UNC_P_FREQ_BAND1_CYCLES:ff=0", ":ff=0", {0xc}},
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:dnid=15",
		 ":dnid=15",
		 {0xe04, 0x2f00}},
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:rcsnid=15",
		 ":rcsnid=15",
		 {0xe04, 0x7c000}},
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:dnid=0",
		 ":dnid=0",
		 {0xe04, 0x2000}},
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:FILT_SLOT0:rcsnid=1:dnid=1",
		 ":FILT_SLOT0:",
		 {0xe04, 0xc6100}},
		{"snbep_unc_imc0::UNC_M_CAS_COUNT:0xff", ":0xff:e=0", {0xff04}},
		/* Without a filter in the second word, the box counts all requests. */
		{HIT, ":ALL_HIT:e=0:i=0:t=0", {0x1535, 0, 0x3b}},
		{"skx_unc_cha0::UNC_C_TOR_OCCUPANCY:ALL_HIT",
		 ":ALL_HIT:e=0:i=0:t=0",
		 {0x1736, 0, 0x3b}},
		{HIT ":isoc", ":isoc=1:nc=0:loc=0", {0x1535, 0, 0x80000000}},
		{HIT ":nc", ":isoc=0:nc=1:loc=0", {0x1535, 0, 0x40000000}},
		{HIT ":loc", ":loc=1:rem=0:lmem=0:rmem=0", {0x1535, 0, 2}},
		{HIT ":rem", ":loc=0:rem=1:lmem=0:rmem=0", {0x1535, 0, 1}},
		{HIT ":lmem", ":loc=0:rem=0:lmem=1:rmem=0", {0x1535, 0, 0x10}},
		{HIT ":rmem", ":loc=0:rem=0:lmem=0:rmem=1", {0x1535, 0, 0x20}},
		{"skx_unc_cha0::UNC_C_TOR_INSERTS:IRQ:OPC0_RFO:loc",
		 ":OPC0_RFO:e=0",
		 {0x135, 0, 0x40002}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *string = cases[i].string;
		struct tach_event before;
		int rc = encode(string, 0);

		CHECK(rc == 0, "%s: %s", string, err.text);
		for (int k = 0; k < 3; k++)
			CHECK(event.codes[k] == cases[i].code[k], "%s: word %d: %#llx", string,
			      k, (unsigned long long)event.codes[k]);
		CHECK(strstr(event.name, cases[i].says), "%s: %s", string, event.name);
		before = event;
		CHECK(encode(before.name, 0) == 0 && event.ncodes == before.ncodes &&
			      memcmp(event.codes, before.codes, sizeof before.codes) == 0,
		      "%s is another event: %s", before.name, err.text);
	}
	CHECK(encode(HIT ":isoc=0", 0) == 0 && strcmp(event.name, HIT ":e=0:i=0:t=0") == 0,
	      "%s", event.name);
}

static void too_much(void)
{
	static const struct {
		const char *string, *says;
	} cases[] = {
		{"skx_unc_cha0::UNC_C_CLOCKTICKS:t=256", "t must be 0 .. 255"},
		{"ivbep_unc_pcu::UNC_P_CLOCKTICKS:t=32", "t must be 0 .. 31"},
		{"icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:t=64", "t must be 0 .. 63"},
		{"gnr_unc_iio0::UNC_IIO_CLOCKTICKS:t=4096", "t must be 0 .. 4095"},
		{"adl_unc_arb0::UNC_ARB_TRK_REQUESTS:ALL:c=32", "c must be 0 .. 31"},
		{"arl_unc_hac_cbo0::UNC_HAC_CBO_TOR_ALLOCATION:ALL:c=64", "c must be 0 .. 63"},
		{"nhm_unc::UNC_DRAM_OPEN:CH0:c=256", "c must be 0 .. 255"},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:tf=2", "tf must be 0 .. 1"},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=8", "cf must be 0 .. 7"},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:NID:nf=0", "nf must be 1 .. 255"},
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:NID:nf=256", "nf must be 1 .. 255"},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=32", "cf must be 0 .. 31"},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:NID:nf=0", "nf must be 1 .. 255"},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:NID:nf=256", "nf must be 1 .. 255"},
		{"bdx_unc_pcu::UNC_P_FREQ_BAND0_CYCLES:ff=256", "ff must be 0 .. 255"},
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:dnid=16",
		 "dnid must be 0 .. 15"},
		{"skx_unc_upi0::UNC_UPI_TXL_BASIC_HDR_MATCH:NCB:rcsnid=16",
		 "rcsnid must be 0 .. 15"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *string = cases[i].string;
		int rc = encode(string, 0), column = (int)(strrchr(string, ':') - string) + 2;

		CHECK(rc == TACH_ERR_ATTR_VALUE && err.column == column &&
			      strcmp(err.text, cases[i].says) == 0,
		      "%s: %d, column %d: %s", string, rc, err.column, err.text);
	}
}

/*
 * libpfm-4 truncates core numbers, and puts an eight-bit threshold into a field of six bits.
 * Its full name shows that there is a thread filter, without its value. If two states are
 * given, libpfm-4 uses the last one.
 */
static void as_libpfm4(void)
{
	static const struct {
		const char *string, *says;
		uint64_t code[3];
	} cases[] = {
		{"snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:STATE_M:cf=15",
		 ":cf=7",
		 {0x81f34, 0x20000e}},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=63", ":cf=31", {0x81134, 0xfe003e}},
		{"bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:tf=0", ":tf=1", {0x81134, 0xfe0000}},
		{"icx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:occ_e:t=3",
		 ":t=3:occ_i=0:occ_e=0",
		 {0x3004080}},
		{HIT, ":loc=1:rem=1:lmem=1:rmem=1", {0x1535, 0, 0x3b}},
		{HIT ":rmem", ":rem=0:lmem=0:rmem=0", {0x1535, 0, 0x20}},
		{HIT ":lmem", ":loc=1:rem=0:lmem=1:rmem=0", {0x1535, 0, 2}},
		{"bdx_unc_pcu::UNC_P_POWER_STATE_OCCUPANCY:CORES_C0:CORES_C3",
		 ":CORES_C0:CORES_C3:",
		 {0x8080}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *string = cases[i].string;

		CHECK(encode(string, TACH_ENCODE_LIBPFM4) == 0, "%s: %s", string, err.text);
		for (int k = 0; k < 3; k++)
			CHECK(event.codes[k] == cases[i].code[k], "%s: word %d: %#llx", string,
			      k, (unsigned long long)event.codes[k]);
		CHECK(strstr(event.name, cases[i].says), "%s: %s", string, event.name);
	}
	CHECK(encode("snbep_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=16", TACH_ENCODE_LIBPFM4) ==
	      TACH_ERR_ATTR_VALUE);
	CHECK(encode("bdx_unc_cbo0::UNC_C_LLC_LOOKUP:ANY:cf=64", TACH_ENCODE_LIBPFM4) ==
	      TACH_ERR_ATTR_VALUE);
	CHECK(encode("nhm_unc::UNC_DRAM_OPEN:CH0:c=256", TACH_ENCODE_LIBPFM4) ==
	      TACH_ERR_INVAL);
}

int main(void)
{
	CASE(words);
	CASE(too_much);
	CASE(as_libpfm4);
	return check_done();
}

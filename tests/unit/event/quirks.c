/* SPDX-License-Identifier: MIT */
/*
 * Strings that libpfm-4 encodes differently; each string tests another reason in
 * core/port/quirks.c.
 */
#include <string.h>
#include "core/event/event.h"
#include "tests/check.h"

static struct tach_encode_options options(int os, uint32_t flags)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = (enum tach_os)os;
	opt.flags = flags;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = "skl";
	return opt;
}

static const struct {
	int os;
	const char *string;
	struct {
		const char *name;
		uint64_t code;
	} is[2]; /* ours, libpfm-4's */
} strings[] = {
	/* An alias of an alias: libpfm-4 gives it another code. */
	{TACH_OS_NONE,
	 "snb::LLC_MISSES",
	 {{"snb::L3_LAT_CACHE:MISS:k=1:u=1:e=0:i=0:c=0:t=0", 0x53012e},
	  {"snb::LAST_LEVEL_CACHE_MISSES:k=1:u=1:e=0:i=0:c=0:t=0", 0x53412e}}},
	/* A default umask with its own event select, and one that is an alias. */
	{TACH_OS_NONE,
	 "glm::CPU_CLK_UNHALTED",
	 {{"glm::CPU_CLK_UNHALTED:CORE_P:k=1:u=1:e=0:i=0:c=0", 0x53003c},
	  {"glm::CPU_CLK_UNHALTED:CORE_P:k=1:u=1:e=0:i=0:c=0", 0x530000}}},
	{TACH_OS_NONE,
	 "ivb::OFFCORE_RESPONSE_0",
	 {{"ivb::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_IFETCH:WB:PF_DATA_RD:PF_RFO:"
	   "PF_IFETCH:PF_LLC_DATA_RD:PF_LLC_RFO:PF_LLC_IFETCH:BUS_LOCKS:STRM_ST:OTHER:"
	   "ANY_RESPONSE:k=1:u=1:e=0:i=0:c=0:t=0",
	   0x5301b7},
	  {"ivb::OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE:k=1:u=1:e=0:i=0:c=0:t=0",
	   0x5301b7}}},
	/* A umask that has no latency, and one that has no threshold. */
	{TACH_OS_NONE,
	 "snb::MEM_TRANS_RETIRED:PRECISE_STORE",
	 {{"snb::MEM_TRANS_RETIRED:PRECISE_STORE:k=1:u=1:e=0:i=0:c=0:t=0", 0x5302cd},
	  {"snb::MEM_TRANS_RETIRED:PRECISE_STORE:k=1:u=1:e=0:i=0:c=0:t=0:ldlat=0", 0x5302cd}}},
	{TACH_OS_NONE,
	 "skl::FRONTEND_RETIRED:DSB_MISS",
	 {{"skl::FRONTEND_RETIRED:DSB_MISS:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0", 0x5301c6},
	  {"skl::FRONTEND_RETIRED:DSB_MISS:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=0",
	   0x5301c6}}},
	/* In this form, period and frequency share one word, so both show its value. */
	{TACH_OS_PERF_EXT,
	 "p6::INST_RETIRED:u:freq=100",
	 {{"p6::INST_RETIRED:e=0:i=0:c=0:u=1:k=0:freq=100:excl=0:mg=0:mh=1", 0x5300c0},
	  {"p6::INST_RETIRED:e=0:i=0:c=0:u=1:k=0:period=100:freq=100:excl=0:mg=0:mh=1",
	   0x5300c0}}},
	{TACH_OS_PERF_EXT,
	 "p6::INST_RETIRED:u:period=100",
	 {{"p6::INST_RETIRED:e=0:i=0:c=0:u=1:k=0:period=100:excl=0:mg=0:mh=1", 0x5300c0},
	  {"p6::INST_RETIRED:e=0:i=0:c=0:u=1:k=0:period=100:freq=100:excl=0:mg=0:mh=1",
	   0x5300c0}}},
};

static void quirks_change_the_answer(void)
{
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		for (uint32_t theirs = 0; theirs < 2; theirs++) {
			struct tach_encode_options opt =
				options(strings[i].os, theirs ? TACH_ENCODE_LIBPFM4 : 0);
			struct tach_event e = {0};
			struct tach_error err = TACH_ERROR_INIT;
			int code = tach_event_encode(strings[i].string, &opt, &e, &err);

			CHECK(code == 0 && strcmp(e.name, strings[i].is[theirs].name) == 0 &&
				      e.codes[0] == strings[i].is[theirs].code,
			      "%s: %s%s %llx", strings[i].string, err.text, e.name,
			      (unsigned long long)e.codes[0]);
		}
}

/* Two attributes are compared like larger numbers of attributes. */
static void contradictions(void)
{
	for (uint32_t theirs = 0; theirs < 2; theirs++) {
		struct tach_encode_options opt = options(0, theirs ? TACH_ENCODE_LIBPFM4 : 0);
		struct tach_event e = {0};
		struct tach_error err = TACH_ERROR_INIT;

		CHECK(tach_event_encode("p6::INST_RETIRED:c=1:c=2", &opt, &e, &err) ==
			      TACH_ERR_ATTR_SET &&
		      err.column == 22);
	}
}

int main(void)
{
	CASE(quirks_change_the_answer);
	CASE(contradictions);
	return check_done();
}

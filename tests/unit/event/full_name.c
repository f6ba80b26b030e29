/* SPDX-License-Identifier: MIT */
/* Full names: their spelling, for each form of encoding, and where they are cut off. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/event/event.h"
#include "tests/check.h"
#include "tests/root.h"

static char root[] = "/tmp/tach-full-name-XXXXXX";

static struct tach_encode_options options(int os, uint32_t flags)
{
	static char sysfs[64], tracefs[64];
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	snprintf(sysfs, sizeof sysfs, "%s/devices", root);
	snprintf(tracefs, sizeof tracefs, "%s/events", root);
	opt.os = (enum tach_os)os;
	opt.flags = flags;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	opt.host = "skl";
	opt.sysfs = sysfs;
	opt.tracefs = tracefs;
	return opt;
}

enum { OURS, THEIRS = TACH_ENCODE_LIBPFM4 };

static const struct {
	int os;
	uint32_t flags;
	const char *string, *name;
} names[] = {
	{0, OURS, "skl::inst_retired.any_p",
	 "skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0"},
	{0, OURS, "skl::BR_INST_RETIRED:0xFF:c=255:e:u",
	 "skl::BR_INST_RETIRED:0xff:k=0:u=1:e=1:i=0:c=255:t=0:intx=0:intxcp=0"},
	{1, OURS, "skl::INST_RETIRED:ANY_P:c=10",
	 "skl::INST_RETIRED:ANY_P:e=0:i=0:c=10:t=0:intx=0:intxcp=0:u=1:k=1:mg=0:mh=1"},
	{1, OURS, "skl::INST_RETIRED:ANY_P:c=9",
	 "skl::INST_RETIRED:ANY_P:e=0:i=0:c=9:t=0:intx=0:intxcp=0:u=1:k=1:mg=0:mh=1"},
	/* Umasks have the table's spelling; a number shows all its bits, except libpfm-4's. */
	{0, OURS, "ivbep_unc_cbo0::UNC_C_LLC_LOOKUP:STATE_M:nf=3:NID:WRITE",
	 "ivbep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:NID:STATE_M:e=0:t=0:nf=3"},
	{0, OURS, "skl::OFFCORE_RESPONSE_0:0x3fffffffff",
	 "skl::OFFCORE_RESPONSE_0:0x3fffffffff:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0"},
	{0, THEIRS, "skl::OFFCORE_RESPONSE_0:0x3fffffffff",
	 "skl::OFFCORE_RESPONSE_0:0xffffffff:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0"},
	/* Modifiers that a umask does not support are omitted if 0 is not valid. */
	{1, OURS, "skl::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=50:k",
	 "skl::MEM_TRANS_RETIRED:LOAD_LATENCY:e=0:i=0:c=0:t=0:ldlat=50:intx=0:intxcp=0:u=0:k=1:"
	 "mg=0:mh=1"},
	{0, OURS, "skl::FRONTEND_RETIRED:DSB_MISS",
	 "skl::FRONTEND_RETIRED:DSB_MISS:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0"},
	{0, THEIRS, "skl::FRONTEND_RETIRED:DSB_MISS",
	 "skl::FRONTEND_RETIRED:DSB_MISS:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0:fe_thres=0"},
	/* perf's own modifiers are in perf's order; sampling modifiers appear only if given */
	{2, OURS, "skl::INST_RETIRED:ANY_P",
	 "skl::INST_RETIRED:ANY_P:e=0:i=0:c=0:t=0:intx=0:intxcp=0:u=1:k=1:precise=0:excl=0:mg="
	 "0:"
	 "mh=1"},
	{2, OURS, "skl::INST_RETIRED:ANY_P:pinned:excl:cpu=12:period=100003:k",
	 "skl::INST_RETIRED:ANY_P:e=0:i=0:c=0:t=0:intx=0:intxcp=0:u=0:k=1:period=100003:"
	 "precise=0:"
	 "excl=1:mg=0:mh=1:cpu=12:pinned=1"},
	{2, THEIRS, "skl::INST_RETIRED:ANY_P:pinned:excl:cpu=12:period=100003:k",
	 "skl::INST_RETIRED:ANY_P:e=0:i=0:c=0:t=0:intx=0:intxcp=0:u=0:k=1:period=100003:"
	 "freq=100003:precise=0:excl=1:mg=0:mh=1"},
	{2, OURS, "amd64_fam19h_zen3::RETIRED_INSTRUCTIONS:h:mg:freq=99",
	 "amd64_fam19h_zen3::RETIRED_INSTRUCTIONS:e=0:i=0:c=0:g=0:u=0:k=0:h=1:freq=99:excl=0:"
	 "mg=1:mh=0"},
	{1, OURS, "netburst::uops_retired:NBOGUS:thr=3:k",
	 "netburst::uops_retired:NBOGUS:e=0:cmpl=0:thr=3:u=0:k=1:mg=0:mh=1"},
	{1, THEIRS, "netburst::uops_retired:NBOGUS:thr=3:k",
	 "netburst::uops_retired:NBOGUS:k=1:u=1:e=0:cmpl=0:thr=3:u=0:k=1:mg=0:mh=1"},
	/* If a umask has no modifiers, the full name shows those that the string contained. */
	{0, OURS, "icl::TOPDOWN_M:BACKEND_BOUND", "icl::TOPDOWN_M:BACKEND_BOUND"},
	{0, OURS, "icl::TOPDOWN_M:BACKEND_BOUND:u", "icl::TOPDOWN_M:BACKEND_BOUND:u=1"},
	{0, THEIRS, "icl::TOPDOWN_M:BACKEND_BOUND:u", "icl::TOPDOWN_M:BACKEND_BOUND"},
	{1, OURS, "icl::TOPDOWN_M:BACKEND_BOUND", "icl::TOPDOWN_M:BACKEND_BOUND"},
	{1, OURS, "icl::TOPDOWN_M:BACKEND_BOUND:uk", "icl::TOPDOWN_M:BACKEND_BOUND"},
	{1, OURS, "icl::TOPDOWN_M:BACKEND_BOUND:k", "icl::TOPDOWN_M:BACKEND_BOUND:u=0:k=1"},
	{2, OURS, "icl::TOPDOWN_M:BACKEND_BOUND:pinned",
	 "icl::TOPDOWN_M:BACKEND_BOUND:pinned=1"},
	{2, OURS, "icl::TOPDOWN_M:BACKEND_BOUND:pinned:u",
	 "icl::TOPDOWN_M:BACKEND_BOUND:u=1:k=0:pinned=1"},
	{1, THEIRS, "icl::TOPDOWN_M:BACKEND_BOUND", ""},
	{2, THEIRS, "icl::TOPDOWN_M:BACKEND_BOUND:pinned", ""},
	/* Events that no table has. */
	{0, OURS, "r1C2f", "perf_raw::r1c2f"},
	{0, THEIRS, "r0x1c2f", "perf_raw::r1c2f"},
	{1, OURS, "r1c2f:u", "perf_raw::r1c2f:u=1:k=0:h=0:mg=0:mh=1"},
	{1, THEIRS, "r1c2f:u", "perf_raw:::u=1:k=0:h=0:mg=0:mh=1"},
	{2, OURS, "r1c2f:pp", "perf_raw::r1c2f:u=1:k=1:h=0:precise=2:excl=0:mg=0:mh=1"},
	{2, THEIRS, "r1c2f", "perf_raw:::u=1:k=1:h=0:precise=0:excl=0:mg=0:mh=1:hw_smpl=0"},
	{1, OURS, "cpu/event=0xc0,umask=1/u", "cpu/event=0xc0,umask=1/:u=1:k=0:h=0:mg=0:mh=1"},
	{0, OURS, "sched:sched_switch", "perf::sched:sched_switch"},
	{1, OURS, "sched:sched_switch:k", "perf::sched:sched_switch:u=0:k=1:mg=0:mh=1"},
	{0, THEIRS, "sched", "perf::sched"},
	{1, OURS, "L1-dcache-load-misses",
	 "perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS:u=1:k=1:mg=0:mh=1"},
	/* Boxes: libpfm-4 uses one name for several boxes. */
	{0, OURS, "rapl_skl::RAPL_ENERGY_PKG", "rapl_skl::RAPL_ENERGY_PKG"},
	{0, THEIRS, "rapl_skl::RAPL_ENERGY_PKG", "rapl::RAPL_ENERGY_PKG"},
	{0, THEIRS, "tgl::INST_RETIRED:ANY_P",
	 "tgl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:intx=0:intxcp=0"},
	{2, OURS, "ivbep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:t=1:STATE_M",
	 "ivbep_unc_cbo0::UNC_C_LLC_LOOKUP:WRITE:STATE_M:e=0:t=1:excl=0"},
};

static void strings_get_their_full_name(void)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tach_encode_options opt = options(names[i].os, names[i].flags);
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(names[i].string, &opt, &e, &err);

		CHECK(rc == 0 && strcmp(e.name, names[i].name) == 0, "%d %s: %s%s", names[i].os,
		      names[i].string, e.name, err.text);
		opt.flags |= TACH_ENCODE_NO_NAME;
		rc = tach_event_encode(names[i].string, &opt, &e, NULL);
		CHECK(rc == 0 && !*e.name, "%s: %s", names[i].string, e.name);
	}
}

/*
 * Any buffer size: writes the part that fits with a terminating 0, nothing beyond it, and
 * returns the whole length.
 */
static void full_name_is_cut_to_the_buffer(void)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tach_encode_options opt = options(names[i].os, names[i].flags);
		size_t length = strlen(names[i].name);
		struct tach__work w;

		memset(&w, 0, sizeof w);
		CHECK(tach__encode(&w, names[i].string, &opt, NULL) == 0);
		for (size_t size = 1; size < length + 300; size++) {
			size_t fits = size <= length ? size - 1 : length;
			char out[1024];

			memset(out, '#', sizeof out);
			CHECK(tach__fqstr(&w, out, size) == length, "%s in %zu", names[i].name,
			      size);
			CHECK(memcmp(out, names[i].name, fits) == 0 && !out[fits],
			      "%s in %zu: %s", names[i].name, size, out);
			for (size_t at = size; at < sizeof out; at++)
				CHECK(out[at] == '#', "%s in %zu writes at %zu", names[i].name,
				      size, at);
		}
	}
}

int main(void)
{
	CHECK(mkdtemp(root) != NULL, "%s", root);
	root_put(root, "events/sched/sched_switch/id", "316\n");
	root_put(root, "devices/uncore_cbox_0/type", "77\n");
	CASE(strings_get_their_full_name);
	CASE(full_name_is_cut_to_the_buffer);
	root_wipe(root);
	rmdir(root);
	return check_done();
}

#!/usr/bin/env bash
# A program written for libpfm-3 in the style of its man pages compiles with our headers (as C and as C++), links, and
# gets its registers.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) dir=$B/libpfm3;; *) dir=$PWD/$B/libpfm3;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
cat >"$work/client.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_intel_nhm.h>
#include <perfmon/perfmon.h>
#include <errno.h>

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;

int main(int argc, char **argv)
{
	pfmlib_nhm_input_param_t mod;
	pfmlib_options_t options;
	static pfarg_pmc_t pc[PFMLIB_MAX_PMCS];
	pfarg_sinfo_t sif;
	pfarg_ctx_t ctx;
	unsigned int i, num_counters, width;
	char name[256];
	int ret, type;

	memset(&options, 0, sizeof(options));
	memset(&inp, 0, sizeof(inp));
	memset(&outp, 0, sizeof(outp));
	memset(&mod, 0, sizeof(mod));
	options.pfm_verbose = 1;
	pfm_set_options(&options);
	ret = pfm_initialize();
	if (ret != PFMLIB_SUCCESS) {
		printf("cannot initialize: %s\n", pfm_strerror(ret));
		return 1;
	}
	pfm_get_pmu_type(&type);
	pfm_get_num_counters(&num_counters);
	pfm_get_hw_counter_width(&width);
	for (i = 1; i < (unsigned int)argc; i++) {
		ret = pfm_find_full_event(argv[i], &inp.pfp_events[i - 1]);
		if (ret != PFMLIB_SUCCESS) {
			printf("%s: %s\n", argv[i], pfm_strerror(ret));
			return 1;
		}
	}
	inp.pfp_event_count = (unsigned int)argc - 1;
	inp.pfp_dfl_plm = PFM_PLM3;
	pfm_regmask_set(&inp.pfp_unavail_pmcs, 0);
	ret = pfm_dispatch_events(&inp, type == PFMLIB_INTEL_NHM_PMU ? &mod : NULL, &outp, NULL);
	if (ret != PFMLIB_SUCCESS) {
		printf("cannot dispatch: %s\n", pfm_strerror(ret));
		return 1;
	}
	/* As examples look for registers that others have: perfmon3, then perfmon2. */
	memset(&sif, 0, sizeof(sif));
	memset(pc, 0, sizeof(pc));
	memset(&ctx, 0, sizeof(ctx));
	errno = 0;
	if (pfm_create(PFM_FL_SYSTEM_WIDE, &sif) != -1 || pfm_create_context(&ctx, NULL, NULL, 0) != -1 ||
	    pfm_write_pmcs(3, pc, PFMLIB_MAX_PMCS) != -1 || errno != ENOSYS)
		return 1;
	for (i = 0; i < outp.pfp_pmc_count; i++)
		printf("PMC%u=0x%llx@0x%llx\n", outp.pfp_pmcs[i].reg_num, outp.pfp_pmcs[i].reg_value,
		       outp.pfp_pmcs[i].reg_addr);
	for (i = 0; i < inp.pfp_event_count; i++) {
		pfm_get_full_event_name(&inp.pfp_events[i], name, sizeof(name));
		printf("PMD%u %s\n", outp.pfp_pmds[i].reg_num, name);
	}
	return 0;
}
END
cp "$work/client.c" "$work/client.cc"
want='PMC16=0xa0@0x38d
PMC1=0x510324@0x187
PMD17 UNHALTED_CORE_CYCLES
PMD1 L2_RQSTS:LOADS'
for c in gcc:c clang:c g++:cc clang++:cc; do
	compiler=${c%:*}
	command -v "$compiler" >/dev/null || { echo "skip libpfm3_client_$compiler: not installed"; continue; }
	if ! "$compiler" -Wall -Wextra -Werror -Icompat/libpfm3/include -o "$work/client" \
		"$work/client.${c#*:}" -L"$dir" -lpfm3 2>"$work/err"; then
		sed 's/^/# /' "$work/err"
		echo "not ok libpfm3_client_$compiler"
		failed=1
		continue
	fi
	have=$(LD_LIBRARY_PATH=$dir LIBPFM_FORCE_PMU=40 "$work/client" UNHALTED_CORE_CYCLES L2_RQSTS:LOADS)
	if [ "$have" = "$want" ]; then
		echo "ok libpfm3_client_$compiler"
	else
		echo "# $have"
		echo "not ok libpfm3_client_$compiler"
		failed=1
	fi
done
# Every header compiles alone, and the library exports exactly the declared functions.
for h in compat/libpfm3/include/perfmon/*.h; do
	printf '#include <perfmon/%s>\nextern int unit;\n' "${h##*/}" |
		gcc -x c -std=c11 -Wall -Wextra -Wpedantic -Werror -Icompat/libpfm3/include -fsyntax-only - ||
		{ echo "not ok libpfm3_header ${h##*/}"; failed=1; }
done
foreign=$(nm -D --defined-only "$dir/libpfm.so.3" | awk '{ print $3 }' | grep -v '^pfm_')
[ -z "$foreign" ] || { echo "# exported: $foreign"; echo "not ok libpfm3_exports"; failed=1; }
exit $failed

#!/usr/bin/env bash
# Programs that Debian built for libpfm.so.4 run with ours: same presets, same native events.
set -u
cd "$(dirname "$0")/../../.."
dir=$PWD/${B:-build}/libpfm4
export LIBPFM_FORCE_PMU
failed=0
if ! command -v papi_native_avail >/dev/null; then
	echo "skip papi: papi-tools is not installed"
	exit 0
fi
# PAPI loads our library.
loaded=$(LD_LIBRARY_PATH=$dir LD_TRACE_LOADED_OBJECTS=1 papi_native_avail | grep -c "$dir/libpfm.so.4")
[ "$loaded" = 1 ] && echo "ok papi_loads_it" || { echo "not ok papi_loads_it"; failed=1; }

# papi_avail: the table of presets with this PMU's events.
for pmu in snb hsw amd64_fam17h_zen2; do
	LIBPFM_FORCE_PMU=$pmu
	want=$(papi_avail 2>&1 | grep '^PAPI_')
	have=$(LD_LIBRARY_PATH=$dir papi_avail 2>&1 | grep '^PAPI_')
	if [ -n "$have" ] && [ "$want" = "$have" ]; then
		echo "ok papi_avail_$pmu"
	else
		diff <(echo "$want") <(echo "$have") | head -5 | sed 's/^/# /'
		echo "not ok papi_avail_$pmu"
		failed=1
	fi
done

# papi_native_avail: lists every event that Debian's library shows.
events() { grep -oE '^\| +[A-Za-z_0-9:]+' | sort -u; }
for pmu in snb hsw amd64_fam17h_zen2; do
	LIBPFM_FORCE_PMU=$pmu
	missing=$(comm -23 <(papi_native_avail 2>/dev/null | events) \
		<(LD_LIBRARY_PATH=$dir papi_native_avail 2>/dev/null | events))
	# Descriptions are our own, so the remaining differences are in texts, not in events.
	missing=$(grep -E '^\| [A-Z]' <<<"$missing")
	shown=$(LD_LIBRARY_PATH=$dir papi_native_avail 2>/dev/null | events | grep -c .)
	if [ -z "$missing" ] && [ "$shown" -gt 300 ]; then
		echo "ok papi_native_avail_$pmu"
	else
		head -5 <<<"$missing" | sed 's/^/# missing: /'
		echo "not ok papi_native_avail_$pmu"
		failed=1
	fi
done

# libpfm-4's own examples, compiled against our headers.
examples=/usr/share/doc/libpfm4-dev/examples
if [ -r $examples/showevtinfo.c ]; then
	tmp=$(mktemp -d)
	trap 'rm -r "$tmp"' EXIT
	mkdir "$tmp/perfmon"
	echo '#include <err.h>' >"$tmp/perfmon/err.h"
	for e in showevtinfo check_events; do
		"${CC:-gcc}" -w -I"$tmp" -Icompat/libpfm4/include -o "$tmp/$e" $examples/$e.c -L"$dir" -lpfm ||
			{ echo "not ok compile_$e"; failed=1; }
	done
	LIBPFM_FORCE_PMU=hsw
	export LD_LIBRARY_PATH=$dir
	n=$("$tmp/showevtinfo" 2>/dev/null | grep -c '^Name')
	[ "$n" -gt 60 ] && echo "ok showevtinfo" || { echo "not ok showevtinfo ($n events)"; failed=1; }
	code=$("$tmp/check_events" INST_RETIRED:ANY_P:u 2>&1 | grep -c 0x5100c0)
	[ "$code" = 1 ] && echo "ok check_events" || { echo "not ok check_events"; failed=1; }
else
	echo "skip examples: libpfm4-dev is not installed"
fi
exit $failed

#!/usr/bin/env bash
# tach encode: its forms of answers, its errors, and its exit statuses.
set -u
cd "$(dirname "$0")/../../.."
tach=${B:-build}/tach
failed=0
unset TACH_PMU
check() { # NAME EXPECTED ACTUAL
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		printf '# expected: %s\n# have:     %s\n' "${2//$'\n'/$'\n# '}" "${3//$'\n'/$'\n# '}"
		echo "not ok $1"
		failed=1
	fi
}

check text 'skl::INST_RETIRED:ANY_P:k=0:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0
  words     0x5100c0
  counters  0-3' "$("$tach" encode --os none skl::INST_RETIRED.ANY_P)"
check attr '  perf      type 4, config 0x1b7, config1 0x18fff, period 5, pinned, cpu 2
  exclude   kernel, guest' \
	"$("$tach" encode snb::OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE:period=5:pinned:cpu=2 | tail -n 2)"
check caret "tach encode: c must be 0 .. 255
    skl::INST_RETIRED:ANY_P:c=300
                            ^" "$("$tach" encode skl::INST_RETIRED:ANY_P:c=300 2>&1)"
check edge "tach encode: e needs c=1 or more: edges of nothing otherwise
    skl::INST_RETIRED:ANY_P:e:u
                            ^" "$("$tach" encode skl::INST_RETIRED:ANY_P:e:u 2>&1)"
check privilege "0x5300c0
0x5300c0
0x5100c0
tach encode: --privilege takes letters out of u k h, or 0 .. 31, not ''
tach encode --help shows how it is used" "$(
	for p in uk 9 u ''; do "$tach" encode --os none --privilege "$p" skl::INST_RETIRED:ANY_P 2>&1; done | sed -n 's/^  words  *//p; /^tach/p')"
check in_order 'skl::BACLEARS:ANY:k=0:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0
tach encode: no event '"'nosuch'" "$("$tach" encode --os none skl::BACLEARS nosuch 2>&1 | sed -n '1p;4p')"
# The name of a derived event with one event is an event string, with its modifiers added.
own=$(mktemp -d)
trap 'rm -r "$own"' EXIT
mkdir "$own/tach"
echo 'EVENT,MY_CALLS,NOT_DERIVED,BR_INST_RETIRED:NEAR_CALL' >"$own/tach/mine.derived"
check derived '  words     0x5202c4' \
	"$(XDG_CONFIG_HOME=$own "$tach" encode --pmu skl --os none my_calls:k | sed -n 2p)"
check preset '  words     0x5100c0' "$("$tach" encode --pmu skl --os none PAPI_TOT_INS | sed -n 2p)"
# Each argument is one event: text after its comma is reported as ignored, and not encoded; commas inside a device
# belong to it.
rest="tach encode: one event an argument: ignored is ',cycles'"
check rest "$rest" "$("$tach" encode --os none skl::BACLEARS:ANY,cycles 2>&1 >/dev/null | head -1)"
check rest_json "$rest" "$("$tach" encode --json skl::BACLEARS:ANY,cycles 2>&1 >/dev/null | head -1)"
mkdir -p "$own/sysfs/cpu/format"
echo 4 >"$own/sysfs/cpu/type"
echo config:0-7 >"$own/sysfs/cpu/format/event"
echo config:8-15 >"$own/sysfs/cpu/format/umask"
check rest_terms '' "$("$tach" encode --sysfs "$own/sysfs" cpu/event=0xc0,umask=1/u 2>&1 >/dev/null)"
check rest_behind_terms "$rest" \
	"$("$tach" encode --sysfs "$own/sysfs" cpu/event=0xc0,umask=1/u,cycles 2>&1 >/dev/null | head -1)"
"$tach" encode nosuch >/dev/null 2>&1
check refused 1 $?
"$tach" encode >/dev/null 2>&1
check usage 2 $?
"$tach" encode --os nonesuch cycles >/dev/null 2>&1
check bad_option 2 $?
"$tach" encode --help >/dev/null
check help 0 $?
# On no machine is there a similar name.
check json '[{"event": "\"zq\"xj", "error": -5005, "column": 1, "text": "no event '"'\\\"zq\\\"xj'"'"}]' \
	"$("$tach" encode --json '"zq"xj')"
if command -v python3 >/dev/null; then
	"$tach" encode --json cycles skl::INST_RETIRED:ANY_P:period=3 nosuch |
		python3 -c 'import json, sys; d = json.load(sys.stdin); sys.exit(len(d) != 3)'
	check json_parses 0 $?
fi

# The batch form prints the columns of the vectors; generic events have the host's privilege levels.
check batch "$(printf 'SKL::inst_retired:any_p\t9\t0\tOK\t5300c0\tskl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0
perf::cycles\t9\t2\tOK\t0:0:0:0:00001:0:0:0:0:0:-1:0\tperf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=1:precise=0:excl=0:mg=0:mh=1
skl::NOSUCH\t9\t1\tNOTFOUND')" \
	"$(printf 'SKL::inst_retired:any_p\t9\t0\nperf::cycles\t9\t2\nskl::NOSUCH\t9\t1\n' |
		"$tach" encode --batch --host skl)"
printf 'cycles\n' | "$tach" encode --batch >/dev/null 2>&1
check batch_columns 2 $?

want=$(grep -i '^skl::' "${B:-build}/vectors/libpfm4/x86_core_rnd.tsv")
check batch_is_asked 1 $(($(grep -c . <<<"$want") > 100))
have=$(cut -f1-3 <<<"$want" | "$tach" encode --batch --sysfs /nonexistent)
check batch_is_libpfm4 "$(grep -c . <<<"$want") 0" \
	"$(grep -c . <<<"$have") $(diff <(echo "$want") <(echo "$have") | grep -c '^[<>]')"
exit $failed

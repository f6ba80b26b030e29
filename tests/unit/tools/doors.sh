#!/usr/bin/env bash
# Characters that control a terminal, in every input of tach: arguments, names in files, and answers and errors that
# repeat them. None of them is printed.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$PWD/$B/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || { echo "skip doors: python3 is not installed"; exit 77; }
# In one string: C0 without NUL, LF and TAB (the command itself prints lines), DEL, C1, bidirectional controls,
# separators, and bytes that are not characters. argv cannot contain NUL.
python3 - "$work" <<'P'
import sys
codes = [c for c in range(1, 32) if c not in (9, 10)] + list(range(0x7f, 0xa0)) + [0x61c, 0x200e, 0x200f]
codes += list(range(0x2028, 0x202f)) + list(range(0x2066, 0x206a))
text = "".join(map(chr, codes))
open(sys.argv[1] + "/bad", "wb").write(text.encode() + b"\x80\xff\xc3\xe2\x80")
open(sys.argv[1] + "/json", "w").write("".join("\\u%04x" % c for c in codes))
P
bad=$(cat "$work/bad") json=$(cat "$work/json")
mkdir "$work/out"
door() { # NAME ARGUMENT... <STDIN
	local name=$1; shift
	"$tach" "$@" >"$work/out/$name" 2>&1
	[ $? -lt 128 ] || : >"$work/out/$name" # a signal
}
export TACH_PMU=skl
door command "x$bad" </dev/null
door encode encode "x$bad" "cycles:$bad" "skl::$bad" "cpu/$bad/" "inst_retired:any_p:c=$bad" </dev/null
door encode_json encode --json "x$bad" </dev/null
door encode_option encode -p "$bad" cycles </dev/null
door encode_unknown encode "--x$bad" cycles </dev/null
door encode_os encode -o "$bad" cycles </dev/null
printf 'x%s\t3\t2\n%s\nx\t%s\t2\n' "$bad" "$bad" "$bad" | door encode_batch encode --batch
door list list "x$bad" </dev/null
door list_pmu list -p "$bad" </dev/null
door list_unknown list "--$bad" </dev/null
door dispatch dispatch "x$bad" </dev/null
door dispatch_json dispatch --json "x$bad" </dev/null
door dispatch_unknown dispatch "--x$bad" </dev/null
printf 'skl\t%s\n%s\n' "$bad" "$bad" | door dispatch_batch dispatch --batch
printf 'PRESET,x%s,NOT_DERIVED,y%s,LDESC,"%s"\nCPU,%s\n%s\nEVENT,good,NOT_DERIVED,INST_RETIRED,LDESC,"%s"\n' \
	"$bad" "$bad" "$bad" "$bad" "$bad" "$bad" >"$work/x$bad.derived"
door derived_check derived check "$work/x$bad.derived" </dev/null
TACH_DERIVED="$work/x$bad.derived" door derived_list derived list </dev/null
TACH_DERIVED="$work/x$bad.derived" door derived_show derived show "good" "x$bad" </dev/null
TACH_DERIVED="$work/none$bad" door derived_none derived show good </dev/null
door derived_eval derived eval "a$bad + 1" </dev/null
door derived_unknown derived "x$bad" </dev/null
TACH_EVENTS="$bad" TACH_INTERRUPTS="$bad" TACH_OUTPUT="/none$bad/x" TACH_PMU="$bad" door doctor doctor </dev/null
TACH_EVENTS="$bad" TACH_OUTPUT="/none$bad/x" door doctor_json doctor --json </dev/null
door run_events run -e "x$bad" true </dev/null
door run_metrics run -m "x = $bad" true </dev/null
door run_output run -o "/none$bad/x.json" true </dev/null
door run_format run --format "$bad" true </dev/null
door run_program run --outside "$work/none$bad" </dev/null
door run_unknown run "--x$bad" true </dev/null
value='{"value":1,"raw":1,"overhead":0,"error":0,"flags":[]}'
cat >"$work/r$bad.json" <<J
{"tach":1,"version":"1","note":"$json","clock":{"hz":1e9,"estimate":false},"threads":1,"refused":0,
"lost":0,"stale":0,"unopened":0,"reports":1,"quantities":[{"name":"time"},{"name":"q$json"}],
"metrics":[{"name":"m$json","formula":"N0"}],"regions":[{"name":"r$json","file":"$json","function":"f",
"line":1,"fenced":false,"entries":1,"calls":1,"outermost":1,"skipped":0,"excluded":0,"nested":0,
"threads":1,"provenance":{},"inclusive":{"time":$value,"q$json":$value,"m$json":$value},
"self":{"time":$value,"q$json":$value,"m$json":$value}}]}
J
sed 's/"r\\u/"s\\u/' "$work/r$bad.json" >"$work/s.json"
for format in text json csv prometheus html; do
	door "report_$format" report --format $format "$work/r$bad.json" </dev/null
	case $format in text | json | csv) door "diff_$format" diff --format $format "$work/r$bad.json" "$work/s.json" </dev/null;; esac
done
printf '{"tach": "%s' "$bad" >"$work/broken$bad.json"
door report_broken report "$work/broken$bad.json" </dev/null
door report_key report <(printf '{"tach":1,"note":"","clock":{},"%s":1}' "$json") </dev/null
door report_none report "$work/none$bad.json" </dev/null
door report_unknown report "--x$bad" </dev/null
python3 - "$work/out" <<'P'
import os, sys
failed = 0
for name in sorted(os.listdir(sys.argv[1])):
    data = open(sys.argv[1] + "/" + name, "rb").read()
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        text = "\0"
    odd = {hex(ord(c)) for c in text if c not in "\n\t" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0
           or c in "\u061c\u200e\u200f" or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069)}
    if odd or not data:
        print("# it died, or said nothing" if not data else "# came through: %s" % sorted(odd))
        failed = 1
    print("not ok" if odd or not data else "ok", "door_" + name)
sys.exit(failed)
P

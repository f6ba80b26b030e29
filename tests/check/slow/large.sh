#!/usr/bin/env bash
# Work grows with the input and not with its square, or the input is refused: names of megabytes, tens of thousands of
# regions, hundreds of thousands of definitions, a line of 300 MB. The limit is processor time, about ten times the
# expected time; quadratic work exceeds it by far.
set -u
cd "$(dirname "$0")/../../.."
tach=${B:-build}/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || { echo "skip large: python3 is not installed"; exit 77; }
python3 - "$work" <<'P'
import json, sys
value = {"value": 1, "raw": 1, "overhead": 0, "error": 0, "flags": []}
def report(file, names, metrics):
    part = {"time": value, **{"m%d" % i: value for i in range(metrics)}}
    region = {"file": "f", "function": "f", "line": 1, "fenced": False, "entries": 1, "calls": 1, "outermost": 1,
              "skipped": 0, "excluded": 0, "nested": 0, "threads": 1, "provenance": {}, "inclusive": part, "self": part}
    json.dump({"tach": 1, "version": "1", "note": "", "clock": {"hz": 1e9, "estimate": False}, "threads": 1,
               "refused": 0, "lost": 0, "stale": 0, "unopened": 0, "reports": 1, "quantities": [{"name": "time"}],
               "metrics": [{"name": "m%d" % i, "formula": "1"} for i in range(metrics)],
               "regions": [dict(region, name=n) for n in names]}, open(sys.argv[1] + "/" + file, "w"))
report("name", ["x" * 4000000], 0)
report("regions", ["r%d" % i for i in range(60000)], 0)
report("metrics", ["r"], 20000)
with open(sys.argv[1] + "/x.derived", "w") as f:
    f.writelines("EVENT,e%d,NOT_DERIVED,page-faults\n" % i for i in range(400000))
P
failed=0
within() { # SECONDS NAME STATUS ARGUMENT...
	local seconds=$1 name=$2 want=$3 got; shift 3
	(ulimit -t "$seconds"; exec "$tach" "$@") >"$work/out" 2>"$work/err"; got=$?
	if [ $got = "$want" ]; then echo "ok large_$name"
	else echo "# status $got: $(head -c 200 "$work/err")"; echo "not ok large_$name"; failed=1; fi
}
says() { grep -qF -- "$1" "$work/err" || { echo "# it does not say: $1"; echo "not ok large_says"; failed=1; }; }
for format in text json csv prometheus html; do
	within 20 "name_$format" 0 report --format $format "$work/name"
	within 20 "regions_$format" 0 report --format $format "$work/regions"
done
within 20 regions_sum 0 report "$work/regions" "$work/regions"
within 20 regions_diff 3 diff "$work/regions" "$work/regions"
within 20 metrics 1 report "$work/metrics"
says 'more than 1024 metrics'
within 40 definitions 0 derived check --pmu skl "$work/x.derived"
{ head -c 300000000 /dev/zero | tr '\0' x; printf '\ncycles\t8\t2\n'; } | within 20 line 2 encode --batch -p skl
says 'line 1: longer than 1048576 bytes'
grep -q '^cycles' "$work/out" || { echo "# the line after it is not answered"; failed=1; }
exit $failed

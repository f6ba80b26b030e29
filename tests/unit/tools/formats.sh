#!/usr/bin/env bash
# tach report --format of google-benchmark, hyperfine, bmf (Bencher) and github-action-benchmark: from a baseline, a
# benchmark's results and a history. google-benchmark's compare.py and tach both read our google-benchmark files; the
# others are checked against their published schema.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach sample=$PWD/tests/unit/report/report/sample.json
. tests/own_folder
. tests/cases formats
cd "$work" || exit 1
touch out err
printf '# tach gate 2: emulated, processor max\nparse "%%09"\tinstructions\texact\ta.c:3\t1000 1000 1004\nparse "%%09"\ttime\ttime\ta.c:3\t5000 5100 5051\n' >one.tsv
printf 'sort\tipc\tmetric\ta.c:9\t1.5 1.6\nsort\tname\tcount\ta.c:9\t7\n' | cat one.tsv - >two.tsv
write() { ends "$1" "$tach" report --format "$2" "${@:3}"; cp out "$2.json"; } # STATUS FORMAT FILE...

write 0 google-benchmark two.tsv; says 'google-benchmark: 1 regions have no time and are left out$'
write 0 hyperfine two.tsv; write 0 bmf two.tsv; write 0 github-action-benchmark two.tsv
python3 - <<'PYTHON' || rc=1
import json
load = lambda name: json.load(open(name + ".json"))
rows = load("google-benchmark")["benchmarks"]
assert [r["real_time"] for r in rows] == [5000, 5100, 5051] and [r["repetition_index"] for r in rows] == [0, 1, 2], rows
assert all(r["name"] == 'parse "?"' and r["time_unit"] == "ns" and r["run_type"] == "iteration" for r in rows), rows
assert [r["instructions"] for r in rows] == [1000, 1000, 1004], rows
# hyperfine's manual, --export-json: seconds of each run and of all together.
(one,) = load("hyperfine")["results"]
assert one["times"] == [5e-6, 5.1e-6, 5.051e-6] and (one["min"], one["median"], one["max"]) == (5e-6, 5.051e-6, 5.1e-6), one
assert abs(one["mean"] - 5.0503333e-6) < 1e-12 and abs(one["stddev"] - 5.0003333e-8) < 1e-12 and one["user"] is None, one
# https://bencher.dev/bmf.json: benchmark, measure, numbers.
bmf = load("bmf")
for measures in bmf.values():
    for metric in measures.values():
        assert {"value"} <= set(metric) <= {"value", "lower_value", "upper_value"}, metric
        assert all(type(v) in (int, float) for v in metric.values()) and metric["lower_value"] <= metric["value"] <= metric["upper_value"]
assert bmf['parse "?"']["latency"] == {"value": 5051, "lower_value": 5000, "upper_value": 5100}, bmf
assert set(bmf["sort"]) == {"ipc", "name"}, bmf
# customSmallerIsBetter: name, unit, value, and a range that its comparison can read. ipc is omitted, because a larger
# ipc is better.
entries = load("github-action-benchmark")
assert all({"name", "unit", "value"} <= set(e) and type(e["value"]) in (int, float) and e["range"][0] == "\u00b1" for e in entries), entries
assert [(e["name"], e["unit"], e["value"]) for e in entries] == [('parse "?": instructions', "instructions", 1000),
    ('parse "?": time', "ns", 5051), ("sort: name", "name", 7)], entries
assert entries[1]["range"] == "\u00b1 51.00", entries
PYTHON
result written

# Several files are several runs; a history gives its newest run; results of the harness give each sample.
write 0 google-benchmark "$sample" "$sample"; grep -q '"repetitions": 2' out || no 'not both runs'
"$tach" history add --commit c0ffee --date 2026-01-01T00:00:00Z h.jsonl one.tsv >/dev/null || rc=1
sed -i 's/1000 1000 1004/2000 2000 2000/' one.tsv
"$tach" history add --commit c0ffef --date 2026-01-02T00:00:00Z h.jsonl one.tsv >/dev/null || rc=1
echo '{"schema":"tach-bench-1","name":"sum/16","iterations":9,"passes":1,"drift":0,"confidence":0.95,"values":[{"name":"time","median":3.8,"mad":0,"low":3.7,"high":3.9,"confidence":0.5,"empty":0,"resolution":0,"samples":2,"outliers":0,"flags":0,"pass":0,"sample":[3.7,3.9]}],"missing":""}' >bench.json
write 0 bmf h.jsonl; grep -q '"value": 2000' out || no 'not the newest run'
for format in google-benchmark hyperfine bmf github-action-benchmark; do
	write 0 $format bench.json; python3 -c 'import json, sys; sys.exit(not json.load(open(sys.argv[1])))' $format.json && grep -q sum/16 out || no "$format has no result of the benchmark"
done
result kinds

# After reading them again, the numbers are the same.
write 0 google-benchmark one.tsv; write 0 hyperfine one.tsv
for format in google-benchmark hyperfine; do
	ends 0 "$tach" diff --format csv --fail-if 'time > 1%' --allow cannot-tell $format.json $format.json
	says ',"time",ns,5051,5051,' out out
done
result read_again

if [ -f /usr/share/benchmark/compare.py ]; then
	/usr/bin/python3 /usr/share/benchmark/compare.py --no-color benchmarks google-benchmark.json google-benchmark.json >out 2>err || rc=1
	is rows "$(grep -c '^parse .* +0.0000 .* 5[0-9]* ' out)" 3
	result compare_py
else
	skip compare_py 'libbenchmark-tools is not installed'
fi

# Each error is one sentence.
printf '# tach gate 2: emulated\nparse\tinstructions\texact\ta.c:3\t1000\n' >counts.tsv
write 1 hyperfine counts.tsv; says '^tach report: hyperfine: 1 regions have no time and are left out: nothing is written$'; is bytes "$(wc -c <out)" 0
write 1 bmf absent.json; says 'absent.json: No such file'
write 1 bmf /dev/zero; says '/dev/zero: Invalid argument'
write 2 bmf --ranks one.tsv; says 'takes files, not -p and not --ranks'
ends 1 "$tach" report --format bmf -o /dev/full one.tsv; says '/dev/full: No space left on device'
result refused
exit $failed

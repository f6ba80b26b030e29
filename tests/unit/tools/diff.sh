#!/usr/bin/env bash
# tach diff: exact counts of one run, folders of runs, regions that move or vanish, two rows with one name, misspelt
# names, files of all kinds, and output that is either complete or absent.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach sample=$PWD/tests/unit/report/report/sample.json
. tests/own_folder
. tests/cases diff
cd "$work" || exit 1
touch out err
differ() { ends "$1" "$tach" diff "${@:2}"; } # STATUS ARGUMENT...
says() { grep -qE -- "$1" out err || no "it does not say: $1"; }
cat >report.py <<'PYTHON'
# report.py FILE NAME:LINE:TIME:INSTRUCTIONS...
import json, sys
def value(x): return {"value": x, "raw": x, "overhead": 0, "error": 0, "flags": []}
regions = []
for words in sys.argv[2:]:
    name, line, time, count = words.split(":")
    values = {"time": value(float(time)), "instructions": value(float(count))}
    regions.append({"name": name, "file": "src/a.c", "function": "f", "line": int(line), "fenced": False, "entries": 1,
        "calls": 1, "outermost": 1, "skipped": 0, "excluded": 0, "nested": 0, "threads": 1, "provenance": {},
        "inclusive": values, "self": values})
json.dump({"tach": 1, "version": "1", "note": "", "clock": {"hz": 1e9, "estimate": False}, "threads": 1, "refused": 0,
    "lost": 0, "stale": 0, "unopened": 0, "reports": 1, "quantities": [{"name": "time"}, {"name": "instructions"}],
    "metrics": [], "regions": regions}, open(sys.argv[1], "w"))
PYTHON
report() { python3 report.py "$@"; }

# One run: exact counts are compared, time is not. Units are the tables' units.
report old.json parse:12:122600000:1000000 lex:40:50:5000
report new.json parse:12:122600000:220000 lex:40:50:5030
differ 1 old.json new.json
says '^parse +time +122\.6 ms +122\.6 ms +\+0\.00 % .* cannot tell: too few values$'
says '^parse +instructions +1\.000 M +220\.0 k +-78\.00 % .* better$'; says '^lex +instructions .* worse$'
says '^1 of 4 comparisons worse, 1 better, 2 undecided\.$'; says '^One run of each side is enough only for exact counts'
differ 0 --fail-if 'instructions > 1%' old.json new.json; says '^lex .* no change larger than 0\.6 %$'
differ 3 old.json old.json; says '^parse +instructions .* no change$'
differ 0 --allow cannot-tell old.json old.json
differ 1 --allow cannot-tell old.json new.json
result one_run

# Regions with the same name are matched in order, because lines move; if one was added, by place. They are shown with
# file and line.
report old.json loop:10:10:100 loop:20:10:9000
report new.json loop:20:10:100 loop:30:10:18000
differ 1 --fail-if 'instructions > 1%' old.json new.json
says '^loop src/a.c:20 +instructions +100 +100 .* no change$'; says '^loop src/a.c:30 +instructions +9000 +18.00 k +\+100\.00 % .* worse$'
differ 1 --fail-if 'instructions > 1%' --format csv old.json new.json
says '^"loop","src/a.c",30,"instructions",count,9000,18000,1,'
differ 1 --fail-if 'instructions > 1%' --format json old.json new.json
python3 - <<'PYTHON' || rc=1
import json
report = json.load(open("out"))
assert [(c["file"], c["line"], c["verdict"]) for c in report["comparisons"]] == [("src/a.c", 20, "no change"), ("src/a.c", 30, "worse")], report
assert report["status"] == 1 and report["worse"] == 1 and report["judged"] == 2 and report["old"]["most"] == 1
PYTHON
report new.json loop:5:10:77 loop:10:10:100 loop:20:10:9000
differ 0 --fail-if 'instructions > 1%' old.json new.json
says '^loop src/a.c:5 +instructions +- +77 +- .* new$'; [ "$(grep -c 'no change$' out)" = 2 ] || rc=1
differ 3 --fail-if 'instructions > 1%' new.json old.json; says '^loop src/a.c:5 .* gone$'
differ 0 --fail-if 'instructions > 1%' --allow gone new.json old.json
result places

# Folders of runs: equal runs are similar, a time that is 10 % longer is found, and if noise hides a change, the
# output says so.
report one.json work:1:1234567:1000
for folder in old same slower noisy; do
	mkdir $folder
	for i in 0 1 2 3 4 5 6 7 8 9; do cp one.json $folder/$i.json; done
done
i=0
for ns in 4 1 7 2 8 0 6 3 5 9; do
	sed -i "s/1234567/150000$ns/g" old/$i.json; sed -i "s/1234567/150000$((9 - ns))/g" same/$i.json
	sed -i "s/1234567/165000$ns/g" slower/$i.json; sed -i "s/1234567/$((100000 + 10000 * ns))/g" noisy/$i.json
	i=$((i + 1))
done
differ 0 old same; says '^work +time +1\.500 ms +1\.500 ms .* no change larger than 0\.0[0-9]+ %$'; says '^old: 10 runs; same: 10 runs\.$'
differ 1 old slower; says '^work +time .* \+10\.00 % .* worse$'
differ 0 slower old; says '^work +time .* better$'
differ 3 noisy noisy; says '^work +time .* cannot tell: the change may be from -[0-9.]+ % to \+[0-9.]+ %$'
rm slower/[1-9].json
differ 3 old slower; says '^old: 10 runs; slower: 1 run\.$'
mkdir empty; differ 2 empty old; says 'empty: there is no report in it'
result folders

# A misspelt name is an error, and so is an unreadable file.
report old.json work:1:5:1000
differ 2 --region work,wrok old.json old.json; says -- '--region wrok: neither side has such a region'
differ 2 --fail-if 'instrucitons > 1%' old.json old.json; says "'instrucitons': no quantity of that name was measured"
for bad in 'time > %' 'time > 1' 'time' 'time > -1%' 'time > nan%' '> 1%'; do
	differ 2 --fail-if "$bad" old.json old.json; says "takes 'QUANTITY > \+X%'"
done
differ 2 old.json; says 'give two files'
differ 2 old.json nothing.json; says 'nothing.json: No such file'
echo '{"tach": 1' >bad.json; differ 2 old.json bad.json; says 'bad.json:2:1: '
echo '# tach gate 2: x' >bad; printf 'a\tb\tcount\tf:1\tx\n' >>bad; differ 2 bad old.json; says 'bad:2: this is not a line'
printf '# tach gate 2: x\na\tb\tcount\tf\t1\n' >bad; differ 2 bad old.json; says 'bad:2: this is not a line'
differ 2 --format pdf old.json old.json; says 'takes text, json'
result refused

# Other kinds of files, by their content: a metric without a rule, benchmarks, google-benchmark's, tach run -r.
differ 3 "$sample" "$sample"; says '^parse +ipc .* -5\.00 % +cannot tell'
sed 's/"ipc"/"mix"/' "$sample" >mix.json; differ 3 mix.json mix.json; says '^parse +mix +2\.500 +2\.500 .* - +not judged$'
python3 - <<'PYTHON'
import json
for name, by in ("a", 1), ("b", 1.5):
    with open(name + ".bench", "w") as to:
        for bench in "sort", "copy":
            json.dump({"schema": "tach-bench-1", "name": bench, "iterations": 1, "passes": 1, "drift": 0, "confidence": 0.95,
                "values": [{"name": "time", "empty": 0, "resolution": 0, "outliers": 0, "flags": 0, "pass": 0, "sample":
                [(100 + i * 7 % 11 / 10) * (by if bench == "sort" else 1) for i in range(31)]}], "missing": ""}, to, separators=(",", ":"))
            to.write("\n")
    json.dump({"benchmarks": [{"name": "sort", "run_type": "iteration", "real_time": (100 + i * 7 % 11 / 10) * by, "time_unit": "us"}
        for i in range(20)]}, open(name + ".google", "w"))
PYTHON
differ 1 a.bench b.bench; says '^sort +time +100\.5 ns +150\.8 ns +\+50\.00 % .* worse$'; says '^copy .* no change larger than'; says '^a.bench: 31 samples; '
# Aggregates: uses the median, and no failed run.
cat >c.google <<'J'
{"benchmarks": [{"name": "sort_mean", "run_name": "sort", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 7, "time_unit": "us"},
{"name": "sort_median", "run_name": "sort", "run_type": "aggregate", "aggregate_name": "median", "real_time": 5, "time_unit": "us"},
{"name": "copy", "run_name": "copy", "run_type": "iteration", "real_time": 3, "time_unit": "us"},
{"name": "copy", "run_name": "copy", "run_type": "iteration", "error_occurred": true, "real_time": 90, "time_unit": "us"},
{"name": "broken", "run_name": "broken", "run_type": "iteration", "error_occurred": true, "real_time": 0, "time_unit": "us"}]}
J
differ 3 c.google c.google; says '^sort +time +5\.000 us '; says '^copy +time +3\.000 us '; says '^0 of 2 comparisons'
differ 1 a.google b.google; says '^sort +time +100\.[0-9] us +150\.[0-9] us .* worse$'
"$tach" run -r 3 --outside -e page-faults -o repeat.json --format json -- true 2>err && differ 3 repeat.json repeat.json && says '^\(command\) +time .* cannot tell'
result kinds

# The output file is the complete new one or the old one.
differ 1 -o kept.csv a.bench b.bench; grep -q '^"sort",' kept.csv || rc=1
cp kept.csv kept
(trap '' XFSZ; ulimit -f 0; "$tach" diff --format json -o kept.csv a.bench b.bench 2>&1) | cat >err
cmp -s kept kept.csv && says 'kept.csv: File too large' || rc=1
"$tach" diff -o /dev/stdout a.bench b.bench | grep -q 'comparisons worse' || rc=1
differ 1 -o out.md a.bench b.bench; grep -q '^### tach diff: worse$' out.md || rc=1
# The page: bars of both sides, the interval of each change, names that cannot become markup, and no request to a
# server.
report '<b>.json' 'x<script>"&:12:100:1000' gone:1:1:1
report new.json 'x<script>"&:12:100:3000' fresh:2:1:1
differ 1 -o out.html '<b>.json' new.json
python3 - <<'PYTHON' || no "the page"
from html.parser import HTMLParser
open_tags, rows, text = [], 0, ""
class Page(HTMLParser):
    def handle_starttag(self, tag, attrs):
        global rows
        rows += tag == "tr"
        assert not any(name in ("src", "href") for name, _ in attrs)
        assert tag not in ("script", "link")
        if tag not in ("meta",):
            open_tags.append(tag)
    def handle_endtag(self, tag):
        assert open_tags.pop() == tag, tag
    def handle_data(self, data):
        global text
        text += data
page = open("out.html").read()
Page().feed(page)
assert not open_tags and rows == 7, (open_tags, rows)
for words in ('x<script>"&', "<b>.json (1 run)", "worse", "gone", "+200.00 %", "cannot tell: too few values"):
    assert words in text, words
assert page.count('class="pair"') == 6 and page.count('class="interval"') == 6
PYTHON
result page

differ 1 -o out.xml a.bench b.bench; grep -q '<testsuite name="tach diff" tests="2" failures="1" errors="0">' out.xml || rc=1
# Its older name.
ends 1 "$tach" report --diff --format csv a.bench b.bench; cmp -s out kept.csv || rc=1
result output
exit $failed

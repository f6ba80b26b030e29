#!/usr/bin/env bash
# tach report: every format of a saved report, loading, merging, comparing, and errors.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$B/tach sample=tests/unit/report/report/sample.json
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
result() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok report_$1"; else echo "not ok report_$1"; failed=1; fi
}
# Text that a file must contain.
has() { grep -qF -- "$1" "$2" || { echo "# no '$1' in:"; head -20 "$2" | sed 's/^/#   /'; return 1; }; }

version=$($tach version | grep -o '[0-9][0-9.]*' | head -1)
for format in text csv prometheus; do
	rc=0
	$tach report --format $format $sample | sed "s/version=\"$version\"/version=\"0.1.0\"/" >"$work/out"
	diff "tests/unit/report/report/sample.$format" "$work/out" >"$work/diff" || { sed 's/^/# /' "$work/diff" | head; rc=1; }
	result $format $rc
done

# Writing a loaded report and loading it again gives the same bytes; suffixes select formats.
rc=0
$tach report -o "$work/a.json" $sample && $tach report -o "$work/b.json" "$work/a.json" &&
	cmp "$work/a.json" "$work/b.json" || rc=1
for pair in csv:csv prom:prometheus txt:text html:html json:json; do
	$tach report -o "$work/s.${pair%:*}" "$work/a.json"
	$tach report --format "${pair#*:}" $sample | cmp -s - "$work/s.${pair%:*}" || { echo "# $pair"; rc=1; }
done
$tach report - <"$work/a.json" | cmp -s - tests/unit/report/report/sample.text || rc=1
result round_trip $rc

# Sums, with the metric computed again: the file has 2.5, the sum has its formula's value.
rc=0
$tach report --format csv $sample $sample >"$work/sum" || rc=1
has '"parse","src/parse.c",12,2000,2000,inclusive,"time_ns",3000000,3020000,6000,""' "$work/sum" || rc=1
has '12,2000,2000,self,"ipc",2.5,' "$work/sum" || rc=1
has 'inclusive,"ipc",3002399751.58' "$work/sum" || rc=1
$tach report -o "$work/sum.json" $sample $sample && $tach report --format csv "$work/sum.json" | cmp -s - "$work/sum" || rc=1
# Reports with other quantities: the quantities stay separate, and are lost in reports without them.
sed 's/"cycles"/"ticks"/; s/"cycles":/"ticks":/' "$work/a.json" >"$work/ticks.json"
$tach report --format csv $sample "$work/ticks.json" >"$work/both" || rc=1
has '12,2000,2000,inclusive,"cycles",3000000,3020000,0,"rescheduled incomplete lost"' "$work/both" || rc=1
has '12,2000,2000,inclusive,"ticks",3000000,3020000,0,"rescheduled incomplete lost"' "$work/both" || rc=1
result sums $rc

# A thousand reports need the memory of a few, because only one report and the sum are in memory. The memory limit
# under which ten reports succeed does not depend on the machine's other work, unlike resident memory.
if ldd "$B/libtach.so" | grep -qE 'libasan|libtsan'; then
	echo "skip report_thousand: a sanitizer's own memory grows"
else
	rc=0
	a=$work/a.json thousand=$work/thousand.json
	added() { # KIB FILE...: with so much memory
		(ulimit -v "$1" && exec "$tach" report -o "$thousand" "${@:2}") >"$work/out" 2>&1
	}
	few=1024 most=1048576
	while [ $((most - few)) -gt 16 ]; do
		half=$(((few + most) / 2))
		if added $half "$a"{,,,,,,,,,}; then most=$half; else few=$half; fi
	done
	mapfile -t all < <(yes "$a" | head -n 1000)
	echo "# $most KiB for 10"
	added $((most + 256)) "${all[@]}" || { echo "# not with $((most + 256)) KiB for 1,000: $(head -1 "$work/out")"; rc=1; }
	python3 - "$thousand" <<'P' || rc=1
import json, sys
whole = json.load(open(sys.argv[1]))
parse = next(r for r in whole["regions"] if r["name"] == "parse")
sys.exit(whole["reports"] != 1000 or parse["calls"] != 1000000)
P
	result thousand $rc
fi

# Names that are long, wide, empty, or would control a terminal; narrow terminals, terminals without UTF-8 or colours,
# and terminals that state their width.
rc=0
odd=tests/unit/report/report/odd
for format in text csv prometheus; do
	$tach report --format $format $odd.json | sed "s/version=\"$version\"/version=\"0.1.0\"/" >"$work/out"
	diff "$odd.$format" "$work/out" >"$work/diff" || { sed 's/^/# /' "$work/diff" | head; rc=1; }
done
on_terminal() { # GOLDEN COLUMNS VARIABLE=VALUE...
	local golden=$1 columns=$2; shift 2
	script -qec "stty cols $columns; env -u NO_COLOR -u COLUMNS LC_ALL=C.UTF-8 TERM=xterm $* $tach report $odd.json" /dev/null </dev/null | tr -d '\r' >"$work/out"
	diff "$odd.$golden" "$work/out" >"$work/diff" || { echo "# $golden: $*"; sed 's/^/# /' "$work/diff" | head; rc=1; }
}
if command -v script >/dev/null; then
	on_terminal 40 40
	on_terminal 40 200 COLUMNS=40
	on_terminal 40 40 NO_COLOR=
	on_terminal text 80 NO_COLOR=1 COLUMNS=100
	on_terminal ascii 200 LC_ALL=C TERM=dumb
fi
result odd_names $rc

# Rows fit the terminal, or 100 columns; equal names are distinguished by their place.
rc=0
python3 - "$work" <<'P'
import json, sys
value = {"value": 123456, "raw": 123456, "overhead": 0, "error": 99, "flags": []}
names = ["time"] + ["an_event_of_a_long_name_%d" % i for i in range(9)]
part = {n: value for n in names}
def region(name, file, line):
    return {"name": name, "file": file, "function": "f", "line": line, "fenced": False, "entries": 10, "calls": 10,
            "outermost": 10, "skipped": 0, "excluded": 0, "nested": 5, "threads": 1,
            "provenance": {"rescheduled": 1, "incomplete": 2, "syscall": 3, "scaled": 4, "mixed": 5, "lost": 6},
            "inclusive": part, "self": part}
long = "\u8a9e" * 60
regions = [region("same", "src/lex.c", 3), region("same", "src/parse.c", 77), region("other", "src/x.c", 5),
           region("x" * 200, "a.c", 1), region("x" * 200, long + ".c", 2), region(long, long, 3), region(long, long, 4)]
json.dump({"tach": 1, "version": "1", "note": "", "clock": {"hz": 1e9, "estimate": False}, "threads": 1, "refused": 0,
           "lost": 0, "stale": 0, "unopened": 0, "reports": 1, "quantities": [{"name": n} for n in names],
           "metrics": [], "regions": regions}, open(sys.argv[1] + "/wide.json", "w"))
P
fits() { # COLUMNS FILE
	python3 - "$1" "$2" <<'P' || rc=1
import re, sys, unicodedata
rows = re.sub("\033\\[[0-9]*m", "", open(sys.argv[2]).read()).split("\nThe cost")[0].split("\n")
wide = [r for r in rows if sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in r) > int(sys.argv[1])]
if wide:
    sys.exit("# wider than %s: %s" % (sys.argv[1], wide[0]))
P
}
$tach report "$work/wide.json" >"$work/out" || rc=1
fits 100 "$work/out"
grep -q '^same lex.c:3 ' "$work/out" && grep -q '^same parse.c:77 ' "$work/out" && grep -q '^other  ' "$work/out" ||
	{ echo '# equal names'; rc=1; }
if command -v script >/dev/null; then
	for columns in 40 60 80 132 250; do
		script -qec "stty cols $columns; env -u COLUMNS LC_ALL=C.UTF-8 TERM=xterm $tach report $work/wide.json" /dev/null </dev/null | tr -d '\r' >"$work/out"
		fits $columns "$work/out"
	done
fi
result rows_fit $rc

# Errors name the place and the fault.
rc=0
refused() { # TEXT WANTED
	printf '%s' "$1" >"$work/bad.json"
	$tach report "$work/bad.json" >"$work/out" 2>&1; [ $? = 1 ] || { echo "# taken: $1"; rc=1; }
	has "$2" "$work/out" || rc=1
}
refused '' ':1:1: the text ends too soon'
refused '{"tach": 1,}' ':1:12: expected a name in quotes'
refused $'{"tach": 1,\n "version": 01}' ":2:14: expected ',' or '}'"
refused '{"tach": 2}' 'a report of schema version 2; this library reads version 1'
refused '{"tacho": 1}' ":1:1: not a report of tach: 'tach' is missing"
refused '{"tach": "1"}' ":1:10: 'tach' is not a number"
refused "$(sed 's/"calls": 7,/"calls": -7,/' $sample)" "'calls' is not a count"
refused "$(sed 's/"ipc": {"value": null/"ips": {"value": null/' $sample)" "'ipc' is missing"
refused "$(sed 's/\[900, 999, 600\]/[900, 999]/' $sample)" 'a bucket is [low, high, count]'
refused "$(sed 's|N1 / N0|N1 / N2|' $sample)" 'N2'
$tach report "$work/none.json" 2>"$work/out"; [ $? = 1 ] || rc=1
has 'No such file' "$work/out" || rc=1
for usage in '' '--diff a' '--format odd a' '--diff --format pdf a b' '--bogus a'; do
	# shellcheck disable=SC2086
	$tach report $usage >/dev/null 2>&1; [ $? = 2 ] || { echo "# status of: $usage"; rc=1; }
done
result errors $rc

# The page: its pictures are inside, no request goes to a server, and names cannot become markup.
rc=0
$tach report -o "$work/page.html" $sample
has '<svg viewBox="0 0 300 104"' "$work/page.html" || rc=1
has 'A &quot;note&quot; with &lt;b&gt;markup&lt;/b&gt; &amp; more.' "$work/page.html" || rc=1
[ "$(grep -c '</script>' "$work/page.html")" = 2 ] || { echo '# a name ends a script'; rc=1; }
grep -nE 'https?:|src=|<link|@import|url\(' "$work/page.html" && rc=1
sed -n '/id="data">/,/<\/script>/p' "$work/page.html" | sed '1d;$d' | cmp - <($tach report --format json $sample) || rc=1
result page $rc

# Results of benchmarks are plotted by their argument; those without an argument are only in the table.
rc=0
for n in 1 10 100; do
	echo '{"schema":"tach-bench-1","name":"sum<b>/'$n'","host":"here","values":[{"name":"time","median":'$n'.5,"low":'$n',"high":'$n'.75,"samples":9}]}'
done >"$work/bench.json"
echo '{"schema":"tach-bench-1","name":"alone","values":[{"name":"time","median":1,"low":1,"high":1,"samples":9}]}' >>"$work/bench.json"
$tach report "$work/bench.json" -o "$work/bench.html" || rc=1
[ "$(grep -o '<circle' "$work/bench.html" | wc -l)" = 3 ] || { echo '# not three points'; rc=1; }
has '<h3>sum&lt;b&gt;</h3>' "$work/bench.html" || rc=1
has 'argument, logarithmic' "$work/bench.html" || rc=1
has '<th scope="row">alone</th>' "$work/bench.html" || rc=1
grep -nE 'https?:|src=|<link|<script|<b>/' "$work/bench.html" && rc=1
$tach report "$work/bench.json" >/dev/null 2>"$work/out"; [ $? = 2 ] || { echo '# as text'; rc=1; }
echo '{"schema":' >>"$work/bench.json"
$tach report "$work/bench.json" -o "$work/bench.html" 2>"$work/out"; [ $? = 1 ] || { echo '# a line that is cut'; rc=1; }
has 'bench.json:5:' "$work/out" || rc=1
result bench $rc
exit $failed

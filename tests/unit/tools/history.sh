#!/usr/bin/env bash
# tach history: runs are added completely or not at all, change points are shown with their commit, other machines and
# other ways of counting have separate lines, and an invalid file gives a one-sentence error.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach sample=$PWD/tests/unit/report/report/sample.json
. tests/own_folder
. tests/cases history
cd "$work" || exit 1
touch out err
git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main "$@"; }
baseline() { printf '# tach gate 2: %s\nparse\tinstructions\texact\ta.c:3\t%s %s\nsort\ttime\ttime\ta.c:9\t%s\n' "$1" "$2" "$2" "$3" >new.tsv; } # HOW COUNT TIMES
add() { "$tach" history add --commit "c0ffee$1" --subject "Change $1" --date "2026-01-$1T00:00:00Z" "${@:2}" h.jsonl new.tsv >out 2>err; } # DAY OPTION...
same() { cmp -s h.jsonl kept || no 'the history changed'; }
one_sentence() { [ "$(wc -l <err)" = 1 ] || no "$(wc -l <err) lines of error"; }

for day in 10 11 12 13 14; do
	baseline 'emulated, processor max' $((1000 + (day > 12))) '100 101 102'
	add $day || no "adding $day"
done
is lines "$(wc -l <h.jsonl)" 5
ends 0 "$tach" history show h.jsonl
says '^c0ffee13 +2026-01-13 +worse +\+0\.10 % +1000 +1001 +parse +instructions +Change 13$' out
says '^parse +instructions +5 +1 +1001 +c0ffee14 +emulated, processor max; ' out
says '^sort +time +5 +0 +101\.0 ns ' out; says '^5 commits, 5 runs, 1 change points\.$' out
! grep -q apart out || no 'lines are apart'
ends 0 "$tach" history show --least 1 h.jsonl; says ' 0 change points' out
ends 0 "$tach" history show --region sort h.jsonl; ! grep -q parse out || no 'a region that was not asked for'
result steps

cp h.jsonl kept
baseline 'emulated, processor max' 900 100
add 15; ends 0 "$tach" history show h.jsonl; says '^c0ffee15 .* better +-10\.09 % ' out
baseline 'another way' 5000 100
add 16; add 17 --machine elsewhere; ends 0 "$tach" history show h.jsonl
says '^parse .* another way; elsewhere$' out; says '^4 lines are apart from another of the same name' out; says ' 2 change points' out
result apart

# A history is a baseline: its newest runs that were counted in the same way.
baseline 'emulated, processor max' 950 100
ends 1 "$tach" gate --baseline h.jsonl --candidate new.tsv; says '^parse +instructions +900 +950 .* worse$' out
baseline 'a third way' 950 100
ends 2 "$tach" gate --baseline h.jsonl --candidate new.tsv; says "no run in it was 'a third way' on this machine"; one_sentence
ends 2 "$tach" gate --baseline absent.jsonl --candidate new.tsv; one_sentence
result baseline

# Results of all kinds.
printf '' >k.jsonl
# shellcheck disable=SC2016
kind() { ends 0 "$tach" history add --commit abcd --date 2026-01-01T00:00:00+01:00 k.jsonl "$1"; says "added abcd, [0-9]+ values, $2" out; } # FILE HOW
kind "$sample" "counted by this machine's PMU"
baseline 'emulated, processor max' 950 100
"$tach" gate --baseline new.tsv --candidate new.tsv --fail-if 'instructions > 1%' --format json >verdict.json; kind verdict.json 'emulated, processor max'
echo '{"benchmarks": [{"name": "BM_sort", "run_type": "iteration", "real_time": 12.5, "cpu_time": 12, "time_unit": "us", "iterations": 10}]}' >google.json
kind google.json 'time on this machine'
echo '{"results": [{"command": "sleep 0.1", "mean": 0.1, "times": [0.101, 0.102, 0.1035]}, {"command": "true", "mean": 0.001}]}' >hyperfine.json
kind hyperfine.json 'time on this machine'; tail -1 k.jsonl | grep -qF '{"region":"sleep 0.1","quantity":"time","kind":"time","values":[101000000,102000000,103500000]}' || no 'not the times of hyperfine'
mkdir -p criterion/group/sort/new criterion/group/sort/base criterion/report
echo '{"sampling_mode":"Linear","iters":[1.0,2.0,4.0],"times":[100.0,220.0,400.0]}' | tee criterion/group/sort/base/sample.json >criterion/group/sort/new/sample.json
kind criterion/ 'time on this machine'; tail -1 k.jsonl | grep -qF '{"region":"group/sort","quantity":"time","kind":"time","values":[100,110,100]}' || no 'not the times of criterion'
echo '{"results": [{"mean": 1}]}' >odd.json; ends 2 "$tach" history add --commit x k.jsonl odd.json; says 'odd.json:1:14: this is no result of hyperfine'; 
echo '{}' >criterion/group/sort/new/sample.json; ends 2 "$tach" history add --commit x k.jsonl criterion; says 'this is no sample of criterion'
rm -r criterion/group; ends 2 "$tach" history add --commit x k.jsonl criterion; says 'criterion: there is no report in it'
is dates "$(grep -c '"date":"2025-12-31T23:00:00Z"' k.jsonl)" 5
result kinds

# Invalid files: no data are lost.
cp h.jsonl kept
baseline 'emulated, processor max' 900 100
add 09 && no 'a clock that goes backward'; says 'is dated before the last one .* and was not added'; one_sentence; same
ends 2 "$tach" history add --commit x --date yesterday h.jsonl new.tsv; says "not 'yesterday'"; same
ends 2 "$tach" history add --commit x h.jsonl absent.tsv; one_sentence; same
(sed -n 2p kept; cat kept) >h.jsonl
ends 3 "$tach" history show h.jsonl; says 'h.jsonl:2: this run is dated before the one above it'; one_sentence; says ' 9 runs' out
ends 3 "$tach" history page -o page.html h.jsonl; says 'Line 2 of the file is dated before' page.html
sort -o h.jsonl h.jsonl; ends 0 "$tach" history show h.jsonl
head -c -20 kept >h.jsonl; cp h.jsonl cut
add 20 && no 'a line after one that is cut off'; says 'h.jsonl:8: the last line is cut off; delete it'; one_sentence; cmp -s h.jsonl cut || no 'the history changed'
ends 3 "$tach" history show h.jsonl; one_sentence; says ' 7 runs' out
echo '{"tach-history":1}' >odd.jsonl; ends 2 "$tach" history show odd.jsonl; says 'odd.jsonl:1:1: this is no run of a history'; one_sentence
echo '{"tach-history":1,"series":[}' >odd.jsonl; ends 2 "$tach" history show odd.jsonl; says 'odd.jsonl:1:29: '; one_sentence
printf '# tach gate 2: emulated\n' >empty.tsv; cp kept h.jsonl
ends 3 "$tach" history add --commit x h.jsonl empty.tsv; says 'nothing was measured: nothing is added'; same
ends 2 "$tach" history add --commit x . new.tsv; one_sentence
ends 2 "$tach" history add --commit x /dev/null new.tsv; says 'Invalid argument'; one_sentence
ends 2 "$tach" history add --commit x h.jsonl /dev/full; says '/dev/full: Invalid argument'; one_sentence; same
result wrong

# Two branches both add runs: git leaves a conflict, or with merge=union no conflict.
mkdir repository && cd repository && git init -q . && cp ../kept h.jsonl && git add . && git commit -qm 'Begin <here> & "now"' >/dev/null
touch ../out ../err
ends_here() { local want=$1 got; shift; "$@" >../out 2>../err; got=$?; [ $got = "$want" ] || no "status $got, not $want, of: $*"; }
ends_here 0 "$tach" history add h.jsonl ../new.tsv
grep -q "\"commit\":\"$(git rev-parse HEAD)\",\"subject\":\"Begin .*here" h.jsonl || no 'not the commit that is checked out'
git commit -qam one; git checkout -qb other HEAD~1; ends_here 0 "$tach" history add --machine other h.jsonl ../new.tsv; git commit -qam two
git merge -q main >/dev/null 2>&1 && no 'git merges without a conflict'
cp h.jsonl marked
ends_here 2 "$tach" history show h.jsonl; ends_here 2 "$tach" history add h.jsonl ../new.tsv; cmp -s h.jsonl marked || no 'the history changed'
grep -q 'h.jsonl:9: git left a conflict here: delete its marker lines' ../err || no 'no word of the conflict'
git merge --abort; echo 'h.jsonl merge=union' >.gitattributes; git add . && git commit -qm union && git merge -q main >/dev/null 2>&1 || no 'union does not merge'
ends_here 0 "$tach" history show h.jsonl; grep -q ' 10 runs' ../out || no 'not all runs are there'
cd ..
result conflict

# The page: users' texts stay text, and no request goes to a server.
baseline 'emulated, processor max' 1100 100
"$tach" history add --commit 'c0ffee18' --subject '</script><b>&"' --date 2026-02-01T00:00:00Z h.jsonl new.tsv >out 2>err || no add
ends 0 "$tach" history page --title 'A & B' --url 'https://example.org/a"b' -o page.html h.jsonl
says '<title>A &amp; B</title>' page.html; says '<a href="https://example.org/a&quot;b/commit/c0ffee18">c0ffee18</a><small>&lt;/script&gt;&lt;b&gt;&amp;&quot;</small>' page.html
says '<a href="#a=c0ffee15&amp;b=c0ffee18">' page.html
! grep -qE '(src|href)="http[^"]*"' <(sed 's/href="https:\/\/example.org\/a[^"]*"//g' page.html) || no 'the page asks for something'
is scripts "$(grep -c '</script>' page.html)" 2
python3 - <<'PYTHON' || rc=1
import json, re
data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', open("page.html").read(), re.S).group(1))
assert [c["commit"] for c in data["commits"]][-1] == "c0ffee18" and data["commits"][-1]["subject"] == '</script><b>&"', data["commits"][-1]
assert len(data["groups"]) == 3 and len(data["lines"]) == 6
parse = [l for l in data["lines"] if l["region"] == "parse" and l["group"] == 0][0]
assert [v[1] for v in parse["values"]] == [1000, 1000, 1000, 1001, 1001, 900, 1100], parse
assert [c["verdict"] for c in parse["changes"]] == ["worse", "better", "worse"]
PYTHON
result page
exit $failed

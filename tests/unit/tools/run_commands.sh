#!/usr/bin/env bash
# tach run -r N -- ONE :: Several commands run in turns: each is compared with the first, with exact counts in an
# emulator; errors of the command line; the JSON is read back, with each command as a region.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach
. tests/emulator run_commands
. tests/own_folder
. tests/cases run_commands
cd "$work" || exit 1
run() { ends "$1" "$tach" run "${@:2}"; } # STATUS ARGUMENT...
echo 'int main(int n, char **v) { volatile int i = 0; (void)v; while (i < (n > 1 ? 20000 : 10000)) i = i + 1; return n > 2 ? 3 : 0; }' | gcc -O1 -x c -o count - || exit 1

run 0 -r 2 --emulate -e instructions -- ./count :: ./count twice
says '^1: \./count$'; says '^2: \./count twice$'
says '^region +quantity +command +runs +median +from +to +sure +mean +change verdict$'
says '^\(all threads\) +instructions +1 +2 +[0-9.]+ [kM] .* [0-9.]+ [kM]$'
says '^\(all threads\) +instructions +2 +2 +[0-9.]+ [kM] .* \+[0-9.]+ % worse$'
says '^[12] of [0-9] comparisons worse, .*\.$'; says '^\./count: 2 runs; \./count twice: 2 runs\.$'
result text

run 0 -r 2 --emulate -e instructions --format json -o three.json -- ./count twice :: ./count :: ./count twice
run 0 -r 2 --emulate -e instructions --format csv -o two.csv -- ./count :: ./count twice
python3 - <<'PYTHON' || rc=1
import csv, json
rows = [s for s in json.load(open("three.json"))["series"] if s["quantity"] == "instructions" and s["region"] == "(all threads)"]
assert [r["command"] for r in rows] == ["./count twice", "./count", "./count twice"], rows
assert "verdict" not in rows[0] and [r["verdict"] for r in rows[1:]] == ["better", "no change"], rows
# A few tens of instructions may differ from run to run: 15 and 57 were seen.
assert abs(rows[2]["change"]) < 0.002 and -0.6 < rows[1]["change"] < -0.01, rows
assert [len(r["values"]) for r in rows] == [2, 2, 2], rows
assert abs(rows[1]["change"] - (rows[1]["median"] / rows[0]["median"] - 1)) < 0.002, rows
table = [r for r in csv.DictReader(open("two.csv", newline="")) if r["quantity"] == "instructions"]
assert [(r["command"], r["verdict"]) for r in table] == [("./count", ""), ("./count twice", "worse")], table
PYTHON
ends 0 "$tach" report --format bmf three.json
python3 -c 'import json; d = json.load(open("out")); assert {"./count", "./count: (all threads)", "./count twice"} <= set(d), d' || rc=1
result machine

# The commands alternate, and the first command of each round changes. All commands get the same standard input.
echo words >input
run 0 -r 3 --outside -o table -- sh -c 'cat >>read; printf 1 >>order' :: sh -c 'cat >>read; printf 2 >>order' <input
is order "$(cat order)" 122112; is lines "$(grep -c '^words$' read)" 6
result turns

run 3 -r 2 --outside -o table -- true :: ./count 1 2 :: false
run 125 -r 2 --outside -o table -- true :: sh -c 'test ! -e here && touch here'; says 'run 2 ended with status 1, the first with 0'
run 127 -r 2 --outside -- true :: ./absent; says 'absent: No such file'
for words in ':: true' 'true ::' 'true :: :: true'; do
	# shellcheck disable=SC2086
	run 125 -r 2 --outside -- $words; says "with -r, '::' stands between two commands$"
done
run 0 --outside -o table echo a :: b; is words "$(cat out)" 'a :: b'
result statuses
exit $failed

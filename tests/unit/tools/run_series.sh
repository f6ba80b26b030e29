#!/usr/bin/env bash
# tach run -I, -p and -r: interval counts from outside add up to the total; a running process with existing and future
# threads; and repeated runs with median, interval and mean. Any machine counts page faults: the program touches a
# known number of pages.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$B/tach
. tests/own_folder
. tests/unsanitized run_series "a sanitizer's library touches pages of its own"
gcc -O1 -o "$work/faults" tests/unit/tools/run/faults.c -lpthread || exit 1
"$tach" run --outside --format csv -e page-faults true 2>&1 | grep -q '"page-faults",[0-9]' ||
	{ echo "skip run_series: perf_event_open is not permitted"; exit 77; }

. tests/cases run_series
run() { ends "$1" "$tach" run "${@:2}"; } # STATUS ARGUMENT...

first_row() { # FILE: until it is there; minutes are no limit that a slow machine meets
	for _ in {1..10000}; do
		[ ! -s "$work/$1" ] && kill -0 $counting 2>/dev/null || return
		sleep 0.02
	done
}

# The start of the program takes some hundred more faults. The program continues when the first interval is over,
# however late that is.
mkfifo "$work/there" "$work/go" "$work/gone"
"$tach" run -I 0.05 --format json -e page-faults -m 'twice = 2 * page-faults' -o "$work/series.json" "$work/faults" 5000 "$work/there" "$work/go" \
	>"$work/out" 2>"$work/err" & counting=$!
read -r -n 1 _ <"$work/there"
first_row series.json
echo b >"$work/go"; wait $counting || rc=1
says ' s elapsed, '
python3 - "$work/series.json" <<'P' || rc=1
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
sum, last = 0, 0
for l in lines:
    (row,) = l["rows"]
    v = row["values"]
    assert row["name"] == "(whole program)" and v["page-faults"]["flags"] == ["syscall"], row
    assert v["twice"]["value"] == 2 * v["page-faults"]["value"]
    assert l["time_s"] > last and abs(l["time_s"] - last - l["seconds"]) < 1e-6, l
    last, sum = l["time_s"], sum + v["page-faults"]["value"]
print("# %d intervals, %d page faults" % (len(lines), sum))
assert len(lines) >= 2 and 15000 <= sum <= 15500
assert lines[0]["rows"][0]["values"]["page-faults"]["value"] < sum
P
run 0 -I 0.05 -e page-faults -o "$work/series.csv" "$work/faults" 1000
python3 - "$work/series.csv" <<'P' || rc=1
import csv, sys
lines = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [*lines[0]] == ["time_s", "seconds", "row", "quantity", "value", "flags"], lines[0]
assert 3000 <= sum(float(l["value"]) for l in lines) <= 3500, lines
P
run 3 -I 0.05 -e page-faults -- sh -c 'sleep 0.1; exit 3'
says '^  time \(s\)  page-faults *$'; says '^ +[0-9]+\.[0-9]{3} +[0-9]+'
run 127 -I 1 "$work/none"; says 'none: No such file'; grep -q 'time (s)' "$work/err" && rc=1
run 125 -I 0.05 -o /dev/full -e page-faults true; says '/dev/full: No space left on device'
# If the reader of the output ends, tach run still waits for the program, and then ends.
("$tach" run -I 0.02 -e page-faults -- sh -c "read -r _ <$work/gone; echo >$work/ended" 2>&1; echo $? >"$work/status") |
	{ head -n 1 >/dev/null; exec <&-; echo >"$work/gone"; }
[ -e "$work/ended" ] && [ "$(cat "$work/status")" = 125 ] || { echo '# the program was left alone'; rc=1; }
run 125 -I 1 -e bogus true; says "no event 'bogus'"; says '^ +\^'
result intervals

# A running process: its threads, and one that starts later, which inherits its creator's counters.
target() {
	rm -f "$work/series.csv"
	"$work/faults" 2000 "$work/there" "$work/go" & pid=$!
	read -r -n 1 _ <"$work/there"
}
# The command counts until the process ends.
until_it_ends='echo b >"$1"; while kill -0 $2 2>/dev/null && [ "$(cut -d" " -f3 /proc/$2/stat)" != Z ]; do sleep 0.02; done'
row() { # REGION LEAST MOST
	awk -F, -v region="^\"$1" -v least="$2" -v most="$3" '
		$1 ~ region && $6 == "inclusive" && $7 == "\"page-faults\"" { found = 1; if ($8 < least || $8 > most) { print "# " $0; bad = 1 } }
		END { exit bad || !found }' "$work/err" || { echo "# $1"; rc=1; }
}
target
run 0 -p $pid -e page-faults --format csv -- sh -c "$until_it_ends" sh "$work/go" $pid
wait $pid || rc=1
row "\\(process $pid faults\\)" 6000 6100
target
run 0 -p $pid --per-thread -e page-faults --format csv -- sh -c "$until_it_ends" sh "$work/go" $pid
row "\\(thread $pid faults\\)" 4000 4100
other=$(sed -n "s/^\"(thread \([0-9]*\) faults)\",.*/\1/p" "$work/err" | grep -vx $pid | sort -u)
row "\\(thread $other faults\\)" 2000 2050
[ "$(grep -c 'inclusive,"page-faults"' "$work/err")" = 2 ] || rc=1
# Without a command it counts until the process ends, or an interrupt arrives.
target
"$tach" run -p $pid -I 0.02 -e page-faults -o "$work/series.csv" 2>"$work/err" & counting=$!
first_row series.csv
echo b >"$work/go"; wait $counting || rc=1
says "^process $pid was counted for "
awk -F, '/page-faults/ { sum += $5 } END { exit sum < 6000 || sum > 6100 }' "$work/series.csv" || { echo '# the sum of intervals'; rc=1; }
target
"$tach" run -p $pid -I 0.02 -e page-faults -o "$work/series.csv" 2>"$work/err" & counting=$!
first_row series.csv
kill -TERM $counting; wait $counting || { echo '# ended by the signal'; rc=1; }
says "^process $pid was counted for "
kill -0 $pid || { echo '# the process was harmed'; rc=1; }
# The reader of the output ends, and there is no program to wait for.
("$tach" run -p $pid -I 0.02 -e page-faults 2>&1; echo $? >"$work/status") | head -n 1 >/dev/null
[ "$(cat "$work/status")" = 125 ] || { echo '# it goes on without a reader'; rc=1; }
kill $pid
result running

target
(ulimit -n 8; run 125 -p $pid -e page-faults,context-switches,task-clock,minor-faults true; says 'ulimit -n allows more'; exit $rc) || rc=1
kill $pid
run 125 -p 999999999; says 'there is no process 999999999'
run 125 -p 0; run 125 -p 12x; says "one process, not '12x'"
if setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	sleep infinity & pid=$!
	chmod 755 "$work"
	setpriv --reuid=65534 --clear-groups "$tach" run -p $pid -e page-faults true >"$work/out" 2>"$work/err"; [ $? = 125 ] || rc=1
	says "process $pid may not be counted: that needs its user|cannot be|not permitted|perf_event_paranoid"
	kill $pid
fi
result rights

run 0 -r 7 --format json -e page-faults -o "$work/repeat.json" -- "$work/faults" 100
python3 - "$work/repeat.json" <<'P' || rc=1
import json, statistics, sys
whole = json.load(open(sys.argv[1]))
assert whole["runs"] == 7
rows = {(s["region"], s["quantity"]): s for s in whole["series"]}
for s in rows.values():
    v = s["values"]
    assert len(v) == 7 and s["median"] == statistics.median(v), s
    assert abs(s["mean"] - statistics.fmean(v)) <= 1e-9 * abs(s["mean"]), s
    assert min(v) <= s["low"] <= s["median"] <= s["high"] <= max(v), s
    # The extremes of seven runs: the interval misses the median if all values are on one side of it.
    assert s["low"] == min(v) and s["high"] == max(v) and abs(s["confidence"] - (1 - 2 / 2**7)) < 1e-12, s
faults = rows["(all threads)", "page-faults"]
assert all(300 <= v <= 600 for v in faults["values"]), faults
assert rows["(command)", "time"]["median"] > 0
P
# Each run reads standard input, a file, from its start; its output is its own.
seq 3 >"$work/in"
"$tach" run -r 3 -e page-faults -- cat <"$work/in" >"$work/out" 2>"$work/err" || rc=1
[ "$(tr '\n' ' ' <"$work/out")" = '1 2 3 1 2 3 1 2 3 ' ] || rc=1
says '^region .* runs .* median '; says '^3 runs\. '
run 0 -r 3 --outside -e page-faults --format csv true; says '^"\(whole program\)","[^"]*",[0-9]+,"page-faults",3,'
run 4 -r 2 -- sh -c 'exit 4'; says '^2 runs'
run 125 -r 4 -- sh -c "echo >>$work/n; [ \$(wc -l <$work/n) -lt 3 ]"; says 'run 3 ended with status 1, the first with 0'
run 137 -r 4 -- sh -c 'kill -9 $$'; says 'run 1 was ended by signal 9'
run 127 -r 4 "$work/none"
result repeats

refused() { run 125 "$@" true; says '^tach run --help shows how it is used$'; }
for other in --interrupts --correct '--trace x' --emulate '--passes -e page-faults' '--turns -e page-faults' '--ambient x' --per-program; do
	# shellcheck disable=SC2086
	refused -I 1 $other; says 'count from outside'
	# shellcheck disable=SC2086
	refused -p $$ $other; says 'count from outside'
done
refused -I 1 --per-thread; says 'p allows --per-thread'
for other in '-I 1' "-p $$" --passes '--trace x' --per-process; do
	# shellcheck disable=SC2086
	refused -r 3 $other; says 'one table of many runs'
done
refused -I 0; says "0.01 to 1000000, not '0'"; refused -I 1e9; refused -I 1s; refused -I nan; refused -I 1 -I 2; refused -r 1; refused -r 2.5; refused -r 3 -r 4
refused -I 1 --format html; says 'text, json or csv'; refused -r 2 --format prometheus
result refusals
exit $failed

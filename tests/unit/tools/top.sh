#!/usr/bin/env bash
# tach top and tach report -p: a running process seen from outside.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$B/tach
work=$(mktemp -d) || exit 1
pid= other= forged=()
trap 'kill -KILL $pid $other ${forged[@]+"${forged[@]}"} 2>/dev/null; rm -rf "$work"' EXIT
program=$work/program
gcc -O1 -Iinclude -o "$program" tests/unit/startup/services/program.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" -lpthread || exit 1
. tests/unsanitized top "the program has a malloc of its own, which a sanitizer does not take"

. tests/cases top
no() { echo "# $*"; sed 's/^/#   /' "$work/out" "$work/err" | head -20; rc=1; }
run() { "$tach" "$@" >"$work/out" 2>"$work/err"; status=$?; }
# While no thread has a processor, intervals are empty. A thread that loses its processor during a write for too long
# is missing, and counted as stale.
top_until() { # CONDITION ARGUMENT...
	local condition=$1; shift
	for _ in {1..500}; do
		run top --once "$@"
		[ $status != 0 ] || eval "$condition" && break
	done
}

mkfifo "$work/ready" "$work/stdin"
exec 7<>"$work/stdin"
TACH_ENABLE=1 TACH_EVENTS=page-faults TACH_METRICS='faults = page-faults' "$program" serve >"$work/ready" <"$work/stdin" &
pid=$!
read -r _ <"$work/ready"
run report -p $pid
if [ $status = 1 ] && grep -q 'may not be read' "$work/err"; then
	echo "skip top: no process may trace another here"
	exit 77
fi
[ $status = 0 ] && grep -q '^work ' "$work/out" || no "report -p: $status"
run report -p $pid -o "$work/one.json"
run report "$work/one.json"
[ $status = 0 ] && grep -q '^work ' "$work/out" || no "what it saved: $status"
run report -p $pid --format json "$work/one.json"
grep -q '"reports": 2' "$work/out" || no "added to a report"
result report

shown='awk '\''$1 == "work" && $5 == 4 { found = 1 } END { exit !found }'\'' "$work/out"'
top_until "$shown" -i 0.05 $pid
[ $status = 0 ] && grep -q "^program ($pid)  1 regions  4 threads" "$work/out" && grep -q '^REGION  *CALLS/S ' "$work/out" || no "top: $status"
[ "$(LC_ALL=C.UTF-8 wc -L <"$work/out")" -le 80 ] || no "beyond 80 columns"
eval "$shown" || no "no line of the region"
for column in region calls time elapsed_ns self threads avg page-faults faults; do
	run top --once -i 0.01 -s $column $pid
	[ $status = 0 ] || no "sorted by $column: $status"
done
run top --once -i 0.01 -r 'x*' $pid
grep -q '^work' "$work/out" && no "a region that was not asked for"
run top --once -i 0.05 -c page-faults,faults $pid
grep -qE '^REGION +CALLS/S +TIME% +SELF% +THR +AVG +page-fa.*/S +faults$' "$work/out" || no "columns that were chosen"
# Four threads are in the region all the time: the region's time is at most theirs.
for _ in {1..20}; do
	run top --once -i 0.01 $pid
	awk '$1 == "work" && ($3 > 400 || $4 > 400) { bad = 1 } END { exit bad }' "$work/out" || no "more than all the time"
done
result table

top_until "grep -q '\"stale\":0,.*\"name\":\"work\"' '$work/out'" --json -i 0.05 $pid
# A strict JSON reader.
if python3 -c '' 2>/dev/null; then
	python3 - "$work/out" $pid <<-'END' || no "JSON"
	import json, sys
	t = json.load(open(sys.argv[1]))
	r = t["regions"][0]
	assert t["tach-top"] == 1 and t["pid"] == int(sys.argv[2]) and t["seconds"] > 0 and t["threads"] == 4
	assert r["name"] == "work" and r["entries"] > 0 and r["threads"] == 4 and "faults" in r["metrics"]
	END
else
	grep -q '^{"tach-top":1,"pid":'$pid',.*"name":"work"' "$work/out" || no "JSON"
fi
result json

run top --once 999999999; [ $status = 1 ] && grep -q 'no process 999999999' "$work/err" || no "no process: $status"
run top --once $$; [ $status = 1 ] && grep -q 'no libtach in process' "$work/err" || no "another program: $status"
for bad in "-i 0" "-i x" "x" "1 2" "--frob" "-s nothing $pid" "-c page-faults,nothing $pid"; do
	# shellcheck disable=SC2086
	run top $bad; [ $status = 2 ] || no "top $bad: $status"
done
run report -p 0; [ $status = 2 ] || no "report -p 0: $status"
run report --diff -p 1 a b; [ $status = 2 ] || no "report --diff -p: $status"
if setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	setpriv --reuid=65534 --clear-groups "$tach" top --once $pid >"$work/out" 2>"$work/err"; status=$?
	# Other users may have no access to the build folder.
	[ $status = 126 ] || [ $status = 127 ] || grep -q 'may not be read: that needs its user' "$work/err" || no "another user: $status"
fi
result refusals

gcc -O1 -Iinclude -I. -o "$work/other" tests/unit/tools/top/other.c || exit 1
"$work/other" >"$work/ready" &
other=$!
read -r _ <"$work/ready"
run report -p $other
kill -KILL $other; wait $other 2>/dev/null
[ $status = 1 ] && grep -q 'are those of libtach 9.8.7, which .* cannot read' "$work/err" || no "another version: $status"
result other_version

TACH_ENABLE=1 TACH_EVENTS=page-faults TACH_WORST=3 "$program" grow >"$work/ready" &
other=$!
read -r _ <"$work/ready"
run report -p $other
grep -q '^growing, worst entries by time' "$work/out" || no "report -p: worst"
top_until "grep -q '\"worst\":\[{' '$work/out'" --json -i 0.2 $other
grep -q '"worst":\[{"at":[0-9.]*,"tag":"0x[0-9a-f]*","thread":[0-9]*,.*"flags":\[' "$work/out" || no "top: worst"
kill -KILL $other; wait $other 2>/dev/null
result worst

# Processes whose registries take the longest time to read, next to a normal process. Each would take two seconds of
# processor time; the limit here is far above the expected sum.
gcc -O1 -Iinclude -I. -o "$work/forged" tests/unit/tools/top/forged.c "$B/libtach.a" -lm -lpthread || exit 1
for _ in {1..8}; do
	TACH_ENABLE=1 TACH_EVENTS='' "$work/forged" >"$work/ready" &
	forged+=($!)
	read -r _ <"$work/ready"
done
(ulimit -t 6; exec "$tach" report -p "${forged[0]}") >"$work/out" 2>"$work/err"; status=$?
[ $status = 1 ] && grep -q 'its regions are too many to be read, or damaged' "$work/err" || no "report -p: $status"
(ulimit -t 6; exec "$tach" top) >"$work/out" 2>"$work/err"; status=$?
[ $status = 1 ] || no "status $status"
grep -qE "^ *$pid +program +1 regions +4 threads$" "$work/err" || no "the whole one is not listed"
for each in "${forged[@]}"; do
	grep -qE "^ *$each +forged +takes too long to count its regions$" "$work/err" || no "$each is not listed"
done
kill -KILL "${forged[@]}"; wait "${forged[@]}" 2>/dev/null
forged=()
result forged

# The watched process ends.
"$tach" top -i 0.05 $pid >"$work/out" 2>"$work/err" &
watcher=$!
until grep -q '^work' "$work/out"; do kill -0 $watcher || break; sleep 0.01; done
kill -KILL $pid; wait $pid 2>/dev/null
wait $watcher; status=$?
[ $status = 0 ] && grep -q 'has ended' "$work/err" || no "status $status as it ended"
result ended
exit $failed

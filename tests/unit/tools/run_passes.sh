#!/usr/bin/env bash
# tach run --passes: a program runs once for each set of events, and the counts become one report. An emulator counts,
# because its counts repeat exactly. The PMU's name decides the number of counters: Knights Landing has two.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
root=$PWD
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach
. tests/unsanitized run_passes "a sanitizer's library would have to be preloaded first"
. tests/own_folder
. tests/cases run_passes
export TACH_PMU=knl
cat >"$work/program.c" <<'C'
/* Counts its own runs in a file: "again N" has a region of other length from run N on, "end N" another status, "kill" ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tach.h>
int main(int argc, char **argv)
{
	int run = 0, n = argc > 3 ? atoi(argv[3]) : 1000, c, read = 0;
	FILE *f = fopen(argv[1], "r+");
	if (fscanf(f, "%d", &run) != 1)
		return 99;
	rewind(f);
	fprintf(f, "%d", ++run);
	fclose(f);
	while ((c = getchar()) != EOF)
		read++;
	volatile char sink[4] = {0};
	TACH_START(steady);
	for (volatile int i = 0; i < 100; i++)
		sink[i % 4] = (char)i;
	TACH_STOP(steady);
	TACH_START(changing);
	for (volatile int i = 0; i < (strcmp(argv[2], "again") == 0 && run >= n ? 300 : 100); i++)
		sink[i % 4] = (char)i;
	TACH_STOP(changing);
	printf("%d\n", read);
	fflush(stdout);
	if (strcmp(argv[2], "kill") == 0)
		raise(SIGKILL);
	if (strcmp(argv[2], "term") == 0)
		raise(SIGTERM);
	return strcmp(argv[2], "end") == 0 && run >= n ? 7 : 3;
}
C
gcc -O1 -Iinclude -o "$work/program" "$work/program.c" "$B/libtach.a" -lpthread -lm -ldl || exit 1
cd "$work" || exit 1

run() { # STATUS RUNS ARGUMENT...
	local want=$1 runs=$2; shift 2
	echo 0 >count
	ends "$want" "$tach" run --passes "$@"
	[ "$(cat count)" = "$runs" ] || { echo "# $(cat count) runs, not $runs, of: $*"; rc=1; }
}
value() { # FILE REGION QUANTITY
	python3 - "$@" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
for region in report["regions"]:
    if region["name"] == sys.argv[2]:
        v = region["inclusive"][sys.argv[3]]
        print("lost" if "lost" in v["flags"] and v["value"] is None else "%.6g" % v["value"])
PYTHON
}

# Errors are reported before anything runs.
run 125 0 -e page-faults,bogus ./program count once; says "no event 'bogus'"; is column "$(sed -n 3p err)" "$(printf '    %13s' '^')"
run 125 0 ./program count once; says 'for what -e, -m or --topdown name'
run 125 0 --passes=x -e page-faults ./program count once; says 'from 0 to 100'
run 125 0 --passes=-1 -e page-faults ./program count once
run 125 0 --interrupts -e page-faults ./program count once; says 'excludes --interrupts'
run 125 0 --per-process -e page-faults ./program count once; says 'processes have other numbers'
run 125 0 -e a=page-faults,a=minor-faults ./program count once; says 'one name for two events'
TACH_PMU=core run 125 0 --topdown ./program count once; says 'no events for issue slots'
result refused

# If all events fit one set, the program runs once.
run 3 1 -e page-faults -m 'twice = 2 * page-faults' -o one.json ./program count once </dev/null
is twice "$(value one.json '(all threads)' twice)" "$(($(value one.json '(all threads)' page-faults) * 2))"
grep -q passes one.json && rc=1
result once

. "$root/tests/emulator" run_passes

events='{instructions,b=branches,L1-dcache-loads},s=L1-dcache-stores'
metrics='share = b / instructions; both = (L1-dcache-loads + s) / instructions; plain = instructions'
printf 'seven b' >input
run 3 2 --emulate -e "$events" -m "$metrics" -o two.json ./program count once <input
is 'what was read' "$(sort -u out)" 7
is outputs "$(wc -l <out)" 2
echo 0 >count
TACH_PMU=skl $tach run --emulate -e "$events" -m "$metrics" -o whole.json ./program count once <input >out 2>err
for q in instructions b L1-dcache-loads s share both; do
	is "$q" "$(value two.json steady $q)" "$(value whole.json steady $q)"
done
is loads "$(($(value two.json steady L1-dcache-loads) > 100))" 1
grep -q 'counted in 2 passes; time and instructions are their means' two.json || { echo '# it does not say passes'; rc=1; }
result joined

# A metric alone adds the events that it needs, also with TACH_METRICS.
TACH_METRICS='both = (L1-dcache-loads + L1-dcache-stores + branches) / instructions' run 3 2 --emulate -o m.json ./program count once <input
is both "$(value m.json steady both)" "$(python3 -c "import json
v = {q: r['inclusive'][q]['value'] for r in json.load(open('m.json'))['regions'] if r['name'] == 'steady' for q in r['inclusive']}
print('%.6g' % ((v['L1-dcache-loads'] + v['L1-dcache-stores'] + v['branches']) / v['instructions']))")"
result metrics

# A run that differs from the first one is not joined; the others are.
run 3 2 --emulate -e "$events" -m "$metrics" -o again.json ./program count again 2 <input
# The second set counts loads.
is lost "$(value again.json changing L1-dcache-loads)" lost
is 'not lost' "$(value again.json steady L1-dcache-loads)" "$(value two.json steady L1-dcache-loads)"
is metric "$(value again.json changing both)" lost
[ "$(value again.json changing b)" -gt 0 ] || rc=1
grep -qE 'changing: [0-9]+ instructions in pass 1, [0-9]+ in pass 2: not merged' again.json || { echo '# not said'; rc=1; }
run 3 2 --passes=100 --emulate -e "$events" -o again.json ./program count again 2 <input
is 'within the bound' "$(value again.json changing L1-dcache-loads | grep -c lost)" 0
result disagreement

# Sets take turns in one run: the counts of each are scaled to all entries, next to the events that all sets count.
cat >turns.c <<'C'
#include <tach.h>
int main(void)
{
	volatile char sink[4] = {0};
	for (int k = 0; k < 500; k++) {
		TACH_START(outer);
		TACH_START(inner);
		for (volatile int i = 0; i < 20; i++)
			sink[i % 4] = (char)i;
		TACH_STOP(inner);
		TACH_STOP(outer);
	}
	return 4;
}
C
gcc -O1 -I"$root/include" -o turns turns.c "$B/libtach.a" -lpthread -lm -ldl || rc=1
$tach run --turns=7 --emulate -e "$events" -m "$metrics" -o turns.json ./turns >out 2>err; is status $? 4
TACH_PMU=skl $tach run --emulate -e "$events" -m "$metrics" -o whole.json ./turns >out 2>err
for q in instructions b L1-dcache-loads s share both; do
	is "$q" "$(value turns.json inner $q)" "$(value whole.json inner $q)"
done
is 'no rows of threads' "$(value turns.json '(all threads)' time)" ''
grep -q '2 sets of events took turns and saw' turns.json || { echo '# it does not say turns'; rc=1; }
python3 -c "
import json
r = [r for r in json.load(open('turns.json'))['regions'] if r['name'] == 'inner'][0]
v = r['inclusive']
assert r['calls'] == 500 and 'share' not in v['instructions'] and 'share' not in v['time'], r
assert abs(v['b']['share'] + v['L1-dcache-loads']['share'] - 1) < 1e-5 and 'scaled' in v['s']['flags'], v" || rc=1
$tach report turns.json >out 2>err || rc=1
result turns
run 125 0 --turns=0 -e page-faults ./program count once; says 'from 1 to'
run 125 0 --turns -e page-faults ./program count once; says 'excludes --passes'
echo 0 >count; $tach run --turns ./program count once >out 2>err; is status $? 125; says 'turns is for what'
$tach run --turns -e bogus ./program count once >out 2>err; is status $? 125; says "no event 'bogus'"
result turns_refused

run 125 2 --emulate -e "$events" -o end.json ./program count end 2 <input
says 'pass 2 ended with status 7, the first with 3'
[ ! -e end.json ] || rc=1
echo 0 >count
$tach run --passes -e page-faults ./program count term <input >out 2>err; is status $? 143
says '^steady +1 '; says 'ended by signal 15'
run 137 1 --emulate -e "$events" ./program count kill <input
run 127 0 --emulate -e "$events" ./none
result ends
exit $failed

#!/usr/bin/env bash
# tach run --emulate: counts from QEMU's user mode with our plugin. Exact counts are compared with computed ones, also
# in regions; children started in every way; scripts, static programs, arm64; and the messages if emulation is
# impossible.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
here=$PWD/tests/unit/tools/emulate
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach
. tests/unsanitized emulate "a sanitizer's library would have to be preloaded first"
. tests/emulator emulate
. tests/own_folder
. tests/cases emulate
for p in exact regions starts; do
	gcc -std=gnu11 -O2 -Wall -Wextra -Iinclude -o "$work/$p" "$here/$p.c" "$B/libtach.a" -lpthread -lm -ldl || exit 1
done
gcc -std=gnu11 -O2 -static -Iinclude -o "$work/static" "$here/regions.c" "$B/libtach.a" -lpthread -lm || exit 1
cd "$work" || exit 1

run() { ends "$1" "$tach" run --emulate "${@:2}"; } # STATUS ARGUMENT...
# Values of a region in a JSON report.
value() { # FILE REGION QUANTITY
	python3 - "$@" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
for region in report["regions"]:
    if region["name"] == sys.argv[2]:
        print("%.0f" % region["inclusive"][sys.argv[3]]["value"])
PYTHON
}

# Against arithmetic.
run 0 -o report.json -- ./exact
grep -v '^ok' out && rc=1
is 'checks' "$(grep -c '^ok' out)" "$([ "$machine" = x86_64 ] && echo 65 || echo 29)"
result exact
run 0 -e instructions,branches,L1-dcache-loads,L1-dcache-stores -o report.json -- ./exact memory
is 'checks' "$(grep -c '^ok' out)" 2
result loads_and_stores

# Programs with regions, linked dynamically and statically: 3 entries of 2000 turns and one instruction; 3 entries of
# 3 nops.
for how in regions static; do
	run 0 -o report.json -- ./$how
	is turns "$(value report.json turns instructions)" 12003
	is branches "$(value report.json turns branches)" 6000
	is nops "$(value report.json nops instructions)" 9
	is 'branches of nops' "$(value report.json nops branches)" 0
	grep -q '"emulated"' report.json || { echo '# it does not say that it is emulated'; rc=1; }
	result regions_$how
done
run 0 -- ./regions
says '^turns +3 .* emulated$'
says '^\(all threads\) '
says 'Time is the emulator.s'
result text

# A benchmark has exact counts and a metric for each iteration. The metric needs an event that was not requested.
cat >bench.c <<'C'
#include <tach/bench_main.h>
TACH_BENCH(nops) { __asm__ volatile("nop; nop; nop"); }
C
printf 'EVENT,%s\n' 'per_two,DERIVED_POSTFIX,N0|2|*|N0|/,instructions' 'both,DERIVED_ADD,branches,instructions' >derived
gcc -std=gnu11 -O2 -Wall -Wextra -I"$here/../../../../include" -o bench bench.c "$B/libtach.a" -lpthread -lm -ldl || rc=1
export TACH_DERIVED=$work/derived
run 0 -- ./bench --events instructions,per_two,both --wall --seconds 0.00001 --samples 3 --csv
unset TACH_DERIVED
says '^"nops","instructions",0,count,3,3,3,' out
says '^"nops","both",0,count,3,3,3,' out
says '^"nops","per_two",0,count,2,2,2,' out
! grep -q '"branches"' out || { echo '# an operand is shown'; rc=1; }
result benchmark

# Children: the counts of each are the same for every way to start it, and complete.
run 0 -o report.json --per-program -- ./starts ./regions
ways=$(cat out)
is turns "$(value report.json turns instructions)" $((12003 * ways))
is programs "$(grep -o '"(regions)"' report.json | wc -l)" 1
result starts
run 7 --per-program -- sh -c './regions; ./regions | cat >/dev/null; exec sh -c "exit 7"'
says '^turns +6 '
says '^\(cat\) +1 '
result shell
printf '#! /bin/sh -u\n./regions; echo "$0:$1:$#"\n' >script
chmod +x script
run 0 -- ./script 'a  b' c
is 'its words' "$(tail -1 out)" './script:a  b:2'
says '^turns +3 '
result script
run 0 -- env -i ./regions
[ -s err ] || rc=1
result cleared_environment

# A signal ends the program, after the library's own handler has run: the status is the same as without tach.
run 143 -o report.json -- ./regions ends
is 'turns' "$(value report.json turns instructions)" 12003
result signal

# The counts are the same in each run; those of whole programs depend on the environment and process numbers.
for _ in 1 2 3; do
	run 0 -o again.json -- ./regions
	value again.json around branches >>all
done
is 'different counts of 3 runs' "$(sort -u all | wc -l) of $(wc -l <all)" '1 of 3'
result repeatable

# What cannot be.
run 125 -e cycles,instructions -- ./regions
says 'cycles: the emulator counts instructions, branches'
run 0 -e page-faults -- ./regions
says 'page-faults: the emulator has no events of the kernel'
result other_events
run 125 --outside -- ./regions; says 'excludes --outside'
run 127 -- ./nothing; says 'no such program'
mkdir none
TACH_QEMU=$work/none run 125 -- ./regions; says 'takes qemu-.* with plugins, which is not there'
printf '#!/bin/sh\necho "-cpu"\n' >none/qemu-"$machine"; chmod +x none/qemu-"$machine"
TACH_QEMU=$work/none run 125 -- ./regions; says 'that in TACH_QEMU takes none'
# If the QEMU in PATH supports no plugins, the one in the cache is used, unless another user could have put it there.
real=$(command -v qemu-"$machine")
mkdir -p cache/qemu-user
printf '#!/bin/sh\necho asked >>%s\nexec %s "$@"\n' "$PWD/asked" "$real" >cache/qemu-user/qemu-"$machine"
chmod 755 cache/qemu-user/qemu-"$machine"
without() { env -u TACH_QEMU PATH="$PWD/none:$PATH" "$@"; }
TACH_CACHE=$PWD/cache without "$tach" run --emulate -o report.json -- ./regions >out 2>err || rc=1
[ -s asked ] || { echo "# the QEMU of the cache was not asked"; rc=1; }
mkdir home && mkdir home/.cache && cp -r cache home/.cache/tach && : >asked
env -u TACH_CACHE -u XDG_CACHE_HOME -u TACH_QEMU HOME="$PWD/home" PATH="$PWD/none:$PATH" "$tach" run --emulate -o report.json -- ./regions >out 2>err || rc=1
[ -s asked ] || { echo "# the QEMU of the home's cache was not asked"; rc=1; }
chmod o+w cache/qemu-user
TACH_CACHE=$PWD/cache without "$tach" run --emulate -- ./regions >out 2>err; [ $? = 125 ] || rc=1
says 'that in PATH takes none'; says 'make qemu-user'
result refused

# A program for the other architecture: only its regions are counted.
other=$B/arm64/libtach.a
[ "$machine" = x86_64 ] || other=
if [ -f "$other" ] && ! [ "$other" -ot "$B/libtach.a" ] && command -v aarch64-linux-gnu-gcc >/dev/null; then
	for p in exact regions; do
		aarch64-linux-gnu-gcc -std=gnu11 -O2 -static -I"$OLDPWD/include" -o "arm64-$p" "$here/$p.c" "$other" -lpthread -lm || rc=1
	done
	run 0 -o report.json -- ./arm64-exact
	grep -v '^ok' out && rc=1
	is 'checks' "$(grep -c '^ok' out)" 29
	run 0 -o report.json -- ./arm64-regions
	is turns "$(value report.json turns instructions)" 12003
	result arm64
else
	echo "skip emulate_arm64: the library for arm64 is not built, or cannot be prepared"
fi
exit $failed

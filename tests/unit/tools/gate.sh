#!/usr/bin/env bash
# tach gate: finds a planted regression, but none below the bound, with a saved baseline and with alternating runs;
# exit statuses; its output in other programs' readers; and errors.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
here=$PWD/tests/unit/tools/gate top=$PWD
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach
. tests/own_folder
. tests/cases gate
cd "$work" || exit 1

gate() { ends "$1" "$tach" gate "${@:2}"; } # STATUS ARGUMENT...
says() { grep -qE -- "$1" out err || { echo "# it does not say: $1"; rc=1; }; }

# Errors are reported before anything runs.
touch out err
gate 2; says 'no program given'
gate 2 true; says 'one of --baseline, --against and --save'
gate 2 --save a --fail-if 'instructions' true; says 'takes .QUANTITY'
gate 2 --save a --fail-if 'instructions > -1%' true; says 'takes .QUANTITY'
gate 2 --save a --fail-if 'instructions > 1' true; says 'takes .QUANTITY'
gate 2 --save a --fail-if 'time > 1%' --fail-if 'time > 2%' true; says 'two rules'
gate 2 --save a -n 0 true; says '1 to 1000'
gate 2 --save a --fail-if 'time > %' true; says 'takes .QUANTITY'
gate 2 --save a --allow all true; says 'allow takes'
gate 2 --save a --alpha 0 true; says 'percentage'
gate 2 --save a --format yaml true; says 'takes text, json'
gate 2 --baseline nothing true; says 'nothing: No such file'
printf 'something\n' >odd; gate 2 --baseline odd true; says 'odd:1:1: '
printf '# tach gate 1: x\nwork\tinstructions\t1 2\nwork\tinstructions\n' >odd; gate 2 --baseline odd true; says 'odd:3: '
gate 2 --emulate --save a --fail-if 'time > 5%' true; says 'emulated time is not'
gate 0 --help; says '^usage: tach gate'
gate 2 --candidate a true; says 'takes a --baseline'
gate 2 --baseline a --candidate b true; says 'no program'
gate 2 --baseline odd --candidate odd; says 'odd:3: '
result refused


# The decision and the formats for saved files: no program runs. runs FILE WORK REST: eight equal runs.
runs() {
	local region line
	echo '# tach gate 1: emulated, processor max' >"$1"
	for region in "rest $3" "work $2"; do
		line=$(printf '%s\tinstructions\t' "${region% *}")
		for _ in 1 2 3 4 5 6 7 8; do line+="${region#* } "; done
		echo "${line% }" >>"$1"
	done
}
decides() { # STATUS WORK REST ARGUMENT...
	runs now "$2" "$3"
	gate "$1" --baseline base --candidate now "${@:4}"
}
runs base 200000 1009
decides 0 200000 1009; says '^work +instructions .* no change$'
decides 1 201200 1009; says '^work +instructions .*\+0\.60 % .* worse$'; says '^rest +instructions .* no change$'
decides 0 200800 1009
decides 0 180000 1009; says ' better$'
decides 0 201200 1009 --region rest
decides 1 201200 1009 --region rest,work
decides 1 180000 1009 --fail-if 'instructions < -1%'
decides 0 201200 1009 --fail-if 'instructions > +1%'
# A glob applies to quantities without a rule of their own; time has a unit.
for f in base now; do
	sed 's/instructions/L1-misses/p; s/L1-misses/L1-loads/p; s/L1-loads/time/' $f >some
	{ cat $f; grep -v '^#' some; } >"$f.more"
done
sed -i '/L1-misses/s/201200/300000/g' now.more
gate 1 --baseline base.more --candidate now.more --fail-if 'L1-* > 2%' --fail-if 'time > 1%'
says '^work +L1-misses .* worse$'; says '^work +L1-loads .* no change larger than 0.6 %$'; says '^work +time +200.0 us .* no change larger than 0.6 %$'
gate 0 --baseline base.more --candidate now.more --fail-if 'L1-* > 2%' --fail-if 'L1-misses > 60%'
gate 2 --save x --fail-if 'L1-* > 2%' true; says 'takes -e or -m'
result baseline

decides 1 202000 1009 --format json -o out.json
decides 1 202000 1009 --format junit -o out.xml
decides 1 202000 1009 --format markdown -o out.md
python3 - <<'PYTHON' || rc=1
import json, xml.etree.ElementTree as tree
report = json.load(open("out.json"))
verdicts = {c["region"]: c["verdict"] for c in report["comparisons"]}
assert verdicts["work"] == "worse" and verdicts["rest"] == "no change", verdicts
assert report["worse"] == sum(v == "worse" for v in verdicts.values()) >= 1
assert 0.009 < [c["change"] for c in report["comparisons"] if c["region"] == "work"][0] < 0.011
suite = tree.parse("out.xml").getroot()
failed = [case.get("classname") for case in suite if case.find("failure") is not None]
assert "work" in failed and "rest" not in failed, failed
assert int(suite.get("failures")) == len(failed) and int(suite.get("tests")) == len(suite)
rows = [line for line in open("out.md") if line.startswith("| work |")]
assert len(rows) == 1 and rows[0].rstrip().endswith("| **worse |** |") or rows[0].rstrip().endswith("| **worse** |"), rows
PYTHON
result formats

decides 2 200000 1009 --region work,nothing; says '^tach gate: --region nothing: neither side'
decides 2 200000 1009 --fail-if 'instrucitons > 1%'; says "'instrucitons': no quantity of that name"
# Four identical exact counts are enough, and so is one; one inexact count is not.
sed 's/ [0-9 ]*$//' base >few
gate 0 --baseline few --candidate few; says '^0 of 2 comparisons worse\.$'; says '1 run; '
gate 1 --baseline few --candidate <(sed 's/200000/201200/' few); says '^work .* worse$'
sed 's/instructions/cycles/' few >cycles
gate 3 --baseline cycles --candidate cycles --fail-if 'cycles > 1%'; says 'cannot tell: too few values'
gate 0 --baseline cycles --candidate cycles --fail-if 'cycles > 1%' --allow cannot-tell
# A region that no longer exists, and an empty file.
grep -v ^rest few >less
gate 3 --baseline few --candidate less; says '^rest .* gone$'; says '1 gone\.$'
gate 0 --baseline few --candidate less --allow gone
gate 0 --baseline less --candidate few; says '^rest .* new$'
head -1 few >none
gate 3 --baseline none --candidate none; says '^No comparison was possible'
gate 0 --baseline none --candidate none --allow nothing
# One rare region does not hide the others, and the output names it.
sed '/^rest/s/instructions/cycles/; s/^work\tinstructions/work\tcycles/' base >many
sed '/^rest/s/ 1009 .*//' many >rare
gate 3 --baseline many --candidate rare --fail-if 'cycles > 1%'; says '^rest .* cannot tell'; says '^work .* no change$'; says 'rare: 1 to 8 runs'
sed -i '1s/emulated.*/counted by this machine.s PMU/' now
gate 2 --baseline base --candidate now; says 'cannot be compared'
gate 2 --emulate -n 2 --save base -- ./nothing; says 'no such program'
# One run is enough if its file says that it is exact.
for f in few now; do sed 's/^# .*/# tach gate 1: exact, by hand/; s/\t\([0-9]*\) .*/\t\1/' $f >$f.exact; done
gate 0 --baseline few.exact --candidate now.exact
sed -i '/^work/s/[0-9]*$/201200/' now.exact
gate 1 --baseline few.exact --candidate now.exact; says '^work .* worse$'; says '^rest .* no change$'
result undecided

. "$top/tests/unsanitized" gate "a sanitizer's library would have to be preloaded first"
. "$top/tests/emulator" gate

# In a real run, the baseline of regions is equal for an equal program.
gcc -std=gnu11 -O2 -static -I"$top/include" -o takes "$here/takes.c" "$B/libtach.a" -lpthread -lm 2>/dev/null || rc=1
gate 0 --emulate -n 4 --save base -- ./takes 2000
gate 0 --emulate -n 2 --save again -- ./takes 2000
cmp -s <(cut -d' ' -f1-2 base | grep -v '^[(#]') <(cut -d' ' -f1-2 again | grep -v '^[(#]') || { diff base again | sed 's/^/# /'; rc=1; }
grep -qE '^work	instructions	exact	[^	]*takes.c:[0-9]+	4[0-9]{3}( 4[0-9]{3}){3}$' base || rc=1
grep -q time base && rc=1
gate 1 --emulate -n 4 --alpha 5 --baseline base --region work -- ./takes 2020
says '^work +instructions .*\+[01]\.[0-9]* % .* worse$'
gate 2 --emulate -n 2 --baseline base -- ./takes 2000 3; says 'did not end with status 0'
gate 2 --emulate --save a --fail-if 'no_such_event > 1%' ./takes 2000; says "no event 'no_such_event'"; says 'fail-if.*cannot count'
gate 2 --emulate -n 2 --save none/base -- ./takes 2000; says 'none/base'
result saved

gate 0 --emulate -n 4 --alpha 5 --region work --against './takes "2000"' -- ./takes 2000
gate 1 --emulate -n 4 --alpha 5 --region work --against './takes "2000"' -- ./takes 2020
gate 0 --emulate -n 2 -e instructions -m 'mix = branches / instructions' --fail-if 'm* < -1%' --save mix -- ./takes 2000
grep -qE '^work	mix	metric	[^	]*	0\.4[0-9]+ 0\.4[0-9]+$' mix && ! grep -q instructions mix || { sed 's/^/# /' mix; rc=1; }
result in_turns
exit $failed

#!/usr/bin/env bash
# tach gate: a planted regression is found and one below the bound is not, by a saved baseline and
# in turns; exit statuses; what the formats' own readers make of its output; what it refuses.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
here=$PWD/tests/unit/tools/gate
case $B in /*) ;; *) B=$PWD/$B;; esac
tach=$B/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
gcc -std=gnu11 -O2 -Iinclude -o "$work/takes" "$here/takes.c" "$B/libtach.a" -lpthread -lm -ldl 2>/dev/null
cd "$work" || exit 1

failed=0 rc=0
result() {
	[ -z "$(ls -A "$TMPDIR")" ] || { ls -R "$TMPDIR" | sed 's/^/# left: /'; rm -rf "${TMPDIR:?}"/*; rc=1; }
	if [ $rc = 0 ]; then echo "ok gate_$1"; else echo "not ok gate_$1"; sed 's/^/#   /' out err | tail -20; failed=1; fi
	rc=0
}
gate() { # STATUS ARGUMENT...
	local want=$1 got; shift
	$tach gate "$@" >out 2>err; got=$?
	[ $got = "$want" ] || { echo "# status $got, not $want, of: $*"; rc=1; }
}
says() { grep -qE -- "$1" out err || { echo "# it does not say: $1"; rc=1; }; }

# What it refuses, before it runs anything.
touch out err
gate 2; says 'no program given'
gate 2 true; says 'one of --baseline, --against and --save'
gate 2 --save a --fail-if 'instructions' true; says 'a rule is'
gate 2 --save a --fail-if 'instructions > -1%' true; says 'a rule is'
gate 2 --save a --fail-if 'instructions > 1' true; says 'a rule is'
gate 2 --save a --fail-if 'time > 1%' --fail-if 'time > 2%' true; says 'two rules'
gate 2 --save a -n 1 true; says '2 to 1000'
gate 2 --save a --alpha 0 true; says 'percentage'
gate 2 --save a --format yaml true; says 'no such format'
gate 2 --baseline nothing true; says 'nothing: No such file'
printf 'something\n' >odd; gate 2 --baseline odd true; says 'odd:1: '
printf '# tach gate 1: x\nwork\tinstructions\t1 2\nwork\tinstructions\n' >odd; gate 2 --baseline odd true; says 'odd:3: '
gate 2 --emulate --save a --fail-if 'time > 5%' true; says 'time in an emulator'
gate 0 --help; says '^usage: tach gate'
result refused

machine=$(uname -m)
[ -z "${TACH_QEMU:-}" ] || PATH=$TACH_QEMU:$PATH
if ldd "$B/libtach.so" | grep -qE 'libasan|libtsan'; then
	echo "skip gate: a sanitizer's library would have to be preloaded first"
	exit $failed
fi
if ! command -v qemu-"$machine" >/dev/null; then
	echo "skip gate: qemu-$machine is not installed"
	exit $failed
fi
if ! qemu-"$machine" -help | grep -q '^-plugin'; then
	echo "skip gate: QEMU's user mode here takes no plugins"
	exit $failed
fi

# A baseline of regions is the same whenever it is the same program.
gate 0 --emulate -n 5 --save base -- ./takes 100000
gate 0 --emulate -n 5 --save again -- ./takes 100000
grep -v '^(all' base >one; grep -v '^(all' again >two
cmp -s one two || { diff one two | sed 's/^/# /'; rc=1; }
grep -qE '^work	instructions	20[0-9]{4}( 20[0-9]{4}){4}$' base || rc=1
grep -q time base && rc=1
result saved

gate 0 --emulate -n 8 --baseline base -- ./takes 100000
says '^work +instructions .* ok$'
gate 1 --emulate -n 8 --baseline base -- ./takes 100600
says '^work +instructions .*\+0\.[56][0-9]*% .* worse$'
says '^rest +instructions .* ok$'
gate 0 --emulate -n 8 --baseline base -- ./takes 100400
gate 0 --emulate -n 8 --baseline base -- ./takes 90000
says ' better$'
gate 0 --emulate -n 8 --baseline base --region rest -- ./takes 200000
gate 1 --emulate -n 8 --baseline base --fail-if 'instructions < -1%' -- ./takes 90000
result baseline

gate 0 --emulate -n 8 --against './takes 100000' -- ./takes 100000
gate 1 --emulate -n 8 --against './takes "100000"' -- ./takes 100600
result in_turns

gate 1 --emulate -n 8 --baseline base --format json -o out.json -- ./takes 101000
gate 1 --emulate -n 8 --baseline base --format junit -o out.xml -- ./takes 101000
gate 1 --emulate -n 8 --baseline base --format markdown -o out.md -- ./takes 101000
python3 - <<'PYTHON' || rc=1
import json, xml.etree.ElementTree as tree
report = json.load(open("out.json"))
verdicts = {c["region"]: c["verdict"] for c in report["comparisons"]}
assert verdicts["work"] == "worse" and verdicts["rest"] == "ok", verdicts
assert report["worse"] == sum(v == "worse" for v in verdicts.values()) >= 1
assert 0.009 < [c["change"] for c in report["comparisons"] if c["region"] == "work"][0] < 0.011
suite = tree.parse("out.xml").getroot()
failed = [case.get("classname") for case in suite if case.find("failure") is not None]
assert "work" in failed and "rest" not in failed, failed
assert int(suite.get("failures")) == len(failed) and int(suite.get("tests")) == len(suite)
rows = [line for line in open("out.md") if line.startswith("| work |")]
assert len(rows) == 1 and rows[0].rstrip().endswith("| **worse** |"), rows
PYTHON
result formats

# What cannot be decided is no success.
gate 2 --emulate -n 8 --baseline base -- ./takes 100000 3; says 'did not end with status 0'
gate 2 --emulate -n 2 --baseline base -- ./takes 100000; says 'more runs'
sed -i '1s/emulated.*/counted by this machine.s PMU/' again
gate 2 --emulate -n 5 --baseline again -- ./takes 100000; says 'do not compare'
gate 2 --emulate -n 5 --baseline base --region nothing -- ./takes 100000; says 'nothing to compare'
gate 2 --emulate -n 5 --save none/base -- ./takes 100000; says 'none/base'
gate 2 --emulate -n 5 --save base -- ./nothing; says 'no such program'
result undecided
exit $failed

#!/usr/bin/env bash
# TACH_TRACE: every planted entry is in the trace with its nesting; entries beyond a ring's capacity are counted; the
# file is strict JSON for any thread name, and complete however the process ends.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$PWD/$B/tach
. tests/unsanitized trace "a sanitizer's library handles the signals"
command -v python3 >/dev/null || { echo "skip trace: python3 is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
program=$work/program look=$PWD/tests/unit/startup/trace/look.py
gcc -O1 -Iinclude -o "$program" tests/unit/startup/trace/program.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" -lpthread || exit 1
ulimit -c 0
unset "${!TACH_@}" 2>/dev/null
. tests/cases trace
traced() { # ARGUMENT...: into $work/said
	rm -f "$work/t.json"
	TACH_EVENTS=${events-} TACH_TRACE=$work/t.json "$program" "$@"
	status=$?
	python3 "$look" "$work/t.json" >"$work/said" 2>"$work/err" || no "$*: $(tail -1 "$work/err")"
}
says() { grep -qxF -- "$1" "$work/said" || no "no '$1' in: $(tr '\n' ';' <"$work/said")"; }

traced threads
says 'outer 100'; says 'middle 100'; says 'leaf 200'
says 'tags outer 50 2'; says 'tags leaf 50 4'
says 'thread "quoted\'; says 'thread second'; says 'lost 0'
result planted

traced many
says 'leaf 16384'; says 'lost 83616'; says 'tags leaf 16384 1'
result oldest_lost

traced short_lived
lost=$(sed -n 's/^lost //p' "$work/said") kept=$(awk '$1 == "outer" { print 4 * $2 }' "$work/said")
[ "$lost" -gt 0 ] && [ $((lost + kept)) = $((200 * 200)) ] || no "$kept kept and $lost lost of $((200 * 200))"
result rings_used_again

traced handlers
says 'outer 200'; says 'leaf 200'; says 'lost 0'
result handlers

events=page-faults traced threads
says 'outer 100'
grep -q '"page-faults":' "$work/t.json" || no "no counter among the arguments"
result counters

# There is one complete file of the parent; a child's file has another name.
traced child
says 'outer 10'
TACH_EVENTS='' TACH_TRACE=$work/of.%p.json "$program" child
for f in "$work"/of.*.json; do python3 "$look" "$f" | grep -x 'outer [0-9]*'; done | sort | tr '\n' ' ' >"$work/both"
[ "$(cat "$work/both")" = 'outer 10 outer 3 ' ] || no "of both processes: $(cat "$work/both")"
rm -f "$work/t.json"
PARENT_WRITES_NOTHING=1 TACH_EVENTS='' TACH_TRACE=$work/t.json "$program" child
[ ! -e "$work/t.json" ] || no "a child that was forked writes its parent's trace"
result forks

export TACH_SIGNAL=end
traced threads 15
[ $status = 143 ] || no "SIGTERM gives $status"
says 'outer 100'
traced threads 6
[ $status = 134 ] || no "SIGABRT gives $status"
says 'outer 100'
unset TACH_SIGNAL
result deaths

TACH_EVENTS='' TACH_OUTPUT=$work/r.json TACH_TRACE=$work/t.json "$program" threads
"$tach" report "$work/r.json" | grep -q outer || no "no report beside the trace"
rm -f "$work/t.json"
"$tach" run -e '' --trace="$work/t.json" -o "$work/run.json" -- "$program" threads || no "tach run gives $?"
python3 "$look" "$work/t.json" >"$work/said" || no "tach run's trace is no trace"
says 'outer 100'
TACH_TRACE=/nowhere/t.json "$program" threads || no "a trace that cannot be written gives $?"
result beside_reports
# Three entries of one, with two entries of inner in each; one inner inside above, and two inside an above that is
# still open.
TACH_EVENTS='' TACH_TRACE=$work/t.folded "$program" stacks || no "status $?"
LC_ALL=C sort "$work/t.folded" | sed 's/ [0-9]*$//' | tr '\n' ' ' >"$work/said"
case $(cat "$work/said") in
'above:all above:all;inner inner one one;inner ' | 'above:all;inner inner one one;inner ') ;;
*) no "stacks: $(cat "$work/said")";;
esac
awk '{ ns[$1] = $2 } END {
	for (s in ns) if (s != "above:all" && ns[s] + 0 < 1000) exit 1
	exit !(ns["one;inner"] > 0) }' "$work/t.folded" || no "times: $(cat "$work/t.folded")"
grep -vqE '^[^ ]+ [0-9]+$' "$work/t.folded" && no "not collapsed stacks: $(cat "$work/t.folded")"
result folded
exit $failed

#!/usr/bin/env bash
# Invalid command lines: the fault, and where the help is, on standard error; --help prints one page on standard
# output.
set -u
cd "$(dirname "$0")/../../.."
tach=${B:-build}/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok usage $2"; else echo "not ok usage $2"; failed=1; fi; }

# STATUS SENTENCE ARGUMENT...: expects two lines, the first with the sentence.
refused() {
	local status=$1 sentence=$2 s; shift 2
	"$tach" "$@" >"$work/out" 2>"$work/err" </dev/null; s=$?
	if [ $s != "$status" ] || [ -s "$work/out" ] || [ "$(wc -l <"$work/err")" != 2 ] ||
		! head -1 "$work/err" | grep -qE -- "^tach $1( eval)?: .*$sentence" ||
		[ "$(tail -1 "$work/err")" != "tach $1 --help shows how it is used" ]; then
		echo "# tach $*: status $s"; sed 's/^/# /' "$work/err" | head -5; rc=1
	fi
}

for c in derived diff dispatch doctor encode gate history list report run top; do
	rc=0
	status=2; [ $c = run ] && status=125
	refused $status -- $c --nonsense
	case $c in
	derived)
		refused 2 "expected, not ''" derived
		refused 2 "expected, not 'odd'" derived odd
		refused 2 'a file expected' derived check
		refused 2 'a name expected' derived show
		refused 2 "nothing expected after list, but 'odd'" derived list odd
		refused 2 'a formula expected' derived eval
		refused 2 "not 'odd'" derived eval N0 odd
		refused 2 "Hz expected, not 'odd'" derived --max-hz odd list
		refused 2 "ns expected, not 'odd'" derived --elapsed odd list
		refused 2 'requires an argument' derived --pmu;;
	dispatch)
		refused 2 'no events given' dispatch
		refused 2 "--ldlat takes a number of cycles, not 'odd'" dispatch --ldlat odd x
		refused 2 "not 'odd'" dispatch --privilege odd x
		refused 2 'requires an argument' dispatch --pmu;;
	doctor)
		refused 2 "cannot use 'odd'" doctor odd
		refused 2 "cannot use '--root'" doctor --root;;
	encode)
		refused 2 'no events given' encode
		refused 2 'reads its events from standard input' encode --batch x
		refused 2 "no PMU 'odd'" encode --pmu odd x
		refused 2 "--os takes none, perf or perf_ext, not 'odd'" encode --os odd x
		refused 2 "not 'odd'" encode --privilege odd x
		refused 2 'requires an argument' encode --os;;
	diff)
		refused 2 'give two files or folders' diff
		refused 2 'takes text, json, csv, junit, markdown or html, not: odd' diff --format odd a b
		refused 2 "takes 'QUANTITY > .X%'" diff --fail-if odd a b
		refused 2 'takes a percentage up to 50, not: 0' diff --alpha 0 a b
		refused 2 'takes cannot-tell, gone and nothing, not: odd' diff --allow odd a b
		refused 2 "cannot use '--odd'" diff --odd;;
	gate)
		refused 2 'no program given' gate
		refused 2 'one of --baseline, --against and --save' gate true
		refused 2 'takes text, json, csv, junit, markdown or html, not: odd' gate --format odd true
		refused 2 '--candidate takes a --baseline' gate --candidate x
		refused 2 'cannot use: -n' gate -n;;
	history)
		refused 2 'add, show or page expected' history
		refused 2 'add, show or page expected, not: odd' history odd
		refused 2 'takes two files' history add x
		refused 2 'one history expected' history show
		refused 2 'takes a percentage, not: odd' history show --least odd x
		refused 2 'begins with https://, not: javascript:1' history page --url javascript:1 x
		refused 2 'cannot use: --commit' history add --commit;;
	list)
		refused 2 '--all or --pmu, not both' list --all --pmu x
		refused 2 '--uncore or --pmu, not both' list --uncore --pmu x
		refused 2 'requires an argument' list --pmu;;
	report)
		refused 2 'no report given' report
		refused 2 '--ranks takes reports' report --ranks -p 1 a
		refused 2 "no process number is 'odd'" report -p odd
		refused 2 "no format 'odd'" report --format odd a
		refused 2 "no format has the suffix '.odd'" report -o a.odd a;;
	run)
		refused 125 'no program given' run
		refused 125 '--topdown=N takes a level' run --topdown=9 true
		refused 125 'entries, from 1' run --turns=odd true
		refused 125 "from 2 to 10000, not 'odd'" run -r odd true
		refused 125 "no format 'odd'" run --format odd true
		refused 125 "cannot use '-e'" run -e
		refused 125 '--outside counts no interrupts' run --outside --interrupts true;;
	top)
		refused 2 "one process, not also 'b'" top a b
		refused 2 "no process number is 'odd'" top odd
		refused 2 "not '0'" top -i 0;;
	esac
	say $rc $c
	for h in --help -h; do
		"$tach" $c $h >"$work/out" 2>"$work/err"; s=$?
		[ $s = 0 ] && [ ! -s "$work/err" ] && head -1 "$work/out" | grep -q "^usage: tach $c" && [ "$(wc -l <"$work/out")" -gt 5 ] ||
			{ echo "# tach $c $h: status $s"; rc=1; }
	done
	say $rc "$c --help"
	# The help fits a terminal of 80 columns and 30 lines, and names the manual page with the details.
	rc=0
	[ "$(wc -l <"$work/out")" -le 30 ] && ! grep -nE '^.{81}' "$work/out" && [ -f "man/tach-$c.1" ] &&
		tr '\n' ' ' <"$work/out" | grep -q "[Mm]an tach-$c explains" || { sed 's/^/# /' "$work/out"; rc=1; }
	say $rc "$c --help fits a terminal"
done
exit $failed

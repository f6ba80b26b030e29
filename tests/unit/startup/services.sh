#!/usr/bin/env bash
# Reports of programs that run until they are stopped: on signals and faults, at intervals, and on request. The
# program's status, handlers and system calls do not change.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$PWD/$B/tach
. tests/unsanitized services "a sanitizer's library handles the signals"
work=$(mktemp -d) || exit 1
child= pid=
trap 'kill -KILL $child $pid 2>/dev/null; rm -rf "$work"' EXIT
program=$work/program
gcc -O1 -Iinclude -o "$program" tests/unit/startup/services/program.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" -lpthread || exit 1
ulimit -c 0

. tests/cases services
is_whole() { "$tach" report "$1" >"$work/table" 2>"$work/err" || { no "$1 is no report: $(head -1 "$work/err")"; return 1; }; }
has_work() { # FILE: whole, in its format, with the region
	[ -s "$1" ] && grep -q work "$1" || { no "$1: no report of the region"; return 1; }
	case $1 in *.json) is_whole "$1";; *.html) grep -q '</html>' "$1" || no "$1 is cut short";; esac
}
clean() {
	local left
	left=$(find "$work" -name '.r.*')
	[ -z "$left" ] || no "left behind: $left"
}
begin() { # ARGUMENT...: the program, ready, as $pid
	mkfifo "$work/ready"
	"$program" "$@" >"$work/ready" <"${stdin:-/dev/null}" &
	pid=$!
	read -r word <"$work/ready"
	rm "$work/ready"
}
threads() { find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l; }

# ---- signals that end the process ----

export TACH_OUTPUT=$work/r.json TACH_SIGNAL=end
for signal in HUP INT QUIT USR1 USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR; do
	rm -f "$TACH_OUTPUT"
	# A shell without job control lets its children ignore INT and QUIT.
	mkfifo "$work/ready"
	env --default-signal=INT,QUIT "$program" live >"$work/ready" &
	pid=$!
	read -r word <"$work/ready"; rm "$work/ready"
	kill -s $signal $pid
	wait $pid 2>/dev/null; status=$?
	[ $status = $((128 + $(kill -l $signal))) ] || no "SIG$signal: status $status"
	has_work "$TACH_OUTPUT" || no "SIG$signal"
done
clean
result signals

trap=132 # __builtin_trap: SIGILL, on arm64 SIGTRAP
[ "$(uname -m)" != aarch64 ] || trap=133
for how in "null 139" "thread 139" "abort 134" "trap $trap" "malloc 139" "quick_exit 3"; do
	for format in json txt csv prom html; do
		file=$work/fault.$format
		rm -f "$file"
		(TACH_HISTOGRAMS=1 TACH_OUTPUT=$file exec "$program" ${how% *}) 2>/dev/null &
		wait $! 2>/dev/null; status=$?
		[ $status = "${how#* }" ] || no "$how: status $status"
		has_work "$file" || no "$how"
	done
done
# There is no stack left for a handler, and the library must not set an alternate stack: there is no report, but the
# exit status is the same.
rm -f "$work/fault.json"
(TACH_OUTPUT=$work/fault.json exec "$program" overflow) 2>/dev/null &
wait $! 2>/dev/null; status=$?
[ $status = 139 ] || no "overflow: status $status"
[ ! -e "$work/fault.json" ] || no "overflow: a report"
result faults

# The program's own handler, and ignored signals.
begin handled 15
kill -TERM $pid; wait $pid; status=$?
[ $status = 42 ] || no "status $status of the program's own handler"
(trap '' TERM USR1; exec "$program" first)
[ $? = 6 ] || no "an ignored signal ended it"
result handlers_of_its_own

# Without TACH_SIGNAL, the kernel shows the same signal actions with and without the library, shared or static.
gcc -O1 -Iinclude -o "$work/static" tests/unit/startup/services/program.c "$B/libtach.a" $(pkg-config --libs liburcu 2>/dev/null) -lm -lpthread || no "it is not linked"
seen() { mkfifo "$work/ready"; env -u TACH_SIGNAL "$@" live >"$work/ready" & pid=$!; read -r word <"$work/ready"; rm "$work/ready"
	grep '^Sig[BIC]' /proc/$pid/status; kill -TERM $pid; wait $pid 2>/dev/null; status=$?; }
for each in "$program" "$work/static"; do
	rm -f "$TACH_OUTPUT"
	seen -u TACH_OUTPUT "$each" >"$work/alone"
	seen "$each" >"$work/seen"
	[ -s "$work/seen" ] && cmp -s "$work/alone" "$work/seen" || no "$(diff "$work/alone" "$work/seen")"
	[ $status = 143 ] && [ ! -e "$TACH_OUTPUT" ] || no "status $status, $(ls "$work")"
done
result actions_as_alone
if unshare --pid --fork true 2>/dev/null; then
	rm -f "$TACH_OUTPUT"
	unshare --pid --fork "$program" first; status=$?
	[ $status = 5 ] || no "status $status of process 1"
	is_whole "$TACH_OUTPUT" && grep -q '^work *2 ' "$work/table" || no "process 1 has not 2 calls: $(cat "$work/table")"
	result process_1
else
	skip process_1 "a process namespace takes root"
fi

# ---- while it lives ----

count() { is_whole "$1" && awk '$1 == "work" { print $2 }' "$work/table"; }
mkfifo "$work/stdin"
exec 7<>"$work/stdin"
stdin=$work/stdin
ms() { local up; read -r up _ </proc/uptime; echo "${up/./}0"; }
# SIGTERM ends the program: it writes a report and no other file. The writer waits 2 s for another writer, whose
# thread may get no processor, and then gives up. 1: it waited so long, and the case proves nothing.
ended() {
	local began
	began=$(ms)
	kill -0 $pid || no "it has ended"
	kill -TERM $pid; wait $pid 2>/dev/null; status=$?
	[ $status = 143 ] || no "status $status"
	[ $(($(ms) - began)) -lt 2000 ] || { find "$work" -name '.r.*' -delete; return 1; }
	has_work "$TACH_OUTPUT"
	clean
	return 0
}
patiently() { # COMMAND
	for _ in {1..50}; do "$@" && return; done
	no "its end takes 2 s each time"
}
unheard=0 # requests
comes() { # [COMMAND]: the report; COMMAND asks for it once more where another one was in its way, see above
	local since=$SECONDS
	until [ -e "$TACH_OUTPUT" ]; do
		kill -0 $pid || return 1
		sleep 0.001
		[ $# != 0 ] && [ $((SECONDS - since)) -ge 4 ] || continue
		[ $((++unheard)) -le 5 ] || return 1
		since=$SECONDS
		"$@"
	done
}
asked() {
	rm -f "$TACH_OUTPUT"
	TACH_SIGNAL=SIGUSR1:end begin serve
	[ "$(threads $pid)" = 5 ] || no "$(threads $pid) threads, 5 are the program's"
	for _ in $(seq 20); do
		kill -USR1 $pid
		comes kill -USR1 $pid || break
		is_whole "$TACH_OUTPUT" || break
		for _ in 1 2 3; do kill -USR1 $pid; is_whole "$TACH_OUTPUT" || break 2; done
		rm -f "$TACH_OUTPUT"
	done
	ended
}
patiently asked
[ $unheard -le 5 ] || no "$unheard requests brought no report"
result signal_of_choice

at_intervals() {
	TACH_INTERVAL=0.01 begin serve
	[ "$(threads $pid)" = 6 ] || no "$(threads $pid) threads, not 6"
	for _ in $(seq 20); do
		rm -f "$TACH_OUTPUT"
		comes || break
		is_whole "$TACH_OUTPUT" || break
	done
	ended
}
patiently at_intervals
result interval

# The thread does not keep the process alive, also exists in forked children that have a file, and ends with the
# process.
rm -f "$TACH_OUTPUT"
TACH_INTERVAL=1000 "$program" leave_main || no "status $? without its main thread"
has_work "$TACH_OUTPUT"
TACH_INTERVAL=0.01 TACH_OUTPUT=$work/family.%p.json begin family
child=$word file=$work/family.$word.json
# The first signal may have arrived before the region was entered.
until grep -qs child_part "$file" && [ -e "$work/family.$pid.json" ]; do kill -0 "$child" || break; sleep 0.001; done
kill -TERM "$child"; wait $pid; status=$?
[ $status = 115 ] || no "status $status"
child=
is_whole "$file" && grep -q child_part "$file" || no "no report of the child"
is_whole "$work/family.$pid.json"
clean
result interval_of_others

TACH_OUTPUT=$work/now.json "$program" now >"$work/out"
grep -qx '0 ' "$work/out" || no "tach_report_now: $(cat "$work/out")"
has_work "$work/now.json"
env -u TACH_OUTPUT TACH_ENABLE=1 "$program" now >"$work/out"
grep -q '^-.* TACH_OUTPUT was not set' "$work/out" || no "without TACH_OUTPUT: $(cat "$work/out")"
TACH_OUTPUT=$work/none/now.json "$program" now >"$work/out" 2>/dev/null
grep -q '^-2 .*now.json: ' "$work/out" || no "without a folder: $(cat "$work/out")"
env -u TACH_OUTPUT "$tach" run -o "$work/run.json" -- "$program" now >"$work/out" 2>&1
grep -q "tach run's" "$work/out" || no "under tach run: $(cat "$work/out")"
result asked_for

unset TACH_SIGNAL
complaint() { env "$@" "$program" 2>&1 >/dev/null; }
complaint TACH_INTERVAL=soon | grep -q "TACH_INTERVAL is 0.01 seconds or more, not 'soon'" || no "an odd interval"
complaint TACH_SIGNAL=KILL | grep -q "TACH_SIGNAL, 'KILL', cannot be" || no "KILL"
complaint TACH_SIGNAL=USER | grep -q "TACH_SIGNAL, 'USER', is one or more of end" || no "an odd signal"
complaint -u TACH_OUTPUT TACH_ENABLE=1 TACH_INTERVAL=1 | grep -q "no effect without TACH_OUTPUT" || no "without TACH_OUTPUT"
[ -z "$(complaint TACH_SIGNAL=RTMIN+3:end TACH_INTERVAL=2.5)" ] || no "a complaint of nothing: $(complaint TACH_SIGNAL=RTMIN+3)"
result complaints
exit $failed

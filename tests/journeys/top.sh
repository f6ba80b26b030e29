#!/usr/bin/env bash
# tach top in terminals of 80x24 and 200x50: the screen shows the effect of each key, the lines fit, and the terminal
# is restored after every way to end.
set -u
. "$(dirname "$0")/lib.sh"
need tmux
export LC_ALL=C.UTF-8
pid= program=$work/program
trap 'close_terminal; kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
check builds build "$program" tests/journeys/top/program.c -lpthread

start() { # ARGUMENT...: the program, in the background
	TACH_ENABLE=1 TACH_EVENTS=page-faults TACH_METRICS='faults = page-faults' TACH_HISTOGRAMS=1 TACH_WORST=4 "$program" "$@" >"$work/ready" &
	pid=$!
	wait_until grep -q ready "$work/ready"
}
end() { kill -KILL $pid 2>/dev/null; wait $pid 2>/dev/null; pid=; }
start
if tach top --once -i 0.01 $pid 2>&1 | grep -q 'may not be read'; then echo "skip top: no process may trace another here"; exit 77; fi

# The command is typed into a shell, so that the terminal can be examined afterwards.
shell() { terminal "$1" env PS1='READY> ' TERM=screen-256color bash --norc -i && wait_screen 'READY>'; }
top() { type_keys "clear; $* tach top -i 0.2 $pid" Enter && wait_screen '^REGION +CALLS/S'; }
gone() { ! screen_has "$1"; }
region_line() { screen | grep -n "^$1 " | cut -d: -f1; }
is_before() { local a b; a=$(region_line "$1") b=$(region_line "$2"); [ -n "$a" ] && [ -n "$b" ] && [ "$a" -lt "$b" ]; } # REGION REGION
fits() { [ "$(screen | wc -L)" -le "$1" ]; }
# TIME% of a region is never more than the percentage.
is_share() {
	local p
	p=$(screen | sed -n "s/^$1  *[^ ]*  *\([0-9.]*\) .*/\1/p" | head -1)
	[ -z "$p" ] || awk -v p="$p" -v most="$2" 'BEGIN { exit !(p <= most) }' || { echo "$1: $p %"; return 1; }
}

# ---- what is shown ----
columns() { shell 80x24 && top && screen | grep -qE '^REGION +CALLS/S +TIME% +SELF% +THR +AVG +P99 +faults$'; }
check columns columns
rows() {
	wait_screen '^request +[0-9.]+k? .*[0-9][mun]s' && wait_screen '^保存数据 store +[0-9]' && wait_screen '^startup +0 +0\.0 ' &&
		fits 80 && screen | tail -1 | grep -q '^q quit h help s sort:time r reverse f filter space pause p details'
}
check rows rows
# Entries of 0.7 s end in every fourth interval of 0.2 s, and count in that interval.
shares() { wait_screen '^wait_long +[1-9]' && for _ in {1..10}; do is_share wait_long 100 && is_share parse 100 && is_share request 100 || return 1; sleep 0.1; done; }
check shares shares
worst() { wait_screen '^WORST +time +THREAD +TAG +IN' && wait_screen '^(request|parse|wait_long) +[0-9.]+ [mun]?s '; }
check worst worst

# ---- actions of the keys ----
sort_key() { type_keys s && wait_screen ' sort:self ' && type_keys S S S && wait_screen ' sort:region ' && wait_until is_before parse request; }
check key_s sort_key
reverse() { type_keys r && wait_screen ' sort:region up ' && wait_until is_before request parse && type_keys r && wait_until is_before parse request; }
check key_r reverse
filter() {
	type_keys f && wait_screen '^filter:' && type_keys pars && wait_screen '^filter: pars' && wait_until gone '^request ' &&
		type_keys Enter && wait_screen 'filter pars$' && screen_has '^parse ' && gone '^request ' &&
		type_keys f BSpace BSpace BSpace BSpace Enter && wait_screen '^request '
}
check key_f filter
filter_dropped() { type_keys f xyz && wait_screen 'no region of such a name' && type_keys Escape && wait_screen '^request '; }
check key_f_escape filter_dropped
pause() {
	local before
	type_keys Space && wait_screen 'PAUSED' && before=$(screen) && sleep 0.7 && [ "$(screen)" = "$before" ] && type_keys Space && wait_until gone PAUSED
}
check key_space pause
help() { type_keys h && wait_screen 'TIME% +time inside' && screen_has 's, S +sort by the next' && type_keys q && wait_screen '^REGION'; }
check key_h help
details() {
	type_keys Home p && wait_screen '^parse  .*program\.c:[0-9]+' && screen_has '^COUNTER +PER SECOND +PER CALL +SINCE START' && screen_has '^page-faults ' &&
		wait_screen 'single calls:' && type_keys PageDown PageDown && wait_screen 'worst entries by time' && fits 80 && type_keys p && wait_screen '^REGION'
}
check key_p details
arrows() {
	type_keys Down p && wait_screen '^request  .*program\.c' && type_keys Escape && wait_screen '^REGION.* faults$' &&
		type_keys Right && wait_screen '^REGION.* page-fa.*/S$' && type_keys Left && wait_screen '^REGION.* faults$'
}
check key_arrows arrows

# ---- the size changes while it runs ----
grows() { resize 200x50 && wait_screen 'P99 +faults +page-faults/S$' && wait_screen '^request .*[0-9]us' && fits 200 && screen | tail -1 | grep -q '^q quit'; }
check resize_200x50 grows
shrinks() { resize 36x8 && wait_screen '^REGION +CALLS/S( +TIME%)?( +SELF%)?$' && fits 36 && resize 200x50 && wait_screen 'page-faults/S$'; }
check resize_36x8 shrinks

# ---- the terminal is restored after every way to end ----
is_sane() { type_keys "clear; stty -a >$work/stty; echo ok\$((1 + 1))" Enter && wait_screen '^ok2' && grep -q ' icanon' "$work/stty" && grep -qE ' echo( |$)' "$work/stty" && gone '^REGION'; }
gives_back() { # STATUS SAYS COMMAND...: the command ends the view; what the shell sees then, and the screen
	local status=$1 says=$2
	shift 2
	"$@" && wait_screen 'READY> *$' && screen_has "$says" && type_keys 'echo "was $?"' Enter && wait_screen "^was $status" && is_sane
}
check given_back_q gives_back 0 'READY>' type_keys q
interrupted() { top && gives_back 130 'READY>' type_keys C-c; }
check given_back_interrupted interrupted
signalled() { top && gives_back "$1" 'READY>' kill "-$2" "$(pgrep -P "$(multiplexer display -p '#{pane_pid}')")"; }
check given_back_terminated signalled 143 TERM
check given_back_crashed signalled 139 SEGV
stopped() { top && type_keys C-z && wait_screen 'Stopped' && gone '^q quit' && type_keys fg Enter && wait_screen '^REGION' && type_keys q && wait_screen 'READY>' && is_sane; }
check given_back_stopped stopped
program_ends() { top && gives_back 0 "process $pid has ended" kill -USR1 $pid; }
check given_back_program_ended program_ends
program_crashes() { end; start crash && top && gives_back 0 "process $pid has ended" kill -USR1 $pid; }
check given_back_program_crashed program_crashes

# ---- colours, and other terminals ----
end
start
colours() { top && screen_colours | grep -q $'\e\\[[0-9;]*4[0-7]m' && type_keys q && wait_screen 'READY>' && top NO_COLOR=1 && ! screen_colours | grep -q $'\e\\[[0-9;]*[34][0-7]m' && type_keys q && wait_screen 'READY>'; }
check colours colours
dumb() { type_keys "clear; TERM=dumb tach top --once -i 0.2 $pid; TERM=dumb timeout 2 tach top -i 0.5 $pid >$work/dumb </dev/tty; echo done" Enter && wait_screen '^done' && screen_has '^REGION' && ! grep -q $'\e' "$work/dumb" && [ "$(grep -c '^REGION' "$work/dumb")" -gt 1 ]; }
check dumb dumb
pipe() { tach top --once -i 0.2 $pid | cat -v >"$work/piped"; grep -q '^REGION' "$work/piped" && ! grep -qE '\^\[|\?\[' "$work/piped"; }
check pipe pipe
ascii() { type_keys "clear; LC_ALL=C tach top -i 0.2 $pid" Enter && wait_screen '^\?\?\?\? store' && type_keys q; }
check ascii ascii
exit $rc

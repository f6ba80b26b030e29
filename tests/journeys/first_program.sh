#!/usr/bin/env bash
# The README's first program, built by the README's command, run in a terminal of 80 columns: the table fits and is complete.
set -u
. "$(dirname "$0")/lib.sh"
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' README.md >"$work/sum.c"
command=$(sed -n 's/^    \$ \(cc .*sum\.c.*\)/\1/p' README.md)
check builds bash -c "cd '$work' && $command"

shows_table() {
	TACH_OUTPUT=- terminal 80x24 "$work/a.out" && wait_closed && screen && screen | grep -qE '^sum +1 ' && close_terminal
}
check table shows_table
check help bash -c 'tach help | grep -q "^  run "'
exit $rc

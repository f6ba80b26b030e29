#!/usr/bin/env bash
# `make run GUEST=x86`, as in the README: the table has the emulated processor's real counts, and no invented values.
# An environment variable of a guest may contain blanks.
# tests/run: memory=1000
set -u
. "$(dirname "$0")/lib.sh"
ready=$(tests/guest/ready x86 any) || { echo "$ready"; exit 77; }
run() { make -s --no-print-directory B="$B" run GUEST=x86 && says '^l1_sum +10 ' && says 'instructions' && ! grep -iwE 'cycles|ipc|cache_misses' "$work/out"; }
check run run
blanks() { tests/guest/boot x86 -q -e "TACH_METRICS=twice = instructions * 2" -e TACH_EVENTS=instructions "$B/static/examples/inner_loops" && says ' twice '; }
check blanks blanks
refuse quotes tests/guest/boot x86 -q -e 'A="b"' "$B/static/examples/inner_loops"
exit $rc

#!/usr/bin/env bash
# If no default event can be counted, a program's first START tries each event once, and reads each file about the
# reason once.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
grep -q -e -fsanitize "$B/flags" && { echo "skip opening: checked without sanitizers alone"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
strace -o "$work/calls" -e trace=openat,perf_event_open "$B/examples/inner_loops" >/dev/null 2>"$work/said" && [ -s "$work/calls" ] ||
	{ echo "skip opening: no process may trace another here"; exit 77; }
failed=0
say() { if [ "$bad" = 0 ]; then echo "ok $1"; else echo "not ok $1"; failed=1; fi; }
bad=0
files=$(grep -oE '"/(proc|sys)/[^"]*"' "$work/calls" | grep -v nmi_watchdog | sort)
[ "$files" = "$(sort -u <<<"$files")" ] || { bad=1; echo '# files that are read again:'; uniq -d <<<"$files" | sed 's/^/#   /'; }
say opening_files
# One more event shows whether this machine counts cycles at all.
bad=0
opened=$(grep -c perf_event_open "$work/calls")
[ "$opened" -ge 1 ] && { grep perf_event_open "$work/calls" | grep -qv " = -1 " || [ "$opened" -le 5 ]; } ||
	{ bad=1; echo "# $opened events are opened"; }
say opening_events
exit $failed

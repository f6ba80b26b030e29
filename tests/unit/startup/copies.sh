#!/usr/bin/env bash
# Several copies of the library in one process have one registry. Each region is counted once, in whichever copies it
# is, and however often they are loaded.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. tests/unsanitized copies "a sanitizer's library would have to be preloaded first"
static="$B/libtach.a -lurcu-bp -lurcu-common -lm -lpthread -ldl"
for visible in default hidden; do
	exclude=; [ $visible = hidden ] && exclude=-Wl,--exclude-libs,ALL
	for n in 1 2; do
		# shellcheck disable=SC2086
		gcc -O1 -fPIC -shared -Iinclude $exclude -o "$work/$visible$n.so" tests/unit/startup/copies/plugin.c $static || exit 1
	done
done
gcc -O1 -fPIC -shared -Iinclude -o "$work/shared.so" tests/unit/startup/copies/plugin.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || exit 1
gcc -O1 -o "$work/plain" tests/unit/startup/copies/program.c -ldl || exit 1
gcc -O1 -Iinclude -I. -DFOREIGN -o "$work/foreign" tests/unit/startup/copies/program.c -ldl || exit 1
# shellcheck disable=SC2086
gcc -O1 -Iinclude -DOWN -o "$work/own" tests/unit/startup/copies/program.c $static || exit 1
# shellcheck disable=SC2086
gcc -O1 -Iinclude -DOWN -rdynamic -o "$work/open" tests/unit/startup/copies/program.c $static || exit 1

. tests/cases copies
run() { "$@" >"$work/out" 2>"$work/err" || { echo "# status $? of $*"; rc=1; }; }
calls() { grep -qE "^$1 +$2 " "$work/err" || { echo "# not $2 calls of $1"; rc=1; }; }
tables() { [ "$(grep -c '^region ' "$work/err")" = "$1" ] || { echo "# not $1 table(s)"; rc=1; }; }
sees() { tail -1 "$work/out" | grep -qx "calls $1" || { echo "# the last plugin does not see $1 calls"; rc=1; }; }

for kind in default hidden; do
	run "$B/tach" run -- "$work/plain" 1 "$work/${kind}1.so"; calls plugin 1; tables 1
	run "$B/tach" run -- "$work/plain" 3 "$work/${kind}1.so"; calls plugin 3; sees 3
	run "$B/tach" run -- "$work/plain" 2 "$work/${kind}1.so" "$work/${kind}2.so" "$work/shared.so"; calls plugin 6
	result "plugin_under_tach_run_$kind"
	TACH_OUTPUT=- run "$work/plain" 3 "$work/${kind}1.so"; calls plugin 3; tables 1
	TACH_OUTPUT=- run "$work/plain" 3 "$work/${kind}1.so" "$work/${kind}2.so" "$work/shared.so"; calls plugin 9; tables 1; sees 9
	TACH_OUTPUT=- run "$work/plain" 2 "$work/shared.so" "$work/${kind}2.so"; calls plugin 4; tables 1
	result "plugins_alone_$kind"
	for program in own open; do
		TACH_OUTPUT=- run "$work/$program" 2 "$work/${kind}1.so" "$work/${kind}2.so"; calls plugin 4; calls own 1; tables 1
		run "$B/tach" run -- "$work/$program" 2 "$work/${kind}1.so"; calls plugin 2; calls own 1; tables 1
	done
	result "program_$kind"
done
# Regions are nested per thread, even if they belong to different copies. An empty region may take no time.
run "$B/tach" run --format json -- "$work/own" 1 "$work/hidden1.so"
tr -d ' \n' <"$work/err" | grep -o '"name":"(allthreads)",[^}]*' | grep -q '"nested":2,' || { echo "# not two in the thread"; rc=1; }
result nested_in_the_thread
# One of the copies enables regions.
run "$work/plain" 2 "$work/hidden1.so" configure "$work/hidden2.so"
grep -q 'configured 0' "$work/out" || rc=1
sees 2 # the second switched on anew
result configured_by_a_plugin
# A later version, which this library does not know, owns the regions.
TACH_ENABLE=1 run "$work/foreign" 2 "$work/hidden1.so" configure
grep -q 'calls -1' "$work/out" || rc=1
grep -q "^the regions of $work/hidden1.so are left out: its libtach, version .* does not fit version 9.9" "$work/out" || rc=1
result another_layout
exit $failed

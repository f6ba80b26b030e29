#!/usr/bin/env bash
# A soak runs a piece of each part, except parts that another soak runs; continues where it stopped; and reports when
# all goals are reached, and what ran. If it finds a fault, it reports the fault, in its log too.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build} failed=0
# shellcheck disable=SC1091
. tests/unsanitized soak 'a sanitizer is slow at this'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
is() { if [ "$1" = 0 ]; then echo "ok soak_$2"; else sed 's/^/# /' "$work/out"; echo "not ok soak_$2"; failed=1; fi; }
mkdir -p "$work/b/tests/soak" "$work/cache"
ln -s "$(realpath "$B")/tests/soak/work" "$work/b/tests/soak/work"
run() { SOAK_CACHE=$work/cache SOAK_QUICK=1 B=$work/b tests/soak/soak "$@" >"$work/out" 2>&1; }

run 0 && [ ! -s "$work/cache/log" ]; is $? no_time
run 1 && grep -q 'every goal is reached' "$work/out" && [ "$(grep -c 'right$' "$work/cache/log")" = 3 ]; is $? all_parts
: >"$work/cache/log"
(flock 8 && run 0.001) 8>"$work/cache/forks.lock" && ! grep -q forks "$work/cache/log"; is $? not_what_another_is_at
run 1 && [ "$(grep -c 'right$' "$work/cache/log")" = 3 ]; is $? what_another_left
sed -i '/forks/d' "$work/cache/log"
run 1 && [ "$(wc -l <"$work/cache/log")" = 3 ] && tail -n 1 "$work/cache/log" | grep -q forks; is $? goes_on
run --log && grep -qE 'threads +400 ' "$work/out" && tail -n 1 "$work/out" | grep -q ' hours$'; is $? log
rm "$work/b/tests/soak/work"
printf '#!/bin/sh\necho it is broken\nexit 1\n' >"$work/b/tests/soak/work"
chmod +x "$work/b/tests/soak/work"
: >"$work/cache/log"
! run 1 && grep -q 'it is broken' "$work/out" && grep -q 'wrong$' "$work/cache/log"; is $? wrong
exit $failed

#!/usr/bin/env bash
# make mutate works: the tests detect most of a fixed sample of small changes, and a test that checks nothing detects
# none. Survivors are printed; use `make mutate FILES=...` to find them all.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build} failed=0
export B
# shellcheck disable=SC1091
. tests/unsanitized mutate 'a sanitizer is slow at this'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
is() { if [ "$1" = 0 ]; then echo "ok mutate_$2"; else sed 's/^/# /' "$work/out"; echo "not ok mutate_$2"; failed=1; fi; }

tests/mutate/mutate -n 4 -s 1 core/formula/fold.c core/change/stats.c core/base/maths.c >"$work/out" 2>&1
sed 's/^/# /' "$work/out"
awk '/ noticed \(/ { split($0, w, /: | of | noticed/); noticed += w[2]; all += w[3] } END { exit !(all >= 9 && all <= 12 && noticed * 2 >= all) }' "$work/out"
is $? sample
printf '#include <tach.h>\nint main(void)\n{\n\treturn tach_version() == 0;\n}\n' >"$work/nothing.c"
tests/mutate/mutate -n 3 -t "$work/nothing.c" core/formula/fold.c >"$work/out" 2>&1
[ $? = 1 ] && grep -q '0 of 3 noticed' "$work/out" && [ "$(grep -c survived "$work/out")" = 3 ]
is $? nothing
# The tests run in a guest, where a real kernel's counters show the change.
if missing=$(tests/guest/ready arm64 sid); then
	tests/mutate/mutate -g arm64-n1 -n 5 -t tests/guest/src/arm64_handlers.c core/reader/group.c >"$work/out" 2>&1
	sed 's/^/# /' "$work/out"
	awk '/ noticed \(/ { split($0, w, /: | of | noticed/); found = w[2] >= 1 } END { exit !found }' "$work/out"
	is $? guest
else
	echo "skip mutate_guest: $missing"
fi
exit $failed

#!/usr/bin/env bash
# Every public function has its place in a manual page.
set -u
cd "$(dirname "$0")/../../.."
missing=
for name in $(grep -hoE '\btach_[a-z][a-z_0-9]*\(' include/tach/*.h | tr -d '(' | sort -u); do
	grep -qw "$name" man/*.3 || missing="$missing $name"
done
[ -z "$missing" ] && { echo "ok man_complete"; exit 0; }
echo "# not in any page of man/:$missing"
echo "not ok man_complete"
exit 1

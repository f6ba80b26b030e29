#!/usr/bin/env bash
# Rows of one table do not contradict each other: two names must not have one code, an "all" must be the union of the
# others, and a vendor's row with the words of a libpfm-4 row must have its code. same_rows.accepted lists classes of
# correct rows with the reason.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "skip rows: python3 is not installed"; exit 77; }
hits=$(tests/check/same_rows 2>&1) || hits="same_rows failed: $hits"
if [ -z "$hits" ]; then
	echo "ok rows"
else
	head -20 <<<"$hits" | sed 's/^/# /'
	echo "# mend the row, or write its class into tests/check/same_rows.accepted"
	echo "not ok rows"
	exit 1
fi

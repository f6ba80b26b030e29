#!/usr/bin/env bash
# Rows of one table do not contradict each other: two names of one word, an "all" that is no union, a vendor's
# row with the words of a libpfm-4 row and another code. same_rows.accepted has the cases that were looked at.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "skip rows: python3 is not installed"; exit 77; }
hits=$(LC_ALL=C diff <(grep -v '^#' tests/check/same_rows.accepted | LC_ALL=C sort) <(tests/check/same_rows | LC_ALL=C sort) |
	sed -n 's/^</accepted, and no longer there: /p; s/^>/new: /p')
if [ -z "$hits" ]; then
	echo "ok rows"
else
	head -20 <<<"$hits" | sed 's/^/# /'
	echo "# mend the row, or write it into tests/check/same_rows.accepted"
	echo "not ok rows"
	exit 1
fi

#!/bin/sh
# Hot operations, including the kernel's part, stay within the instruction counts of bench/budgets.tsv.
cd "$(dirname "$0")/../.." || exit
tests/guest/ready arm64 || exit 77
exec bench/run --budgets bench/budgets.tsv --guest arm64

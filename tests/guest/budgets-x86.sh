#!/bin/sh
# Hot operations take no more instructions, the kernel's included, than bench/budgets.tsv allows.
cd "$(dirname "$0")/../.." || exit
tests/guest/ready x86 || exit 77
exec bench/run --budgets bench/budgets.tsv --guest x86

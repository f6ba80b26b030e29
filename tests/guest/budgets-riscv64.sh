#!/bin/sh
# Hot operations take no more instructions, the kernel's included, than bench/budgets.tsv allows.
cd "$(dirname "$0")/../.." || exit
tests/guest/ready riscv64 || exit 77
exec bench/run --budgets bench/budgets.tsv --guest riscv64

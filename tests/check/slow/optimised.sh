#!/usr/bin/env bash
# tests/run: seconds=150
# Our code also compiles at -O3, where gcc analyses more and prints more warnings; warnings are errors.
set -u
cd "$(dirname "$0")/../../.."
make -s -j2 OPT=-O3 B="${B:-build}/optimised" lib tools && echo "ok optimised" || { echo "not ok optimised"; exit 1; }
